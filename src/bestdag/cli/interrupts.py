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
        self._waits = False
        self._before: list[tuple[int, Any]] = []

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            # Windows has no SIGALRM, so nothing can wait there.
            for name in ("SIGINT", "SIGALRM"):
                if number := getattr(signal, name, None):
                    self._before.append((number, signal.signal(number, self._handle)))
        return self

    def __exit__(self, *_: object) -> None:
        if self._waits:
            signal.setitimer(signal.ITIMER_REAL, 0)  # first: an alarm nobody handles would kill
        for number, handler in self._before:
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
        if self._waits:
            raise KeyboardInterrupt

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._waits = _is_loading(frame) and hasattr(signal, "setitimer")
        if self._waits:
            signal.setitimer(signal.ITIMER_REAL, _MOMENT)
        else:
            self.came = True
            signal.default_int_handler(number, frame)


def _is_loading(frame: FrameType | None) -> bool:
    if frame is not None and "importlib._bootstrap" in frame.f_code.co_filename:
        return True
    while frame is not None and frame.f_code not in _LOADS_NATIVE_CODE:
        frame = frame.f_back
    return frame is not None
