"""Tabu search: it leaves local optima, does not go round in circles, and never loses."""

import pytest

from bestdag.errors import InvalidParameterError
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge import Knowledge
from bestdag.scores.scorer import Scorer
from bestdag.search.hill_climb import HillClimb
from bestdag.search.problem import Problem
from bestdag.search.tabu import Tabu
from tests.search.neighbours import linked_data, neighbours
from tests.search.test_hill_climb import STATEMENTS, bits, table_7_4


def test_leaves_the_local_optimum_of_exercise_7_10():
    scorer = Scorer(table_7_4(), "bic")
    fork = Dag(list("ABC"), [("B", "A"), ("B", "C")])
    stuck = Problem(scorer).starting_from(fork).solve(HillClimb(reinsert=False))
    assert bits(stuck.score) == pytest.approx(-75.9625, abs=5e-5)
    found = Problem(scorer).starting_from(stuck.dag).solve(Tabu(reinsert=False))
    assert bits(found.score) == pytest.approx(-74.0671, abs=5e-5)


@pytest.mark.parametrize("seed", range(6))
def test_the_best_structure_is_a_local_optimum_and_no_worse_than_climbing(seed):
    scorer = Scorer(linked_data(seed, n=7), "bdeu")
    found = Problem(scorer).solve(Tabu(patience=40))
    assert found.status == "local optimum"
    assert found.score >= Problem(scorer).solve(HillClimb()).score
    assert max(map(scorer.total, neighbours(found.dag))) <= found.score + 1e-8


def pair(step):
    _, one, _, other = step.move.split()
    return frozenset((one, other))


@pytest.mark.parametrize("seed", range(4))
def test_recent_changes_are_not_undone_except_for_a_new_best(seed):
    length, patience = 5, 30
    scorer = Scorer(linked_data(seed, n=7), "bic")
    found = Problem(scorer).solve(Tabu(length=length, patience=patience))
    walk = found.trace[-patience:]  # none of the last moves led to a better structure
    assert max(step.score for step in walk) <= found.score + 1e-9
    assert min(step.gain for step in walk) < 0
    for i, step in enumerate(walk):
        recent = {pair(before) for before in walk[max(0, i - length) : i]}
        assert pair(step) not in recent


@pytest.mark.parametrize("lines", STATEMENTS, ids="; ".join)
def test_knowledge_holds_at_every_step(lines):
    knowledge = Knowledge.parse(lines)
    scorer = Scorer(linked_data(1), "aic")
    found = Problem(scorer, knowledge=knowledge).solve(Tabu(patience=30))
    assert knowledge.allows(found.dag)
    assert max(map(scorer.total, neighbours(found.dag, knowledge))) <= found.score + 1e-8


@pytest.mark.parametrize("setting", ["length", "patience"])
def test_bad_settings_are_refused(setting):
    with pytest.raises(InvalidParameterError, match=f"tabu: {setting} must be"):
        Tabu(**{setting: 0})


def test_long_walks_keep_their_ends_and_the_same_best_structure(monkeypatch):
    from bestdag.search import driver
    from bestdag.search.climbing import walk

    scorer = Scorer(linked_data(3, n=7), "bic")
    search = Tabu(patience=200, length=3)
    whole = Problem(scorer).solve(search)
    n_whole = len(whole.trace)
    assert n_whole > 100
    monkeypatch.setattr(driver, "_STEPS_AT_EITHER_END", 10)
    monkeypatch.setattr(walk, "_MOST_MOVES", 7)
    short = Problem(scorer).solve(search)
    assert (short.dag, short.score) == (whole.dag, whole.score)
    assert short.trace[:10] == whole.trace[:10]
    assert short.trace[11:] == whole.trace[-10:]
    between = short.trace[10]
    assert between.move == f"{n_whole - 20:,} steps that are not kept"
    assert between.score == whole.trace[-11].score
    assert between.gain == pytest.approx(between.score - whole.trace[9].score, abs=1e-6)
