"""A table as its source gives it: the one thing that `read`, `discretize` and classifiers work on.

A file, a relation and a table in memory are all opened as a `RawTable` (see `opening.py`). It
gives columns as numbers, or as positions in their distinct values, and decides nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bestdag.data.labels import number_in
from bestdag.data.schema import Variable

__all__ = ["Numbers", "RawColumn", "RawTable", "without_marks"]

_BOOLEAN = {bool, np.bool_, type(None)}


@dataclass(frozen=True, slots=True)
class RawColumn:
    """A column as positions in its distinct values.

    `codes` are positions in `values`; any position past the end is a missing value. `declared`
    are states the source itself declares, in order; `variable` is what the column was before.
    Codes that are `owned` may be overwritten.
    """

    name: str
    values: Sequence[Any]
    codes: npt.NDArray[Any]
    declared: tuple[str, ...] | None = None
    variable: Variable | None = None
    owned: bool = False

    @property
    def has_fixed_states(self) -> bool:
        """Whether the states do not depend on which values are seen."""
        types = set(map(type, self.values))
        return self.declared is not None or bool(types & {bool, np.bool_} and types <= _BOOLEAN)


@dataclass(frozen=True, slots=True)
class Numbers:
    """A column as float64, NaN where a value is missing.

    `wrong` is the first cell that is no number, with its row, if there is one; `is_wrong` says
    which cells are such. `is_text` says that numbers were spelled in text.
    """

    values: npt.NDArray[np.float64]
    wrong: tuple[int, Any] | None = None
    is_wrong: npt.NDArray[np.bool_] | None = None
    is_text: bool = False

    @property
    def is_missing(self) -> npt.NDArray[np.bool_]:
        """Which values are missing."""
        absent = np.isnan(self.values)
        return absent if self.is_wrong is None else absent & ~self.is_wrong


class RawTable(Protocol):
    """The columns of a table that are read, and the weights of its rows."""

    @property
    def names(self) -> Sequence[str]:
        """The columns, in order; the one with the weights is not among them."""
        ...

    def weights(self) -> npt.NDArray[Any] | None:
        """How often each row counts."""
        ...

    def has_declared_states(self, name: str) -> bool:
        """Whether the source itself says what the states of a column are."""
        ...

    def numbers(self, name: str) -> Numbers:
        """One column as numbers."""
        ...

    def discrete(self, names: Sequence[str]) -> list[RawColumn]:
        """Columns as positions in their distinct values."""
        ...


def without_marks(
    values: npt.NDArray[np.float64], missing_values: Collection[str]
) -> npt.NDArray[np.float64]:
    """Make NaN of the numbers that mark missing values, however they are written."""
    found = [number_in(mark) for mark in sorted(missing_values)]
    marks = [number for number in found if number is not None]
    return np.where(np.isin(values, marks), np.nan, values) if marks else values
