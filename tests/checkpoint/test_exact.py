"""Exact search goes on with what it had listed and proved."""

from __future__ import annotations

import random

import numpy as np
import pytest

from bestdag.checkpoint import Checkpoint
from bestdag.checkpoint.file import read_any
from bestdag.data.dataset import Dataset
from bestdag.data.schema import Variable
from bestdag.learning import learn
from bestdag.scores.table import ScoreTable
from bestdag.search import Exact
from bestdag.search.exact import solver
from bestdag.search.problem import Problem
from tests.checkpoint.stopping import Steps


@pytest.fixture
def solved(monkeypatch):
    """Return the sizes of the components that engines are given."""
    sizes = []

    def counted(engine):
        def solve(table, **settings):
            sizes.append(table.n_variables)
            return engine(table, **settings)

        return solve

    for engine in ("solve_dp", "BranchAndCut"):
        monkeypatch.setattr(solver, engine, counted(getattr(solver, engine)))
    return sizes


def two_components():
    """Four variables and five, each a component of its own, with cycles to be broken."""
    draw, lists = random.Random(0), {}
    for group in ("abcd", "vwxyz"):
        for child in group:
            sets = [(-10.0, [])]
            sets += [(-10.0 + 5.0 * draw.random(), [p]) for p in group if p != child]
            lists[child] = sets
    return ScoreTable.from_lists(sorted(lists), lists)


@pytest.mark.parametrize("engine", ["dp", "bnc", "frontier"])
def test_a_component_is_solved_once_and_its_proof_is_in_the_file(
    engine, solved, tmp_path, monkeypatch
):
    table, search, path = two_components(), Exact(engine=engine), tmp_path / "run"
    expected = Problem(table).solve(search)
    solved.clear()
    steps = Steps(monkeypatch)

    def run():
        with Checkpoint(path, resume=True).open("test", {}) as state:
            return Problem(table, state=state).solve(search)

    last = 1
    while last == 1 or not any(name.startswith("component") for name in read_any(path).findings):
        assert steps.kill_at(last, run) is None
        last += 1
    assert set(solved) == {4}  # the smaller one comes first
    solved.clear()
    result = steps.kill_at(None, run)
    assert solved == [5]
    assert (result.dag, result.score, result.status) == (
        expected.dag,
        expected.score,
        "optimum proved",
    )
    assert result.verify()  # the proof from the file, too


def test_lists_are_made_once(solved, tmp_path, monkeypatch):
    rng = np.random.default_rng(3)
    columns = [rng.integers(0, 2, 300).astype(np.uint8) for _ in range(9)]
    columns[1:] = [np.where(rng.random(300) < 0.2, c, columns[0]) for c in columns[1:]]
    data = Dataset([Variable(f"v{k}", ("no", "yes")) for k in range(9)], columns)
    settings = {
        "search": Exact(engine="bnc"),
        "checkpoint": Checkpoint(tmp_path / "run", resume=True),
    }
    expected = learn(data, "bic", search=settings["search"])
    steps = Steps(monkeypatch)
    last = 1
    while "lists" not in (read_any(tmp_path / "run").findings if last > 1 else ()):
        assert steps.kill_at(last, lambda: learn(data, "bic", **settings)) is None
        last += 1
    monkeypatch.setattr(
        "bestdag.search.problem.build_score_table", lambda *_, **__: pytest.fail("listed again")
    )
    result = steps.kill_at(None, lambda: learn(data, "bic", **settings))
    assert (result.dag, result.score) == (expected.dag, expected.score)
    assert result.is_proved
