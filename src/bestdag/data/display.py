"""How a Dataset prints itself, as a line of text and in a notebook."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bestdag.tabular import Table, html_of, shown_text
from bestdag.wording import aligned, count_of

if TYPE_CHECKING:
    from bestdag.data.dataset import Dataset

__all__ = ["first_rows_text", "html_table", "labels", "summary"]

_SHOWN_VARIABLES = 8
_SHOWN_ROWS = 8
_SHOWN_COLUMNS = 19


def summary(data: Dataset) -> str:
    """Rows, columns, the first variables with their arities, weights and missing values."""
    shown = ", ".join(f"{_line(v.name)}[{v.arity}]" for v in data.variables[:_SHOWN_VARIABLES])
    more = ", ..." if data.n_variables > _SHOWN_VARIABLES else ""
    text = f"{count_of(data.n_rows, 'row')}, {count_of(data.n_variables, 'variable')}: "
    text += shown + more
    if data.weights is not None:
        text += f"; total weight {data.total_weight:,}"
    if data.has_missing:
        cells = count_of(sum(data.missing_counts.values()), "missing value")
        text += f"; {cells} in {count_of(len(data.missing_counts), 'column')}"
    return text


def html_table(data: Dataset) -> str:
    """Return the summary and the first rows as HTML, with all text escaped."""
    return f"<div><p>{html.escape(summary(data))}</p>{html_of(_first_rows(data))}</div>"


def first_rows_text(data: Dataset) -> str:
    """Return the summary and the first rows as text."""
    table = _first_rows(data)
    shown = [list(map(shown_text, table.names)), *([cell or "" for cell in r] for r in table.rows)]
    return "\n".join([repr(data), *aligned(shown)])


def _first_rows(data: Dataset) -> Table:
    n_rows = min(data.n_rows, _SHOWN_ROWS)
    names = data.names[:_SHOWN_COLUMNS]
    columns = [labels(data, name, n_rows) for name in names]
    more = [] if len(names) == data.n_variables else ["..."]
    rows = [[*row, *more] for row in zip(*columns, strict=True)]
    return Table(names=(*names, *more), rows=rows, n_rows=n_rows)


def labels(data: Dataset, name: str, n_rows: int | None = None) -> npt.NDArray[np.object_]:
    """Return the states of the first cells of a column, or of all; None where one is missing."""
    states = np.array([*data.variable(name).states, None], dtype=object)
    found: npt.NDArray[np.object_] = states[np.asarray(data.codes(name)[:n_rows])]
    return found


def _line(name: str) -> str:
    # A name with line breaks or other control characters must not break the line it stands in.
    return name if name.isprintable() else repr(name)
