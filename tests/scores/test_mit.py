"""MIT: statistic and penalty by hand, order of parents, where it is symmetric and where not."""

from itertools import permutations
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestdag.counts.family import FamilyCounts
from bestdag.errors import InvalidParameterError
from bestdag.graph.dag import Dag
from bestdag.scores.mit import MIT
from bestdag.scores.scorer import Scorer
from bestdag.special import chi_square_quantile
from tests.conftest import examples, make_dataset


def some_data(arities, seed=0, n_rows=40):
    rng = np.random.default_rng(seed)
    columns = {name: rng.integers(0, r, n_rows).tolist() for name, r in arities.items()}
    return make_dataset(columns, arities)


def penalty(scorer, dag):
    return -sum(scorer.explain(n, dag.parents(n)).terms["penalty"] for n in dag.nodes)


# Two binary variables that agree ten times, half and half: I = ln 2, 2 N I = 20 ln 2; one degree
# of freedom costs 3.841459 at 0.95 and 6.634897 at 0.99.
@pytest.mark.parametrize(("confidence", "cost"), [(0.95, 3.841458821), (0.99, 6.634896601)])
def test_value_worked_out_by_hand(confidence, cost):
    counts = FamilyCounts.of([[5, 0], [0, 5]])
    got = MIT(confidence=confidence).family(counts)
    assert got == pytest.approx(20 * log(2) - cost, abs=1e-9)


# With two degrees of freedom the quantile is -2 ln(1 - confidence): exponential with mean 2.
def test_two_degrees_of_freedom():
    terms = MIT(confidence=0.9).terms(FamilyCounts.of([[1, 1, 0], [0, 1, 1]]))
    assert terms["penalty"] == pytest.approx(2 * log(0.1), rel=1e-12)
    # 2 N I = 2 [4 ln(1/2) - (2 ln(1/4) + 2 ln(2/4))] = 4 ln 2.
    assert terms["2 N information"] == pytest.approx(4 * log(2), abs=1e-12)


def test_no_parents_score_exactly_zero():
    scorer = Scorer(some_data({"a": 3, "b": 2}), "mit")
    assert scorer.family("a") == 0.0
    assert scorer.explain("a").value == 0.0


def test_a_variable_with_one_state_costs_nothing():
    scorer = Scorer(some_data({"a": 3, "b": 2, "one": 1}), "mit")
    assert scorer.family("one", ["a", "b"]) == 0.0
    assert scorer.family("a", ["one"]) == pytest.approx(0.0, abs=1e-12)
    assert scorer.family("a", ["b", "one"]) == pytest.approx(scorer.family("a", ["b"]), abs=1e-12)


# Child of 2 states, parents of 3 and 4: decreasing arity tests 4 first, with (2-1)(4-1) = 3 degrees
# of freedom, then 3 with (2-1)(3-1) 4 = 8: 11.344867 + 20.090235.
def test_parents_are_tested_by_decreasing_arity():
    scorer = Scorer(some_data({"child": 2, "p3": 3, "p4": 4}), "mit")
    terms = scorer.explain("child", ["p3", "p4"]).terms
    assert terms["penalty"] == pytest.approx(-(11.344866730 + 20.090235030), abs=1e-8)


# Complete graphs. In the order 2, 3, 4: the second node has (3-1)(2-1) = 2 degrees of freedom, the
# third, of 4 states, tests the parent of 3 with (4-1)(3-1) = 6 and the parent of 2 with
# (4-1)(2-1) 3 = 9: 9.210340 + 16.811894 + 21.665994 = 47.688229.
# In the order 4, 3, 2: (3-1)(4-1) = 6; then (2-1)(4-1) = 3 and (2-1)(3-1) 4 = 8:
# 16.811894 + 11.344867 + 20.090235 = 48.246996.
def test_complete_graphs_over_unequal_arities_pay_differently():
    scorer = Scorer(some_data({"x2": 2, "x3": 3, "x4": 4}), MIT(confidence=0.99))
    up = Dag(["x2", "x3", "x4"], [("x2", "x3"), ("x2", "x4"), ("x3", "x4")])
    down = Dag(["x2", "x3", "x4"], [("x4", "x3"), ("x4", "x2"), ("x3", "x2")])
    assert up.is_equivalent(down)
    assert penalty(scorer, up) == pytest.approx(47.688229, abs=5e-7)
    assert penalty(scorer, down) == pytest.approx(48.246996, abs=5e-7)
    # The statistics agree, so the scores differ by the penalties.
    difference = 48.246996 - 47.688229
    assert scorer.total(up) - scorer.total(down) == pytest.approx(difference, abs=1e-6)


@given(st.lists(st.integers(2, 5), min_size=4, max_size=4), st.integers(0, 2**32))
@settings(max_examples=examples(30))
def test_symmetric_on_forests(arities, seed):
    names = "abcd"
    scorer = Scorer(some_data(dict(zip(names, arities, strict=True)), seed), "mit")
    dag = Dag(list(names), [("a", "b"), ("b", "c"), ("b", "d")])
    totals = [scorer.total(member) for member in dag.cpdag().members()]
    assert len(totals) == 4  # one per root
    assert totals == pytest.approx([totals[0]] * 4, rel=1e-12, abs=1e-10)


@given(st.integers(2, 4), st.integers(0, 2**32))
@settings(max_examples=examples(30))
def test_symmetric_with_equal_arities(arity, seed):
    scorer = Scorer(some_data(dict.fromkeys("abc", arity), seed), "mit")
    dag = Dag(list("abc"), [("a", "b"), ("a", "c"), ("b", "c")])
    totals = [scorer.total(member) for member in dag.cpdag().members()]
    assert len(totals) == 6
    assert totals == pytest.approx([totals[0]] * 6, rel=1e-12, abs=1e-10)


# de Campos (2006) takes the order that costs most.
@given(
    st.integers(2, 5),
    st.lists(st.integers(2, 6), min_size=2, max_size=4),
    st.sampled_from([0.9, 0.95, 0.99]),
)
def test_decreasing_arities_cost_most(arity, arities, confidence):
    def cost(order):
        before, total = arity - 1, 0.0
        for r in order:
            total += chi_square_quantile(before * (r - 1), confidence)
            before *= r
        return total

    most = max(cost(order) for order in permutations(arities))
    assert cost(sorted(arities, reverse=True)) == pytest.approx(most, rel=1e-12)


# Twelve parents of ten states: the last has (2-1)(10-1) 10^11 degrees of freedom.
def test_huge_degrees_of_freedom():
    names = [f"p{i:02}" for i in range(12)]
    scorer = Scorer(some_data({"child": 2, **dict.fromkeys(names, 10)}), "mit")
    # The degrees of freedom add up to 10^12 - 1; the rest is 2.326 sqrt(2 df) for each test.
    deviations = sum(2.3263478740408408 * (2 * 9 * 10.0**i) ** 0.5 for i in range(12))
    got = scorer.family("child", names)
    assert got == pytest.approx(-(1e12 - 1) - deviations, abs=200)
    assert got == pytest.approx(scorer.explain("child", names).value, rel=1e-14)


# Unseen configurations and states have their degrees of freedom: (3-1)(4-1) = 6.
def test_unseen_configurations_and_states_are_paid_for():
    dataset = make_dataset({"a": [0, 1], "b": [0, 1]}, {"a": 3, "b": 4})
    terms = Scorer(dataset, MIT(confidence=0.99)).explain("a", ["b"]).terms
    assert terms["penalty"] == pytest.approx(-16.811893830, abs=1e-8)


# 00 weighs 1 in all and 11 weighs 2: N = 3, and I is the entropy of the shares 1/3 and 2/3.
def test_takes_real_weights():
    dataset = make_dataset(
        {"a": [0, 0, 1, 1], "b": [0, 0, 1, 1]}, weights=np.array([0.25, 0.75, 0.5, 1.5])
    )
    information = -(1 * log(1 / 3) + 2 * log(2 / 3))
    expected = 2 * information - 6.634896601
    assert Scorer(dataset, "mit").family("a", ["b"]) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("confidence", [0.0, 1.0, -1, 2, float("nan"), "0.9", None, True])
def test_refuses_a_confidence_outside_0_and_1(confidence):
    with pytest.raises(InvalidParameterError, match="MIT: confidence must be a number between"):
        MIT(confidence=confidence)
