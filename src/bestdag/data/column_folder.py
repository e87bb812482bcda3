"""Columns of codes as files in a folder: written with ordinary writes, then mapped read-only.

A full disk is an error of a write; under a mapping it would kill the process. A folder counts
only with its manifest, which is written last, before the folder gets its name.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.data.schema import Variable
from bestdag.errors import WriteError
from bestdag.files import shown_path, temporary, try_lock
from bestdag.machine import readable_size

__all__ = ["ColumnFolder", "build_folder", "mapped", "read_manifest"]

_Array = npt.NDArray[Any]

_MANIFEST = "manifest.json"
_LOCK = "lock"
_FORMAT = 1
_WEIGHTS = "weights"
_BLOCK = 1 << 20  # rows that are rewritten at a time


class ColumnFolder:
    """The sink of `encode_stream` that writes files."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._types: list[np.dtype[Any]] = []
        self._weights: np.dtype[Any] | None = None

    def begin(self, n_rows: int, types: Sequence[npt.DTypeLike], has_weights: bool) -> None:
        """Refuse more bytes than the disk has free, and begin with no rows."""
        self._types = [np.dtype(kind) for kind in types]
        self._weights = np.dtype(np.float64) if has_weights else None
        n_bytes = n_rows * (sum(kind.itemsize for kind in self._types) + 8 * has_weights)
        free = shutil.disk_usage(self.path).free
        if n_bytes > free:
            raise _too_little_room(
                os.path.dirname(self.path),
                f"{readable_size(n_bytes)} are needed, {readable_size(free)} are free",
            )

    def append(self, columns: Sequence[_Array], weights: _Array | None) -> None:
        """Write rows at the ends of the files."""
        for number, column in enumerate(columns):
            self._append(str(number), column)
        if weights is not None:
            self._append(_WEIGHTS, weights)

    def recode(self, column: int, table: _Array) -> None:
        """Replace each code of a column by the entry of a table."""
        self._rewrite(str(column), self._types[column], lambda block: table[block])
        self._types[column] = table.dtype

    def make_weights_whole(self) -> None:
        """Keep the weights as int64."""
        self._rewrite(_WEIGHTS, np.dtype(np.float64), lambda block: block.astype(np.int64))
        self._weights = np.dtype(np.int64)

    def finish(self, variables: Sequence[Variable], n_rows: int, about: Mapping[str, Any]) -> None:
        """Write the manifest, after all else is on the disk."""
        manifest = {
            "format": _FORMAT,
            "n_rows": n_rows,
            "variables": [[v.name, v.states, v.cuts] for v in variables],
            "types": [kind.name for kind in self._types],
            "weights": None if self._weights is None else self._weights.name,
            **about,
        }
        with _explained(self.path):
            for name in os.listdir(self.path):
                with open(os.path.join(self.path, name), "rb") as file:
                    os.fsync(file.fileno())
            with open(os.path.join(self.path, _MANIFEST), "x", encoding="utf-8") as out:
                json.dump(manifest, out)
                out.flush()
                os.fsync(out.fileno())

    def _append(self, name: str, rows: _Array) -> None:
        # Opened for each write, because there may be more columns than files may be open.
        with _explained(self.path), open(os.path.join(self.path, name), "ab", buffering=0) as file:
            _write(file, np.ascontiguousarray(rows))

    def _rewrite(self, name: str, kind: np.dtype[Any], change: Any) -> None:
        old, new = os.path.join(self.path, name), os.path.join(self.path, f"{name}.new")
        with _explained(self.path), open(old, "rb") as rows, open(new, "xb", buffering=0) as file:
            while len(block := np.fromfile(rows, kind, _BLOCK)):
                _write(file, change(block))
        os.replace(new, old)


@contextmanager
def build_folder(parent: str, name: str) -> Iterator[ColumnFolder]:
    """Make a folder that gets its name at the end of the block, if it has a manifest then.

    Until then it is called ``.NAME.*.tmp`` and locked; what a killed run left behind is locked by
    nobody, and removed by the next one.
    """
    with _explained(parent):
        os.makedirs(parent, exist_ok=True)
    _remove_abandoned(parent, f".{name}.")
    path = os.path.join(parent, f".{name}.{secrets.token_hex(6)}.tmp")
    with temporary(path):
        with _explained(parent):
            os.mkdir(path, 0o700)
            lock = open(os.path.join(path, _LOCK), "xb")  # noqa: SIM115 - open until the end
        with lock:
            try_lock(lock)
            yield ColumnFolder(path)
        if os.path.exists(os.path.join(path, _MANIFEST)):
            with _explained(parent):
                os.unlink(os.path.join(path, _LOCK))
                _take_name(path, os.path.join(parent, name))


def _take_name(path: str, target: str) -> None:
    """Rename a folder; one that has the name already goes, those who have it open keep it."""
    old = f"{path}.old"
    with temporary(old):
        with contextlib.suppress(FileNotFoundError):
            os.rename(target, old)
        os.rename(path, target)


def read_manifest(folder: str | Path) -> dict[str, Any] | None:
    """Return what a complete folder says of itself; None where there is none, or parts lack."""
    try:
        with open(os.path.join(folder, _MANIFEST), encoding="utf-8") as file:
            found: dict[str, Any] = json.load(file)
        if found["format"] != _FORMAT:
            return None
        sizes = {str(i): np.dtype(kind).itemsize for i, kind in enumerate(found["types"])}
        if found["weights"] is not None:
            sizes[_WEIGHTS] = np.dtype(found["weights"]).itemsize
        for name, size in sizes.items():
            if os.path.getsize(os.path.join(folder, name)) != size * found["n_rows"]:
                return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found


def mapped(
    folder: str | Path, manifest: Mapping[str, Any]
) -> tuple[list[Variable], list[_Array], _Array | None]:
    """Map the columns of a folder; they stay when it is removed."""
    variables = [
        Variable(name, tuple(states), None if cuts is None else tuple(cuts))
        for name, states, cuts in manifest["variables"]
    ]
    columns = [_map(folder, str(i), kind) for i, kind in enumerate(manifest["types"])]
    weights = manifest["weights"]
    return variables, columns, None if weights is None else _map(folder, _WEIGHTS, weights)


def _map(folder: str | Path, name: str, kind: str) -> _Array:
    return np.memmap(os.path.join(folder, name), np.dtype(kind), "r").view(np.ndarray)


def _write(file: Any, rows: _Array) -> None:
    left = rows.data.cast("B")
    while left:
        left = left[file.write(left) :]


def _remove_abandoned(parent: str, start: str) -> None:
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if entry.name.startswith(start) and entry.name.endswith((".tmp", ".old")):
                with (
                    contextlib.suppress(OSError),
                    open(os.path.join(entry.path, _LOCK), "rb") as lock,
                ):
                    if not try_lock(lock):
                        continue
                    shutil.rmtree(entry.path, ignore_errors=True)


@contextmanager
def _explained(folder: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise _too_little_room(os.path.dirname(folder), "no space is left") from None
        reason = (error.strerror or str(error)).lower()
        raise WriteError(f"scan: {shown_path(folder)}: cannot be written: {reason}") from None


def _too_little_room(folder: str, why: str) -> WriteError:
    what = f"scan: {shown_path(folder)}: {why}; name a folder on a larger disk"
    return WriteError(f"{what} with cache=").with_option(f"{what} with --cache")
