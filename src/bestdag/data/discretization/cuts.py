"""What a cut point is: where it lies, which interval a number is in, what intervals are called."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.data.checks import code_type
from bestdag.data.dataset import Dataset
from bestdag.data.schema import MAX_ARITY, MISSING_STATE, Variable
from bestdag.errors import FormatError, InvalidParameterError
from bestdag.files import read_file, shown_path, write_file

__all__ = [
    "apply_cuts",
    "check_cuts",
    "counted_numbers",
    "cut_between",
    "cut_codes",
    "cut_variable",
    "interval_labels",
    "labelled_variable",
    "load_cut_points",
    "write_cut_points",
]

# Digits of a cut point, where as many still tell its two neighbours apart.
_DIGITS = 12
_BLOCK = 1 << 18
_GREATEST = float(np.finfo(np.float64).max)
# Whole numbers up to here are written without a point.
_MAX_WHOLE = 2.0**53


def apply_cuts(values: npt.ArrayLike, cuts: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return the number of the interval that each value is in.

    Value x is in interval number (how many cuts are < x), so an interval contains its upper
    end, and values beyond all cuts are in the outer intervals. NaN gets the number of
    intervals, the code of a missing value.

    Parameters
    ----------
    values : array of numbers
        One dimension.
    cuts : array of float
        Ascending.

    Returns
    -------
    array of uint8 or uint16

    Examples
    --------
    >>> apply_cuts([0.5, 0.8, 0.9, 99.0, float("nan")], [0.8, 1.75])
    array([0, 0, 1, 2, 3], dtype=uint8)
    """
    numbers = np.asarray(values, dtype=np.float64)
    points = np.asarray(cuts, dtype=np.float64)
    out = np.empty(len(numbers), dtype=code_type(len(points) + 1))
    for start in range(0, len(numbers), _BLOCK):  # positions take 8 bytes, codes 1 or 2
        block = numbers[start : start + _BLOCK]
        intervals = np.searchsorted(points, block, side="left")
        intervals[np.isnan(block)] = len(points) + 1
        out[start : start + _BLOCK] = intervals
    return out


def cut_between(lower: float, upper: float) -> float:
    """Return the cut point between two neighbouring values, lower <= cut < upper.

    It is their midpoint, to 12 significant digits where that is still between them.

    Examples
    --------
    >>> cut_between(0.1, 0.2), cut_between(1.7, 1.8), cut_between(1.0, 1.0 + 2**-52)
    (0.15, 1.75, 1.0)
    """
    middle = lower / 2 + upper / 2
    short = float(f"{middle:.{_DIGITS}g}")
    for cut in (short, middle):
        if lower < cut < upper:
            return cut + 0.0  # never minus zero
    return lower + 0.0


def interval_labels(cuts: Sequence[float]) -> tuple[str, ...]:
    """Name the intervals between cut points, in order.

    Examples
    --------
    >>> interval_labels([0.8, 2.0])
    ('<=0.8', '0.8 to 2', '>2')
    >>> interval_labels([])
    ('all',)
    """
    if not len(cuts):
        return ("all",)
    texts = [_text(float(cut)) for cut in cuts]
    inner = [f"{low} to {high}" for low, high in itertools.pairwise(texts)]
    return (f"<={texts[0]}", *inner, f">{texts[-1]}")


def labelled_variable(name: str, labels: Collection[str]) -> Variable | None:
    """Return the variable whose states these labels are, if they are all intervals of one.

    They must be the labels that `interval_labels` gives to some cut points, all of them and
    nothing else; a state ``missing`` may be among them. None otherwise.

    Examples
    --------
    >>> labelled_variable("dose", {"0.8 to 2", ">2", "<=0.8"})
    Variable(name='dose', states=('<=0.8', '0.8 to 2', '>2'), cuts=(0.8, 2.0))
    >>> labelled_variable("dose", {"<=0.8", ">2"}) is None  # what is between?
    True
    """
    intervals = set(labels) - {MISSING_STATE}
    cuts = []
    for label in intervals - {"all"}:
        upper = label.removeprefix("<=") if label.startswith("<=") else label.rpartition(" to ")[2]
        if not label.startswith(">"):
            try:
                cuts.append(float(upper))
            except ValueError:
                return None
    if not np.isfinite(cuts).all():
        return None
    cuts.sort()
    states = interval_labels(cuts)
    if set(states) != intervals or len(states) != len(intervals):
        return None
    if len(intervals) < len(labels):
        states = (*states, MISSING_STATE)
    return Variable(name, states, tuple(cuts))


def cut_variable(name: str, cuts: Sequence[float]) -> Variable:
    """Return the variable whose states are the intervals between cut points."""
    return Variable(name, interval_labels(cuts), tuple(float(cut) for cut in cuts))


def cut_codes(variable: Variable, values: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    """Return the codes of numbers under a variable with cut points.

    A last state ``missing`` takes the missing values.
    """
    codes = apply_cuts(values, variable.cuts or ())
    # The code of a missing value is the number of intervals, which is that of such a state.
    return codes.astype(code_type(variable.arity), copy=False)


def counted_numbers(
    values: npt.ArrayLike, weights: npt.NDArray[Any] | None
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return the numbers that cut points are made from, and which rows they are.

    NaN and rows of weight 0 are left out; infinite values count as the greatest finite one.
    """
    numbers = np.asarray(values, dtype=np.float64)
    counted = ~np.isnan(numbers)
    if weights is not None:
        counted &= np.asarray(weights) > 0
    return np.clip(numbers[counted], -_GREATEST, _GREATEST) + 0.0, counted


def check_cuts(who: str, name: str, cuts: object) -> tuple[float, ...]:
    """Return given cut points as floats if they are finite and ascending."""
    try:
        if isinstance(cuts, str):
            raise TypeError
        points = tuple(float(cut) for cut in cuts)  # type: ignore[attr-defined]
    except (TypeError, ValueError, OverflowError):
        raise InvalidParameterError(
            f"{who}: cut points of {name!r} must be a list of numbers, got {cuts!r:.60}"
        ) from None
    if not np.all(np.isfinite(points)) or any(
        low >= high for low, high in itertools.pairwise(points)
    ):
        raise InvalidParameterError(
            f"{who}: cut points of {name!r} must be finite and ascending, got {list(points)!r:.60}"
        )
    if len(points) >= MAX_ARITY:
        raise InvalidParameterError(
            f"{who}: at most {MAX_ARITY - 1:,} cut points are possible, got {len(points):,} "
            f"for {name!r}"
        )
    return points


def _text(cut: float) -> str:
    return str(int(cut)) if cut.is_integer() and abs(cut) <= _MAX_WHOLE else repr(cut)


_FORMAT = "bestdag cut points"
_VERSION = 1


def write_cut_points(data: Dataset, path: str | os.PathLike[str]) -> None:
    """Write the cut points of a data set, complete or not at all."""
    cuts = {v.name: list(v.cuts) for v in data.variables if v.cuts is not None}
    content = {"format": _FORMAT, "version": _VERSION, "cuts": cuts}
    text = json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    write_file(path, text.encode())


def load_cut_points(path: str | os.PathLike[str]) -> dict[str, tuple[float, ...]]:
    """Read the cut points of each column, as `discretize` takes them for `cuts`."""
    who = shown_path(path)
    try:
        content: Any = json.loads(read_file(path))
    except (ValueError, RecursionError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"{who}: not a JSON file: {error}") from None
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise FormatError(
            f"{who}: not a file of cut points; one begins with a format of {_FORMAT!r}"
        )
    if content.get("version") != _VERSION:
        raise FormatError(
            f"{who}: version {_VERSION} of the format is needed, got {content.get('version')!r:.20}"
        )
    cuts = content.get("cuts")
    if not isinstance(cuts, dict):
        raise FormatError(f"{who}: 'cuts' must map columns to lists of numbers, got {cuts!r:.60}")
    try:
        return {name: check_cuts(who, name, points) for name, points in cuts.items()}
    except InvalidParameterError as error:
        raise FormatError(str(error)) from None
