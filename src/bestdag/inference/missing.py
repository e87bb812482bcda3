"""Missing cells, summed out exactly: group by group of missing variables that meet."""

from __future__ import annotations

from collections.abc import Iterator
from math import log2

import numpy as np
import numpy.typing as npt

from bestdag.elimination import aligned, log_sum_product, plan_elimination
from bestdag.inference.log_tables import LogTables, Rows
from bestdag.inference.missing_groups import Group, find_groups
from bestdag.machine import require_memory

__all__ = ["add_sums"]

# Cells whose groups are found together (about 100 MiB), and log2 of the cells of the products that
# rows make together (32 MiB).
_BLOCK_CELLS = 1 << 23
_ROOMY = 22
# The axis of the rows; variables are called by their position.
_ROW = "row"

_Positions = npt.NDArray[np.intp]


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
    where = _rows_in_need(tables, rows, target)
    n_together = max(1, _BLOCK_CELLS // len(rows.columns))
    for first in range(0, len(where), n_together):
        chosen = where[first : first + n_together]
        part = rows.at(chosen)
        for group, positions in find_groups(tables, part, target):
            for here, sums in _group_sums(tables, part, group, positions, target):
                out[chosen[here]] += sums


def _rows_in_need(tables: LogTables, rows: Rows, target: int | None) -> _Positions:
    """Return the rows with a missing cell, or with one beside the target in some table."""
    near = range(len(rows.columns)) if target is None else tables.blanket(target)
    need = np.zeros(rows.n_rows, dtype=np.bool_)
    for variable in near:
        if rows.has_missing[variable]:
            need |= rows.missing(variable, tables.arities[variable])
    return np.flatnonzero(need)


def _group_sums(
    tables: LogTables, rows: Rows, group: Group, positions: _Positions, target: int | None
) -> Iterator[tuple[_Positions, npt.NDArray[np.float64]]]:
    """Sum a group out for these rows, some at a time: shape (rows, 1) or (rows, arity)."""
    axes = [tables.axes(family) for family in group.families]
    summed = {str(v) for v in group.variables}
    kept = [] if target is None else [str(target)]
    names = {name for each in axes for name in each}
    known = sorted(names - summed - set(kept))
    scopes = [{_ROW if name in known else name for name in each} for each in axes]
    sizes = {name: tables.arities[int(name)] for name in (*names, *kept)} | {_ROW: 1}
    plan = plan_elimination(scopes, [_ROW, *kept], sizes)
    if plan.log2_cells > _ROOMY:
        require_memory(
            "Network",
            f"the sum over {len(summed):,} missing variables that depend on each other",
            int(24 * 2.0 ** min(plan.log2_cells, 100.0)),  # a product, exponentials, parts
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
        fixed = [tables.at_rows(family, codes, _ROW) for family in group.families]
        yield here, aligned(log_sum_product(fixed, plan), [_ROW, *(kept or ["none"])])
