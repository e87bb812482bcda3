"""The entry point: nothing is loaded before Ctrl-C would be answered."""

from __future__ import annotations

import os
import sys

from bestdag.cli.interrupts import Interrupts

__all__ = ["main"]


def main() -> None:
    """Run the command line and exit with its code."""
    _fill_closed_streams()
    interrupts = Interrupts()
    try:
        interrupts.install()
        from bestdag.cli.main import run

        code = run(interrupts=interrupts)
        interrupts.ignore()
    except KeyboardInterrupt:  # while loading
        interrupts.ignore()
        sys.stderr.write("bestdag: interrupted\n")
        code = interrupts.exit_code
    # An exception that left a code string, as some modules run while they are loaded, would make
    # `python -m` end by the signal instead of our exit code; another such string undoes that.
    exec("")
    sys.exit(code)


def _fill_closed_streams() -> None:
    """Let the null device stand for standard streams that are closed.

    A file opened later could get such a stream's number, and what is meant for the stream.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
