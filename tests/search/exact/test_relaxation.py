"""Cuts and their bound: valid for every acyclic choice, equal to the literal formula."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from bestdag import _core
from bestdag.scores.table import ScoreTable
from bestdag.search.exact.bnc.certificate import verify
from bestdag.search.exact.bnc.engine import solve_bnc
from bestdag.search.exact.bnc.master import LpSolution, Master
from bestdag.search.exact.bnc.relaxation import Cut, OrderCut, Relaxation, Sets
from tests.search.exact.brute_force import best_by_dp, is_acyclic, random_table


def relaxation_of(table) -> Relaxation:
    sets = Sets(table)
    kernels = _core.BranchAndCutKernels(sets.begin, sets.costs, sets.offsets, sets.members, 0)
    return Relaxation(sets, kernels, float(sets.costs.sum()))


def random_cut(rng: random.Random, n: int) -> Cut:
    def cluster():
        k = rng.choice([1, 1, 2])
        members = rng.sample(range(n), rng.randint(max(2, k), n))
        return tuple(sorted(members)), k

    if rng.random() < 0.4:
        return Cut((cluster(),))
    terms = tuple(cluster() for _ in range(rng.randint(2, 5)))
    equations = tuple(sorted(rng.sample(range(n), rng.randint(0, n))))
    return Cut(terms, equations, halved=True)


def random_order_cut(rng: random.Random, n: int) -> OrderCut:
    """Gains that rise with the parents, and the most over all orders."""
    members = tuple(sorted(rng.sample(range(n), rng.randint(2, n))))
    k = len(members)
    gains = []
    for _ in range(k):
        drawn = [rng.randint(0, 3) if inside else 0 for inside in range(1 << k)]
        gains.append(
            tuple(max(drawn[s] for s in range(1 << k) if s & t == s) for t in range(1 << k))
        )
    totals = []
    for order in itertools.permutations(range(k)):
        before, total = 0, 0
        for i in order:
            total += gains[i][before]
            before |= 1 << i
        totals.append(total)
    return OrderCut(members, tuple(gains), max(totals))


def literal_coefficient(cut: Cut | OrderCut, child: int, parents: tuple[int, ...]) -> int:
    if isinstance(cut, OrderCut):
        if child not in cut.members:
            return 0
        inside = sum(1 << i for i, u in enumerate(cut.members) if u in parents)
        gains = cut.gains[cut.members.index(child)]
        return max(gains) - gains[inside]
    total = 0
    for members, k in cut.terms:
        if child in members and len(set(parents) & set(members)) < k:
            total += 1
    if not cut.halved:
        return total
    total -= child in cut.equations
    return (total + 1) // 2  # rounded up


@pytest.mark.parametrize("seed", range(8))
def test_cuts_hold_for_every_acyclic_choice_and_the_bound_is_below_all(seed):
    rng = random.Random(seed)
    n = 4
    table = random_table(rng, n, keep=0.7)
    relaxation = relaxation_of(table)
    sets = relaxation.sets
    cuts = [random_cut(rng, n) for _ in range(40)] + [random_order_cut(rng, n) for _ in range(20)]
    numbers = [relaxation.add(cut) for cut in cuts]
    matrix = np.empty((len(cuts), len(sets)), dtype=np.int8)
    relaxation.kernels.coefficients(np.array(numbers, dtype=np.int64), np.arange(len(sets)), matrix)
    for i, cut in enumerate(cuts):
        for f in range(len(sets)):
            expected = literal_coefficient(cut, int(sets.child[f]), sets.parents(f))
            assert matrix[i, f] == expected
        assert cut.without_parents(n).tolist() == [
            literal_coefficient(cut, v, ()) for v in range(n)
        ]

    multipliers = np.array([rng.choice([0, rng.randint(0, 2**40)]) for _ in cuts])
    bound = relaxation.price(multipliers, np.ones(len(sets), dtype=bool)).bound
    ranges = [range(sets.begin[v], sets.begin[v + 1]) for v in range(n)]
    right = np.array([cut.right_side for cut in cuts])
    for choice in itertools.product(*ranges):
        if is_acyclic([frozenset(sets.parents(f)) for f in choice]):
            assert (matrix[:, list(choice)].sum(axis=1) >= right).all()
            assert relaxation.cost_units(np.array(choice)) >= bound


def test_a_cyclic_choice_violates_a_cut_that_is_found():
    # v0 <- v1 <- v2 <- ... <- v0, ten variables: only the whole cycle is violated.
    rng = random.Random(0)
    for n in (2, 3, 10, 70):
        names = [f"v{i:02d}" for i in range(n)]
        lists = {names[i]: [(1.0, [names[(i + 1) % n]]), (0.0, [])] for i in range(n)}
        relaxation = relaxation_of(ScoreTable.from_lists(names, lists))
        best = relaxation.sets.begin[:-1].copy()
        found = relaxation.kernels.separate(best, np.ones(n), 1, [], 0.5, 5)
        assert found == [(list(range(n)), 1.0)]
        best[rng.randrange(n)] += 1
        assert relaxation.kernels.separate(best, np.ones(n), 1, [], 1e-6, 5) == []


def _no_answer(self, *, primal=False, iterations=None):
    return None


def _lying_solution(self, objective):
    rng = np.random.default_rng(self.solves)
    support = np.sort(
        rng.choice(self.columns, size=min(len(self.columns), 2 * self.n), replace=False)
    )
    duals = rng.normal(0.0, 500.0, len(self.cuts))
    duals[rng.random(len(duals)) < 0.1] = np.nan
    return LpSolution(
        float(rng.normal()),
        support,
        rng.random(len(support)),
        duals,
        rng.normal(0, 500, self.n),
        0.0,
    )


@pytest.mark.parametrize(
    ("method", "broken"), [("solve", _no_answer), ("solution", _lying_solution)]
)
@pytest.mark.parametrize("seed", range(6))
def test_a_broken_linear_programming_solver_costs_time_but_no_truth(
    monkeypatch, method, broken, seed
):
    monkeypatch.setattr(Master, method, broken)
    table = random_table(random.Random(seed), 3, keep=0.9, ties=seed % 2 == 0)
    result = solve_bnc(table, threads=1, deadline=None)
    assert result.is_proved
    assert result.score == pytest.approx(best_by_dp(table), rel=1e-9, abs=1e-9)
    assert verify(table, result.proofs[0])
