"""What statements imply for each arc: the allowed and the required ones, or a contradiction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from bestdag.graph._statements import Statement, in_quotes
from bestdag.machine import require_memory

__all__ = ["Board", "closure", "has_path"]

# The matrices of n x n truth values that live at the same time while statements are settled.
_N_MATRICES = 8

BoolMatrix = npt.NDArray[np.bool_]
IndexPair = tuple[int, int]


class Board:
    """The statements over an order of nodes, as matrices that `settle` sharpens.

    Parameters
    ----------
    names : sequence of str
        The nodes.
    statements : iterable of Statement
        What is known; every name in them is one of `names`.
    is_open : bool
        Whether there may be more nodes. One node then stands for all those that no statement
        names, so that a path may lead through it.
    """

    def __init__(
        self, names: Sequence[str], statements: Iterable[Statement], *, is_open: bool
    ) -> None:
        n = len(names) + is_open
        advice = "name fewer nodes"
        require_memory("Knowledge", f"{n:,} x {n:,} arcs", _N_MATRICES * n * n, advice)
        self.names = tuple(names)
        self.index = {name: i for i, name in enumerate(names)}
        # By columns, because the parents of one child are asked for again and again.
        self.allowed: BoolMatrix = np.ones((n, n), dtype=bool, order="F")
        np.fill_diagonal(self.allowed, False)
        self.required: BoolMatrix = np.zeros((n, n), dtype=bool, order="F")
        self.limit: npt.NDArray[np.int32] = np.full(n, max(n - 1, 0), dtype=np.int32)
        self.pairs: dict[str, list[IndexPair]] = {
            "required_edges": [], "ancestors": [], "non_ancestors": [], "order": [],
        }  # fmt: skip
        for statement in statements:
            self._put(statement)

    def _put(self, statement: Statement) -> None:
        field, value = statement
        at = [self.index[name] for name in statement.names()]
        if field in self.pairs:
            self.pairs[field].append((at[0], at[1]))
        if field == "required_arcs":
            self.required[at[0], at[1]] = True
        elif field in ("forbidden_arcs", "non_ancestors"):
            self.allowed[at[0], at[1]] = False
        elif field == "forbidden_edges":
            self.allowed[at, at[::-1]] = False
        elif field == "tiers":
            self._put_tiers(*value)
        elif field == "total_order":
            self.allowed[np.ix_(at, at)] &= np.triu(np.ones((len(at), len(at)), dtype=bool), 1)
        elif field == "roots":
            self.limit[at] = 0
        elif field == "leaves":
            self.allowed[at] = False
        elif field == "max_parents":
            np.minimum(self.limit, min(value, len(self.limit)), out=self.limit)
        elif field == "max_parents_of":
            self.limit[at] = min(value[1], int(self.limit[at[0]]))

    def _put_tiers(self, tiers: Sequence[Sequence[str]], within: bool) -> None:
        above: list[int] = []
        for tier in tiers:
            at = [self.index[name] for name in tier]
            self.allowed[np.ix_(at, above)] = False
            if not within:
                self.allowed[np.ix_(at, at)] = False
            above += at

    def settle(self) -> str | None:
        """Sharpen `allowed` and `required` until nothing more follows.

        Every step is a consequence of the statements, so no graph that satisfies them all is
        lost. Returns None, or what contradicts what.
        """
        declared = [*_pairs_of(self.required), *self.pairs["ancestors"]]
        before = closure(len(self.allowed), [*declared, *self.pairs["order"]])
        if before is None:
            return "the statements close a cycle"
        self._forbid_back(before)
        while True:
            known = (np.count_nonzero(self.allowed), np.count_nonzero(self.required))
            clash = self._step()
            if clash is not None:
                return clash
            if known == (np.count_nonzero(self.allowed), np.count_nonzero(self.required)):
                return self._unreachable()

    def _step(self) -> str | None:
        kin = self._kin()
        if kin is None:
            return "the directions that remain for the required edges close a cycle"
        self._forbid_back(kin)
        for one, other in self.pairs["non_ancestors"]:
            if kin[one, other]:
                text = f"{self._show(one)} is an ancestor of {self._show(other)}"
                return f"it cannot be both that {text} and that it is not"
            below, above = kin[one].copy(), kin[:, other].copy()
            if below.any() or above.any():  # the arc itself is not allowed anyway
                below[one] = above[other] = True
                self.allowed[np.ix_(below, above)] = False
        n_required = np.count_nonzero(self.required, axis=0)
        if np.any(n_required > self.limit):
            child = int(np.argmax(n_required > self.limit))
            counts = f"needs {n_required[child]:,} parents, its limit is {self.limit[child]:,}"
            return f"node {self._show(child)} {counts}"
        is_full = n_required == self.limit
        self.allowed[:, is_full] &= self.required[:, is_full]
        for parent, child in _pairs_of(self.required & ~self.allowed)[:1]:
            arc = f"{self._show(parent)} -> {self._show(child)}"
            return f"arc {arc} is required and cannot be there"
        return self._turn_edges()

    def _forbid_back(self, reached: BoolMatrix) -> None:
        for node in np.flatnonzero(reached.any(axis=1)):
            self.allowed[reached[node], node] = False

    def _turn_edges(self) -> str | None:
        for one, other in self.pairs["required_edges"]:
            can = bool(self.allowed[one, other]), bool(self.allowed[other, one])
            if not any(can):
                edge = f"{self._show(one)} -- {self._show(other)}"
                return f"edge {edge} is required and neither direction can be there"
            if not all(can):
                self.required[(one, other) if can[0] else (other, one)] = True
        return None

    def _unreachable(self) -> str | None:
        if not self.pairs["ancestors"]:
            return None
        kin = self._kin()
        assert kin is not None
        apart = np.zeros_like(kin)
        for pair in self.pairs["non_ancestors"]:
            apart[pair] = True
        for source, target in self.pairs["ancestors"]:
            # Nothing on the way is below the target or above the source, or kept from either.
            outside = kin[target] | kin[:, source] | apart[source] | apart[:, target]
            if not has_path(self.allowed, source, target, outside):
                text = f"{self._show(source)} is to be an ancestor of {self._show(target)}"
                return f"{text} and no allowed path leads there"
        return None

    def _kin(self) -> BoolMatrix | None:
        """Return who is an ancestor of whom in every graph, as far as known."""
        arcs = [*_pairs_of(self.required), *self.pairs["ancestors"]]
        return closure(len(self.required), arcs)

    def open_edges(self) -> tuple[IndexPair, ...]:
        """Return the required edges whose direction is not settled."""
        edges, settled = self.pairs["required_edges"], self.required
        return tuple((i, j) for i, j in edges if not settled[i, j] and not settled[j, i])

    def open_ancestors(self) -> tuple[IndexPair, ...]:
        """Return the ancestor statements that the required arcs do not fulfil already."""
        implied = closure(len(self.required), _pairs_of(self.required))
        assert implied is not None
        return tuple(pair for pair in self.pairs["ancestors"] if not implied[pair])

    def open_non_ancestors(self) -> tuple[IndexPair, ...]:
        """Return the non-ancestor statements that acyclic allowed arcs could still break."""
        kin = self._kin()
        assert kin is not None
        return tuple(
            (one, other)
            for one, other in self.pairs["non_ancestors"]
            if not kin[other, one] and has_path(self.allowed, one, other, kin[other] | kin[:, one])
        )

    def _show(self, node: int) -> str:
        return in_quotes(self.names[node])


def _pairs_of(matrix: BoolMatrix) -> list[IndexPair]:
    columns, rows = np.divmod(np.flatnonzero(matrix.T), max(len(matrix), 1))  # faster than nonzero
    return sorted(zip(rows.tolist(), columns.tolist(), strict=True))


def _by_first(pairs: Iterable[IndexPair]) -> dict[int, list[int]]:
    groups: dict[int, list[int]] = {}
    for first, second in pairs:
        groups.setdefault(first, []).append(second)
    return groups


def has_path(arcs: BoolMatrix, source: int, target: int, outside: npt.NDArray[np.bool_]) -> bool:
    """Whether a path leads from source to target around the nodes outside."""
    if arcs[source, target]:
        return True
    inside = ~outside
    fresh = arcs[source] & inside
    if (fresh & arcs[:, target]).any():  # among many arcs two nearly always do
        return True
    reached = fresh.copy()
    while fresh.any() and not reached[target]:
        fresh = arcs[fresh].any(axis=0) & inside & ~reached
        reached |= fresh
    return bool(reached[target])


def closure(n: int, arcs: Iterable[IndexPair]) -> BoolMatrix | None:
    """Return who is reached from whom along the arcs, or None when they close a cycle."""
    children = _by_first(arcs)
    waiting = [0] * n
    for group in children.values():
        for child in group:
            waiting[child] += 1
    order = [node for node in range(n) if waiting[node] == 0]
    for node in order:  # grows while it is walked
        for child in children.get(node, ()):
            waiting[child] -= 1
            if waiting[child] == 0:
                order.append(child)
    if len(order) < n:
        return None
    reached = np.zeros((n, n), dtype=bool)
    for node in reversed(order):
        for child in children.get(node, ()):
            reached[node, child] = True
            reached[node] |= reached[child]
    return reached
