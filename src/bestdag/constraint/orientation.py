"""The second phase of PC: v-structures, then the directions that follow, then choices."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bestdag.constraint.result import Conflict, Step, hidden_cause
from bestdag.constraint.settings import PC
from bestdag.constraint.skeleton import Skeleton
from bestdag.graph._names import arc_text, show
from bestdag.graph.knowledge import NodeKnowledge

__all__ = ["Orientation", "OutOfTime", "VStructure", "by_first_set", "by_votes"]


def by_first_set(skeleton: Skeleton, orientation: Orientation) -> Iterator[VStructure]:
    """Yield the triples whose middle is not in the set that separated the other two."""
    adjacency = skeleton.adjacency
    for middle in range(len(skeleton.names)):
        orientation.check_time()
        near = np.flatnonzero(adjacency[middle])
        for one in near.tolist():
            for other in near[(near > one) & (adjacency[one, near] == 0)].tolist():
                separating = skeleton.separating_set(one, other)
                if separating is not None and middle not in separating:
                    log_p = skeleton.log_p(one, other)
                    yield VStructure(one, middle, other, 1.0, log_p)


def by_votes(
    skeleton: Skeleton,
    orientation: Orientation,
    settings: PC,
    known: NodeKnowledge,
    votes: dict[str, Any],
) -> Iterator[VStructure]:
    """Yield the triples that the separating sets agree on; others are noted as ambiguous.

    Beside the sets of neighbours that were tested, the set that separated the two in the
    first phase has a vote.
    """
    near = (skeleton.adjacency != 0) & known.allowed.T  # [node, what may be conditioned on]
    triples = zip(
        *(votes[key].tolist() for key in ("one", "middle", "other", "separating", "with_middle")),
        strict=True,
    )
    for one, middle, other, n_sets, n_with in triples:
        separating = skeleton.separating_set(one, other)
        if separating is not None and not (
            near[one, separating].all() or near[other, separating].all()
        ):
            n_sets += 1
            n_with += middle in separating
        if n_sets == 0:
            continue
        is_majority = settings.v_structures == "majority"
        if (2 * n_with < n_sets) if is_majority else n_with == 0:
            share = (n_sets - n_with) / n_sets
            yield VStructure(one, middle, other, share, skeleton.log_p(one, other))
        elif (2 * n_with == n_sets) if is_majority else n_with < n_sets:
            orientation.ambiguous.add((one, middle, other))
            orientation.conflicts.append(_ambiguous(skeleton, one, middle, other, n_with, n_sets))


def _ambiguous(
    skeleton: Skeleton, one: int, middle: int, other: int, n_with: int, n_sets: int
) -> Conflict:
    a, c, b = (show(skeleton.names[i]) for i in (one, middle, other))
    return Conflict(
        "ambiguous triple",
        tuple(skeleton.names[i] for i in (one, middle, other)),
        f"{n_with:,} of the {n_sets:,} sets that separate {a} and {b} have {c}",
        f"{a} - {c} - {b} is neither a v-structure nor kept from becoming one",
    )


class OutOfTime(Exception):  # noqa: N818 (not an error)
    """The time is up; the directions found so far do not hold together."""


class VStructure(NamedTuple):
    """``one -> middle <- other``, and how much speaks for it; nodes are numbers."""

    one: int
    middle: int
    other: int
    share: float  # of the separating sets, those without the middle
    log_p: float  # of the test that separated the two

    @property
    def strength(self) -> tuple[float, float, int, int, int]:
        """Sorts the strongest first; ties in name order."""
        return (-self.share, -self.log_p, self.one, self.middle, self.other)


def _members(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class Orientation:
    """A graph whose links get directions; its arcs never close a cycle.

    Sets of nodes are bits of whole numbers. Rules are those of Jensen and Nielsen (2007), section
    7.1.1; "Meek 3" and "Meek 4" are the two further ones of Meek (1995), without which Rules 2 to 4
    can run into blind alleys.
    """

    def __init__(
        self,
        names: tuple[str, ...],
        adjacency: npt.NDArray[np.uint8],
        deadline: float | None = None,
    ) -> None:
        self.names = names
        self.deadline = deadline
        n = len(names)
        rows = np.packbits(adjacency != 0, axis=1, bitorder="little")
        self.adjacent = [int.from_bytes(row.tobytes(), "little") for row in rows]
        self.free = list(self.adjacent)  # the links without direction
        self.parents = [0] * n
        self.children = [0] * n
        self.ambiguous: set[tuple[int, int, int]] = set()  # (one, middle, other), one < other
        self.contested: set[tuple[int, int]] = set()
        self.steps: list[Step] = []
        self.conflicts: list[Conflict] = []
        self._why: dict[tuple[int, int], Step] = {}

    def copy(self) -> Orientation:
        """Return a copy that changes independently; steps and conflicts go on from here."""
        other = Orientation.__new__(Orientation)
        other.names, other.adjacent = self.names, self.adjacent
        other.deadline = self.deadline
        other.free, other.parents = list(self.free), list(self.parents)
        other.children = list(self.children)
        other.ambiguous, other.contested = self.ambiguous, set(self.contested)
        other.steps, other.conflicts = list(self.steps), list(self.conflicts)
        other._why = dict(self._why)
        return other

    def check_time(self) -> None:
        """Raise `OutOfTime` when the time is up."""
        if self.deadline is not None and time.monotonic() >= self.deadline:
            raise OutOfTime

    # The graph.

    def arcs(self) -> list[tuple[str, str]]:
        """Return the directed links by names."""
        names = self.names
        return [(names[i], names[j]) for i in range(len(names)) for j in _members(self.children[i])]

    def edges(self) -> list[tuple[str, str]]:
        """Return the links without direction by names."""
        return [(self.names[i], self.names[j]) for i, j in self._free_links()]

    def why(self, parent: int, child: int) -> Step:
        """Return the step by which an arc points that way."""
        return self._why[parent, child]

    def _free_links(self) -> Iterator[tuple[int, int]]:
        for one, others in enumerate(self.free):
            for other in _members(others >> one << one):
                yield one, other

    def _reaches(self, source: int, target: int) -> bool:
        """Whether arcs lead from the one to the other."""
        seen = front = 1 << source
        while front:
            if seen >> target & 1:
                return True
            following = 0
            for node in _members(front):
                following |= self.children[node]
            front = following & ~seen
            seen |= following
        return bool(seen >> target & 1)

    def _direct(self, parent: int, child: int, rule: str, because: str) -> None:
        self.free[parent] &= ~(1 << child)
        self.free[child] &= ~(1 << parent)
        self.children[parent] |= 1 << child
        self.parents[child] |= 1 << parent
        arc = (self.names[parent], self.names[child])
        self.steps.append(Step(rule, arc, because))
        self._why[parent, child] = self.steps[-1]

    # What the user knows.

    def direct_known(self, allowed: npt.NDArray[np.bool_], required: npt.NDArray[np.bool_]) -> None:
        """Direct the links that may point one way only."""
        if np.count_nonzero(allowed) == len(allowed) * (len(allowed) - 1):
            return  # nothing is forbidden
        for one, other in list(self._free_links()):
            ways = [pair for pair in ((one, other), (other, one)) if allowed[pair]]
            if len(ways) != 1:
                continue
            parent, child = ways[0]
            because = "required" if required[parent, child] else "the other direction is forbidden"
            if self._reaches(child, parent):
                self.conflicts.append(
                    Conflict(
                        "knowledge",
                        (self.names[parent], self.names[child]),
                        f"{arc_text(self.names[parent], self.names[child])} is the only direction "
                        "allowed, and closes a cycle",
                        "it is decided last",
                    )
                )
                self.contested.add((one, other))
                continue
            self._direct(parent, child, "knowledge", because)

    # Rule 1.

    def introduce(self, triples: Iterable[VStructure]) -> None:
        """Rule 1: introduce v-structures, the strongest first; one that clashes is left out."""
        for one in sorted(triples, key=lambda v: v.strength):
            self.check_time()
            self._introduce(one)

    def _introduce(self, v: VStructure) -> None:
        names = self.names
        shown = f"{show(names[v.one])} -> {show(names[v.middle])} <- {show(names[v.other])}"
        variables = (names[v.one], names[v.middle], names[v.other])
        for end in (v.one, v.other):
            if not self.children[v.middle] >> end & 1:
                continue
            why = self.why(v.middle, end)
            arc = arc_text(names[v.middle], names[end])
            if why.rule == "knowledge":
                text = f"{shown} contradicts {arc}, which your constraints require"
                self.conflicts.append(Conflict("knowledge", variables, text, f"{arc} stays"))
            else:
                hint = hidden_cause(show(names[v.middle]), show(names[end]))
                text = f"{shown} contradicts {arc} ({why.rule}: {why.because}); {hint}"
                self.conflicts.append(
                    Conflict("v-structures", variables, text, "the stronger one stays")
                )
            return
        new = [end for end in (v.one, v.other) if self.free[v.middle] >> end & 1]
        if any(self._reaches(v.middle, end) for end in new):
            text = f"{shown} closes a directed cycle with other v-structures"
            self.conflicts.append(
                Conflict("v-structures", variables, text, "the stronger ones stay")
            )
            return
        for end in new:
            self._direct(end, v.middle, "rule 1", f"v-structure {shown}")

    # Rules 2 and 3, and Meek's.

    def close(self, dirty: int | None = None) -> None:
        """Direct the links that follow by the rules, near the nodes in `dirty` or everywhere.

        In each round all rules are applied to the same graph, so that their order does not
        matter. A link that is to point both ways, or would close a cycle, stays as it is.
        """
        everywhere = (1 << len(self.names)) - 1
        dirty = everywhere if dirty is None else dirty
        while dirty:
            around = dirty
            if dirty != everywhere:
                for node in _members(dirty):
                    around |= self.adjacent[node]
            demands: dict[tuple[int, int], tuple[str, str]] = {}
            for one in _members(around):
                self.check_time()
                for other in _members(self.free[one]):
                    link = (min(one, other), max(one, other))
                    if link in self.contested:
                        continue
                    for pair in (link, link[::-1]):
                        reason = None if pair in demands else self._demand(*pair)
                        if reason is not None:
                            demands[pair] = reason
            dirty = self._follow(demands)

    def _follow(self, demands: dict[tuple[int, int], tuple[str, str]]) -> int:
        changed = 0
        for (x, y), (rule, because) in sorted(demands.items()):
            if not self.free[x] >> y & 1 or (min(x, y), max(x, y)) in self.contested:
                continue
            if (y, x) in demands:
                self._contest(x, y, f"{because}; {demands[y, x][1]}")
            elif self._reaches(y, x):
                self._contest(x, y, f"{because}; the arcs lead the other way round")
            else:
                self._direct(x, y, rule, because)
                changed |= 1 << x | 1 << y
        return changed

    def _contest(self, x: int, y: int, reasons: str) -> None:
        names = self.names
        self.contested.add((min(x, y), max(x, y)))
        one, other = sorted((show(names[x]), show(names[y])))
        text = f"{one} - {other} cannot be directed: {reasons}; {hidden_cause(one, other)}"
        self.conflicts.append(
            Conflict(
                "no direction",
                tuple(sorted((names[x], names[y]))),
                text,
                "it stays undirected, and the Dag takes a direction without cycle",
            )
        )

    def _demand(self, x: int, y: int) -> tuple[str, str] | None:
        """Return the rule that directs x -> y, and why; None where none does."""
        names = self.names
        arc = arc_text(names[x], names[y])
        for a in _members(self.parents[x] & ~self.adjacent[y] & ~(1 << y)):
            if not self._is_ambiguous(a, x, y):
                into = arc_text(names[a], names[x])
                return "rule 2", f"{arc}, else {into} makes a new v-structure"
        between = self.children[x] & self.parents[y]
        if between:
            middle = show(names[next(_members(between))])
            return "rule 3", f"{arc}, else there is a cycle through {middle}"
        pointing = self.free[x] & self.parents[y]
        for c in _members(pointing):
            for d in _members(pointing & ~self.adjacent[c] & ~(1 << c)):
                if not self._is_ambiguous(c, x, d):
                    pair = f"{show(names[c])} and {show(names[d])}"
                    return "Meek 3", f"{arc}, else {pair} make a new v-structure or a cycle"
        for d in _members(self.parents[y] & self.adjacent[x]):
            for c in _members(self.parents[d] & self.free[x] & ~self.adjacent[y]):
                if not self._is_ambiguous(c, x, y):
                    path = f"{show(names[c])} -> {arc_text(names[d], names[y])}"
                    return "Meek 4", f"{arc}, else {path} makes a new v-structure or a cycle"
        return None

    def _is_ambiguous(self, one: int, middle: int, other: int) -> bool:
        return (min(one, other), middle, max(one, other)) in self.ambiguous

    # Rule 4.

    def choose_all(self, rank: list[int], rng: np.random.Generator | None) -> None:
        """Rule 4: choose a link and a direction, apply the rules again, until none is left.

        Links go from the earlier node to the later one by `rank`, the first link first; with a
        generator both are drawn. Links that the rules contest come last.
        """
        while True:
            self.check_time()
            links = [pair for pair in self._free_links() if pair not in self.contested]
            if not links:
                break
            if rng is None:
                x, y = min(
                    (sorted(pair, key=lambda i: rank[i]) for pair in links),
                    key=lambda pair: [rank[i] for i in pair],
                )
            else:
                pair = links[int(rng.integers(len(links)))]
                x, y = pair if rng.random() < 0.5 else pair[::-1]
            self._choose(x, y)
            self.close(1 << x | 1 << y)
        for x, y in sorted(self._free_links(), key=lambda p: sorted(rank[i] for i in p)):
            first, second = sorted((x, y), key=lambda i: rank[i])
            self._choose(first, second)

    def _choose(self, x: int, y: int) -> None:
        if self._reaches(y, x):
            x, y = y, x
            self._direct(x, y, "rule 3", f"{arc_text(self.names[x], self.names[y])}, else a cycle")
        else:
            self._direct(x, y, "rule 4", "chosen")

    def v_structures(self) -> set[tuple[int, int, int]]:
        """Return the triples (one, middle, other), one < other, that are v-structures."""
        triples = set()
        for middle, parents in enumerate(self.parents):
            for one in _members(parents):
                later = parents >> (one + 1) << (one + 1)
                for other in _members(later & ~self.adjacent[one]):
                    triples.add((one, middle, other))
        return triples
