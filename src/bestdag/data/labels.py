"""From values to states: the text of a value, and the order of the states of a column."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

__all__ = ["is_absent", "is_broken", "label_all", "number_in", "sorted_states"]

_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,6})?\s*", re.ASCII)
_INFINITE = re.compile(r"\s*[+-]?inf(inity)?\s*", re.ASCII | re.IGNORECASE)
# Whole floats beyond this are not written digit by digit: float64 has gaps there.
_MAX_WHOLE = 2.0**53
# Values with a text form that is no state.
_NO_STATES = (
    *(bytes, bytearray, list, tuple, set, frozenset, dict, np.ndarray),
    *(complex, np.complexfloating),
)


def is_absent(value: Any) -> bool:
    """Whether a value stands for a missing value: None, NaN, NaT or a package's own null."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas.NA compares to NA, which has no truth value
        return type(value).__name__ == "NAType"


def is_broken(text: str) -> bool:
    r"""Whether a text holds half a character (a lone surrogate), which no file can keep.

    Examples
    --------
    >>> is_broken("caf\u00e9"), is_broken("\ud800")
    (False, True)
    """
    return any("\ud800" <= sign <= "\udfff" for sign in text)


def label_all(values: Sequence[Any]) -> list[str] | None:
    """Write the distinct values of one column as text, or None if some value has no text form.

    Floats that are all whole are written as whole numbers, otherwise all numbers of the
    column keep their point. Times that are all midnight are written as dates, others in ISO
    form; booleans as ``True`` and ``False``.

    Examples
    --------
    >>> label_all([2.0, 1.0]), label_all([2.0, 1.5]), label_all([True, "x"])
    (['2', '1'], ['2.0', '1.5'], ['True', 'x'])
    """
    if any(_is_float(value) for value in values) and all(_is_number(value) for value in values):
        if all(_is_whole(value) for value in values):
            return [str(int(value)) for value in values]
        return [_float_text(value) for value in values]
    if values and all(_is_midnight(value) for value in values):
        return [value.date().isoformat() for value in values]
    texts = [_text(value) for value in values]
    return None if None in texts else [text for text in texts if text is not None]


def sorted_states(labels: Iterable[str]) -> tuple[str, ...]:
    """Sort labels as numbers when all are finite numbers, else by code point.

    Examples
    --------
    >>> sorted_states(["10", "9", "-1.5"]), sorted_states(["10", "9", "a"])
    (('-1.5', '9', '10'), ('10', '9', 'a'))
    """
    listed = sorted(set(labels))
    if all(_NUMBER.fullmatch(label) for label in listed):
        listed.sort(key=lambda label: Decimal(label.strip()))
    return tuple(listed)


def number_in(value: Any) -> float | None:
    """Return the number that a value is, or that its text is; None if it is not one.

    Examples
    --------
    >>> number_in(" 1e3"), number_in(2), number_in("-inf"), number_in("nan"), number_in(True)
    (1000.0, 2.0, -inf, None, None)
    """
    if isinstance(value, str):
        if _NUMBER.fullmatch(value) or _INFINITE.fullmatch(value):
            return float(value)
        return None
    if not _is_number(value) or is_absent(value):
        return None
    try:
        return float(value)
    except OverflowError:  # a whole number beyond float64
        return math.inf if value > 0 else -math.inf


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | np.integer):
        return str(int(value))
    if _is_float(value):
        return str(int(value)) if _is_whole(value) else _float_text(value)
    if isinstance(value, datetime.date | datetime.time):  # datetimes and pandas times are dates
        return value.isoformat()
    return None if isinstance(value, _NO_STATES) or not _has_own_text(value) else str(value)


def _has_own_text(value: Any) -> bool:
    # An object whose class says nothing about its text prints its address, which is no state.
    kind: Any = type(value)
    return any("__str__" in vars(c) or "__repr__" in vars(c) for c in kind.__mro__[:-1])


def _is_midnight(value: Any) -> bool:
    return (
        isinstance(value, datetime.datetime)
        and value.tzinfo is None
        and value.time() == datetime.time(0)
        and not getattr(value, "nanosecond", 0)
    )


def _is_float(value: Any) -> bool:
    return isinstance(value, float | np.floating | Decimal)


def _is_number(value: Any) -> bool:
    return _is_float(value) or (
        isinstance(value, int | np.integer) and not isinstance(value, bool | np.bool_)
    )


def _is_whole(value: Any) -> bool:
    return math.isfinite(value) and value == int(value) and abs(value) <= _MAX_WHOLE


def _float_text(value: Any) -> str:
    if isinstance(value, Decimal):
        return str(value)
    if value == 0:
        return "0.0"  # minus zero is the same value
    if isinstance(value, np.float32 | np.float16):
        return str(value)  # the shortest text in its own precision: 0.1, not 0.10000000149
    return repr(float(value))
