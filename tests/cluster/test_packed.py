"""Packed counts: sums over any division of the rows are counts of all rows."""

from __future__ import annotations

import numpy as np
import pytest

from bestdag import _core
from bestdag.cluster.part import added, packed
from bestdag.counts.provider import flat_groups


def counted(columns, arities, families, rows):
    some = [np.ascontiguousarray(column[rows]) for column in columns]
    table = _core.Table(len(rows), some, arities, None)
    return packed(_core.count_families(table, *families, max_cells=1e9, threads=1))


@pytest.mark.parametrize("n_parts", [1, 2, 5])
def test_parts_add_up_to_the_whole(n_parts):
    random = np.random.default_rng(n_parts)
    # 40 parents of 3 states: more configurations than 64 bits can number.
    arities = [2, 300, 5, *[3] * 40]
    columns = [
        random.integers(0, r, 60).astype(np.uint16 if r > 255 else np.uint8) for r in arities
    ]
    groups = [[], [0], [1, 2], [0, 1, 2], list(range(3, 43)), [2, 7]]
    children = np.array([2, 1, 0, 5, 0, 1], np.int32)
    families = (children, *flat_groups(groups))
    rows = np.arange(60)
    whole = counted(columns, arities, families, rows)
    parts = [counted(columns, arities, families, some) for some in np.array_split(rows, n_parts)]
    total = added(parts, families, np.array(arities))
    np.testing.assert_array_equal(total.n_observed, whole.n_observed)
    np.testing.assert_array_equal(total.configurations, whole.configurations)
    np.testing.assert_array_equal(total.counts, whole.counts)


def test_counts_are_64_bits_wide():
    families = (np.array([0], np.int32), np.array([0, 0]), np.array([], np.int32))
    large = packed([(np.zeros((1, 0), np.uint16), np.array([[2**40, 1]]))])
    ((_, table),) = added([large, large], families, np.array([2])).unpacked(families, np.array([2]))
    assert table.tolist() == [[2**41, 2]]
