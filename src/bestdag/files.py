"""Whole files in and out: compressed by suffix, never more than fits, complete or untouched."""

from __future__ import annotations

import atexit
import difflib
import gzip
import importlib
import io
import os
import re
import secrets
import shutil
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, BinaryIO, cast

from bestdag.errors import BestdagError, FileError, FormatError, WriteError
from bestdag.machine import require_memory

__all__ = [
    "cannot_be_written",
    "format_suffix",
    "is_link_to_file",
    "nearest_file",
    "read_file",
    "shown_path",
    "temporary",
    "through_link",
    "try_lock",
    "write_file",
    "writing",
]

_locks: Any = None  # Windows has none, where a file that is open cannot be removed
with suppress(ImportError):
    _locks = importlib.import_module("fcntl")

_CHUNK = 1 << 20
# Text that is read becomes words and numbers that take a few times its size.
_GROWTH = 4


def format_suffix(path: str | os.PathLike[str]) -> str:
    """Return the suffix that names the format, in lower case, whether compressed or not.

    Examples
    --------
    >>> format_suffix("nets/Asia.BIF.gz"), format_suffix("asia")
    ('.bif', '')
    """
    bare = Path(path)
    return (bare.with_suffix("") if _is_compressed(bare) else bare).suffix.lower()


def read_file(path: str | os.PathLike[str]) -> bytes:
    """Read a whole file, uncompressed when its name ends in ``.gz``.

    Raises
    ------
    FileError
        A file that is not there, is a directory or cannot be read.
    FormatError
        A compressed file that is damaged or cut short.
    NotEnoughMemoryError
        A file (or what it expands to) that would not fit in memory.
    """
    try:
        with open(path, "rb") as file:
            if not _is_compressed(path):
                return _read_all(file, path)
            with gzip.GzipFile(fileobj=file) as expanded:
                return _read_all(expanded, path)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FormatError(f"{shown_path(path)}: damaged gzip file: {error}") from None
    except OSError as error:
        raise FileError(f"{shown_path(path)}: cannot be read: {_reason(error)}") from None
    except ValueError as error:  # a NUL in the name
        raise FileError(f"{shown_path(path)}: cannot be read: {error}") from None


@contextmanager
def writing(
    path: str | os.PathLike[str], on_place: Callable[[int], None] | None = None
) -> Iterator[BinaryIO]:
    """Open a file that appears under its name only when all of it was written.

    The data go to a new file in the same folder that then takes the place of the old one, so
    at every moment the file is the old one or the new one, complete. An existing file keeps its
    permissions. A name that ends in ``.gz`` is compressed, equal data to equal bytes. A pipe or a
    device takes what it is given.

    A symbolic link is refused, since another user may have put it there, unless `through_link`
    names it: then the file that it points to is replaced, and the link stays.

    The new file is called ``.NAME.*.tmp`` and locked until then. One that a killed run left
    behind is no longer locked, and removed by the next run that writes to the same place.
    `on_place` is given its descriptor, still locked, when it has taken the place of the old one.

    Raises
    ------
    WriteError
        When the file cannot be written; what was there before is untouched.
    """
    try:
        target = _target(path)
        mode = _existing_mode(target)
        if mode is not None and not stat.S_ISREG(mode):
            with open(path, "wb") as device, _packing(device, path) as out:  # a directory fails
                yield out
        else:
            with _replacing(target, mode, on_place) as stream, _packing(stream, path) as out:
                yield out
    except BrokenPipeError:  # the reader has left: not a matter of this file
        raise
    except (OSError, ValueError) as error:
        if isinstance(error, BestdagError):
            raise
        raise cannot_be_written(path, error) from None


_THROUGH: ContextVar[frozenset[str]] = ContextVar("links that may be written through")
# Links that the system makes, of what a process has open.
_OPEN_FILES = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/")


@contextmanager
def through_link(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let `writing` replace what this symbolic link points to, for as long as the block lasts."""
    token = _THROUGH.set(_THROUGH.get(frozenset()) | {os.path.abspath(path)})
    try:
        yield
    finally:
        _THROUGH.reset(token)


def is_link_to_file(path: str | os.PathLike[str]) -> bool:
    """Whether a name is a symbolic link to a file, or to none; links to devices do not count."""
    name = os.path.abspath(path)
    if name.startswith(_OPEN_FILES) or not os.path.islink(name):
        return False
    return os.path.isfile(name) or not os.path.exists(name)


def _target(path: str | os.PathLike[str]) -> str:
    """Return what is replaced: what a link points to only where the link was named."""
    if os.path.abspath(path).startswith(_OPEN_FILES):
        return os.path.realpath(path)
    if not is_link_to_file(path):
        # A link that comes between now and then is replaced itself.
        folder, name = os.path.split(os.fspath(path))
        return os.path.join(os.path.realpath(folder), name) if name else os.path.realpath(path)
    if os.path.abspath(path) in _THROUGH.get(frozenset()):
        return os.path.realpath(path)
    what = f"{shown_path(path)}: is a symbolic link to {shown_path(os.path.realpath(path))}"
    raise WriteError(f"{what}; to replace that file, give its own name")


def write_file(
    path: str | os.PathLike[str], data: bytes, on_place: Callable[[int], None] | None = None
) -> None:
    """Write a whole file at once, as `writing` does."""
    with writing(path, on_place) as file:
        file.write(data)


def cannot_be_written(path: str | os.PathLike[str], error: OSError | ValueError) -> WriteError:
    """Return the error for a file that the system does not let us write."""
    return WriteError(f"{shown_path(path)}: cannot be written: {_reason(error)}")


def _read_all(file: io.BufferedIOBase | gzip.GzipFile, path: str | os.PathLike[str]) -> bytes:
    chunks = []
    size = 0
    while chunk := file.read(_CHUNK):
        chunks.append(chunk)
        size += len(chunk)
        if size % (64 * _CHUNK) < len(chunk):  # now and then: what does the rest need?
            require_memory(shown_path(path), "reading it", size * _GROWTH, "use a smaller file")
    return b"".join(chunks)


@contextmanager
def _packing(stream: BinaryIO, path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    if not _is_compressed(path):
        yield stream
        return
    with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packed:
        yield cast(BinaryIO, packed)


_TEMPORARY: set[str] = set()


@contextmanager
def temporary(path: str) -> Iterator[None]:
    """Promise that a file or folder is gone afterwards, however often Ctrl-C comes.

    What an interrupt keeps from being removed here is removed when the process ends.
    """
    _TEMPORARY.add(path)
    try:
        yield
    finally:
        stopped: BaseException | None = None
        while path in _TEMPORARY:
            try:
                _remove(path)
            except KeyboardInterrupt as error:
                stopped = error
        if stopped is not None:
            raise stopped


@atexit.register
def _remove_all() -> None:
    for path in tuple(_TEMPORARY):
        _remove(path)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError:  # a folder
        shutil.rmtree(path, ignore_errors=True)
    _TEMPORARY.discard(path)


@contextmanager
def _replacing(
    target: str, mode: int | None, on_place: Callable[[int], None] | None
) -> Iterator[BinaryIO]:
    folder, name = os.path.split(target)
    start = f".{name[:40]}."
    _remove_abandoned(folder, start)
    fresh = os.path.join(folder, f"{start}{secrets.token_hex(6)}.tmp")
    with temporary(fresh):
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)  # less the umask
        with open(descriptor, "wb") as file, _locked(descriptor):
            yield file
            file.flush()
            os.fsync(file.fileno())
            if mode is not None:
                os.chmod(fresh, stat.S_IMODE(mode))
            if _locks is not None:
                os.replace(fresh, target)
                if on_place is not None:
                    on_place(descriptor)
                _flush_folder(folder)
        if _locks is None:  # only what is closed can be renamed
            os.replace(fresh, target)


def _flush_folder(folder: str) -> None:
    """Let the new name survive a loss of power; not every file system can promise it."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def _locked(descriptor: int) -> Iterator[None]:
    """Show other runs that a file is in use; the system ends that with the process."""
    if _locks is not None:
        # Not every file system has locks; where there are none, nothing is taken for abandoned.
        with suppress(OSError):
            _locks.flock(descriptor, _locks.LOCK_EX)
        if os.fstat(descriptor).st_nlink == 0:  # another run was faster than the lock
            raise OSError("another run removed its temporary file; try again")
    yield


def try_lock(file: Any) -> bool:
    """Lock a file for as long as it is open; False where another run has it locked.

    Where there are no locks, nothing is taken for abandoned: that is False too.
    """
    if _locks is None:
        return False
    try:
        _locks.flock(file, _locks.LOCK_EX | _locks.LOCK_NB)
    except OSError:
        return False
    return True


def _remove_abandoned(folder: str, start: str) -> None:
    """Remove temporary files for the same place that no living run has locked."""
    ours = re.compile(re.escape(start) + r"[0-9a-f]{12}\.tmp")
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if ours.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                _remove_if_abandoned(entry.path)


def _remove_if_abandoned(path: str) -> None:
    with suppress(OSError):
        if _locks is None:
            os.unlink(path)  # fails while it is open
            return
        with open(path, "rb") as file:
            _locks.flock(file, _locks.LOCK_EX | _locks.LOCK_NB)  # fails while its run lives
            os.unlink(path)


def _existing_mode(target: str) -> int | None:
    try:
        return os.stat(target).st_mode
    except FileNotFoundError:
        return None


def _is_compressed(path: str | os.PathLike[str]) -> bool:
    return os.fspath(path).lower().endswith(".gz")


def nearest_file(path: str | os.PathLike[str]) -> str | None:
    """Return the file in the same folder whose name is most like that of one that is not there."""
    folder, name = os.path.split(os.fspath(path))
    try:
        with os.scandir(folder or ".") as entries:
            names = sorted(entry.name for entry in entries if entry.is_file())
    except (OSError, ValueError):
        return None
    near = difflib.get_close_matches(name, names, n=1)
    return os.path.join(folder, near[0]) if near else None


def shown_path(path: str | os.PathLike[str]) -> str:
    r"""Write a path for a message: as it is, or quoted when it would break the line.

    Examples
    --------
    >>> print(shown_path("nets/asia.bif"), shown_path("two\nlines"))
    nets/asia.bif 'two\nlines'
    """
    text = os.fspath(path)
    return text if text.isprintable() and text else repr(text)


def _reason(error: OSError | ValueError) -> str:
    reason = error.strerror if isinstance(error, OSError) else None
    return (reason or str(error)).lower()
