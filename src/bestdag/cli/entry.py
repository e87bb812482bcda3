"""The entry point: nothing is loaded before Ctrl-C would be answered."""

from __future__ import annotations

import os
import sys

from bestdag.cli.interrupts import Interrupts

__all__ = ["main"]

_M_ARENA_MAX = -8  # of glibc's malloc.h
_LEAST_ADDRESSES = 128 << 20  # what it takes to load the interpreter and NumPy, and a bit more


def main() -> None:
    """Run the command line and exit with its code."""
    _fill_closed_streams()
    interrupts = Interrupts()
    try:
        interrupts.install()
        _spare_addresses()
        from bestdag.cli.main import run

        code = run(interrupts=interrupts)
        interrupts.ignore()
    except KeyboardInterrupt:  # while loading
        interrupts.ignore()
        sys.stderr.write("bestdag: interrupted\n")
        code = interrupts.exit_code
    except Exception as error:
        from bestdag.errors import is_short_of_memory, no_memory

        if not is_short_of_memory(error):
            raise
        sys.stderr.write(f"{no_memory('bestdag')}\n")
        code = 1
    # An exception that left a code string, as some modules run while they are loaded, would make
    # `python -m` end by the signal instead of our exit code; another such string undoes that.
    try:
        exec("")
    except MemoryError:
        code = code or 1
    sys.exit(code)


def _spare_addresses() -> None:
    """Where addresses are limited (``ulimit -v``), do not set them aside for threads.

    NumPy's would take hundreds of megabytes while it is loaded, and abort the process without
    them; and the C library maps 64 MB for every thread that allocates, unless it is told not to.
    """
    try:
        import resource
    except ImportError:  # not on this system
        return
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    if most != resource.RLIM_INFINITY:
        if most < _LEAST_ADDRESSES:
            raise MemoryError
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        if sys.platform == "linux":
            import ctypes

            mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # not in every C library
            if mallopt is not None:
                mallopt(_M_ARENA_MAX, 1)


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
