"""The entry point: nothing is loaded before Ctrl-C would be answered."""

from __future__ import annotations

import sys

from bestdag.cli.interrupts import Interrupts

__all__ = ["main"]


def main() -> None:
    """Run the command line and exit with its code."""
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
