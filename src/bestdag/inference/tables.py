"""The tables of a network in one array, as native code has them, and their logarithms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.data.schema import Variable
from bestdag.factors import Factor, at_rows
from bestdag.inference.sparse_table import SparseTable
from bestdag.machine import require_memory, thread_count

__all__ = ["Codes", "FlatTables", "LogTables", "RowResult", "Rows"]

_Floats = npt.NDArray[np.float64]


class FlatTables:
    """Where each table begins and how it is divided into rows, one per parent configuration.

    Parameters
    ----------
    variables : sequence of Variable
        In name order.
    parents : sequence of sequences of int
        The parents of each variable, ascending; the last varies fastest, and the states of the
        child faster still.

    Examples
    --------
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> tables = FlatTables([rain, wet], [[], [0]])
    >>> tables.normalized(np.array([3.0, 1.0, 0.0, 0.0, 1.0, 1.0])).tolist()
    [0.75, 0.25, 0.5, 0.5, 0.5, 0.5]
    """

    def __init__(self, variables: Sequence[Variable], parents: Sequence[Sequence[int]]) -> None:
        self.variables = tuple(variables)
        self.parents = tuple(tuple(group) for group in parents)
        arities = [variable.arity for variable in self.variables]
        n_rows = [prod(arities[p] for p in group) for group in self.parents]
        sizes = [rows * arity for rows, arity in zip(n_rows, arities, strict=True)]
        self.ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        self.lengths = np.repeat(arities, n_rows)  # of the rows of all tables
        self._starts = np.concatenate([[0], np.cumsum(self.lengths)[:-1]]).astype(np.intp)

    @property
    def n_cells(self) -> int:
        """Cells of all tables."""
        return int(self.ends[-1])

    def of(self, values: _Floats, variable: int) -> _Floats:
        """Return the table of one variable: a row for each configuration of its parents."""
        cells = values[self.ends[variable] : self.ends[variable + 1]]
        return cells.reshape(-1, self.variables[variable].arity)

    def row_sums(self, values: _Floats) -> _Floats:
        """Return the sum of every row."""
        sums: _Floats = np.add.reduceat(values, self._starts)
        return sums

    def normalized(self, values: _Floats) -> _Floats:
        """Scale every row to sum to 1; a row of zeros becomes uniform."""
        sums = self.row_sums(values)
        empty = sums == 0
        if empty.any():
            values = np.where(np.repeat(empty, self.lengths), 1.0, values)
            sums = np.where(empty, self.lengths, sums)
        scaled: _Floats = values / np.repeat(sums, self.lengths)
        return scaled


Codes = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]
RowResult = Literal["sum", "log share", "share"]
# Stands for the column of the target, which is not looked at (RowTable::kTarget).
_TARGET = 0xFFFFFFFF


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows of codes in the order of a network's variables.

    A code equal to the arity is a missing value. A column that is None is missing everywhere.
    """

    n_rows: int
    columns: tuple[Codes | None, ...]
    has_missing: tuple[bool, ...]

    def part(self, first: int, last: int) -> Rows:
        """Return some rows, over the same arrays."""
        columns = tuple(None if c is None else c[first:last] for c in self.columns)
        return Rows(min(last, self.n_rows) - first, columns, self.has_missing)

    def at(self, positions: npt.NDArray[np.intp]) -> Rows:
        """Return some rows, copied."""
        columns = tuple(None if c is None else c[positions] for c in self.columns)
        return Rows(len(positions), columns, self.has_missing)

    def missing(self, variable: int, arity: int) -> npt.NDArray[np.bool_]:
        """Which cells of a column are missing."""
        column = self.columns[variable]
        if column is None:
            return np.ones(self.n_rows, dtype=np.bool_)
        return np.asarray(column == arity)


class LogTables:
    r"""Natural logarithms of the tables of a network; variables are known by position.

    Parameters
    ----------
    tables : sequence of float64 arrays and sparse tables
        One per variable, of shape (\*parent arities, arity). They are read here and not held.
    parents : sequence of sequences of int
        Positions of the parents of each variable, in the order of the axes of its table.

    Raises
    ------
    NotEnoughMemoryError
        If the logarithms would not fit in memory.
    """

    def __init__(
        self, tables: Sequence[_Floats | SparseTable], parents: Sequence[Sequence[int]]
    ) -> None:
        n_bytes = sum(table.nbytes for table in tables)
        require_memory("Network", "the logarithms of its tables", n_bytes, "use a smaller network")
        with np.errstate(divide="ignore"):  # ln 0 is minus infinity
            self._values = tuple(
                table.with_rows(np.log(table.rows))
                if isinstance(table, SparseTable)
                else np.log(table)
                for table in tables
            )
        self.arities = tuple(
            table.arity if isinstance(table, SparseTable) else table.shape[-1] for table in tables
        )
        self.families = tuple((*group, child) for child, group in enumerate(parents))
        children: list[list[int]] = [[] for _ in tables]
        for child, group in enumerate(parents):
            for parent in group:
                children[parent].append(child)
        self.children = tuple(map(tuple, children))
        self.order = self._parents_first()

    def _parents_first(self) -> tuple[int, ...]:
        waiting = [len(family) - 1 for family in self.families]
        order = [v for v, n in enumerate(waiting) if n == 0]
        for variable in order:  # grows while it is read
            for child in self.children[variable]:
                waiting[child] -= 1
                if waiting[child] == 0:
                    order.append(child)
        return tuple(order)

    def axes(self, family: int) -> tuple[str, ...]:
        """Name the axes of one table; those of length 1 say nothing and are left out."""
        return tuple(str(v) for v in self.families[family] if self.arities[v] > 1)

    def sparse(self, family: int) -> SparseTable | None:
        """Return one table if it is sparse."""
        values = self._values[family]
        return values if isinstance(values, SparseTable) else None

    def at_rows(self, family: int, codes: Mapping[str, npt.NDArray[np.intp]], row: str) -> Factor:
        """Fix axes of one table to the codes of many rows; `row` names the new axis.

        Of a sparse table only what the codes leave open is made.
        """
        axes = self.axes(family)
        values = self._values[family]
        if not isinstance(values, SparseTable):
            whole = Factor(axes, values.reshape([self.arities[int(name)] for name in axes]))
            return at_rows(whole, codes, row)
        fixed = {i: codes[str(v)] for i, v in enumerate(self.families[family]) if str(v) in codes}
        rest = tuple(name for name in axes if name not in codes)
        rows = values.at_rows(fixed)
        return Factor((row, *rest), rows) if fixed else Factor(rest, rows[0])

    def touching(self, target: int) -> tuple[int, ...]:
        """Return the families of a variable: its own and those of its children."""
        return (target, *self.children[target])

    def blanket(self, target: int) -> list[int]:
        """Return the variables that meet a variable in some table: its Markov blanket."""
        return sorted({v for f in self.touching(target) for v in self.families[f]} - {target})

    def add(
        self,
        rows: Rows,
        out: _Floats,
        *,
        target: int | None = None,
        result: RowResult = "sum",
        families: Sequence[int] | None = None,
        threads: int | None = None,
    ) -> None:
        """Add to each row the tables that have no missing value in it; natively.

        Parameters
        ----------
        rows : Rows
            What to look up.
        out : float64 array, shape (rows, 1) or (rows, arity of the target)
            Where the sums start, and the result.
        target : int, optional
            Add only the families of this variable, for each of its states. Its own column is
            not looked at. By default all families.
        result : {"sum", "log share", "share"}
            The sums, or the (logarithms of the) shares of the states.
        families : sequence of int, optional
            Without a target, add only the tables of these variables.
        threads : int, optional
            Threads to use; by default one per processor.
        """
        absent = {v for v, column in enumerate(rows.columns) if column is None} - {target}
        if families is None:
            every = range(len(self.families))
            families = every if target is None else self.touching(target)
        families = [f for f in families if absent.isdisjoint(self.families[f])]
        used = sorted({v for family in families for v in self.families[family]} - {target})
        place = {variable: i for i, variable in enumerate(used)}
        lookups = [self._lookup(family, target, place) for family in families]
        data = _core.Table(
            rows.n_rows, [rows.columns[v] for v in used], [self.arities[v] for v in used], None
        )
        _core.sum_row_tables(
            data,
            [values for values, _, _ in lookups],
            [columns for _, columns, _ in lookups],
            [strides for _, _, strides in lookups],
            [getattr(self._values[family], "finder", None) for family in families],
            [self.arities[family] for family in families],
            np.array([rows.has_missing[v] for v in used], dtype=np.uint8),
            result,
            out,
            thread_count(threads, who="Network"),
        )

    def _lookup(
        self, family: int, target: int | None, place: dict[int, int]
    ) -> tuple[_Floats, npt.NDArray[np.uint32], npt.NDArray[np.uint64]]:
        """Return values with the target's states last, columns and how far their codes reach."""
        members = self.families[family]
        values = self._values[family]
        if isinstance(values, SparseTable):
            columns = [_TARGET if v == target else place[v] for v in members]
            none: npt.NDArray[np.uint64] = np.empty(0, dtype=np.uint64)
            return values.rows.reshape(-1), np.array(columns, dtype=np.uint32), none
        others = [v for v in members if v != target]
        if target is not None:
            values = np.ascontiguousarray(np.moveaxis(values, members.index(target), -1))
        inner = 1 if target is None else self.arities[target]
        sizes = [self.arities[v] for v in others]
        strides = [inner * prod(sizes[i + 1 :]) for i in range(len(sizes))]
        return (
            values.reshape(-1),
            np.array([place[v] for v in others], dtype=np.uint32),
            np.array(strides, dtype=np.uint64),
        )
