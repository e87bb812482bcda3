"""qNML: hand-worked values, NML by enumeration, regularity, equivalence, refusals."""

from itertools import product
from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestdag.counts.engine import CountingEngine
from bestdag.counts.family import FamilyCounts
from bestdag.errors import DataError, InvalidParameterError
from bestdag.graph.dag import Dag
from bestdag.scores.engine import NativeScores
from bestdag.scores.qnml import QNML
from bestdag.scores.scorer import Scorer
from bestdag.special import regret, szpankowski_regret
from tests.conftest import examples, make_dataset
from tests.reference import nml as reference
from tests.scores.independence import independent_of_z

both = pytest.mark.parametrize("kind", ["exact", "szpankowski"])


# Jensen and Nielsen, Table 7.2: (yes, pos) 6, (yes, neg) 2, (no, neg) 2 times. With the arc the
# network is one variable with 4 states: 6 ln(6/10) + 4 ln(2/10) - ln C(4, 10), and
#   C(2, 10) = 7281587/1562500, C(3, 10) = C(2, 10) + 10, C(4, 10) = C(3, 10) + 5 C(2, 10)
#   = 6 (7281587/1562500) + 10 = 37.961294, so that -3.064954 - 6.437752 - 3.636567 = -13.139272.
def test_table_7_2_worked_out_by_hand(code_columns):
    scorer = Scorer(code_columns(X1=[0] * 8 + [1] * 2, X2=[0] * 6 + [1] * 4), "qnml")
    by_hand = 6 * log(6 / 10) + 4 * log(2 / 10) - log(6 * 7281587 / 1562500 + 10)
    for arc in (("X1", "X2"), ("X2", "X1")):
        total = scorer.total(Dag(["X1", "X2"], [arc]))
        assert total == pytest.approx(by_hand, abs=1e-13)
        assert total == pytest.approx(-13.139272456115, abs=5e-13)


# 2 ln(2/3) + ln(1/3) - [reg(3, 2) - reg(3, 1)] = ln(4/27) - ln(26/9) = ln(2/39).
def test_value_worked_out_by_hand():
    assert QNML().family(FamilyCounts.of([[2, 1]])) == pytest.approx(log(2 / 39), abs=1e-15)


# One configuration seen of two: C(4, 3) = C(3, 3) + (3/2) C(2, 3) = 53/9 + 39/9 = 92/9, so
# ln(4/27) - ln(92/26).
def test_unseen_configurations_are_paid_for():
    counts = FamilyCounts.of([[2, 1]], n_configurations=2)
    assert QNML().family(counts) == pytest.approx(log(4 / 27) - log(92 / 26), abs=1e-15)


# A third state is declared and never seen: C(3, 3) = 53/9 in place of C(2, 3).
def test_unseen_state_is_paid_for():
    expected = log(4 / 27) - log(53 / 9)
    assert QNML().family(FamilyCounts.of([[2, 1, 0]])) == pytest.approx(expected, abs=1e-15)


# The likelihood is 1 and C(q r, 1) / C(q, 1) = q r / q.
def test_one_row_is_a_uniform_guess():
    dataset = make_dataset({"a": [2], "b": [0]}, {"a": 5, "b": 3})
    assert Scorer(dataset, "qnml").family("a", ["b"]) == pytest.approx(-log(5), abs=1e-15)


def test_weights_are_repetitions():
    weighted = make_dataset({"a": [0, 1]}, weights=np.array([2, 1]))
    assert Scorer(weighted, "qnml").family("a") == pytest.approx(log(2 / 39), abs=1e-15)


@both
def test_approximation_replaces_both_regrets(kind):
    counts = FamilyCounts.of([[5, 1], [0, 4]], n_configurations=6)
    reg = {"exact": regret, "szpankowski": szpankowski_regret}[kind]
    fit = 5 * log(5 / 6) + log(1 / 6)
    expected = fit - float(reg(10, 12) - reg(10, 6))
    assert QNML(regret=kind).family(counts) == pytest.approx(expected, abs=1e-14)


@both
@given(st.integers(1, 40), st.lists(st.integers(1, 5), min_size=2, max_size=4), st.randoms())
@settings(max_examples=examples(50))
def test_kernel_equals_formula(kind, n_rows, arities, random):
    columns = {f"v{i}": [random.randrange(r) for _ in range(n_rows)] for i, r in enumerate(arities)}
    dataset = make_dataset(columns, dict(zip(columns, arities, strict=True)))
    score, engine = QNML(regret=kind), CountingEngine(dataset, threads=1)
    families = [("v0", dataset.names[1:k]) for k in range(1, len(arities) + 1)]
    native = NativeScores(engine, score.kernel()).families(families)
    formula = [score.family(counts) for counts in engine.count(families)]
    assert native.tolist() == pytest.approx(formula, rel=1e-12, abs=1e-12)


# Networks over binary a, b and ternary c (arities below), by their arcs: components are complete.
@pytest.mark.parametrize(
    ("arities", "parents", "n"),
    [
        ((2, 2), ((), ()), 3),
        ((2, 3), ((), (0,)), 3),
        ((2, 2, 2), ((), (0,), ()), 3),
        ((2, 2, 2), ((1, 2), (2,), ()), 3),
        ((2, 2, 3), ((), (), (0,)), 2),
        ((2, 2, 2, 2), ((), (0,), (3,), ()), 2),
    ],
)
def test_equals_nml_for_disjoint_complete_components(arities, parents, n):
    rng = np.random.default_rng(1)
    for _ in range(3):
        rows = [tuple(int(rng.integers(r)) for r in arities) for _ in range(n)]
        assert qnml_of(rows, parents, arities) == pytest.approx(
            reference.nml(rows, parents, arities), abs=1e-12
        )


# a -> b -> c is not such a network.
def test_differs_from_nml_for_a_chain():
    rows, arities, parents = [(0, 0, 1), (1, 0, 0), (0, 1, 1)], (2, 2, 2), ((), (0,), (1,))
    expected = reference.nml(rows, parents, arities)
    assert abs(qnml_of(rows, parents, arities) - expected) > 1e-3


def qnml_of(rows, parents, arities):
    names = "abcd"[: len(arities)]
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    scorer = Scorer(make_dataset(columns, dict(zip(names, arities, strict=True))), "qnml")
    return sum(
        scorer.family(names[i], [names[p] for p in given]) for i, given in enumerate(parents)
    )


# One complete component: the exponentials of the scores of all data sets add up to one.
def test_is_a_distribution_over_data_sets():
    states = list(product(range(2), range(2)))
    total = sum(exp(qnml_of(rows, ((), (0,)), (2, 2))) for rows in product(states, repeat=3))
    assert total == pytest.approx(1.0, abs=1e-12)


# The three orders of a chain and both orders of a complete graph with unequal arities.
@both
def test_is_score_equivalent(kind):
    rng = np.random.default_rng(4)
    a = rng.integers(0, 2, 50)
    b = (a + rng.integers(0, 3, 50)) % 3
    c = (b + rng.integers(0, 4, 50)) % 4
    dataset = make_dataset({"a": a.tolist(), "b": b.tolist(), "c": c.tolist()})
    scorer = Scorer(dataset, QNML(regret=kind))
    chains = [[("a", "b"), ("b", "c")], [("b", "a"), ("b", "c")], [("b", "a"), ("c", "b")]]
    complete = [[(x, y), (x, z), (y, z)] for x, y, z in ("abc", "acb", "bca", "cba", "bac", "cab")]
    for arcs in (chains, complete):
        totals = [scorer.total(Dag(["a", "b", "c"], some)) for some in arcs]
        assert totals == pytest.approx([totals[0]] * len(totals), rel=1e-13)


# Suzuki (2017): a larger parent set that does not lower the conditional entropy never wins.
@given(independent_of_z())
@settings(max_examples=examples(200))
def test_is_regular(dataset):
    scorer = Scorer(dataset, "qnml", threads=1)
    less, more = scorer.families([("x", ["p"]), ("x", ["p", "z"])])
    assert more <= less + 1e-11 * max(1.0, abs(less))
    assert QNML.is_regular


# The approximation is not: at N = 1 and N = 2, and only there.
def test_approximation_is_not_regular_for_one_or_two_rows():
    dataset = make_dataset({"x": [0, 0], "p": [0, 0]})
    scorer = Scorer(dataset, QNML(regret="szpankowski"))
    assert scorer.family("x") == pytest.approx(-1.008238, abs=5e-7)
    assert scorer.family("x", ["p"]) == pytest.approx(-0.978592, abs=5e-7)
    one = Scorer(make_dataset({"x": [0], "p": [0]}), QNML(regret="szpankowski"))
    assert one.family("x", ["p"]) > one.family("x")


@given(independent_of_z(min_total=3))
@settings(max_examples=examples(200))
def test_approximation_is_regular_from_three_rows_on(dataset):
    scorer = Scorer(dataset, QNML(regret="szpankowski"), threads=1)
    none, less, more = scorer.families([("x", []), ("x", ["p"]), ("x", ["p", "z"])])
    assert more <= less + 1e-11 * max(1.0, abs(less))
    # A parent with one observed state tells nothing either.
    if len(set(dataset.codes("p").tolist())) == 1:
        assert less <= none + 1e-11 * max(1.0, abs(none))


# 300 parents with 20 states make q infinite; reg(N, q r) - reg(N, q) tends to N ln r.
@both
def test_more_parents_than_numbers_can_hold(kind):
    columns = {f"p{i}": [0, 1, 1] for i in range(300)} | {"x": [0, 1, 2]}
    dataset = make_dataset(columns, {f"p{i}": 20 for i in range(300)})
    parents = [name for name in columns if name != "x"]
    scorer = Scorer(dataset, QNML(regret=kind))
    reg = reference.regret_by_sum if kind == "exact" else reference.szpankowski
    for k in (*range(1, 25), 40, 230, 300):
        q = 20**k
        penalty = float(reg(3 * q, 3) - reg(q, 3)) if k <= 40 else 3 * log(3)
        expected = 2 * log(1 / 2) - penalty
        assert scorer.family("x", parents[:k]) == pytest.approx(expected, rel=1e-13)
        assert scorer.explain("x", parents[:k]).value == pytest.approx(expected, rel=1e-13)


def test_terms_add_up():
    terms = QNML().terms(FamilyCounts.of([[2, 1]]))
    assert terms["log-likelihood"] == pytest.approx(log(4 / 27), abs=1e-15)
    assert terms["penalty"] == pytest.approx(-log(26 / 9), abs=1e-15)


# The regret is that of 2 cases, as for [[1, 1]]: ln(5/2).
def test_cells_need_not_be_whole_where_their_sum_is():
    expected = 0.5 * log(0.25) + 1.5 * log(0.75) - log(5 / 2)
    assert QNML().family(FamilyCounts.of([[0.5, 1.5]])) == pytest.approx(expected, abs=1e-12)


# Asked directly, the kernel has no number to give.
def test_refuses_real_counts():
    with pytest.raises(
        DataError, match=r"qnml: is defined for whole numbers of cases only, got 1\.8"
    ):
        QNML().family(FamilyCounts.of([[0.5, 1.3]]))
    dataset = make_dataset({"x": [0, 1], "p": [0, 1]}, weights=np.array([0.5, 1.5]))
    native = NativeScores(CountingEngine(dataset), QNML().kernel())
    assert np.isnan(native.families([("x", ["p"])])).all()


def test_refuses_an_unknown_regret():
    with pytest.raises(
        InvalidParameterError, match=r"QNML: regret must be one of 'exact'.* got 'x'"
    ):
        QNML(regret="x")
