"""Imputation: brute force, joint rows, draws, refusals."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bestdag as bd
from bestdag.errors import DataError, InvalidParameterError
from tests.conftest import examples
from tests.parameters.incomplete import dataset_of, incomplete, network_of, random_tables
from tests.reference import em as reference


def rows_of(data):
    return list(zip(*(data.codes(n).tolist() for n in data.names), strict=True))


@given(incomplete(), st.integers(0, 99))
@settings(max_examples=examples(60))
def test_the_most_probable_completion_is_that_of_brute_force(example, seed):
    arities, parents, rows = example
    tables = random_tables(arities, parents, seed)
    filled = network_of(arities, parents, tables).impute(dataset_of(rows, arities))
    assert not filled.has_missing
    for row, got in zip(rows, rows_of(filled), strict=True):
        every = list(reference.completions(row, arities))
        assert got in every
        best = max(reference.probability(c, tables, parents) for c in every)
        assert reference.probability(got, tables, parents) == pytest.approx(best, rel=1e-12)


def test_cells_of_a_row_are_filled_in_together():
    # Each coin alone is most probably heads or tails alike; together they agree.
    tables = [[0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]]]
    network = network_of([2, 2], [[], [0]], tables)
    data = dataset_of([(None, None)] * 400, [2, 2])
    drawn = Counter(rows_of(network.impute(data, "draw", seed=4)))
    assert drawn[0, 0] + drawn[1, 1] > 320
    assert min(drawn[0, 0], drawn[1, 1]) > 140


@given(incomplete(max_rows=3), st.integers(0, 9))
@settings(max_examples=examples(10))
def test_draws_have_the_distribution_given_what_a_row_shows(example, seed):
    arities, parents, rows = example
    tables = random_tables(arities, parents, seed)
    network = network_of(arities, parents, tables)
    n = 3000
    drawn = network.impute(dataset_of([rows[0]] * n, arities), "draw", seed=seed)
    got = Counter(rows_of(drawn))
    every = {
        c: reference.probability(c, tables, parents)
        for c in reference.completions(rows[0], arities)
    }
    total = sum(every.values())
    for completion, p in every.items():
        share = p / total
        assert got[completion] / n == pytest.approx(
            share, abs=5 * (share * (1 - share) / n) ** 0.5 + 1e-9
        )


def test_large_groups_are_drawn_and_maximised_through_a_tree():
    network = bd.random_network(14, seed=5, arities=3)
    data = network.sample(200, seed=1)
    keep = data.names[:2]
    holes = bd.Dataset(
        data.variables, [data.codes(n) if n in keep else np.full(200, 3) for n in data.names]
    )
    filled = network.impute(holes)
    for row in (0, 7):
        shown = {n: data.variable(n).states[data.codes(n)[row]] for n in keep}
        (best,) = network.most_probable(given=shown)
        whole = network.log_probability(filled.select(rows=[row]))[0]
        assert whole == pytest.approx(
            network.log_probability(
                bd.Dataset(
                    data.variables,
                    [
                        [
                            data.variable(n).states.index(
                                best.states[n] if n in best.states else shown[n]
                            )
                        ]
                        for n in data.names
                    ],
                )
            )[0],
            rel=1e-12,
        )
    drawn = network.impute(holes, "draw", seed=3)
    for name in data.names:
        share = np.bincount(drawn.codes(name), minlength=3) / 200
        wanted = np.bincount(data.codes(name), minlength=3) / 200
        assert share == pytest.approx(wanted, abs=0.2)


def test_several_imputations_differ_and_the_first_is_the_only_one():
    network = bd.random_network(5, seed=2)
    data = dataset_of([(None,) * 5] * 50, [2] * 5)
    holes = bd.Dataset(network.variables, [data.codes(n) for n in data.names])
    first, second = network.impute(holes, "draw", n=2, seed=9)
    assert first != second
    assert network.impute(holes, "draw", seed=9) == first
    assert network.impute(holes, "draw", seed=10) != first
    assert network.impute(holes, "draw", seed=9, threads=1) == first


def test_equal_rows_are_drawn_independently_and_keep_their_weights():
    network = bd.random_network(2, seed=2)
    holes = bd.Dataset(network.variables, [np.full(100, 2)] * 2, np.arange(100) + 1)
    drawn = network.impute(holes, "draw")
    assert len(set(rows_of(drawn))) > 1
    assert drawn.weights.tolist() == holes.weights.tolist()


def test_a_variable_without_a_column_gets_one_and_a_column_too_many_is_refused():
    network = network_of([2, 2], [[], [0]], [[0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]]])
    filled = network.impute({"a": ["0", "1"]})
    assert rows_of(filled) == [(0, 0), (1, 1)]
    with pytest.raises(DataError, match="'z'"):
        network.impute(bd.read({"a": ["0", "1"], "z": ["0", "1"]}))


def test_names_the_row_that_cannot_occur():
    network = network_of(
        [2, 2, 2], [[], [], [0, 1]], [[0.5, 0.5], [0.5, 0.5], [[[1.0, 0.0]] * 2] * 2]
    )
    data = dataset_of([(0, 0, 0), (0, None, 1), (None, 0, 1)], [2, 2, 2])
    for method in ("most_probable", "draw"):
        with pytest.raises(DataError, match=r"row 1 \(counted from 0\) cannot occur"):
            network.impute(data, method)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "mean"}, "method must be one of"),
        ({"n": 2}, "one imputation; several are drawn"),
        ({"method": "draw", "n": 0}, "n must be a whole number >= 1"),
        ({"method": "draw", "seed": -1}, "seed must be"),
    ],
)
def test_refuses_settings(settings, message):
    with pytest.raises(InvalidParameterError, match=message):
        network_of([2], [[]], [[0.5, 0.5]]).impute({"a": ["0", ""]}, **settings)


def test_nothing_changes_without_missing_cells():
    network = bd.random_network(4, seed=2)
    data = network.sample(30, seed=1)
    assert network.impute(data) == data
