"""Where counts come from: one question, answered by whoever holds the rows."""

from __future__ import annotations

from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from bestdag.data.schema import Variable
from bestdag.errors import NotEnoughMemoryError

__all__ = ["CountProvider", "FamilyArrays", "ObservedCounts", "RowsIn", "too_many_cells"]

RowsIn = Literal["memory", "disk", "cluster"]

# Families by number: children, where the parents of each end, all parents.
FamilyArrays = tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], npt.NDArray[np.int32]]

# The observed configurations of one family, as codes, in lexicographic order, and a row of counts
# for each: int64, or float64 where row weights are not whole numbers.
ObservedCounts = tuple[npt.NDArray[np.uint16], npt.NDArray[np.int64] | npt.NDArray[np.float64]]


class CountProvider(Protocol):
    """Counts of these families, please.

    Attributes
    ----------
    variables : tuple of Variable
        In name order; their places are the numbers of families.
    n_rows : int
        Rows held, wherever they are.
    total_weight : int or float
        The number N of cases.
    has_real_weights : bool
        Whether weights are not whole numbers; counts are then float64.
    rows_in : {"memory", "disk", "cluster"}
        Where they are.
    passes : int
        How often all rows were read so far.
    workers : int
        How many processes hold rows; 1 where it is this one.
    """

    variables: tuple[Variable, ...]
    n_rows: int
    total_weight: int | float
    has_real_weights: bool
    rows_in: RowsIn
    passes: int
    workers: int

    def count(self, families: FamilyArrays, *, max_cells: float) -> list[ObservedCounts]:
        """Count families, all in one pass over the rows if memory allows it.

        Parameters
        ----------
        families : arrays
            By numbers in name order, parents ascending. In a column with missing values these are
            one more state, the last.
        max_cells : float
            Cells that the observed counts of one family may have; more is a
            `NotEnoughMemoryError`.
        """
        ...


def too_many_cells() -> NotEnoughMemoryError:
    """Say that the counts of a family do not fit."""
    return NotEnoughMemoryError(
        "counts: the observed configurations of a family do not fit into memory; "
        "use fewer parents, or score the family instead of counting it"
    )
