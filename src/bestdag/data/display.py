"""How a Dataset prints itself, as a line of text and in a notebook."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from bestdag.wording import count_of

if TYPE_CHECKING:
    from bestdag.data.dataset import Dataset

__all__ = ["html_table", "summary"]

_SHOWN_VARIABLES = 8
_SHOWN_HTML_ROWS = 8
_SHOWN_HTML_COLUMNS = 20


def summary(data: Dataset) -> str:
    """Rows, columns, the first variables with their arities, weights and missing cells."""
    shown = ", ".join(f"{_line(v.name)}[{v.arity}]" for v in data.variables[:_SHOWN_VARIABLES])
    more = ", ..." if data.n_variables > _SHOWN_VARIABLES else ""
    text = f"{count_of(data.n_rows, 'row')}, {count_of(data.n_variables, 'variable')}: "
    text += shown + more
    if data.weights is not None:
        text += f"; total weight {data.total_weight:,}"
    if data.has_missing:
        cells = count_of(sum(data.missing_counts.values()), "missing cell")
        text += f"; {cells} in {count_of(len(data.missing_counts), 'column')}"
    return text


def html_table(data: Dataset) -> str:
    """Return the summary and the first rows as HTML, with all text escaped."""
    names = data.names[:_SHOWN_HTML_COLUMNS]
    labels = {v.name: (*v.states, "") for v in data.variables}
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    rows = [
        "".join(f"<td>{html.escape(labels[n][data.codes(n)[row]])}</td>" for n in names)
        for row in range(min(data.n_rows, _SHOWN_HTML_ROWS))
    ]
    body = "".join(f"<tr>{cells}</tr>" for cells in rows)
    return (
        f"<div><p>{html.escape(summary(data))}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _line(name: str) -> str:
    # A name with line breaks or other control characters must not break the line it stands in.
    return name if name.isprintable() else repr(name)
