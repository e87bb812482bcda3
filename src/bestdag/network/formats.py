"""The file formats of networks, listed once; the suffix of a file names its format."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Protocol, cast

from bestdag.errors import InvalidParameterError, unknown_name
from bestdag.files import format_suffix, read_file, shown_path, write_file
from bestdag.machine import readable_size, require_memory

if TYPE_CHECKING:
    from bestdag.network.network import Network

__all__ = ["FORMATS", "Format", "is_network_file", "load_network", "save_network"]


class Format(Protocol):
    """What a format module offers."""

    def parse(self, data: bytes, source: str) -> Network:
        """Read a network; `source` is what messages call the file."""

    def render(self, network: Network) -> bytes:
        """Write a network."""


# Of one number, in a file and while it is written: the number, its text, the text of its line.
_FILE_BYTES, _WORK_BYTES = 21, 120

# The list: one line for each format, its suffix and its module, imported when it is needed.
FORMATS = {
    ".bif": "bestdag.network.bif",
    ".json": "bestdag.network.json_format",
}


def load_network(path: str | os.PathLike[str]) -> Network:
    """Read a network file; ``.gz`` behind the suffix of the format means compressed."""
    reader = _format_of(path, "load")
    return reader.parse(read_file(path), shown_path(path))


def save_network(network: Network, path: str | os.PathLike[str]) -> None:
    """Write a network file, complete or not at all.

    One that would not fit in memory while it is made is refused first, with its size.
    """
    form = _format_of(path, "save")
    n_numbers = sum(table.nbytes // 8 for table in network.tables)
    require_memory(
        f"save: {shown_path(path)}",
        f"a file of {n_numbers:,} numbers, about {readable_size(_FILE_BYTES * n_numbers)},",
        _WORK_BYTES * n_numbers,
        "use fewer parents, or parameters whose unseen configurations share one row",
    )
    write_file(path, form.render(network))


def _format_of(path: str | os.PathLike[str], who: str) -> Format:
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes):
        raise InvalidParameterError(f"{who}: the path of a file is needed, got {path!r:.60}")
    suffix = format_suffix(path)
    if suffix not in FORMATS:
        raise unknown_name("network format", suffix, FORMATS, who=f"{who}: {shown_path(path)}")
    return cast(Format, importlib.import_module(FORMATS[suffix]))


def is_network_file(path: str | os.PathLike[str]) -> bool:
    """Whether the name of a file says that it holds a network."""
    return format_suffix(path) in FORMATS
