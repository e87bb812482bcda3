"""Groups of missing variables: by hand, and against the definition row by row."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestdag.inference.missing import Group, find_groups
from bestdag.inference.tables import LogTables, Rows


def binary_tables(parents):
    return LogTables([np.full((2,) * (len(group) + 1), 0.5) for group in parents], parents)


def rows_with(missing):
    """One row per list of missing flags; the other cells are 0."""
    flags = np.array(missing, dtype=bool)
    columns = tuple(np.where(column, 2, 0).astype(np.uint8) for column in flags.T)
    return Rows(len(flags), columns, tuple(flags.any(axis=0).tolist()))


def by_definition(parents, missing, target=None):
    """The groups of one row: leave out childless missing variables, then join what meets."""
    families = {child: {child, *group} for child, group in enumerate(parents)}
    hidden = {v for v, flag in enumerate(missing) if flag and v != target}
    while True:  # one that nobody left in depends on is left out with its table
        loose = {
            v for v in hidden if not any(v in f for child, f in families.items() if child != v)
        } & set(families)
        if not loose:
            break
        hidden -= loose
        families = {child: f for child, f in families.items() if child not in loose}
    unknown = hidden | ({target} if target is not None else set())
    groups = []
    left = set(unknown)
    while left:
        group = {left.pop()}
        while True:
            met = {v for f in families.values() if f & group for v in f & unknown}
            if met <= group:
                break
            group |= met
        left -= group
        if target is None or target in group:
            others = group - {target}
            joined = tuple(sorted(c for c, f in families.items() if f & others))
            if others:
                groups.append(Group(tuple(sorted(others)), joined))
    return sorted(groups, key=lambda g: g.variables)


# 0 -> 2 <- 1, 2 -> 3: missing causes of a known effect meet; of a missing one they do only when
# something behind it is known.
@pytest.mark.parametrize(
    ("missing", "expected"),
    [
        ([1, 1, 0, 0], [Group((0, 1), (0, 1, 2))]),
        ([1, 0, 0, 1], [Group((0,), (0, 2))]),
        ([1, 1, 1, 0], [Group((0, 1, 2), (0, 1, 2, 3))]),
        ([1, 1, 1, 1], []),
        ([0, 0, 1, 1], []),
        ([0, 0, 0, 0], []),
    ],
)
def test_groups_by_hand(missing, expected):
    tables = binary_tables([[], [], [0, 1], [2]])
    assert [group for group, _ in find_groups(tables, rows_with([missing]))] == expected


@st.composite
def graphs_and_rows(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(1, 9))
    share = draw(st.sampled_from([0.2, 0.5, 0.9]))
    order = rng.permutation(n)
    parents = [[] for _ in range(n)]
    for later in range(n):
        for earlier in range(later):
            if rng.random() < 1.5 / n:
                parents[order[later]].append(int(order[earlier]))
    return parents, (rng.random((draw(st.integers(1, 20)), n)) < share).tolist()


@given(graphs_and_rows(), st.booleans())
def test_groups_by_definition(case, with_target):
    parents, missing = case
    target = 0 if with_target else None
    found = [[] for _ in missing]
    for group, positions in find_groups(binary_tables(parents), rows_with(missing), target):
        assert len(set(positions.tolist())) == len(positions)
        for row in positions:
            found[row].append(group)
    for groups, flags in zip(found, missing, strict=True):
        in_order = sorted(groups, key=lambda g: g.variables)
        assert in_order == by_definition(parents, flags, target)


# A chain whose hidden links are listed in an order that neither follows nor opposes it.
def test_long_chain_is_one_group():
    n = 200
    order = np.random.default_rng(3).permutation(n).tolist()
    parents = [[] for _ in range(n)]
    for earlier, later in pairwise(order):
        parents[later] = [earlier]
    missing = [v != order[-1] for v in range(n)]
    ((group, positions),) = find_groups(binary_tables(parents), rows_with([missing]))
    assert group.variables == tuple(v for v in range(n) if v != order[-1])
    assert group.families == tuple(range(n))
    assert positions.tolist() == [0]
