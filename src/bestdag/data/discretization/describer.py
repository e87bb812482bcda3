"""Reading a table to show what is in it, also columns that cannot be variables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.data.dataset import Dataset
from bestdag.data.discretization.cutter import Cutter
from bestdag.data.discretization.numbers import NumberTable
from bestdag.data.encode import RawColumn, ReadOptions, RefusedColumnError, coded_column
from bestdag.data.readers import read, read_cut
from bestdag.data.schema import MAX_ARITY

__all__ = ["Refused", "read_described"]


@dataclass(frozen=True, slots=True)
class Refused:
    """A column without values, or with more than a variable may have states.

    `span` holds the least and the greatest value where all are numbers.
    """

    is_empty: bool
    span: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Describer(Cutter):
    """Puts one state in the place of all values of a column that would be refused."""

    refused: dict[str, Refused] = field(default_factory=dict)

    def columns(
        self,
        table: NumberTable,
        names: Sequence[str],
        weights: npt.NDArray[Any] | None,
        options: ReadOptions,
    ) -> list[RawColumn]:
        return [self._column(table, name, options) for name in names]

    def _column(self, table: NumberTable, name: str, options: ReadOptions) -> RawColumn:
        try:
            (column,) = table.discrete([name])
            coded_column(column, options)
        except RefusedColumnError:
            found = table.numbers(name)
            absent = found.is_missing
            span = None
            if found.wrong is None and not absent.all():
                span = (float(np.nanmin(found.values)), float(np.nanmax(found.values)))
            self.refused[name] = Refused(bool(absent.all()), span)
            return RawColumn(name, ["any"], absent.astype(np.uint8), ("any",), owned=True)
        return column


def read_described(
    source: Any,
    *,
    missing_values: Iterable[str] = ("",),
    weights: str | None = None,
    drop: str | Iterable[str] | None = None,
    separator: str | None = None,
    sheet: str | None = None,
) -> tuple[Dataset, dict[str, Refused]]:
    """Read a table and what is in those of its columns that `read` refuses.

    The settings are those of `read`; missing cells are kept. In the Dataset a refused column has
    one state, and its missing cells.
    """
    settings: dict[str, Any] = {
        "missing": "keep",
        "missing_values": missing_values,
        "max_states": MAX_ARITY,
        "weights": weights,
        "drop": drop,
        "separator": separator,
        "sheet": sheet,
    }
    try:
        return read(source, **settings), {}
    except RefusedColumnError:
        describer = _Describer()
        table = read_cut(source, describer, states=None, columns=None, **settings)
        return table, describer.refused
