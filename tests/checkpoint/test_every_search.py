"""A run that is stopped anywhere and goes on loses nothing: best structure, bound and proof."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from bestdag import Checkpoint
from bestdag.checkpoint.file import decoded, read_any
from bestdag.data.dataset import Dataset
from bestdag.data.schema import Variable
from bestdag.incomplete import StructuralEM
from bestdag.learning import learn
from bestdag.search import make_search
from bestdag.search.driver import Best
from tests.checkpoint.stopping import Steps

RUNS = {
    "hill_climb": make_search("hill_climb"),
    "restarts": make_search("hill_climb", restarts=4, start_from="random"),
    "perturbed": make_search("hill_climb", restarts=4, perturb=3),
    "tabu": make_search("tabu", patience=25),
    "tabu without reinsertion": make_search("tabu", patience=25, reinsert=False, length=4),
    "annealing": make_search("annealing", levels=5, proposals=60),
    "k2": make_search("k2", orders=4),
    "ges": make_search("ges"),
    "ges with turns": make_search("ges", turning=True),
    "order": make_search("order", rounds=6),
    "order to its end": make_search("order", patience=3, max_sets=2000),
    "exact by dp": make_search("exact", engine="dp"),
    "exact by bnc": make_search("exact", engine="bnc"),
    "exact by bnc, three nodes at once": make_search("exact", engine="bnc", nodes_at_once=3),
    "auto": make_search("auto", rounds=3),
    "tree": make_search("tree"),
    "tan": make_search("tan", target="v03"),
    "naive Bayes": make_search("naive_bayes", target="v03"),
}


@pytest.fixture(scope="module")
def table():
    """Twelve variables, each a noisy function of two before it."""
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, 2, 200) for _ in range(2)]
    for k in range(2, 12):
        clean = columns[(k * 5) % k] ^ columns[(k * 3 + 1) % k]
        columns.append(np.where(rng.random(200) < 0.3, rng.integers(0, 2, 200), clean))
    variables = [Variable(f"v{k:02}", ("no", "yes")) for k in range(12)]
    return Dataset(variables, [column.astype(np.uint8) for column in columns])


def same(found, expected):
    assert found.dag == expected.dag
    assert found.score == pytest.approx(expected.score, rel=1e-12)
    assert found.bound == (expected.bound and pytest.approx(expected.bound, rel=1e-12))
    assert found.status == expected.status
    assert found.limits == expected.limits
    assert [step.move for step in found.trace] == [step.move for step in expected.trace]


def loses_nothing(found, expected, score):
    """Require an end of the same kind; a proof is a proof, and no score falls below one kept."""
    assert found.status == expected.status
    assert found.limits == expected.limits
    assert found.score >= score - 1e-9 * abs(score)
    if expected.is_proved:
        assert found.verify()
        assert found.score == pytest.approx(expected.score, rel=1e-12)
        assert found.bound == pytest.approx(expected.bound, rel=1e-12)


def with_exception(name):
    """Statements and searches that require families without support."""
    if name == "tan":
        return {"search": make_search("tan", target="v00")}
    return {"search": make_search("hill_climb"), "knowledge": ["v00 -> v01"]}


@pytest.mark.parametrize("name", ["tan", "statement"])
@pytest.mark.parametrize("way", ["error", "em"])
def test_families_without_support_stay_exceptions(name, way, tmp_path, monkeypatch):
    rng = np.random.default_rng(2)
    states = tuple(map(str, range(24)))
    columns = [np.arange(72, dtype=np.int32) % 24, rng.permutation(72).astype(np.int32) // 3]
    columns.append((columns[0] + (rng.random(72) < 0.2)).astype(np.int32) % 24)
    if way == "em":
        columns[2][::9] = 24  # missing
    data = Dataset([Variable(f"v0{k}", states) for k in range(3)], columns)
    settings = {"score": "bic", "missing": way, **with_exception(name)}
    expected = learn(data, **settings)
    assert expected.limits.exempt
    assert expected.exceptions()
    steps = Steps(monkeypatch)

    def run(path):
        return learn(data, **settings, checkpoint=Checkpoint(path, every=600, resume=True))

    steps.kill_at(None, lambda: run(tmp_path / "whole"))
    n_steps = steps.count
    for last in range(1, n_steps + 1, max(1, n_steps // 6)):
        path = tmp_path / str(last)
        steps.kill_at(last, lambda: run(path))  # noqa: B023
        found = steps.kill_at(None, lambda: run(path))  # noqa: B023
        loses_nothing(found, expected, -math.inf)
        assert found.exceptions() == expected.exceptions()
        same(run(path), found)  # its answer is in the file


def test_structural_em_goes_on(table, tmp_path, monkeypatch):
    columns = [table.codes(name).astype(np.int32) for name in table.names[:6]]
    columns[2][::7] = columns[4][::5] = 2  # missing
    holes = Dataset(table.variables[:6], columns)
    settings = {"score": "bic", "missing": StructuralEM(restarts=1), "search": "hill_climb"}
    expected = learn(holes, **settings)
    steps = Steps(monkeypatch)

    def run(path):
        return learn(holes, **settings, checkpoint=Checkpoint(path, resume=True))

    for last in (1, 2, 4):
        assert steps.kill_at(last, lambda: run(tmp_path / str(last))) is None  # noqa: B023
        same(steps.kill_at(None, lambda: run(tmp_path / str(last))), expected)  # noqa: B023


@pytest.mark.parametrize("name", RUNS)
def test_nothing_found_is_lost(name, table, tmp_path, monkeypatch):
    steps = Steps(monkeypatch)

    def run(path=tmp_path / "undisturbed"):
        kept = {"checkpoint": Checkpoint(path, every=600, resume=True)}
        return learn(table, "bic", search=RUNS[name], seed=3, **kept)

    expected = steps.kill_at(None, run)
    n_steps = steps.count
    same(expected, learn(table, "bic", search=RUNS[name], seed=3))
    draw = random.Random(name)
    for number in range(2):
        found, n_killed, best = None, 0, -math.inf
        path = tmp_path / str(number)
        while found is None:  # at three moments, of what is left
            last = draw.randrange(1, n_steps // 2 + 2) if n_killed < 3 else None
            found = steps.kill_at(last, lambda: run(path))  # noqa: B023
            n_killed += found is None
            if found is None:
                kept = best_kept(path)
                assert kept >= best
                best = kept
        loses_nothing(found, expected, best)
        assert (found.resumed_seconds > 0) == (n_killed > 0)
        same(run(path), found)


def best_kept(path):
    """Return the best score that a file has."""
    best = read_any(path).findings.get("best")
    return -math.inf if best is None else decoded(path, best, Best).score
