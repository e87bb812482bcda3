"""Parts of all choices, and what linear programs say about each.

The leaves of a branch-and-cut tree divide the acyclic choices: a node is split into the choices
with an arc and those without. At each leaf there are multipliers m_c >= 0 on valid cuts
``sum a_cf x_f >= b_c``, and for any such multipliers an acyclic choice x costs

    sum_f cost_f x_f  >=  sum_c m_c b_c + sum_f (cost_f - sum_c m_c a_cf) x_f,

whatever sets there are besides those the linear programs knew. So a tree over the pruned sets that
proves the optimum also says which of all sets are in choices near it: sets whose reduced cost is
too high are left out, with the limit of the window in place of the optimum's cost.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from bestdag.search.exact.bnc.certificate import Certificate, Multipliers
from bestdag.search.exact.bnc.relaxation import Cut, Sets
from bestdag.search.exact.bnc.tree import closed_by

__all__ = ["Part", "divided", "undivided"]

_Reals = npt.NDArray[np.float64]
_Arcs = tuple[tuple[int, int], ...]

# Sets times members, or sets of one child, that are looked at together.
_AT_A_TIME = 4_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Some of the choices: which sets they have, and multipliers (in nats) of cuts for them."""

    allowed: npt.NDArray[np.bool_]
    cuts: tuple[int, ...] = ()
    multipliers: tuple[float, ...] = ()

    def arrays(
        self, sets: Sets
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int32], _Reals]:
        """Return it as native code wants it: ends, sets, cuts and multipliers."""
        kept = np.flatnonzero(self.allowed)
        ends = np.searchsorted(kept, sets.begin[1:]).astype(np.int64)
        cuts = np.array(self.cuts, np.int32)
        return ends, kept.astype(np.int32), cuts, np.array(self.multipliers, np.float64)


def undivided(sets: Sets) -> Part:
    """Return all choices as one part, about which nothing is known."""
    return Part(np.ones(len(sets), dtype=bool))


def divided(sets: Sets, certificate: Certificate, limit: float) -> Iterator[Part]:
    """Go through the leaves of a tree that may have a choice whose cost is within the limit."""
    waiting: list[tuple[int, Part, _Arcs]] = [(0, undivided(sets), ())]
    while waiting:
        number, part, required = waiting.pop()
        node = certificate.nodes[number]
        for record in node.records[-1:]:  # the last is the best
            found = _narrowed(sets, part, certificate, record, limit)
            if found is None:
                break
            part = found
        else:
            if node.arc is None or node.children is None:
                yield part
                continue
            more = (*required, node.arc)
            halves = (_with_arc(sets, part, more), more), (_without(sets, part, node.arc), required)
            for child, (half, arcs) in zip(node.children, halves, strict=True):
                if _has_all(sets, half.allowed):
                    waiting.append((child, half, arcs))


def _has_all(sets: Sets, allowed: npt.NDArray[np.bool_]) -> bool:
    """Whether every child has a set."""
    return bool(np.logical_or.reduceat(allowed, sets.begin[:-1]).all())


def _without(sets: Sets, part: Part, arc: tuple[int, int]) -> Part:
    parent, child = arc
    left_out = (sets.child == child) & sets.having(parent)
    return replace(part, allowed=part.allowed & ~left_out)


def _with_arc(sets: Sets, part: Part, required: _Arcs) -> Part:
    """Take the sets with the newest of the required arcs, and none that closes a cycle with all."""
    parent, child = required[-1]
    allowed = part.allowed & ((sets.child != child) | sets.having(parent))
    for late, early in closed_by(required, required[-1], sets.n):
        allowed &= ~((sets.child == early) & sets.having(late))
    return replace(part, allowed=allowed)


def _narrowed(
    sets: Sets, part: Part, certificate: Certificate, record: Multipliers, limit: float
) -> Part | None:
    """Leave out the sets that the multipliers exclude; None when that leaves nothing."""
    unit = 2.0**certificate.exponent
    pairs = [
        (certificate.cuts[c], m * unit) for c, m in zip(record.cuts, record.values, strict=True)
    ]
    reduced, paid = _reduced_costs(sets, pairs)
    least = np.minimum.reduceat(np.where(part.allowed, reduced, np.inf), sets.begin[:-1])
    bound = paid + math.fsum(least.tolist())
    allowed = part.allowed & (bound - least[sets.child] + reduced <= limit)
    if not _has_all(sets, allowed):
        return None
    return Part(allowed, record.cuts, tuple(m for _, m in pairs))


def _reduced_costs(sets: Sets, pairs: list[tuple[Cut, float]]) -> tuple[_Reals, float]:
    """Return the reduced cost of every set, and what the cuts pay."""
    reduced = sets.costs.copy()
    for child in range(sets.n):
        mine = [
            (cut, m)
            for cut, m in pairs
            if child in cut.equations or any(child in members for members, _ in cut.terms)
        ]
        if mine:
            _subtract(sets, child, mine, reduced)
    return reduced, math.fsum(m * cut.right_side for cut, m in pairs)


def _subtract(sets: Sets, child: int, mine: list[tuple[Cut, float]], reduced: _Reals) -> None:
    first, last = int(sets.begin[child]), int(sets.begin[child + 1])
    step = max(1, _AT_A_TIME // sets.n)
    for start in range(first, last, step):
        end = min(start + step, last)
        is_in = np.zeros((end - start, sets.n), np.float32)
        sizes = np.diff(sets.offsets[start : end + 1])
        members = sets.members[sets.offsets[start] : sets.offsets[end]]
        is_in[np.repeat(np.arange(end - start), sizes), members] = 1.0
        for cut, multiplier in mine:
            count = np.full(end - start, -int(child in cut.equations), np.int64)
            for cluster, k in cut.terms:
                if child in cluster:
                    count += is_in[:, list(cluster)].sum(axis=1) < k
            if cut.halved:
                count = -(-count // 2)
            reduced[start:end] -= multiplier * count
