"""Order cuts: found where a fractional choice is no mean of acyclic ones; valid for every order."""

from __future__ import annotations

import itertools
import random

import highspy
import numpy as np
import pytest

from bestdag import _core
from bestdag.errors import CertificateError
from bestdag.scores.table import ScoreTable
from bestdag.search.exact.bnc.certificate import Certificate, Multipliers, Node, verify
from bestdag.search.exact.bnc.engine import solve_bnc
from bestdag.search.exact.bnc.master import Separator
from bestdag.search.exact.bnc.relaxation import OrderCut, Sets
from bestdag.search.near_optimal.enumeration import Window, enumerate_choices
from tests.search.exact.brute_force import (
    best_by_dp,
    best_by_enumeration,
    is_acyclic,
    random_table,
)


def every_set(n: int) -> tuple[Sets, _core.BranchAndCutKernels]:
    """A table with all parent sets, and its kernels."""
    names = [f"v{i}" for i in range(n)]
    lists = {}
    for name in names:
        others = [other for other in names if other != name]
        subsets = itertools.chain.from_iterable(itertools.combinations(others, k) for k in range(n))
        lists[name] = [(-float(i), list(members)) for i, members in enumerate(subsets)]
    sets = Sets(ScoreTable.from_lists(names, lists))
    return sets, _core.BranchAndCutKernels(sets.begin, sets.costs, sets.offsets, sets.members, 0)


def acyclic_choices(sets: Sets, support: list[int]) -> list[tuple[int, ...]]:
    """All acyclic choices; each child has the sets of the support and the empty one."""
    options = []
    for v in range(sets.n):
        own = range(int(sets.begin[v]), int(sets.begin[v + 1]))
        options.append([f for f in own if f in support or not sets.parents(f)])
    return [
        choice
        for choice in itertools.product(*options)
        if is_acyclic([frozenset(sets.parents(f)) for f in choice])
    ]


def how_far_from_a_mean(sets: Sets, x: dict[int, float]) -> float:
    """Least total of acyclic choices that cover x, by a linear program over all of them, less 1."""
    rows = [f for f in x if sets.parents(f)]
    choices = acyclic_choices(sets, rows)
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    weights = [highs.addVariable(lb=0.0, obj=1.0) for _ in choices]
    for f in rows:
        used = [w for w, choice in zip(weights, choices, strict=True) if f in choice]
        highs.addConstr(sum(used[1:], start=used[0] + 0.0) >= x[f])
    highs.run()
    return highs.getInfo().objective_function_value - 1.0


def random_choice(sets: Sets, rng: random.Random) -> dict[int, float]:
    """A fractional choice of at most three sets per child."""
    x = {}
    for v in range(sets.n):
        own = rng.sample(range(int(sets.begin[v]), int(sets.begin[v + 1])), 3)
        cuts = sorted([0.0, rng.random(), rng.random(), 1.0])
        x.update({f: b - a for f, a, b in zip(own, cuts, cuts[1:], strict=False)})
    return dict(sorted(x.items()))


def separated(kernels, x: dict[int, float], least: float = 1e-4) -> list[OrderCut]:
    support, values = np.array(list(x), dtype=np.int64), np.array(list(x.values()))
    return [
        OrderCut(
            tuple(members),
            tuple(
                tuple(gains[i << len(members) : (i + 1) << len(members)])
                for i in range(len(members))
            ),
            most,
        )
        for members, gains, most, _ in kernels.separate_order_cuts(support, values, 8, least, 100)
    ]


def gain(cut: OrderCut, child: int, parents: tuple[int, ...]) -> int:
    """What a member gains, read off the cut as it is described."""
    if child not in cut.members:
        return 0
    inside = sum(1 << cut.members.index(u) for u in parents if u in cut.members)
    return cut.gains[cut.members.index(child)][inside]


@pytest.mark.parametrize("seed", range(40))
def test_found_where_the_choice_is_no_mean_of_acyclic_ones_and_only_there(seed):
    sets, kernels = every_set(4)
    rng = random.Random(seed)
    x = random_choice(sets, rng)
    distance = how_far_from_a_mean(sets, x)
    cuts = separated(kernels, x)
    assert bool(cuts) == (distance > 1e-3)
    every = acyclic_choices(sets, list(range(len(sets))))
    for cut in cuts:
        gains = [gain(cut, int(sets.child[f]), sets.parents(f)) for f in range(len(sets))]
        assert max(sum(gains[f] for f in choice) for choice in every) == cut.most
        assert sum(gains[f] * value for f, value in x.items()) > cut.most
    if distance > 1e-3:  # by as much as any cut of at most 1 can be: the duals of the covering
        best = max(
            sum(gain(cut, int(sets.child[f]), sets.parents(f)) * value for f, value in x.items())
            / cut.most
            for cut in cuts
        )
        assert best >= 1.0 + distance - 1e-6


@pytest.mark.parametrize("seed", range(20))
def test_a_mean_of_acyclic_choices_is_left_alone(seed):
    sets, kernels = every_set(4)
    rng = random.Random(seed)
    every = acyclic_choices(sets, list(range(len(sets))))
    x: dict[int, float] = {}
    for choice in rng.sample(every, 5):
        for f in choice:
            x[f] = x.get(f, 0.0) + 0.2
    assert separated(kernels, dict(sorted(x.items()))) == []


def test_gains_never_fall_with_more_parents():
    sets, kernels = every_set(5)
    cuts = [
        cut
        for seed in range(20)
        for cut in separated(kernels, random_choice(sets, random.Random(seed)))
    ]
    assert len(cuts) > 5
    for cut in cuts:
        for i, row in enumerate(cut.gains):
            for inside in range(len(row)):
                for bit in range(len(cut.members)):
                    if not inside >> i & 1 and bit != i:
                        assert row[inside] <= row[inside | 1 << bit]


@pytest.mark.parametrize("n", [3, 4, 5, 6])
@pytest.mark.parametrize("seed", range(12))
def test_optima_by_order_cuts_alone_are_those_of_enumeration(monkeypatch, n, seed):
    def order_cuts_only(self, solution, present, is_root, thorough):
        numbers = map(self.number, self._order_cuts(solution))
        return [c for c in dict.fromkeys(numbers) if c not in present]

    monkeypatch.setattr(Separator, "violated", order_cuts_only)
    rng = random.Random(1000 * n + seed)
    table = random_table(rng, n, keep=0.25 if n == 6 else 0.5, ties=seed % 3 == 0)
    result = solve_bnc(table)
    best = best_by_enumeration(table) if n < 5 else best_by_dp(table)
    assert result.is_proved
    assert result.score == pytest.approx(best, rel=1e-9, abs=1e-9)
    assert verify(table, result.proofs[0])


def pair_proof(**changes) -> tuple[ScoreTable, Certificate]:
    """a and b want each other, one gives way; a cut by which one of them gains at most."""
    table = ScoreTable.from_lists(
        ["a", "b"], {"a": [(-1.0, []), (0.0, ["b"])], "b": [(-2.0, []), (0.0, ["a"])]}
    )
    # Bits: 1 is a, 2 is b. What is forgone is 2 - 1 = 1 at least; a alone forgoes 1, and so b.
    cut = OrderCut((0, 1), ((0, 0, 1, 1), (0, 1, 0, 1)), 1)
    proof = Certificate(
        parents=(1, 0),
        score=-1.0,
        resolution=0.0,
        bound=-1.0,
        exponent=0,
        cuts=(cut._replace(**changes),),
        nodes=(Node([Multipliers((0,), (1,))]),),
    )
    return table, proof


def test_a_proof_made_by_hand():
    assert verify(*pair_proof())


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"most": 0}, "not a valid cut"),
        ({"most": 2}, "leaf 0 proves a cost of 0 nats"),
        ({"members": (0, 0)}, "not a valid cut"),
        ({"members": (0, 2)}, "not a valid cut"),
        ({"members": (0,)}, "not a valid cut"),
        ({"gains": ((0, 0, 1, 1), (0, 1))}, "not a valid cut"),
        ({"gains": ((0, 0, 2, 2), (0, 1, 0, 1))}, "not a valid cut"),
        ({"gains": ((0, 0, 1, 1), (1, 1, 1, 1))}, "not a valid cut"),
    ],
)
def test_refuses_cuts_that_an_order_breaks(changes, reason):
    with pytest.raises(CertificateError, match=reason):
        verify(*pair_proof(**changes))


@pytest.mark.parametrize("seed", range(6))
def test_near_optimal_choices_are_the_same_with_a_proof_by_order_cuts(monkeypatch, seed):
    def order_cuts_only(self, solution, present, is_root, thorough):
        numbers = map(self.number, self._order_cuts(solution))
        return [c for c in dict.fromkeys(numbers) if c not in present]

    monkeypatch.setattr(Separator, "violated", order_cuts_only)
    table = random_table(random.Random(seed), 6, keep=0.3)
    solution = solve_bnc(table)
    certificate = solution.proofs[0]
    window = Window(
        best=solution.score,
        nats=8.0,
        slack=1e-6,
        number=None,
        per_class=False,
        has_whole_classes=False,
    )
    with_cuts, without = (
        enumerate_choices(table, window, proof, threads=1, deadline=None)
        for proof in (certificate, None)
    )
    assert len(without.scores) > 3
    assert with_cuts.scores == pytest.approx(without.scores, abs=1e-9)
    assert any(isinstance(cut, OrderCut) for cut in certificate.cuts)
