"""What the parents of a variable may be, and the sets of them in order."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from bestdag.errors import InvalidParameterError
from bestdag.graph._names import arc_text, show
from bestdag.graph.knowledge import NodeKnowledge
from bestdag.scores.prior import ArcPrior, SparsePrior

__all__ = [
    "ParentLimits",
    "all_but",
    "flat_limits",
    "largest_bonuses",
    "limits_within",
    "n_parent_sets",
    "parent_sets",
    "with_bonuses",
]

_NO_BONUSES = np.zeros(0)
_Ints = npt.NDArray[np.int64]
_Members = npt.NDArray[np.int32]
_Floats = npt.NDArray[np.float64]
_FlatLimits = tuple[_Ints, _Members, _Ints, _Members, _Floats, _Ints, _Floats]


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
            required = tuple(np.flatnonzero(nodes.required[:, child]).tolist())
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


def flat_limits(limits: Sequence[ParentLimits]) -> _FlatLimits:
    """Return limits in flat arrays, as native code takes them."""
    bonuses = np.zeros(0)
    if any(limit.bonuses.any() for limit in limits):
        bonuses = np.concatenate(
            [
                limit.bonuses if len(limit.bonuses) else np.zeros(len(limit.allowed))
                for limit in limits
            ]
        )
    return (
        *_joined([np.array(limit.required, np.int32) for limit in limits]),
        *_joined([limit.allowed for limit in limits]),
        bonuses,
        np.array([limit.max_parents for limit in limits], np.int64),
        np.array([limit.bonus for limit in limits], np.float64),
    )


def _joined(
    groups: Sequence[npt.NDArray[np.int32]],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Return where the groups end, 0 first, and their members one after the other."""
    ends = np.cumsum([0, *map(len, groups)])
    members = np.empty(int(ends[-1]), np.int32)
    for start, end, group in zip(ends, ends[1:], groups, strict=False):  # Ctrl-C in between
        members[start:end] = group
    return ends.astype(np.int64), members


def largest_bonuses(
    limits: Sequence[ParentLimits], names: Sequence[str], prior: ArcPrior | None
) -> list[float]:
    """Return the most that the prior may add to a family of each child."""
    return [
        limit.bonus + math.fsum(np.maximum(limit.bonuses, 0.0).tolist())
        for limit in with_bonuses(limits, names, prior)
    ]


def n_parent_sets(n_variables: int, max_parents: int) -> int:
    """Return how many sets of at most `max_parents` of the other variables there are.

    Examples
    --------
    >>> n_parent_sets(37, 3)
    7807
    """
    return sum(math.comb(n_variables - 1, k) for k in range(min(max_parents, n_variables - 1) + 1))


def parent_sets(others: Sequence[str], max_parents: int) -> Iterator[tuple[str, ...]]:
    """List the sets of at most `max_parents` names: smaller ones first, then colexicographically.

    Examples
    --------
    >>> [" ".join(names) for names in parent_sets(["a", "b", "c"], 2)]
    ['', 'a', 'b', 'c', 'a b', 'a c', 'b c']
    """
    for size in range(min(max_parents, len(others)) + 1):
        ranked = itertools.combinations(range(len(others)), size)
        for numbers in sorted(ranked, key=lambda numbers: numbers[::-1]):
            yield tuple(others[k] for k in numbers)
