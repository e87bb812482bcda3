"""Rows for native work: equal rows once, their probability, and what they say about a variable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.counts.engine import CountingEngine
from bestdag.data.checks import code_type
from bestdag.data.dataset import Dataset
from bestdag.data.schema import Variable
from bestdag.errors import DataError
from bestdag.inference.missing import add_sums
from bestdag.inference.tables import LogTables, Rows
from bestdag.machine import require_memory, thread_count
from bestdag.scores.engine import FamilySupport
from bestdag.scores.support import Support
from bestdag.wording import by_reader

__all__ = ["IncompleteRows", "log_marginal", "log_probabilities", "most_probable", "posteriors"]

_Codes = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]

# Bytes for each cell of the largest group: the product, its place in each family, messages.
_BYTES_PER_CELL = 64
# Row numbers are 32 bits wide inside the kernels.
_MAX_ROWS = 2**31 - 1


class IncompleteRows:
    """The rows of a data set, in which any value may be missing; equal rows are held once.

    Parameters
    ----------
    dataset : Dataset
    variables : sequence of Variable
        In any order. One that the data do not have is missing in every row.
    threads : int, optional
        Threads for native work; every processor by default.
    who : str
        Whom messages name.
    keep_weightless : bool
        Keep rows of weight zero, which otherwise are left out: nothing can be said of them.

    Attributes
    ----------
    dataset : Dataset
        The rows that are there.
    variables : tuple of Variable
        In name order; their places are the numbers that native code knows them by.
    table : _core.Table
        The different rows, in lexicographic order, with their weights.
    number : array of uint32
        Which of them each row of the data is.

    Examples
    --------
    >>> from bestdag.data.readers import read
    >>> data = read({"a": ["x", "", "x", "y"], "b": ["0", "1", "0", "1"]}, missing="keep")
    >>> rows = IncompleteRows(data, data.variables, who="example")
    >>> rows.n_distinct, rows.number.tolist()
    (3, [0, 2, 0, 1])
    """

    def __init__(
        self,
        dataset: Dataset,
        variables: Sequence[Variable],
        *,
        threads: int | None = None,
        who: str,
        keep_weightless: bool = False,
    ) -> None:
        if dataset.weights is not None and not keep_weightless and not dataset.weights.all():
            dataset = dataset.select(rows=dataset.weights > 0)
        if dataset.n_rows > _MAX_ROWS:
            raise DataError(
                f"{who}: at most {_MAX_ROWS:,} rows can be used, got {dataset.n_rows:,}; "
                "collapse identical rows into one with a weight"
            )
        self.dataset = dataset
        self.threads = thread_count(threads, who=who)
        self.variables = tuple(sorted(variables, key=lambda v: v.name))
        columns: list[Any] = [self._column(variable) for variable in self.variables]
        arities = [variable.arity for variable in self.variables]
        weights = dataset.weights
        order = None
        if weights is not None and weights.dtype == np.float64:
            # Sums of real numbers depend on their order: bring the rows into one of their own.
            order = np.lexsort((weights, *reversed(columns)))
            columns = [column[order] for column in columns]
            weights = weights[order]
        every = _core.Table(dataset.n_rows, columns, arities, weights)
        rows, sums, number = _core.distinct_rows(every, self.threads)
        self.columns: list[Any] = [column[rows] for column in columns]
        self.weights = sums
        self.number: npt.NDArray[np.uint32] = number
        if order is not None:
            self.number = np.empty_like(number)
            self.number[order] = number
        is_real = weights is not None and weights.dtype == np.float64
        total_weights = sums if is_real else sums.astype(np.int64)
        self.table = _core.Table(len(rows), self.columns, arities, total_weights)

    def family_support(self, support: Support) -> FamilySupport:
        """Say which families have support by what the rows show; missing counts as a value."""
        return FamilySupport(self._shown, support)

    @cached_property
    def _shown(self) -> CountingEngine:
        return CountingEngine(self.dataset, missing="available", threads=self.threads)

    def _column(self, variable: Variable) -> _Codes:
        if variable.name in self.dataset.arities:
            return self.dataset.codes(variable.name)
        kind: Any = code_type(variable.arity)
        return np.full(self.dataset.n_rows, variable.arity, dtype=kind)

    @property
    def n_distinct(self) -> int:
        """Number of different rows."""
        return len(self.weights)

    @cached_property
    def hidden(self) -> tuple[str, ...]:
        """Variables without a single value, though they have several states."""
        return tuple(
            variable.name
            for variable, column in zip(self.variables, self.columns, strict=True)
            if variable.arity > 1 and bool((column == variable.arity).all())
        )

    @cached_property
    def by_kind(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]:
        """The rows of the data by what they are: where each kind begins, and the rows."""
        order = np.argsort(self.number, kind="stable").astype(np.uint32)
        sizes = np.bincount(self.number, minlength=self.n_distinct)
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint64), order

    def groups(
        self,
        parents: Sequence[Sequence[int]],
        *,
        whole: bool,
        with_rows: bool = False,
        seconds: float = inf,
    ) -> _core.MissingGroups:
        """Find the groups of missing values under a structure.

        Parameters
        ----------
        parents : sequence of sequences of int
            The parents of each variable, ascending.
        whole : bool
            Whether missing values that nothing known depends on belong to the groups.
        with_rows : bool
            Keep which rows have which group.
        seconds : float
            Time for it; then `_core.OutOfTimeError` is raised.
        """
        return _core.MissingGroups(
            self.table,
            [variable.arity for variable in self.variables],
            [[*group, child] for child, group in enumerate(parents)],
            whole,
            with_rows,
            seconds,
            self.threads,
        )

    def group_bytes(self, groups: _core.MissingGroups) -> float:
        """Return the memory for one pass over groups of missing values, by all threads."""
        return _BYTES_PER_CELL * groups.largest * self.threads

    def require_groups(self, groups: _core.MissingGroups, who: str, remedy: str) -> None:
        """Refuse groups of missing values whose product would not fit in memory."""
        require_memory(
            who,
            f"{groups.largest:,.6g} states of missing values that depend on each other",
            int(min(self.group_bytes(groups), 1e30)),
            remedy,
        )


_Floats = npt.NDArray[np.float64]

# Cells of the table of posteriors that only the most probable state is taken from (32 MiB).
_BLOCK_CELLS = 1 << 22


def log_probabilities(tables: LogTables, rows: Rows, *, threads: int | None = None) -> _Floats:
    """Return the logarithm of the probability of what each row shows.

    Examples
    --------
    >>> tables = LogTables([np.array([0.8, 0.2]), np.array([[0.9, 0.1], [0.0, 1.0]])], [[], [0]])
    >>> rain, wet = np.array([0, 1, 2], np.uint8), np.array([1, 0, 1], np.uint8)  # 2 is missing
    >>> np.exp(log_probabilities(tables, Rows(3, (rain, wet), (True, False)))).round(6)
    array([0.08, 0.  , 0.28])
    """
    what = f"the answer for {rows.n_rows:,} rows"
    require_memory("log_probability", what, rows.n_rows * 8, "use fewer rows at a time")
    out = np.zeros((rows.n_rows, 1))
    if any(rows.has_missing):
        add_sums(tables, rows, out)
    tables.add(rows, out, threads=threads)
    return out[:, 0]


def posteriors(
    tables: LogTables,
    rows: Rows,
    target: int,
    *,
    log: bool = False,
    threads: int | None = None,
) -> _Floats:
    """Return the distribution of one variable given the other cells of each row.

    A row is NaN where every state of the target has probability zero beside the cells that it
    depends on.

    Examples
    --------
    >>> tables = LogTables([np.array([0.8, 0.2]), np.array([[0.9, 0.1], [0.0, 1.0]])], [[], [0]])
    >>> wet = np.array([0, 1, 2], np.uint8)
    >>> posteriors(tables, Rows(3, (None, wet), (True, True)), 0).round(6)
    array([[1.      , 0.      ],
           [0.285714, 0.714286],
           [0.8     , 0.2     ]])
    """
    arity = tables.arities[target]
    require_memory(
        "predict_proba",
        f"the answer for {rows.n_rows:,} rows and {arity:,} states",
        rows.n_rows * arity * 8,
        f"use fewer rows at a time{by_reader(', or predict()', '')}",
    )
    out = np.zeros((rows.n_rows, arity))
    if any(some for v, some in enumerate(rows.has_missing) if v != target):
        add_sums(tables, rows, out, target=target)
    tables.add(rows, out, target=target, result="log share" if log else "share", threads=threads)
    return out


def most_probable(
    tables: LogTables, rows: Rows, target: int, *, threads: int | None = None
) -> Iterator[tuple[int, npt.NDArray[np.intp], npt.NDArray[np.bool_]]]:
    """Go through the rows in blocks: the first row, the most probable states, impossible rows.

    Ties go to the first state. Rows that are impossible have no meaningful state.
    """
    n_together = max(1, _BLOCK_CELLS // tables.arities[target])
    for first in range(0, rows.n_rows, n_together):
        logs = posteriors(
            tables, rows.part(first, first + n_together), target, log=True, threads=threads
        )
        yield first, logs.argmax(axis=1), np.isnan(logs[:, 0])


def log_marginal(tables: LogTables, target: int) -> _Floats:
    """Return the logarithm of the distribution of one variable when nothing else is known."""
    n_variables = len(tables.arities)
    nothing = Rows(1, (None,) * n_variables, (True,) * n_variables)
    logs: _Floats = posteriors(tables, nothing, target, log=True)[0]
    return logs
