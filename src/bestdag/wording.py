"""How messages write parameters, numbers with their nouns, lists of names, and values.

A message is written once, for readers of two languages. What they say differently stands in it as
a value: `arg` is a parameter, which the command line calls an option, and `by_reader` is advice
that is another one there. Both are texts with marks around the two wordings, so a message is an
f-string like any other; whoever shows it renders it by `in_python` or `on_command_line`. Errors
and warnings of ours do that when they are made (`errors.py`).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Literal, get_args
from unicodedata import combining, east_asian_width

__all__ = [
    "PARAMETERS",
    "Option",
    "Parameter",
    "aligned",
    "arg",
    "as_option",
    "by_reader",
    "count_of",
    "either",
    "first_names",
    "in_python",
    "on_command_line",
    "shell_word",
    "shown_value",
]

_MOST_NAMES = 5
_MOST_SHOWN = 80  # characters of a value

# Around the two wordings: code points that are no characters, which `repr` escapes in values.
_OPEN, _BETWEEN, _CLOSE = "\ufdd0", "\ufdd1", "\ufdd2"
_MARKED = re.compile(f"{_OPEN}([^{_OPEN}]*?){_BETWEEN}([^{_OPEN}]*?){_CLOSE}", re.DOTALL)

# Parameters that messages name. A contract test holds them to the parameters and options there are.
Parameter = Literal[
    "allow_few_rows",
    "alpha",
    "arc_probability",
    "arities",
    "burn_in",
    "cache",
    "candidates",
    "checkpoint",
    "collapse",
    "drop",
    "encoding",
    "engine",
    "epsilon",
    "ess",
    "final_temperature",
    "force",
    "generator",
    "impossible",
    "initial_temperature",
    "k",
    "max_parents",
    "max_states",
    "method",
    "missing",
    "missing_values",
    "mode",
    "n",
    "n_arcs",
    "near_optimal",
    "oracle",
    "order",
    "orders",
    "per_class",
    "perturb",
    "prior",
    "pseudo_count",
    "restarts",
    "resume",
    "rows_in",
    "samples",
    "search",
    "separator",
    "sheet",
    "smooth",
    "start",
    "start_from",
    "steps",
    "structure_prior",
    "support",
    "target",
    "test",
    "threads",
    "ties",
    "time_limit",
    "within",
    "workers",
]
PARAMETERS: tuple[str, ...] = get_args(Parameter)
# Options of single commands that are called otherwise than the parameter.
Option = Literal["--cluster", "--cv", "--dag-prior"]

# Options that are spelled otherwise than their parameter, everywhere.
_OPTIONS = {
    "missing_values": "--missing-value",
    "n": "-n",
    "near_optimal": "--k-best",
    "start_from": "--start",
    "ties": "--all-optimal",
    "within": "--collect-within",
    "workers": "--threads",
}
# What a shell can write for a tab and a blank.
_SIGNS = {"\t": "tab", " ": "space"}
_NO_VALUE: Any = object()


def arg(name: Parameter, value: object = _NO_VALUE, *, option: Option | None = None) -> str:
    """Return a parameter for a message, with its value where there is one.

    `option` is what the command line calls it, where that is not its name with dashes.

    Examples
    --------
    >>> text = f"pass {arg('missing', 'drop')}, or raise {arg('max_states')}"
    >>> print(in_python(text))
    pass missing='drop', or raise max_states
    >>> print(on_command_line(text))
    pass --missing drop, or raise --max-states
    >>> on_command_line(arg("missing_values", ["?", "NA"]))
    "--missing-value '?' --missing-value NA"
    >>> in_python(arg("per_class", False)), on_command_line(arg("per_class", False))
    ('per_class=False', '--no-per-class')
    """
    flag = option or as_option(name)
    if value is _NO_VALUE:
        return by_reader(name, flag)
    return by_reader(f"{name}={value!r}", _with_value(flag, value))


def by_reader(python: str, command_line: str) -> str:
    """Return two wordings for a message: one for readers in Python, one for the command line.

    Examples
    --------
    >>> text = f"to look at it: {by_reader('Network.load(path)', 'bestdag info FILE')}"
    >>> in_python(text), on_command_line(text)
    ('to look at it: Network.load(path)', 'to look at it: bestdag info FILE')
    """
    return f"{_OPEN}{in_python(python)}{_BETWEEN}{on_command_line(command_line)}{_CLOSE}"


def in_python(text: str) -> str:
    """Return a message as Python reads it."""
    return _MARKED.sub(r"\1", text) if _OPEN in text else text


def on_command_line(text: str) -> str:
    """Return a message as the command line reads it."""
    return _MARKED.sub(r"\2", text) if _OPEN in text else text


def as_option(setting: str) -> str:
    """Return how the command line spells a setting; what is not a name stays as it is.

    Examples
    --------
    >>> as_option("max_states"), as_option("n"), as_option("max_parents of 'a'")
    ('--max-states', '-n', "max_parents of 'a'")
    """
    if not setting.isidentifier():
        return setting
    return _OPTIONS.get(setting) or f"--{setting.replace('_', '-')}"


def _with_value(flag: str, value: object) -> str:
    if value is True:
        return flag
    if value is False:
        return f"--no-{flag.removeprefix('--')}"
    if isinstance(value, Iterable) and not isinstance(value, str):
        return " ".join(_with_value(flag, one) for one in value)
    text = str(value)
    return f"{flag} {_SIGNS.get(text) or shell_word(text)}"


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
