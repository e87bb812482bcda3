"""The steps of a walk, as far as they are kept."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

__all__ = ["Move", "Trace", "TraceStep"]

# Of a long walk these are kept: so many of the first steps and of the last ones.
_STEPS_AT_EITHER_END = 10_000

# Kind, parent, child, gain.
Move = tuple[int, int, int, float]
# What was done, its gain, the score after it.
TraceStep = tuple[Move | str, float, float]
_NO_MOVE: Move = (-1, -1, -1, 0.0)


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
            "first": _packed(self._first),
            "last": _packed(self._last),
            "left_out": [self._n_left_out, self._left_out_gain, self._left_out_score],
        }

    @classmethod
    def restored(cls, state: dict[str, Any]) -> Trace:
        """Make the trace that gave this state."""
        trace = cls()
        trace._first.extend(_unpacked(state["first"]))
        trace._last.extend(_unpacked(state["last"]))
        trace._n_left_out, trace._left_out_gain, trace._left_out_score = state["left_out"]
        return trace


def _packed(steps: Collection[TraceStep]) -> dict[str, Any]:
    """Put steps into arrays: there may be thousands, and they are written again and again."""
    moves = [_NO_MOVE if isinstance(what, str) else what for what, _, _ in steps]
    return {
        "moves": np.array([move[:3] for move in moves], np.int32).reshape(-1, 3),
        "values": np.array(
            [(move[3], *step[1:]) for move, step in zip(moves, steps, strict=True)]
        ).reshape(-1, 3),
        "texts": {i: what for i, (what, _, _) in enumerate(steps) if isinstance(what, str)},
    }


def _unpacked(state: dict[str, Any]) -> Iterator[TraceStep]:
    rows = zip(state["moves"].tolist(), state["values"].tolist(), strict=True)
    for i, (move, (move_gain, gain, score)) in enumerate(rows):
        yield state["texts"].get(str(i), (*move, move_gain)), gain, score
