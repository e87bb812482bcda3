"""Every exception we raise on purpose, and the checks that raise them.

    BestdagError
    ├── InvalidParameterError (ValueError)   a setting outside its range
    ├── UnknownNameError (KeyError)          a column, node, score ... that does not exist
    ├── DataError (ValueError)               a table that cannot be used as it is
    │   └── ImpossibleEvidenceError          findings that cannot be together
    ├── GraphError (ValueError)              a graph that is not what it must be
    │   └── CycleError                       arcs that close a directed cycle
    ├── CertificateError (ValueError)        a proof that does not prove its claim
    ├── FormatError (ValueError)             a file that does not follow its format
    ├── FileError (OSError)                  a file that cannot be read
    │   └── WriteError                       a file that cannot be written
    ├── MissingPackageError (ImportError)    an optional package is not installed
    ├── ClusterError                         machines that cannot be used, or are gone
    │   └── RowsLostError (KeyboardInterrupt)  the same while a search asks them
    └── NotEnoughMemoryError (MemoryError)   a forecast that exceeds what is free

Each message says who, what was needed, what came and, where it helps, what to do. It is written
once for Python and the command line: parameters stand in it as values (`arg` in `wording.py`).
"""

from __future__ import annotations

import difflib
import errno
import importlib
import math
import numbers
import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Any, Self

from bestdag.wording import as_option, by_reader, in_python, on_command_line, shown_value

__all__ = [
    "BestdagError",
    "CertificateError",
    "ClusterError",
    "CycleError",
    "DataError",
    "DataWarning",
    "FileError",
    "FormatError",
    "GraphError",
    "ImpossibleEvidenceError",
    "InterruptedWarning",
    "InvalidParameterError",
    "MissingPackageError",
    "NotEnoughMemoryError",
    "RowsLostError",
    "UnknownNameError",
    "WriteError",
    "bad_setting",
    "caller_level",
    "import_optional",
    "is_short_of_memory",
    "nearest_name",
    "no_memory",
    "require_choice",
    "require_count",
    "require_flag",
    "require_known",
    "require_not_negative",
    "require_positive",
    "require_prior_count",
    "unknown_name",
]

_LARGEST_COUNT = 2**63 - 1
_LEAST_PRIOR_COUNT, _MOST_PRIOR_COUNT = 1e-100, 1e100
# How libraries say that the system gives no more memory, or no thread for want of it.
_SAYS_NO_MEMORY = (
    "cannot allocate memory",
    "bad_alloc",
    "out of memory",
    "failed to map segment",
    "unable to allocate",
    "failed to allocate",
    "can't start new thread",
    "could not start thread",
    "resource temporarily unavailable",
    "without exception set",  # by an interpreter that could not make the exception
    "without setting an exception",
)


class _Message:
    """An error or a warning whose message is in Python's words, with those of the command line.

    Its text may name parameters by `arg`; it is rendered here, once for each reader.
    """

    on_command_line: str = ""

    def __init__(self, *arguments: object) -> None:
        text = arguments[0] if arguments else ""
        shown = (in_python(one) if isinstance(one, str) else one for one in arguments)
        super().__init__(*shown)  # of the exception beside this class
        self.on_command_line = on_command_line(text) if isinstance(text, str) else ""


class BestdagError(_Message, Exception):
    """Base of all errors raised on purpose.

    `on_command_line` is the message in terms of options.
    """


class InvalidParameterError(BestdagError, ValueError):
    """A setting is outside its range."""


class UnknownNameError(BestdagError, KeyError):
    """A name does not exist; the message offers the nearest one."""

    def __str__(self) -> str:  # KeyError would print the repr of the message
        return str(self.args[0]) if self.args else ""


class DataError(BestdagError, ValueError):
    """A table cannot be used as it is."""


class ImpossibleEvidenceError(DataError):
    """What is known has probability zero.

    `findings` are the names of variables whose findings cannot be together: each of them is
    needed for that.
    """

    findings: tuple[str, ...] = ()


class GraphError(BestdagError, ValueError):
    """A graph is not what it must be."""


class CycleError(GraphError):
    """Arcs close a directed cycle."""


class CertificateError(BestdagError, ValueError):
    """A proof does not prove what it claims."""


class FormatError(BestdagError, ValueError):
    """A file does not follow its format."""


class FileError(BestdagError, OSError):
    """A file cannot be read."""


class WriteError(FileError):
    """A file cannot be written."""


class MissingPackageError(BestdagError, ImportError):
    """An optional package is needed and not installed."""


class NotEnoughMemoryError(BestdagError, MemoryError):
    """A forecast exceeds the memory that is free, or the system gives no more."""

    def __new__(cls, *arguments: object) -> Self:
        """Make one as an Exception is made.

        By name one would find `MemoryError.__new__`, which refuses this class ("is not safe"): and
        by name Dask's pickling of errors (tblib) calls it.
        """
        return Exception.__new__(cls, *arguments)


class ClusterError(BestdagError):
    """A cluster cannot be used as it is, or is gone.

    `best` is what `learn` had found by then, if anything.
    """

    best: Any = None

    @classmethod
    def after(cls, lost: RowsLostError, best: Any) -> ClusterError:
        """Return the error of a search that ended with what it had."""
        error = cls(f"{lost}; the best structure so far is kept")
        error.best = best
        return error


class RowsLostError(ClusterError, KeyboardInterrupt):
    """The machines that hold the rows are gone: searches answer as to Ctrl-C, with what they have.

    `learn` then raises a `ClusterError` that has it.
    """


def is_short_of_memory(error: BaseException) -> bool:
    """Whether an error, of whatever library, says that memory could not be had.

    Examples
    --------
    >>> is_short_of_memory(OSError(12, "Cannot allocate memory")), is_short_of_memory(OSError(2))
    (True, False)
    """
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return True
    if isinstance(error, BestdagError):
        return False
    said = str(error).lower()
    return any(words in said for words in _SAYS_NO_MEMORY)


def no_memory(who: str) -> NotEnoughMemoryError:
    """Return the error for memory that the system did not give."""
    return NotEnoughMemoryError(
        f"{who}: out of memory, the system gives no more; use less data, or raise the limit "
        "(ulimit -v)"
    )


class DataWarning(_Message, UserWarning):
    """The data are usable, and something about them deserves a look.

    `on_command_line` is the message in terms of options.
    """


class InterruptedWarning(UserWarning):
    """Ctrl-C stopped the work early, and what was returned is the best so far.

    `best` is what was returned. ``warnings.simplefilter("error", InterruptedWarning)`` makes it an
    exception, so that Ctrl-C ends a loop as well.
    """

    best: Any = None


def caller_level() -> int:
    """Return the `stacklevel` at which a warning names the line that called our code."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith("bestdag"):
        level, frame = level + 1, frame.f_back
    return level


def unknown_name(
    kind: str, name: object, known: Iterable[str], *, who: str | None = None
) -> UnknownNameError:
    """Build the error for a name that does not exist, with the nearest known one.

    Examples
    --------
    >>> print(unknown_name("score", "bdu", ["bdeu", "bic"]))
    unknown score 'bdu'; known: bdeu, bic (did you mean 'bdeu'?)
    >>> print(unknown_name("score", "bdue", ["bde", "bdeu"]))
    unknown score 'bdue'; known: bde, bdeu (did you mean 'bdeu'?)
    """
    names = list(known)
    listed = ", ".join(n if n.isprintable() else repr(n) for n in names[:12])
    shown = listed + (f", ... ({len(names)} in all)" if len(names) > 12 else "")
    text = f"{who}: " if who else ""
    text += f"unknown {kind} {name!r}; known: {shown or 'none'}"
    near = nearest_name(str(name), names)
    return UnknownNameError(text if near is None else f"{text} (did you mean {near!r}?)")


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that may have been meant, if there is one like it.

    Examples
    --------
    >>> nearest_name("Smoke", ["smoke", "lung"]), nearest_name("age", ["smoke", "lung"])
    ('smoke', None)
    """
    folded = {n.casefold(): n for n in known}
    given = name.casefold()
    near = difflib.get_close_matches(given, folded, n=3)
    if not near:
        return None
    # Letters that changed places are the likeliest slip; else the nearest comes first.
    return folded[min(near, key=lambda one: sorted(one) != sorted(given))]


def require_known(kind: str, name: str, known: Iterable[str], *, who: str | None = None) -> str:
    """Return `name` if it is one of `known`, else raise with a suggestion."""
    names = list(known)
    if name not in names:
        raise unknown_name(kind, name, names, who=who)
    return name


def bad_setting(
    who: str, what: str, needed: str, value: object, *, option: str | None = None
) -> InvalidParameterError:
    """Build the error for a setting outside its range.

    `option` is what the command line calls it, by default its name with dashes.

    Examples
    --------
    >>> error = bad_setting("MIT", "confidence", "a number between 0 and 1", 2.0)
    >>> print(error)
    MIT: confidence must be a number between 0 and 1, got 2.0
    >>> print(error.on_command_line)
    MIT: --confidence must be a number between 0 and 1, got 2.0
    """
    name = by_reader(what, option or as_option(what))
    return InvalidParameterError(f"{who}: {name} must be {needed}, got {shown_value(value)}")


def require_positive(who: str, what: str, value: float) -> float:
    """Return `value` if it is a finite number above zero."""
    if not _is_real(value) or not 0 < value < math.inf or value > sys.float_info.max:
        raise bad_setting(who, what, "a finite number > 0", value)
    return value


def require_not_negative(who: str, what: str, value: float, *, option: str | None = None) -> float:
    """Return `value` if it is a finite number from zero on.

    `option` is what the command line calls it, if not by the same name.
    """
    if not _is_real(value) or not 0 <= value < math.inf or value > sys.float_info.max:
        raise bad_setting(who, what, "a finite number >= 0", value, option=option)
    return value


def require_prior_count(who: str, what: str, value: float) -> float:
    """Return `value` if it is a number above zero that can stand beside counts of rows.

    Beyond the limits, sums and quotients of it would be infinite or zero.
    """
    require_positive(who, what, value)
    if not _LEAST_PRIOR_COUNT <= value <= _MOST_PRIOR_COUNT:
        limits = f"between {_LEAST_PRIOR_COUNT:g} and {_MOST_PRIOR_COUNT:g}"
        raise bad_setting(who, what, limits, value)
    return value


def require_count(
    who: str, what: str, value: int, *, minimum: int = 0, option: str | None = None
) -> int:
    """Return `value` as an int if it is a whole number of at least `minimum`, below 2^63.

    `option` is what the command line calls it, if not by the same name.
    """
    whole = hasattr(value, "__index__") and not isinstance(value, bool)
    if not whole or not minimum <= value.__index__() <= _LARGEST_COUNT:
        needed = f"a whole number >= {minimum}"
        if whole and value.__index__() > _LARGEST_COUNT:
            needed += " and < 2^63"
        raise bad_setting(who, what, needed, value, option=option)
    return value.__index__()


def require_flag(who: str, what: str, value: object) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(value, bool) and type(value).__name__ not in ("bool", "bool_"):  # of NumPy
        raise bad_setting(who, what, by_reader("True or False", "yes or no"), value)


def require_choice(who: str, what: str, value: object, choices: Iterable[object]) -> None:
    """Refuse a value that is not one of the choices."""
    allowed = list(choices)
    if value not in allowed:
        shown = ", ".join(repr(choice) for choice in allowed)
        raise bad_setting(who, what, f"one of {shown}", value)


def import_optional(package: str, *, who: str, extra: str | None = None) -> ModuleType:
    """Import an optional package, or say how to install it: as an extra of ours, if it is one."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        top = package.partition(".")[0]
        wanted = top if extra is None else f"'bestdag[{extra}]'"
        raise MissingPackageError(
            f"{who}: needs the package '{top}', which is not installed; "
            f"install it with: pip install {wanted}"
        ) from error


def _is_real(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)
