"""How a Network and its tables print themselves: a line, text with numbers, HTML."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from bestdag.graph.plotting import notebook_svg
from bestdag.tabular import Table, html_of, shown_text
from bestdag.wording import aligned, count_of

if TYPE_CHECKING:
    from bestdag.data.schema import Variable
    from bestdag.network.network import Network
    from bestdag.network.table import ConditionalTable

__all__ = ["conditional_table", "html_table", "network_text", "summary", "table_rows", "table_text"]

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
    table = Table(
        names=("variable", "states", "parents"),
        rows=((t.child.name, _some(t.child.states), _names(t.parents)) for t in network.tables),
        n_rows=len(network.tables),
        n_labels=1,
    )
    return (
        f"<div><p>{html.escape(network.name)}: {summary(network)}</p>"
        f"{notebook_svg(network, len(network.names)) or ''}"
        f"{html_of(table, most_rows=_SHOWN_HTML_ROWS)}</div>"
    )


def conditional_table(table: ConditionalTable) -> Table:
    """Return the rows of a conditional table, and last the one for all others of a sparse one."""
    n_rows = table.n_configurations if table.sparse is None else table.sparse.n_listed + 1
    title = f"P({shown_text(table.child.name)}" + (
        f" | {_names(table.parents)})" if table.parents else ")"
    )
    return Table(
        names=(*(parent.name for parent in table.parents), *table.child.states),
        rows=((*labels, *numbers) for labels, numbers in table_rows(table, n_rows)),
        n_rows=n_rows,
        n_labels=len(table.parents),
        title=title,
    )


def _names(variables: Sequence[Variable]) -> str:
    return ", ".join(shown_text(variable.name) for variable in variables)


def _some(states: Sequence[str]) -> str:
    return ", ".join(states[:10]) + (", ..." * (len(states) > 10))


def network_text(network: Network) -> str:
    """Write the summary and the tables with their numbers, those of large networks in part."""
    shown = network.tables[:_SHOWN_TABLES]
    parts = [f"{shown_text(network.name)}: {summary(network)}"]
    parts += [table_text(table, most_rows=_SHOWN_ROWS_IN_NETWORK) for table in shown]
    n_more = len(network.tables) - len(shown)
    if n_more:
        parts.append(f"... and {count_of(n_more, 'more variable')}")
    return "\n\n".join(parts)


def table_text(table: ConditionalTable, *, most_rows: int = _SHOWN_ROWS) -> str:
    """Write a table for people: a line for each configuration of the parents."""
    parents = [shown_text(parent.name) for parent in table.parents]
    title = f"P({shown_text(table.child.name)}" + (f" | {', '.join(parents)})" if parents else ")")
    states = [shown_text(state) for state in table.child.states[:_SHOWN_STATES]]
    has_more_states = table.child.arity > _SHOWN_STATES
    lines = [[*parents, *states, *(["..."] * has_more_states)]]
    for labels, numbers in table_rows(table, most_rows):
        cells = [f"{number:.6g}" for number in numbers[:_SHOWN_STATES]]
        lines.append([*labels, *cells, *(["..."] * has_more_states)])
    text = [title, *(f"  {line}" for line in aligned(lines, left=len(parents)))]
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
    return [shown_text(parent.states[code]) for parent, code in pairs]
