"""A new score, search, estimator or format is one file and one line, and everything takes it.

The package is copied, each gets its file and its line, and nothing else is touched. Then the copy
is asked: learn, the command line with its options and help, the parameters, network files, the
public names and the lists of the documentation.
"""

import difflib
import json
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

    def family(self, counts: FamilyCounts) -> float:
        """Score one family."""
        return -self.price * len(counts.parents)

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
    "parameters/blend.py": '''
"""Frequencies, blended with the uniform distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bestdag.counts.family import FamilyCounts
from bestdag.parameters.base import normalized
from bestdag.registry import setting


@dataclass(frozen=True, slots=True, kw_only=True)
class Blend:
    """Frequencies, blended with the uniform distribution."""

    name: ClassVar[str] = "blend"

    share: float = setting(0.5, "Share of the uniform distribution.")

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
    "network/marked.py": '''
"""Our JSON behind a mark."""

from bestdag.network import json_format


def parse(data, source):
    """Read a network."""
    mark, _, rest = data.partition(b"\\n")
    assert mark == b"marked"
    return json_format.parse(rest, source)


def render(network):
    """Write a network."""
    return b"marked\\n" + json_format.render(network)
''',
}
# In which list, before which line.
LINES = {
    "scores/__init__.py": ("from bestdag.scores.arc_price import ArcPrice as ArcPrice", "# isort"),
    "search/__init__.py": ("from bestdag.search.every_nth import EveryNth as EveryNth", "# isort"),
    "parameters/__init__.py": ("from bestdag.parameters.blend import Blend as Blend", "# isort"),
    "graph/generators/__init__.py": (
        "from bestdag.graph.generators.star import Star as Star",
        "# isort",
    ),
    "network/formats.py": ('    ".marked": "bestdag.network.marked",', "}"),
}
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
    for name, text in FILES.items():
        assert not (copy / name).exists()
        (copy / name).write_text(text.lstrip())
    for name, (line, before) in LINES.items():
        lines = (copy / name).read_text().splitlines()
        places = [i for i, text in enumerate(lines) if text.startswith(before)]
        lines.insert(places[-1], line)
        (copy / name).write_text("\n".join(lines) + "\n")
        changed = difflib.ndiff((original / name).read_text().splitlines(), lines)
        assert [text for text in changed if text[0] in "+-"] == [f"+ {line}"]
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
        assert done.returncode == 0, done.stderr
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


def test_contract_tests_run_on_them(ask):
    told = ["-m", "pytest", str(_ROOT / "tests/contracts"), "--rootdir", str(_ROOT), "-q"]
    told += ["--collect-only", "-p", "no:cacheprovider", "-k", "arc_price or every_nth or Blend"]
    collected = ask(*told)
    for module, name in [
        ("test_every_score.py", "arc_price"),
        ("test_every_search.py", "every_nth"),
        ("test_every_estimator.py", "Blend"),
        ("test_every_setting.py", "arc_price-price"),
        ("test_every_setting.py", "every_nth-places"),
        ("test_every_setting.py", "blend-share"),
    ]:
        assert re.search(rf"{module}::.*{name}", collected), (module, name)


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
