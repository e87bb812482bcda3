"""Rows of a study in a file of JSON lines: a line is whole or absent."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import filelock

from bestdag.checkpoint.description import require_same
from bestdag.errors import FormatError, WriteError
from bestdag.files import shown_path
from bestdag.papers.study import Trial

__all__ = ["RowFile"]

_PATIENCE = 1.0  # seconds: a process that was killed may take a moment to end


class RowFile:
    """The rows of one run; the first line says which study, seed and version made them.

    Parameters
    ----------
    path : Path
    about : mapping
        What the first line holds.
    """

    def __init__(self, path: Path, about: Mapping[str, Any]) -> None:
        self._path = path
        self._about = dict(about)
        self._file: BinaryIO | None = None

    @contextmanager
    def opened(self, *, fresh: bool) -> Iterator[dict[str, dict[str, Any]]]:
        """Open it to add lines; yields those that are there, by the trials' keys.

        A line that a killed run left unfinished is removed. With `fresh` everything is.
        """
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            lock = filelock.FileLock(f"{self._path}.lock", timeout=_PATIENCE)
            with lock, open(self._path, "a+b") as file:
                if fresh:
                    file.truncate(0)
                self._file = file
                try:
                    yield self._read()
                finally:
                    self._file = None
                    os.unlink(lock.lock_file)  # while it is held
        except WriteError:
            raise
        except filelock.Timeout:
            what = f"{shown_path(self._path)}: another run writes there now"
            raise WriteError(f"{what}; wait, or use another folder") from None
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise WriteError(f"{shown_path(self._path)}: cannot be written: {reason}") from None

    def add(self, trial: Trial, row: Mapping[str, Any], seconds: float) -> None:
        """Add a line, in one piece."""
        self._write({"trial": dict(trial.settings), "row": dict(row), "seconds": seconds})

    def _write(self, value: Mapping[str, Any]) -> None:
        assert self._file is not None
        self._file.write(json.dumps(value, separators=(",", ":"), allow_nan=False).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def _read(self) -> dict[str, dict[str, Any]]:
        assert self._file is not None
        self._file.seek(0)
        text = self._file.read()
        whole = text.rfind(b"\n") + 1
        self._file.truncate(whole)
        self._file.seek(0, os.SEEK_END)
        lines = text[:whole].splitlines()
        if not lines:
            self._write(self._about)
            return {}
        found: dict[str, dict[str, Any]] = {}
        try:
            about = json.loads(lines[0])
            for line in lines[1:]:
                entry = json.loads(line)
                found[Trial("", entry["trial"]).key] = entry
        except (ValueError, KeyError, TypeError):
            raise FormatError(
                f"{shown_path(self._path)}: has a line that is no row of a study; remove it"
            ) from None
        require_same(self._path, self._about, about, "folder")
        return found
