"""Tables in memory: pandas, polars, pyarrow, NumPy, dicts of lists.

None of the packages is imported here: an object of theirs brings its own.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.data.dataset import Dataset
from bestdag.data.labels import is_absent, label_all, number_in
from bestdag.data.sources.base import (
    Batch,
    Limits,
    Numbers,
    RawColumn,
    encoded_column,
    small_codes,
    take_codes,
    without_marks,
)
from bestdag.errors import DataError, InvalidParameterError
from bestdag.machine import thread_count

__all__ = ["FrameSource", "frame_columns", "is_from"]

_Array = npt.NDArray[Any]
_NO_LIMIT = 2**32 - 2
# Whole numbers of polars that are no words of 64 bits.
_WIDE = ("Int128", "UInt128")


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


@dataclass(frozen=True, slots=True, eq=False)
class _Values:
    """What the native encoder takes for a column: a stream of Arrow, an array or objects."""

    stream: Any = None
    array: Any = None
    mask: Any = None
    objects: Any = None
    declared: tuple[str, ...] | None = None


def _values_of(name: str, column: Any, who: str) -> _Values | RawColumn:
    """Return what is to be encoded; a column that has codes already is not."""
    if isinstance(column, tuple) and len(column) == 2 and isinstance(column[0], Dataset):
        variable = column[0].variable(name)
        codes = column[0].codes(name)
        return RawColumn(name, variable.states, codes, variable.states, variable)
    if is_from("pandas", column) and hasattr(column, "dtype"):
        return _from_pandas(name, column, who)
    if is_from("polars", column) and hasattr(column, "dtype"):
        return _from_polars(name, column)
    if is_from("pyarrow", column) and hasattr(column, "type"):
        return _from_arrow(name, column)
    if isinstance(column, np.ndarray):
        return _from_numpy(name, column, who)
    if isinstance(column, set | frozenset):
        raise DataError(f"{who}: column {name!r} is a set, whose values have no order; give a list")
    if isinstance(column, str | bytes) or not isinstance(column, Iterable):
        raise DataError(f"{who}: column {name!r} must be a list of values, got {column!r:.60}")
    return _Values(objects=column if type(column) is list else list(column))


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


def _from_numpy(name: str, column: npt.NDArray[Any], who: str) -> _Values | RawColumn:
    if column.ndim != 1:
        raise DataError(f"{who}: column {name!r} must have one dimension, got {column.ndim}")
    hidden = np.ma.getmaskarray(column) if isinstance(column, np.ma.MaskedArray) else None
    plain = np.asarray(column)
    if plain.dtype.kind in "buifU" and plain.dtype.itemsize * (plain.dtype.kind == "f") <= 8:
        return _Values(array=plain.astype(plain.dtype.newbyteorder("="), copy=False), mask=hidden)
    if plain.dtype.kind != "M":
        values = plain.tolist()
        if hidden is not None:
            values = [None if h else v for v, h in zip(values, hidden, strict=True)]
        return _Values(objects=values)
    lacking = np.isnat(plain) if hidden is None else hidden | np.isnat(plain)
    moments, inverse = np.unique(plain[~lacking], return_inverse=True)
    codes: _Array = np.full(len(plain), len(moments), dtype=np.int64)
    codes[~lacking] = inverse
    days = moments.astype("datetime64[D]")
    texts = [str(moment) for moment in (days if np.array_equal(days, moments) else moments)]
    return RawColumn(name, texts, small_codes(codes, len(moments)))


def _from_pandas(name: str, column: Any, who: str) -> _Values | RawColumn:
    dtype = column.dtype
    if hasattr(dtype, "categories") and hasattr(dtype, "ordered"):
        values = list(dtype.categories)
        codes = np.asarray(column.cat.codes if hasattr(column, "cat") else column.codes)
        declared = _declared(name, values, who)
        return RawColumn(name, values, small_codes(codes, len(values)), declared)
    if isinstance(dtype, np.dtype) and dtype.kind in "buif":
        return _from_numpy(name, np.asarray(column), who)
    if isinstance(dtype, np.dtype) and dtype.kind == "O":
        return _Values(objects=np.asarray(column))
    if getattr(dtype, "storage", None) == "pyarrow" and hasattr(column, "array"):
        return _from_arrow(name, column.array.__arrow_array__())
    if getattr(dtype, "storage", None) == "python":
        return _Values(objects=column.to_numpy(dtype=object))
    codes, values = column.factorize()
    return RawColumn(name, list(values), small_codes(codes, len(values)))


def _from_polars(name: str, column: Any) -> _Values | RawColumn:
    import polars

    dtype = column.dtype
    declared = tuple(dtype.categories.to_list()) if dtype == polars.Enum else None
    is_streamed = dtype in (polars.String, polars.Categorical, polars.Enum, polars.Boolean)
    if is_streamed or dtype.is_float() or (dtype.is_integer() and str(dtype) not in _WIDE):
        return _Values(stream=column.__arrow_c_stream__(), declared=declared)
    if dtype.is_nested() or dtype in (polars.Binary, polars.Object, polars.Null):
        return _Values(objects=column.to_list())
    values = column.drop_nulls().unique()
    places = polars.Series(np.arange(len(values), dtype=np.int64))
    codes = column.replace_strict(values, places, default=None).fill_null(-1).to_numpy()
    return RawColumn(name, values.to_list(), small_codes(codes, len(values)))


def _from_arrow(name: str, column: Any) -> _Values | RawColumn:
    import pyarrow
    from pyarrow import types

    chunked = (
        column if isinstance(column, pyarrow.ChunkedArray) else pyarrow.chunked_array([column])
    )
    kind = chunked.type
    if types.is_nested(kind) or types.is_null(kind):
        return _Values(objects=chunked.to_pylist())
    declared = None
    if types.is_dictionary(kind):
        chunked = chunked.unify_dictionaries()
        values = chunked.chunk(0).dictionary.to_pylist() if chunked.num_chunks else []
        declared = _declared(name, values, "read: arrow table")
        kind = kind.value_type
    is_text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    is_number = types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
    if is_text or is_number:
        return _Values(stream=chunked.__arrow_c_stream__(), declared=declared)
    array = chunked.combine_chunks()
    if isinstance(array, pyarrow.ChunkedArray):  # older versions keep one chunk
        array = array.chunk(0) if array.num_chunks else pyarrow.array([], array.type)
    if declared is None:
        array = array.dictionary_encode()
    values = array.dictionary.to_pylist()
    indices = array.indices.cast(pyarrow.int64()).fill_null(-1)
    codes = small_codes(indices.to_numpy(zero_copy_only=False), len(values))
    return RawColumn(name, values, codes, declared)


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
    """Columns of a frame, a dict or an array; a column is looked at when it is read."""

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
        self._encode([name for name in names if not _has_numbers(self._columns[name])])
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
        self._encode(names)
        return [self._raw_column(name) for name in names]

    def distinct(self, names: Sequence[str], limits: Limits) -> list[RawColumn]:
        """Return whole columns, which have their distinct values."""
        return self.columns(names, limits)

    def batches(
        self, columns: Sequence[RawColumn], weight: str | None, *, collapse: bool
    ) -> Generator[Batch, None, None]:
        """Codes of all rows, at once and as they are."""
        weights = None if weight is None else self.weights(weight)
        yield Batch([column.codes for column in columns], weights=weights)

    def has_few_different_rows(self, names: Sequence[str], weight: str | None) -> bool:
        """Return False: rows in memory stay as they are."""
        return False

    def _length(self, name: str) -> int:
        column = self._columns[name]
        return len(column) if _has_numbers(column) else len(self._raw_column(name).codes)

    def _raw_column(self, name: str) -> RawColumn:
        self._encode([name])
        return self._raw[name]

    def _encode(self, names: Sequence[str]) -> None:
        """Encode columns that were not yet, together."""
        who = f"read: {self.title}"
        values: dict[str, _Values] = {}
        for name in dict.fromkeys(names):
            if name not in self._raw:
                column = _values_of(name, self._columns[name], who)
                if isinstance(column, RawColumn):
                    self._raw[name] = column
                else:
                    values[name] = column
        if not values:
            return
        threads = thread_count(None, who="read")
        encoder = _core.ColumnEncoder([_NO_LIMIT] * len(values), [])
        numbered = list(enumerate(values.items()))
        streams = [(i, v.stream) for i, (_, v) in numbered if v.stream is not None]
        arrays = [(i, v) for i, (_, v) in numbered if v.array is not None]
        encoder.add_streams([stream for _, stream in streams], [i for i, _ in streams], threads)
        encoder.add_arrays(
            [v.array for _, v in arrays],
            [i for i, _ in arrays],
            [v.mask for _, v in arrays],
            threads,
        )
        for i, (name, v) in numbered:
            if v.objects is not None:
                try:
                    encoder.add_objects(v.objects, i)
                except TypeError as error:
                    raise DataError(
                        f"{who}: column {name!r} holds {error} values; "
                        f"text, numbers, booleans or dates are needed"
                    ) from None
        columns = [
            encoded_column(encoder, i, name, declared=v.declared) for i, (name, v) in numbered
        ]
        self._raw |= {column.name: column for column in take_codes(encoder, columns, threads)}


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
