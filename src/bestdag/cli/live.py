"""The line on a terminal that says how far things are, while they are under way."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bestdag.progress import Progress, Told

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.spinner import Spinner

__all__ = ["fitting_line", "live_line"]

_PER_SECOND = 8
_ROOM_FOR_SPINNER = 2


def fitting_line(what: str, now: Progress | None, width: int) -> str:
    """Say what is under way and how far it is, as much of it as fits into a line.

    Examples
    --------
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

    def __init__(self, what: str, spinner: Spinner) -> None:
        self._what = what
        self._spinner = spinner
        self._now: Progress | None = None
        self._at = 0.0

    def take(self, now: Progress) -> None:
        self._at, self._now = time.monotonic(), now

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> Iterator[Any]:
        from rich.text import Text

        now = self._now
        if now is not None:
            passed = time.monotonic() - self._at
            left = None if now.seconds_left is None else now.seconds_left - passed
            now = replace(now, seconds=now.seconds + passed, seconds_left=left)
        room = max(1, options.max_width - _ROOM_FOR_SPINNER - 1)
        self._spinner.update(text=Text(fitting_line(self._what, now, room), no_wrap=True))
        yield self._spinner


@contextmanager
def live_line(what: str) -> Iterator[Told]:
    """Show a line on standard error until the block ends; yields who is told how far things are."""
    from rich.console import Console
    from rich.live import Live
    from rich.spinner import Spinner

    line = _Line(what, Spinner("dots"))
    with Live(
        line,
        console=Console(stderr=True),
        refresh_per_second=_PER_SECOND,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    ):
        yield line.take
