"""How texts write numbers with their nouns, lists of names, values, and aligned columns."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from unicodedata import combining, east_asian_width

__all__ = ["aligned", "count_of", "either", "first_names", "shell_word", "shown_value"]

_MOST_NAMES = 5
_MOST_SHOWN = 80  # characters of a value


def aligned(rows: Sequence[Sequence[str]], *, left: int | None = None) -> list[str]:
    """Write rows as lines with aligned columns, the first `left` ones, or all, to the left.

    Nothing is cut or wrapped. Letters of East Asian scripts are two columns of a terminal wide.

    Examples
    --------
    >>> aligned([("age", "n"), ("雨", "12"), ("young", "7")], left=1)
    ['age     n', '雨     12', 'young   7']
    """
    sizes = [[_columns(cell) for cell in row] for row in rows]
    widths = [max(column) for column in zip(*sizes, strict=True)]
    lines = []
    for row, used in zip(rows, sizes, strict=True):
        blanks = [" " * (width - size) for width, size in zip(widths, used, strict=True)]
        cells = [
            cell + blank if left is None or k < left else blank + cell
            for k, (cell, blank) in enumerate(zip(row, blanks, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def _columns(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(c) in "WF" else not combining(c) for c in text)


def either(number: float, one: str, many: str) -> str:
    """Return the word that goes with a number of things.

    Examples
    --------
    >>> either(1, "has", "have"), either(0, "has", "have")
    ('has', 'have')
    """
    return one if number == 1 else many


def count_of(number: float, noun: str, plural: str | None = None) -> str:
    """Say how many there are.

    Examples
    --------
    >>> count_of(1, "row"), count_of(2000, "row"), count_of(2, "family", "families")
    ('1 row', '2,000 rows', '2 families')
    >>> count_of(1.0, "row"), count_of(1234567.5, "row")
    ('1 row', '1,234,567.5 rows')
    """
    shown = int(number) if number == int(number) else number
    return f"{shown:,} {either(number, noun, plural or f'{noun}s')}"


def first_names(names: Collection[str]) -> str:
    """List the first few names, quoted, and say whether there are more.

    Examples
    --------
    >>> first_names(["a", "b"]), first_names("abcdef")
    ("'a', 'b'", "'a', 'b', 'c', 'd', 'e', ...")
    """
    shown = [repr(name) for name, _ in zip(names, range(_MOST_NAMES), strict=False)]
    return ", ".join([*shown, *(["..."] if len(names) > _MOST_NAMES else [])])


def shown_value(value: object) -> str:
    """Write a value for a message, on one line and cut off where it is long.

    Examples
    --------
    >>> shown_value([1, "a"]), len(shown_value("x" * 1000))
    ("[1, 'a']", 80)
    """
    try:
        text = repr(value)
    except ValueError:  # Python does not write whole numbers of thousands of digits
        text = "a number of thousands of digits"
    text = " ".join(text.split())
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 4]} ..."


def shell_word(text: str) -> str:
    r"""Quote a text for a shell, by double quotes where it has single ones.

    Examples
    --------
    >>> print(shell_word("plain"), shell_word("two words"), shell_word("FROM 'rows.csv'"))
    plain 'two words' "FROM 'rows.csv'"
    """
    if "'" not in text or any(sign in text for sign in "$`!\\"):
        return shlex.quote(text)
    return '"' + text.replace('"', '\\"') + '"'
