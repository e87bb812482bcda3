"""Cut points: hand-worked cases, the definition on random columns, ties, weights, odd numbers."""

import csv
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestdag.data.discretization import METHODS
from bestdag.data.discretization.cuts import apply_cuts, cut_between, cut_variable, interval_labels
from bestdag.data.discretization.fayyad_irani import cut_points
from bestdag.data.discretization.quantile import Quantile
from bestdag.data.discretization.uniform import Uniform
from bestdag.data.schema import Variable
from bestdag.errors import DataError, InvalidParameterError
from tests.reference import fayyad_irani as reference
from tests.shared_data import shared_file

INF, NAN = math.inf, math.nan


# Two cases of two classes: N Gain = 2 bits, log2(N - 1) = 0, Delta = log2(7) - 2 = 0.81 < 2.
# 0 1 0 1: the best cut leaves {0} and {1 0 1}: N Gain = 4 - 3 (0.9183) = 1.245;
#   log2(3) = 1.585 alone is more, so no cut.
# 000 111: N Gain = 6, log2(5) = 2.32, Delta = log2(7) - 2 = 0.81: cut.
# 01 | 01 at two values: no gain at all.
@pytest.mark.parametrize(
    ("values", "classes", "expected"),
    [
        ([1, 2], [0, 1], [1.5]),
        ([1, 2, 3, 4], [0, 1, 0, 1], []),
        ([1, 2, 3, 4, 5, 6], [0, 0, 0, 1, 1, 1], [3.5]),
        ([1, 1, 2, 2], [0, 1, 0, 1], []),
        ([1, 2, 3], [0, 0, 0], []),
        ([7, 7, 7], [0, 1, 0], []),
        ([5], [0], []),
        ([], [], []),
    ],
)
def test_worked_out_by_hand(values, classes, expected):
    assert cut_points(values, classes, 2).tolist() == expected


def test_three_classes_take_two_cuts():
    values = np.arange(30)
    assert cut_points(values, values // 10, 3).tolist() == [9.5, 19.5]


# The cuts that studies of this data set print.
@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("sepal_length", [5.55, 6.15]),
        ("sepal_width", [2.95, 3.35]),
        ("petal_length", [2.45, 4.75]),
        ("petal_width", [0.8, 1.75]),
    ],
)
def test_iris(column, expected):
    with shared_file("uci/iris.csv").open() as file:
        rows = list(csv.DictReader(file))
    names = sorted({row["class"] for row in rows})
    classes = [names.index(row["class"]) for row in rows]
    assert cut_points([float(row[column]) for row in rows], classes, 3).tolist() == expected


@st.composite
def columns(draw, weights):
    n = draw(st.integers(0, 24))
    values = draw(st.lists(st.integers(-6, 6), min_size=n, max_size=n))
    # Classes that follow the values more often than not, so that cuts are found.
    noise = draw(st.lists(st.integers(0, 5), min_size=n, max_size=n))
    classes = [(v // 4) % 3 if e else e % 3 for v, e in zip(values, noise, strict=True)]
    heavy = draw(st.lists(weights, min_size=n, max_size=n)) if weights is not None else None
    return values, classes, heavy


def as_pairs(values, classes, weights=None):
    heavy = None if weights is None else np.array(weights)
    return list(np.asarray(cut_points(values, classes, 3, heavy)))


@given(columns(None))
def test_agrees_with_the_definition(column):
    values, classes, _ = column
    expected = [cut_between(*pair) for pair in reference.boundaries(values, classes)]
    assert as_pairs(values, classes) == expected


@given(columns(st.integers(0, 4)))
def test_agrees_with_the_definition_with_whole_weights(column):
    expected = [cut_between(*pair) for pair in reference.boundaries(*column)]
    assert as_pairs(*column) == expected


@given(columns(st.sampled_from([0.0, 0.125, 0.5, 1.0, 2.75])))
def test_agrees_with_the_definition_with_fractional_weights(column):
    expected = [cut_between(*pair) for pair in reference.boundaries(*column)]
    assert as_pairs(*column) == expected


@given(columns(st.integers(0, 4)), st.randoms(use_true_random=False))
def test_weights_are_repeated_rows_and_order_does_not_matter(column, random):
    values, classes, weights = column
    repeated = [(v, c) for v, c, w in zip(values, classes, weights, strict=True) for _ in range(w)]
    random.shuffle(repeated)
    plain = as_pairs([v for v, _ in repeated], [c for _, c in repeated])
    assert as_pairs(values, classes, weights) == plain


def test_fractional_weights_give_the_same_in_any_order():
    rng = np.random.default_rng(3)
    values, weights = rng.integers(0, 40, 3000), rng.random(3000)
    classes = (values // 10 + (rng.random(3000) < 0.2)) % 3
    once = cut_points(values, classes, 3, weights)
    order = rng.permutation(3000)
    assert len(once) > 1
    assert np.array_equal(once, cut_points(values[order], classes[order], 3, weights[order]))


# A value both classes share stays in one piece: 0 at 1, 0 and 1 at 2, 1 at 3.
def test_equal_values_stay_together():
    values = [1] * 10 + [2] * 2 + [3] * 10
    classes = [0] * 11 + [1] * 11
    (cut,) = cut_points(values, classes, 2)
    assert cut in (1.5, 2.5)
    assert len(set(apply_cuts(values, [cut])[10:12])) == 1


def test_equally_good_cuts_go_to_the_lowest():
    # Mirror images: 0-0 | 1 1 1 1 | 0-0 has two cuts of equal cost, kept or not together.
    values = list(range(40))
    classes = [0] * 10 + [1] * 20 + [0] * 10
    assert cut_points(values, classes, 2).tolist() == [9.5, 29.5]


def test_missing_values_classes_and_weight_zero_are_ignored():
    values = [1, 2, 3, NAN, 4, 5, 6, 3.9, 0]
    classes = [0, 0, 0, 1, 1, 1, 1, 2, 1]  # 2 is a missing class
    weights = [1, 1, 1, 1, 1, 1, 1, 1, 0]
    assert cut_points(values, classes, 2, weights).tolist() == [3.5]


def test_infinite_values_are_the_greatest():
    assert cut_points([-INF, -INF, -INF, 1, 1, 1], [0, 0, 0, 1, 1, 1], 2)[0] < 1
    (cut,) = cut_points([1, 1, 1, INF, INF, INF], [0, 0, 0, 1, 1, 1], 2)
    assert 1 <= cut < INF
    (cut,) = cut_points([-INF] * 3 + [INF] * 3, [0, 0, 0, 1, 1, 1], 2)
    assert cut == 0
    assert apply_cuts([-INF, 0.5, INF], [0]).tolist() == [0, 1, 1]


def test_minus_zero_is_zero():
    assert cut_points([-0.0, 0.0, -0.0, 0.0], [0, 1, 0, 1], 2).tolist() == []
    assert str(cut_between(-1.0, 1.0)) == "0.0"
    assert interval_labels([cut_between(-1e-320, 0.0)])[0][2:] != "-0"


def test_whole_numbers_beyond_float64_are_equal_when_their_floats_are():
    big = 2**53
    assert cut_points(np.array([big, big + 1] * 5), [0, 1] * 5, 2).tolist() == []
    assert len(cut_points(np.array([big, big + 2] * 5), [0, 1] * 5, 2)) == 1


@given(st.floats(allow_nan=False, allow_infinity=False, max_value=1.6e308))
def test_a_cut_separates_its_neighbours(low):
    for high in (math.nextafter(low, INF), min(low + abs(low) + 1e-300, 1.6e308), 1.7e308):
        cut = cut_between(low, max(high, math.nextafter(low, INF)))
        assert math.isfinite(cut)
        assert apply_cuts([low, max(high, math.nextafter(low, INF))], [cut]).tolist() == [0, 1]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=8, unique=True))
def test_labels_are_all_different(cuts):
    ordered = sorted({cut + 0.0 for cut in cuts})
    assert cut_variable("x", ordered).arity == len(ordered) + 1


def test_labels_are_readable():
    assert interval_labels([-3.0, 0.8, 1e17]) == (
        "<=-3",
        "-3 to 0.8",
        "0.8 to 1e+17",
        ">1e+17",
    )


@given(
    st.lists(st.one_of(st.floats(), st.just(NAN)), max_size=30),
    st.lists(st.floats(-10, 10), max_size=5, unique=True),
)
def test_codes_count_the_cuts_below(values, cuts):
    cuts = sorted(cuts)
    expected = [len(cuts) + 1 if math.isnan(v) else sum(cut < v for cut in cuts) for v in values]
    assert apply_cuts(values, cuts).tolist() == expected


def test_codes_of_very_many_intervals():
    cuts = np.arange(1000)
    codes = apply_cuts([-5.0, 999.5, NAN], cuts)
    assert codes.dtype == np.uint16
    assert codes.tolist() == [0, 1000, 1001]


# 1 1 1 1 5 6: shares 4/6 and 5/6 are possible below a cut, the first is nearer to a half.
# Thirds of 1 ... 6 end after 2 and 4. Weights 1 1 4: 2/6 is as near to a half as can be.
@pytest.mark.parametrize(
    ("values", "weights", "bins", "expected"),
    [
        ([1, 1, 1, 1, 5, 6], None, 2, [3.0]),
        ([6, 5, 4, 3, 2, 1], None, 3, [2.5, 4.5]),
        ([1, 2, 3], [1, 1, 4], 2, [2.5]),
        ([1, 2, 3], [8, 1, 1], 4, [1.5]),
        ([1, 1, 9], [0.5, 0.5, 1.0], 2, [5.0]),
        ([4, 4, 4], None, 5, []),
        ([], None, 5, []),
        ([1, 2, NAN, 50], [1, 1, 1, 0], 2, [1.5]),
    ],
)
def test_quantiles(values, weights, bins, expected):
    heavy = None if weights is None else np.array(weights)
    assert Quantile(bins=bins).cuts(np.array(values, float), weights=heavy).tolist() == expected


@given(st.lists(st.integers(0, 9), min_size=1, max_size=40), st.integers(2, 6))
def test_quantiles_by_counting(values, bins):
    found = Quantile(bins=bins).cuts(np.array(values, float))
    # Try every place for every cut; min() takes the first of equals.
    distinct = sorted(set(values))
    places = list(itertools.pairwise(distinct))
    below = {place: sum(v <= place[0] for v in values) * bins for place in places}
    wanted = [j * len(values) for j in range(1, bins)]
    nearest = {min(places, key=lambda p: abs(below[p] - w)) for w in wanted} if places else set()
    assert found.tolist() == sorted(cut_between(*place) for place in nearest)


@pytest.mark.parametrize(
    ("values", "bins", "expected"),
    [
        ([0, 10], 5, [2, 4, 6, 8]),
        ([0, 10, INF, -INF, NAN], 2, [5]),
        ([3, 3], 4, []),
        ([INF], 4, []),
        ([], 4, []),
        ([-1.7e308, 1.7e308], 2, [0]),
        ([0.1, 0.4], 3, [0.2, 0.3]),
    ],
)
def test_equal_widths(values, bins, expected):
    assert Uniform(bins=bins).cuts(np.array(values, float)).tolist() == expected


@pytest.mark.parametrize("method", [Quantile, Uniform])
@pytest.mark.parametrize("bins", [1, 0, -3, 2.5, "5", True])
def test_refuses_a_wrong_number_of_intervals(method, bins):
    with pytest.raises(InvalidParameterError, match="bins must be a whole number >= 2"):
        method(bins=bins)


def test_cut_points_must_fit_the_states():
    assert Variable("x", ("a", "b", "missing"), (1.0,)).cuts == (1.0,)
    with pytest.raises(DataError, match="3 states need 2 cut points, got 1"):
        Variable("x", ("a", "b", "c"), (1.0,))
    for wrong in [(2.0, 1.0), (1.0, 1.0), (1.0, NAN), (NAN, 1.0), (-INF, 0.0)]:
        with pytest.raises(DataError, match="cut points must be finite and ascending"):
            Variable("x", ("a", "b", "c"), wrong)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_ignores_the_order_of_rows(name):
    rng = np.random.default_rng(1)
    values, target = rng.normal(size=500), rng.integers(0, 3, 500)
    values += target
    told = {"target_codes": target, "n_classes": 3} if METHODS[name].needs_target else {}
    once = METHODS[name]().cuts(values, **told)
    order = rng.permutation(500)
    if told:
        told["target_codes"] = target[order]
    assert len(once) > 0
    assert np.all(np.diff(once) > 0)
    assert np.array_equal(once, METHODS[name]().cuts(values[order], **told))


def test_refuses_more_classes_than_codes():
    with pytest.raises(InvalidParameterError, match=r"at most 65,535 classes .* got 70,000"):
        cut_points(np.arange(70_000.0), np.arange(70_000), 70_000)


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ([0, 0, 2, 3], "whole numbers from 0 to n_classes=2, got 3"),
        ([0, -1, 1, 1], "whole numbers from 0 to n_classes=2, got -1"),
        ([0, 0.5, 1, 1], "whole numbers from 0 to n_classes=2, got float64"),
        ([0, 1], r"the shape \(4,\) of the values, got \(2,\)"),
    ],
)
def test_codes_that_are_no_classes_are_refused(codes, message):
    with pytest.raises(InvalidParameterError, match=message):
        cut_points([1.0, 2.0, 3.0, 4.0], codes, 2)
