"""Rungs of a proof: what is known of the structures with at most so many parents per variable."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from bestdag.search.ties import tie_width

__all__ = ["Coverage", "Rung", "is_useful", "proved_up_to"]

# What a proof covers: every admissible family, those with at most so many parents, or nothing.
Coverage = Literal["all"] | int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """What is known of the structures in which every variable has at most so many parents.

    Attributes
    ----------
    max_parents : int or None
        At most so many parents for every variable; None for the top rung, all structures that the
        limits of the search admit.
    score : float or None
        Of the best structure of this rung that is known.
    bound : float or None
        No structure of this rung scores more (within `resolution`); None while nothing is known.
    is_proved : bool
        Whether the best structure of this rung is known, and proved to be: then `bound` is its
        score.
    seconds : float
        Spent on this rung, lists of parent sets included.
    proved_after : float or None
        Seconds of the whole run when the proof came; None without one.
    n_sets : int
        Candidate parent sets that the proof or the bound is about, after pruning.
    engine : str or None
        What proved it, or worked on it: "edmonds", "dp", "bnc", ...
    resolution : float
        What the arithmetic of the proof can hide, in nats.
    certificates : tuple
        What a check of the proof needs, in a form of the engine's own.
    """

    max_parents: int | None
    score: float | None = None
    bound: float | None = None
    is_proved: bool = False
    seconds: float = 0.0
    proved_after: float | None = None
    n_sets: int = 0
    engine: str | None = None
    resolution: float = 0.0
    certificates: tuple[Any, ...] = field(default=(), repr=False, compare=False)

    @property
    def gap(self) -> float | None:
        """``bound - score`` in nats; None where either is not known."""
        if self.bound is None or self.score is None:
            return None
        return max(0.0, self.bound - self.score)

    @property
    def status(self) -> Literal["optimum proved", "bounded", "open"]:
        """Say how far this rung has come."""
        if self.is_proved:
            return "optimum proved"
        return "open" if self.bound is None else "bounded"

    def joined(self, before: Rung | None) -> Rung:
        """Return this rung with what was proved about it before, where that is more.

        Examples
        --------
        >>> before = Rung(max_parents=2, bound=-4.0)
        >>> Rung(max_parents=2, score=-9.0, bound=-1.0).joined(before).bound
        -4.0
        """
        if before is None or self.is_proved:
            return self
        if before.is_proved:
            return before
        is_lower = before.bound is not None and (self.bound is None or before.bound < self.bound)
        if not is_lower:
            return self
        return replace(self, bound=before.bound, resolution=before.resolution)

    def without_certificates(self) -> Rung:
        """Return what is known without what proves it."""
        return replace(self, certificates=())

    def as_json(self) -> dict[str, Any]:
        """Return the values that go into JSON."""
        return {
            "max_parents": self.max_parents,
            "status": self.status,
            "score": self.score,
            "bound": self.bound,
            "gap": self.gap,
            "seconds": self.seconds,
            "proved_after": self.proved_after,
            "parent_sets": self.n_sets,
            "engine": self.engine,
        }


def proved_up_to(score: float, ladder: Sequence[Rung]) -> Coverage:
    """Return the highest rung of which no structure scores more than this; None if there is none.

    A rung that is not solved counts as well once its bound is no more than the score.

    Examples
    --------
    >>> rungs = [
    ...     Rung(max_parents=1, score=-30.0, bound=-30.0, is_proved=True),
    ...     Rung(max_parents=2, score=-25.0, bound=-21.0),
    ... ]
    >>> proved_up_to(-24.0, rungs), proved_up_to(-20.0, rungs), proved_up_to(-31.0, rungs)
    (1, 2, None)
    """
    covered: Coverage = None
    for rung in ladder:
        hidden = 0.0 if rung.is_proved else rung.resolution
        if rung.bound is not None and rung.bound + hidden <= score + tie_width(score):
            covered = "all" if rung.max_parents is None else rung.max_parents
    return covered


def is_useful(gap: float | None, gain: float | None) -> bool:
    """Whether a gap says something: less than a tenth of what the structure gains over no arcs.

    Where the gain is not known every gap is shown.

    Examples
    --------
    >>> is_useful(3.0, 100.0), is_useful(30.0, 100.0), is_useful(30.0, None), is_useful(None, 9.0)
    (True, False, True, False)
    """
    if gap is None or not math.isfinite(gap):
        return False
    return gain is None or gap <= 0.1 * gain
