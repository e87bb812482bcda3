"""Every message speaks one language: options on the command line, arguments in Python.

The source is read as a syntax tree. A text that names an argument of Python needs a twin for the
command line (`with_option`, `option=`, the second text of `warn`), unless only Python gets there;
a text of the command line names no argument, and one of Python no option.
"""

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import click
import pytest

import bestdag
import bestdag.examples
from bestdag.cli.main import COMMANDS, cli, run
from bestdag.errors import BestdagError, DataWarning, as_option
from bestdag.graph.generators import GENERATORS
from bestdag.parameters import ESTIMATORS
from bestdag.scores import SCORES
from bestdag.search import SEARCHES, make_search

_PACKAGE = Path(bestdag.__file__).parent

# Only Python gets to these: a folder, a file, or a function in a file.
PYTHON_ONLY = (
    "averaging/averaged_network.py",
    "constraint/source.py:_asked",  # an oracle of the user's own
    "scores/pseudo_counts.py:__init__",
    "sklearn/",  # estimators for scikit-learn
    "data/frames.py",  # frames, arrays and dicts of columns
    "graph/extension.py",
    "incomplete/__init__.py:make_treatment",  # a way of the user's own
    "inference/distribution.py:marginal",  # a value that commands only print
    "learning.py:_how_to_go_on",  # a warning that the command line does not show
    "network/compiled.py",
    "network/loading.py",
    "data/choice.py:variables",  # columns=, which no command has
    "data/opening.py:_chunk",  # a stream whose read() gives something else
    "data/opening.py:_opened",  # what is neither a file nor a stream
    "data/settle.py:warn_of_empty_text",  # commands always take empty cells as missing
    "data/disk_rows.py",  # choosing, exporting and sending rows of a scan
    "data/sql_source.py",  # DuckDB connections
    "data/discretize.py:discretize",  # like=
    "data/discretization/__init__.py:make_method",  # a method object; commands name one
    "network/prediction.py:_matched",  # `predict` sums over missing values
    "network/prediction.py:_chosen",  # commands leave such columns out
    "parameters/dirichlet.py:_make_source",  # a prior that is neither network nor score
    "learning.py:_read",  # the command line cuts before it learns
    "scores/base.py:checked_value",  # a score of the user's own
    "scores/parent_sets/build.py:_most_parents",  # limits child by child
    "scores/bd.py:__post_init__",  # tables of pseudo-counts
    "scores/bde.py:__post_init__",  # commands load the prior network from a file
    "scores/scorer.py:_averaged",  # `learn` refuses such scores before
    "scores/scorer.py:_checked_score",
    "scores/scorer.py:_require_prior",
    "search/problem.py:_checked_start",  # a start that is not a Dag
    "search/k2.py:__post_init__",  # an order that is not a list
)
# Settings that require_* checks and that no command has.
NO_OPTION = {"unlabelled", "limit", "k", "arity", "memory_limit", "precision", "handle_unknown"}
NO_OPTION |= {"margin"}  # of score tables, in Python
NO_OPTION |= {"every"}  # of Checkpoint, in Python: --checkpoint-every
NO_OPTION |= {"n_variables"}  # of the sparse prior, in Python
NO_OPTION |= {"block_rows", "first"}  # of scan and Network.sample, in Python
# Of measures that no command has.
NO_OPTION |= {"among", "constant", "distance", "held_out"}
NO_OPTION |= {"max_rounds", "max_cells", "draws"}  # of structural EM, in Python
# Of values and functions that no command has.
NO_OPTION |= {"kind", "most", "n_variables"}
NO_OPTION |= {"block_rows"}  # of counting in blocks, in Python
# Their words are those of knowledge files and statements, the same in both worlds.
OF_A_FORMAT = ("graph/knowledge/", "graph/_")
# Marks of SVG and HTML, whose attributes are called as arguments are.
OF_A_FORMAT += ("drawing/svg.py:", "report/trace.py:", "report/page.py:", "papers/charts.py:")
OF_A_FORMAT += ("network/xdsl.py:", "network/xmlbif.py:")


def click_commands():
    context = click.Context(cli)
    return {name: cli.get_command(context, name) for name in COMMANDS}


OPTIONS = {
    flag
    for command in click_commands().values()
    for parameter in command.params
    for flag in (*parameter.opts, *parameter.secondary_opts)
} | {"--help", "--version"}


def arguments_of_python():
    """Name every argument of a public function, class or method, and every setting of a list."""
    found = set()
    for name in bestdag.__all__:
        thing = getattr(bestdag, name)
        called = [thing]
        if inspect.isclass(thing):
            called += [method for _, method in inspect.getmembers(thing, inspect.isfunction)]
        for one in called:
            try:
                found.update(inspect.signature(one).parameters)
            except (TypeError, ValueError):
                continue
    for listed in (SCORES, SEARCHES, ESTIMATORS, GENERATORS):
        for entry in listed.values():
            found.update(field.name for field in fields(entry))
    return found


ARGUMENTS = arguments_of_python()
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
# `--parameters dirichlet,ess=10` is how settings of parameters are given in the command line.
_ASSIGNED = re.compile(r"(?<!dirichlet,)\b([a-z_]+)=(?!=)")
# A setting that begins what is said of it; weights are also what a column holds.
_MUST = re.compile(r": (?!weights)([a-z_]+) (?:must|is for|breaks|gives) ")
_CALL = re.compile(r"\b[a-z_]+\(\)|\bin Python\b|True or False|DataFrame")
_SNAKE = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")


def python_words(text):
    """Find what only Python says: arguments by name, calls."""
    found = [word for word in _ASSIGNED.findall(text) if word in ARGUMENTS]
    found += [word for word in _SNAKE.findall(text) if word in ARGUMENTS]
    found += [
        word for word in _MUST.findall(text) if word in ARGUMENTS and as_option(word) in OPTIONS
    ]
    return found + _CALL.findall(text)


@dataclass(frozen=True)
class Text:
    """A text of the source, where it is, and who reads it: "python", "options" or "both"."""

    place: str
    text: str
    reader: str


def shown_text(node):
    if isinstance(node, ast.Constant):
        return node.value
    return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)


class Texts(ast.NodeVisitor):
    """Goes through one function and finds its texts with their readers."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.found: list[tuple[ast.expr, str]] = []
        self.known: dict[str, set[str]] = {}  # readers of local names, of the round before
        self.readers: dict[str, set[str]] = {}
        self.reader = "both"

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else None
        name = node.func.id if isinstance(node.func, ast.Name) else name
        if name == "with_option":
            self._read(node.func.value, "python")
            for argument in node.args:
                self._read(argument, "options")
        elif name == "warn" and len(node.args) == 2:
            self._read(node.args[0], "python")
            self._read(node.args[1], "options")
        elif name == "require_memory" and any(k.arg == "option" for k in node.keywords):
            for argument in node.args:
                self._read(argument, "python")
            for keyword in node.keywords:
                self._read(keyword.value, "options")
        else:
            self.generic_visit(node)

    def _read(self, node: ast.AST, reader: str) -> None:
        before, self.reader = self.reader, reader
        self.visit(node)
        self.reader = before

    def visit_Assign(self, node: ast.Assign) -> None:
        target, value = node.targets[0], node.value
        is_pair = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
        if is_pair and len(target.elts) == len(value.elts):
            for one, other in zip(target.elts, value.elts, strict=True):
                self._assigned(one, other)
        else:
            self._assigned(target, value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._assigned(node.target, node.value)

    def _assigned(self, target: ast.expr, value: ast.expr) -> None:
        """What is in a name is read where the name is."""
        readers = self.known.get(target.id, set()) if isinstance(target, ast.Name) else set()
        self._read(value, next(iter(readers)) if len(readers) == 1 else "both")

    def visit_Name(self, node: ast.Name) -> None:
        self.readers.setdefault(node.id, set()).add(self.reader)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and " " in node.value:
            self.found.append((node, self.reader))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self.found.append((node, self.reader))
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self.visit(part.value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Leave functions inside to themselves."""

    visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef  # noqa: N815


def texts_of(path: Path) -> Iterator[Text]:
    tree = ast.parse(path.read_text())
    where = path.relative_to(_PACKAGE).as_posix()
    is_cli = where.startswith(("cli/", "examples/__main__"))
    for scope in ast.walk(tree):
        if not isinstance(scope, ast.FunctionDef | ast.ClassDef | ast.Module):
            continue
        if getattr(scope, "name", "") == "__repr__":  # shows Python
            continue
        body = list(scope.body)
        first = body[0] if body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            body = body[1:]  # the docstring
        walker = Texts(where)
        for _ in range(3):  # a name may be made of others
            walker.found, walker.known, walker.readers = [], walker.readers, {}
            for statement in body:
                walker.visit(statement)
        decorators = getattr(scope, "decorator_list", [])
        for decorator in decorators:
            walker.visit(decorator)
        place = f"{where}:{getattr(scope, 'name', '')}"
        for node, reader in walker.found:
            yield Text(place, shown_text(node), "options" if is_cli else reader)


EVERY = [text for path in sorted(_PACKAGE.rglob("*.py")) for text in texts_of(path)]


def excuses(listed, place):
    return place == listed or (":" not in listed and place.startswith(listed))


def is_python_only(place):
    return any(excuses(listed, place) for listed in PYTHON_ONLY)


def test_the_source_was_read():
    assert len(EVERY) > 800
    readers = {text.reader for text in EVERY}
    assert readers == {"python", "options", "both"}
    assert {"max_states", "missing", "engine", "ess", "impossible"} <= ARGUMENTS
    assert {"--max-states", "--missing", "-n"} <= OPTIONS


def test_what_both_worlds_read_names_neither_arguments_nor_options():
    wrong = [
        (text.place, text.text)
        for text in EVERY
        if text.reader == "both"
        and not text.place.startswith(OF_A_FORMAT)
        and not is_python_only(text.place)
        and python_words(text.text)
    ]
    assert wrong == []


def test_python_reads_no_options():
    wrong = [
        (text.place, text.text)
        for text in EVERY
        if text.reader in ("both", "python") and _OPTION.search(text.text)
    ]
    assert wrong == []


def test_the_command_line_reads_no_arguments_and_options_it_has():
    wrong = [
        (text.place, text.text)
        for text in EVERY
        if text.reader == "options"
        and (python_words(text.text) or set(_OPTION.findall(text.text)) - OPTIONS)
    ]
    assert wrong == []


@pytest.mark.parametrize("listed", PYTHON_ONLY)
def test_what_only_python_gets_to_is_listed_for_a_reason(listed):
    assert any(
        text.reader == "both" and excuses(listed, text.place) and python_words(text.text)
        for text in EVERY
    )


def test_every_setting_that_is_checked_has_an_option():
    checked = {
        node.args[1].value
        for path in _PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if node.func.id.startswith("require_") or node.func.id == "bad_setting"
        if len(node.args) > 1 and isinstance(node.args[1], ast.Constant)
        if isinstance(node.args[1].value, str) and node.args[1].value.isidentifier()
    }
    assert {"ess", "max_states", "time_limit", "perturb"} <= checked
    assert {name for name in checked if as_option(name) not in OPTIONS} <= NO_OPTION


# The same mistake in both worlds: files, arguments of the command, the call, what each says.
TABLE = "a,b\nx,u\ny,v\nx,v\ny,u\n"
HOLES = "a,b\nx,u\n,v\nx,v\ny,\n"
MANY = "a,b\n" + "".join(f"t{i},{i % 2}\n" for i in range(9))
NET = """network n {}
variable a { type discrete [ 2 ] { x, y }; }
variable b { type discrete [ 2 ] { u, v }; }
probability ( a ) { table 0.5, 0.5; }
probability ( b | a ) { (x) 1.0, 0.0; (y) 1.0, 0.0; }
"""


def learned(table, **settings):
    return bestdag.learn(bestdag.read(table), **settings)


CASES = {
    "missing values": (
        HOLES,
        ["score-table", "t.csv", "-o", "t.jkl"],
        lambda table: bestdag.read(table),
        "pass --missing drop or --missing state, or leave the columns out with --drop",
        'set missing to "drop", "state" or "keep", or drop the columns',
    ),
    "missing values in learn": (
        HOLES,
        ["learn", "t.csv", "--score", "bic"],
        lambda table: bestdag.learn(table, "bic"),
        "2 columns have 2 missing values: 'a' (1), 'b' (1), and 2 of 4 rows are complete; "
        "recommended: --missing em; also possible: --missing drop, --missing state and --missing "
        "available",
        "2 columns have 2 missing values: 'a' (1), 'b' (1), and 2 of 4 rows are complete; "
        "recommended: missing='em'; also possible: missing='drop', missing='state' and "
        "missing='available'",
    ),
    "a score that is no mean": (
        HOLES,
        ["learn", "t.csv", "--score", "bdeu", "--missing", "available"],
        lambda table: bestdag.learn(table, "bdeu", missing="available"),
        "learn: --missing available is a mean log-likelihood with a penalty, for the scores ll, "
        "aic, bic, hqc, pnal, got bdeu",
        "learn: missing='available' is a mean log-likelihood with a penalty, for the scores ll, "
        "aic, bic, hqc, pnal, got bdeu",
    ),
    "many states": (
        MANY,
        ["learn", "t.csv", "--max-states", "3"],
        lambda table: bestdag.read(table, max_states=3),
        "(9 > --max-states 3); bin it if it holds numbers, --drop it, or raise --max-states",
        "(9 > max_states=3); bin it if it holds numbers, drop it, or raise max_states",
    ),
    "a separator for another format": (
        '{"a": "x"}',
        ["info", "t.jsonl", "--separator", ";"],
        lambda table: bestdag.read(table.with_suffix(".jsonl"), separator=";"),
        "--separator is for CSV",
        "separator is for CSV",
    ),
    "a method without its target": (
        "a,b\n1.5,x\n2.5,y\n",
        ["discretize", "t.csv", "--method", "fayyad_irani", "-o", "out.csv"],
        lambda table: bestdag.discretize(table, method="fayyad_irani"),
        "the method fayyad_irani needs --target; name the class column",
        "method 'fayyad_irani' needs a target; name the class column",
    ),
    "bins of a method that has none": (
        "a,b\n1.5,x\n2.5,y\n",
        ["discretize", "t.csv", "--target", "b", "--bins", "3", "-o", "out.csv"],
        lambda table: bestdag.discretize(table, target="b", bins=3),
        "--bins does not belong to the method fayyad_irani",
        "unknown setting 'bins'",
    ),
    "a setting of a score": (
        TABLE,
        ["learn", "t.csv", "--score", "bdeu", "--ess", "-1"],
        lambda table: bestdag.BDeu(ess=-1.0),
        "BDeu: --ess must be a finite number > 0, got -1.0",
        "BDeu: ess must be a finite number > 0, got -1.0",
    ),
    "a contamination of one": (
        TABLE,
        ["learn", "t.csv", "--score", "min_bdeu", "--epsilon", "1"],
        lambda table: bestdag.MinBDeu(epsilon=1.0),
        "MinBDeu: --epsilon must be a number >= 0 and < 1, got 1.0",
        "MinBDeu: epsilon must be a number >= 0 and < 1, got 1.0",
    ),
    "a setting of a search": (
        TABLE,
        ["learn", "t.csv", "--search", "annealing", "--final-temperature", "20"],
        lambda table: make_search("annealing", final_temperature=20.0),
        "annealing: --final-temperature must be at most --initial-temperature",
        "annealing: final_temperature must be at most initial_temperature",
    ),
    "settings that need each other": (
        TABLE,
        ["learn", "t.csv", "--search", "hill_climb", "--perturb", "3"],
        lambda table: make_search("hill_climb", perturb=3),
        "--perturb is for restarts, got 3 without restarts; set --restarts to",
        "perturb is for restarts, got perturb=3 without restarts; set restarts to",
    ),
    "an order that is not whole": (
        TABLE,
        ["learn", "t.csv", "--search", "k2", "--order", "a"],
        lambda table: learned(table, search=make_search("k2", order=["a"])),
        "k2: --order must have every variable once; 'b' is missing",
        "k2: order must have every variable once; 'b' is missing",
    ),
    "a class that is not named": (
        TABLE,
        ["learn", "t.csv", "--search", "tan"],
        lambda table: learned(table, search="tan"),
        "tan: --target must be given, the name of the class variable",
        "tan: target must be the name of the class variable, got None",
    ),
    "no room for the class": (
        TABLE,
        ["tan", "t.csv", "--target", "a", "--max-parents", "0"],
        lambda table: learned(table, search=make_search("tan", target="a"), max_parents=0),
        "--max-parents 0 leaves no room",
        "max_parents=0 leaves no room",
    ),
    "a start with too many parents": (
        TABLE,
        ["learn", "t.csv", "--start", "net.bif", "--max-parents", "0", "--support", "0"],
        lambda table: learned(
            table, start=bestdag.Dag(["a", "b"], [("a", "b")]), max_parents=0, support=0
        ),
        "--start gives 'b' more parents than --max-parents 0",
        "start gives 'b' more than max_parents=0 parents",
    ),
    "a start without support": (
        TABLE,
        ["learn", "t.csv", "--start", "net.bif"],
        lambda table: learned(table, start=bestdag.Dag(["a", "b"], [("a", "b")])),
        "--start gives 'b' parents with fewer than 5 rows per table cell; begin with another "
        "structure, or pass --support 0",
        "start gives 'b' parents with fewer than 5 rows per table cell; begin with another "
        "structure, or set support=0",
    ),
    "two priors": (
        TABLE,
        [
            *("fit", "t.csv", "net.bif", "-o", "out.bif"),
            *("--parameters", "dirichlet", "--ess", "2", "--pseudo-count", "1"),
        ],
        lambda table: bestdag.Dirichlet(ess=2, pseudo_count=1),
        "give one of --ess, --pseudo-count and --prior (--ess also with --prior), got --ess and "
        "--pseudo-count",
        "give one of ess, pseudo_count, tables and prior (ess also with a prior network), got ess "
        "and pseudo_count",
    ),
    "an impossible row": (
        "a,b\nx,v\n",
        ["predict", "net.bif", "t.csv", "--target", "a"],
        lambda table: bestdag.Network.load(table.with_name("net.bif")).predict("a", table),
        "pass --impossible marginal",
        'pass impossible="marginal"',
    ),
    "a state that means missing": (
        TABLE,
        ["score", "t.csv", "net.bif", "--missing-value", "x"],
        lambda table: bestdag.read(table, states={"a": ["x", "y"]}, missing_values=("x",)),
        "states of 'a' contain 'x', which --missing-value calls missing",
        "states of 'a' contain 'x', which missing_values calls missing",
    ),
    "no rows to draw": (
        TABLE,
        ["sample", "net.bif", "-n", "0"],
        lambda table: bestdag.Network.load(table.with_name("net.bif")).sample(0),
        "sample: -n must be a whole number >= 1, got 0",
        "sample: n must be a whole number >= 1, got 0",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_both_worlds_say_the_same_in_their_own_words(name, tmp_path, monkeypatch, capsys):
    content, arguments, call, on_command_line, in_python = CASES[name]
    monkeypatch.chdir(tmp_path)
    table = tmp_path / "t.csv"
    for ending in (".csv", ".jsonl"):
        table.with_suffix(ending).write_text(content)
    (tmp_path / "net.bif").write_text(NET)
    assert run(arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert on_command_line in line
    assert python_words(line) == []
    with pytest.raises(BestdagError) as refused:
        call(table)
    assert in_python in str(refused.value)
    assert not _OPTION.search(str(refused.value))


def test_warnings_too(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table = tmp_path / "t.csv"
    table.write_text("a,b\n1.5,?\n2.25,u\n1.75,v\n1.5,u\n")
    assert run(["learn", "t.csv"]) == 0
    shown = capsys.readouterr()
    assert "pass --missing-value '?'" in shown.err
    assert (
        "--discretize bins them, or: bestdag discretize 't.csv' --method quantile -o FILE"
        in shown.err
    )
    assert python_words(shown.err + shown.out) == []
    with pytest.warns(DataWarning) as seen:
        bestdag.read(table)
    said = "\n".join(str(warning.message) for warning in seen)
    assert "pass missing_values=('', '?')" in said
    assert 'discretize(..., method="quantile") bins them' in said
    assert not _OPTION.search(said)


@pytest.mark.parametrize("search", SEARCHES)
def test_notes_of_results_are_for_both_worlds(search):
    data = bestdag.read(bestdag.examples.example("asia.csv"))
    settings = {"target": "lung"} if search in ("tan", "naive_bayes") else {}
    start = bestdag.Dag(data.names)
    known = bestdag.Knowledge.parse(["dysp !> asia"] if search != "naive_bayes" else [])
    found = bestdag.learn(
        data, search=make_search(search, **settings), time_limit=0.3, start=start, knowledge=known
    )
    for note in found.notes:
        assert not _OPTION.search(note)
        assert python_words(note) == []
