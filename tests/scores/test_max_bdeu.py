"""Max-BDeu: exact values, optimality of its priors, agreement of solver and formula, refusals."""

from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestdag import _core
from bestdag.counts.family import FamilyCounts
from bestdag.errors import InvalidParameterError
from bestdag.scores.bdeu import BDeu
from bestdag.scores.max_bdeu import MaxBDeu
from bestdag.scores.min_bdeu import MinBDeu
from bestdag.scores.scorer import Scorer
from bestdag.special import log_rising_slopes
from tests.conftest import examples, make_dataset
from tests.reference import contaminated_priors as reference


# (3, 1): a (a + 1)(a + 2)(1 - a) / 4! is largest at a = (sqrt(5) - 1) / 2, where a (a + 1) = 1 and
#         (a + 2)(1 - a) = 1: the value is 1/24.
# (2, 0): the first state gets 3/4. (3/4 7/4) / 2! = 21/32.
# (1, 1): equal shares, 1/2 each. (1/2)^2 / 2! = 1/8.
@pytest.mark.parametrize(
    ("table", "expected"),
    [([[3, 1]], -log(24)), ([[2, 0]], log(21 / 32)), ([[1, 1]], log(1 / 8)), ([[0, 0]], 0.0)],
)
def test_value_worked_out_by_hand(table, expected):
    assert MaxBDeu().family(FamilyCounts.of(table)) == pytest.approx(expected, abs=1e-13)


def test_prior_worked_out_by_hand():
    priors = MaxBDeu().priors(FamilyCounts.of([[3, 1]]))
    assert priors[0] == pytest.approx([(sqrt(5) - 1) / 2, (3 - sqrt(5)) / 2], rel=1e-13)


# beta = 3, epsilon = 1/2: the floor is 1/2, and the two equal cells share 3/2: a = 5/4 each.
# (5/4 9/4)^2 / (3 4 5 6).
def test_equal_cells_share_equally():
    counts = FamilyCounts.of([[2, 2, 0]])
    assert MaxBDeu(ess=3.0).priors(counts).tolist() == [[1.25, 1.25, 0.5]]
    expected = log((5 / 4 * 9 / 4) ** 2 / 360)
    assert MaxBDeu(ess=3.0).family(counts) == pytest.approx(expected, abs=1e-13)


# beta = 10, epsilon = 1/5: the floor is 4. One case of the second state is worth 1/4 there, the
# hundred of the first 1/6 + ... + 1/105 > 2 at 6: the seen state stays on its floor.
def test_a_seen_state_may_stay_on_the_floor():
    score = MaxBDeu(ess=10.0, epsilon=0.2)
    counts = FamilyCounts.of([[100, 1]])
    assert score.priors(counts)[0] == pytest.approx([6.0, 4.0], rel=1e-15)
    expected = reference.log_probability([100, 1], [6, 4])
    assert score.family(counts) == pytest.approx(expected, rel=1e-13)


# epsilon = 1 allows any prior: one seen state is certain; two share what the third leaves.
def test_epsilon_one_allows_every_prior():
    assert MaxBDeu(epsilon=1).family(FamilyCounts.of([[7, 0, 0]])) == 0.0
    assert MaxBDeu(epsilon=1).family(FamilyCounts.of([[1, 1, 0]])) == pytest.approx(log(1 / 8))
    assert MaxBDeu(epsilon=1).priors(FamilyCounts.of([[1, 1, 0]])).tolist() == [[0.5, 0.5, 0.0]]


# ess 4 and q = 4: beta = 1, a = (3/4, 1/4). (3/4 7/4) / 2 and 1/8; the unseen add nothing.
def test_unseen_configurations_shrink_the_prior_and_add_nothing():
    counts = FamilyCounts.of([[2, 0], [1, 1]], n_configurations=4)
    assert MaxBDeu(ess=4.0).family(counts) == pytest.approx(log(21 / 32 / 8), abs=1e-13)


def test_configuration_without_counts_has_the_uniform_prior():
    priors = MaxBDeu(ess=2.0).priors(FamilyCounts.of([[0, 0, 0, 0], [0, 9, 0, 0]]))
    assert priors.tolist() == [[0.25] * 4, [0.125, 0.625, 0.125, 0.125]]


def test_epsilon_zero_is_bdeu():
    counts = FamilyCounts.of([[3, 1, 0], [0, 0, 2]], n_configurations=6)
    assert MaxBDeu(ess=2.5, epsilon=0).family(counts) == BDeu(ess=2.5).family(counts)


# For tiny ess ln a is all that counts, so the shares are equal: a = (beta / 2, beta / 2), and the
# probability is (beta / 2)^2 2! 0! / (beta 3!). For huge ess the shares follow the counts (3, 1),
# cut off at 3/4 and 1/4 anyway: (3/4)^3 (1/4).
def test_tiny_and_huge_ess():
    tiny = MaxBDeu(ess=1e-12).family(FamilyCounts.of([[3, 1]]))
    assert tiny == pytest.approx(log(1e-12 / 12), abs=1e-10)
    huge = MaxBDeu(ess=1e15).family(FamilyCounts.of([[3, 1]]))
    assert huge == pytest.approx(log(27 / 256), abs=1e-12)
    assert MaxBDeu(ess=1e15, epsilon=1).priors(FamilyCounts.of([[3, 1]]))[0] == pytest.approx(
        [0.75e15, 0.25e15], rel=1e-12
    )


@pytest.mark.parametrize("counts", [[4, 1], [2, 2], [0, 3], [9, 8, 7], [1, 1, 4], [40, 2, 1]])
@pytest.mark.parametrize(("ess", "epsilon"), [(0.1, 0.5), (1.0, 0.9), (30.0, 0.5), (30.0, 0.05)])
def test_no_prior_of_a_fine_grid_is_better(counts, ess, epsilon):
    got = MaxBDeu(ess=ess, epsilon=epsilon).family(FamilyCounts.of([counts]))
    grid = reference.grid_of_priors(len(counts), ess, epsilon, 150)
    highest = reference.log_probabilities(counts, grid).max()
    assert highest - 1e-11 <= got <= highest + 1e-3


@given(
    st.lists(st.lists(st.integers(0, 40), min_size=3, max_size=3), min_size=1, max_size=4),
    st.floats(1e-6, 1e4),
    st.floats(0, 0.99),
)
@settings(deadline=None)
def test_bdeu_lies_between_min_and_max(table, ess, epsilon):
    counts = FamilyCounts.of(table)
    low, middle, high = (
        score.family(counts)
        for score in (
            MinBDeu(ess=ess, epsilon=epsilon),
            BDeu(ess=ess),
            MaxBDeu(ess=ess, epsilon=epsilon),
        )
    )
    noise = 1e-11 * max(1.0, abs(low))
    assert low <= middle + noise
    assert middle <= high + noise


def extreme_cases(rng, n_cases, arity, whole):
    """Counts up to 1e9 or below 1, beta from 1e-8 to 1e5, epsilon from 0 to 1."""
    totals = 10 ** rng.uniform(-8, 5, n_cases)
    epsilons = rng.choice([0, 1e-12, 1e-3, 0.5, 1, 2], n_cases)
    epsilons = np.where(epsilons == 2, rng.random(n_cases), epsilons)
    largest = 10 ** rng.uniform(0, 9, (n_cases, 1))
    counts = np.floor(largest ** rng.random((n_cases, arity)))
    is_small = rng.random(n_cases) < 0.3
    counts[is_small] = rng.integers(0, 5, (is_small.sum(), arity))
    counts *= rng.random(counts.shape) < rng.choice([0.3, 0.7, 1], (n_cases, 1))
    if not whole:
        counts *= 10 ** -rng.uniform(0, 6, counts.shape)
    return counts, totals, epsilons


# The duality gap bounds what is lost against the best prior: the best corner of the set along the
# gradient, less the prior itself.
@pytest.mark.parametrize("whole", [True, False])
def test_native_priors_close_the_duality_gap(whole):
    rng = np.random.default_rng(20)
    for arity in range(2, 31):
        counts, totals, epsilons = extreme_cases(rng, 700, arity, whole)
        priors = np.empty(counts.shape)
        _core.max_bdeu_priors(counts, totals, epsilons, priors)
        floors = (totals * (1 - epsilons) / arity)[:, None]
        assert (priors >= floors).all()
        assert priors.sum(axis=1) == pytest.approx(totals, rel=1e-13)
        is_seen = counts > 0
        gradient = log_rising_slopes(np.where(is_seen, priors, 1.0), counts)[0]
        worth = gradient.max(axis=1, keepdims=True) - gradient
        gap = np.sum(np.where(counts.any(axis=1)[:, None], (priors - floors) * worth, 0.0), axis=1)
        assert (gap <= 1e-10 * np.maximum(1.0, totals)).all()


# The formula halves brackets, the kernel takes joint Newton steps.
@given(st.integers(0, 2**32), st.integers(2, 12), st.booleans())
@settings(max_examples=examples(60), deadline=None)
def test_formula_and_solver_find_the_same_prior(seed, arity, whole):
    counts, totals, epsilons = extreme_cases(np.random.default_rng(seed), 1, arity, whole)
    native = np.empty(counts.shape)
    _core.max_bdeu_priors(counts, totals, epsilons, native)
    score = MaxBDeu(ess=totals[0], epsilon=epsilons[0])
    formula = score.priors(FamilyCounts.of(counts))
    assert formula[0] == pytest.approx(native[0], rel=1e-10, abs=1e-12 * totals[0])


# What the kernel adds to the solver: its memory, the order of counts, a coarser tolerance.
@pytest.mark.parametrize("whole", [True, False])
def test_kernel_equals_formula_for_extreme_counts_and_priors(whole):
    rng = np.random.default_rng(5)
    for arity in (2, 3, 5, 12):
        for _ in range(40):
            counts, ess, epsilon = extreme_cases(rng, 2, arity, whole)
            counts[0, 0] += 1  # a data set has a weight above zero
            columns = {
                "x": np.tile(np.arange(arity), 2).tolist(),
                "y": np.repeat([0, 1], arity).tolist(),
            }
            weights = counts.ravel().astype(np.int64) if whole else counts.ravel()
            dataset = make_dataset(columns, {"x": arity}, weights)
            for score in (
                MaxBDeu(ess=ess[0], epsilon=epsilon[0]),
                MinBDeu(ess=ess[0], epsilon=min(epsilon[0], 0.999)),
            ):
                explanation = Scorer(dataset, score).explain("x", ["y"])
                scale = max(1.0, sum(map(abs, explanation.terms.values())))
                got = Scorer(dataset, score).family("x", ["y"])
                assert got == pytest.approx(explanation.value, abs=1e-12 * scale)


# 300 numbers of configurations: more than the kernels keep tables for, and then again.
@pytest.mark.parametrize("score", [MaxBDeu(), MinBDeu()])
def test_kernel_forgets_old_priors_and_nothing_else(score):
    rng = np.random.default_rng(6)
    arities = {f"v{r:03}": r for r in range(2, 302)}
    columns = {name: rng.integers(0, 2, 9).tolist() for name in arities}
    columns["child"] = [0, 1, 1, 0, 1, 1, 1, 1, 2]
    dataset = make_dataset(columns, {**arities, "child": 3})
    families = [("child", [name]) for name in arities]
    got = Scorer(dataset, score, threads=1).families(families)
    again = Scorer(dataset, score, threads=1).families(families[::-1] + families[1::2])
    scorer = Scorer(dataset, score)
    expected = [scorer.explain(*family).value for family in families]
    assert got == pytest.approx(expected, abs=1e-12)
    assert again[:300].tolist() == got[::-1].tolist()


# Joint counts of x, y: [[2, 1], [0, 1]], ess 1, so beta = 1 without parents and 1/2 with one.
# x -> y: (3, 1) is 1/24; (0, 1) is 3/4; (2, 1) has a (a + 1)(1/2 - a) largest where
#         3 a^2 + a = 1/2, at a = (sqrt(7) - 1) / 6, over (1/2 3/2 5/2) = 15/8.
# y -> x: (2, 2) is (1/2 3/2)^2 / 4! = 3/128; (2, 0) is (3/8 11/8) / (1/2 3/2) = 11/16;
#         (1, 1) is (1/4)^2 / (1/2 3/2) = 1/12.
def test_is_not_score_equivalent():
    scorer = Scorer(make_dataset({"x": [0, 0, 0, 1], "y": [0, 0, 1, 1]}), MaxBDeu())
    forward = scorer.family("x") + scorer.family("y", ["x"])
    backward = scorer.family("y") + scorer.family("x", ["y"])
    a = (sqrt(7) - 1) / 6
    assert forward == pytest.approx(log(1 / 24 * 3 / 4 * a * (a + 1) * (0.5 - a) * 8 / 15))
    assert backward == pytest.approx(log(3 / 128 * 11 / 16 * 1 / 12))
    assert backward - forward > 0.02


# y decides x, z = y adds nothing, and yet wins: each of two configurations (2, 0) goes from
# (3/8 11/8) / (1/2 3/2) = 11/16 to (3/16 19/16) / (1/4 5/4) = 57/80.
def test_is_not_regular():
    scorer = Scorer(make_dataset({n: [0, 0, 1, 1] for n in "xyz"}), MaxBDeu())
    assert scorer.family("x", ["y"]) == pytest.approx(2 * log(11 / 16), abs=1e-13)
    assert scorer.family("x", ["y", "z"]) == pytest.approx(2 * log(57 / 80), abs=1e-13)


@pytest.mark.parametrize("epsilon", [-0.1, 1.5, float("nan"), float("inf"), "1", None, True])
def test_refuses_epsilon_outside_its_range(epsilon):
    with pytest.raises(InvalidParameterError, match=r"MaxBDeu: epsilon must be .* <= 1, got"):
        MaxBDeu(epsilon=epsilon)


@pytest.mark.parametrize("ess", [0.0, -1.0, float("nan"), float("inf"), "1", None, True])
def test_refuses_ess_that_is_not_positive(ess):
    with pytest.raises(InvalidParameterError, match=r"MaxBDeu: ess must be .* > 0, got"):
        MaxBDeu(ess=ess)
