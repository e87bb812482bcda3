"""From what scikit-learn is given, frames or arrays, to raw columns by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    assert_all_finite,
    check_array,
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from bestdag.data.labels import is_absent

__all__ = ["RawTable", "class_labels", "raw_table"]

# Whole numbers below this fit into 64 bits.
_MAX_INT = 1 << 63


@dataclass(frozen=True, slots=True)
class RawTable:
    """Raw columns by name, and the values of those that declare them (pandas categories)."""

    columns: dict[str, npt.NDArray[Any]]
    declared: dict[str, tuple[Any, ...]]
    n_rows: int

    def rows(self, kept: npt.NDArray[np.bool_]) -> RawTable:
        """Return some of the rows."""
        columns = {name: raw[kept] for name, raw in self.columns.items()}
        return RawTable(columns, self.declared, int(kept.sum()))

    def is_complete(self) -> npt.NDArray[np.bool_]:
        """Return for each row whether it has no missing cell."""
        complete = np.ones(self.n_rows, bool)
        for raw in self.columns.values():
            if raw.dtype.kind == "f":
                complete &= ~np.isnan(raw)
            elif raw.dtype.kind == "O":
                complete &= np.array([value is not None for value in raw.tolist()], bool)
        return complete


def raw_table(estimator: Any, given: Any, *, reset: bool) -> RawTable:
    """Check a table as scikit-learn does and take it apart into columns."""
    if hasattr(given, "columns") and hasattr(given, "shape"):
        validate_data(estimator, given, reset=reset, skip_check_array=True)
        check_array(given, dtype=None, ensure_all_finite=False, estimator=estimator)
        return _from_frame(given)
    array = validate_data(estimator, given, reset=reset, dtype=None, ensure_all_finite="allow-nan")
    columns = {f"x{j}": _plain(array[:, j]) for j in range(array.shape[1])}
    return RawTable(columns, {}, array.shape[0])


def class_labels(estimator: Any, table: Any, given: Any) -> npt.NDArray[Any]:
    """Check the classes of the rows of a table as scikit-learn does."""
    if given is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None"
        )
    labels: npt.NDArray[Any] = column_or_1d(given, warn=True)
    check_consistent_length(table, labels)
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    return labels


def _from_frame(frame: Any) -> RawTable:
    columns: dict[str, npt.NDArray[Any]] = {}
    declared: dict[str, tuple[Any, ...]] = {}
    for place, name in enumerate(frame.columns):
        column = frame.iloc[:, place] if hasattr(frame, "iloc") else frame[name]
        label = str(name)
        categories = _categories(column)
        if categories is not None:
            declared[label] = categories
        columns[label] = _plain_column(column)
    return RawTable(columns, declared, frame.shape[0])


def _categories(column: Any) -> tuple[Any, ...] | None:
    """Return the values of a pandas categorical or a polars Enum."""
    is_pandas = type(column).__module__.startswith("pandas")
    if is_pandas or type(column.dtype).__name__ == "Enum":
        categories = getattr(column.dtype, "categories", None)
        return None if categories is None else tuple(categories)
    return None


def _plain_column(column: Any) -> npt.NDArray[Any]:
    """Return numbers as they are, and anything else as objects with None for missing."""
    if type(column).__module__.startswith("pandas"):
        if column.dtype.kind in "iufb" and isinstance(column.dtype, np.dtype):
            return np.asarray(column)
        values = column.astype(object).where(column.notna(), None)
        return _plain(np.asarray(values, dtype=object))
    return _plain(np.array(column.to_list(), dtype=object))


def _plain(raw: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Turn objects that are all numbers into numbers; other missing values become None."""
    if raw.dtype.kind in "iufb":
        return raw
    if raw.dtype.kind in "US":
        return raw.astype(object)
    values = [None if is_absent(value) else value for value in raw.tolist()]
    known = [value for value in values if value is not None]
    if known and all(map(_is_number, known)):
        whole = len(known) == len(values) and all(
            isinstance(v, int) and abs(v) < _MAX_INT for v in known
        )
        return np.array(values, dtype=np.int64 if whole else np.float64)  # None is NaN there
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
