"""Ctrl-C, heard wherever it comes."""

from __future__ import annotations

import signal
import threading
from importlib.machinery import ExtensionFileLoader
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["Interrupts"]

_MOMENT = 0.001  # seconds
_LOADS_NATIVE_CODE = (
    ExtensionFileLoader.create_module.__code__,
    ExtensionFileLoader.exec_module.__code__,
)


class Interrupts:
    """While entered: Ctrl-C raises KeyboardInterrupt, and `came` remembers it.

    Other libraries may turn the exception into an error of their own, hence the memory. While
    the machinery of imports is at work or native code is loaded, it waits: there it could be
    swallowed by a callback and leave a lock behind that the next thread to import something would
    wait for in vain, or abort the process.
    """

    def __init__(self) -> None:
        self.came = False
        self._waits = False  # for an alarm, which Windows does not have
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        self.install()
        return self

    def __exit__(self, *_: object) -> None:
        waited = self._waits
        self._disarm()
        for number, handler in self._before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        if waited:
            self.came = True
            raise KeyboardInterrupt

    def install(self) -> None:
        """Begin to listen; only the main thread can."""
        if threading.current_thread() is threading.main_thread():
            self._before[signal.SIGINT] = signal.getsignal(signal.SIGINT)
            signal.signal(signal.SIGINT, self._handle)

    def ignore(self) -> None:
        """Let Ctrl-C do nothing from now on: everything is decided."""
        self._disarm()
        if signal.SIGINT in self._before:
            signal.signal(signal.SIGINT, signal.SIG_IGN)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if number != signal.SIGINT and not self._waits:
            return  # an alarm that rang while it was called off
        while frame is not None and frame.f_code.co_filename == __file__:
            frame = frame.f_back  # another Ctrl-C is being handled
        if _is_loading(frame) and hasattr(signal, "setitimer"):
            self._arm()
        else:
            self._disarm()
            self.came = True
            signal.default_int_handler(number, frame)

    def _arm(self) -> None:
        self._waits = True
        if signal.SIGALRM not in self._before:
            self._before[signal.SIGALRM] = signal.getsignal(signal.SIGALRM)
            signal.signal(signal.SIGALRM, self._handle)
        signal.setitimer(signal.ITIMER_REAL, _MOMENT)

    def _disarm(self) -> None:
        if self._waits:
            self._waits = False
            signal.setitimer(signal.ITIMER_REAL, 0)


def _is_loading(frame: FrameType | None) -> bool:
    if frame is not None and "importlib._bootstrap" in frame.f_code.co_filename:
        return True
    while frame is not None and frame.f_code not in _LOADS_NATIVE_CODE:
        frame = frame.f_back
    return frame is not None
