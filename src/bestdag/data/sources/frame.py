"""Tables in memory: pandas, polars, pyarrow, NumPy, dicts of lists.

None of the packages is imported here: an object of theirs brings its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from bestdag.data.dataset import Dataset
from bestdag.data.labels import is_absent, label_all, number_in
from bestdag.data.sources.base import Limits, Numbers, RawColumn, small_codes, without_marks
from bestdag.errors import DataError, InvalidParameterError

__all__ = ["FrameSource", "frame_columns", "is_from"]

_Array = npt.NDArray[Any]


def is_from(package: str, value: object) -> bool:
    """Whether an object's class, or a class it derives from, comes from a package."""
    return any(base.__module__.partition(".")[0] == package for base in type(value).__mro__)


def frame_columns(source: Any, names: Sequence[str] | None) -> list[tuple[str, Any]] | None:
    """List (name, column) of a table in memory; None if it is not one.

    `names` are used for a plain two-dimensional array of as many columns, which has none of its
    own; without them its columns are "0", "1" and so on, as in pandas. Whole numbers as names
    become text.
    """
    listed = _listed_columns(source, names)
    if listed is None:
        return None
    first: dict[Any, Any] = {}
    for name, _ in listed:
        other = first.setdefault(_name_text(name), name)
        if type(other) is not type(name):
            raise DataError(
                f"read: the {type(source).__name__}: columns {other!r} and {name!r} would both be "
                f"called {str(name)!r}; rename one"
            )
    return [(_name_text(name), column) for name, column in listed]


def _name_text(name: Any) -> Any:
    is_whole = isinstance(name, int | np.integer) and not isinstance(name, bool | np.bool_)
    return str(int(name)) if is_whole else name


def _listed_columns(source: Any, names: Sequence[str] | None) -> list[tuple[Any, Any]] | None:
    if isinstance(source, Dataset):
        return [(name, (source, name)) for name in source.names]
    if isinstance(source, Mapping):
        return list(source.items())
    if isinstance(source, np.ndarray):
        return _array_columns(source, names)
    if is_from("pandas", source) and hasattr(source, "iloc") and hasattr(source, "columns"):
        return [(name, source.iloc[:, i]) for i, name in enumerate(source.columns)]
    if is_from("polars", source) and hasattr(source, "collect_schema"):
        frame = source.collect() if hasattr(source, "collect") else source
        return [(series.name, series) for series in frame.get_columns()]
    if is_from("pyarrow", source) and hasattr(source, "schema"):
        if hasattr(source, "read_all"):  # a reader of batches
            source = source.read_all()
        return [(name, source.column(i)) for i, name in enumerate(source.schema.names)]
    return None


def _raw_column_of(name: str, column: Any, who: str) -> RawColumn:
    """Give the distinct values of one column their numbers."""
    if isinstance(column, tuple) and len(column) == 2 and isinstance(column[0], Dataset):
        variable = column[0].variable(name)
        codes = column[0].codes(name)
        return RawColumn(name, variable.states, codes, variable.states, variable)
    if is_from("pandas", column) and hasattr(column, "dtype"):
        return _from_pandas(name, column, who)
    if is_from("polars", column) and hasattr(column, "dtype"):
        return _from_polars(name, column, who)
    if is_from("pyarrow", column) and hasattr(column, "type"):
        return _from_arrow(name, column)
    if isinstance(column, np.ndarray):
        return _from_numpy(name, column, who)
    if isinstance(column, set | frozenset):
        raise DataError(f"{who}: column {name!r} is a set, whose values have no order; give a list")
    if isinstance(column, str | bytes) or not isinstance(column, Iterable):
        raise DataError(f"{who}: column {name!r} must be a list of values, got {column!r:.60}")
    return _from_objects(name, column, who)


def _array_columns(array: npt.NDArray[Any], names: Sequence[str] | None) -> list[tuple[Any, Any]]:
    if array.dtype.names is not None:
        if array.ndim != 1:
            raise DataError("read: a structured array must have one dimension")
        return [(name, array[name]) for name in array.dtype.names]
    if array.ndim != 2:
        raise DataError(f"read: an array must have two dimensions, got {array.ndim}")
    numbered = [str(i) for i in range(array.shape[1])]
    if names is None or set(names) <= set(numbered):
        names = numbered
    if len(names) != array.shape[1]:
        raise InvalidParameterError(
            f"read: the array has {array.shape[1]} columns, columns= gives {len(names)} names"
        )
    return [(name, array[:, i]) for i, name in enumerate(names)]


def _from_objects(name: str, column: Iterable[Any], who: str) -> RawColumn:
    place: dict[tuple[bool, Any], int] = {}
    codes: list[int] = []
    try:
        for value in column:
            # True equals 1 in Python, and is another state.
            absent = is_absent(value)
            code = -1 if absent else place.setdefault((isinstance(value, bool), value), len(place))
            codes.append(code)
    except TypeError:
        raise DataError(
            f"{who}: column {name!r} holds {type(value).__name__} values; "
            f"text, numbers, booleans or dates are needed"
        ) from None
    values = [value for _, value in place]
    return RawColumn(name, values, small_codes(np.array(codes, dtype=np.int64), len(values)))


def _from_numpy(name: str, column: npt.NDArray[Any], who: str) -> RawColumn:
    if column.ndim != 1:
        raise DataError(f"{who}: column {name!r} must have one dimension, got {column.ndim}")
    hidden = np.ma.getmaskarray(column)
    plain = np.asarray(column)
    if plain.dtype.kind not in "buifUM":
        return _from_objects(
            name, [None if h else v for v, h in zip(plain.tolist(), hidden, strict=True)], who
        )
    if plain.dtype.kind in "fM":
        hidden = hidden | np.isnan(plain) if plain.dtype.kind == "f" else hidden | np.isnat(plain)
    found, inverse = np.unique(plain[~hidden], return_inverse=True)
    codes: _Array = np.full(len(plain), len(found), dtype=np.int64)
    codes[~hidden] = inverse
    codes = small_codes(codes, len(found))
    values: list[Any] = list(found)
    if plain.dtype.kind == "M":
        days = found.astype("datetime64[D]")
        values = [str(value) for value in (days if np.array_equal(days, found) else found)]
    elif plain.dtype.kind in "biuU" or plain.dtype == np.float64:
        values = found.tolist()
    return RawColumn(name, values, codes)


def _from_pandas(name: str, column: Any, who: str) -> RawColumn:
    dtype = column.dtype
    if hasattr(dtype, "categories") and hasattr(dtype, "ordered"):
        values = list(dtype.categories)
        codes = np.asarray(column.cat.codes if hasattr(column, "cat") else column.codes)
        return RawColumn(
            name, values, small_codes(codes, len(values)), _declared(name, values, who)
        )
    if isinstance(dtype, np.dtype) and dtype.kind in "buif":
        return _from_numpy(name, np.asarray(column), who)
    if isinstance(dtype, np.dtype) and dtype.kind == "O":
        return _from_objects(name, column, who)
    codes, found = column.factorize()
    return RawColumn(name, list(found), small_codes(codes, len(found)))


def _from_polars(name: str, column: Any, who: str) -> RawColumn:
    import polars

    dtype = column.dtype
    if dtype == polars.Enum:
        values = dtype.categories.to_list()
        codes = column.to_physical().cast(polars.Int64).fill_null(-1).to_numpy()
        return RawColumn(name, values, small_codes(codes, len(values)), tuple(values))
    if dtype == polars.Categorical:
        column = column.cast(polars.String)
    elif dtype.is_float():
        narrow = dtype != polars.Float64
        column = column.fill_nan(None)
        if narrow:
            return _from_numpy(name, column.to_numpy(), who)  # nulls become NaN
    if dtype.is_nested() or dtype in (polars.Binary, polars.Object, polars.Null):
        return _from_objects(name, column.to_list(), who)
    found = column.drop_nulls().unique()
    places = polars.Series(np.arange(len(found), dtype=np.int64))
    codes = column.replace_strict(found, places, default=None).fill_null(-1).to_numpy()
    return RawColumn(name, found.to_list(), small_codes(codes, len(found)))


def _from_arrow(name: str, column: Any) -> RawColumn:
    import pyarrow

    array = column
    if isinstance(array, pyarrow.ChunkedArray):
        if pyarrow.types.is_dictionary(array.type):
            array = array.unify_dictionaries()
        array = array.combine_chunks()
        if isinstance(array, pyarrow.ChunkedArray):  # older versions keep one chunk
            array = array.chunk(0) if array.num_chunks else pyarrow.array([], array.type)
    declared = pyarrow.types.is_dictionary(array.type)
    if pyarrow.types.is_nested(array.type) or pyarrow.types.is_null(array.type):
        return _from_objects(name, array.to_pylist(), "read: arrow table")
    if not declared:
        array = array.dictionary_encode()
    kind = array.dictionary.type
    values = array.dictionary.to_pylist()
    if pyarrow.types.is_float32(kind) or pyarrow.types.is_float16(kind):
        values = list(array.dictionary.to_numpy(zero_copy_only=False))
    indices = array.indices.cast(pyarrow.int64()).fill_null(-1)
    codes = small_codes(indices.to_numpy(zero_copy_only=False), len(values))
    labels = _declared(name, values, "read: arrow table") if declared else None
    return RawColumn(name, values, codes, labels)


def _declared(name: str, values: list[Any], who: str) -> tuple[str, ...]:
    present = [value for value in values if not is_absent(value)]
    labels = label_all(present)
    if labels is None:
        raise DataError(f"{who}: column {name!r} has categories that are not text or numbers")
    first: dict[str, Any] = {}
    for label, value in zip(labels, present, strict=True):
        if label in first:
            raise DataError(
                f"{who}: column {name!r} has the categories {first[label]!r} and {value!r}, which "
                f"would be one state, {label!r}; rename one"
            )
        first[label] = value
    return tuple(labels)


class FrameSource:
    """Columns of a frame, a dict or an array; a column is looked at when it is asked for."""

    in_memory = True

    def __init__(
        self, columns: Sequence[tuple[str, Any]], title: str, weights: _Array | None = None
    ) -> None:
        self.title = title
        self.names: Sequence[str] = [name for name, _ in columns]
        self.own_weights = weights
        self._columns = dict(columns)
        self._raw: dict[str, RawColumn] = {}
        self._n_rows = 0

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self._n_rows

    def choose(self, names: Sequence[str], weight: str | None) -> None:
        """Refuse columns of different lengths."""
        lengths = {name: self._length(name) for name in names}
        self._n_rows = lengths[names[0]]
        for name, length in lengths.items():
            if length != self._n_rows:
                raise DataError(
                    f"read: {self.title}: column {name!r} has {length:,} rows, "
                    f"column {names[0]!r} has {self._n_rows:,}"
                )

    def declared(self, name: str) -> tuple[str, ...] | None:
        """Return the states of a categorical column, or of one of a Dataset."""
        return None if _has_numbers(self._columns[name]) else self._raw_column(name).declared

    def weights(self, name: str) -> npt.NDArray[np.float64]:
        """One column as numbers, NaN where a value is none."""
        raw = self._raw_column(name)
        table = np.full(len(raw.values) + 1, np.nan)
        for code, value in enumerate(raw.values):
            try:
                table[code] = float(value)
            except (TypeError, ValueError):
                continue
        weights: npt.NDArray[np.float64] = table[np.minimum(raw.codes, len(raw.values))]
        return weights

    def cell(self, name: str, row: int) -> Any:
        """One value as the source has it; None where there is none."""
        raw = self._raw_column(name)
        code = int(raw.codes[row])
        return raw.values[code] if code < len(raw.values) else None

    def numbers(self, name: str, missing_values: Collection[str]) -> Numbers:
        """One column as numbers."""
        if _has_numbers(self._columns[name]):
            return Numbers(without_marks(_as_floats(self._columns[name]), missing_values))
        raw = self._raw_column(name)
        table = np.full(len(raw.values) + 1, np.nan)
        wrong = np.zeros(len(raw.values) + 1, dtype=np.bool_)
        for code, value in enumerate(raw.values):
            number = number_in(value)
            if number is not None:
                table[code] = number
            elif not is_absent(value):
                wrong[code] = (label_all([value]) or [""])[0] not in missing_values
        codes = np.minimum(raw.codes, len(raw.values))
        values = without_marks(table[codes], missing_values)
        is_text = any(isinstance(value, str) for value in raw.values)
        if not wrong.any() or not wrong[codes].any():
            return Numbers(values, is_text=is_text)
        row = int(np.argmax(wrong[codes]))
        return Numbers(values, (row, raw.values[int(codes[row])]), wrong[codes], is_text)

    def columns(self, names: Sequence[str], limits: Limits) -> list[RawColumn]:
        """Whole columns with their codes."""
        return [self._raw_column(name) for name in names]

    def distinct(self, names: Sequence[str], limits: Limits) -> NoReturn:
        """Refuse: whole columns are there."""
        raise NotImplementedError

    def batches(
        self, columns: Sequence[RawColumn], weight: str | None, *, collapse: bool
    ) -> NoReturn:
        """Refuse: whole columns are there."""
        raise NotImplementedError

    def has_few_different_rows(self, names: Sequence[str], weight: str | None) -> bool:
        """Return False: rows in memory stay as they are."""
        return False

    def _length(self, name: str) -> int:
        column = self._columns[name]
        return len(column) if _has_numbers(column) else len(self._raw_column(name).codes)

    def _raw_column(self, name: str) -> RawColumn:
        if name not in self._raw:
            self._raw[name] = _raw_column_of(name, self._columns[name], f"read: {self.title}")
        return self._raw[name]


def _has_numbers(column: Any) -> bool:
    """Whether the type of a column is one of numbers."""
    if is_from("pandas", column) and hasattr(column, "to_numpy"):
        from pandas.api.types import is_float_dtype, is_integer_dtype

        return bool(is_float_dtype(column.dtype) or is_integer_dtype(column.dtype))
    if is_from("polars", column) and hasattr(column, "dtype"):
        return bool(column.dtype.is_numeric())
    if is_from("pyarrow", column) and hasattr(column, "type"):
        from pyarrow import types

        kind = column.type
        return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))
    return isinstance(column, np.ndarray) and column.dtype.kind in "iuf" and column.ndim == 1


def _as_floats(column: Any) -> npt.NDArray[np.float64]:
    """Return a column of numbers as float64, NaN where a value is missing."""
    if is_from("pandas", column):
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    if is_from("polars", column):
        import polars

        return np.asarray(column.cast(polars.Float64).to_numpy())
    if is_from("pyarrow", column):
        from pyarrow import compute, float64

        plain = compute.cast(column, float64(), safe=False)
        return np.asarray(plain.to_numpy(zero_copy_only=False))
    numbers = np.asarray(column).astype(np.float64)
    numbers[np.ma.getmaskarray(column)] = np.nan
    return numbers
