"""Counts of one family: what every score and estimator works on."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bestdag.data.schema import Variable
from bestdag.errors import DataError

__all__ = ["FamilyCounts"]


@dataclass(frozen=True, slots=True, eq=False)
class FamilyCounts:
    """How often each state of a child occurs with each parent configuration that occurs.

    Entry (j, k) of `table` is :math:`N_{jk}`, the number of cases with parent configuration j and
    state k of the child; everything that a score or an estimator knows of the data is in it.
    Configurations that no row has are not listed, since their number grows exponentially with that
    of the parents: `n_configurations` says how many there are.

    Parameters
    ----------
    child : Variable
    parents : tuple of Variable
        In name order.
    configurations : array of shape (m, number of parents)
        The observed parent configurations, as codes, in lexicographic order.
    table : array of shape (m, arity of the child)
        The counts; ``int64``, or ``float64`` where row weights are not whole numbers. No row
        is all zero, except that of a family counted over nothing.
    n_configurations : float
        How many parent configurations there are, seen or not: the product of the parents'
        arities, 1 without parents. A float, because it may exceed 2**64.

    Examples
    --------
    >>> counts = FamilyCounts.of([[3, 1], [0, 2]], n_configurations=4)
    >>> counts.arity, counts.n_observed, counts.n_configurations, counts.total
    (2, 2, 4.0, 6)
    """

    child: Variable
    parents: tuple[Variable, ...]
    configurations: npt.NDArray[np.uint16]
    table: npt.NDArray[np.int64] | npt.NDArray[np.float64]
    n_configurations: float

    @classmethod
    def of(cls, table: npt.ArrayLike, *, n_configurations: float | None = None) -> FamilyCounts:
        """Make counts from a plain table: for values by hand, and for scores of one's own.

        Parameters
        ----------
        table : array_like, configurations x states
            One row per observed configuration, finite numbers >= 0.
        n_configurations : float, optional
            How many configurations there are, at least as many as rows; as many unless given.

        Returns
        -------
        FamilyCounts
            The child's states are called "0", "1", ... and one parent called "parent" numbers the
            configurations; with a single configuration there is no parent.

        Raises
        ------
        DataError
            If the table is no such table, or has more rows than there are configurations.
        """
        cells = np.array(table)
        if cells.ndim != 2 or 0 in cells.shape:
            raise DataError(
                f"counts: a table of counts has one row per configuration and one column per "
                f"state, got shape {cells.shape}"
            )
        if not (np.isfinite(cells).all() and (cells >= 0).all()):
            raise DataError("counts: every count must be a finite number >= 0")
        n_rows, arity = cells.shape
        q = float(n_rows if n_configurations is None else n_configurations)
        if not q >= n_rows:
            raise DataError(
                f"counts: {n_rows} configurations were seen, more than the {q} there are"
            )
        cells = cells.astype(np.int64 if np.equal(cells, np.floor(cells)).all() else np.float64)
        child = Variable("child", tuple(str(k) for k in range(arity)))
        if q == 1:
            return cls(child, (), np.zeros((1, 0), np.uint16), cells, q)
        parent = Variable("parent", tuple(str(j) for j in range(max(2, n_rows))))
        return cls(child, (parent,), np.arange(n_rows, dtype=np.uint16)[:, None], cells, q)

    @property
    def arity(self) -> int:
        """Number of states of the child, r, whether they occur or not."""
        return int(self.table.shape[1])

    @property
    def n_observed(self) -> int:
        """Number of parent configurations that occur, at most `n_configurations`."""
        return int(self.table.shape[0])

    @property
    def row_totals(self) -> npt.NDArray[np.int64] | npt.NDArray[np.float64]:
        r"""Count of each observed configuration, :math:`N_j = \sum_k N_{jk}`."""
        totals: npt.NDArray[np.int64] | npt.NDArray[np.float64] = self.table.sum(axis=1)
        return totals

    @property
    def total(self) -> int | float:
        r"""All that was counted, :math:`N = \sum_{jk} N_{jk}`."""
        if self.table.dtype == np.int64:
            return int(self.table.sum())
        return math.fsum(self.table.ravel())

    def __repr__(self) -> str:
        condition = f" | {', '.join(p.name for p in self.parents)}" if self.parents else ""
        return (
            f"<FamilyCounts {self.child.name}{condition}: {self.n_observed:,} of "
            f"{self.n_configurations:,.6g} configurations, N = {self.total:,}>"
        )
