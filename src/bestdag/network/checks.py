"""The checks behind a Network: one table per variable, and properties that are text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bestdag.errors import DataError
from bestdag.network.table import ConditionalTable

__all__ = ["property_texts", "tables_by_name"]


def tables_by_name(tables: Iterable[ConditionalTable]) -> dict[str, ConditionalTable]:
    """Return the tables by the names of their variables, or say why they make no network."""
    if not isinstance(tables, Iterable):
        raise DataError(f"Network: a list of tables is needed, got {tables!r:.60}")
    found: dict[str, ConditionalTable] = {}
    for table in tables:
        if not isinstance(table, ConditionalTable):
            raise DataError(f"Network: each table must be a ConditionalTable, got {table!r:.60}")
        if table.child.name in found:
            raise DataError(f"Network: variable {table.child.name!r} has two tables")
        found[table.child.name] = table
    if not found:
        raise DataError("Network: at least one table is needed, got none")
    _check_parents(found)
    return found


def _check_parents(tables: Mapping[str, ConditionalTable]) -> None:
    for child, table in tables.items():
        for parent in table.parents:
            if parent.name not in tables:
                raise DataError(
                    f"Network: {parent.name!r}, a parent of {child!r}, has no table of its own"
                )
            own = tables[parent.name].child
            if parent != own:
                raise DataError(
                    f"Network: states of {parent.name!r} are {own.states!r} in its own table "
                    f"and {parent.states!r} in the table of {child!r}"
                )


def property_texts(texts: Iterable[str]) -> tuple[str, ...]:
    """Return one text or several as a tuple."""
    listed = (texts,) if isinstance(texts, str) else tuple(texts)
    for text in listed:
        if not isinstance(text, str):
            raise DataError(f"Network: a property must be text, got {text!r}")
    return listed
