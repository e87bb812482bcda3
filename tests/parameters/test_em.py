"""EM: values by hand, brute force, monotone, optimal at the end, refusals."""

from itertools import pairwise
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bestdag as bd
from bestdag import EM, BDeu, Dag, Dataset, Variable, fit_network, read, run_em
from bestdag.errors import DataError, InvalidParameterError
from tests.conftest import examples
from tests.parameters.incomplete import (
    dag_of,
    dataset_of,
    incomplete,
    network_of,
    random_tables,
    tables_of,
    variables_of,
)
from tests.reference import em as reference

pytestmark = pytest.mark.filterwarnings("ignore:fit. the network has .* parameters")


# x -> y with the rows (0, 0), (1, 1), (missing, 1). From uniform tables the missing x is 1 with
# probability 1/2: counts of x are 3/2 each, y = 1 follows x = 1 in 3/2 of 3/2 cases and x = 0 in
# 1/2 of 3/2. Then it is 1 with probability 1 / (1 + 1/3) = 3/4, which gives 7/4 of 3 and 1/4 of
# 5/4.
@pytest.mark.parametrize(("iterations", "x", "y_given_0"), [(1, 1 / 2, 1 / 3), (2, 7 / 12, 1 / 5)])
def test_two_iterations_worked_out_by_hand(iterations, x, y_given_0):
    data = dataset_of([(0, 0), (1, 1), (None, 1)], [2, 2])
    em = EM(start="uniform", max_iterations=iterations, tolerance=0)
    found = run_em(dag_of([2, 2], [[], [0]]), data, em)
    assert found.network.table("a").values[1] == pytest.approx(x, abs=1e-15)
    assert found.network.table("b").values[:, 1] == pytest.approx([y_given_0, 1], abs=1e-15)
    p = (1 - x) * (1 - y_given_0) * x * ((1 - x) * y_given_0 + x)
    assert found.log_likelihood == pytest.approx(log(p), abs=1e-12)
    assert (found.iterations, found.converged) == (iterations, False)


def test_a_missing_value_below_known_ones_tells_nothing():
    data = dataset_of([(0, 0), (0, 1), (0, 1), (0, None), (1, 0)], [2, 2])
    network = fit_network(dag_of([2, 2], [[], [0]]), data, EM(tolerance=1e-14))
    assert network.table("a").values == pytest.approx([4 / 5, 1 / 5])
    assert network.table("b").values[0] == pytest.approx([1 / 3, 2 / 3])


@given(incomplete(), st.integers(0, 99), st.sampled_from([None, 0.5, 3.0]))
@settings(max_examples=examples(60))
def test_no_iteration_lowers_what_it_raises(example, seed, ess):
    arities, parents, rows = example
    em = EM(start="random", seed=seed, tolerance=0, max_iterations=15, ess=ess)
    trace = run_em(dag_of(arities, parents), dataset_of(rows, arities), em).trace
    for before, after in pairwise(trace):
        assert after >= before - 1e-9 * max(1.0, abs(before))


@given(incomplete(), st.integers(0, 99))
@settings(max_examples=examples(60))
def test_log_likelihood_and_step_agree_with_brute_force_over_completions(example, seed):
    arities, parents, rows = example
    tables = random_tables(arities, parents, seed)
    start = network_of(arities, parents, tables)
    weights = [1.0 + i % 3 for i in range(len(rows))]
    data = dataset_of(rows, arities, weights)
    found = run_em(
        dag_of(arities, parents), data, EM(start=start, max_iterations=1, tolerance=0, restarts=0)
    )
    expected = reference.log_likelihood(rows, weights, tables, parents, arities)
    assert found.trace[0] == pytest.approx(expected, abs=1e-9)
    new = tables_of(found.network)
    assert found.log_likelihood == pytest.approx(
        reference.log_likelihood(rows, weights, new, parents, arities), abs=1e-9
    )
    # Without what nothing known depends on, counts differ from those of whole completions by
    # multiples of the rows of the tables: the step goes the same way, perhaps further.
    for child, group in enumerate(parents):
        whole = reference.family_counts(rows, weights, tables, parents, arities, (child, group))
        for key, cells in whole.items():
            old, step = tables[child][key], new[child][key] - tables[child][key]
            gradient = np.array(cells) - sum(cells) * old
            if np.abs(gradient).max() > 1e-9:
                assert step @ gradient > 0
                ratio = step @ gradient / (gradient @ gradient)
                assert step == pytest.approx(ratio * gradient, abs=1e-9)
                assert ratio >= 1 / sum(cells) - 1e-9


@given(incomplete(max_rows=12), st.integers(0, 99))
@settings(max_examples=examples(30))
def test_at_the_end_no_direction_raises_the_likelihood(example, seed):
    arities, parents, rows = example
    dag, data = dag_of(arities, parents), dataset_of(rows, arities)
    found = run_em(dag, data, EM(start="random", seed=seed, tolerance=0, max_iterations=20_000))
    tables = tables_of(found.network)
    for child, group in enumerate(parents):
        counts = reference.family_counts(
            rows, [1] * len(rows), tables, parents, arities, (child, group)
        )
        for key, cells in counts.items():
            # The derivative by each parameter is at most the multiplier, and equal to it where the
            # parameter is not zero; zeros that were reached in the limit included.
            theta = np.array(tables[child][key])
            slopes = np.array(cells) - sum(cells) * theta
            assert np.abs(slopes).max() <= 1e-3 * max(1.0, sum(cells))
            tiny = (theta > 0) & (theta < 1e-6)
            assert (np.array(cells)[tiny] / theta[tiny] <= sum(cells) * (1 + 1e-3)).all()


@given(incomplete(), st.sampled_from([{}, {"ess": 2.0}, {"smooth": "fsnml"}]))
@settings(max_examples=examples(40))
def test_without_missing_cells_it_is_the_closed_form_in_one_step(example, how):
    arities, parents, rows = example
    rows = [tuple(0 if c is None else c for c in row) for row in rows]
    dag, data = dag_of(arities, parents), dataset_of(rows, arities)
    found = run_em(dag, data, EM(**how))
    closed = (
        {"ess": bd.Dirichlet(ess=2.0), "smooth": bd.FSNML()}.get(*how, bd.MLE())
        if how
        else bd.MLE()
    )
    for got, wanted in zip(
        found.network.tables, fit_network(dag, data, closed).tables, strict=True
    ):
        assert got.values == pytest.approx(wanted.values, abs=1e-12)
    assert (found.iterations, found.converged) == (1, True)
    assert fit_network(dag, data, EM(**how)) == fit_network(dag, data, closed)


@given(incomplete(max_rows=12), st.randoms(use_true_random=False))
@settings(max_examples=examples(25))
def test_threads_and_the_order_of_rows_and_columns_do_not_change_a_bit(example, random):
    arities, parents, rows = example
    dag = dag_of(arities, parents)
    data = dataset_of(rows, arities)
    order = random.sample(range(len(rows)), len(rows))
    names = random.sample(data.names, len(data.names))
    moved = data.select(names, order)
    em = EM(restarts=1, max_iterations=5)
    one, other = run_em(dag, data, em, threads=1), run_em(dag, moved, em, threads=3)
    assert one.network == other.network
    assert one.trace == other.trace


def test_many_chunks_of_work_give_the_same_bits_for_any_number_of_threads():
    network = bd.random_network(12, seed=3, arities=3)
    data = with_holes(network.sample(3000, seed=1), 0.2, seed=5)
    em = EM(max_iterations=3)
    one, two = (run_em(network.dag, data, em, threads=n) for n in (1, 2))
    assert one.network == two.network
    assert one.trace == two.trace


@given(incomplete(), st.integers(0, 9))
@settings(max_examples=examples(25))
def test_whole_weights_equal_repetition(example, seed):
    arities, parents, rows = example
    weights = [1 + i % 3 for i in range(len(rows))]
    repeated = [row for row, w in zip(rows, weights, strict=True) for _ in range(w)]
    dag, em = dag_of(arities, parents), EM(start="random", seed=seed, max_iterations=5)
    one = fit_network(dag, dataset_of(rows, arities, weights), em)
    assert one == fit_network(dag, dataset_of(repeated, arities), em)


def with_holes(data, share, seed):
    """Make cells missing completely at random."""
    random = np.random.default_rng(seed)
    columns = [
        np.where(random.random(data.n_rows) < share, data.arities[n], data.codes(n))
        for n in data.names
    ]
    return Dataset(data.variables, columns, data.weights)


def test_groups_larger_than_a_table_agree_with_the_likelihood_of_the_network():
    # A chain of which all but both ends are missing: 3^12 states together.
    n = 14
    variables = [Variable(f"v{i:02}", ("0", "1", "2")) for i in range(n)]
    random = np.random.default_rng(7)
    tables = [bd.ConditionalTable(variables[0], (), [0.2, 0.3, 0.5])]
    for before, after in pairwise(variables):
        cells = random.dirichlet([1, 1, 1], size=3)
        tables.append(bd.ConditionalTable(after, (before,), cells))
    network = bd.Network(tables)
    data = network.sample(50, seed=1)
    holes = Dataset(
        variables,
        [
            data.codes(v.name) if i in (0, n - 1) else np.full(50, 3)
            for i, v in enumerate(variables)
        ],
    )
    found = run_em(network.dag, holes, EM(start=network, max_iterations=3, tolerance=0, restarts=0))
    assert found.trace[0] == pytest.approx(network.log_probability(holes).sum(), rel=1e-12)
    fitted = found.network.log_probability(holes).sum()
    assert found.log_likelihood == pytest.approx(fitted, rel=1e-12)
    assert found.trace[-1] > found.trace[0]


def test_products_that_underflow_are_scaled():
    # A hidden class with 400 children, each value of probability 1e-3 at most.
    hidden = Variable("h", ("0", "1"))
    children = [Variable(f"c{i:03}", tuple(map(str, range(1000)))) for i in range(400)]
    row = np.full((2, 1000), 1e-3)
    row[1, :500], row[1, 500:] = 0.5e-3, 1.5e-3
    network = bd.Network(
        [bd.ConditionalTable(hidden, (), [0.5, 0.5])]
        + [bd.ConditionalTable(c, (hidden,), row) for c in children]
    )
    data = Dataset([hidden, *children], [np.array([2]), *(np.array([999]) for _ in children)])
    found = run_em(network, data, EM(start=network, max_iterations=1, restarts=0))
    expected = log(0.5) + np.logaddexp(400 * log(1e-3), 400 * log(1.5e-3))
    assert found.trace[0] == pytest.approx(expected, rel=1e-12)


def test_a_hidden_variable_with_declared_states_explains_what_goes_together():
    # Two groups of rows: all "no" or all "yes", with noise.
    random = np.random.default_rng(2)
    kind = random.random(400) < 0.5
    columns = [np.where(random.random(400) < 0.1, ~kind, kind).astype(int) for _ in range(4)]
    observed = [Variable(n, ("no", "yes")) for n in "abcd"]
    hidden = Variable("h", ("0", "1"))
    data = Dataset([hidden, *observed], [np.full(400, 2), *columns])
    dag = Dag.from_parents({"h": [], **{n: ["h"] for n in "abcd"}})
    found = run_em(dag, data, EM(tolerance=1e-9))
    assert len(found.starts) == 5
    assert found.starts[0].objective == max(start.objective for start in found.starts)
    apart = run_em(Dag(list("abcd")), data.drop("h"))
    assert found.log_likelihood > apart.log_likelihood + 100
    for name in "abcd":
        low, high = sorted(found.network.table(name).values[:, 1])
        assert low == pytest.approx(0.1, abs=0.06)
        assert high == pytest.approx(0.9, abs=0.06)
    # A network has the states, so the data need not have the column.
    again = run_em(found.network, data.drop("h"), EM(tolerance=1e-9))
    assert again.log_likelihood == pytest.approx(found.log_likelihood, rel=1e-9)


def test_the_mean_with_a_prior_raises_the_likelihood_plus_the_sum_of_a_ln_theta():
    data = dataset_of([(0, 0), (1, 1), (None, 1), (1, None)], [2, 2])
    found = run_em(dag_of([2, 2], [[], [0]]), data, EM(prior=BDeu(ess=2), tolerance=1e-12))
    cells = [(found.network.table("a").values, 1.0), (found.network.table("b").values, 0.5)]
    bonus = sum(a * np.log(values).sum() for values, a in cells)
    assert found.trace[-1] == pytest.approx(found.log_likelihood + bonus, abs=1e-12)


def test_the_mode_is_that_of_the_posterior():
    data = dataset_of([(0,), (0,), (1,), (None,)], [2])
    found = run_em(Dag(["a"]), data, EM(ess=8, mode=True, tolerance=1e-14))
    assert found.network.table("a").values == pytest.approx([5 / 9, 4 / 9])  # 2 + 3 to 1 + 3
    with pytest.raises(InvalidParameterError, match=r"mode needs pseudo-counts of at least 1.*0.5"):
        run_em(Dag(["a"]), data, EM(ess=1, mode=True))
    with pytest.raises(InvalidParameterError, match="mode=True needs a Dirichlet prior"):
        EM(mode=True)


@pytest.mark.parametrize(
    ("em", "last"),
    [
        (EM(smooth="fsnml", tolerance=1e-14), bd.FSNML()),
        (EM(prior=bd.MinBDeu(), tolerance=1e-14), bd.Dirichlet(prior=bd.MinBDeu())),
    ],
)
def test_what_is_no_m_step_smooths_the_last_counts_once(em, last):
    rows = [(0, 0), (0, 0), (1, 1), (None, 1)]
    dag, data = dag_of([2, 2], [[], [0]]), dataset_of(rows, [2, 2])
    plain = tables_of(run_em(dag, data, EM(tolerance=1e-14)).network)
    found = run_em(dag, data, em)
    for child, group in enumerate([[], [0]]):
        counts = reference.family_counts(rows, [1] * 4, plain, [[], [0]], [2, 2], (child, group))
        table = [counts[key] for key in sorted(counts)]
        wanted = last.rows(bd.FamilyCounts.of(table))
        assert found.network.tables[child].rows == pytest.approx(wanted, abs=1e-6)
    assert found.log_likelihood == pytest.approx(found.network.log_probability(data).sum())


def test_result_fit_uses_the_prior_of_the_score_and_parameters_that_suit_it():
    data = with_holes(bd.random_network(4, seed=1).sample(200, seed=2), 0.2, seed=3)
    result = bd.learn(
        data.select(rows=~np.any([data.missing(n) for n in data.names], axis=0)), "bdeu"
    )
    em = bd.parameters.choose_estimator(BDeu(ess=3), "em", {})
    assert em == EM(prior=BDeu(ess=3))
    assert bd.parameters.choose_estimator(bd.BIC(), "em", {}) == EM()
    assert fit_network(result.dag, data, "em") == run_em(result.dag, data).network


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_iterations": 0}, "max_iterations must be a whole number >= 1, got 0"),
        ({"tolerance": -1e-3}, "tolerance must be a finite number >= 0, got -0.001"),
        ({"tolerance": float("nan")}, "tolerance must be"),
        ({"restarts": -1}, "restarts must be"),
        ({"start": "zero"}, "start must be one of available, uniform, random or a network"),
        ({"smooth": "bdeu"}, "smooth must be 'fsnml' or None"),
        ({"smooth": "fsnml", "ess": 1}, "give it without ess and prior"),
        ({"ess": 0}, "ess must be"),
    ],
)
def test_refuses_settings(settings, message):
    with pytest.raises(InvalidParameterError, match=message):
        EM(**settings)


def test_names_the_row_that_a_start_calls_impossible():
    start = network_of([2, 2], [[], [0]], [[1.0, 0.0], [[0.5, 0.5], [0.5, 0.5]]])
    data = dataset_of([(0, 0), (None, 1), (1, None)], [2, 2])
    with pytest.raises(DataError, match=r"row 2 \(counted from 0\) has probability zero.*: a=1;"):
        run_em(start.dag, data, EM(start=start))


def test_refuses_a_start_of_another_structure_or_with_other_states():
    data = dataset_of([(0, 0), (None, 1)], [2, 2])
    start = network_of([2, 2], [[], []], [[0.5, 0.5], [0.5, 0.5]])
    with pytest.raises(DataError, match=r"the start must have the arcs of the structure.*'b'"):
        run_em(dag_of([2, 2], [[], [0]]), data, EM(start=start))


def test_rows_without_any_value_and_tables_without_a_complete_row():
    arities = [2, 3]
    rows = [(None, None), (None, 1), (0, None), (1, None), (None, 2)]
    dag, data = dag_of(arities, [[], [0]]), dataset_of(rows, arities)
    found = run_em(dag, data, EM(tolerance=1e-12))
    again = run_em(dag, dataset_of(rows[1:], arities), EM(tolerance=1e-12))
    assert found.log_likelihood == pytest.approx(again.log_likelihood)
    assert found.network.table("a").values == pytest.approx([0.5, 0.5], abs=1e-4)
    marginal = found.network.query("b").values
    assert marginal == pytest.approx([0, 0.5, 0.5], abs=1e-4)


def test_a_state_that_was_declared_and_never_seen_gets_probability_zero_or_its_prior():
    a = Variable("a", ("no", "yes", "never"))
    data = Dataset([a], [np.array([0, 1, 1, 3])])
    assert fit_network(Dag(["a"]), data, EM(tolerance=1e-15)).table("a").values[2] == pytest.approx(
        0, abs=1e-7
    )
    assert fit_network(Dag(["a"]), data, EM(ess=3)).table("a").values[2] > 0


def test_many_rows_with_few_patterns_cost_little_more_than_the_patterns():
    rows = [(0, 0), (1, 1), (None, 1), (0, None), (None, None)]
    dag, n = dag_of([2, 2], [[], [0]]), 200_000
    few = dataset_of(rows, [2, 2], [n] * 5)
    many = Dataset(variables_of([2, 2]), [np.tile(few.codes(name), n) for name in "ab"])
    assert fit_network(dag, many, EM()) == fit_network(dag, few, EM())


def test_reads_and_keeps_missing_cells_by_itself(tmp_path):
    table = {"a": ["x", "", "y", "x"], "b": ["0", "1", "1", ""]}
    path = tmp_path / "t.csv"
    path.write_text("a,b\nx,0\n,1\ny,1\nx,\n")
    dag = Dag(["a", "b"], [("a", "b")])
    fitted = fit_network(dag, read(table, missing="keep"), "em")
    assert fit_network(dag, path, "em") == fitted.with_name("t")


def test_rows_of_weight_zero_are_not_there():
    rows = [(0, 0), (0, 0), (1, None), (None, 0)]
    dag = dag_of([2, 2], [[], [0]])
    weighted = run_em(dag, dataset_of(rows, [2, 2], [2, 0.5, 0, 1]))
    assert (
        weighted.network
        == run_em(dag, dataset_of(rows[:2] + rows[3:], [2, 2], [2, 0.5, 1])).network
    )
    assert np.isfinite(weighted.log_likelihood)
