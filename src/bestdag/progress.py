"""How far work is: a small value for the callback that watches it, a few times a second."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from bestdag import _core
from bestdag.errors import InterruptedWarning, InvalidParameterError, caller_level

__all__ = [
    "OutOfTimeError",
    "Progress",
    "ProgressCallback",
    "Reporter",
    "check_interrupt",
    "counting",
    "current_reporter",
    "handling_interrupts",
    "listening",
    "until",
    "unwatched",
    "warn_of_interrupt",
    "watching",
]

# Between two calls within one phase; a new phase is reported at once.
_SECONDS_BETWEEN = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a search is.

    Attributes
    ----------
    phase : str
        What is under way, such as "hill climbing".
    detail : str
        How far that is, in words; may be empty.
    score : float or None
        The best score so far; None before there is a structure.
    bound : float or None
        No structure scores more than this; None as long as nothing is known.
    share : float or None
        How much of the phase is done, from 0 to 1, where that is known.
    seconds : float
        Since it began.
    seconds_left : float or None
        Until the limit ends it at the latest; None without a limit.

    Examples
    --------
    >>> now = Progress(phase="order search", score=-20.5, bound=-18.0, seconds=2.0)
    >>> now.gap
    2.5
    >>> print(now)
    order search, score -20.5000, at most 2.5 below the best, 2 s
    """

    phase: str
    detail: str = ""
    score: float | None = None
    bound: float | None = None
    share: float | None = None
    seconds: float
    seconds_left: float | None = None

    @property
    def gap(self) -> float | None:
        """``bound - score`` in nats, where both are known."""
        if self.score is None or self.bound is None:
            return None
        return max(0.0, self.bound - self.score)

    def parts(self) -> list[str]:
        """Return it in words, what matters most first: what, score, gap, time, details."""
        parts = [self.phase]
        if self.score is not None:
            parts.append(f"score {self.score:.4f}")
        if self.gap is not None:
            gap = f"{self.gap:,.0f}" if self.gap >= 1000 else f"{self.gap:.3g}"
            parts.append(f"at most {gap} below the best")
        left = "" if self.seconds_left is None else f", {max(0.0, self.seconds_left):.0f} s left"
        parts.append(f"{self.seconds:.0f} s{left}")
        if self.share is not None:
            parts.append(f"{self.share:.0%} of this")
        if self.detail:
            parts.append(self.detail)
        return parts

    def __str__(self) -> str:
        return ", ".join(self.parts())


ProgressCallback = Callable[[Progress], None]


class Reporter:
    """Remembers how far things are and reports it: when a phase begins, and now and then.

    It reports the highest score and the lowest bound so far. While native code works, the thread
    that waits for it asks for one more (see `listening`): so there are calls when nothing is new.

    Parameters
    ----------
    callback : callable
        Gets a `Progress`. What it raises ends the work: KeyboardInterrupt as Ctrl-C does, with the
        best so far, anything else by being raised.
    """

    def __init__(self, callback: ProgressCallback) -> None:
        self._callback = callback
        self._began = time.monotonic()
        self._deadline = math.inf
        self._phase, self._detail = "", ""
        self._score: float | None = None
        self._bound: float | None = None
        self._share: float | None = None
        self._next = 0.0
        self._is_reporting = False

    def until(self, deadline: float | None) -> None:
        """Say when a limit ends it, by the monotonic clock."""
        self._deadline = math.inf if deadline is None else deadline

    def report(
        self,
        phase: str,
        detail: str = "",
        *,
        score: float | None = None,
        bound: float | None = None,
        share: float | None = None,
    ) -> None:
        """Note how far things are, and say so unless that was done a moment ago."""
        is_new = phase != self._phase
        self._phase, self._detail, self._share = phase, detail, share
        if score is not None and math.isfinite(score):
            self._score = score if self._score is None else max(score, self._score)
        if bound is not None and math.isfinite(bound):
            self._bound = bound if self._bound is None else min(bound, self._bound)
        self._call(is_new)

    def remind(self) -> None:
        """Say once more how far things are, unless that was done a moment ago."""
        if self._phase:
            self._call(False)

    def within(self, phase: str) -> Reporter:
        """Return one for a part of the work, whose phases are details and whose scores are not."""
        return Reporter(lambda now: self.report(phase, now.phase, share=self._share))

    def _call(self, is_new: bool) -> None:
        now = time.monotonic()
        if self._is_reporting or (now < self._next and not is_new):
            return  # the callback may itself call us
        left = self._deadline - now
        bound = self._bound
        if bound is not None and self._score is not None:
            bound = max(bound, self._score)  # but for rounding
        self._is_reporting = True
        try:
            self._callback(
                Progress(
                    phase=self._phase,
                    detail=self._detail,
                    score=self._score,
                    bound=bound,
                    share=self._share,
                    seconds=now - self._began,
                    seconds_left=None if math.isinf(left) else max(0.0, left),
                )
            )
        finally:
            self._is_reporting = False
            self._next = time.monotonic() + _SECONDS_BETWEEN


# What watches the work of this thread: a callback, or the reporter of the work under way.
_watcher: ContextVar[ProgressCallback | Reporter | None] = ContextVar("watcher", default=None)


@contextmanager
def watching(callback: ProgressCallback) -> Iterator[None]:
    """Let a function follow everything that is done within the block.

    Parameters
    ----------
    callback : callable
        Called a few times a second, from the calling thread, with a `Progress`: phase, best score
        so far, bound, time. What it raises is raised by the work; KeyboardInterrupt does what
        Ctrl-C does: so a callback can end a search that is good enough, and keep its result.

    Examples
    --------
    >>> from bestdag import learn
    >>> phases = set()
    >>> with watching(lambda progress: phases.add(progress.phase)):
    ...     result = learn({"a": [0, 0, 1, 1] * 9, "b": [0, 0, 1, 1] * 9})
    >>> "reading the table" in phases
    True
    """
    if not callable(callback):
        raise InvalidParameterError(
            f"watching: must be a function of one argument, got {callback!r:.60}"
        )
    token = _watcher.set(callback)
    try:
        yield
    finally:
        _watcher.reset(token)


@contextmanager
def unwatched() -> Iterator[None]:
    """Let the work within the block report nothing: the caller says how far all of it is."""
    token = _watcher.set(None)
    try:
        yield
    finally:
        _watcher.reset(token)


def current_reporter() -> Reporter | None:
    """Return what reports to the callback that watches; None where nothing does.

    Within work that reports already it is the reporter of that work.
    """
    watcher = _watcher.get()
    return watcher if watcher is None or isinstance(watcher, Reporter) else Reporter(watcher)


@contextmanager
def listening(reporter: Reporter | None) -> Iterator[None]:
    """Let what is done within the block report here, and native code remind it to."""
    if reporter is None:
        yield
        return
    token = _watcher.set(reporter)
    before = _core.set_listener(reporter.remind)
    try:
        yield
    finally:
        _core.set_listener(before)
        _watcher.reset(token)


class OutOfTimeError(Exception):
    """The time given by `until` is over; nothing of the work at hand may be used."""


@contextmanager
def until(deadline: float) -> Iterator[None]:
    """Let native work that this thread waits for raise `OutOfTimeError` at this time.

    The deadline is a value of `time.monotonic`; it is looked at about every 20 ms. A listener
    that is there already is called as before.
    """
    if math.isinf(deadline):
        yield
        return
    before: Any = _core.set_listener(None)

    def look() -> None:
        if before is not None:
            before()
        if time.monotonic() >= deadline:
            raise OutOfTimeError

    _core.set_listener(look)
    try:
        yield
    finally:
        _core.set_listener(before)


def check_interrupt() -> None:
    """Do what native work does about every 20 ms: for loops in Python that wait for others.

    Raises what the listener raises, `OutOfTimeError` included.
    """
    listener: Any = _core.set_listener(None)
    _core.set_listener(listener)
    if listener is not None:
        listener()


_handles_interrupts = ContextVar("_handles_interrupts", default=False)


@contextmanager
def handling_interrupts() -> Iterator[None]:
    """Leave it to the caller to look at the status of what was interrupted: nothing is warned."""
    before = _handles_interrupts.set(True)
    try:
        yield
    finally:
        _handles_interrupts.reset(before)


def warn_of_interrupt(who: str, best: Any, how_to_go_on: str) -> None:
    """Say that Ctrl-C stopped the work, so that no loop goes on without a word.

    There is no exception, for `best` would be lost; who wants one makes an error of the warning.
    """
    if _handles_interrupts.get():
        return
    warning = InterruptedWarning(
        f"{who}: stopped early by Ctrl-C; this is the best so far, with status 'interrupted' "
        f"(check for it in a loop); {how_to_go_on}"
    )
    warning.best = best
    warnings.warn(warning, stacklevel=caller_level())


def counting(phase: str, n_items: int) -> Callable[[int], None] | None:
    """Return what to call with the number of each item that is done, of so many."""
    reporter = current_reporter()
    if reporter is None:
        return None
    reporter.report(phase, share=0.0)
    n_done = 0

    def on_done(_number: int) -> None:
        nonlocal n_done
        n_done += 1
        reporter.report(phase, f"{n_done:,} of {n_items:,}", share=n_done / n_items)

    return on_done
