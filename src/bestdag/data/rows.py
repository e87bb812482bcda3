"""Where the rows of a table are to be, and whether equal ones are put together: for learning."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bestdag.data.choice import Choice, choose, require_collapse
from bestdag.data.dataset import Dataset
from bestdag.data.many_files import local_files
from bestdag.data.opening import can_be_opened_again, open_table
from bestdag.data.readers import match, read_opened
from bestdag.data.scan import scanned
from bestdag.data.scanned_table import ScannedTable
from bestdag.data.schema import Variable
from bestdag.data.sql_source import sql_source
from bestdag.errors import InvalidParameterError, require_choice
from bestdag.machine import do_without, memory_left, readable_size

__all__ = ["ROWS_IN", "Rows", "match_rows", "read_rows"]

ROWS_IN = ("auto", "memory", "disk")

# Bytes that reading and counting take for a cell: the code, its place in a packed word, a copy.
_BYTES_PER_CELL = 3
# The least bytes of a cell in text: a sign and what parts it from the next.
_LEAST_TEXT = 2
_TEXT = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson")


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """A table that was read, and how far putting equal rows together went, if that was done."""

    dataset: Dataset
    notes: tuple[str, ...] = ()
    n_source: int | None = None


def read_rows(
    source: Any,
    *,
    rows_in: str = "auto",
    cache: str | os.PathLike[str] | None = None,
    collapse: bool | None = None,
    **settings: Any,
) -> Rows:
    """Read a table for learning; the other settings are those of `read`.

    Parameters
    ----------
    rows_in : {"auto", "memory", "disk"}, default "auto"
        Memory, where the forecast fits into what may be taken, else disk, as `scan` does.
    cache : path, optional
        As for `scan`, where the rows are on disk.
    collapse : bool or None
        Put equal rows together; None where a sample promises at most an eighth of them. Rows with
        missing values that are kept stay as they are, unless asked.
    """
    source = sql_source(source)
    return _placed(source, choose(source, **settings), rows_in, cache, collapse)


def match_rows(
    source: Any,
    variables: Iterable[Variable],
    *,
    rows_in: str = "auto",
    cache: str | os.PathLike[str] | None = None,
    collapse: bool | None = None,
    ignore_extra: bool = False,
    owner: str = "the network",
    may_lack: bool = False,
    beside: Iterable[str] = (),
    **settings: Any,
) -> tuple[Rows, tuple[str, ...]]:
    """Read the columns that are these variables, as `match` does; also name those that were cut."""
    listed = list(variables)
    if any(variable.cuts is not None for variable in listed):
        if rows_in == "disk" or collapse:
            what = (
                f"read: numeric columns are binned at the cut points of {owner} in memory, row by "
                "row"
            )
            raise InvalidParameterError(f"{what}; leave out rows_in and collapse").with_option(
                f"{what}; leave out --rows-in disk and --collapse"
            )
        found = match(
            source,
            listed,
            ignore_extra=ignore_extra,
            owner=owner,
            may_lack=may_lack,
            beside=beside,
            **settings,
        )
        return Rows(found.dataset), found.cut
    source = sql_source(source)
    states = {variable.name: variable.states for variable in listed}
    owned = None if ignore_extra else owner
    choice = choose(
        source,
        states=states,
        columns=list(states),
        owner=owned,
        may_lack=may_lack,
        beside=beside,
        **settings,
    )
    return _placed(source, choice, rows_in, cache, collapse), ()


def _placed(
    source: Any,
    choice: Choice,
    rows_in: str,
    cache: str | os.PathLike[str] | None,
    collapse: bool | None,
) -> Rows:
    require_choice("read", "rows_in", rows_in, ROWS_IN)
    require_collapse("read", collapse)
    if cache is not None and rows_in == "memory":
        raise InvalidParameterError(
            "read: cache is for rows on disk, got rows_in='memory'; leave one of them out"
        ).with_option(
            "read: --cache is for rows on disk, got --rows-in memory; leave one of them out"
        )
    is_on_disk = rows_in == "disk" or (rows_in == "auto" and not _fits(source, choice))
    found = _read(source, choice, is_on_disk, cache, collapse)
    is_kept = choice.options.missing == "keep" and collapse is None
    if found.notes and is_kept and found.dataset.has_missing:
        return _read(source, choice, is_on_disk, cache, False)
    return found


def _read(
    source: Any,
    choice: Choice,
    is_on_disk: bool,
    cache: str | os.PathLike[str] | None,
    collapse: bool | None,
) -> Rows:
    if is_on_disk:
        scan = scanned(source, choice, cache=cache, collapse=collapse)
        return Rows(scan, scan.notes, scan.n_source)
    with open_table(source, choice) as table:
        is_asked = bool(collapse) and isinstance(table, ScannedTable)  # frames stay as they are
        data, found = read_opened(table, choice, is_asked if collapse else collapse)
    return Rows(data) if found is None else Rows(data, found.notes, found.n_source)


def _fits(source: Any, choice: Choice) -> bool:
    """Whether reading the table into memory takes no more than may be taken."""
    if not can_be_opened_again(source):
        return True
    left = memory_left()
    files = local_files(source)
    if files is not None and all(path.lower().endswith(_TEXT) for path in files):
        n_cells = sum(map(os.path.getsize, files)) / _LEAST_TEXT
        if n_cells * _BYTES_PER_CELL <= left:
            return True
    with open_table(source, choice) as table:
        if not isinstance(table, ScannedTable):
            return True
        n_bytes = float(_BYTES_PER_CELL * table.n_rows * len(table.names))
    if n_bytes <= left:
        return True
    do_without("rows", f"the rows in memory would need {readable_size(n_bytes)}: they are on disk")
    return False
