"""One writer for each file: a lock on the file itself, which ends with the process however it ends.

Each write puts a new file in place of the old one. The new one is locked before it takes the name,
and the old lock is given up after that: at every moment the file of that name is locked. No other
file is needed, and none can be left behind.
"""

from __future__ import annotations

import importlib
import os
import stat
import time
import weakref
from contextlib import suppress
from typing import Any, Protocol

from bestdag.files import cannot_be_written

__all__ = ["Lock", "close_in_copies", "is_ours"]

_locks: Any = None  # Windows has none: there two runs are not told apart
with suppress(ImportError):
    _locks = importlib.import_module("fcntl")

# Seconds: a process that was killed may take a moment to end.
_PATIENCE = 1.0
_HELD: weakref.WeakSet[_Held] = weakref.WeakSet()


class _Held(Protocol):
    """What holds a lock; a copy of the process must not."""

    def let_go(self) -> None:
        """Close the file, whose lock another process has."""


def close_in_copies(held: _Held) -> None:
    """Let copies of this process go of a lock, which they would hold when this one has ended."""
    _HELD.add(held)


def is_ours(file: int) -> bool:
    """Lock a file that is open; False where another run has it, after a moment.

    Where there are no locks, as under Windows and in some file systems, it is ours.
    """
    end = time.monotonic() + _PATIENCE
    while _locks is not None:
        try:
            _locks.flock(file, _locks.LOCK_EX | _locks.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                return False
            time.sleep(0.02)
        except OSError:
            return True
        else:
            return True
    return True


class Lock:
    """The right to write a file, held until `close`.

    Attributes
    ----------
    is_held : bool
        False where another run has it.
    is_new : bool
        Whether there was no such file, or an empty one.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._descriptor: int | None = None
        self.is_held = True
        try:
            self._path = os.path.realpath(path)
            is_file = os.path.isfile(self._path)
            self.is_new = os.path.getsize(self._path) == 0 if is_file else not os.path.exists(path)
            is_lockable = _locks is not None and (is_file or self.is_new)  # a device is nobody's
            while is_lockable and not self._taken():
                pass
        except (OSError, ValueError) as error:
            raise cannot_be_written(path, error) from None

    def _taken(self) -> bool:
        """Lock the file of that name, and say whether it still had that name by then."""
        flags = os.O_RDWR | os.O_CREAT if self.is_new else os.O_RDONLY
        try:
            descriptor = os.open(self._path, flags, 0o666)
        except FileNotFoundError:
            if self.is_new:  # no such folder
                raise
            self.is_new = True
            return False
        if not is_ours(descriptor):
            os.close(descriptor)
            self.is_held = False
            return True
        found = os.fstat(descriptor)
        try:
            is_same = os.path.samestat(found, os.stat(self._path))
        except FileNotFoundError:
            is_same = False
        if not is_same:
            os.close(descriptor)
            return False
        self.is_new = found.st_size == 0
        self._descriptor = descriptor
        close_in_copies(self)
        return True

    def move(self, descriptor: int) -> None:
        """Hold the file that has just taken the place of the one before; it is locked already."""
        if self._descriptor is None:
            return
        before, self._descriptor = self._descriptor, os.dup(descriptor)
        os.close(before)

    def close(self) -> None:
        """Let others write; a file that was made for the lock alone is removed."""
        if self._descriptor is None:
            return
        with suppress(OSError):
            found = os.fstat(self._descriptor)
            is_ours = stat.S_ISREG(found.st_mode) and found.st_size == 0
            if is_ours and os.path.samestat(found, os.stat(self._path)):
                os.unlink(self._path)
        self.let_go()

    def let_go(self) -> None:
        """Close the file."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)


def _let_go() -> None:
    for held in list(_HELD):
        held.let_go()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)
