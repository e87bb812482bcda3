"""The file of a run: a first line, a checksum, and values in MessagePack; nothing in it is run."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, TypeVar

import filelock
import msgspec
import numpy as np

from bestdag.checkpoint.description import require_same
from bestdag.errors import BestdagError, FileError, FormatError
from bestdag.files import cannot_be_written, read_file, shown_path, writing
from bestdag.graph.dag import Dag
from bestdag.scores.table import ParentSets, ScoreTable

__all__ = [
    "Lock",
    "Saved",
    "decoded",
    "encoded",
    "read_any",
    "read_saved",
    "write_saved",
    "writer_of",
]

_Type = TypeVar("_Type")

# The first line; another number is refused.
_KIND, _FORMAT = b"bestdag checkpoint ", b"2\n"
_CHECKSUM = 16  # bytes
# Seconds: a process that was killed may take a moment to end.
_PATIENCE = 1.0


class Saved(msgspec.Struct):
    """What is in a file; findings stay encoded until they are read, by their kind."""

    description: dict[str, str]
    seconds: float
    writer: tuple[int, str]  # process and machine: whom others must wait for
    findings: dict[str, msgspec.Raw]
    is_finished: bool


def write_saved(
    path: str | os.PathLike[str],
    description: dict[str, str],
    seconds: float,
    findings: dict[str, msgspec.Raw],
    is_finished: bool,
) -> None:
    """Write the file, complete or not at all."""
    writer = os.getpid(), platform.node()
    body = msgspec.msgpack.encode(Saved(description, seconds, writer, findings, is_finished))
    with writing(path) as file:
        file.write(_KIND + _FORMAT)
        file.write(_checksum(body))
        file.write(body)


def read_saved(path: str | os.PathLike[str], description: Mapping[str, str]) -> Saved:
    """Read the file of a run that is the same.

    Raises
    ------
    FormatError
        A file that is something else, or damaged, or of another run.
    """
    saved = read_any(path)
    require_same(path, description, saved.description)
    return saved


def writer_of(path: str | os.PathLike[str]) -> tuple[str, bool]:
    """Say who writes a file, and whether the run in it has ended."""
    with suppress(FileError, FormatError):  # one that is not there yet
        saved = read_any(path)
        number, machine = saved.writer
        place = "" if machine == platform.node() else f" on {machine}"
        return f"another process (number {number}{place})", saved.is_finished
    return "another process", False


def read_any(path: str | os.PathLike[str]) -> Saved:
    """Read the file of a run, whatever it is about; raises FormatError as `read_saved` does."""
    content = memoryview(read_file(path))
    head = len(_KIND) + len(_FORMAT)
    if content[: len(_KIND)] != _KIND:
        raise FormatError(f"{shown_path(path)}: is not a bestdag checkpoint; name another file")
    if content[len(_KIND) : head] != _FORMAT:
        raise FormatError(
            f"{shown_path(path)}: was made by another version of bestdag; name another file"
        )
    body = content[head + _CHECKSUM :]
    if content[head : head + _CHECKSUM] != _checksum(body):
        raise _damaged(path)
    try:
        return msgspec.msgpack.decode(body, type=Saved)
    except (msgspec.MsgspecError, ValueError) as error:
        raise _damaged(path) from error


def _checksum(body: bytes | memoryview) -> bytes:
    return hashlib.blake2b(body, digest_size=_CHECKSUM).digest()


def _damaged(path: str | os.PathLike[str]) -> FormatError:
    return FormatError(f"{shown_path(path)}: is damaged, or cut short; name another file")


def encoded(value: Any) -> msgspec.Raw:
    """Return a finding as bytes."""
    return msgspec.Raw(msgspec.msgpack.encode(value, enc_hook=_plain))


def decoded(path: str | os.PathLike[str], raw: msgspec.Raw, kind: type[_Type]) -> _Type:
    """Return the finding of some bytes."""
    try:
        return msgspec.msgpack.decode(raw, type=kind, dec_hook=_made)
    except (msgspec.MsgspecError, ValueError, TypeError, KeyError, BestdagError) as error:
        raise _damaged(path) from error


def _plain(value: Any) -> Any:
    """Take apart what MessagePack has no form for."""
    if isinstance(value, np.ndarray):
        return (
            value.dtype.str,
            value.shape,
            np.ascontiguousarray(value).reshape(-1).view(np.uint8).data,
        )
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Dag):
        return value.nodes, value.arcs
    if isinstance(value, ScoreTable):
        children = (value.child(i) for i in range(value.n_variables))
        lists = [(sets.scores, sets.offsets, sets.members) for sets in children]
        return value.names, value.complete, lists
    raise NotImplementedError(f"a {type(value).__name__} cannot be saved")


def _made(kind: Any, value: Any) -> Any:
    """Put together again what `_plain` took apart."""
    if kind is Dag:
        return Dag(value[0], map(tuple, value[1]))
    if kind is ScoreTable:
        children = [ParentSets(*(_array(*parts) for parts in lists)) for lists in value[2]]
        return ScoreTable(value[0], children, complete=value[1])
    return _array(*value)


def _array(dtype: str, shape: list[int], data: bytes) -> np.ndarray[Any, Any]:
    # A copy, since what was read is for reading only.
    return np.frombuffer(data, np.dtype(dtype)).reshape(shape).copy()


class Lock:
    """The right to write a file, which the kernel ends with the process, until `close`.

    It is a file of its own beside the first, ``NAME.lock``, since each write puts a new file in
    place of the old one. It is gone when the run has ended; one that a killed process left behind
    is no longer locked, and the next run takes it.

    Attributes
    ----------
    is_held : bool
        False where another run has it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        try:
            name = f"{os.path.realpath(path)}.lock"
            os.stat(os.path.dirname(name))  # a folder that is not there is not made
            self._lock = filelock.FileLock(name, timeout=_PATIENCE, thread_local=False)
            self._lock.acquire()
            self.is_held = True
        except filelock.Timeout:
            self.is_held = False
        except (OSError, ValueError) as error:
            raise cannot_be_written(path, error) from None

    def close(self) -> None:
        """Let others write."""
        if self._lock.is_locked:
            # While it is held: who waits for it sees that the name is gone, and makes a new one.
            with suppress(OSError):
                os.unlink(self._lock.lock_file)
            self._lock.release()
