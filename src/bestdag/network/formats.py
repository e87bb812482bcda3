"""The file formats of networks, listed once; the suffix of a file names its format."""

from __future__ import annotations

import os
from typing import Protocol

from bestdag.errors import InvalidParameterError, unknown_name
from bestdag.files import format_suffix, read_file, shown_path, write_file
from bestdag.network import bif, json_format
from bestdag.network.network import Network

__all__ = ["FORMATS", "Format", "is_network_file", "load_network", "save_network"]


class Format(Protocol):
    """What a format module offers."""

    def parse(self, data: bytes, source: str) -> Network:
        """Read a network; `source` is what messages call the file."""

    def render(self, network: Network) -> bytes:
        """Write a network."""


FORMATS: dict[str, Format] = {".bif": bif, ".json": json_format}


def load_network(path: str | os.PathLike[str]) -> Network:
    """Read a network file; ``.gz`` behind the suffix of the format means compressed."""
    reader = _format_of(path, "load")
    return reader.parse(read_file(path), shown_path(path))


def save_network(network: Network, path: str | os.PathLike[str]) -> None:
    """Write a network file, complete or not at all."""
    write_file(path, _format_of(path, "save").render(network))


def _format_of(path: str | os.PathLike[str], who: str) -> Format:
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes):
        raise InvalidParameterError(f"{who}: the path of a file is needed, got {path!r:.60}")
    suffix = format_suffix(path)
    if suffix not in FORMATS:
        raise unknown_name("network format", suffix, FORMATS, who=f"{who}: {shown_path(path)}")
    return FORMATS[suffix]


def is_network_file(path: str | os.PathLike[str]) -> bool:
    """Whether the name of a file says that it holds a network."""
    return format_suffix(path) in FORMATS
