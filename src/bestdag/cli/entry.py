"""The entry point, and the signals: nothing is loaded before Ctrl-C would be answered."""

from __future__ import annotations

import os
import signal
import sys
import threading
from importlib.machinery import ExtensionFileLoader
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["INTERRUPTED", "Interrupts", "main"]

_M_ARENA_MAX = -8  # of glibc's malloc.h
_LEAST_ADDRESSES = 128 << 20  # what it takes to load the interpreter and NumPy, and a bit more
# The exit code of what Ctrl-C ended; another signal's number may take the place of its 2.
INTERRUPTED = 128 + signal.SIGINT

_MOMENT = 0.001  # seconds
_HEARD = ("SIGINT", "SIGTERM", "SIGHUP")  # where the system has them
_LOADS_NATIVE_CODE = (
    ExtensionFileLoader.create_module.__code__,
    ExtensionFileLoader.exec_module.__code__,
)


class Interrupts:
    """While entered: Ctrl-C raises KeyboardInterrupt, and `came` remembers it.

    SIGTERM and SIGHUP (the terminal is gone) are answered alike; `exit_code` tells them apart. A
    signal that was ignored before stays ignored: SIGHUP under `nohup`, and SIGINT where a script
    runs a command in the background (``bestdag learn ... &``), so that Ctrl-C does not reach it.
    Other libraries may turn the exception into an error of their own, hence the memory. While the
    machinery of imports is at work or native code is loaded, it waits: there it could be swallowed
    by a callback and leave a lock behind that the next thread to import something would wait for
    without end, or abort the process.
    """

    def __init__(self) -> None:
        self.came = False
        self.exit_code = INTERRUPTED
        self._waits = 0  # the signal that waits for an alarm, which Windows does not have
        self._before: dict[int, Any] = {}
        self._terminals: list[int] = []

    def __enter__(self) -> Interrupts:
        self.install()
        return self

    def __exit__(self, *_: object) -> None:
        waited = self._waits
        self._disarm()
        for number, handler in self._before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        if waited:
            self._note(waited)
            raise KeyboardInterrupt

    def install(self) -> None:
        """Begin to listen; only the main thread can."""
        if threading.current_thread() is threading.main_thread():
            for name in _HEARD:
                number = getattr(signal, name, None)
                if number is not None and signal.getsignal(number) != signal.SIG_IGN:
                    self._listen(number)
            self._terminals = [stream for stream in (1, 2) if os.isatty(stream)]

    def ignore(self) -> None:
        """Let signals do nothing from now on: everything is decided."""
        self._disarm()
        for number in self._before:
            if not _is_alarm(number):
                signal.signal(number, signal.SIG_IGN)

    def _listen(self, number: int) -> None:
        self._before[number] = signal.getsignal(number)
        signal.signal(number, self._handle)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if _is_alarm(number):
            if not self._waits:
                return  # it rang while it was called off
            number = self._waits
        while frame is not None and frame.f_code.co_filename == __file__:
            frame = frame.f_back  # another signal is being handled
        if _is_loading(frame) and hasattr(signal, "setitimer"):
            self._arm(number)
        else:
            self._disarm()
            self._note(number)
            raise KeyboardInterrupt

    def _note(self, number: int) -> None:
        self.came = True
        self.exit_code = 128 + number
        for stream in self._terminals:
            if not os.isatty(stream):  # it is gone: what is printed there goes nowhere
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream)
                os.close(nowhere)

    def _arm(self, number: int) -> None:
        self._waits = number
        if signal.SIGALRM not in self._before:
            self._listen(signal.SIGALRM)
        signal.setitimer(signal.ITIMER_REAL, _MOMENT)

    def _disarm(self) -> None:
        if self._waits:
            self._waits = 0
            signal.setitimer(signal.ITIMER_REAL, 0)


def _is_alarm(number: int) -> bool:
    return hasattr(signal, "SIGALRM") and number == signal.SIGALRM


def _is_loading(frame: FrameType | None) -> bool:
    if frame is not None and "importlib._bootstrap" in frame.f_code.co_filename:
        return True
    while frame is not None and frame.f_code not in _LOADS_NATIVE_CODE:
        frame = frame.f_back
    return frame is not None


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
