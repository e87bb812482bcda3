"""Bounds without linear programs: they hold, by enumeration, and equal what multipliers prove."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestdag import _core
from bestdag.scores.table import ScoreTable
from bestdag.search.exact.bnc.relaxation import Relaxation, Sets
from bestdag.search.exact.duals import dual_bound, find_duals
from tests.conftest import examples
from tests.search.exact.brute_force import best_by_enumeration, random_table
from tests.search.exact.tables import best_of_all_dags
from tests.shared_data import shared_file


def relaxation_of(table: ScoreTable) -> tuple[Relaxation, int]:
    """Costs in units, and what a first network costs."""
    sets = Sets(table)
    kernels = _core.BranchAndCutKernels(sets.begin, sets.costs, sets.offsets, sets.members, 0)
    kernels.descend_from(list(range(sets.n)))
    relaxation = Relaxation(sets, kernels, float(sets.costs[kernels.best()].sum()) or 1.0)
    return relaxation, relaxation.cost_units(kernels.best())


def test_a_ring_of_three_worked_out_by_hand():
    # Each wants the next; giving way costs 2, 3 or 4. One cluster of all three with multiplier 2.
    table = ScoreTable.from_lists(
        ["a", "b", "c"],
        {
            "a": [(-2.0, []), (0.0, ["b"])],
            "b": [(-3.0, []), (0.0, ["c"])],
            "c": [(-4.0, []), (0.0, ["a"])],
        },
    )
    relaxation, enough = relaxation_of(table)
    duals = find_duals(relaxation, enough, rounds=0)
    assert [cut.terms for cut in relaxation.cuts] == [(((0, 1, 2), 1),)]
    assert relaxation.nats(duals.bound) == pytest.approx(2.0, abs=1e-9)
    assert dual_bound(table) == pytest.approx(-2.0, abs=1e-9)


@settings(max_examples=examples(150))
@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from([0, 7, 40]), st.booleans())
def test_no_acyclic_choice_scores_more(seed, n, rounds, ties):
    table = random_table(random.Random(seed), n, keep=0.6, ties=ties)
    best = best_by_enumeration(table)
    bound = dual_bound(table, rounds=rounds)
    assert bound >= best
    assert bound <= math.fsum(float(table.child(v).scores[0]) for v in range(n)) + 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_no_dag_of_five_variables_scores_more(seed):
    table = random_table(random.Random(seed), 5, keep=0.8)
    assert dual_bound(table, rounds=40) >= best_of_all_dags(table)


@settings(max_examples=examples(100))
@given(st.integers(0, 10**6), st.integers(2, 7), st.sampled_from([0, 5, 40]))
def test_the_bound_is_what_the_multipliers_prove(seed, n, rounds):
    relaxation, enough = relaxation_of(random_table(random.Random(seed), n, keep=0.5))
    duals = find_duals(relaxation, enough, rounds=rounds)
    assert (duals.multipliers >= 0).all()
    # The sum again, in Python's whole numbers.
    sets = relaxation.sets
    total = 0
    for multiplier, cut in zip(duals.multipliers.tolist(), relaxation.cuts, strict=True):
        total += multiplier * cut.right_side
    for child in range(n):
        reduced = []
        for number in range(int(sets.begin[child]), int(sets.begin[child + 1])):
            parents, cost = set(sets.parents(number)), int(relaxation.units[number])
            for multiplier, cut in zip(duals.multipliers.tolist(), relaxation.cuts, strict=True):
                ((members, k),) = cut.terms
                if child in members and len(parents & set(members)) < k:
                    cost -= multiplier
            reduced.append(cost)
        total += min(reduced)
    assert total == duals.bound


def test_more_rounds_prove_more():
    table = ScoreTable.load(shared_file("scores/alarm1000.BDeu.k3.jkl.gz"))
    best = -11240.347094
    ascended, walked = dual_bound(table), dual_bound(table, rounds=150)
    assert best < walked < ascended < best + 200.0
    assert walked - best < 0.5 * (ascended - best)


def test_without_an_acyclic_choice_there_is_still_a_bound():
    table = ScoreTable.from_lists(["a", "b"], {"a": [(-1.0, ["b"])], "b": [(-1.0, ["a"])]})
    assert best_by_enumeration(table) is None
    assert math.isfinite(dual_bound(table))


def test_nothing_is_left_to_prove_where_the_best_sets_are_acyclic():
    table = ScoreTable.from_lists(["a", "b"], {"a": [(-1.0, [])], "b": [(0.0, ["a"]), (-1.0, [])]})
    assert dual_bound(table) == -1.0


def test_ascend_refuses_costs_that_do_not_fit():
    relaxation, _ = relaxation_of(random_table(random.Random(0), 3))
    with pytest.raises(ValueError, match="one reduced cost per set"):
        relaxation.kernels.ascend(np.zeros(1, np.int64), 1)
