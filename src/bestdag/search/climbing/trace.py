"""The steps of a walk, as far as they are kept."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

__all__ = ["Move", "Trace", "TraceStep"]

# Of a long walk these are kept: so many of the first steps and of the last ones.
_STEPS_AT_EITHER_END = 10_000

# Kind, parent, child, gain.
Move = tuple[int, int, int, float]
# What was done, its gain, the score after it.
TraceStep = tuple[Move | str, float, float]


class Trace:
    """The first and the last steps; what came between is one step."""

    def __init__(self) -> None:
        self._first: list[TraceStep] = []
        self._last: deque[TraceStep] = deque()
        self._n_left_out = 0
        self._left_out_gain = 0.0
        self._left_out_score = 0.0

    def append(self, step: TraceStep) -> None:
        """Add a step."""
        if len(self._first) < _STEPS_AT_EITHER_END:
            self._first.append(step)
            return
        self._last.append(step)
        if len(self._last) > _STEPS_AT_EITHER_END:
            _, gain, self._left_out_score = self._last.popleft()
            self._left_out_gain += gain
            self._n_left_out += 1

    def __iter__(self) -> Iterator[TraceStep]:
        yield from self._first
        if self._n_left_out:
            what = f"{self._n_left_out:,} steps that are not kept"
            yield what, self._left_out_gain, self._left_out_score
        yield from self._last

    def state(self) -> dict[str, Any]:
        """Return all of it, for `restored`."""
        return {
            "first": list(self._first),
            "last": list(self._last),
            "left_out": [self._n_left_out, self._left_out_gain, self._left_out_score],
        }

    @classmethod
    def restored(cls, state: dict[str, Any]) -> Trace:
        """Make the trace that gave this state."""
        trace = cls()
        trace._first.extend(map(_step, state["first"]))
        trace._last.extend(map(_step, state["last"]))
        trace._n_left_out, trace._left_out_gain, trace._left_out_score = state["left_out"]
        return trace


def _step(step: Any) -> TraceStep:
    what, gain, score = step
    return (what if isinstance(what, str) else tuple(what)), gain, score
