"""What commands print: plain aligned tables for people, one JSON object for programs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bestdag.files import is_link_to_file, through_link
from bestdag.wording import aligned

if TYPE_CHECKING:
    from bestdag.progress import Told

__all__ = [
    "mark_shown",
    "print_json",
    "print_line",
    "print_table",
    "require_new_file",
    "require_own_names",
    "was_shown",
    "working",
]


_SHOWN = "bestdag.shown"


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
    cells = [[_one_line(cell) for cell in row] for row in (header, *rows)]
    for line in aligned(cells, left=left):
        print_line(line)


def print_json(value: dict[str, Any] | list[dict[str, Any]]) -> None:
    """Print one JSON value; names in any script stay readable where the output can hold them."""
    encoding = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "")
    click.echo(json.dumps(value, ensure_ascii=encoding != "utf8", indent=2, allow_nan=False))


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
    found: dict[str, str] = {}
    for what, path in (*read.items(), *written.items()):
        if path is None or path == "-":
            continue
        other = found.setdefault(os.path.realpath(path), what)
        if other != what and what in written:
            raise click.UsageError(f"{other} and {what} are the same file, {path}; name another")


@contextmanager
def working(what: str, *, quiet: bool) -> Iterator[Told | None]:
    """Show on a terminal what is under way; yields who can be told how far it is, if anybody."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from bestdag.cli.live import live_line

    with live_line(what) as told:
        yield told


def print_line(line: str) -> None:
    """Print a line; what the output cannot hold is escaped."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    click.echo(line.encode(encoding, "backslashreplace").decode(encoding))


def _one_line(text: str) -> str:
    """Show control characters as escapes: a label must not steer a terminal."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
