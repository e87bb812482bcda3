"""Ctrl-C and the signals that end a process, answered wherever they come."""

from __future__ import annotations

import os
import signal
import threading
from importlib.machinery import ExtensionFileLoader
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["INTERRUPTED", "Interrupts"]

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
