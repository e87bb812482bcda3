"""`read`: one door for every kind of table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from bestdag.data.choice import Choice, choose, require_collapse
from bestdag.data.cutting import Cutter
from bestdag.data.dataset import Dataset
from bestdag.data.discretization.cuts import cut_variable
from bestdag.data.encode import build
from bestdag.data.opening import open_table
from bestdag.data.raw import RawTable
from bestdag.data.scanned_table import ScannedTable
from bestdag.data.schema import Variable
from bestdag.data.streamed import Streamed, read_collapsed
from bestdag.errors import InvalidParameterError

__all__ = ["Matched", "as_dataset", "match", "read", "read_at_cuts", "read_matching", "read_opened"]


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
        If columns have one state, or empty text as a state that nobody declared, or rows were
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
    with open_table(source, choice) as table:
        return read_opened(table, choice, collapse)[0]


def as_dataset(source: Any, **settings: Any) -> Dataset:
    """Return a Dataset as it is, and read anything else; the settings are those of `read`."""
    return source if isinstance(source, Dataset) else read(source, **settings)


def read_opened(
    table: RawTable, choice: Choice, collapse: bool | None
) -> tuple[Dataset, Streamed | None]:
    """Read a table that is open; also say how far putting equal rows together went, if it did."""
    if isinstance(table, ScannedTable):
        if collapse or (collapse is None and table.may_collapse()):
            return read_collapsed(table, choice.options)
    elif collapse:
        raise InvalidParameterError(
            f"read: {choice.options.source} is in memory already; identical rows are combined "
            f"when files are read: leave out collapse"
        )
    return build(table.discrete(table.names), table.weights(), choice.options), None


@dataclass(frozen=True, slots=True)
class Matched:
    """A table read for known variables, and the names of the columns whose numbers were cut."""

    dataset: Dataset
    cut: tuple[str, ...]


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
    **settings: Any,
) -> Matched:
    """Read the columns that are these variables, with their states, in their order.

    The numbers of a variable with cut points become its states; a column may also hold those
    states themselves. A value that is not a state, a column that is missing and, unless
    `ignore_extra`, a column too many is an error that names it and whose variables these are
    (`owner`). With `may_lack` columns may be missing, though not all of them: those that are
    there are read, and a column that looks like one of them misspelt is refused, unless its name
    is among those `beside`. The other settings are those of `read`.
    """
    listed = list(variables)
    states = {variable.name: variable.states for variable in listed}
    given = {variable.name: variable for variable in listed if variable.cuts is not None}
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
    return _matched(source, choice, given)


def read_at_cuts(source: Any, cuts: Mapping[str, Sequence[float]], **settings: Any) -> Matched:
    """Read a table that holds numbers, or their intervals, in columns with known cut points.

    The settings are those of `read`, which reads the other columns.
    """
    given = {name: cut_variable(name, points) for name, points in cuts.items()}
    states = {name: variable.states for name, variable in given.items()}
    return _matched(source, choose(source, states=states, **settings), given)


def _matched(source: Any, choice: Choice, given: Mapping[str, Variable]) -> Matched:
    cutter = Cutter(cut=frozenset(), given=given, may_lack=choice.may_lack)
    with open_table(source, choice) as table:
        columns, cut = cutter.columns(table, choice.options)
        return Matched(build(columns, table.weights(), choice.options), cut)
