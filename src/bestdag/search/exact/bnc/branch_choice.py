"""Which arc to branch on: trial solves first, pseudo-costs once they are trusted."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from bestdag.search.exact.bnc.master import LpSolution, Master, Solving
from bestdag.search.exact.bnc.relaxation import Sets

__all__ = ["ArcSets", "Brancher"]

_TRIALS = 10  # arcs tried by solving, per node
_TRIAL_ITERATIONS = 100
_TRUSTED = 4  # trials of an arc in each direction before its pseudo-cost is believed
_LOOK_AHEAD = 4  # trials in a row without a better arc before the rest is left


class ArcSets:
    """For each arc the sets that contain it, and the sets of its child that do not."""

    def __init__(self, sets: Sets) -> None:
        self._sets = sets
        owners = np.repeat(np.arange(len(sets)), np.diff(sets.offsets))
        keys = sets.members.astype(np.int64) * sets.n + sets.child[owners]
        order = np.argsort(keys, kind="stable")
        self._owners = owners[order]
        self._keys = keys[order]

    def having(self, parent: int, child: int) -> NDArray[np.int64]:
        """Return the sets of `child` with `parent` in them."""
        key = parent * self._sets.n + child
        first, last = np.searchsorted(self._keys, [key, key + 1])
        return self._owners[first:last]

    def forbid(self, allowed: NDArray[np.bool_], parent: int, child: int) -> None:
        """Take the sets with this arc out of a mask."""
        allowed[self.having(parent, child)] = False

    def require(self, allowed: NDArray[np.bool_], parent: int, child: int) -> None:
        """Take the sets of the child without this arc, and those with its reverse, out."""
        kept = self.having(parent, child)
        kept = kept[allowed[kept]]
        allowed[self._sets.begin[child] : self._sets.begin[child + 1]] = False
        allowed[kept] = True
        self.forbid(allowed, child, parent)


class Brancher:
    """Reliability branching (Achterberg, Koch and Martin 2005) on arcs."""

    def __init__(self, sets: Sets, arcs: ArcSets) -> None:
        self._sets = sets
        self._arcs = arcs
        # Gain per unit of change, [without / with, parent, child], and the number of trials.
        self._gain = np.zeros((2, sets.n, sets.n))
        self._count = np.zeros((2, sets.n, sets.n))

    def choose(
        self, master: Master, solution: LpSolution, allowed: NDArray[np.bool_], room: float
    ) -> Solving[tuple[int, int] | None]:
        """Return the arc (parent, child) to branch on; None when the choice is not fractional.

        `room` is what the objective may still rise before a node is done with: gains above it are
        worth no more.
        """
        weights = self._sets.arc_weights(solution.support, solution.x)
        fractional = (weights > 1e-5) & (weights < 1.0 - 1e-5)
        parents, children = np.nonzero(fractional)
        if not len(parents):
            return None
        y = weights[parents, children]
        down = y * self._per_unit(0)[parents, children]
        up = (1.0 - y) * self._per_unit(1)[parents, children]
        score = _score(down, up, room) * (1.0 + 1e-6 * np.minimum(y, 1.0 - y))
        if not self._count.any():
            score = np.minimum(y, 1.0 - y)
        ranked = np.argsort(-score, kind="stable")
        best, best_score, failures, trials = int(ranked[0]), -1.0, 0, 0
        basis = master.basis()
        for i in ranked.tolist():
            arc = int(parents[i]), int(children[i])
            trusted = self._count[:, arc[0], arc[1]].min() >= _TRUSTED
            if trusted:
                value = float(score[i])
            elif trials < _TRIALS:
                trials += 1
                trial = self._try(master, arc, float(y[i]), solution.objective, allowed, basis)
                gains = yield from trial
                if gains is None:
                    break
                value = float(_score(np.array(gains[0]), np.array(gains[1]), room))
                if min(gains) >= room:
                    best = i
                    break
            else:
                break
            if value > best_score * (1.0 + 1e-9):
                best, best_score, failures = i, value, 0
            else:
                failures += 1
                if failures >= _LOOK_AHEAD:
                    break
        if trials:
            master.allow(allowed)
            master.restore(basis)
        return int(parents[best]), int(children[best])

    def _per_unit(self, side: int) -> NDArray[np.float64]:
        count = self._count[side]
        total = self._gain[side].sum()
        average = total / max(count.sum(), 1.0)
        per_unit: NDArray[np.float64] = self._gain[side] / np.maximum(count, 1.0)
        per_unit[count == 0] = average
        return per_unit

    def _try(
        self,
        master: Master,
        arc: tuple[int, int],
        y: float,
        objective: float,
        allowed: NDArray[np.bool_],
        basis: object,
    ) -> Solving[tuple[float, float] | None]:
        gains = []
        for side, change in ((0, y), (1, 1.0 - y)):
            mask = allowed.copy()
            (self._arcs.require if side else self._arcs.forbid)(mask, *arc)
            master.allow(mask)
            master.restore(basis)
            value = yield partial(master.solve, iterations=_TRIAL_ITERATIONS)
            if value is None:
                return None
            gain = max(value - objective, 0.0)
            gains.append(gain)
            self._gain[side, arc[0], arc[1]] += gain / max(change, 1e-6)
            self._count[side, arc[0], arc[1]] += 1
        return gains[0], gains[1]


def _score(down: NDArray[np.float64], up: NDArray[np.float64], room: float) -> NDArray[np.float64]:
    low = 1e-4 * max(room, 1e-9)
    product: NDArray[np.float64] = np.clip(down, low, room) * np.clip(up, low, room)
    return product
