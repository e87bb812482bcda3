"""Tests of independence: values by hand, far tails, sparse tables, refusals."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import special

from bestdag import (
    Dataset,
    G2Test,
    PermutationTest,
    Variable,
    X2Test,
    _core,
    conditional_mutual_information,
    independence_test,
    read,
)
from bestdag.errors import (
    DataError,
    GraphError,
    InvalidParameterError,
    UnknownNameError,
)


def table(cells, names=("A", "B"), strata=None):
    """A data set with these counts, rows for the first name and columns for the second."""
    rows = [
        (str(a), str(b), str(x))
        for x, stratum in enumerate([cells] if strata is None else strata)
        for a, row in enumerate(stratum)
        for b, n in enumerate(row)
        for _ in range(n)
    ]
    columns = dict(zip((*names, "X"), map(list, zip(*rows, strict=True)), strict=True))
    if strata is None:
        del columns["X"]
    return read(columns)


def upper_tail_of_even_df(df, x):
    """ln P(chi-square > x) = ln [e^(-x/2) sum over k < df/2 of (x/2)^k / k!], in fractions."""
    half = Fraction(x) / 2
    term, total = Fraction(1), Fraction(0)
    for k in range(df // 2):
        total += term
        term = term * half / (k + 1)
    whole = total.numerator // total.denominator
    if whole > 10**15:  # beyond doubles: take the logarithm of the whole number
        return math.log(whole) - float(half)
    return math.log(total) - float(half)


@pytest.mark.parametrize("df", [2, 4, 10, 64, 500])
@pytest.mark.parametrize("x", [1, 7, 60, 499, 1500, 10**4, 10**6])
def test_far_tails_for_even_degrees_of_freedom(df, x):
    expected = upper_tail_of_even_df(df, x)
    assert _core.chi_square_log_tail(df, x) == pytest.approx(expected, rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("x", [1e-8, 0.1, 1.0, 30.0, 700.0, 2000.0, 1e6, 1e12])
def test_far_tails_for_one_degree_of_freedom(x):
    # The square of a normal variable: twice one tail.
    expected = math.log(2) + special.log_ndtr(-math.sqrt(x))
    assert _core.chi_square_log_tail(1, x) == pytest.approx(expected, rel=1e-12)


def test_tails_agree_with_scipy_where_it_can_say():
    rng = np.random.default_rng(0)
    for df in [*range(1, 40), 99, 1000, 12345, 10**6]:
        for x in df + math.sqrt(2 * df) * rng.uniform(-5, 8, 20):
            if x <= 0:
                continue
            expected = special.chdtrc(df, x)
            got = math.exp(_core.chi_square_log_tail(df, x))
            assert got == pytest.approx(expected, rel=2e-9 if df > 10**5 else 1e-11)


def test_a_billion_degrees_of_freedom():
    # By mpmath with 40 digits.
    got = _core.chi_square_log_tail(1e9, 999790630.2462834)
    assert got == pytest.approx(-1.4207126370261246e-06, rel=1e-9)


def test_ends_of_the_distribution():
    assert _core.chi_square_log_tail(3, 0.0) == 0.0
    assert _core.chi_square_log_tail(0, 0.0) == 0.0
    assert _core.chi_square_log_tail(math.inf, 1e300) == 0.0
    assert _core.chi_square_log_tail(1e18, 5.0) == 0.0


def test_a_fourfold_table_by_hand():
    # Expected counts 12, 18, 8, 12: X2 = 9 (1/12 + 1/18 + 1/8 + 1/12) = 25/8.
    data = table([[15, 15], [5, 15]])
    x2 = independence_test(data, "A", "B", test="x2")
    assert x2.statistic == pytest.approx(25 / 8, rel=1e-12)
    assert x2.df == 1
    assert x2.p_value == pytest.approx(math.erfc(math.sqrt(25 / 16)), rel=1e-12)
    g2 = independence_test(data, "A", "B")
    cells = ((15, 12), (15, 18), (5, 8), (15, 12))  # observed and expected
    by_hand = 2 * sum(n * math.log(n / expected) for n, expected in cells)
    assert g2.statistic == pytest.approx(by_hand, rel=1e-12)


def test_g2_is_twice_the_rows_times_the_information_in_nats():
    data = table([[15, 15], [5, 15]])
    bits = conditional_mutual_information(data, "A", "B")
    joint = np.array([[15, 15], [5, 15]]) / 50
    product = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True)
    assert bits == pytest.approx(float((joint * np.log2(joint / product)).sum()), rel=1e-12)
    assert independence_test(data, "A", "B").statistic == pytest.approx(
        2 * 50 * bits * math.log(2), rel=1e-12
    )


def test_the_information_of_independent_columns_is_zero_and_of_equal_ones_their_entropy():
    assert conditional_mutual_information(table([[6, 9], [4, 6]]), "A", "B") == pytest.approx(0)
    assert conditional_mutual_information(table([[4, 0], [0, 4]]), "A", "B") == pytest.approx(1)
    # Exercise 7.5: zero exactly when independent within every stratum.
    strata = [[[6, 9], [4, 6]], [[1, 2], [2, 4]]]
    assert conditional_mutual_information(table(None, strata=strata), "A", "B", ["X"]) == (
        pytest.approx(0, abs=1e-12)
    )


# Second stratum: one row only; third: a column that never occurs.
STRATA = [[[5, 2], [1, 7]], [[3, 4], [0, 0]], [[2, 0], [6, 0]]]


def test_strata_without_freedom_add_nothing():
    data = table(None, strata=STRATA)
    for name in ("g2", "x2"):
        answer = independence_test(data, "A", "B", ["X"], test=name)
        alone = independence_test(table(STRATA[0]), "A", "B", test=name)
        assert answer.df == alone.df == 1
        assert answer.statistic == pytest.approx(alone.statistic, rel=1e-12)


def test_declared_degrees_of_freedom_count_every_stratum():
    data = table(None, strata=STRATA)
    answer = independence_test(data, "A", "B", ["X"], test=G2Test(df="declared"))
    assert answer.df == 3
    wide = data.with_states({"A": ["0", "1", "2", "never"]})
    assert independence_test(wide, "A", "B", ["X"], test=G2Test(df="declared")).df == 9
    assert independence_test(wide, "A", "B", ["X"]).df == 1


@pytest.mark.parametrize("name", ["g2", "x2", "permutation"])
def test_no_freedom_is_no_evidence_and_says_so(name):
    data = read({"A": ["0"] * 20, "B": ["0", "1"] * 10}, states={"A": ["0", "1"]})
    answer = independence_test(data, "A", "B", test=name)
    assert answer.is_independent
    assert (answer.statistic, answer.df, answer.log_p_value, answer.p_value) == (0, 0, 0, 1)
    assert answer.remark == "no degrees of freedom: nothing speaks against independence"
    assert "no degrees of freedom" in str(answer)


def test_too_few_rows_keep_the_edge_on_demand():
    data = table([[6, 5], [5, 6]])
    assert independence_test(data, "A", "B").is_independent
    answer = independence_test(data, "A", "B", test=G2Test(rows_per_df=23))
    assert not answer.is_independent
    assert "too few rows per degree of freedom" in answer.remark
    assert independence_test(data, "A", "B", test=G2Test(rows_per_df=22)).is_independent


def test_the_far_tail_keeps_its_logarithm():
    data = table([[3000, 0], [0, 3000]])
    answer = independence_test(data, "A", "B")
    assert answer.statistic == pytest.approx(12000 * math.log(2), rel=1e-12)
    assert answer.p_value == 0.0
    expected = math.log(2) + special.log_ndtr(-math.sqrt(12000 * math.log(2)))
    assert answer.log_p_value == pytest.approx(expected, rel=1e-12)
    assert answer.numbers == "statistic 8317.77, df 1, p 5.780e-1809"


@pytest.mark.parametrize("n_given", [0, 1, 3, 6, 12])
def test_agrees_with_counting_by_hand_however_sparse(n_given):
    """From tables that fit to those with far more configurations than rows."""
    rng = np.random.default_rng(n_given)
    n = 300
    names = ["A", "B", *(f"X{i:02d}" for i in range(n_given))]
    arities = [3, 4, *[int(r) for r in rng.integers(2, 6, n_given)]]
    codes = [rng.integers(0, r, n) for r in arities]
    codes[1] = np.where(rng.random(n) < 0.4, codes[0], codes[1])
    columns = ([f"s{c}" for c in column] for column in codes)
    data = read(dict(zip(names, columns, strict=True)))
    groups = {}
    for row in zip(*codes, strict=True):
        groups.setdefault(row[2:], np.zeros((3, 4)))[row[:2]] += 1
    tables = np.array([groups[key] for key in sorted(groups)])
    for test in (G2Test(), X2Test()):
        answer = independence_test(data, "A", "B", names[2:], test=test)
        statistic, df = test.statistic(tables)
        assert answer.statistic == pytest.approx(statistic, rel=1e-10, abs=1e-10)
        assert answer.df == df
        turned = independence_test(data, "B", "A", names[:1:-1], test=test)
        assert turned == answer


@pytest.mark.parametrize("whole", [True, False])
def test_weights_count_rows(whole):
    rows = read({"A": list("001101"), "B": list("011001")})
    weights = np.array([3, 1, 4, 2, 5, 6])
    weighted = Dataset(
        rows.variables, [rows.codes(v) for v in ("A", "B")], weights if whole else weights * 0.5
    )
    repeated = rows.select(rows=np.repeat(np.arange(6), weights).tolist())
    got = independence_test(weighted, "A", "B")
    expected = independence_test(repeated, "A", "B")
    assert got.statistic == pytest.approx(expected.statistic * (1 if whole else 0.5), rel=1e-12)


def test_permutations_agree_with_fishers_exact_distribution():
    """With fixed sums a fourfold table is hypergeometric: the exact p-value by enumeration."""
    cells = [[9, 3], [2, 8]]
    g2 = G2Test().statistic
    observed = g2([cells])[0]
    exact = 0.0
    for k in range(max(0, 11 - 10), min(12, 11) + 1):
        candidate = [[k, 12 - k], [11 - k, 10 - (11 - k)]]
        chance = math.comb(12, k) * math.comb(10, 11 - k) / math.comb(22, 11)
        exact += chance * (g2([candidate])[0] >= observed - 1e-9)
    n = 200_000
    answer = independence_test(table(cells), "A", "B", test=PermutationTest(n_permutations=n))
    assert answer.p_value == pytest.approx(exact, abs=5 * math.sqrt(exact / n))


def test_permutations_within_strata_follow_their_seed():
    data = table(None, strata=[[[8, 2, 3], [2, 9, 4]], [[3, 3, 1], [4, 2, 6]]])

    def p(seed, threads=1):
        test = PermutationTest(n_permutations=499, seed=seed)
        return independence_test(data, "A", "B", ["X"], test=test, threads=threads).p_value

    assert p(1) == p(1) == p(1, threads=3)
    assert len({p(seed) for seed in range(10)}) > 1
    # Large samples: near the chi-square approximation.
    big = table(None, strata=[[[80, 60, 63], [62, 79, 64]], [[33, 33, 31], [34, 32, 36]]])
    asymptotic = independence_test(big, "A", "B", ["X"]).p_value
    exact = independence_test(
        big, "A", "B", ["X"], test=PermutationTest(n_permutations=20_000)
    ).p_value
    assert exact == pytest.approx(asymptotic, abs=0.02)


def test_p_values_of_independent_columns_are_uniform():
    rng = np.random.default_rng(11)
    p = []
    for _ in range(400):
        data = Dataset(
            [Variable("A", ("0", "1", "2")), Variable("B", ("0", "1")), Variable("X", ("0", "1"))],
            [rng.integers(0, r, 500).astype(np.uint8) for r in (3, 2, 2)],
        )
        p.append(independence_test(data, "A", "B", ["X"]).p_value)
    # Kolmogorov's distance; 0.0814 is exceeded once in a hundred.
    distance = np.abs(np.sort(p) - (np.arange(400) + 0.5) / 400).max()
    assert distance < 0.0814


@pytest.mark.parametrize(
    ("question", "error", "said"),
    [
        (("A", "A"), GraphError, "cannot be tested against itself"),
        (("A", "B", ["A"]), GraphError, "'A' cannot be among those given"),
        (("A", "C"), UnknownNameError, "unknown variable 'C'"),
    ],
)
def test_refuses_questions_that_make_no_sense(question, error, said):
    with pytest.raises(error, match=said):
        independence_test(table([[1, 2], [3, 4]]), *question)


def test_refuses_settings_outside_their_range():
    data = table([[1, 2], [3, 4]])
    for alpha in (0, 1, -0.1, 2, math.nan, "x", True):
        with pytest.raises(InvalidParameterError, match=r"alpha must be a number between 0 and 1"):
            independence_test(data, "A", "B", alpha=alpha)
    with pytest.raises(InvalidParameterError, match="df must be one of"):
        G2Test(df="none")
    with pytest.raises(InvalidParameterError, match="rows_per_df must be a finite number >= 0"):
        X2Test(rows_per_df=-1)
    with pytest.raises(InvalidParameterError, match="n_permutations must be a whole number >= 1"):
        PermutationTest(n_permutations=0)
    with pytest.raises(UnknownNameError, match="unknown test 'g3'"):
        independence_test(data, "A", "B", test="g3")
    with pytest.raises(InvalidParameterError, match="must be a test or its name"):
        independence_test(data, "A", "B", test=G2Test)


def test_permutations_must_be_able_to_say_no():
    data = table([[9, 1], [1, 9]])
    few = PermutationTest(n_permutations=98)
    with pytest.raises(
        InvalidParameterError, match="n_permutations must be at least 99 at a level"
    ):
        independence_test(data, "A", "B", test=few, alpha=0.01)
    enough = PermutationTest(n_permutations=99)
    assert not independence_test(data, "A", "B", test=enough, alpha=0.01).is_independent


def test_fractional_weights_cannot_be_shuffled():
    rows = table([[1, 2], [3, 4]])
    data = Dataset(rows.variables, [rows.codes(v) for v in rows.names], np.full(10, 0.5))
    with pytest.raises(DataError, match="fractional weights cannot be shuffled"):
        independence_test(data, "A", "B", test="permutation")
