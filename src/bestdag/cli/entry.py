"""The entry point: nothing is loaded before Ctrl-C would be answered."""

from __future__ import annotations

import sys

from bestdag.cli.interrupts import Interrupts

__all__ = ["main"]


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        with Interrupts():
            from bestdag.cli.main import run
        code = run()
    except KeyboardInterrupt:  # while loading
        sys.stderr.write("bestdag: interrupted\n")
        code = 130
    sys.exit(code)
