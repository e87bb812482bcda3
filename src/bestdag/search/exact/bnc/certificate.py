"""Proofs that can be checked: the branching tree with its multipliers, and a slow literal check.

The check shares no code with the engine. It reads the table again, computes with exact rationals
(whole numbers over one power of two) and trusts nothing but the tree's shape:

* a node is split by one arc: the choices with it and those without are all there are;
* a cut is valid for every acyclic choice by its form (see `Cut`);
* multipliers >= 0 on cuts prove a lower bound of the cost, and by their reduced costs that some
  sets are in no choice better than the incumbent by more than the resolution: those sets may be
  left out below the node.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import fsum

from bestdag.errors import CertificateError
from bestdag.scores.table import ScoreTable
from bestdag.search.exact.bnc.relaxation import Cut

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
    cuts : tuple of Cut
        The cuts that have a positive multiplier somewhere.
    nodes : tuple of Node
        The tree; node 0 is its root.
    """

    parents: tuple[int, ...]
    score: float
    resolution: float
    bound: float
    exponent: int
    cuts: tuple[Cut, ...]
    nodes: tuple[Node, ...]

    @classmethod
    def of_tree(
        cls, nodes: Sequence[Node], cuts: Sequence[Cut], exponent: int, **claim: object
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
        variables = range(self.n)
        for number, cut in enumerate(self.certificate.cuts):
            bad = not cut.halved and (len(cut.terms) != 1 or bool(cut.equations))
            for members, k in cut.terms:
                distinct = set(members)
                bad |= k < 1 or len(distinct) < k or len(distinct) != len(members)
                bad |= any(v not in variables for v in distinct)
            bad |= len(set(cut.equations)) != len(cut.equations)
            bad |= any(v not in variables for v in cut.equations)
            if bad:
                raise CertificateError(f"certificate: cut {number} is not a valid cut: {cut}")

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
        paid = 0
        for cut, multiplier in pairs:
            right = sum(k for _, k in cut.terms) - len(cut.equations)
            paid += multiplier * (-(-right // 2) if cut.halved else right)
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
        self, child: int, numbers: Sequence[int], pairs: Sequence[tuple[Cut, int]]
    ) -> list[int]:
        relevant = []
        for cut, multiplier in pairs:
            terms = [(_mask(members), k) for members, k in cut.terms if child in members]
            equation = int(child in cut.equations)
            if terms or equation:
                relevant.append((terms, equation, cut.halved, multiplier))
        result = []
        for f in numbers:
            cost, parents = self.costs[child][f], self.sets[child][f]
            for terms, equation, halved, multiplier in relevant:
                count = sum((parents & inside).bit_count() < k for inside, k in terms) - equation
                cost -= multiplier * (-(-count // 2) if halved else count)
            result.append(cost)
        return result

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
