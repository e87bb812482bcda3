"""Columns that are not in the network, beside variables without a column: misspelt names."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from bestdag.errors import DataError, DataWarning, caller_level, nearest_name
from bestdag.wording import either, first_names

__all__ = ["check_unknown_columns"]

_LEAST_LETTERS = 4  # in shorter names another letter makes another name


def check_unknown_columns(
    who: str, extra: Sequence[str], lacking: Sequence[str], *, are_ignored: bool = True
) -> None:
    """Refuse a column whose name is nearly that of a variable without one; warn of the others.

    A variable without a column is summed over, which is right where it is not known, and wrong
    where its column was only renamed. Where every variable has its column, others are no slip and
    nothing is said of them. Nothing is where they are not ignored: the caller then refuses them.

    Examples
    --------
    >>> check_unknown_columns("predict", ["Smoke"], ["smoke", "tub"])
    Traceback (most recent call last):
    ...
    bestdag.errors.DataError: predict: column 'Smoke' is not in the network, which has a variable \
'smoke'; rename the column, or remove it
    """
    if not extra or not lacking:
        return
    hints = []
    for name in extra:
        near = nearest_name(name, lacking)
        if near is None:
            continue
        if _is_same_but_for_a_slip(name, near):
            raise DataError(
                f"{who}: column {name!r} is not in the network, which has a variable {near!r}; "
                "rename the column, or remove it"
            )
        hints.append(f"did you mean {near!r} by {name!r}?")
    if not are_ignored:
        return
    columns = f"{either(len(extra), 'column', 'columns')} {first_names(extra)}"
    warnings.warn(
        f"{who}: {columns} {either(len(extra), 'is', 'are')} not in the network and ignored; "
        f"{either(len(lacking), 'variable', 'variables')} without a column: {first_names(lacking)}"
        + (f" ({' '.join(hints[:3])})" if hints else ""),
        DataWarning,
        stacklevel=caller_level(),
    )


def _is_same_but_for_a_slip(one: str, other: str) -> bool:
    """Whether two names differ in case, blanks and punctuation, or in a letter; digits count."""
    a, b = ("".join(filter(str.isalnum, name.casefold())) for name in (one, other))
    if a == b:
        return True
    if [sign for sign in a if sign.isdigit()] != [sign for sign in b if sign.isdigit()]:
        return False
    return min(len(a), len(b)) >= _LEAST_LETTERS and _is_one_letter_apart(a, b)


def _is_one_letter_apart(a: str, b: str) -> bool:
    """Whether one letter was left out, added, replaced, or changed places with the next."""
    if len(a) > len(b):
        a, b = b, a
    k = next((k for k, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(a))
    if len(a) < len(b):
        return a[k:] == b[k + 1 :]
    is_swapped = a[k : k + 2] == b[k : k + 2][::-1] and a[k + 2 :] == b[k + 2 :]
    return a[k + 1 :] == b[k + 1 :] or is_swapped
