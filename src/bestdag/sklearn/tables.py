"""From what scikit-learn is given, frames or arrays, to a raw table."""

from __future__ import annotations

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

from bestdag.data.choice import choose
from bestdag.data.encode import ReadOptions
from bestdag.data.frame_table import FrameTable
from bestdag.data.frames import frame_columns
from bestdag.data.labels import is_absent
from bestdag.data.raw import RawTable
from bestdag.data.schema import MAX_ARITY
from bestdag.errors import DataError

__all__ = ["class_labels", "raw_columns", "raw_table"]

Columns = list[tuple[str, Any]]


def raw_columns(estimator: Any, given: Any, *, reset: bool) -> Columns:
    """Check a table as scikit-learn does and list its columns with their names."""
    if hasattr(given, "columns") and hasattr(given, "shape"):
        validate_data(estimator, given, reset=reset, skip_check_array=True)
        check_array(given, dtype=None, ensure_all_finite=False, estimator=estimator)
        return [(str(name), column) for name, column in frame_columns(given, None) or ()]
    array = validate_data(estimator, given, reset=reset, dtype=None, ensure_all_finite="allow-nan")
    return [(f"x{j}", array[:, j]) for j in range(array.shape[1])]


def raw_table(
    given: Any, columns: Columns, rows: npt.NDArray[np.bool_] | None = None
) -> tuple[RawTable, ReadOptions]:
    """Open the columns of a table, all rows or some."""
    choice = choose(given, missing="keep", missing_values=(), max_states=MAX_ARITY)
    if rows is not None:
        places = np.flatnonzero(rows)
        columns = [(name, _taken(column, places)) for name, column in columns]
    return FrameTable(columns, choice), choice.options


def class_labels(
    estimator: Any, table: Any, given: Any, *, may_lack: bool = False
) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """Check the classes of the rows of a table as scikit-learn does, and say which rows have one.

    With `may_lack` None and NaN are rows without a class; there must be others.
    """
    if given is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None"
        )
    labels: npt.NDArray[Any] = column_or_1d(given, warn=True)
    check_consistent_length(table, labels)
    has_class = np.ones(len(labels), bool)
    if may_lack and labels.dtype.kind in "fO":
        has_class = np.fromiter((not is_absent(y) for y in labels), bool, len(labels))
        if not has_class.any():
            raise DataError(f"{type(estimator).__name__}: no training row has a class")
    known = labels[has_class]
    if may_lack and labels.dtype.kind == "O":
        known = np.array(known.tolist())  # the type that they have without None
    if known.dtype.kind == "f":
        assert_all_finite(known, input_name="y")
    check_classification_targets(known)
    return known, has_class


def _taken(column: Any, places: npt.NDArray[np.intp]) -> Any:
    by_place: Any = getattr(column, "iloc", column)
    return by_place[places]
