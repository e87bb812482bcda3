"""The file formats of networks, listed once; suffix or content tell which one a file has."""

from __future__ import annotations

import gzip
import importlib
import os
import re
import zlib
from typing import TYPE_CHECKING, Protocol, cast

from bestdag.errors import (
    FormatError,
    InvalidParameterError,
    unknown_name,
)
from bestdag.files import format_suffix, read_file, shown_path, write_file
from bestdag.machine import readable_size, require_memory

if TYPE_CHECKING:
    from bestdag.network.network import Network
    from bestdag.network.table import ConditionalTable

__all__ = [
    "FORMATS",
    "ONLY_WRITTEN",
    "Format",
    "format_for_writing",
    "is_network_file",
    "load_network",
    "looks_like_a_network",
    "parse_network",
    "save_network",
]


class Format(Protocol):
    """What a format module offers.

    Beside this it may have ``looks_like(text)``, whether the beginning of a text is that of such a
    file; ``written(network)``, the names and states as they stand in a file, where they may differ;
    and ``HOLDS_DEFAULT_ROWS = True`` where a sparse table is not written out.
    """

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
    ".xmlbif": "bestdag.network.xmlbif",
    ".net": "bestdag.network.net",
    ".dsc": "bestdag.network.dsc",
    ".xdsl": "bestdag.network.xdsl",
    ".uai": "bestdag.network.uai",
}
# What other programs call such files; what is in them decides.
_ALSO = {".xml": ".xmlbif", ".bifxml": ".xmlbif", ".xbif": ".xmlbif", ".hugin": ".net"}
# A graph without tables, for programs that draw.
ONLY_WRITTEN = {".dot": "bestdag.network.dot"}

_HEAD = 1 << 16
# What may stand before the beginning.
_BEFORE = re.compile(r"(?:\s+|//[^\n]*\n|/\*.*?\*/|[%#][^\n]*\n)*+", re.DOTALL)


def load_network(path: str | os.PathLike[str]) -> Network:
    """Read a network file; ``.gz`` behind the suffix of the format means compressed.

    A suffix that names no format leaves that to what is in the file.
    """
    _require_path(path, "load")
    suffix = format_suffix(path)
    if suffix in FORMATS:
        return _module(FORMATS[suffix]).parse(read_file(path), shown_path(path))
    if suffix in ONLY_WRITTEN:
        raise FormatError(
            f"load: {shown_path(path)}: {suffix} files hold a graph without tables and are only "
            f"written; known: {', '.join(FORMATS)}"
        )
    return parse_network(read_file(path), shown_path(path), suffix)


def parse_network(data: bytes, source: str, suffix: str = "") -> Network:
    """Read a network from bytes whose beginning tells the format."""
    form = _format_of(data[:_HEAD])
    if form is not None:
        return form.parse(data, source)
    if suffix in _ALSO:
        return _module(FORMATS[_ALSO[suffix]]).parse(data, source)  # says what is wrong
    raise unknown_name("network format", suffix, FORMATS, who=f"load: {source}")


def looks_like_a_network(data: bytes) -> bool:
    """Whether the beginning of a file is that of a network."""
    return _format_of(data[:_HEAD]) is not None


def _format_of(data: bytes) -> Format | None:
    """Return the format that the beginning of a file is of."""
    head = data.decode("utf-8", "replace").removeprefix("\ufeff")
    before = _BEFORE.match(head)
    beginning = head[before.end() if before else 0 :]
    for name in FORMATS.values():
        module = _module(name)
        looks_like = getattr(module, "looks_like", None)
        if looks_like is not None and looks_like(beginning):
            return module
    return None


def save_network(network: Network, path: str | os.PathLike[str]) -> None:
    """Write a network file, complete or not at all.

    One that would not fit in memory while it is made is refused first, with its size.
    """
    form = format_for_writing(path)
    n_numbers = sum(_n_numbers(table, form) for table in network.tables)
    require_memory(
        f"save: {shown_path(path)}",
        f"a file of {n_numbers:,} numbers, about {readable_size(_FILE_BYTES * n_numbers)},",
        _WORK_BYTES * n_numbers,
        "use fewer parents; .bif and .json hold one row for all unseen configurations",
    )
    write_file(path, form.render(network))


def format_for_writing(path: str | os.PathLike[str]) -> Format:
    """Return the format that the suffix of a file to be written names."""
    _require_path(path, "save")
    suffix = format_suffix(path)
    listed = {**FORMATS, **ONLY_WRITTEN}
    if _ALSO.get(suffix, suffix) not in listed:
        raise unknown_name("network format", suffix, listed, who=f"save: {shown_path(path)}")
    return _module(listed[_ALSO.get(suffix, suffix)])


def _n_numbers(table: ConditionalTable, form: Format) -> int:
    if table.sparse is None or getattr(form, "HOLDS_DEFAULT_ROWS", False):
        return table.nbytes // 8
    return table.n_configurations * table.child.arity


def _require_path(path: object, who: str) -> None:
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes):
        raise InvalidParameterError(f"{who}: the path of a file is needed, got {path!r:.60}")


def _module(name: str) -> Format:
    return cast(Format, importlib.import_module(name))


def is_network_file(path: str | os.PathLike[str]) -> bool:
    """Whether a file holds a network, as its name or its beginning says.

    What can be read only once, such as a pipe, is not looked into.
    """
    suffix = format_suffix(path)
    if _ALSO.get(suffix, suffix) in FORMATS:
        return True
    if not os.path.isfile(path):
        return False
    try:
        opened = gzip.open if os.fspath(path).endswith(".gz") else open
        with opened(path, "rb") as file:
            return _format_of(file.read(_HEAD)) is not None
    except (OSError, EOFError, ValueError, zlib.error):  # the reader says what is wrong
        return False
