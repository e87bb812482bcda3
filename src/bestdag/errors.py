"""Every exception we raise on purpose, and the checks that raise them.

    BestdagError
    ├── InvalidParameterError (ValueError)   a setting outside its range
    ├── UnknownNameError (KeyError)          a column, node, score ... that does not exist
    ├── DataError (ValueError)               a table that cannot be used as it is
    ├── GraphError (ValueError)              a graph that is not what it must be
    │   └── CycleError                       arcs that close a directed cycle
    ├── CertificateError (ValueError)        a proof that does not prove its claim
    ├── FormatError (ValueError)             a file that does not follow its format
    ├── FileError (OSError)                  a file that cannot be read
    │   └── WriteError                       a file that cannot be written
    ├── MissingPackageError (ImportError)    an optional package is not installed
    └── NotEnoughMemoryError (MemoryError)   a forecast that exceeds what is free

Each message says who, what was needed, what came and, where it helps, what to do.
"""

from __future__ import annotations

import difflib
import importlib
import math
import numbers
from collections.abc import Iterable
from types import ModuleType
from typing import Self

__all__ = [
    "BestdagError",
    "CertificateError",
    "CycleError",
    "DataError",
    "DataWarning",
    "FileError",
    "FormatError",
    "GraphError",
    "InvalidParameterError",
    "MissingPackageError",
    "NotEnoughMemoryError",
    "UnknownNameError",
    "WriteError",
    "import_optional",
    "require_choice",
    "require_count",
    "require_known",
    "require_positive",
    "unknown_name",
]


class BestdagError(Exception):
    """Base of all errors raised on purpose.

    `on_command_line` is the message in terms of options, where it differs.
    """

    on_command_line: str | None = None

    def with_option(self, text: str) -> Self:
        """Say the same in terms of options of the command line."""
        self.on_command_line = text
        return self


class InvalidParameterError(BestdagError, ValueError):
    """A setting is outside its range."""


class UnknownNameError(BestdagError, KeyError):
    """A name does not exist; the message offers the nearest one."""

    def __str__(self) -> str:  # KeyError would print the repr of the message
        return str(self.args[0]) if self.args else ""


class DataError(BestdagError, ValueError):
    """A table cannot be used as it is."""


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
    """A forecast exceeds the memory that is free."""


class DataWarning(UserWarning):
    """The data are usable, and something about them deserves a look.

    `on_command_line` is the message in terms of options, where it differs.
    """

    on_command_line: str | None = None


def unknown_name(
    kind: str, name: object, known: Iterable[str], *, who: str | None = None
) -> UnknownNameError:
    """Build the error for a name that does not exist, with the nearest known one.

    Examples
    --------
    >>> print(unknown_name("score", "bdu", ["bdeu", "bic"]))
    unknown score 'bdu'; known: bdeu, bic (did you mean 'bdeu'?)
    """
    names = list(known)
    shown = ", ".join(names[:12]) + (f", ... ({len(names)} in all)" if len(names) > 12 else "")
    text = f"{who}: " if who else ""
    text += f"unknown {kind} {name!r}; known: {shown or 'none'}"
    folded = {n.casefold(): n for n in names}
    near = difflib.get_close_matches(str(name).casefold(), folded, n=1)
    if near:
        text += f" (did you mean {folded[near[0]]!r}?)"
    return UnknownNameError(text)


def require_known(kind: str, name: str, known: Iterable[str], *, who: str | None = None) -> str:
    """Return `name` if it is one of `known`, else raise with a suggestion."""
    names = list(known)
    if name not in names:
        raise unknown_name(kind, name, names, who=who)
    return name


def require_positive(who: str, what: str, value: float) -> float:
    """Return `value` if it is a finite number above zero."""
    if not _is_real(value) or not 0 < value < math.inf:
        raise InvalidParameterError(f"{who}: {what} must be a finite number > 0, got {value!r}")
    return value


def require_count(who: str, what: str, value: int, *, minimum: int = 0) -> int:
    """Return `value` as an int if it is a whole number of at least `minimum`."""
    whole = hasattr(value, "__index__") and not isinstance(value, bool)
    if not whole or value.__index__() < minimum:
        raise InvalidParameterError(
            f"{who}: {what} must be a whole number >= {minimum}, got {value!r}"
        )
    return value.__index__()


def require_choice(who: str, what: str, value: object, choices: Iterable[object]) -> None:
    """Refuse a value that is not one of the choices."""
    allowed = list(choices)
    if value not in allowed:
        shown = ", ".join(repr(choice) for choice in allowed)
        raise InvalidParameterError(f"{who}: {what} must be one of {shown}, got {value!r}")


def import_optional(package: str, *, who: str) -> ModuleType:
    """Import an optional package, or say how to install it."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        top = package.partition(".")[0]
        raise MissingPackageError(
            f"{who}: needs the package '{top}', which is not installed; "
            f"install it with: pip install {top}"
        ) from error


def _is_real(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)
