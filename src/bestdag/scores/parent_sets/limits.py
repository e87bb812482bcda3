"""What the parents of a variable may be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from bestdag.errors import InvalidParameterError
from bestdag.graph._names import arc_text, show
from bestdag.graph.knowledge import NodeKnowledge
from bestdag.scores.prior import ArcPrior, SparsePrior

__all__ = ["ParentLimits", "all_but", "largest_bonuses", "limits_within", "with_bonuses"]

_NO_BONUSES = np.zeros(0)


@dataclass(frozen=True, slots=True, eq=False)
class ParentLimits:
    """What the parents of one child may be: all the required, some of the allowed.

    Parents are numbers of variables in name order, ascending. A family's score gets `bonus`,
    and the bonus of each allowed parent it has: as many as there are, or none for zeros.
    """

    required: tuple[int, ...]
    allowed: npt.NDArray[np.int32]
    max_parents: int
    bonus: float = 0.0
    bonuses: npt.NDArray[np.float64] = field(default_factory=lambda: _NO_BONUSES)


def all_but(child: int, n: int) -> npt.NDArray[np.int32]:
    """Return the numbers of the other variables."""
    others = np.arange(n - 1, dtype=np.int32)
    others[child:] += 1
    return others


def limits_within(nodes: NodeKnowledge | None, n: int) -> list[ParentLimits]:
    """Say what the parents of each of n variables may be."""
    limits = []
    for child in range(n):
        required: tuple[int, ...] = ()
        if nodes is None:
            allowed, most = all_but(child, n), n - 1
        else:
            required = tuple(nodes.required_parents(child).tolist())
            free = nodes.allowed[:, child] & ~nodes.required[:, child]
            allowed = np.flatnonzero(free).astype(np.int32)
            most = min(int(nodes.max_parents[child]), len(required) + len(allowed))
        limits.append(ParentLimits(required, allowed, most))
    return limits


def with_bonuses(
    limits: Sequence[ParentLimits], names: Sequence[str], prior: ArcPrior | None
) -> list[ParentLimits]:
    """Add the terms of a prior that is a sum over arcs; an arc it forbids is not allowed."""
    if prior is None:
        return list(limits)
    made = []
    for child, limit in zip(names, limits, strict=True):
        given = frozenset(names[p] for p in limit.required)
        bonus = prior.family(child, given)
        if not math.isfinite(bonus):
            raise InvalidParameterError(
                f"structure prior: the logarithm for {show(child)} given {sorted(given)} must be "
                f"a finite number, got {bonus!r}"
            )
        bonuses = _arc_terms(limit.allowed, names, child, prior)
        is_possible = bonuses > -math.inf
        allowed = limit.allowed[is_possible]
        most = min(limit.max_parents, len(limit.required) + len(allowed))
        made.append(ParentLimits(limit.required, allowed, most, bonus, bonuses[is_possible]))
    return made


def _arc_terms(
    parents: npt.NDArray[np.int32], names: Sequence[str], child: str, prior: ArcPrior
) -> npt.NDArray[np.float64]:
    """Return what an arc from each of the parents adds."""
    if isinstance(prior, SparsePrior):
        return np.full(len(parents), prior.per_arc)
    terms = np.array([prior.arc(names[p], child) for p in parents.tolist()], np.float64)
    for k in np.flatnonzero(~(terms < math.inf))[:1].tolist():
        raise InvalidParameterError(
            f"structure prior: the logarithm for {arc_text(names[parents[k]], child)} must be a "
            f"number below infinity, got {float(terms[k])!r}"
        )
    return terms


def largest_bonuses(
    limits: Sequence[ParentLimits], names: Sequence[str], prior: ArcPrior | None
) -> list[float]:
    """Return the most that the prior may add to a family of each child."""
    return [
        limit.bonus + math.fsum(np.maximum(limit.bonuses, 0.0).tolist())
        for limit in with_bonuses(limits, names, prior)
    ]
