"""Columns out of tables in memory: pandas, polars, pyarrow, NumPy, dicts of lists.

None of the packages is imported here: an object of theirs brings its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.data.dataset import Dataset
from bestdag.data.labels import is_absent, label_all
from bestdag.data.raw import RawColumn
from bestdag.errors import DataError, InvalidParameterError

__all__ = ["frame_columns", "is_from", "raw_column"]


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


def raw_column(name: str, column: Any, who: str) -> RawColumn:
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
    return RawColumn(name, values, _closed(np.array(codes, dtype=np.int64), len(values)))


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
    codes = np.full(len(plain), len(found), dtype=np.int64)
    codes[~hidden] = inverse
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
        return RawColumn(name, values, _closed(codes, len(values)), _declared(name, values, who))
    if isinstance(dtype, np.dtype) and dtype.kind in "buif":
        return _from_numpy(name, np.asarray(column), who)
    if isinstance(dtype, np.dtype) and dtype.kind == "O":
        return _from_objects(name, column, who)
    codes, found = column.factorize()
    return RawColumn(name, list(found), _closed(codes, len(found)))


def _from_polars(name: str, column: Any, who: str) -> RawColumn:
    import polars

    dtype = column.dtype
    if dtype == polars.Enum:
        values = dtype.categories.to_list()
        codes = column.to_physical().cast(polars.Int64).fill_null(-1).to_numpy()
        return RawColumn(name, values, _closed(codes, len(values)), tuple(values))
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
    return RawColumn(name, found.to_list(), _closed(codes, len(found)))


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
    codes = _closed(indices.to_numpy(zero_copy_only=False), len(values))
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


def _closed(codes: npt.NDArray[Any], n_values: int) -> npt.NDArray[Any]:
    """Let the code of a missing value, -1 so far, be the one past the last value."""
    missing = codes < 0
    if not missing.any():
        return codes
    return np.where(missing, n_values, codes.astype(np.int64))
