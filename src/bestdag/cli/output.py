"""What commands print and write: aligned tables for people, JSON for programs, files, progress."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

from bestdag.files import format_suffix, is_link_to_file, shown_path, through_link
from bestdag.network.formats import FORMATS
from bestdag.wording import aligned, count_of

if TYPE_CHECKING:
    from bestdag.network.network import Network
    from bestdag.parameters.base import Estimator
    from bestdag.progress import Progress

__all__ = [
    "FORMAT_NAMES",
    "first_of",
    "fitting_line",
    "mark_shown",
    "one_line",
    "output_width",
    "print_json",
    "print_line",
    "print_table",
    "require_folder",
    "require_network_output",
    "require_new_file",
    "require_own_names",
    "says_formats",
    "standard_output",
    "was_shown",
    "working",
    "wrapped",
    "write_fitted",
]

_Function = TypeVar("_Function", bound=Any)
*_FIRST, _LAST = FORMATS
FORMAT_NAMES = f"{', '.join(_FIRST)} or {_LAST}"
_SHOWN = "bestdag.shown"
# A pipe gets whole lines, whatever their length.
_WIDE, _LEAST_WIDTH = 1 << 20, 20


def says_formats(function: _Function) -> _Function:
    """Write the network formats into the help of a command, where it says FORMATS."""
    function.__doc__ = (function.__doc__ or "").replace("FORMATS", FORMAT_NAMES)
    return function


# ------------------------------------------------------------------------------- lines, tables


def mark_shown() -> None:
    """Remember that the command has printed its answer: what comes now does not lose it."""
    click.get_current_context().meta[_SHOWN] = True


def was_shown(context: click.Context | None) -> bool:
    """Whether a command has printed its answer."""
    return context is not None and bool(context.meta.get(_SHOWN))


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> None:
    """Print aligned columns, the first `left` ones to the left and the others to the right.

    Nothing is cut or wrapped, so a pipe gets what a screen gets.
    """
    cells = [[one_line(cell) for cell in row] for row in (header, *rows)]
    for line in aligned(cells, left=left):
        print_line(line)


def print_json(value: dict[str, Any] | list[dict[str, Any]]) -> None:
    """Print one JSON value; names in any script stay readable where the output can hold them."""
    encoding = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "")
    click.echo(json.dumps(value, ensure_ascii=encoding != "utf8", indent=2, allow_nan=False))


def print_line(line: str) -> None:
    """Print a line; what the output cannot hold is escaped."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    click.echo(line.encode(encoding, "backslashreplace").decode(encoding))


def one_line(text: str) -> str:
    """Show control characters as escapes: a label must not steer a terminal."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def first_of(names: Sequence[str], most: int = 10) -> str:
    """List the first names, and say how many more there are."""
    return ", ".join(names[:most]) + (f" and {len(names) - most:,} more" if names[most:] else "")


def output_width() -> int:
    """Return the columns of the terminal that is printed to; no limit where it is none."""
    if os.environ.get("COLUMNS", "").isdigit() or (sys.stdout is not None and sys.stdout.isatty()):
        return max(_LEAST_WIDTH, shutil.get_terminal_size().columns)
    return _WIDE


def wrapped(text: str, width: int, indent: str = "  ") -> list[str]:
    """Break a text into lines of at most this width, those after the first indented.

    Examples
    --------
    >>> wrapped("one two three", 8)
    ['one two', '  three']
    """
    if len(text) <= width:
        return [text]
    return textwrap.wrap(
        text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    ) or [text]


@contextmanager
def standard_output() -> Iterator[TextIO]:
    """Give standard output for CSV, which is UTF-8 whatever the terminal speaks."""
    stream = io.TextIOWrapper(sys.stdout.buffer, "utf-8", newline="")
    try:
        yield stream
    finally:
        stream.detach()


# --------------------------------------------------------------------------------------- files


def require_new_file(path: str, *, force: bool) -> None:
    """Refuse to replace a file unless told to."""
    if not path:
        raise click.UsageError("an empty file name was given")
    if path == "-":
        return
    if is_link_to_file(path):
        if not force:
            there = os.path.realpath(path)
            raise click.UsageError(
                f"{path} is a symbolic link to {there}; pass --force to replace that file"
            )
        click.get_current_context().with_resource(through_link(path))
    if not force and Path(path).exists():
        raise click.UsageError(f"{path} exists already; pass --force to replace it")


def require_own_names(read: Mapping[str, str | None], written: Mapping[str, str | None]) -> None:
    """Refuse files that one run would write over another: names by what they are for."""
    purposes: dict[str, str] = {}
    for what, path in (*read.items(), *written.items()):
        if path is None or path == "-":
            continue
        other = purposes.setdefault(os.path.realpath(path), what)
        if other != what and what in written:
            raise click.UsageError(f"{other} and {what} are the same file, {path}; name another")


def require_folder(path: str) -> None:
    """Refuse, before any work, a file in a folder that is not there."""
    if not Path(path).parent.is_dir():
        raise click.UsageError(f"the folder of {shown_path(path)} does not exist")


def require_network_output(path: str, *, force: bool) -> None:
    """Refuse, before any work, a network file that could not be written at its end."""
    from bestdag.errors import unknown_name

    require_new_file(path, force=force)
    if path == "-":
        raise click.UsageError(f"-o needs a file whose name says its format: {FORMAT_NAMES}")
    suffix = format_suffix(path)
    if suffix not in FORMATS:
        raise unknown_name("network format", suffix, FORMATS, who=f"save: {shown_path(path)}")
    require_folder(path)


# Names of estimators as the field writes them.
_ESTIMATES = {"mle": "maximum likelihood", "dirichlet": "Dirichlet", "fsnml": "fsNML", "em": "EM"}


def write_fitted(path: str, network: Network, estimator: Estimator, *, is_said: bool) -> None:
    """Write a network whose parameters were fitted, and say so for people."""
    network.save(path)
    if is_said:
        by = _ESTIMATES.get(estimator.name, estimator.name)
        click.echo(f"{path}: {count_of(network.n_parameters, 'parameter')} ({by} estimate)")


# ------------------------------------------------------------------------------------- progress

_PER_SECOND = 8
_ROOM_FOR_SPINNER = 2


@contextmanager
def working(what: str, *, quiet: bool) -> Iterator[None]:
    """Show on a terminal what is under way, and how far the work in the block is."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.live import Live

    from bestdag.progress import watching

    line = _Line(what)
    with (
        Live(
            line,
            console=Console(stderr=True),
            refresh_per_second=_PER_SECOND,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        ),
        watching(line.take),
    ):
        yield


def fitting_line(what: str, now: Progress | None, width: int) -> str:
    """Say what is under way and how far it is, as much of it as fits into a line.

    Examples
    --------
    >>> from bestdag.progress import Progress
    >>> now = Progress(phase="search order", score=-20.5, seconds=3.2, detail="round 7")
    >>> fitting_line("learning from a.csv", now, 80)
    'learning from a.csv: search order, score -20.5000, 3 s, round 7'
    >>> fitting_line("learning from a.csv", now, 45)
    'search order, score -20.5000, 3 s, round 7'
    >>> fitting_line("learning from a.csv", now, 30)
    'search order, score -20.5000'
    """
    if now is None:
        return what[:width]
    parts = now.parts()
    whole = f"{what}: {', '.join(parts)}"
    if len(whole) <= width:
        return whole
    line = parts[0]
    for part in parts[1:]:
        if len(line) + 2 + len(part) <= width:
            line += f", {part}"
    return line[:width]


class _Line:
    """What is shown: asked for by the display a few times a second, it tells the time itself."""

    def __init__(self, what: str) -> None:
        from rich.spinner import Spinner

        self._what = what
        self._spinner = Spinner("dots")
        self._now: Progress | None = None
        self._at = 0.0

    def take(self, now: Progress) -> None:
        self._at, self._now = time.monotonic(), now

    def __rich_console__(self, _console: Any, options: Any) -> Iterator[Any]:
        from rich.text import Text

        now = self._now
        if now is not None:
            passed = time.monotonic() - self._at
            left = None if now.seconds_left is None else now.seconds_left - passed
            now = replace(now, seconds=now.seconds + passed, seconds_left=left)
        room = max(1, options.max_width - _ROOM_FOR_SPINNER - 1)
        self._spinner.update(text=Text(fitting_line(self._what, now, room), no_wrap=True))
        yield self._spinner
