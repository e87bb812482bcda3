"""Values that are tables: how they become pandas frames and stand in notebooks."""

from __future__ import annotations

import html
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from bestdag.errors import import_optional
from bestdag.wording import count_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Table", "Tabular", "html_of", "measures", "shown_text"]

_SHOWN_ROWS = 40
_SHOWN_COLUMNS = 20
_LEFT, _RIGHT = "text-align:left", "text-align:right;font-variant-numeric:tabular-nums"
_BAR = "height:0.8em;min-width:1px;background:#4a90d9"
_BAR_PIXELS = 150


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The rows of a value, and what a reader needs to know beside them.

    Attributes
    ----------
    names : sequence of str
        Of the columns.
    rows : iterable of sequences
        Gone through once, no further than is shown.
    n_rows : int
        How many there are.
    n_labels : int
        So many first columns say what a row is about: they are the index of a frame.
    title : str
    notes : sequence of str
        Lines below the table.
    bars : str, optional
        The column of shares from 0 to 1 that a notebook shows as bars, too.
    """

    names: Sequence[str]
    rows: Iterable[Sequence[Any]]
    n_rows: int
    n_labels: int = 0
    title: str = ""
    notes: Sequence[str] = ()
    bars: str | None = None


class Tabular:
    """A value that has rows: it gives them as a pandas frame, and shows the first in a notebook."""

    __slots__ = ()

    @abstractmethod
    def _table(self) -> Table:
        """Return the rows."""

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a pandas frame, with as many digits as there are.

        Columns that say what a row is about, such as names of variables, are its index.

        Raises
        ------
        MissingPackageError
            Without pandas.
        """
        pandas = import_optional("pandas", who=f"{type(self).__name__}.to_pandas")
        table = self._table()
        names = list(table.names)
        frame: pd.DataFrame = pandas.DataFrame.from_records(
            [tuple(row) for row in table.rows], columns=names
        )
        if not table.n_labels:
            return frame
        # By place: a state may be called as a parent is.
        labels = [frame.iloc[:, place] for place in range(table.n_labels)]
        frame = frame.iloc[:, table.n_labels :]
        frame.index = (
            pandas.Index(labels[0], name=names[0])
            if len(labels) == 1
            else pandas.MultiIndex.from_arrays(labels, names=names[: table.n_labels])
        )
        return frame

    def _repr_html_(self) -> str:
        return html_of(self._table())


def measures(values: Mapping[str, Any], title: str = "") -> Table:
    """Return the table of single numbers, each with its name; what is None is left out.

    Examples
    --------
    >>> print(html_of(measures({"rank": 3})).count("<tr>"))
    2
    """
    known = [(name, value) for name, value in values.items() if value is not None]
    return Table(names=("measure", "value"), rows=known, n_rows=len(known), n_labels=1, title=title)


def html_of(table: Table, *, most_rows: int = _SHOWN_ROWS) -> str:
    """Write the first rows and columns as HTML, with all text escaped."""
    names = list(table.names)[:_SHOWN_COLUMNS]
    rows = [list(row)[:_SHOWN_COLUMNS] for row in islice(table.rows, most_rows)]
    is_text = [
        place < table.n_labels or any(isinstance(row[place], str | list) for row in rows)
        for place in range(len(names))
    ]
    styles = [_LEFT if text else _RIGHT for text in is_text]
    head = [_header(name, style) for name, style in zip(names, styles, strict=True)]
    lines = [
        [
            _cell(value, style, is_label=place < table.n_labels)
            for place, (value, style) in enumerate(zip(row, styles, strict=True))
        ]
        for row in rows
    ]
    if table.bars in names:
        place = names.index(table.bars) + 1
        head.insert(place, "<th></th>")
        for line, row in zip(lines, rows, strict=True):
            line.insert(place, _bar(row[place - 1]))
    if len(table.names) > len(names):
        head.append("<th>...</th>")
    notes = list(table.notes)
    if table.n_rows > len(rows):
        notes.insert(0, f"... and {count_of(table.n_rows - len(rows), 'more row')}")
    body = "".join(f"<tr>{''.join(line)}</tr>" for line in lines)
    below = "".join(f"<div>{_escaped(note)}</div>" for note in notes)
    title = f"<div><b>{_escaped(table.title)}</b></div>" if table.title else ""
    return (
        f"<div>{title}<table><thead><tr>{''.join(head)}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
        f"{below}</div>"
    )


def _bar(share: float) -> str:
    width = round(_BAR_PIXELS * min(1.0, max(0.0, share)))
    drawn = f'<div style="width:{width}px;{_BAR}"></div>' if width else ""
    return f'<td style="{_LEFT}">{drawn}</td>'


def shown_text(text: str) -> str:
    """Return a text on one line: in quotes, with escapes, where it is empty or would break it."""
    return text if text.isprintable() and text else repr(text)


def _header(name: str, style: str) -> str:
    return f'<th style="{style}">{_escaped(shown_text(name))}</th>'


def _cell(value: Any, style: str, *, is_label: bool) -> str:
    tag = "th" if is_label else "td"
    return f'<{tag} style="{style}">{_escaped(_shown(value))}</{tag}>'


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() and abs(value) >= 1e5 else f"{value:.6g}"
    if isinstance(value, tuple | list | frozenset):
        return ", ".join(map(_shown, value))
    text = str(value)
    return shown_text(text) if text else ""


def _escaped(text: str) -> str:
    return html.escape(text).replace("$", "&#36;")  # which notebooks take for mathematics
