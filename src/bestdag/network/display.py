"""How a Network and its tables print themselves: a line, text with numbers, HTML."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from bestdag.graph.plotting import notebook_svg
from bestdag.wording import count_of

if TYPE_CHECKING:
    from bestdag.network.network import Network
    from bestdag.network.table import ConditionalTable

__all__ = ["html_table", "network_text", "summary", "table_rows", "table_text"]

_SHOWN_HTML_ROWS = 30
# Text shows so many tables of a network, rows of a table (of one in a network) and states.
_SHOWN_TABLES = 30
_SHOWN_ROWS = 60
_SHOWN_ROWS_IN_NETWORK = 12
_SHOWN_STATES = 12


def summary(network: Network) -> str:
    """Variables, arcs and parameters."""
    arcs = sum(len(table.parents) for table in network.tables)
    return (
        f"{count_of(len(network.names), 'variable')}, {count_of(arcs, 'arc')}, "
        f"{count_of(network.n_parameters, 'parameter')}"
    )


def html_table(network: Network) -> str:
    """Return the summary, the picture and the first variables as HTML, with all text escaped."""
    head = "".join(f"<th>{title}</th>" for title in ("variable", "states", "parents"))
    rows = []
    for table in network.tables[:_SHOWN_HTML_ROWS]:
        states = ", ".join(table.child.states[:10]) + (", ..." * (table.child.arity > 10))
        cells = (table.child.name, states, ", ".join(p.name for p in table.parents))
        rows.append("".join(f"<td>{html.escape(cell)}</td>" for cell in cells))
    if len(network.tables) > _SHOWN_HTML_ROWS:
        rows.append("<td>...</td>" * 3)
    body = "".join(f"<tr>{cells}</tr>" for cells in rows)
    return (
        f"<div><p>{html.escape(network.name)}: {summary(network)}</p>"
        f"{notebook_svg(network, len(network.names)) or ''}"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def network_text(network: Network) -> str:
    """Write the summary and the tables with their numbers, those of large networks in part."""
    shown = network.tables[:_SHOWN_TABLES]
    parts = [f"{_one_line(network.name)}: {summary(network)}"]
    parts += [table_text(table, most_rows=_SHOWN_ROWS_IN_NETWORK) for table in shown]
    n_more = len(network.tables) - len(shown)
    if n_more:
        parts.append(f"... and {count_of(n_more, 'more variable')}")
    return "\n\n".join(parts)


def table_text(table: ConditionalTable, *, most_rows: int = _SHOWN_ROWS) -> str:
    """Write a table for people: a line for each configuration of the parents."""
    given = [_one_line(parent.name) for parent in table.parents]
    title = f"P({_one_line(table.child.name)}" + (f" | {', '.join(given)})" if given else ")")
    states = [_one_line(state) for state in table.child.states[:_SHOWN_STATES]]
    has_more_states = table.child.arity > _SHOWN_STATES
    lines = [[*given, *states, *(["..."] * has_more_states)]]
    for labels, numbers in table_rows(table, most_rows):
        cells = [f"{number:.6g}" for number in numbers[:_SHOWN_STATES]]
        lines.append([*labels, *cells, *(["..."] * has_more_states)])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = [title]
    for line in lines:
        aligned = [
            cell.ljust(width) if k < len(given) else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        text.append("  ".join(("", *aligned)).rstrip())
    n_rows = table.n_configurations if table.sparse is None else table.sparse.n_listed
    if n_rows > most_rows:
        text.append(f"  ... and {count_of(n_rows - most_rows, 'more row')}")
    return "\n".join(text)


def table_rows(table: ConditionalTable, most: int) -> Iterator[tuple[list[str], Sequence[float]]]:
    """Go through the first rows, and last the one for all others: labels and numbers."""
    if table.sparse is not None:
        listed = zip(table.sparse.configurations[:most], table.sparse.rows[:-1], strict=False)
        for codes, numbers in listed:
            yield _labels(table, codes.tolist()), numbers.tolist()
        others = ["all others", *("" for _ in table.parents[1:])]
        yield others, table.sparse.default.tolist()
        return
    for number, row in enumerate(table.rows[:most]):
        codes, rest = [], number
        for parent in reversed(table.parents):
            rest, code = divmod(rest, parent.arity)
            codes.append(code)
        yield _labels(table, codes[::-1]), row.tolist()


def _labels(table: ConditionalTable, codes: Sequence[int]) -> list[str]:
    pairs = zip(table.parents, codes, strict=True)
    return [_one_line(parent.states[code]) for parent, code in pairs]


def _one_line(text: str) -> str:
    return text if text.isprintable() and text else repr(text)
