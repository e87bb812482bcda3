"""A new thing of any kind is one file and one line, and everything takes it.

The package is copied, each kind gets a file and its line, and nothing else is touched. Then the
copy is used, in Python and on the command line, its documentation is listed, and the contract tests
run on what was added. What is added is in `FILES` and `LINES`: where a protocol changes (a search,
a missing-data method), its entry there is all there is to change here. What must be listed in
`tests` is in `PLUGIN`: a line for a place for rows, and one for a way in.
"""

import json
import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bestdag
from bestdag import _core
from bestdag.scores import SCORES

_ROOT = Path(__file__).parents[2]

FILES = {
    "scores/arc_price.py": '''
"""A price for each arc, whatever the data say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bestdag.counts.family import FamilyCounts
from bestdag.errors import bad_setting, require_positive
from bestdag.registry import setting


@dataclass(frozen=True, slots=True, kw_only=True)
class ArcPrice:
    """Minus the price of each arc."""

    name: ClassVar[str] = "arc_price"
    estimator: ClassVar[str] = "blend"
    is_score_equivalent: ClassVar[bool] = True
    is_hyperparameter_free: ClassVar[bool] = False
    is_regular: ClassVar[bool] = True

    price: float = setting(1.0, "What an arc costs.")

    def __post_init__(self) -> None:
        require_positive("ArcPrice", "price", self.price)
        if self.price > 1e6:
            raise bad_setting("ArcPrice", "price", "at most a million", self.price)

    def family(self, counts: FamilyCounts) -> float:
        """Score one family."""
        return sum(self.terms(counts).values())

    def terms(self, counts: FamilyCounts) -> dict[str, float]:
        """Name the parts of the score of a family; what has one state costs nothing."""
        arcs = sum(parent.arity > 1 for parent in counts.parents) if counts.arity > 1 else 0
        return {"arcs": -self.price * arcs}

    def kernel(self) -> None:
        """Return no native twin."""
''',
    "search/every_nth.py": '''
"""Arcs between variables that are so many places apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bestdag.graph.dag import Dag
from bestdag.registry import setting
from bestdag.search.problem import Problem
from bestdag.search.steps import Found, Steps


@dataclass(frozen=True, slots=True, kw_only=True)
class EveryNth:
    """Give each variable the one that comes so many places before it as its parent."""

    name: ClassVar[str] = "every_nth"

    places: int = setting(1, "How far before it a parent is.")

    def steps(self, problem: Problem) -> Steps:
        """Build the structure and score it."""
        names = problem.names
        dag = Dag(names, list(zip(names, names[self.places :])))
        yield Found(dag, problem.scorer(self.name).total(dag))
''',
    "search/second_climb.py": '''
"""Tabu search that gives up soon."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bestdag.registry import setting
from bestdag.search.tabu import Tabu


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondClimb(Tabu):
    """Tabu search with less patience."""

    name: ClassVar[str] = "second_climb"

    patience: int = setting(7, "Steps without a better structure until it ends.")
''',
    "independence/few_rows.py": '''
"""Pearson's test that keeps an edge where rows are few."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bestdag.independence.x2 import X2Test
from bestdag.registry import setting


@dataclass(frozen=True, slots=True, kw_only=True)
class FewRowsTest(X2Test):
    """Pearson's X2 with at least two rows per degree of freedom."""

    name: ClassVar[str] = "few_rows"

    rows_per_df: float = setting(2.0, "Rows per degree of freedom.")
''',
    "data/discretization/at_zero.py": '''
"""One cut point, at zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np


@dataclass(frozen=True, slots=True, kw_only=True)
class AtZero:
    """Negative numbers and others."""

    name: ClassVar[str] = "at_zero"
    needs_target: ClassVar[bool] = False

    def cuts(self, values: Any, **_: Any) -> Any:
        """Cut where the sign changes."""
        return np.array([0.0]) if np.nanmin(values) <= 0 < np.nanmax(values) else np.empty(0)
''',
    "graph/knowledge/kinds/first.py": '''
"""Nodes without parents, said in another word."""

from __future__ import annotations

from bestdag.graph.knowledge.kinds.roots_and_leaves import Roots


class First(Roots):
    """Nodes that come first."""

    field, given = "first", "iterable of str"
    form, says = "first: A, B", "nodes that come first"
    keyword = "first"
''',
    "plots/parent_numbers.py": '''
"""How many parents each variable has."""

from bestdag.plots.axes import axes_for


def parent_numbers(dag, *, ax=None):
    """Draw a bar for each variable."""
    ax = axes_for(ax, "parent_numbers")
    ax.bar(dag.nodes, [len(dag.parents(name)) for name in dag.nodes])
    return ax
''',
    "cli/count_rows.py": '''
"""`bestdag count-rows`: how many rows a table has."""

import click

from bestdag.cli.learning_table import read_table, table_options


@click.command("count-rows")
@click.argument("data")
@table_options()
def command(data, **options):
    """Count the rows of the table DATA."""
    from bestdag import read

    click.echo(f"{read(data).n_rows} rows")
''',
    "incomplete/most_frequent.py": '''
"""Missing values are taken for the most frequent state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bestdag.data.dataset import Dataset
from bestdag.incomplete.base import CompleteRows
from bestdag.scores.base import Score


@dataclass(frozen=True, slots=True)
class MostFrequent(CompleteRows):
    """Fill in the most frequent state of each column."""

    name: ClassVar[str] = "most_frequent"
    reads_as: ClassVar[str] = "keep"

    def settle(self, dataset: Dataset, score: Score) -> Dataset:
        """Return the data with every missing value filled in."""
        columns = []
        for variable in dataset.variables:
            codes = dataset.codes(variable.name)
            counts = np.bincount(codes, minlength=variable.arity + 1)[: variable.arity]
            columns.append(np.where(codes >= variable.arity, counts.argmax(), codes))
        kept = [column.astype(np.uint16) for column in columns]
        return Dataset(dataset.variables, kept, dataset.weights)
''',
    "parameters/blend.py": '''
"""Frequencies, blended with the uniform distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bestdag.counts.family import FamilyCounts
from bestdag.errors import bad_setting, require_positive
from bestdag.parameters.base import normalized
from bestdag.registry import setting


@dataclass(frozen=True, slots=True, kw_only=True)
class Blend:
    """Frequencies, blended with the uniform distribution."""

    name: ClassVar[str] = "blend"

    share: float = setting(0.5, "Share of the uniform distribution.")

    def __post_init__(self) -> None:
        require_positive("Blend", "share", self.share)
        if self.share > 1:
            raise bad_setting("Blend", "share", "at most 1", self.share)

    def rows(self, counts: FamilyCounts):
        """Return the distribution in each configuration of the counts."""
        return self.share / counts.arity + (1 - self.share) * normalized(counts.table)
''',
    "graph/generators/star.py": '''
"""One node is the parent of others."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bestdag.registry import setting


@dataclass(frozen=True, slots=True, kw_only=True)
class Star:
    """Arcs from the first node to so many others."""

    name: ClassVar[str] = "star"

    rays: int = setting(2, "Children of the first node.")

    def arcs(self, n, seed):
        """Draw the arcs."""
        return np.array([[0, k] for k in range(1, self.rays + 1)])
''',
    "data/sources/records.py": '''
"""Records: a list of dicts, one for each row."""

from __future__ import annotations

from typing import Any

from bestdag.data.sources.frame import FrameSource


def are_records(source: Any) -> bool:
    """Whether a source is such a list."""
    return isinstance(source, list) and all(isinstance(row, dict) for row in source)


def open_records(rows: Any, title: str) -> FrameSource:
    """Open them, column by column."""
    return FrameSource([(name, [row[name] for row in rows]) for name in rows[0]], title)
''',
    "data/sinks/tally.py": '''
"""Rows that are counted by Python alone, one by one."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from bestdag.data.dataset import Dataset
from bestdag.data.encoder import Encoded
from bestdag.data.settings import choose
from bestdag.data.sinks.memory import MemorySink
from bestdag.data.table import open_table


class Tally:
    """Counts of families over rows that are tuples of codes."""

    rows_in: Literal["disk"] = "disk"
    workers = 1

    def __init__(self, data: Dataset) -> None:
        self.variables = tuple(sorted(data.variables, key=lambda v: v.name))
        self.n_rows, self.total_weight, self.passes = data.n_rows, data.total_weight, 0
        weights = np.ones(data.n_rows, np.int64) if data.weights is None else data.weights
        self.has_real_weights = weights.dtype == np.float64
        self._kind = weights.dtype
        self._arities = [v.arity + (v.name in data.missing_counts) for v in self.variables]
        columns = [data.codes(v.name).tolist() for v in self.variables]
        self._rows = list(zip(weights.tolist(), *columns))

    def count(self, families: Any, *, max_cells: float) -> list[Any]:
        """Count families."""
        self.passes += 1
        children, ends, parents = (part.tolist() for part in families)
        groups = [parents[begin:end] for begin, end in zip(ends, ends[1:])]
        return [self._counted(child, group) for child, group in zip(children, groups)]

    def _counted(self, child: int, group: list[int]) -> Any:
        seen: dict[tuple[int, ...], Any] = {}
        for weight, *row in self._rows:
            cells = seen.setdefault(tuple(row[p] for p in group), [0] * self._arities[child])
            cells[row[child]] += weight
        places = np.array(sorted(seen), np.uint16).reshape(len(seen), len(group))
        return places, np.array([seen[place] for place in sorted(seen)], self._kind)


class TalliedRows(Dataset):
    """A data set that is counted by a tally."""

    __slots__ = ()

    @property
    def rows_in(self) -> Literal["disk"]:
        """As if they were elsewhere."""
        return "disk"

    def count_provider(self, threads: int) -> Tally:
        """Return what counts."""
        return Tally(self)

    def select(self, columns: Any = None, rows: Any = None) -> Dataset:
        """Take some columns, which are counted in the same way."""
        return tallied(super().select(columns, rows))


def tallied(data: Dataset) -> TalliedRows:
    """Return a data set as one that is counted by a tally."""
    return TalliedRows(data.variables, [data.codes(name) for name in data.names], data.weights)


class TallySink(MemorySink):
    """Columns in memory, counted by a tally."""

    def dataset(self, encoded: Encoded) -> TalliedRows:
        """Return what was kept."""
        return tallied(super().dataset(encoded))


class InTally:
    """The place for rows."""

    def reads(self, source: Any) -> bool:
        """Read whatever comes."""
        return True

    def read(self, source: Any, **settings: Any) -> TalliedRows:
        """Read a table that is not in memory."""
        sink = TallySink()
        with open_table(source, choose(source, **settings)) as table:
            return sink.dataset(table.encode_into(sink, collapse=False))
''',
    "network/marked.py": '''
"""Our JSON behind a mark."""

from bestdag.errors import FormatError
from bestdag.network import json_format


def parse(data, source):
    """Read a network; the first line stays, empty, so that others keep their numbers."""
    mark, _, rest = data.partition(b"\\n")
    if mark != b"marked":
        raise FormatError(f"{source}:1:1: the first line must be 'marked'")
    return json_format.parse(b"\\n" + rest, source)


def looks_like(text):
    """Whether a text begins as such a file does."""
    return text.startswith("marked")


def render(network):
    """Write a network."""
    return b"marked\\n" + json_format.render(network)
''',
}
# In which list, before which line.
LINES = [
    ("data/sources", "records", "are_records", "from bestdag.errors"),
    ("data/sources", "records", "open_records", "from bestdag.errors"),
    ("scores", "arc_price", "ArcPrice", "# isort"),
    ("search", "every_nth", "EveryNth", "# isort"),
    ("search", "second_climb", "SecondClimb", "# isort"),
    ("parameters", "blend", "Blend", "# isort"),
    ("independence", "few_rows", "FewRowsTest", "# isort"),
    ("incomplete", "most_frequent", "MostFrequent", "# isort"),
    ("graph/generators", "star", "Star", "# isort"),
    ("graph/knowledge/kinds", "first", "First", "__all__"),
    ("data/discretization", "at_zero", "AtZero", "from bestdag.errors"),
    ("plots", "parent_numbers", "parent_numbers", "__all__"),
]
LINES = [
    (
        f"{folder}/__init__.py",
        f"from bestdag.{folder.replace('/', '.')}.{name} import {thing} as {thing}",
        before,
    )
    for folder, name, thing, before in LINES
]
LINES += [
    ("network/formats.py", '    ".marked": "bestdag.network.marked",', "}"),
    ("graph/knowledge/kinds/__init__.py", "    First,", "]"),
    ("plots/__init__.py", '    "parent_numbers",', "]"),
    ("cli/main.py", '    "count-rows": "Count the rows of a table.",', '    "tree":'),
    (
        "data/sources/__init__.py",
        "    if are_records(source):\n        return open_records(source, form.title)",
        "    listed = frame_columns",
    ),
    (
        "data/missing.py",
        """
class _LastState(_Keep):
    name: ClassVar[str] = "last"
    makes_state: ClassVar[bool] = True

""",
        "# The list:",
    ),
    ("../studies/__init__.py", '    "coins": "whether a coin is fair",', '    "carvalho2009":'),
]
# In which list a name is put behind another.
NAMES = [
    ("data/discretization/__init__.py", "Uniform)}", "Uniform, AtZero)}"),
    ("data/missing.py", "_Keep())", "_Keep(), _LastState())"),
]
STUDY = '''
"""Whether a coin is fair."""

from bestdag import BDeu, Dag, Dataset, Scorer, Variable, learn
from studies.claims import Claim
from studies.sections import Table
from studies.study import Study, Trial


def trials(size, seed):
    """List one trial for each number of throws."""
    return [Trial("throws", {"n": n, "seed": seed}) for n in (2, 4)]


def run(trial, folder):
    """Score as many heads as tails."""
    data = Dataset([Variable("coin", ("heads", "tails"))], [[0, 1] * (trial.settings["n"] // 2)])
    return {"n": trial.settings["n"], "score": Scorer(data, BDeu()).total(Dag(["coin"]))}


def sections(rows):
    """Show the scores."""
    return [Table("Coins", ["n", "score"], [[str(r["n"]), f"{r['score']:.4f}"] for r in rows], "")]


def claims(rows):
    """Judge that more throws are less probable."""
    two, four = (row["score"] for row in sorted(rows, key=lambda row: row["n"]))
    return [Claim("C1", "p. 1", "More is less.", "holds" if four < two else "no", "", "")]


STUDY = Study("coins", "Coins", "Nobody (2000).", trials, run, sections, claims)
'''
# A line in `tests/providers`, and one in `tests/journeys/ways_in.py`.
PLUGIN = """
from bestdag.data.sinks.tally import tallied
from tests.journeys import ways_in
from tests.providers import PROVIDERS

PROVIDERS["tally"] = tallied
rows = [dict(zip(ways_in.TABLE, row)) for row in zip(*ways_in.TABLE.values())]
ways_in.WAYS_IN["records_of_python"] = ways_in.IN_MEMORY["records of python"] = lambda _: rows
"""
# An editable install has a finder of its own, which would find the package and not the copy.
ONLY_PATHS = "import sys\nsys.meta_path[:] = [f for f in sys.meta_path if isinstance(f, type)]\n"
TABLE = "a,b,c,d\n" + "0,0,1,0\n0,0,1,1\n1,1,0,0\n1,0,0,1\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Make a copy of the package with one more of each kind."""
    folder = tmp_path_factory.mktemp("copy")
    copy = folder / "bestdag"
    original = Path(bestdag.__file__).parent
    shutil.copytree(original, copy, ignore=shutil.ignore_patterns("__pycache__"))
    if not list(copy.glob("_core.*.so")):
        shutil.copy(_core.__file__, copy)
    studies = folder / "studies"
    shutil.copytree(_ROOT / "studies", studies, ignore=shutil.ignore_patterns("__pycache__"))
    (studies / "coins").mkdir()
    (studies / "coins/__init__.py").write_text(STUDY.lstrip())
    (folder / "adds_lines.py").write_text(PLUGIN)
    for name, text in FILES.items():
        assert not (copy / name).exists()
        (copy / name).write_text(text.lstrip())
    for name, line, before in LINES:
        lines = (copy / name).read_text().splitlines()
        places = [i for i, text in enumerate(lines) if text.startswith(before)]
        lines.insert(places[-1], line)
        (copy / name).write_text("\n".join(lines) + "\n")
    for name, old, new in NAMES:
        text = (copy / name).read_text()
        assert text.count(old) == 1
        (copy / name).write_text(text.replace(old, new))
    (folder / "sitecustomize.py").write_text(ONLY_PATHS)
    (folder / "t.csv").write_text(TABLE)
    return folder


@pytest.fixture(scope="module")
def ask(folder):
    def ask(*arguments):
        """Run the copy and return what it prints."""
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(_ROOT)])},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr or done.stdout[-3000:]
        return done.stdout

    return ask


def words(text):
    return " ".join(text.split())


def test_help_names_them_with_their_settings(ask):
    learn = words(ask("-m", "bestdag", "learn", "--help"))
    assert re.search(r"--search NAME One of [\w, ]*\bevery_nth\b", learn)
    assert "--price FLOAT arc_price: What an arc costs. [default: 1.0]" in learn
    assert "--places INTEGER every_nth: How far before it a parent is. [default: 1]" in learn
    assert re.search(r"\(\.bif, \.json, [\w., ]* or \.marked; also \.gz\)", learn)
    shown = {}
    for command in ("learn", "score", "score-table", "classify", "tree", "tan"):
        shown[command] = words(ask("-m", "bestdag", command, "--help"))
        assert re.search(r"--score NAME One of [\w, ]*\barc_price\b", shown[command]), command
    assert re.search(r"--parameters \[[\w|]*\bblend\b", shown["classify"])
    assert re.search(r"NETWORK \(a \.bif, \.json, [\w., ]* or \.marked file\)", shown["score"])
    fit = words(ask("-m", "bestdag", "fit", "--help"))
    assert re.search(r"--parameters NAME One of [\w, ]*\bblend\b", fit)
    assert "--share FLOAT blend: Share of the uniform distribution. [default: 0.5]" in fit


def test_command_line_takes_them(ask, folder):
    told = ["learn", "t.csv", "--score", "arc-price", "--price", "2.5", "--search", "every-nth"]
    told += [
        "--places",
        "2",
        "--support",
        "0",
        "-o",
        "net.marked",
        "--parameters",
        "blend,share=0.2",
        "--json",
    ]
    found = json.loads(ask("-m", "bestdag", *told))
    assert found["arcs"] == [["a", "c"], ["b", "d"]]
    assert found["score"] == -5.0  # two arcs at 2.5
    assert (found["score_name"], found["search"]) == ("arc_price", "every_nth")
    assert found["settings"]["price"] == 2.5
    assert found["settings"]["places"] == 2
    assert (folder / "net.marked").read_bytes().startswith(b"marked\n")
    shown = json.loads(ask("-m", "bestdag", "info", "net.marked", "--json"))
    assert {v["name"]: v["parents"] for v in shown["variables"]} == {
        "a": [],
        "b": [],
        "c": ["a"],
        "d": ["b"],
    }
    told = ["score", "t.csv", "net.marked", "--score", "arc_price", "--json"]
    assert re.search(r"-2\.0\b", ask("-m", "bestdag", *told))
    told = ["fit", "t.csv", "net.marked", "--parameters", "blend", "-o", "again.marked"]
    assert "blend(share=0.5) on 4 rows" in ask("-m", "bestdag", *told)


def test_command_line_takes_generators(ask, folder):
    shown = words(ask("-m", "bestdag", "random", "--help"))
    assert re.search(r"--generator NAME One of [\w, ]*\bstar\b", shown)
    assert "--rays INTEGER star: Children of the first node. [default: 2]" in shown
    told = ["random", "-n", "4", "--generator", "star", "--rays", "3", "-o", "star.bif", "--json"]
    found = json.loads(ask("-m", "bestdag", *told))
    assert found["arcs"] == [["v1", "v2"], ["v1", "v3"], ["v1", "v4"]]
    assert found["settings"]["rays"] == 3


def test_python_takes_them(ask):
    code = """
import json, math, bestdag as bd
data = bd.read("t.csv")
found = bd.learn(data, bd.ArcPrice(price=3), search=bd.EveryNth(), support=0)
fitted = found.fit("score")
fitted.save("python.marked")
again = bd.Network.load("python.marked")
rows = again.predict_proba("b", {"a": ["0", "1"]})
print(json.dumps([found.score, found.dag.arcs, rows.tolist(), again.dag == found.dag]))
best = bd.learn(data, "arc_price", search="exact")
print(json.dumps([best.score, best.dag.arcs, best.is_proved]))
print("ArcPrice" in bd.__all__, "EveryNth" in bd.__all__, "Blend" in bd.__all__)
"""
    learned, best, public = ask("-c", code).splitlines()
    score, arcs, rows, is_same = json.loads(learned)
    assert score == -9.0
    assert arcs == [["a", "b"], ["b", "c"], ["c", "d"]]
    # Half uniform, half the frequencies: b is 0 both times after a = 0, and once in two after 1.
    assert rows[0] == pytest.approx([0.75, 0.25])
    assert rows[1] == pytest.approx([0.5, 0.5])
    assert is_same
    assert json.loads(best) == [0.0, [], True]
    assert public == "True True True"


def test_docs_list_them(ask):
    code = """
from tools.write_lists import LISTS
for name, lines in LISTS.items():
    print(*(f"{name}: {line}" for line in lines()), sep="\\n")
"""
    lines = ask("-c", code).splitlines()
    assert "table of scores: | `arc_price` | `ArcPrice` | `price` | yes | no | yes |" in lines
    assert "classes of scores: .. autoclass:: bestdag.ArcPrice" in lines
    assert "classes of searches: .. autoclass:: bestdag.EveryNth" in lines
    assert "table of estimators: | `blend` | `Blend` | `share` | `arc_price` | no |" in lines
    assert "classes of estimators: .. autoclass:: bestdag.Blend" in lines


def test_more_of_what_was_added_works(ask):
    code = """
import json, numpy as np, bestdag as bd
from bestdag import plots
import matplotlib; matplotlib.use("Agg")
data = bd.read("t.csv")
print(bd.pc(data, test="few_rows", alpha=0.5).test)
print(len(plots.parent_numbers(bd.Dag(["a", "b"], [("a", "b")])).patches))
known = bd.Knowledge(first=["c"])
print(known == bd.Knowledge.parse("first: c"), known, bd.learn(data, "bic", knowledge=known,
      support=0).dag.parents("c"))
cut = bd.discretize({"x": [-1.5, -0.5, 2.5, 3.5], "y": list("abab")}, method="at_zero")
print(cut.codes("x").tolist())
gaps = {"a": ["x", "x", None, "y"], "b": ["u", "v", "u", "v"]}
result = bd.learn(gaps, "bic", missing="most_frequent")
print(result.dataset.codes("a").tolist(), result.fit().table("a").values.shape)
"""
    test, bars, statement, codes, filled = ask("-c", code).splitlines()
    assert (test, bars) == ("few_rows", "2")
    assert statement == "True first: c ()"
    assert codes == "[0, 0, 1, 1]"
    assert filled == "[0, 0, 0, 1] (2,)"


def test_more_of_what_was_added_is_on_the_command_line(ask, folder):
    assert ask("-m", "bestdag", "count-rows", "t.csv") == "4 rows\n"
    assert "count-rows" in ask("-m", "bestdag", "--help")
    told = ["pc", "t.csv", "--test", "few_rows", "--json"]
    assert json.loads(ask("-m", "bestdag", *told))["test"] == "few_rows"
    (folder / "gaps.csv").write_text("a,b\nx,u\nx,v\n,u\ny,v\n")
    told = ["learn", "gaps.csv", "--missing", "most_frequent", "--score", "bic", "--json"]
    assert json.loads(ask("-m", "bestdag", *told))["data"]["rows"] == 4
    (folder / "numbers.csv").write_text("x,y\n-1.5,a\n-0.5,b\n2.5,a\n3.5,b\n")
    told = ["discretize", "numbers.csv", "--method", "at_zero", "-o", "cut.csv", "--force"]
    assert "0" in ask("-m", "bestdag", *told)
    told = ["learn", "t.csv", "--know", "first: c", "--search", "second-climb", "--json"]
    found = json.loads(ask("-m", "bestdag", *told))
    assert found["search"] == "second_climb"
    assert all(child != "c" for _, child in found["arcs"])


def test_sources_sinks_and_strategies_of_reading_are_used(ask, folder):
    code = """
import json, bestdag as bd
from bestdag.data.readers import read_rows
from bestdag.data.sinks.tally import InTally
rows = [{"a": "x", "b": "u"}, {"a": None, "b": "v"}, {"a": "y", "b": "v"}, {"a": "y", "b": "u"}]
print(bd.read(rows, missing="last").codes("a").tolist())
print(bd.learn(rows, "bic", missing="drop", support=0).n_rows)
held = read_rows("t.csv", rows_in=InTally()).dataset
here, there = bd.learn("t.csv", "bdeu", support=0), bd.learn(held, "bdeu", support=0)
print(type(held).__name__, held == bd.read("t.csv"), here.rows_in, there.rows_in)
print(here.dag == there.dag, abs(here.score - there.score) < 1e-9)
"""
    codes, n_rows, held, same = ask("-c", code).splitlines()
    assert (codes, n_rows) == ("[0, 1, 1, 1]", "3")
    assert held == "TalliedRows True memory disk"
    assert same == "True True"
    (folder / "one_gap.csv").write_text("a,b\nx,u\n,v\ny,v\ny,u\n")
    shown = json.loads(ask("-m", "bestdag", "info", "one_gap.csv", "--missing", "last", "--json"))
    assert shown["variables"][0] == {"name": "a", "states": ["x", "y"], "missing": 0}
    assert "|last]" in words(ask("-m", "bestdag", "pc", "--help"))


def test_a_study_is_run(ask, folder):
    assert "coins" in ask("-m", "studies", "--help")
    shown = json.loads(ask("-m", "studies", "coins", "--threads", "1", "-o", "out", "--json"))
    assert (shown["trials"], shown["claims"][0]["verdict"]) == (2, "holds")
    # Of one throw each way: 1/2 * 1/2 / 2 = 1/8.
    assert f"| 2 | {math.log(1 / 8):.4f} |" in (folder / "out/summary.md").read_text()


# What the contract tests are told to run: each name, and in which of their files it must appear.
CONTRACTS = {
    "arc_price": ["every_score", "every_search", "every_setting", "every_provider", "support"],
    "second_climb": ["every_search", "every_setting", "every_provider"],
    "Blend": ["every_estimator"],
    "few_rows": ["every_independence_test"],
    "most_frequent": ["every_treatment"],
    "marked": ["every_network_format"],
    "at_zero": ["discretize_cuts"],
    "tally": ["every_provider"],
    "records_of_python": ["every_function", "answers"],
}


PLACES = ["contracts", "journeys", "data/test_discretize_cuts.py"]


def test_contract_tests_hold_for_them(ask):
    told = ["-m", "pytest", *(str(_ROOT / "tests" / place) for place in PLACES)]
    told += ["--rootdir", str(_ROOT), "-q", "-rA", "-p", "no:cacheprovider", "-p", "adds_lines"]
    told += ["-k", f"({' or '.join(CONTRACTS)}) and not every_nth"]
    told += [f"--deselect={_ROOT}/tests/contracts/test_adding.py"]
    shown = ask(*told)
    for name, modules in CONTRACTS.items():
        for module in modules:
            assert re.search(rf"PASSED .*test_{module}\.py::.*{name}", shown), (name, module)


def native_lines():
    """List the names in the list of native scores."""
    text = (_ROOT / "cpp/kernels/scores/list.hpp").read_text()
    return re.findall(r"^    SCORE\((\w+),", text, re.MULTILINE)


def test_native_list_names_scores():
    assert len(native_lines()) > 10
    assert set(native_lines()) <= set(SCORES)


@pytest.mark.parametrize("name", native_lines())
def test_a_native_twin_is_one_file_and_one_line(name):
    used = re.compile(rf"\bmake_{name}\b")
    kernels, bindings = _ROOT / "cpp/kernels", _ROOT / "cpp/bindings"
    sources = [*kernels.rglob("*.?pp"), *bindings.rglob("*.?pp")]
    assert [path for path in sources if used.search(path.read_text())] == [
        kernels / f"scores/{name}.cpp"
    ]
