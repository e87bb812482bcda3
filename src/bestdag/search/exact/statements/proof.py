"""The proof that a structure is the best that keeps to its statements, and its check.

The check goes through the tree of cases again. It makes each case's table itself, by code that
shares nothing with the search, checks that every split has all cases, and that the engines'
proofs about the cases at its ends hold.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from bestdag.errors import CertificateError
from bestdag.scores.table import ParentSets, ScoreTable
from bestdag.search.exact.components import Solution, decompose
from bestdag.search.exact.statements.statements import Limit, Split, Statements
from bestdag.search.exact.verification import verify_solution

__all__ = ["Case", "StatementProof"]


@dataclass(slots=True)
class Case:
    """One case: what the engines proved of its components, and how it was split.

    A case without results has no acyclic choice, or is no better than the one it comes from.
    """

    results: dict[tuple[int, ...], Solution] = field(default_factory=dict)
    split: Split | None = None
    children: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class StatementProof:
    """That no structure that keeps to the statements scores more than ``score + resolution``.

    Attributes
    ----------
    table : ScoreTable
    statements : Statements
    chosen : tuple of int
        For each child, the position of its set in the table.
    score, resolution : float
        What is claimed, in nats.
    cases : tuple of Case
        The tree; case 0 is the whole problem.
    """

    table: ScoreTable
    statements: Statements
    chosen: tuple[int, ...]
    score: float
    resolution: float
    cases: tuple[Case, ...]

    def verify(self) -> None:
        """Check the proof; raises `CertificateError` or `VerificationError` where it fails."""
        sets = [list(self.table.child(i)) for i in range(self.statements.n)]
        if self.score != math.fsum(sets[i][k][0] for i, k in enumerate(self.chosen)):
            raise CertificateError(f"certificate: {self.score} is not the structure's score")
        if not self.statements.are_kept([sets[i][k][1] for i, k in enumerate(self.chosen)]):
            raise CertificateError("certificate: the structure violates a constraint")
        masked = [[(s, sum(1 << p for p in ps), ps) for s, ps in child] for child in sets]
        waiting: list[tuple[int, tuple[Limit, ...]]] = [(0, ())]
        seen: set[int] = set()
        while waiting:
            number, limits = waiting.pop()
            if number in seen or not 0 <= number < len(self.cases):
                raise CertificateError(f"certificate: case {number} is missing or met twice")
            seen.add(number)
            waiting += self._check(number, limits, masked)

    def _check(
        self,
        number: int,
        limits: tuple[Limit, ...],
        sets: list[list[tuple[float, int, tuple[int, ...]]]],
    ) -> list[tuple[int, tuple[Limit, ...]]]:
        """Check one case; returns those it was split into."""
        case = self.cases[number]
        total = math.fsum(result.score for result in case.results.values())
        # Sums of sums round differently.
        is_end = bool(case.results) and total <= self.score + 1e-12 * max(1.0, abs(self.score))
        if case.split is not None and not is_end:
            alternatives = case.split.alternatives(self.statements.n)
            if not self.statements.is_valid(case.split) or len(alternatives) != len(case.children):
                raise CertificateError(f"certificate: case {number} is split without reason")
            pairs = zip(case.children, alternatives, strict=True)
            return [(child, (*limits, *more)) for child, more in pairs]
        left = [_left(i, child, limits) for i, child in enumerate(sets)]
        if not _has_acyclic_choice(left):
            return []
        if not is_end:
            raise CertificateError(
                f"certificate: case {number} may score {total!r}, more than {self.score!r}"
            )
        self._check_end(number, left)
        return []

    def _check_end(self, number: int, left: list[list[tuple[float, int, tuple[int, ...]]]]) -> None:
        results = self.cases[number].results
        names = self.table.names
        children = [ParentSets.of([s for s, _, _ in c], [ps for _, _, ps in c]) for c in left]
        for part in decompose(ScoreTable(names, children)):
            if part.variables not in results:
                raise CertificateError(f"certificate: case {number} lacks a proof of a component")
            verify_solution(part.table, results[part.variables])


def _left(
    child: int, sets: Iterable[tuple[float, int, tuple[int, ...]]], limits: Iterable[Limit]
) -> list[tuple[float, int, tuple[int, ...]]]:
    """List a child's sets that keep to its limits and contain no better one that does."""
    kept: list[tuple[float, int, tuple[int, ...]]] = []
    mine = [limit for limit in limits if limit.child == child]
    for score, mask, parents in sets:
        if all(_keeps(parents, limit) for limit in mine) and not any(
            mask & other == other for _, other, _ in kept
        ):
            kept.append((score, mask, parents))
    return kept


def _keeps(parents: tuple[int, ...], limit: Limit) -> bool:
    inside = [m in parents for m in limit.members]
    if limit.kind == "none":
        return not any(inside)
    return all(inside) if limit.kind == "all" else any(inside)


def _has_acyclic_choice(sets: list[list[tuple[float, int, tuple[int, ...]]]]) -> bool:
    placed, before = 0, -1
    while placed != before:
        before = placed
        for v, child in enumerate(sets):
            if any(mask & ~placed == 0 for _, mask, _ in child):
                placed |= 1 << v
    return placed == (1 << len(sets)) - 1
