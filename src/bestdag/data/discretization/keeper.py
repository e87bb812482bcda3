"""Reading a table for later cutting: discrete columns as they are, number columns as numbers."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.data.dataset import Dataset
from bestdag.data.discretization.cutter import Cutter
from bestdag.data.discretization.numbers import NumberTable
from bestdag.data.encode import RawColumn, ReadOptions
from bestdag.data.readers import read_cut
from bestdag.errors import DataWarning, unknown_name

__all__ = ["RawTable", "read_raw"]


@dataclass(frozen=True, slots=True)
class RawTable:
    """A table whose number columns are not cut yet.

    Attributes
    ----------
    names : tuple of str
        All columns in the order of the table.
    dataset : Dataset
        The discrete columns. Missing cells are kept.
    numbers : mapping of name to array of float64
        The number columns, NaN where a cell is missing.
    """

    names: tuple[str, ...]
    dataset: Dataset
    numbers: dict[str, npt.NDArray[np.float64]]

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """Return every column: numbers, or labels with None where a cell is missing."""
        return {name: self.column(name) for name in self.names}

    def column(self, name: str) -> npt.NDArray[Any]:
        """Return one column: numbers, or labels with None where a cell is missing."""
        if name in self.numbers:
            return self.numbers[name]
        labels = np.array([*self.dataset.variable(name).states, None], dtype=object)
        taken: npt.NDArray[Any] = labels[self.dataset.codes(name)]
        return taken

    def is_missing(self) -> npt.NDArray[np.bool_]:
        """Return for each row whether a cell is missing."""
        found = np.zeros(self.dataset.n_rows, bool)
        for name in self.names:
            found |= self.is_missing_in(name)
        return found

    def is_missing_in(self, name: str) -> npt.NDArray[np.bool_]:
        """Return for each row whether its cell of one column is missing."""
        if name in self.numbers:
            return np.isnan(self.numbers[name])
        return self.dataset.missing(name)

    def rows(self, kept: npt.NDArray[np.bool_]) -> RawTable:
        """Return some of the rows."""
        numbers = {name: values[kept] for name, values in self.numbers.items()}
        return RawTable(self.names, self.dataset.select(rows=kept), numbers)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Keeper(Cutter):
    """Keeps the numbers of columns that would be cut, and all names."""

    max_values: int
    names: list[str] = field(default_factory=list)
    kept: dict[str, npt.NDArray[np.float64]] = field(default_factory=dict)

    def columns(
        self,
        table: NumberTable,
        names: Sequence[str],
        weights: npt.NDArray[Any] | None,
        options: ReadOptions,
    ) -> list[RawColumn]:
        if self.target not in names:
            raise unknown_name("column", str(self.target), names, who=f"read: {options.source}")
        rule = replace(options, max_states=self.max_values)
        for name in names:
            if self._is_cut(table, name, rule):
                self.kept[name] = table.numbers(name).values
        self.names.extend(names)
        return table.discrete([name for name in names if name not in self.kept])


def read_raw(
    source: Any,
    *,
    target: str,
    max_values: int,
    missing_values: Iterable[str] = ("",),
    max_states: int = 50,
    drop: str | Iterable[str] | None = None,
    separator: str | None = None,
    sheet: str | None = None,
) -> RawTable:
    """Read a table without cutting its numbers; the settings are those of `read`.

    A column other than the target is one of numbers when all its values are, and one of them is
    not whole or they are more than `max_values`.
    """
    keeper = _Keeper(target=target, max_values=max_values)
    with warnings.catch_warnings():
        # A column may well be constant in rows that are only to be predicted.
        warnings.filterwarnings("ignore", message=".*(has|have) one state", category=DataWarning)
        dataset = read_cut(
            source,
            keeper,
            states=None,
            missing="keep",
            missing_values=missing_values,
            max_states=max_states,
            weights=None,
            columns=None,
            drop=drop,
            separator=separator,
            sheet=sheet,
        )
    return RawTable(tuple(keeper.names), dataset, keeper.kept)
