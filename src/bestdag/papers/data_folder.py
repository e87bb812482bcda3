"""The folder with tables and networks: files by name and checksum, nothing downloaded."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from bestdag.errors import FileError
from bestdag.files import shown_path
from bestdag.papers.checksums import CHECKSUMS

if TYPE_CHECKING:
    from bestdag.network.network import Network

__all__ = ["DataFolder"]


class DataFolder:
    """Files of a folder that has ``uci/`` and ``networks/``; or no folder.

    Parameters
    ----------
    path : path or None

    Raises
    ------
    FileError
        If there is no such folder.
    """

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self._path = None if path is None else Path(path)
        if self._path is not None and not self._path.is_dir():
            raise FileError(f"reproduce: {shown_path(path or '')} is no folder").with_option(
                f"reproduce: --data: a folder is needed, got {shown_path(path or '')}"
            )

    def missing(self, names: Iterable[str]) -> dict[str, str]:
        """Say which of these files cannot be used, and why."""
        found = {}
        for name in dict.fromkeys(names):
            why = self._trouble(name)
            if why is not None:
                found[name] = why
        return found

    def _trouble(self, name: str) -> str | None:
        if self._path is None:
            return "no folder was given"
        path = self._path / name
        if not path.is_file():
            return "is not there"
        return None if _checksum(path) == CHECKSUMS[name] else "has other contents"

    def path(self, name: str) -> Path:
        """Return where a file is that is not missing."""
        assert self._path is not None
        return self._path / name

    def network(self, name: str) -> Network:
        """Load a network such as ``networks/asia.bif``."""
        return _network(self.path(name))


@cache
def _checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@cache
def _network(path: Path) -> Network:
    from bestdag.network.network import Network

    return Network.load(path)
