"""One writer for each file: a lock on the file itself, which ends with the process however it ends.

Each write puts a new file in place of the old one. The new one is locked before it takes the name,
and the old lock is given up after that: at every moment the file of that name is locked. No other
file is needed, and none can be left behind.
"""

from __future__ import annotations

import importlib
import os
import stat
import weakref
from contextlib import suppress
from typing import Any

from bestdag.files import cannot_be_written

__all__ = ["Lock"]

_locks: Any = None  # Windows has none: there two runs are not told apart
with suppress(ImportError):
    _locks = importlib.import_module("fcntl")

_HELD: weakref.WeakSet[Lock] = weakref.WeakSet()


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
        try:
            _locks.flock(descriptor, _locks.LOCK_EX | _locks.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            self.is_held = False
            return True
        except OSError:  # not every file system has locks
            pass
        found = os.fstat(descriptor)
        try:
            is_same = os.path.samestat(found, os.stat(self._path))
        except FileNotFoundError:
            is_same = False
        if not is_same:
            os.close(descriptor)
            return False
        self.is_new = found.st_size == 0
        self._hold(descriptor)
        return True

    def _hold(self, descriptor: int) -> None:
        self._descriptor = descriptor
        _HELD.add(self)

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
        self._drop()

    def _drop(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        _HELD.discard(self)
        if descriptor is not None:
            os.close(descriptor)


def _forget() -> None:
    """In a copy of the process: it must not hold the lock when the first one has ended."""
    for lock in list(_HELD):
        lock._drop()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
