"""Sums of products: against einsum, for every rule, and what the plan promises."""

from itertools import permutations
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestdag.factors import (
    Factor,
    log_sum_product,
    plan_elimination,
    sum_out,
    sum_product,
)
from tests.conftest import examples
from tests.reference import factors as reference

NAMES = "abcdefg"


def random_factors(rng):
    sizes = dict(zip(NAMES, rng.integers(2, 5, len(NAMES)).tolist(), strict=True))
    factors = []
    for _ in range(rng.integers(1, 8)):
        axes = tuple(rng.permutation(list(NAMES))[: rng.integers(0, 4)].tolist())
        factors.append(Factor(axes, rng.random([sizes[name] for name in axes])))
    return sizes, factors


def walk(scopes, order, sizes):
    """Cells of each product met on the way, by sets alone."""
    left = [frozenset(scope) for scope in scopes]
    for name in order:
        union = frozenset().union(*(scope for scope in left if name in scope))
        left = [scope for scope in left if name not in scope] + [union - {name}]
        yield np.prod([sizes[other] for other in union])


@pytest.mark.parametrize("cheap", [1 << 18, -1], ids=["one rule", "three rules"])
@given(st.integers(0, 2**32), st.integers(0, 3))
@settings(max_examples=examples(40))
def test_equals_einsum_and_its_plan(cheap, seed, n_kept):
    rng = np.random.default_rng(seed)
    sizes, factors = random_factors(rng)
    present = sorted({name for factor in factors for name in factor.axes})
    keep = present[:n_kept]
    scopes = [factor.axes for factor in factors]
    plan = plan_elimination(scopes, keep, sizes, cheap)
    assert plan.order == reference.plan_elimination(scopes, keep, sizes, cheap).order
    assert sorted([*plan.order, *keep]) == present
    got = sum_product(factors, plan, keep)
    operands = [x for f in factors for x in (f.values, [NAMES.index(name) for name in f.axes])]
    expected = np.einsum(*operands, [NAMES.index(name) for name in keep])
    assert got == pytest.approx(expected, rel=1e-12)
    products = list(walk([f.axes for f in factors], plan.order, sizes))
    assert plan.work == pytest.approx(sum(products))
    kept_cells = np.prod([sizes[name] for name in keep])
    assert plan.log2_cells == pytest.approx(log2(max([*products, kept_cells])))


# The three rules together never do more work than the first, and never less than the best order.
@given(st.integers(0, 2**32))
@settings(max_examples=examples(15), deadline=None)
def test_three_rules_are_no_worse_than_one(seed):
    sizes, factors = random_factors(np.random.default_rng(seed))
    scopes = [factor.axes for factor in factors]
    one = plan_elimination(scopes, [], sizes)
    three = plan_elimination(scopes, [], sizes, cheap=-1)
    best = min(sum(walk(scopes, order, sizes)) for order in permutations(one.order))
    assert best - 1e-6 <= three.work <= one.work


def test_nothing_to_multiply_is_one():
    plan = plan_elimination([], [], {})
    assert sum_product([], plan, []) == pytest.approx(1.0)


@given(st.integers(0, 2**32), st.integers(0, 3))
@settings(max_examples=examples(40))
def test_logarithms_give_the_same(seed, n_kept):
    sizes, factors = random_factors(np.random.default_rng(seed))
    factors = [Factor(f.axes, np.where(f.values < 0.3, 0.0, f.values)) for f in factors]
    keep = sorted({name for factor in factors for name in factor.axes})[:n_kept]
    plan = plan_elimination([factor.axes for factor in factors], keep, sizes)
    with np.errstate(divide="ignore"):
        logs = [Factor(factor.axes, np.log(factor.values)) for factor in factors]
        expected = np.log(sum_product(factors, plan, keep))
    got = log_sum_product(logs, plan, keep)
    assert got == pytest.approx(expected, rel=1e-12, abs=1e-12)
    slow = reference.aligned(reference.log_sum_product(logs, plan), keep)
    assert got == pytest.approx(slow, rel=1e-12, abs=1e-12)


# What is left of the factors, multiplied, is the whole sum.
@given(st.integers(0, 2**32), st.integers(0, 3))
@settings(max_examples=examples(40))
def test_summing_out_leaves_factors_of_the_sum(seed, n_kept):
    sizes, factors = random_factors(np.random.default_rng(seed))
    keep = sorted({name for factor in factors for name in factor.axes})[:n_kept]
    plan = plan_elimination([factor.axes for factor in factors], keep, sizes)
    left = sum_out([Factor(f.axes, np.log(f.values)) for f in factors], plan)
    assert {name for factor in left for name in factor.axes} <= set(keep)
    nothing = plan_elimination([factor.axes for factor in left], keep, sizes)
    got = log_sum_product(left, nothing, keep)
    assert np.exp(got) == pytest.approx(sum_product(factors, plan, keep), rel=1e-11)


# Each product is e**-2000, which no double holds.
def test_logarithms_do_not_underflow():
    tiny = [Factor(("a",), np.full(2, -1000.0))] * 2
    plan = plan_elimination([("a",)] * 2, [], {"a": 2})
    assert log_sum_product(tiny, plan, []) == pytest.approx(-2000 + np.log(2), rel=1e-15)
    (left,) = [factor for factor in sum_out(tiny, plan) if factor.values < 0]
    assert left.values == pytest.approx(-2000 + np.log(2), rel=1e-15)


# Half of 2,000 factors say that a row is one thing, half the other: no partial product fits.
def test_rows_are_scaled_each_for_itself():
    one, other = np.array([0.0, -3.0]), np.array([-3.0, 0.0])
    factors = [Factor(("a",), one)] * 1000 + [Factor(("a",), other)] * 1000
    factors.append(Factor(("row", "a"), np.array([[0.0, 0.0], [-900.0, -901.0]])))
    plan = plan_elimination([f.axes for f in factors], ["row"], {"row": 2, "a": 2})
    expected = [np.log(2) - 3000, np.log1p(np.exp(-1)) - 3900]
    assert log_sum_product(factors, plan, ["row"]) == pytest.approx(expected, rel=1e-14)
