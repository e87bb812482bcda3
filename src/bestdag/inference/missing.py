"""Missing values, summed out exactly: group by group of missing variables that meet."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from bestdag.inference.log_tables import LogTables, Rows
from bestdag.inference.missing_groups import Group, find_groups
from bestdag.inference.sums import Sums

__all__ = ["add_sums"]

# Cells whose groups are found together (about 100 MiB), and log2 of the rows that are then.
_BLOCK_CELLS = 1 << 23
_ROOMY = 22

_Positions = npt.NDArray[np.intp]


def add_sums(
    tables: LogTables, rows: Rows, out: npt.NDArray[np.float64], *, target: int | None = None
) -> None:
    """Add to each row what the tables with missing values in it sum to, as a logarithm.

    Parameters
    ----------
    tables : LogTables
        The network.
    rows : Rows
        Where the missing values are.
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
    """Return the rows with a missing value, or with one beside the target in some table."""
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
    members = {v for family in group.families for v in tables.families[family]}
    known = sorted(members - set(group.variables) - {target})
    n_together = 1 << _ROOMY
    for first in range(0, len(positions), n_together):
        here = positions[first : first + n_together]
        codes = {}
        for variable in known:
            column = rows.columns[variable]
            assert column is not None  # absent columns are missing in every row
            codes[variable] = column[here].astype(np.intp)
        summed = frozenset(group.variables)
        yield here, Sums(tables, group.families, summed, codes, len(here), target).logs()
