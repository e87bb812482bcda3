"""How a Network prints itself, as a line of text and in a notebook."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from bestdag.data.display import count_of

if TYPE_CHECKING:
    from bestdag.network.network import Network

__all__ = ["html_table", "summary"]

_SHOWN_HTML_ROWS = 30


def summary(network: Network) -> str:
    """Variables, arcs and parameters."""
    arcs = sum(len(table.parents) for table in network.tables)
    return (
        f"{count_of(len(network.names), 'variable')}, {count_of(arcs, 'arc')}, "
        f"{count_of(network.n_parameters, 'parameter')}"
    )


def html_table(network: Network) -> str:
    """Return the summary and the first variables as HTML, with all text escaped."""
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
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
