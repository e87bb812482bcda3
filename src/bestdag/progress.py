"""How far things are: a small value for whoever asked to be told, a few times a second."""

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
    "Reporter",
    "Told",
    "counting",
    "handling_interrupts",
    "heed",
    "listening",
    "reporter_for",
    "until",
    "warn_of_interrupt",
]

# Between two calls within one phase; a new phase is told at once.
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


Told = Callable[[Progress], None]


class Reporter:
    """Remembers how far things are and tells it: when a phase begins, and now and then.

    The score kept is the highest told, the bound the lowest. While native code works, the thread
    that waits for it asks for one more (see `listening`): so there are calls when nothing is new.

    Parameters
    ----------
    told : callable
        Gets a `Progress`. What it raises ends the work: KeyboardInterrupt as Ctrl-C does, with the
        best so far, anything else by being raised.
    """

    def __init__(self, told: Told) -> None:
        self._told = told
        self._began = time.monotonic()
        self._deadline = math.inf
        self._phase, self._detail = "", ""
        self._score: float | None = None
        self._bound: float | None = None
        self._share: float | None = None
        self._next = 0.0
        self._is_telling = False

    def until(self, deadline: float | None) -> None:
        """Say when a limit ends it, by the monotonic clock."""
        self._deadline = math.inf if deadline is None else deadline

    def tell(
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
        return Reporter(lambda now: self.tell(phase, now.phase, share=self._share))

    def _call(self, is_new: bool) -> None:
        now = time.monotonic()
        if self._is_telling or (now < self._next and not is_new):
            return  # what is told may itself call us
        left = self._deadline - now
        bound = self._bound
        if bound is not None and self._score is not None:
            bound = max(bound, self._score)  # but for rounding
        self._is_telling = True
        try:
            self._told(
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
            self._is_telling = False
            self._next = time.monotonic() + _SECONDS_BETWEEN


def reporter_for(who: str, progress: Told | Reporter | None) -> Reporter | None:
    """Return who tells a caller how far things are; None where nobody asked."""
    if progress is None or isinstance(progress, Reporter):
        return progress
    if not callable(progress):
        raise InvalidParameterError(
            f"{who}: progress must be a function of one argument, got {progress!r:.60}"
        )
    return Reporter(progress)


@contextmanager
def listening(reporter: Reporter | None) -> Iterator[None]:
    """Let native code that this thread runs remind it to tell, for as long as the block lasts."""
    if reporter is None:
        yield
        return
    before = _core.set_listener(reporter.remind)
    try:
        yield
    finally:
        _core.set_listener(before)


class OutOfTimeError(Exception):
    """The time given by `until` is over; nothing of the work at hand may be used."""


@contextmanager
def until(deadline: float) -> Iterator[None]:
    """Let native work that this thread waits for raise `OutOfTimeError` at this time.

    The deadline is a value of `time.monotonic`; it is looked at about every 20 ms. Who listens
    already is told as before.
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


def heed() -> None:
    """Do what native work does about every 20 ms: for loops in Python that wait for others.

    Raises what whoever listens raises, `OutOfTimeError` included.
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


def counting(
    progress: Told | Reporter | None, phase: str, n_items: int, *, who: str
) -> Callable[[int], None] | None:
    """Return what to call with the number of each item that is done, of so many."""
    reporter = reporter_for(who, progress)
    if reporter is None:
        return None
    reporter.tell(phase, share=0.0)
    n_done = 0

    def on_done(_number: int) -> None:
        nonlocal n_done
        n_done += 1
        reporter.tell(phase, f"{n_done:,} of {n_items:,}", share=n_done / n_items)

    return on_done
