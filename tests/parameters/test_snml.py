"""sNML of one variable: exact code lengths, order of cases, Theorems 4 and 5, refusals."""

from fractions import Fraction
from functools import cache
from itertools import product
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestdag.errors import DataError, InvalidParameterError
from bestdag.parameters.fsnml import snml_code_length, snml_shares
from tests.parameters.test_fsnml import theorem_5
from tests.reference import parameters as reference
from tests.reference.scores import log_fraction


# 0011: 1/2, then 4 to 1, then 1 to 27/4, then 4 to 27/4: 1/2 4/5 4/31 16/43 = 128/6665.
# 0101: 1/2, then 1 to 4, then 4 to 4, then 4 to 27/4:    1/2 1/5 1/2 16/43 = 4/215.
@pytest.mark.parametrize(
    ("sequence", "expected"),
    [
        ("", Fraction(1)),
        ("0", Fraction(1, 2)),
        ("0011", Fraction(128, 6665)),
        ("0101", Fraction(4, 215)),
    ],
)
def test_depends_on_the_order_of_cases(sequence, expected):
    codes = [int(c) for c in sequence]
    assert reference.snml_probability(codes, 2) == expected
    assert exp(-snml_code_length(codes, 2)) == pytest.approx(float(expected), rel=1e-15)


@given(st.integers(1, 4), st.data())
def test_is_the_product_of_normalised_likelihoods(arity, data):
    codes = data.draw(st.lists(st.integers(0, arity - 1), max_size=12))
    expected = -log_fraction(reference.snml_probability(codes, arity))
    assert snml_code_length(codes, arity) == pytest.approx(expected, rel=1e-13, abs=1e-13)


def test_long_sequences_are_cut_into_blocks_without_a_seam():
    rng = np.random.default_rng(1)
    codes, arity = rng.integers(0, 300, 20_000), 300  # 3,495 cases at a time
    seen, shares, expected = np.zeros(arity, int), snml_shares(np.arange(1000)), 0.0
    for code in codes:
        expected -= log(shares[seen[code]] / shares[seen].sum())
        seen[code] += 1
    assert snml_code_length(codes, arity) == pytest.approx(expected, rel=1e-12)


def test_probabilities_of_all_sequences_sum_to_1():
    total = sum(exp(-snml_code_length(codes, 3)) for codes in product(range(3), repeat=6))
    assert total == pytest.approx(1.0, rel=1e-12)


@cache
def worst_ratio(counts):
    """Largest maximised likelihood over sNML probability, of sequences with these counts.

    Each case multiplies the ratio by (sum over states of the likelihood with that state added)
    / (likelihood before), which depends on the counts alone.
    """
    if not any(counts):
        return Fraction(1)
    found = []
    for k, n in enumerate(counts):
        if n:
            before = (*counts[:k], n - 1, *counts[k + 1 :])
            column = reference.column_with(before)
            longer = sum(reference.alone([*column, state]) for state in range(len(counts)))
            found.append(worst_ratio(tuple(sorted(before))) * longer / reference.alone(column))
    return max(found)


def worst_regret(n, k):
    """The largest regret of any sequence of n cases with k states."""
    vectors = {tuple(sorted(c)) for c in product(range(n + 1), repeat=k) if sum(c) == n}
    return max(log_fraction(worst_ratio(counts)) for counts in vectors)


def test_worst_regret_is_that_of_the_worst_sequence():
    for n, k in ((4, 2), (3, 3)):
        regrets = [
            log_fraction(reference.alone(codes)) + snml_code_length(codes, k)
            for codes in product(range(k), repeat=n)
        ]
        assert max(regrets) == pytest.approx(worst_regret(n, k), rel=1e-12)


def test_theorem_4_bounds_the_regret_of_two_states():
    for n in range(1, 16):
        assert worst_regret(n, 2) <= log(n + 1) / 2 + 1 / 2


@pytest.mark.parametrize(("k", "most"), [(2, 15), (3, 10), (4, 8)])
def test_theorem_5_and_its_relaxation_bound_the_regret(k, most):
    for n in range(1, most):
        bound = theorem_5(n, k)
        relaxed = (k - 1) * ((k - 1) / k * log(n / (k - 1) + 1) + 1 / 2)
        assert worst_regret(n, k) <= bound + 1e-12
        assert bound <= relaxed + 1e-12


def test_the_bound_of_theorem_5_is_not_tight():
    # Two cases of two states: 2 * 5/4 at worst. The bound: (2 ln 3/2 + ln 3) / 2.
    assert worst_regret(2, 2) == pytest.approx(log(5 / 2), rel=1e-15)
    assert round(worst_regret(2, 2), 4) == 0.9163
    assert round(theorem_5(2, 2), 4) == 0.9548


@pytest.mark.parametrize(("k", "most"), [(2, 15), (3, 10), (4, 8)])
def test_the_worst_regret_is_concave_in_the_number_of_cases(k, most):
    steps = np.diff([worst_regret(n, k) if n else 0.0 for n in range(most)])
    assert (np.diff(steps) < 0).all()


@pytest.mark.parametrize("k", [2, 3, 10])
def test_the_bound_is_concave_too(k):
    n = np.linspace(0.01, 50, 400)
    assert (np.diff([theorem_5(x, k) for x in n], 2) < 0).all()


@pytest.mark.parametrize(
    ("sequence", "arity", "error", "message"),
    [
        ([0, 2], 2, DataError, "codes of 2 states are 0 to 1, got 2"),
        ([-1], 2, DataError, "got -1"),
        ([0.5], 2, InvalidParameterError, "a sequence of whole numbers"),
        ([[0, 1]], 2, InvalidParameterError, r"shape \(1, 2\)"),
        ([0], 0, InvalidParameterError, "arity must be a whole number >= 1"),
    ],
)
def test_refusals(sequence, arity, error, message):
    with pytest.raises(error, match=message):
        snml_code_length(sequence, arity)
