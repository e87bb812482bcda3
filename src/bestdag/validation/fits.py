"""One of many fits: `learn`, except that Ctrl-C ends all of them."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from bestdag.data.dataset import Dataset
from bestdag.learned import Result
from bestdag.learning import learn
from bestdag.progress import handling_interrupts
from bestdag.scores.base import Score

__all__ = ["learn_one_of_many"]

_NUMBERS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


def learn_one_of_many(data: Dataset, score: Score, **settings: Any) -> Result:
    """Learn; raise KeyboardInterrupt if the search was interrupted, even with a result."""
    with _listening() as came, handling_interrupts():
        result = learn(data, score, **settings)
    if came() or result.status == "interrupted":
        raise KeyboardInterrupt
    return result


@contextmanager
def _listening() -> Iterator[Callable[[], bool]]:
    """Remember signals: a search that has its proof already answers Ctrl-C with that."""
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    received: list[int] = []
    before = {number: signal.getsignal(number) for number in _NUMBERS}

    def note(number: int, frame: FrameType | None) -> None:
        received.append(number)
        answer = before[signal.Signals(number)]
        assert callable(answer)
        answer(number, frame)

    listened = [number for number in _NUMBERS if callable(before[number])]
    for number in listened:
        signal.signal(number, note)
    try:
        yield lambda: bool(received)
    finally:
        for number in listened:
            signal.signal(number, before[number])
