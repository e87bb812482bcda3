"""The table everything else is computed from: variables and small-integer codes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TextIO

import numpy as np
import numpy.typing as npt

from bestdag.data.checks import (
    as_codes,
    as_weights,
    locked,
    name_list,
    random_part,
    row_positions,
    table_names,
    total_of,
)
from bestdag.data.schema import Variable
from bestdag.errors import DataError, InvalidParameterError, require_count, unknown_name

if TYPE_CHECKING:
    from bestdag.counts.provider import CountProvider

__all__ = ["Dataset"]

_Codes = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]
_Weights = npt.NDArray[np.int64] | npt.NDArray[np.float64]
_Rows = slice | Sequence[int] | Sequence[bool] | npt.NDArray[Any]


class Dataset:
    """A table of discrete data: immutable, compared and hashed by content.

    Each column holds codes 0 ... arity - 1 in the order of the variable's states, in the
    smallest unsigned type (8 bits up to 255 states, else 16). The code equal to the arity
    marks a missing value.

    Parameters
    ----------
    variables : iterable of Variable
        At least one, with different names. States never seen in the rows still count.
    columns : iterable of integer arrays
        One array of codes per variable, all of the same length, at least one row. The
        arrays are copied.
    weights : array of numbers, optional
        How many times each row counts: finite, at least zero, not all zero. Whole numbers
        are kept as integers (their sum must stay below 2**53), others as float64.

    Examples
    --------
    >>> smoke = Variable("smoke", ("no", "yes"))
    >>> cough = Variable("cough", ("never", "often", "always"))
    >>> data = Dataset([smoke, cough], [np.array([0, 1, 1]), np.array([0, 2, 3])])
    >>> data
    Dataset(3 rows, 2 variables: smoke[2], cough[3]; 1 missing value in 1 column)
    >>> data.codes("cough")
    array([0, 2, 3], dtype=uint8)
    >>> data.missing_counts
    {'cough': 1}
    """

    __slots__ = ("_arities", "_columns", "_digest", "_missing", "_names", "_variables", "_weights")

    _variables: tuple[Variable, ...]
    _names: tuple[str, ...]
    _arities: Mapping[str, int]
    _columns: dict[str, _Codes]
    _weights: _Weights | None
    _digest: bytes | None
    _missing: dict[str, int] | None

    def __init__(
        self,
        variables: Iterable[Variable],
        columns: Iterable[npt.ArrayLike],
        weights: npt.ArrayLike | None = None,
    ) -> None:
        listed = tuple(variables)
        arrays = list(columns)
        if len(arrays) != len(listed):
            raise DataError(
                f"Dataset: one column per variable is needed, "
                f"got {len(listed)} variables and {len(arrays)} columns"
            )
        coded = [as_codes(*pair) for pair in zip(listed, arrays, strict=True)]
        self._fill(listed, coded, None if weights is None else as_weights(weights, who="Dataset"))

    @classmethod
    def _adopt(
        cls,
        variables: Iterable[Variable],
        columns: Iterable[_Codes],
        weights: _Weights | None = None,
    ) -> Dataset:
        """Make a Dataset of arrays that are known to be right and that no other code holds."""
        made = cls.__new__(cls)
        made._fill(tuple(variables), list(columns), weights)
        return made

    def _fill(
        self, variables: tuple[Variable, ...], columns: list[_Codes], weights: _Weights | None
    ) -> None:
        names = table_names(variables, columns, weights)
        self._variables = variables
        self._names = names
        self._arities = MappingProxyType({v.name: v.arity for v in variables})
        self._columns = {name: locked(c) for name, c in zip(names, columns, strict=True)}
        self._weights = None if weights is None else locked(weights)
        self._digest = None
        self._missing = None

    # What it holds

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, in column order."""
        return self._variables

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables, in column order."""
        return self._names

    @property
    def n_rows(self) -> int:
        """Number of rows held, whatever they weigh."""
        return len(self._columns[self._names[0]])

    @property
    def n_variables(self) -> int:
        """Number of columns."""
        return len(self._variables)

    @property
    def arities(self) -> Mapping[str, int]:
        """Declared number of states of each variable."""
        return self._arities

    @property
    def weights(self) -> _Weights | None:
        """Weight of each row (int64 or float64, read-only); None when each row counts once."""
        return self._weights

    @property
    def total_weight(self) -> int | float:
        """The number N of cases: the sum of the weights, or the number of rows.

        It is the N of BIC's penalty and of every count: a row of weight 3 counts as three equal
        rows.
        """
        return self.n_rows if self._weights is None else total_of(self._weights)

    @property
    def rows_in(self) -> Literal["memory", "disk", "cluster"]:
        """Where the rows are."""
        return "memory"

    def count_provider(self, threads: int) -> CountProvider | None:
        """Return what counts families where the rows are not in memory; None where they are.

        A `Scan` counts in blocks of mapped rows, rows on a cluster where they lie. None leaves it
        to the kernels that work on arrays. See `CountProvider`.
        """
        return None

    def fingerprint(self) -> str:
        """Return a digest of variables, codes and weights, the same on every run.

        A checkpoint is refused for data with another digest.
        """
        return f"{hash(self):x}"

    def variable(self, name: str) -> Variable:
        """Return the variable of that name.

        Raises
        ------
        UnknownNameError
            If there is none; the message offers the nearest name.
        """
        self._require(name)
        return self._variables[self._names.index(name)]

    def codes(self, name: str) -> _Codes:
        """Return the codes of one column: the array itself, read-only.

        Code k stands for state k of the variable; the code equal to its arity marks a missing
        value.

        Raises
        ------
        UnknownNameError
            If there is no such column.
        """
        self._require(name)
        return self._columns[name]

    def __getitem__(self, name: str) -> npt.NDArray[np.object_]:
        """Return the labels of one column: the state of each row, None where it is missing.

        Examples
        --------
        >>> Dataset([Variable("a", ("x", "y"))], [np.array([1, 0, 2])])["a"].tolist()
        ['y', 'x', None]
        """
        from bestdag.data.output import labels

        return labels(self, name)

    def __contains__(self, name: object) -> bool:
        return name in self._arities

    __iter__ = None  # neither names nor rows: `names` has the ones, `to_pandas` the others

    def head(self, n: int = 5) -> Dataset:
        """Return the first rows; printed, they are a table.

        Examples
        --------
        >>> data = Dataset([Variable("a", ("x", "y"))], [np.arange(10) % 2])
        >>> print(data.head(2))
        Dataset(2 rows, 1 variable: a[2])
        a
        x
        y
        """
        n = require_count("head", "n", n, minimum=1)
        return self.select(rows=slice(0, n))

    def missing(self, name: str) -> npt.NDArray[np.bool_]:
        """Return a boolean mask of the missing values of one column.

        Examples
        --------
        >>> Dataset([Variable("a", ("x", "y"))], [np.array([1, 2])]).missing("a").tolist()
        [False, True]
        """
        return np.asarray(self.codes(name) == self._arities[name])

    @property
    def missing_counts(self) -> dict[str, int]:
        """Number of missing values of each column that has some."""
        if self._missing is None:
            counted = {name: int(np.count_nonzero(self.missing(name))) for name in self._names}
            self._missing = {name: n for name, n in counted.items() if n}
        return dict(self._missing)

    @property
    def has_missing(self) -> bool:
        """Whether any value is missing."""
        return bool(self.missing_counts)

    @property
    def n_complete(self) -> int:
        """Number of rows without a missing value."""
        lacking = np.zeros(self.n_rows, np.bool_)
        for name in self.missing_counts:
            lacking |= self.missing(name)
        return self.n_rows - int(np.count_nonzero(lacking))

    def in_memory(self, who: str) -> Dataset:
        """Return the table, if its rows are in memory; a `Scan` refuses in the name of `who`.

        For steps that need all rows at once, such as EM.
        """
        return self

    def _require(self, name: str) -> None:
        if name not in self._arities:
            raise unknown_name("variable", name, self._names)

    # Parts and sums

    def select(
        self, columns: str | Iterable[str] | None = None, rows: _Rows | None = None
    ) -> Dataset:
        """Take some columns, some rows, or both.

        Parameters
        ----------
        columns : str or iterable of str, optional
            Names in the order wanted; all columns by default.
        rows : slice, integer array or boolean mask, optional
            All rows by default. Positions count from 0, negative ones from the end, and may repeat.

        Returns
        -------
        Dataset
            States stay declared when no row shows them any more, so that parts of a table can be
            compared and put together again. Columns are shared with this table where all rows are
            taken, and copied otherwise.

        Raises
        ------
        UnknownNameError
            If a name is no column.
        DataError
            If no row is chosen, a position does not exist, or the rows chosen have no weight.

        Examples
        --------
        >>> data = Dataset([Variable("a", ("x", "y"))], [np.array([0, 1, 1])])
        >>> data.select(rows=[True, False, True]).codes("a")
        array([0, 1], dtype=uint8)
        """
        names = list(self._names) if columns is None else name_list(columns)
        chosen = [self.variable(name) for name in names]
        if not chosen:
            raise InvalidParameterError("select: at least one column is needed, got none")
        if rows is None:
            return Dataset._adopt(chosen, [self._columns[n] for n in names], self._weights)
        where = row_positions(rows, self.n_rows)
        weights = None if self._weights is None else self._weights[where].copy()
        if weights is not None and not np.any(weights > 0):
            raise DataError("select: the rows chosen have no weight")
        return Dataset._adopt(chosen, [self._columns[n][where].copy() for n in names], weights)

    def drop(self, columns: str | Iterable[str]) -> Dataset:
        """Leave out some columns; at least one must remain.

        Parameters
        ----------
        columns : str or iterable of str

        Raises
        ------
        UnknownNameError
            If a name is no column.
        InvalidParameterError
            If none would remain.
        """
        unwanted = name_list(columns)
        for name in unwanted:
            self._require(name)
        names = [name for name in self._names if name not in set(unwanted)]
        if not names:
            raise InvalidParameterError("drop: at least one column must remain, got none")
        return self.select(names)

    def split(self, fraction: float, *, seed: int = 0) -> tuple[Dataset, Dataset]:
        """Divide the rows at random: a share of them, and the rest.

        Parameters
        ----------
        fraction : float
            Share of the rows in the first part, 0 < fraction < 1, rounded to whole rows;
            both parts get at least one row.
        seed : int, default 0
            Equal seeds divide equally.

        Returns
        -------
        first, second : Dataset
            Rows keep their order, and states stay declared. Rows are divided, not their weights.

        Raises
        ------
        InvalidParameterError
            If `fraction` is out of range.
        DataError
            If there is only one row.

        Examples
        --------
        >>> data = Dataset([Variable("a", ("x", "y"))], [np.arange(10) % 2])
        >>> [part.n_rows for part in data.split(0.7)]
        [7, 3]
        """
        first = random_part(self.n_rows, fraction, seed)
        return self.select(rows=first), self.select(rows=~first)

    @classmethod
    def concat(cls, datasets: Iterable[Dataset]) -> Dataset:
        """Put tables with equal variables under one another.

        Parameters
        ----------
        datasets : iterable of Dataset
            Columns are matched by name and take the order of the first table. When only some
            tables have weights, the rows of the others count once.

        Raises
        ------
        DataError
            If a table lacks a variable, has another one, or declares other states: codes of
            different states cannot be mixed. `with_states` makes them equal.

        Examples
        --------
        >>> data = Dataset([Variable("a", ("x", "y"))], [np.array([0, 1])])
        >>> Dataset.concat([data, data.head(1)]).codes("a")
        array([0, 1, 0], dtype=uint8)
        """
        from bestdag.data.checks import stacked

        tables: Any = datasets
        if isinstance(tables, Dataset) or not isinstance(tables, Iterable):
            raise InvalidParameterError(
                f"concat: a list of Datasets is needed, got one {type(tables).__name__}"
            )
        return cls._adopt(*stacked(list(tables)))

    def with_states(self, states: Mapping[str, Sequence[str]]) -> Dataset:
        """Declare other states for some columns: more of them, or in another order.

        Parameters
        ----------
        states : mapping of str to sequence of str
            All states of each column named, in order. A state that some row shows must be among
            them.

        Raises
        ------
        UnknownNameError
            If a name is no column, or a state that some row shows is left out.

        Notes
        -----
        A declared state counts even if no row has it: with it a family has more parameters, and a
        fitted table a row for it.

        Examples
        --------
        >>> data = Dataset([Variable("a", ("x", "y"))], [np.array([0, 1])])
        >>> data.with_states({"a": ("y", "x", "z")}).codes("a")
        array([1, 0], dtype=uint8)
        """
        for name in states:
            self._require(name)
        from bestdag.data.checks import recoded

        pairs = [recoded(v, self._columns[v.name], states.get(v.name)) for v in self._variables]
        return Dataset._adopt([v for v, _ in pairs], [c for _, c in pairs], self._weights)

    # Out

    def to_pandas(self, *, weights: str = "weight") -> Any:
        """Make a pandas frame of Categorical columns with all declared states.

        `read` makes an equal Dataset of it: the states and their order travel with the frame.

        Parameters
        ----------
        weights : str, default "weight"
            Name of a last column with the row weights, where there are some.

        Raises
        ------
        MissingPackageError
            Without pandas.
        DataError
            If a variable is called like the column of weights.
        """
        from bestdag.data.output import to_pandas

        return to_pandas(self, weights)

    def to_polars(self, *, weights: str = "weight") -> Any:
        """Make a polars frame of Enum columns; otherwise as `to_pandas`."""
        from bestdag.data.output import to_polars

        return to_polars(self, weights)

    def to_arrow(self, *, weights: str = "weight") -> Any:
        """Make a pyarrow table of dictionary columns; otherwise as `to_pandas`."""
        from bestdag.data.output import to_arrow

        return to_arrow(self, weights)

    def to_csv(self, path: str | Path | TextIO, *, weights: str = "weight") -> None:
        """Write a CSV file, complete or not at all.

        Parameters
        ----------
        path : path or open text stream
            The name ends in ``.csv``, ``.txt`` (commas) or ``.tsv`` (tabs), and in ``.gz`` when
            compressed. Missing values are written empty.
        weights : str, default "weight"
            Name of a last column with the row weights, where there are some.

        Raises
        ------
        DataError
            If a file could not hold the table: text with NUL characters, a variable called like the
            column of weights, or both missing values and a state ``""`` in a column.
        InvalidParameterError
            If the name has another ending, or the stream takes no text.
        WriteError
            If the file cannot be written.

        Notes
        -----
        `read` gives the rows back. A CSV file does not hold the order of the states, nor states
        that no row has: ``to_pandas`` with Parquet does.
        """
        from bestdag.data.output import to_csv

        to_csv(self, path, weights)

    # As a Python value

    def __len__(self) -> int:
        return self.n_rows

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dataset):
            return NotImplemented
        if self is other:
            return True
        if self._variables != other._variables or self.n_rows != other.n_rows:
            return False
        if (self._weights is None) != (other._weights is None):
            return False
        if self._weights is not None and not np.array_equal(self._weights, other._weights):  # type: ignore[arg-type]
            return False
        return all(np.array_equal(self._columns[n], other._columns[n]) for n in self._names)

    def __hash__(self) -> int:
        if self._digest is None:
            digest = hashlib.blake2b(repr(self._variables).encode("utf-8", "surrogatepass"))
            for name in self._names:
                digest.update(self._columns[name].data)
            if self._weights is not None:
                digest.update(b"weights")
                digest.update(self._weights.astype(np.float64).data)
            self._digest = digest.digest()
        return int.from_bytes(self._digest[:8], "little", signed=True)

    def __getstate__(self) -> tuple[tuple[Variable, ...], list[_Codes], _Weights | None]:
        return self._variables, list(self._columns.values()), self._weights

    def __setstate__(
        self, state: tuple[tuple[Variable, ...], list[_Codes], _Weights | None]
    ) -> None:
        self._fill(*state)

    def __repr__(self) -> str:
        from bestdag.data.output import summary

        return f"Dataset({summary(self)})"

    def __str__(self) -> str:
        from bestdag.data.output import first_rows_text

        return first_rows_text(self)

    def _repr_html_(self) -> str:
        from bestdag.data.output import html_table

        return html_table(self)
