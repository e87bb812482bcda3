"""From what scikit-learn is given, frames or arrays, to a raw table and its training rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
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
from bestdag.data.schema import MAX_ARITY
from bestdag.data.settings import ReadOptions, choose
from bestdag.data.sources.frame import FrameSource, frame_columns
from bestdag.data.table import Table
from bestdag.errors import DataError, DataWarning, InvalidParameterError, require_choice
from bestdag.incomplete import TREATMENTS
from bestdag.wording import count_of

__all__ = ["KEEPING", "TrainingRows", "class_labels", "raw_columns", "raw_table"]

# Ways to treat missing values that learn from them.
KEEPING = tuple(name for name, strategy in TREATMENTS.items() if strategy.keeps_missing)

Columns = list[tuple[str, Any]]


def raw_columns(estimator: Any, table: Any, *, reset: bool) -> Columns:
    """Check a table as scikit-learn does and list its columns with their names."""
    if hasattr(table, "columns") and hasattr(table, "shape"):
        validate_data(estimator, table, reset=reset, skip_check_array=True)
        check_array(table, dtype=None, ensure_all_finite=False, estimator=estimator)
        return [(str(name), column) for name, column in frame_columns(table, None) or ()]
    array = validate_data(estimator, table, reset=reset, dtype=None, ensure_all_finite="allow-nan")
    return [(f"x{j}", array[:, j]) for j in range(array.shape[1])]


def raw_table(
    source: Any,
    columns: Columns,
    missing_values: Iterable[str],
    rows: npt.NDArray[np.bool_] | None = None,
) -> tuple[Table, ReadOptions]:
    """Open the columns of a table, all rows or some."""
    choice = choose(source, missing="keep", missing_values=missing_values, max_states=MAX_ARITY)
    if rows is not None:
        places = np.flatnonzero(rows)
        columns = [(name, _taken(column, places)) for name, column in columns]
    return Table(FrameSource(columns, choice.options.source), choice), choice.options


def class_labels(
    estimator: Any, table: Any, target: Any, *, may_lack: bool = False
) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """Check the classes of the rows of a table as scikit-learn does, and say which rows have one.

    With `may_lack` None and NaN are rows without a class; there must be others.
    """
    if target is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None"
        )
    labels: npt.NDArray[Any] = column_or_1d(target, warn=True)
    check_consistent_length(table, labels)
    has_class = np.ones(len(labels), bool)
    if may_lack and labels.dtype.kind in "fO":
        has_class = np.fromiter((not is_absent(y) for y in labels), bool, len(labels))
        if not has_class.any():
            raise DataError(f"{type(estimator).__name__}: no training row has a class")
    if not may_lack and labels.dtype.kind == "O":
        n_without = sum(map(is_absent, labels))
        if n_without:
            raise DataError(
                f"{type(estimator).__name__}: {count_of(n_without, 'training row')} without a "
                "class; leave them out, set unlabelled='drop', or unlabelled='keep' with "
                "missing='em'"
            )
    known = labels[has_class]
    if may_lack and labels.dtype.kind == "O":
        known = np.array(known.tolist())  # the type that they have without None
    if known.dtype.kind == "f":
        assert_all_finite(known, input_name="y")
    check_classification_targets(known)
    return known, has_class


@dataclass(frozen=True, slots=True)
class TrainingRows:
    """Which rows a classifier learns from, when cells or classes are missing.

    Parameters
    ----------
    who : str
        Name of the classifier.
    missing, unlabelled : str
        Settings of the classifier.
    """

    who: str
    missing: str
    unlabelled: str

    def __post_init__(self) -> None:
        require_choice("classifier", "missing", self.missing, ("drop", "error", *KEEPING))
        require_choice("classifier", "unlabelled", self.unlabelled, ("error", "drop", "keep"))
        if self.unlabelled == "keep" and not self.keeps_missing:
            raise InvalidParameterError(
                f"{self.who}: unlabelled='keep' needs missing to be one of "
                f"{', '.join(map(repr, KEEPING))}, got {self.missing!r}"
            )

    @property
    def keeps_missing(self) -> bool:
        """Whether rows with missing values are learned from."""
        return self.missing in KEEPING

    def used(
        self,
        table: Table,
        has_class: npt.NDArray[np.bool_],
        weights: npt.NDArray[np.float64] | None,
    ) -> npt.NDArray[np.bool_]:
        """Return a boolean mask of the rows to learn from; refuse or warn about the others."""
        counted = np.ones(len(has_class), bool) if weights is None else weights > 0
        if self.unlabelled == "drop":
            counted = counted & has_class
        if self.keeps_missing:
            if not (counted & has_class).any():
                raise DataError(f"{self.who}: no training row with a class has a weight")
            return counted
        complete = np.ones(len(has_class), bool)
        for name in table.names:
            complete &= ~table.numbers(name).is_missing
        n_left_out = int((counted & ~complete).sum())
        if n_left_out:
            if self.missing == "error":
                raise DataError(
                    f"{self.who}: {n_left_out:,} training rows have missing values; "
                    "leave them out, or set missing='drop'"
                )
            warnings.warn(
                f"{self.who}: {n_left_out:,} of {int(counted.sum()):,} training rows "
                "have missing values and are left out",
                DataWarning,
                stacklevel=3,
            )
        used: npt.NDArray[np.bool_] = counted & complete
        if not used.any():
            raise DataError(
                f"{self.who}: no training row is left, {int(counted.sum()):,} have a "
                f"weight above 0 and {int(complete.sum()):,} have no missing value"
            )
        return used


def _taken(column: Any, places: npt.NDArray[np.intp]) -> Any:
    by_place: Any = getattr(column, "iloc", column)
    return by_place[places]
