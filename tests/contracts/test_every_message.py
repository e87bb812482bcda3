"""Every message speaks one language: options on the command line, parameters in Python.

Messages are written once, with parameters as values (`arg` in `wording.py`), and rendered for each
reader. What they may name is held against the parameters and options that there are; what is
raised is looked at as it is shown.
"""

import copyreg
import inspect
import pickle
import re
from dataclasses import fields
from typing import get_args

import click
import pytest

import bestdag
import bestdag.examples
from bestdag import errors
from bestdag.cli.main import COMMANDS, cli, run
from bestdag.errors import BestdagError, DataWarning
from bestdag.graph.generators import GENERATORS
from bestdag.independence import TESTS
from bestdag.parameters import ESTIMATORS
from bestdag.scores import SCORES
from bestdag.search import SEARCHES, make_search
from bestdag.wording import PARAMETERS, Option, arg, as_option, by_reader


def click_commands():
    context = click.Context(cli)
    return {name: cli.get_command(context, name) for name in COMMANDS}


OPTIONS = {
    flag
    for command in click_commands().values()
    for parameter in command.params
    for flag in (*parameter.opts, *parameter.secondary_opts)
} | {"--help", "--version"}
LISTED = {
    (kind, name): entry
    for kind, listed in {
        "score": SCORES,
        "search": SEARCHES,
        "estimator": ESTIMATORS,
        "generator": GENERATORS,
        "test": TESTS,
    }.items()
    for name, entry in listed.items()
}


def parameters_of_python():
    """Name every parameter of a public function, class or method, and every listed setting."""
    names = set()
    for name in bestdag.__all__:
        thing = getattr(bestdag, name)
        called = [thing]
        if inspect.isclass(thing):
            called += [method for _, method in inspect.getmembers(thing, inspect.isfunction)]
        for one in called:
            try:
                names.update(inspect.signature(one).parameters)
            except (TypeError, ValueError):
                continue
    return names.union(field.name for entry in LISTED.values() for field in fields(entry))


IN_PYTHON = parameters_of_python()
LISTED_NAMES = {name for _, name in LISTED}  # both readers give them
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
# `--parameters dirichlet,ess=10` is how settings of parameters are given in the command line.
_ASSIGNED = re.compile(r"(?<!dirichlet,)\b([a-z_]+)=(?!=)")
# A setting that begins what is said of it; weights are also what a column holds.
_MUST = re.compile(r": (?!weights)([a-z_]+) (?:must|is for|breaks|gives) ")
_CALL = re.compile(r"\b[a-z_]+\(\)|\bin Python\b|True or False|DataFrame")
_SNAKE = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")


def python_words(text):
    """Find what only Python says: parameters by name, calls."""
    words = [word for word in _ASSIGNED.findall(text) if word in IN_PYTHON]
    words += [word for word in _SNAKE.findall(text) if word in IN_PYTHON - LISTED_NAMES]
    words += [
        word for word in _MUST.findall(text) if word in IN_PYTHON and as_option(word) in OPTIONS
    ]
    return words + _CALL.findall(text)


@pytest.mark.parametrize("name", PARAMETERS)
def test_what_messages_name_is_there_in_python_and_on_the_command_line(name):
    assert name in IN_PYTHON
    assert as_option(name) in OPTIONS or name in ("k", "prior", "smooth")


@pytest.mark.parametrize("option", get_args(Option))
def test_options_of_single_commands_are_there(option):
    assert option in OPTIONS


SAID = f"x: pass {arg('missing', 'drop')} or {by_reader('f()', 'bestdag f')}"
KINDS = [
    kind
    for kind in map(vars(errors).get, errors.__all__)
    if inspect.isclass(kind)
    if issubclass(kind, BestdagError | DataWarning)
]


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_has_both_wordings_wherever_it_goes(kind):
    for error in (kind(SAID), pickle.loads(pickle.dumps(kind(SAID)))):
        assert type(error) is kind
        assert str(error) == error.args[0] == "x: pass missing='drop' or f()"
        assert error.on_command_line == "x: pass --missing drop or bestdag f"


@pytest.fixture
def pickling_of_dask():
    """How errors are pickled where Dask is imported; what other tests see stays as it is."""
    pickling = pytest.importorskip("tblib.pickling_support")
    before = dict(copyreg.dispatch_table)
    pickling.install()
    yield
    copyreg.dispatch_table.clear()
    copyreg.dispatch_table.update(before)


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_is_pickled_beside_dask(kind, pickling_of_dask):
    error = pickle.loads(pickle.dumps(kind(SAID)))
    assert type(error) is kind
    assert str(error) == error.args[0] == "x: pass missing='drop' or f()"
    assert error.on_command_line == "x: pass --missing drop or bestdag f"


def refusal(entry, settings):
    try:
        entry(**settings)
    except (BestdagError, TypeError) as error:
        return str(error)
    return ""


# What the command line is told about wrong values is in `test_every_option.py`.
@pytest.mark.parametrize(("kind", "name"), LISTED)
def test_a_refused_setting_is_no_option_in_python(kind, name):
    settings = fields(LISTED[kind, name])
    needed = {"target": "a"} if "target" in {one.name for one in settings} else {}
    refusals = [
        refusal(LISTED[kind, name], {**needed, one.name: value})
        for one in settings
        for value in (object(), -1, float("nan"), "nonsense", [])
    ]
    assert any(refusals) or not settings
    for said in refusals:
        assert not _OPTION.search(said)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_names_options_and_no_parameters(name):
    command = click_commands()[name]
    for text in (command.help, *(getattr(one, "help", None) for one in command.params)):
        assert set(_OPTION.findall(text or "")) <= OPTIONS
        assert python_words(text or "") == []


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
        "pass missing='drop', missing='state' or missing='keep', or leave the columns out with "
        "drop",
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
        "--method fayyad_irani needs --target; name the class column",
        "method='fayyad_irani' needs target; name the class column",
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
        "--perturb is for restarts, got --perturb 3 without restarts; set --restarts to",
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
        [
            "learn",
            "t.csv",
            "--search",
            "hc",
            "--start",
            "net.bif",
            "--max-parents",
            "0",
            "--support",
            "0",
        ],
        lambda table: learned(
            table,
            search=bestdag.HillClimb(start_from=bestdag.Dag(["a", "b"], [("a", "b")])),
            max_parents=0,
            support=0,
        ),
        "--start gives 'b' more parents than --max-parents 0",
        "start_from gives 'b' more parents than max_parents=0",
    ),
    "a start without support": (
        TABLE,
        ["learn", "t.csv", "--search", "hc", "--start", "net.bif"],
        lambda table: learned(
            table, search=bestdag.HillClimb(start_from=bestdag.Dag(["a", "b"], [("a", "b")]))
        ),
        "--start gives 'b' parents with fewer than 5 rows per table cell; begin with another "
        "structure, or pass --support 0",
        "start_from gives 'b' parents with fewer than 5 rows per table cell; begin with another "
        "structure, or pass support=0",
    ),
    "two priors": (
        TABLE,
        [
            *("fit", "t.csv", "net.bif", "-o", "out.bif"),
            *("--parameters", "dirichlet", "--ess", "2", "--pseudo-count", "1"),
        ],
        lambda table: bestdag.Dirichlet(ess=2, pseudo_count=1),
        "give one of --ess, --pseudo-count and --prior (--ess also with a prior network), got "
        "--ess and --pseudo-count",
        "give one of ess, pseudo_count, tables and prior (ess also with a prior network), got ess "
        "and pseudo_count",
    ),
    "an impossible row": (
        "a,b\nx,v\n",
        ["predict", "net.bif", "t.csv", "--target", "a"],
        lambda table: bestdag.Network.load(table.with_name("net.bif")).predict("a", table),
        "pass --impossible marginal",
        "pass impossible='marginal'",
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
    assert "discretize(..., method='quantile') bins them" in said
    assert not _OPTION.search(said)


@pytest.mark.parametrize("search", SEARCHES)
def test_notes_of_results_are_for_both_worlds(search):
    data = bestdag.read(bestdag.examples.example("asia.csv"))
    settings = {"target": "lung"} if search in ("tan", "naive_bayes") else {}
    if "start_from" in getattr(SEARCHES[search], "__slots__", ()):
        settings["start_from"] = bestdag.Dag(data.names)
    known = bestdag.Knowledge.parse(["dysp !> asia"] if search != "naive_bayes" else [])
    found = bestdag.learn(
        data, search=make_search(search, **settings), time_limit=0.3, knowledge=known
    )
    for note in found.notes:
        assert not _OPTION.search(note)
        assert python_words(note) == []
