"""BDq: hand-worked values, marginal likelihoods in fractions, equivalence, irregularity."""

from itertools import combinations, product
from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestdag.counts.family import FamilyCounts
from bestdag.errors import InvalidParameterError
from bestdag.graph.dag import Dag
from bestdag.parameters import estimator_for
from bestdag.scores.bdq import BDq
from bestdag.scores.parent_sets.build import build_score_table
from bestdag.scores.scorer import Scorer
from tests.conftest import examples, make_dataset
from tests.reference import scores as reference


# Jensen and Nielsen, Table 7.2: (yes, pos) 6, (yes, neg) 2, (no, neg) 2 times. With the arc the
# network is one variable with 4 states, whose pseudo-counts sum to 2:
#   1/2 3/2 5/2 7/2 9/2 11/2 = 10395/64 for six cases, 1/2 3/2 = 3/4 for each two, over
#   2 3 ... 11 = 39916800, which makes 10395/64 9/16 / 39916800 = 27/11796480 = 2.2888184e-6.
def test_table_7_2_worked_out_by_hand(code_columns):
    scorer = Scorer(code_columns(X1=[0] * 8 + [1] * 2, X2=[0] * 6 + [1] * 4), "bdq")
    by_hand = log(10395 / 64 * 9 / 16 / 39916800)
    for arc in (("X1", "X2"), ("X2", "X1")):
        total = scorer.total(Dag(["X1", "X2"], [arc]))
        assert total == pytest.approx(by_hand, abs=1e-13)
        assert total == pytest.approx(log(2.2888184e-6), abs=5e-8)


# 1/2 3/2 for the first state and 1/2 for the second, over 1 2 3: 3/8 / 6 = 1/16.
def test_value_worked_out_by_hand():
    assert BDq().family(FamilyCounts.of([[2, 1]])) == pytest.approx(log(1 / 16), abs=1e-15)


# One configuration seen of two. Jointly 3/8 over 2 3 4 = 24; the parents 1/2 3/2 5/2 = 15/8 over
# 1 2 3 = 6: (3/8 / 24) / (15/8 / 6) = 1/20.
def test_unseen_configurations_are_paid_for():
    counts = FamilyCounts.of([[2, 1]], n_configurations=2)
    assert BDq().family(counts) == pytest.approx(log(1 / 20), abs=1e-15)


# A third state is declared and never seen: 3/8 over 3/2 5/2 7/2 = 105/8.
def test_unseen_state_is_paid_for():
    assert BDq().family(FamilyCounts.of([[2, 1, 0]])) == pytest.approx(log(1 / 35), abs=1e-15)


# With pseudo-counts of 1: 1 2 for the first state and 1 for the second, over 2 3 4: 2/24.
def test_pseudo_count_is_a_setting():
    score = BDq(pseudo_count=1)
    assert score.family(FamilyCounts.of([[2, 1]])) == pytest.approx(log(1 / 12), abs=1e-15)


# Jointly 1/(q r), the parents 1/q.
def test_one_row_is_a_uniform_guess():
    dataset = make_dataset({"a": [2], "b": [0]}, {"a": 5, "b": 3})
    assert Scorer(dataset, "bdq").family("a", ["b"]) == pytest.approx(-log(5), abs=1e-15)


# Gamma(1/2 + 1/2) / Gamma(1/2) = 1 / sqrt(pi) for each state, over Gamma(2) / Gamma(1) = 1.
def test_weights_need_not_be_whole():
    dataset = make_dataset({"a": [0, 1]}, weights=np.array([0.5, 0.5]))
    assert Scorer(dataset, "bdq").family("a") == pytest.approx(-log(np.pi), abs=1e-15)


row = st.lists(st.integers(0, 6), min_size=3, max_size=3)


@given(st.lists(row, min_size=1, max_size=5), st.integers(0, 9), st.sampled_from([0.5, 1, 0.125]))
def test_agrees_with_reference(table, unobserved, pseudo_count):
    q = len(table) + unobserved
    got = BDq(pseudo_count=pseudo_count).family(FamilyCounts.of(table, n_configurations=q))
    assert got == pytest.approx(reference.bdq(table, q, pseudo_count), rel=1e-11, abs=1e-11)


def score_of(rows, parents, arities):
    names = "abcd"[: len(arities)]
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    scorer = Scorer(make_dataset(columns, dict(zip(names, arities, strict=True))), "bdq")
    return sum(
        scorer.family(names[i], [names[p] for p in given]) for i, given in enumerate(parents)
    )


# a -> b, c alone: the probability of the pairs, by prediction, times that of c.
def test_equals_the_marginal_likelihood_of_disjoint_complete_components():
    rng = np.random.default_rng(1)
    for _ in range(5):
        rows = [tuple(int(rng.integers(r)) for r in (2, 3, 2)) for _ in range(7)]
        pairs = [[sum(row[:2] == pair for row in rows) for pair in product(range(2), range(3))]]
        alone = [[sum(row[2] == state for row in rows) for state in range(2)]]
        expected = reference.dirichlet(pairs, [[0.5] * 6]) + reference.dirichlet(alone, [[0.5] * 2])
        assert score_of(rows, ((), (0,), ()), (2, 3, 2)) == pytest.approx(expected, abs=1e-12)


# Over all data sets of two rows: one complete component adds up to one, a -> b -> c does not.
def test_is_a_distribution_over_data_sets_only_for_complete_components():
    states = list(product(range(2), repeat=3))

    def total(parents):
        return sum(exp(score_of(rows, parents, (2, 2, 2))) for rows in product(states, repeat=2))

    assert total(((), (0,), (0, 1))) == pytest.approx(1.0, abs=1e-12)
    assert abs(total(((), (0,), (1,))) - 1.0) > 1e-2


# x is 2 and 2 in the only configuration of six that is seen, and z is a coin that tells nothing.
# Without z: rows (3/4)^2 / (1/2 3/2 5/2 7/2) = 3/35, numbers (3 4 5 6) / (6 7 8 9) = 5/42: 1/98.
# With z: rows (1/4 / (3/4))^2 = 1/9, numbers (6 7 8 9) / (12 13 14 15) = 6/65: 2/195.
def test_is_not_regular():
    columns = {"x": [0, 1, 0, 1], "p": [0, 0, 0, 0], "z": [0, 0, 1, 1]}
    scorer = Scorer(make_dataset(columns, {"x": 2, "p": 6, "z": 2}), "bdq")
    assert scorer.family("x", ["p"]) == pytest.approx(log(1 / 98), abs=1e-14)
    assert scorer.family("x", ["p", "z"]) == pytest.approx(log(2 / 195), abs=1e-14)
    assert not BDq.is_regular


# 300 parents with 20 states make q infinite; the penalty tends to N ln r.
def test_more_parents_than_numbers_can_hold():
    columns = {f"p{i}": [0, 1, 1] for i in range(300)} | {"x": [0, 1, 2]}
    dataset = make_dataset(columns, {f"p{i}": 20 for i in range(300)})
    parents = [name for name in columns if name != "x"]
    scorer = Scorer(dataset, "bdq")
    for k in (*range(1, 25), 40, 230, 236, 237, 300):
        expected = reference.bdq([[1, 0, 0], [0, 1, 1]], 20**k, 0.5)
        assert scorer.family("x", parents[:k]) == pytest.approx(expected, rel=1e-13)
        assert scorer.explain("x", parents[:k]).value == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("pseudo_count", [1e-100, 1e-12, 1e12, 1e100])
def test_extreme_pseudo_counts(pseudo_count):
    table = [[3, 1], [0, 2]]
    columns = {"x": [0, 0, 0, 1, 1, 1], "p": [0, 0, 0, 0, 1, 1]}
    expected = reference.bdq(table, 2, pseudo_count)
    scorer = Scorer(make_dataset(columns), BDq(pseudo_count=pseudo_count))
    assert scorer.family("x", ["p"]) == pytest.approx(expected, rel=1e-12)
    assert scorer.explain("x", ["p"]).value == pytest.approx(expected, rel=1e-12)


# With a total weight below 1 more configurations cost less, so that no set is left out by the bound
# or because its last member is a copy of another.
@settings(max_examples=examples(20))
@given(st.integers(0, 2**32))
def test_tables_of_less_than_one_case_have_the_best_set(seed):
    rng = np.random.default_rng(seed)
    columns = {name: rng.integers(0, 2, 6).tolist() for name in "uvxyz"}
    columns["copy"] = columns["y"]
    dataset = make_dataset(columns, dict.fromkeys(columns, 2), rng.random(6) / 6)
    scorer = Scorer(dataset, "bdq")
    table = build_score_table(scorer)
    others = ["copy", "u", "v", "y", "z"]
    subsets = [subset for k in range(6) for subset in combinations(others, k)]
    best = max(scorer.family("x", subset) for subset in subsets)
    assert table.sets("x")[0][0] == pytest.approx(best, abs=1e-12)


# (2 + 1/2) / (3 + 2 1/2): what the joint prior says of the child given its parents.
def test_its_parameters_are_the_posterior_mean():
    rows = estimator_for(BDq()).rows(FamilyCounts.of([[2, 1], [0, 0]]))
    assert rows.tolist() == [[0.625, 0.375], [0.5, 0.5]]


def test_refuses_a_pseudo_count_that_is_not_positive():
    with pytest.raises(InvalidParameterError, match=r"BDq: pseudo_count must be .*got 0"):
        BDq(pseudo_count=0)
