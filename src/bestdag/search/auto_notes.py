"""What the default search says of itself: what it did, why it ended, what a proof would take."""

from __future__ import annotations

import math
from collections.abc import Mapping

from bestdag.search.problem import Problem
from bestdag.search.result import Status
from bestdag.wording import count_of

__all__ = ["advice", "ending", "what_was_done"]

_LEAST_SHOWN = 0.05  # seconds; less is shown as 0.0


def what_was_done(n_rounds: int, n_turns: int, spent: Mapping[str, float]) -> str:
    """Say what the seconds went into: rounds of improving, and turns of the exact search.

    What would be shown as 0.0 s is left out.

    Examples
    --------
    >>> what_was_done(2, 1, {"structures": 0.31, "proof": 0.01})
    'auto improved a structure for 0.3 s (2 rounds)'
    """
    parts = []
    if n_rounds and spent["structures"] >= _LEAST_SHOWN:
        rounds = count_of(n_rounds, "round")
        parts.append(f"improved a structure for {spent['structures']:.1f} s ({rounds})")
    if spent["proof"] >= _LEAST_SHOWN:
        aim = "a proof" if n_turns else "a bound"
        parts.append(f"worked on {aim} for {spent['proof']:.1f} s")
    return f"auto {' and '.join(parts) or 'had no time'}"


def ending(status: Status, budget: float | None) -> str:
    """Say why it ended, where nobody asked for that; the budget is None with a time limit."""
    if status == "local optimum":
        return "; stopped after no further improvement"
    if status == "time limit" and budget is not None:
        return f"; its budget of {budget:g} s was used up"
    return ""


def advice(problem: Problem, seconds_for_whole: float | None) -> str:
    """Say how to get a proof, from its forecast over all parent sets; nothing where there is none.

    What branch and cut needs cannot be told beforehand.
    """
    if seconds_for_whole is None:
        return ""
    # No less than what has just been too little.
    seconds = _rounded_up(2.0 * max(seconds_for_whole + 1.0, problem.seconds))
    return f"; a time limit of {seconds} s would give a proof"


def _rounded_up(seconds: float) -> int:
    """Return a time that looks like one somebody would ask for."""
    for step in (10, 30, 60, 120, 300, 600, 1200, 3600):
        if seconds <= step:
            return step
    return math.ceil(seconds / 3600) * 3600
