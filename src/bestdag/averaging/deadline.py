"""The time limit of a posterior: what fits into it, and what it ended."""

from __future__ import annotations

import math
import time

from bestdag.errors import InvalidParameterError

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
            raise self._error(f"{what} would take about {forecast:,.2g} s, longer than")

    def require_done(self, is_done: bool, what: str) -> None:
        """Refuse to go on where time ended what is of no use in part."""
        if not is_done:
            raise self._error(f"{what} took longer than")

    def require_scored(self, is_done: bool, what: str) -> None:
        """Refuse to go on where time ended the scores, which every method needs."""
        if not is_done:
            text = self._text(f"{what} took longer than")
            raise InvalidParameterError(
                f"{text} a smaller max_parents or a larger time_limit"
            ).with_option(f"{text} a smaller --max-parents or a larger --time-limit")

    def _error(self, what: str) -> InvalidParameterError:
        text = self._text(what)
        error = InvalidParameterError(f"{text} method 'chains' or a larger time_limit")
        return error.with_option(f"{text} --method chains or a larger --time-limit")

    def _text(self, what: str) -> str:
        return f"{self._who}: {what} the time limit of {self._limit:g} s allows; use"
