"""Many numbers from one text, to the last bit, without a Python object for each."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import NoReturn

import numpy as np
import numpy.typing as npt

__all__ = ["NUMBER", "read_numbers"]

NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_PLAIN = re.compile(r"[-+0-9.eE \t\r\n\f\v]*+")
_WORD = re.compile(r"[^ \t\r\n\f\v]+")


def read_numbers(
    text: str, fail: Callable[[int, str], NoReturn], wanted: str = "a number"
) -> npt.NDArray[np.float64]:
    r"""Read numbers with blanks between them; `fail` is told where one is none.

    Examples
    --------
    >>> read_numbers(" 0.1 2e-1\n.7 ", print).tolist()
    [0.1, 0.2, 0.7]
    """
    made = _in_bulk(text)
    if made is not None:
        return made
    for word in _WORD.finditer(text):
        if NUMBER.fullmatch(word[0]) is None:
            shown = word[0] if len(word[0]) <= 40 else word[0][:37] + "..."
            fail(word.start(), f"expected {wanted}, got {shown!r}")
    return np.array([float(word[0]) for word in _WORD.finditer(text)], dtype=np.float64)


def _in_bulk(text: str) -> npt.NDArray[np.float64] | None:
    """Read plain numbers; None where something else may be among them."""
    # Only such text: the reader of arrays also takes nan and stops at what it does not know.
    if not _PLAIN.fullmatch(text):
        return None
    is_blank = np.frombuffer(text.encode("ascii"), dtype=np.uint8) <= ord(" ")
    n_words = int((is_blank[:-1] & ~is_blank[1:]).sum()) + int(not is_blank[:1].all())
    if n_words == 0:
        return np.empty(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            made = np.fromstring(text, dtype=np.float64, sep=" ")
        except (DeprecationWarning, ValueError):
            return None
    # It reads 1-2 as two numbers.
    return made if len(made) == n_words else None
