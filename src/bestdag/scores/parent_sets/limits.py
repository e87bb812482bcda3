"""What the parents of a variable may be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bestdag.errors import InvalidParameterError
from bestdag.graph._names import arc_text, show
from bestdag.graph.knowledge import NodeKnowledge
from bestdag.scores.prior import ArcPrior

__all__ = ["ParentLimits", "largest_bonuses", "limits_within", "with_bonuses"]


@dataclass(frozen=True, slots=True)
class ParentLimits:
    """What the parents of one child may be: all the required, some of the allowed.

    Parents are numbers of variables in name order, ascending. A family's score gets `bonus`,
    and the bonus of each allowed parent it has.
    """

    required: tuple[int, ...]
    allowed: tuple[int, ...]
    max_parents: int
    bonus: float
    bonuses: tuple[float, ...]


def limits_within(nodes: NodeKnowledge | None, n: int) -> list[ParentLimits]:
    """Say what the parents of each of n variables may be."""
    limits = []
    everybody = tuple(range(n))
    for child in range(n):
        required: tuple[int, ...] = ()
        if nodes is None:
            allowed, most = everybody[:child] + everybody[child + 1 :], n - 1
        else:
            required = tuple(nodes.required_parents(child).tolist())
            free = nodes.allowed[:, child] & ~nodes.required[:, child]
            allowed = tuple(np.flatnonzero(free).tolist())
            most = min(int(nodes.max_parents[child]), len(required) + len(allowed))
        limits.append(ParentLimits(required, allowed, most, 0.0, (0.0,) * len(allowed)))
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
        terms = {p: prior.arc(names[p], child) for p in limit.allowed}
        for p, term in terms.items():
            if not term < math.inf:
                raise InvalidParameterError(
                    f"structure prior: the logarithm for {arc_text(names[p], child)} must be a "
                    f"number below infinity, got {term!r}"
                )
        allowed = tuple(p for p in limit.allowed if terms[p] > -math.inf)
        most = min(limit.max_parents, len(limit.required) + len(allowed))
        bonuses = tuple(terms[p] for p in allowed)
        made.append(ParentLimits(limit.required, allowed, most, bonus, bonuses))
    return made


def largest_bonuses(
    limits: Sequence[ParentLimits], names: Sequence[str], prior: ArcPrior | None
) -> list[float]:
    """Return the most that the prior may add to a family of each child."""
    return [
        limit.bonus + math.fsum(max(0.0, bonus) for bonus in limit.bonuses)
        for limit in with_bonuses(limits, names, prior)
    ]
