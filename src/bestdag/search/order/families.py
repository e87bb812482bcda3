"""Families for the search over orders: sets put into lists, scores in Python, sums of priors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.scores.prior import UniformPrior
from bestdag.scores.scorer import Scorer
from bestdag.scores.table import ParentSets

__all__ = ["prior_sums", "score_in_python", "with_set"]


def with_set(sets: ParentSets, score: float, parents: Sequence[int]) -> ParentSets:
    """Put in one more set, at its place."""
    if not math.isfinite(score):
        return sets
    place = int(np.searchsorted(-sets.scores, -score, side="right"))
    at = int(sets.offsets[place])
    ends = np.insert(sets.offsets[1:], place, at) + len(parents) * (
        np.arange(len(sets.scores) + 1) >= place
    )
    return ParentSets(
        np.insert(sets.scores, place, score),
        np.concatenate([[0], ends]).astype(np.int64),
        np.insert(sets.members, at, np.array(parents, np.int32)).astype(np.int32),
    )


def score_in_python(
    scorer: Scorer, child: int, parents: list[int], candidates: list[int]
) -> npt.NDArray[np.float64]:
    """Score the changes of a family that has no native twin."""
    wanted = np.array(candidates, np.int32)
    return scorer.bulk.numbered_changes([(child, parents)], [wanted])[0]


def prior_sums(scorer: Scorer) -> tuple[Any, Any] | None:
    """Return what a prior adds, by arcs and by children; None when it is no finite sum."""
    names = [variable.name for variable in scorer.variables]
    n = len(names)
    prior: Any = scorer.structure_prior
    if prior is None or isinstance(prior, UniformPrior):
        return np.zeros((n, n)), np.zeros(n)
    if not hasattr(prior, "arc"):
        return None
    arcs = np.array([[0.0 if p == c else prior.arc(p, c) for c in names] for p in names])
    bases = np.array([prior.family(c, frozenset()) for c in names])
    return (arcs, bases) if np.isfinite(arcs).all() and np.isfinite(bases).all() else None
