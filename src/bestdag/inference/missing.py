"""Missing cells, summed out exactly.

The missing variables of a row fall apart into groups: two belong together when they meet in a
table. Each group is summed out on its own, for all rows that have it, whatever else is missing in
them. A missing variable all of whose children are missing and left out too is left out: its
table sums to one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log2

import numpy as np
import numpy.typing as npt

from bestdag.elimination import aligned, at_rows, log_sum_product, plan_elimination
from bestdag.inference.log_tables import LogTables, Rows
from bestdag.machine import require_memory

__all__ = ["Group", "add_sums", "groups_of", "row_patterns"]

# Rows worked out together: their patterns of missing cells are sorted, and log2 of the cells of
# the products they make (32 MiB).
_BLOCK_ROWS = 1 << 18
_ROOMY = 22
# The axis of the rows; variables are called by their position.
_ROW = "row"

_Positions = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Group:
    """Missing variables that meet, the target apart, and the families they meet in."""

    variables: tuple[int, ...]
    families: tuple[int, ...]


def add_sums(
    tables: LogTables, rows: Rows, out: npt.NDArray[np.float64], *, target: int | None = None
) -> None:
    """Add to each row what the tables with missing cells in it sum to, as a logarithm.

    Parameters
    ----------
    tables : LogTables
        The network.
    rows : Rows
        Where the missing cells are.
    out : float64 array, shape (rows, 1) or (rows, arity of the target)
        What is added to.
    target : int, optional
        A variable that is never summed out; only what depends on it is added.

    Raises
    ------
    NotEnoughMemoryError
        If missing variables meet in a product that would not fit in memory.
    """
    for first in range(0, rows.n_rows, _BLOCK_ROWS):
        part = rows.part(first, first + _BLOCK_ROWS)
        found: dict[Group, list[_Positions]] = {}
        for pattern, positions in row_patterns(tables, part, target):
            for group in groups_of(tables, pattern, target):
                found.setdefault(group, []).append(positions)
        for group, listed in found.items():
            _add_group(tables, part, group, np.concatenate(listed), out[first:], target)


def row_patterns(
    tables: LogTables, rows: Rows, target: int | None = None
) -> Iterator[tuple[tuple[int, ...], _Positions]]:
    """List the sets of variables missing together, each with its rows; the target is not listed."""
    holes = [v for v, some in enumerate(rows.has_missing) if some and v != target]
    number = np.zeros(rows.n_rows, dtype=np.int64)
    for start in range(0, len(holes), 40):  # at most 2**22 numbers from before, 2**40 new ones
        bits = np.zeros(rows.n_rows, dtype=np.int64)
        for place, variable in enumerate(holes[start : start + 40]):
            bits |= rows.missing(variable, tables.arities[variable]).astype(np.int64) << place
        number = np.unique((number << 40) | bits, return_inverse=True)[1]
    order = np.argsort(number, kind="stable")
    ends = np.flatnonzero(np.diff(number[order])) + 1
    for positions in np.split(order, ends):
        row = int(positions[0])
        pattern = tuple(v for v in holes if _is_missing(tables, rows, v, row))
        if pattern:
            yield pattern, positions


def _is_missing(tables: LogTables, rows: Rows, variable: int, row: int) -> bool:
    column = rows.columns[variable]
    return column is None or int(column[row]) == tables.arities[variable]


def groups_of(
    tables: LogTables, missing: Sequence[int], target: int | None = None
) -> tuple[Group, ...]:
    """Divide missing variables into groups; with a target, only what it meets.

    Examples
    --------
    In a chain 0 -> 1 -> 2 -> 3 of which 1 and 3 are missing, 3 is left out and 1 stands alone,
    in its own table and in that of 2.

    >>> half = np.full((2, 2), 0.5)
    >>> chain = LogTables([half[0], half, half, half], [[], [0], [1], [2]])
    >>> groups_of(chain, [1, 3])
    (Group(variables=(1,), families=(1, 2)),)
    """
    absent = set(missing)
    needed = _needed(tables, absent, target)
    left = {target} if target is not None else set(needed)
    groups = []
    while left:
        waiting = [min(left)]
        variables: set[int] = set()
        families: set[int] = set()
        while waiting:
            variable = waiting.pop()
            if variable in variables:
                continue
            variables.add(variable)
            for family in tables.touching(variable):
                if family in absent and family not in needed:
                    continue
                met = [v for v in tables.families[family] if v in needed]
                waiting.extend(met)
                if any(v != target for v in met):
                    families.add(family)
        left -= variables
        if families:
            groups.append(Group(tuple(sorted(variables - {target})), tuple(sorted(families))))
    return tuple(groups)


def _needed(tables: LogTables, absent: set[int], target: int | None) -> set[int]:
    """Return the missing variables with a descendant that is not: their children keep them."""
    needed = set() if target is None else {target}
    waiting = [v for v in absent if any(c not in absent for c in tables.children[v])]
    while waiting:
        variable = waiting.pop()
        if variable not in needed:
            needed.add(variable)
            waiting.extend(v for v in tables.families[variable][:-1] if v in absent)
    return needed


def _add_group(
    tables: LogTables,
    rows: Rows,
    group: Group,
    positions: _Positions,
    out: npt.NDArray[np.float64],
    target: int | None,
) -> None:
    factors = [tables.factor(family) for family in group.families]
    summed = {str(v) for v in group.variables}
    kept = [] if target is None else [str(target)]
    names = {name for factor in factors for name in factor.axes}
    known = sorted(names - summed - set(kept))
    scopes = [{_ROW if name in known else name for name in f.axes} for f in factors]
    sizes = {str(v): arity for v, arity in enumerate(tables.arities)} | {_ROW: 1}
    plan = plan_elimination(scopes, [_ROW, *kept], sizes)
    require_memory(
        "Network",
        f"the sum over {len(summed):,} missing variables that depend on each other",
        int(24 * 2.0 ** min(plan.log2_cells, 100.0)),  # a product, its exponentials, its parts
        "leave out rows with many missing cells, or use a network with fewer arcs",
    )
    n_together = max(1, int(2 ** min(log2(len(positions)), _ROOMY - plan.log2_cells)))
    for first in range(0, len(positions), n_together):
        here = positions[first : first + n_together]
        codes = {}
        for name in known:
            column = rows.columns[int(name)]
            assert column is not None  # absent columns are missing in every row
            codes[name] = column[here].astype(np.intp)
        fixed = [at_rows(factor, codes, _ROW) for factor in factors]
        out[here] += aligned(log_sum_product(fixed, plan), [_ROW, *(kept or ["none"])])
