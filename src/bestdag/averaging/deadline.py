"""The time limit of a posterior: what fits into it, and what it ended."""

from __future__ import annotations

import math
import time

from bestdag.errors import InvalidParameterError
from bestdag.wording import arg

__all__ = ["Deadline"]


class Deadline:
    """When time is up; never without a limit.

    Examples
    --------
    >>> Deadline("posterior", None).seconds_left
    inf
    """

    def __init__(self, who: str, limit: float | None) -> None:
        self._who = who
        self._limit = limit
        self._end = math.inf if limit is None else time.monotonic() + limit

    @property
    def seconds_left(self) -> float:
        """Time until then, at least 0."""
        return max(0.0, self._end - time.monotonic())

    def earlier(self, seconds: float) -> Deadline:
        """Return a deadline that leaves so much time for what follows, at most half of it."""
        made = Deadline(self._who, self._limit)
        made._end = self._end - min(seconds, self.seconds_left / 2.0)
        return made

    def require_time(self, what: str, forecast: float) -> None:
        """Refuse, before it is begun, what would take longer."""
        if forecast > self.seconds_left:
            text = f"{what} would take about {forecast:,.2g} s, longer than"
            raise self._error(text, arg("method", "chains"))

    def require_done(self, is_done: bool, what: str) -> None:
        """Refuse to go on where time ended what is of no use in part."""
        if not is_done:
            raise self._error(f"{what} took longer than", arg("method", "chains"))

    def require_scored(self, is_done: bool, what: str) -> None:
        """Refuse to go on where time ended the scores, which every method needs."""
        if not is_done:
            raise self._error(f"{what} took longer than", f"a smaller {arg('max_parents')}")

    def _error(self, what: str, instead: str) -> InvalidParameterError:
        return InvalidParameterError(
            f"{self._who}: {what} the time limit of {self._limit:g} s allows; use {instead} or a "
            f"larger {arg('time_limit')}"
        )
