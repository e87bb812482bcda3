"""`read`: one way in for every kind of table."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy.typing as npt

from bestdag.data.cutting import Cutter
from bestdag.data.dataset import Dataset
from bestdag.data.discretization.cuts import cut_variable
from bestdag.data.schema import Variable
from bestdag.data.settings import Choice, choose, require_collapse
from bestdag.data.sinks.disk import scanned
from bestdag.data.sinks.memory import dataset_of, read_collapsed, read_into_memory, read_where_equal
from bestdag.data.sources import can_be_opened_again
from bestdag.data.sources.connection import sql_source
from bestdag.data.sources.files import local_files
from bestdag.data.table import open_table
from bestdag.errors import InvalidParameterError, require_choice
from bestdag.machine import do_without, memory_left, readable_size
from bestdag.wording import arg

__all__ = [
    "ROWS_IN",
    "Place",
    "Rows",
    "as_dataset",
    "match",
    "read",
    "read_at_cuts",
    "read_cut",
    "read_matching",
    "read_rows",
]

ROWS_IN = ("auto", "memory", "disk")

# Bytes that reading and counting take for a value: the code, its place in a packed word, a copy.
_BYTES_PER_CELL = 3
# The least bytes of a value in text: a sign and what parts it from the next.
_LEAST_TEXT = 2
_TEXT = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson")


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """A table that was read, and what was done on the way.

    Attributes
    ----------
    dataset : Dataset
    notes : tuple of str
        How far putting equal rows together went, if that was done.
    n_source : int or None
        Rows of the source, where equal ones were put together.
    cut : tuple of str
        The columns whose numbers were cut at known points.
    """

    dataset: Dataset
    notes: tuple[str, ...] = ()
    n_source: int | None = None
    cut: tuple[str, ...] = ()


class Place(Protocol):
    """A place for rows beside memory and disk, such as the workers of a cluster."""

    def reads(self, source: Any) -> bool:
        """Whether it reads a source itself; others are read here."""
        ...

    def read(self, source: Any, **settings: Any) -> Dataset:
        """Read a table; the settings are those of `read`."""
        ...


def read(
    source: Any,
    *,
    states: Mapping[str, Sequence[str]] | None = None,
    missing: str = "error",
    missing_values: Iterable[str] = ("",),
    max_states: int = 50,
    weights: str | npt.ArrayLike | None = None,
    columns: str | Iterable[str] | None = None,
    drop: str | Iterable[str] | None = None,
    allow_few_rows: bool = False,
    separator: str | None = None,
    sheet: str | None = None,
    encoding: str | None = None,
    collapse: bool | None = False,
) -> Dataset:
    """Read a table of discrete data.

    Parameters
    ----------
    source : path, stream or table
        A path to CSV (``.csv``, ``.txt``: commas), TSV (``.tsv``), JSON lines (``.jsonl``,
        ``.ndjson``), these also with ``.gz``, Parquet (``.parquet``, ``.pq``) or Excel (``.xlsx``,
        ``.xlsm``; needs ``bestdag[excel]``), or to a ``.zip`` with one of these in it; text is
        UTF-8, or UTF-16 with its mark at the beginning;
        ``"-"`` or an open stream with CSV; a pattern such as ``"rows/*.parquet"`` or a folder,
        whose files are one table, in the order of their names (``key=value`` folders are columns);
        the address of Parquet files in an object store that DuckDB reads; a query
        (``sql("SELECT ...")``) that DuckDB answers; a pandas or polars frame, an Arrow table, a
        DuckDB relation, a dict of columns, a structured NumPy array, or a two-dimensional one,
        whose columns are called ``"0"``, ``"1"`` and so on unless `columns` names them; a
        Dataset. Names that are whole numbers become text.
    states : mapping of str to sequence of str, optional
        The states of some columns, in order. A value not listed is an error.
    missing : {"error", "drop", "state", "keep"}, default "error"
        What to do about missing values: refuse them; drop their rows (with a DataWarning);
        give the columns that have some a last state called ``missing``; keep them as they are.
    missing_values : iterable of str, default ("",)
        Texts that mark a missing value, beside nulls and NaN. They replace the default: list
        ``""`` too, or empty cells are a state called ``''`` (with a DataWarning).
    max_states : int, default 50
        Most distinct values of a column whose states are not declared. Declared ones (by
        `states`, a pandas Categorical, a polars Enum, an Arrow dictionary) may be up to 65,535.
    weights : str or array, optional
        The column that says how often each row counts (it is then no variable), or an array.
    columns : str or iterable of str, optional
        The columns to read, in that order.
    drop : str or iterable of str, optional
        Columns to leave out.
    allow_few_rows : bool, default False
        Go on when ``missing="drop"`` leaves less than a third of the rows, which is otherwise
        refused.
    separator : str, optional
        What stands between the cells of CSV, a comma, semicolon, tab, bar (``|``) or blank (one or
        more of them), instead of what the ending says. A file whose header shows another one is
        refused.
    sheet : str, optional
        The sheet of an Excel workbook; without it, the only one that has data.
    encoding : str, optional
        The encoding of a CSV file or stream that is not UTF-8, such as ``"latin-1"``.
    collapse : bool or None, default False
        Put equal rows of a file, relation or query together, as one row with a whole weight;
        None does so where a sample promises at most an eighth of the rows, as `learn` does.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        If the table cannot be used as it is; the message says where and what to do.
    UnknownNameError
        If `columns`, `drop`, `states` or `weights` name no column, or a value no state.

    Warns
    -----
    DataWarning
        If columns have one state, or empty text as an undeclared state, or rows were
        dropped.

    Notes
    -----
    States that are not declared are the values seen, sorted as numbers when all are numbers,
    else by code point; so neither the order of rows nor that of columns matters. Booleans always
    have the states ``False`` and ``True``. The intervals that `discretize` and ``to_csv`` write
    (``<=0.8``, ``0.8 to 2``, ``>2``: all of them and nothing else but ``missing``) are in their
    own order and have their cut points. In CSV a label is the text of the cell, spaces
    included; nothing is guessed. Blank lines are skipped, except in a table of one column, where
    they are empty cells.

    Examples
    --------
    >>> data = read({"smoke": ["no", "yes", "yes"], "age": [40, 9, 40]})
    >>> data.variable("age").states
    ('9', '40')
    >>> read({"a": ["x", "y"], "n": [3, 7]}, weights="n").total_weight
    10
    """
    choice = choose(
        source,
        states=states,
        missing=missing,
        missing_values=missing_values,
        max_states=max_states,
        weights=weights,
        columns=columns,
        drop=drop,
        allow_few_rows=allow_few_rows,
        separator=separator,
        sheet=sheet,
        encoding=encoding,
    )
    require_collapse("read", collapse)
    return _into_memory(source, choice, collapse).dataset


def as_dataset(source: Any, **settings: Any) -> Dataset:
    """Return a Dataset as it is, and read anything else; the settings are those of `read`."""
    return source if isinstance(source, Dataset) else read(source, **settings)


def read_rows(
    source: Any,
    *,
    rows_in: str | Place = "auto",
    cache: str | os.PathLike[str] | None = None,
    collapse: bool | None = None,
    **settings: Any,
) -> Rows:
    """Read a table for learning; the other settings are those of `read`.

    Parameters
    ----------
    rows_in : {"auto", "memory", "disk"} or Place, default "auto"
        Memory, where the forecast fits into what may be taken, else disk, as `scan` does; or a
        place that reads what it can itself.
    cache : path, optional
        As for `scan`, where the rows are on disk.
    collapse : bool or None
        Put equal rows together; None where a sample promises at most an eighth of them. Rows with
        missing values that are kept stay as they are, unless asked.
    """
    if not isinstance(rows_in, str):
        if rows_in.reads(source):
            return Rows(rows_in.read(source, **settings))
        rows_in = "auto"
    source = sql_source(source)
    return _placed(source, choose(source, **settings), rows_in, cache, collapse)


def read_matching(source: Any, variables: Iterable[Variable], **settings: Any) -> Dataset:
    """Read the columns that are these variables; the settings are those of `match`."""
    return match(source, variables, **settings).dataset


def match(
    source: Any,
    variables: Iterable[Variable],
    *,
    ignore_extra: bool = False,
    owner: str = "the network",
    may_lack: bool = False,
    beside: Iterable[str] = (),
    rows_in: str = "memory",
    cache: str | os.PathLike[str] | None = None,
    collapse: bool | None = False,
    **settings: Any,
) -> Rows:
    """Read the columns that are these variables, with their states, in their order.

    The numbers of a variable with cut points become its states; a column may also hold those
    states themselves. A value that is not a state, a column that is missing and, unless
    `ignore_extra`, a column too many is an error that names it and whose variables these are
    (`owner`). With `may_lack` columns may be missing, though not all of them: those that are
    there are read, and a column that looks like one of them misspelt is refused, unless its name
    is among those `beside`. The other settings are those of `read_rows`.
    """
    listed = list(variables)
    known_cuts = {variable.name: variable for variable in listed if variable.cuts is not None}
    if known_cuts and (rows_in == "disk" or collapse):
        raise InvalidParameterError(
            f"read: numeric columns are binned at the cut points of {owner} in memory, row by row; "
            f"leave out {arg('rows_in', 'disk')} and {arg('collapse', True)}"
        )
    source = sql_source(source)
    states = {variable.name: variable.states for variable in listed}
    choice = choose(
        source,
        states=states,
        columns=list(states),
        owner=None if ignore_extra else owner,
        may_lack=may_lack,
        beside=beside,
        **settings,
    )
    if known_cuts:
        return read_cut(
            source, choice, Cutter(cut=frozenset(), known=known_cuts, may_lack=may_lack)
        )
    return _placed(source, choice, rows_in, cache, collapse)


def read_at_cuts(source: Any, cuts: Mapping[str, Sequence[float]], **settings: Any) -> Rows:
    """Read a table that holds numbers, or their intervals, in columns with known cut points.

    The settings are those of `read`, which reads the other columns.
    """
    variables = {name: cut_variable(name, points) for name, points in cuts.items()}
    states = {name: variable.states for name, variable in variables.items()}
    choice = choose(source, states=states, **settings)
    return read_cut(source, choice, Cutter(cut=frozenset(), known=variables))


def read_cut(source: Any, choice: Choice, cutter: Cutter, *, cuts_are_chosen: bool = False) -> Rows:
    """Read a table into memory with its numeric columns cut."""
    with open_table(source, choice) as table:
        columns, cut = cutter.columns(table, choice.options)
        data = dataset_of(
            columns,
            table.weights(),
            choice.options,
            weight=table.weight_column(),
            cuts_are_chosen=cuts_are_chosen,
        )
    return Rows(data, cut=cut)


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
            f"read: {arg('cache')} is for rows on disk, got {arg('rows_in', 'memory')}; leave one "
            "of them out"
        )
    is_on_disk = rows_in == "disk" or (rows_in == "auto" and not _fits(source, choice))

    def rows(collapse: bool | None) -> Rows:
        if is_on_disk:
            scan = scanned(source, choice, cache=cache, collapse=collapse)
            return Rows(scan, scan.notes, scan.n_source)
        return _into_memory(source, choice, collapse, has_frames_whole=True)

    first = rows(collapse)
    if first.notes and collapse is None and first.dataset.has_missing:
        return rows(False)  # rows with missing values are learned from one by one
    return first


def _into_memory(
    source: Any, choice: Choice, collapse: bool | None, *, has_frames_whole: bool = False
) -> Rows:
    """Read a table; whether to put the rows of a frame together may be asked in vain."""
    with open_table(source, choice) as table:
        if table.in_memory:
            if collapse and not has_frames_whole:
                raise InvalidParameterError(
                    f"read: {choice.options.source} is in memory already; identical rows are "
                    f"combined when files are read: leave out collapse"
                )
        elif collapse is not False:
            data, encoded = read_collapsed(table) if collapse else read_where_equal(table)
            return Rows(data) if encoded is None else Rows(data, encoded.notes, encoded.n_source)
        return Rows(read_into_memory(table))


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
        if table.in_memory:
            return True
        n_bytes = float(_BYTES_PER_CELL * table.n_rows * len(table.names))
    if n_bytes <= left:
        return True
    do_without("rows", f"the rows in memory would need {readable_size(n_bytes)}: they are on disk")
    return False
