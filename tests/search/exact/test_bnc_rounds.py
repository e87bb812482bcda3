"""Branch and cut in rounds of nodes: the same for any number of threads."""

from __future__ import annotations

import random

import pytest

from bestdag.scores.table import ScoreTable
from bestdag.search.exact.bnc.certificate import verify
from bestdag.search.exact.bnc.engine import BranchAndCut


@pytest.fixture(scope="module")
def table():
    """Random scores: the tree has some nodes."""
    draw, names = random.Random(0), [f"v{k:02}" for k in range(14)]
    lists = {}
    for name in names:
        others = [other for other in names if other != name]
        sets = sorted({tuple(sorted(draw.sample(others, draw.choice((2, 3))))) for _ in range(30)})
        scored = [(-100.0 + len(one) * 9 * draw.random(), list(one)) for one in sets]
        lists[name] = [(-100.0, []), *scored]
    return ScoreTable.from_lists(names, lists)


def outcome(engine):
    found = engine.run()
    return found.chosen, found.score, found.bound, found.n_nodes, engine.n_cuts, found.status


@pytest.mark.parametrize("nodes_at_once", [1, 3])
def test_threads_change_nothing(table, nodes_at_once):
    one, *others = [
        outcome(BranchAndCut(table, nodes_at_once=nodes_at_once, threads=threads))
        for threads in (1, 4)
    ]
    assert one[3] > 4
    assert one[-1] == "optimum proved"
    assert others == [one]


def test_nodes_at_once_find_the_same_optimum(table):
    scores = [BranchAndCut(table, nodes_at_once=k).run() for k in (1, 4)]
    assert len({found.score for found in scores}) == 1
    for found in scores:
        assert verify(table, found.proofs[0])
