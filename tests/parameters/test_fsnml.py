"""fsNML: the rule by hand and by definition, and Theorem 6."""

from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestdag import LL, Dag, Scorer
from bestdag.counts.family import FamilyCounts
from bestdag.parameters.fsnml import FSNML, snml_code_length
from tests.conftest import examples, make_dataset
from tests.reference import parameters as reference


# e(0)(0+1) = 1, e(1)(1+1) = 4, e(2)(2+1) = 27/4, e(3)(3+1) = 256/27.
@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ([0, 0], [1 / 2, 1 / 2]),
        ([1, 0], [4 / 5, 1 / 5]),
        ([1, 0, 0], [4 / 6, 1 / 6, 1 / 6]),
        ([2, 1], [27 / 43, 16 / 43]),  # 27/4 to 4
        ([3, 1], [64 / 91, 27 / 91]),  # 256/27 to 4 = 108/27
    ],
)
def test_value_worked_out_by_hand(row, expected):
    assert FSNML().rows(FamilyCounts.of([row]))[0] == pytest.approx(expected, abs=1e-15)


@given(st.lists(st.lists(st.integers(0, 7), min_size=3, max_size=3), min_size=1, max_size=3))
def test_is_the_maximised_likelihood_with_one_more_case(table):
    rows = FSNML().rows(FamilyCounts.of(table))
    for got, counts in zip(rows, table, strict=True):
        expected = reference.snml_prediction(reference.column_with(counts), 3)
        assert got == pytest.approx([float(x) for x in expected], rel=1e-14)


def test_many_cases_come_close_to_laplace_with_one_half():
    # e(n) (n + 1) = e (n + 1/2 + O(1/n)).
    n = 10**9
    assert FSNML().rows(FamilyCounts.of([[n, 3 * n]]))[0] == pytest.approx(
        [(n + 0.5) / (4 * n + 1), (3 * n + 0.5) / (4 * n + 1)], rel=1e-15
    )


def test_real_counts_are_between_their_neighbours():
    shares = [FSNML().rows(FamilyCounts.of([[n, 1]]))[0, 0] for n in (0, 5e-324, 1e-9, 0.5, 1, 1.5)]
    assert shares == sorted(shares)
    # n = 1/2: (3/2)^(3/2) / (1/2)^(1/2) = 27^(1/2) / 2; of that and 4.
    half = 27**0.5 / 2
    assert shares[3] == pytest.approx(half / (half + 4), rel=1e-15)


def theorem_5(n, k):
    """The bound of Theorem 5, for any n >= 0."""
    if n == 0:
        return 0.0
    return sum(n * log((n + i) / n) + i * log((n + i) / i) for i in range(1, k)) / k


# The regret of a network is the sum over its families and parent configurations. The bound is
# concave in the number of cases, so it is largest when all configurations have equally many.
@given(st.integers(0, 2**32), st.integers(1, 40))
@settings(max_examples=examples(60))
def test_theorem_6(seed, n_rows):
    rng = np.random.default_rng(seed)
    arities = dict(zip("abc", rng.integers(2, 4, 3).tolist(), strict=True))
    columns = {name: rng.integers(0, r, n_rows) for name, r in arities.items()}
    dag = Dag(list("abc"), [("a", "c"), ("b", "c")][: rng.integers(0, 3)])
    code_length = bound = 0.0
    for child in "abc":
        parents = dag.parents(child)
        place = np.zeros(n_rows, int)
        for parent in parents:
            place = place * arities[parent] + columns[parent]
        q = int(np.prod([arities[p] for p in parents]))
        for j in range(q):
            code_length += snml_code_length(columns[child][place == j], arities[child])
        bound += q * theorem_5(n_rows / q, arities[child])
    data = make_dataset({n: c.tolist() for n, c in columns.items()}, arities)
    regret = Scorer(data, LL()).total(dag) + code_length
    assert -1e-9 <= regret <= bound + 1e-9
