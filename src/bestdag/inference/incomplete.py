"""Rows with missing values, ready for native work: equal rows once, variables in name order."""

from __future__ import annotations

from collections.abc import Sequence
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
from bestdag.machine import thread_count
from bestdag.scores.engine import FamilySupport
from bestdag.scores.support import Support

__all__ = ["IncompleteRows"]

_Codes = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]

# Row numbers are 32 bits wide inside the kernels.
_MAX_ROWS = 2**31 - 1


class IncompleteRows:
    """The rows of a data set, in which any cell may be missing; equal rows are kept once.

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
        kept = sums if is_real else sums.astype(np.int64)
        self.table = _core.Table(len(rows), self.columns, arities, kept)

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
