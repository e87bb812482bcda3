"""Simulated annealing: the rule of acceptance, the schedule, seeds, how it ends."""

import math
from collections import Counter

import numpy as np
import pytest

from bestdag import _core
from bestdag.errors import InvalidParameterError
from bestdag.graph.knowledge import Knowledge
from bestdag.scores.scorer import Scorer
from bestdag.search.annealing import Annealing
from bestdag.search.problem import Problem
from tests.search.neighbours import linked_data, neighbours
from tests.search.test_hill_climb import STATEMENTS

SHORT = Annealing(levels=10, proposals=100)


def two_nodes():
    """Nodes 0 and 1 without arcs; 0 -> 1 gains -1 and 1 -> 0 gains -2."""
    climb = _core.Climb(
        np.array([0, 1, 2]),
        np.array([1, 0], np.int32),
        np.zeros(2, np.uint8),
        np.ones(2, np.int32),
        edges=[],
        ancestors=[],
        non_ancestors=[],
    )
    climb.reset([[], []])
    climb.set_row(0, -5.0, np.array([-7.0]))
    climb.set_row(1, -5.0, np.array([-6.0]))
    return climb


def test_losses_are_accepted_as_often_as_the_temperature_says():
    # Each of the two arcs is proposed half the time: accepted with e^(-1/2) / 2 and e^(-1) / 2.
    climb, counter, accepted, n = two_nodes(), 0, Counter(), 40_000
    while counter < n:
        move, counter = climb.propose(2.0, n - counter, False, 7, 0, counter)
        if move is not None:
            accepted[move[1]] += 1
    assert accepted[0] / n == pytest.approx(math.exp(-0.5) / 2, abs=0.01)
    assert accepted[1] / n == pytest.approx(math.exp(-1.0) / 2, abs=0.01)


def test_draws_depend_on_seed_stream_and_counter_alone():
    def drawn(seed, stream):
        climb, counter, moves = two_nodes(), 0, []
        for _ in range(30):
            move, counter = climb.propose(math.inf, 1000, False, seed, stream, counter)
            moves.append(move[:3])
        return moves

    assert drawn(1, 2) == drawn(1, 2)
    assert drawn(1, 2) != drawn(1, 3) != drawn(2, 2)


def test_linear_and_geometric_schedules():
    linear = Annealing(initial_temperature=4, final_temperature=1, levels=4, schedule="linear")
    assert list(linear.temperatures()) == pytest.approx([4, 3, 2, 1])
    geometric = Annealing(initial_temperature=100, final_temperature=1, levels=3)
    assert list(geometric.temperatures()) == pytest.approx([100, 10, 1])


@pytest.mark.parametrize("seed", range(4))
def test_ends_in_a_local_optimum(seed):
    scorer = Scorer(linked_data(seed), "bdeu")
    found = Problem(scorer, seed=seed).solve(SHORT)
    assert found.status == "local optimum"
    assert min(step.gain for step in found.trace) < 0
    assert max(map(scorer.total, neighbours(found.dag))) <= found.score + 1e-8
    assert found.score == pytest.approx(scorer.total(found.dag), rel=1e-12)


def test_the_same_seed_gives_the_same_walk():
    scorer = Scorer(linked_data(0), "bic")
    runs = [Problem(scorer, seed=seed).solve(SHORT) for seed in (3, 3, 4)]
    assert runs[0].trace == runs[1].trace
    assert runs[0].trace != runs[2].trace


@pytest.mark.parametrize("lines", STATEMENTS, ids="; ".join)
def test_knowledge_holds(lines):
    knowledge = Knowledge.parse(lines)
    found = Problem(Scorer(linked_data(1), "aic"), knowledge=knowledge).solve(SHORT)
    assert knowledge.allows(found.dag)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"initial_temperature": 0}, "initial_temperature must be"),
        ({"final_temperature": -1}, "final_temperature must be"),
        (
            {"initial_temperature": 1, "final_temperature": 2},
            "final_temperature must be at most initial_temperature",
        ),
        ({"schedule": "slow"}, "schedule must be"),
        ({"levels": 0}, "levels must be"),
        ({"proposals": 0}, "proposals must be"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(InvalidParameterError, match=f"annealing: {message}"):
        Annealing(**settings)


def test_a_schedule_that_never_ends_is_not_listed():
    endless = Annealing(levels=2**62).temperatures()
    assert [next(endless), next(endless)] == pytest.approx([10.0, 10.0])
