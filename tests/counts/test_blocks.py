"""Counting in blocks: equal to counting at once, whatever the blocks, threads and weights."""

import itertools
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestdag import _core
from bestdag.counts.blocks import BlockCounts
from bestdag.counts.engine import CountingEngine, collapsed_table
from bestdag.counts.provider import flat_groups
from bestdag.data.schema import Variable
from bestdag.errors import InvalidParameterError, NotEnoughMemoryError
from bestdag.machine import memory_limit
from bestdag.progress import OutOfTimeError, until
from tests.conftest import examples, make_dataset
from tests.providers import PROVIDERS


def table_of(seed, n_rows, arities):
    rng = np.random.default_rng(seed)
    variables = [Variable(f"v{i:02}", tuple(map(str, range(r)))) for i, r in enumerate(arities)]
    types = [np.uint8 if r < 256 else np.uint16 for r in arities]
    columns = [rng.integers(0, r, n_rows).astype(t) for r, t in zip(arities, types, strict=True)]
    return variables, columns


def arrays_of(families):
    children = np.array([child for child, _ in families], np.int32)
    return children, *flat_groups([sorted(parents) for _, parents in families])


def counted_by_hand(columns, weights, child, parents, arity):
    """Count with a dictionary."""
    found = {}
    for row, weight in enumerate(weights):
        key = tuple(int(columns[p][row]) for p in sorted(parents))
        found.setdefault(key, [0] * arity)[int(columns[child][row])] += weight
    kept = {key: cells for key, cells in sorted(found.items()) if any(cells)}
    return [list(key) for key in kept], list(kept.values())


@settings(max_examples=examples(60))
@given(
    st.integers(0, 2**32),
    st.integers(1, 300),
    st.lists(st.sampled_from([1, 2, 3, 5, 9, 40, 300]), min_size=1, max_size=5),
    st.sampled_from([1, 7, 97, 1000]),
    st.sampled_from([1, 3]),
    st.booleans(),
)
def test_equals_a_dictionary(seed, n_rows, arities, block_rows, threads, is_weighted):
    variables, columns = table_of(seed, n_rows, arities)
    n = len(arities)
    weights = None
    if is_weighted:
        weights = np.random.default_rng(seed).integers(0, 3, n_rows) + (np.arange(n_rows) == 0)
    families = [
        (c, parents)
        for c in range(n)
        for k in range(n)
        for parents in itertools.combinations([p for p in range(n) if p != c], k)
    ]
    blocks = BlockCounts(variables, columns, weights, block_rows, threads)
    found = blocks.count(arrays_of(families), max_cells=1e9)
    each = [1] * n_rows if weights is None else weights.tolist()
    for (child, parents), (configurations, counts) in zip(families, found, strict=True):
        by_hand = counted_by_hand(columns, each, child, parents, arities[child])
        assert (configurations.tolist(), counts.tolist()) == by_hand
    assert blocks.passes == 1


def test_real_weights_add_up_to_the_same_in_any_order_and_any_blocks():
    variables, columns = table_of(1, 500, [2, 3, 60, 60])
    rng = np.random.default_rng(2)
    weights = rng.random(500) * 10.0 ** rng.integers(-3, 4, 500)
    families = arrays_of([(0, [1]), (1, [0, 2, 3]), (2, [])])
    answers = []
    for order, block_rows, threads in [(0, 500, 1), (1, 97, 3), (2, 10, 2)]:
        rows = np.random.default_rng(order).permutation(500) if order else np.arange(500)
        blocks = BlockCounts(
            variables, [c[rows] for c in columns], weights[rows], block_rows, threads
        )
        answers.append((blocks.total_weight, blocks.count(families, max_cells=1e9)))
    for total, found in answers[1:]:
        assert total == answers[0][0]
        for (_, one), (_, other) in zip(found, answers[0][1], strict=True):
            assert np.array_equal(one, other)
    by_hand = np.zeros((3, 2))
    np.add.at(by_hand, (columns[1], columns[0]), weights)
    np.testing.assert_allclose(answers[0][1][0][1], by_hand, rtol=1e-14)


def test_little_memory_means_more_passes_and_the_same_counts():
    variables, columns = table_of(3, 3_000, [30, 30, 30, 2])
    families = arrays_of([(c, [p for p in range(3) if p != c]) for c in range(3)] * 20)
    roomy = BlockCounts(variables, columns, None, 97, 1)
    expected = roomy.count(families, max_cells=1e9)
    tight = BlockCounts(variables, columns, None, None, 1)
    with memory_limit("1 MB"):
        found = tight.count(families, max_cells=1e9)
    assert roomy.passes == 1
    assert tight.passes > 1
    for one, other in zip(found, expected, strict=True):
        assert np.array_equal(one[0], other[0])
        assert np.array_equal(one[1], other[1])


def test_too_many_cells_are_refused_in_one_sentence():
    variables, columns = table_of(4, 2_000, [50, 50, 50])
    blocks = BlockCounts(variables, columns, None, 97, 2)
    for families in ([(0, [1, 2])], [(0, [1])]):
        with pytest.raises(NotEnoughMemoryError, match="counts: the observed configurations"):
            blocks.count(arrays_of(families), max_cells=100)
    with pytest.raises(InvalidParameterError, match="block_rows"):
        BlockCounts(variables, columns, None, 0)


def test_mapped_files_are_read_where_they_are(tmp_path):
    variables, columns = table_of(5, 1_000, [2, 300])
    mapped = []
    for i, column in enumerate(columns):
        column.tofile(tmp_path / f"{i}")
        mapped.append(np.memmap(tmp_path / f"{i}", column.dtype, "r"))
    blocks = BlockCounts(variables, mapped, None, 97, 1)
    ((_, counts),) = blocks.count(arrays_of([(0, [1])]), max_cells=1e9)
    assert counts.sum() == 1_000
    assert blocks.rows_in == "disk"


def test_different_rows_become_a_table_or_are_refused_with_a_forecast():
    variables, columns = table_of(6, 2_000, [2, 3, 4])
    blocks = BlockCounts(variables, columns, None, 97, 1)
    table = collapsed_table(blocks, [2, 3, 4])
    families = arrays_of([(0, [1, 2])])
    ((_, counts),) = _core.count_families(table, *families, max_cells=1e9, threads=1)
    assert np.array_equal(counts, blocks.count(families, max_cells=1e9)[0][1])
    wide = BlockCounts(*table_of(7, 50_000, [9] * 12), None, 97, 1)
    with memory_limit("1 MB"), pytest.raises(NotEnoughMemoryError, match=r"needs .* MiB"):
        collapsed_table(wide, [9] * 12)


def test_a_deadline_ends_a_count():
    variables, columns = table_of(8, 400_000, [4] * 10)
    blocks = BlockCounts(variables, columns, None, None, 2)
    others = [list(parents) for parents in itertools.combinations(range(1, 10), 5)]
    many = arrays_of([(0, parents) for parents in 100 * others])  # seconds; it is looked at often
    with pytest.raises(OutOfTimeError), until(time.monotonic()):
        blocks.count(many, max_cells=1e9)
    assert len(blocks.count(arrays_of([(0, [1])]), max_cells=1e9)) == 1


def test_an_engine_asks_the_data_set_who_counts():
    dataset = make_dataset({"a": [0, 1, 1, 0] * 60, "b": [0, 1, 2, 2] * 60})
    here, there = CountingEngine(dataset), CountingEngine(PROVIDERS["blocks"](dataset))
    assert here.provider is None
    assert there.provider.rows_in == "disk"
    for one, other in zip(here.count([("a", "b")]), there.count([("a", "b")]), strict=True):
        assert np.array_equal(one.table, other.table)
