"""Proofs that can be checked: the branching tree with its multipliers, and a slow literal check.

The check shares no code with the engine. It reads the table again, computes with exact rationals
(whole numbers over one power of two) and trusts nothing but the tree's shape:

* a node is split by one arc: the choices with it and those without are all there are;
* a cut from clusters is valid for every acyclic choice by its form (see `Cut`), one on a few
  variables by what their orders gain at most (see `OrderCut`);
* multipliers >= 0 on cuts prove a lower bound of the cost, and by their reduced costs that some
  sets are in no choice better than the incumbent by more than the resolution: those sets may be
  left out below the node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import fsum

from bestdag.errors import CertificateError
from bestdag.scores.table import ScoreTable
from bestdag.search.exact.bnc.relaxation import Cut, OrderCut

__all__ = ["Certificate", "Multipliers", "Node", "verify"]


@dataclass(frozen=True, slots=True)
class Multipliers:
    """Positive multipliers, in units, of some of the certificate's cuts."""

    cuts: tuple[int, ...]
    values: tuple[int, ...]


@dataclass(slots=True)
class Node:
    """A node of the tree: what was proved there, and the arc (parent, child) that split it.

    ``children`` are the numbers of the nodes with and without the arc; a leaf has neither.
    """

    records: list[Multipliers] = field(default_factory=list)
    arc: tuple[int, int] | None = None
    children: tuple[int, int] | None = None


@dataclass(frozen=True)
class Certificate:
    """That no acyclic choice of parent sets scores more than ``max(score + resolution, bound)``.

    Attributes
    ----------
    parents : tuple of int
        The incumbent: for each child the position of its set in the table.
    score, resolution, bound : float
        What is claimed, in nats. For a proved optimum `bound` is `score`.
    exponent : int
        A multiplier of m stands for m * 2**exponent nats.
    cuts : tuple of Cut or OrderCut
        The cuts that have a positive multiplier somewhere.
    nodes : tuple of Node
        The tree; node 0 is its root.
    """

    parents: tuple[int, ...]
    score: float
    resolution: float
    bound: float
    exponent: int
    cuts: tuple[Cut | OrderCut, ...]
    nodes: tuple[Node, ...]

    @classmethod
    def of_tree(
        cls, nodes: Sequence[Node], cuts: Sequence[Cut | OrderCut], exponent: int, **claim: object
    ) -> Certificate:
        """Keep only the cuts that are used."""
        used = sorted({c for node in nodes for record in node.records for c in record.cuts})
        number = {c: i for i, c in enumerate(used)}
        kept = tuple(
            Node(
                [Multipliers(tuple(number[c] for c in r.cuts), r.values) for r in node.records],
                node.arc,
                node.children,
            )
            for node in nodes
        )
        return cls(
            exponent=exponent,
            cuts=tuple(cuts[c] for c in used),
            nodes=kept,
            **claim,  # type: ignore[arg-type]
        )


def verify(table: ScoreTable, certificate: Certificate) -> bool:
    """Check a certificate against a table, in exact arithmetic.

    Parameters
    ----------
    table : ScoreTable
        The table that was solved.
    certificate : Certificate
        What the engine left behind.

    Returns
    -------
    bool
        True; a certificate that proves less than it claims raises.

    Raises
    ------
    CertificateError
        With the place and the reason.
    """
    _Check(table, certificate).run()
    return True


class _Check:
    def __init__(self, table: ScoreTable, certificate: Certificate) -> None:
        self.certificate = certificate
        self.n = len(table.names)
        self.scores = [table.child(v).scores.tolist() for v in range(self.n)]
        self.sets = [[_mask(members) for _, members in table.child(v)] for v in range(self.n)]
        # One denominator for all scores and multipliers: a power of two.
        denominators = [s.as_integer_ratio()[1] for child in self.scores for s in child]
        self.scale: int = max([*denominators, 2 ** max(0, -certificate.exponent)])
        self.unit = (
            2 ** max(0, certificate.exponent) * self.scale // 2 ** max(0, -certificate.exponent)
        )
        exact = [[self.whole(s) for s in child] for child in self.scores]
        self.best = [max(child) for child in exact]
        self.costs = [
            [best - s for s in child] for best, child in zip(self.best, exact, strict=True)
        ]

    def whole(self, value: float) -> int:
        numerator, denominator = value.as_integer_ratio()
        return numerator * self.scale // denominator

    def run(self) -> None:
        self.check_incumbent()
        self.check_cuts()
        claim = self.certificate
        total = sum(self.best)
        incumbent = Fraction(self.incumbent_cost(), self.scale)
        # A leaf must reach one of the two: as costly as the incumbent, or not above the bound.
        self.cutoff = (incumbent - Fraction(claim.resolution)) * self.scale
        needed = min(self.cutoff, total - Fraction(claim.bound) * self.scale)
        # Depth first; each entry: number, allowed sets per child, required arcs, bound so far.
        start: list[Sequence[int]] = [range(len(c)) for c in self.costs]
        stack: list[tuple[int, list[Sequence[int]], list[tuple[int, int]], int]] = [
            (0, start, [], 0)
        ]
        seen: set[int] = set()
        while stack:
            number, allowed, required, bound = stack.pop()
            if number in seen or not 0 <= number < len(claim.nodes):
                raise CertificateError(f"certificate: node {number} is missing or met twice")
            seen.add(number)
            node = claim.nodes[number]
            for record in node.records:
                proved, allowed = self.apply(record, allowed)
                bound = max(bound, proved)
            if not all(allowed):
                continue  # a child without any set left: nothing better is below this node
            if node.children is None or node.arc is None:
                if bound < needed:
                    raise CertificateError(
                        f"certificate: leaf {number} proves a cost of {bound / self.scale:.9g} "
                        f"nats, {float(needed / self.scale):.9g} are needed"
                    )
                continue
            stack.extend(self.split(node.arc, node.children, allowed, required, bound))

    def check_incumbent(self) -> None:
        claim = self.certificate
        if len(claim.parents) != self.n:
            raise CertificateError("certificate: the incumbent needs one set per child")
        for v, k in enumerate(claim.parents):
            if not 0 <= k < len(self.sets[v]):
                raise CertificateError(f"certificate: child {v} has no set number {k}")
        if claim.score != fsum(self.scores[v][k] for v, k in enumerate(claim.parents)):
            raise CertificateError(f"certificate: {claim.score} is not the incumbent's score")
        if not (claim.resolution >= 0 and claim.bound >= claim.score):
            raise CertificateError("certificate: resolution or bound is too small")
        chosen = [self.sets[v][k] for v, k in enumerate(claim.parents)]
        placed, before = 0, -1
        while placed != before:
            before = placed
            for v, parents in enumerate(chosen):
                if parents & ~placed == 0:
                    placed |= 1 << v
        if placed != (1 << self.n) - 1:
            raise CertificateError("certificate: the incumbent has a cycle")

    def incumbent_cost(self) -> int:
        return sum(self.costs[v][k] for v, k in enumerate(self.certificate.parents))

    def check_cuts(self) -> None:
        for number, cut in enumerate(self.certificate.cuts):
            is_valid = self.is_valid(cut) if isinstance(cut, Cut) else self.is_valid_order_cut(cut)
            if not is_valid:
                raise CertificateError(f"certificate: cut {number} is not a valid cut: {cut}")

    def is_valid(self, cut: Cut) -> bool:
        if not cut.halved and (len(cut.terms) != 1 or cut.equations):
            return False
        return self.are_variables(cut.equations) and all(
            1 <= k <= len(members) and self.are_variables(members) for members, k in cut.terms
        )

    def is_valid_order_cut(self, cut: OrderCut) -> bool:
        """Whether no order of the members gains more than the cut says."""
        size = 1 << len(cut.members)
        if not self.are_variables(cut.members) or [len(row) for row in cut.gains] != [size] * len(
            cut.members
        ):
            return False
        from_within = [_most_from_within(row) for row in cut.gains]
        most = [0] * size  # what the members of each subset gain when they come first
        for subset in range(1, size):
            rests = [(v, subset ^ 1 << v) for v in range(len(cut.members)) if subset >> v & 1]
            most[subset] = max(most[rest] + from_within[v][rest] for v, rest in rests)
        return most[-1] <= cut.most

    def are_variables(self, members: Sequence[int]) -> bool:
        return len(set(members)) == len(members) and all(v in range(self.n) for v in members)

    def apply(
        self, record: Multipliers, allowed: list[Sequence[int]]
    ) -> tuple[int, list[Sequence[int]]]:
        """Return the bound these multipliers prove, and the sets they leave."""
        cuts = self.certificate.cuts
        if len(record.cuts) != len(record.values) or any(m < 0 for m in record.values):
            raise CertificateError("certificate: multipliers must be >= 0, one per cut")
        if any(not 0 <= c < len(cuts) for c in record.cuts):
            raise CertificateError("certificate: a multiplier of a cut that is not there")
        pairs = [(cuts[c], m * self.unit) for c, m in zip(record.cuts, record.values, strict=True)]
        paid = sum(multiplier * _right_side(cut) for cut, multiplier in pairs)
        reduced = [self.reduced(v, allowed[v], pairs) for v in range(self.n)]
        if not all(reduced):
            return paid, allowed
        least = [min(child) for child in reduced]
        bound = paid + sum(least)
        left: list[Sequence[int]] = [
            [
                f
                for f, cost in zip(allowed[v], reduced[v], strict=True)
                if bound - least[v] + cost < self.cutoff
            ]
            for v in range(self.n)
        ]
        return bound, left

    def reduced(
        self, child: int, numbers: Sequence[int], pairs: Sequence[tuple[Cut | OrderCut, int]]
    ) -> list[int]:
        relevant = [
            (coefficient, multiplier)
            for cut, multiplier in pairs
            if (coefficient := _coefficient(cut, child)) is not None
        ]
        return [
            self.costs[child][f]
            - sum(
                multiplier * coefficient(self.sets[child][f])
                for coefficient, multiplier in relevant
            )
            for f in numbers
        ]

    def split(
        self,
        arc: tuple[int, int],
        children: tuple[int, int],
        allowed: list[Sequence[int]],
        required: list[tuple[int, int]],
        bound: int,
    ) -> list[tuple[int, list[Sequence[int]], list[tuple[int, int]], int]]:
        parent, child = arc
        with_arc, without = list(allowed), list(allowed)
        with_arc[child] = [f for f in allowed[child] if self.sets[child][f] >> parent & 1]
        without[child] = [f for f in allowed[child] if not self.sets[child][f] >> parent & 1]
        more = [*required, arc]
        # Nobody may have a descendant (along required arcs) as a parent.
        for v in range(self.n):
            below = _mask(_descendants(v, more))
            with_arc[v] = [f for f in with_arc[v] if not self.sets[v][f] & below]
        return [(children[0], with_arc, more, bound), (children[1], without, required, bound)]


def _right_side(cut: Cut | OrderCut) -> int:
    if isinstance(cut, OrderCut):
        return sum(max(row) for row in cut.gains) - cut.most
    total = sum(k for _, k in cut.terms) - len(cut.equations)
    return -(-total // 2) if cut.halved else total


def _coefficient(cut: Cut | OrderCut, child: int) -> Callable[[int], int] | None:
    """Return a child's coefficients by the mask of its parents; None where all are zero."""
    if isinstance(cut, OrderCut):
        if child not in cut.members:
            return None
        members, gains = cut.members, cut.gains[cut.members.index(child)]
        largest = max(gains)

        def forgone(parents: int) -> int:
            return largest - gains[sum((parents >> u & 1) << bit for bit, u in enumerate(members))]

        return forgone
    terms = [(_mask(members), k) for members, k in cut.terms if child in members]
    equation, is_halved = int(child in cut.equations), cut.halved
    if not terms and not equation:
        return None

    def counted(parents: int) -> int:
        count = sum((parents & inside).bit_count() < k for inside, k in terms) - equation
        return -(-count // 2) if is_halved else count

    return counted


def _most_from_within(gains: Sequence[int]) -> list[int]:
    """Return, for each set of members, the largest gain from a subset of it."""
    most = list(gains)
    for subset in range(len(gains)):
        for bit in range(subset.bit_length()):
            if subset >> bit & 1:
                most[subset] = max(most[subset], most[subset ^ 1 << bit])
    return most


def _mask(members: Iterable[int]) -> int:
    return sum(1 << m for m in members)


def _descendants(start: int, arcs: Sequence[tuple[int, int]]) -> set[int]:
    found: set[int] = set()
    reached = [start]
    while reached:
        u = reached.pop()
        for a, b in arcs:
            if a == u and b not in found:
                found.add(b)
                reached.append(b)
    return found
