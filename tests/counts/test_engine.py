"""Counting: equal to a dictionary, whatever the way, the threads, the order and the weights."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestdag import _core
from bestdag.counts.engine import CountingEngine
from bestdag.data.dataset import Dataset
from bestdag.data.schema import Variable
from bestdag.errors import DataError, GraphError, UnknownNameError
from bestdag.scores.bic import BIC
from bestdag.scores.engine import NativeScores
from tests.conftest import examples, make_dataset
from tests.reference.counts import family_counts


def random_dataset(seed, n_rows, arities, weights=None):
    rng = np.random.default_rng(seed)
    columns = {f"v{i:02}": rng.integers(0, r, n_rows).tolist() for i, r in enumerate(arities)}
    return make_dataset(columns, dict(zip(columns, arities, strict=True)), weights)


def all_families(dataset, max_parents):
    for child in dataset.names:
        others = [name for name in dataset.names if name != child]
        for k in range(max_parents + 1):
            for parents in itertools.combinations(others, k):
                yield child, parents


def assert_counts(dataset, families, engine=None):
    families = list(families)
    for (child, parents), got in zip(
        families, (engine or CountingEngine(dataset)).count(families), strict=True
    ):
        configurations, table = family_counts(dataset, child, parents)
        assert [v.name for v in got.parents] == sorted(parents)
        assert got.configurations.tolist() == configurations
        assert got.table.tolist() == table


@settings(max_examples=examples(60))
@given(
    st.integers(0, 2**32),
    st.integers(1, 200),
    st.lists(st.integers(1, 6), min_size=1, max_size=5),
)
def test_equals_a_dictionary(seed, n_rows, arities):
    dataset = random_dataset(seed, n_rows, arities)
    assert_counts(dataset, all_families(dataset, 4))


@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 511, 512, 513, 33_000])
@pytest.mark.parametrize("instructions", _core.instruction_sets())
def test_bitmaps_of_every_length_and_instruction_set(n_rows, instructions):
    best = _core.instruction_sets()[-1]
    dataset = random_dataset(n_rows, n_rows, [2, 3, 4])
    families = list(all_families(dataset, 2))
    assert len(families) >= 2 * dataset.n_variables  # enough for bitmaps to be used
    try:
        _core.use_instruction_set(instructions)
        assert_counts(dataset, families)
    finally:
        _core.use_instruction_set(best)


# 30 states and 20 parents: q = 30**20, about 3.5e29, more than 2**64.
@pytest.mark.parametrize("n_parents", [13, 20])
def test_many_parents_with_many_states_are_exact(n_parents):
    dataset = random_dataset(1, 3_000, [30] * (n_parents + 1))
    child, *parents = dataset.names
    assert_counts(dataset, [(child, parents)])
    (counts,) = CountingEngine(dataset).count([(child, parents)])
    assert counts.n_configurations == pytest.approx(30.0**n_parents)


# Equal rows in many places: groups stay large while q grows beyond every index type.
def test_many_parents_with_few_distinct_rows():
    rng = np.random.default_rng(2)
    kinds = rng.integers(0, 30, (5, 21))
    rows = kinds[rng.integers(0, 5, 2_000)]
    dataset = make_dataset(
        {f"v{i:02}": rows[:, i].tolist() for i in range(21)}, {f"v{i:02}": 30 for i in range(21)}
    )
    child, *parents = dataset.names
    assert_counts(dataset, [(child, parents)])


def test_wide_columns_take_the_sorting_road():
    # 40,000 x 300 pairs exceed twice the rows: parents are renumbered by sorting.
    rng = np.random.default_rng(3)
    columns = {
        "a": rng.integers(0, 40_000, 2_000).tolist(),
        "b": rng.integers(0, 300, 2_000).tolist(),
        "c": rng.integers(0, 300, 2_000).tolist(),
    }
    dataset = make_dataset(columns, {"a": 40_000, "b": 300, "c": 300})
    assert_counts(dataset, [("a", ()), ("b", ("a", "c")), ("b", ("c",)), ("c", ("b", "a"))])


@pytest.mark.parametrize("n_parents", [2, 12])
def test_whole_weights_equal_repetition(n_parents):
    weights = np.random.default_rng(4).integers(0, 4, 300)
    weighted = random_dataset(5, 300, [3] * 13, weights)
    repeated = Dataset(
        weighted.variables, [np.repeat(weighted.codes(name), weights) for name in weighted.names]
    )
    child, *parents = weighted.names
    family = [(child, parents[:n_parents])]
    (a,) = CountingEngine(weighted).count(family)
    (b,) = CountingEngine(repeated).count(family)
    assert a.table.dtype == np.int64
    assert a.table.tolist() == b.table.tolist()
    assert a.configurations.tolist() == b.configurations.tolist()


@pytest.mark.parametrize("n_parents", [1, 8])
def test_real_weights_do_not_depend_on_the_order_of_rows(n_parents):
    rng = np.random.default_rng(6)
    weights = rng.random(500)
    dataset = random_dataset(7, 500, [3] * 9, weights)
    order = rng.permutation(500)
    shuffled = Dataset(
        dataset.variables, [dataset.codes(n)[order] for n in dataset.names], weights[order]
    )
    child, *parents = dataset.names
    (a,) = CountingEngine(dataset).count([(child, parents[:n_parents])])
    (b,) = CountingEngine(shuffled).count([(child, parents[:n_parents])])
    assert a.table.dtype == np.float64
    assert a.table.tobytes() == b.table.tobytes()
    _, expected = family_counts(dataset, child, parents[:n_parents])
    assert a.table == pytest.approx(np.array(expected), rel=1e-12)


def test_threads_do_not_change_anything():
    dataset = random_dataset(8, 5_000, [2, 3, 4, 5, 30, 30, 30])
    families = list(all_families(dataset, 6))
    one, many = (CountingEngine(dataset, threads=t).count(families) for t in (1, 5))
    for a, b in zip(one, many, strict=True):
        assert a.table.tobytes() == b.table.tobytes()
        assert a.configurations.tobytes() == b.configurations.tobytes()


# Two million rows and one family: the threads share the rows.
@pytest.mark.parametrize("weighted", [False, True])
def test_threads_that_share_rows_count_the_same(weighted):
    rng = np.random.default_rng(9)
    n_rows = (1 << 21) + 12_345
    variables = [Variable(name, ("0", "1", "2")) for name in "abc"]
    columns = [rng.integers(0, 3, n_rows).astype(np.uint8) for _ in variables]
    weights = rng.integers(0, 3, n_rows) if weighted else None
    dataset = Dataset(variables, columns, weights)
    numbers = columns[1] * 9 + columns[2] * 3 + columns[0]
    expected = np.bincount(numbers, weights, minlength=27).reshape(9, 3)
    for threads in (1, 2, 5):
        engine = CountingEngine(dataset, threads=threads)
        (counts,) = engine.count([("a", ["b", "c"])])
        assert counts.table.tolist() == expected.tolist()
        (scored,) = NativeScores(engine, BIC().kernel()).families([("a", ["b", "c"])])
        assert scored == pytest.approx(BIC().family(counts), rel=1e-12)


def test_columns_are_taken_in_name_order():
    dataset = make_dataset({"z": [0, 1, 1], "a": [0, 0, 1], "m": [1, 0, 1]})
    (counts,) = CountingEngine(dataset).count([("m", ["z", "a"])])
    assert [p.name for p in counts.parents] == ["a", "z"]
    assert counts.configurations.tolist() == [[0, 0], [0, 1], [1, 1]]


def test_refuses_missing_cells():
    variable = Variable("x", ("a", "b"))
    dataset = Dataset([variable], [np.array([0, 2, 2], np.uint8)])
    with pytest.raises(DataError, match=r"counts: values are missing in 'x' \(2\)"):
        CountingEngine(dataset)


def test_refuses_unknown_names_and_own_parents(code_columns):
    engine = CountingEngine(code_columns(rain=[0, 1], wet=[0, 1]))
    with pytest.raises(UnknownNameError, match=r"unknown variable 'rian'.*did you mean 'rain'"):
        engine.count([("rian", [])])
    with pytest.raises(GraphError, match="'wet' cannot be its own parent"):
        engine.count([("wet", ["wet"])])


def test_no_families_no_counts(code_columns):
    assert CountingEngine(code_columns(x=[0, 1])).count([]) == []
