"""The tables of a network one after the other in one array, as native code has them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
import numpy.typing as npt

from bestdag.data.schema import Variable

__all__ = ["FlatTables"]

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
