"""The proof that a structure is the best that keeps to its statements, and its check.

The check goes through the tree of cases again. It makes each case's table itself, by code that
shares nothing with the search, checks that every split has all cases, and that the engines'
proofs about the cases at its ends hold.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
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
        for number, limits, is_split in self.needed_cases():
            left = None if is_split else self.left(limits)
            if left is not None:
                self._check_end(number, left[0])

    def needed_cases(self) -> Iterator[tuple[int, tuple[Limit, ...], bool]]:
        """Go through the cases from the first: number, limits, and whether it is split.

        Of a case whose engines prove that nothing in it is better, those it was split into are
        left out.
        """
        waiting: list[tuple[int, tuple[Limit, ...]]] = [(0, ())]
        seen: set[int] = set()
        while waiting:
            number, limits = waiting.pop()
            if number in seen or not 0 <= number < len(self.cases):
                raise CertificateError(f"certificate: case {number} is missing or met twice")
            seen.add(number)
            case = self.cases[number]
            is_split = case.split is not None and not self._is_end(number)
            if case.split is not None and is_split:
                alternatives = case.split.alternatives(self.statements.n)
                is_valid = self.statements.is_valid(case.split)
                if not is_valid or len(alternatives) != len(case.children):
                    raise CertificateError(f"certificate: case {number} is split without reason")
                pairs = zip(case.children, alternatives, strict=True)
                waiting += [(child, (*limits, *more)) for child, more in pairs]
            yield number, limits, is_split

    def left(self, limits: Iterable[Limit]) -> tuple[ScoreTable, list[list[int]]] | None:
        """Return the sets of a case and their positions; None where no choice is acyclic."""
        places, masks, children = [], [], []
        mine = tuple(limits)
        for i in range(self.statements.n):
            sets = list(self.table.child(i))
            own = _left(i, sets, mine)
            places.append(own)
            masks.append([_mask(sets[k][1]) for k in own])
            children.append(ParentSets.of([sets[k][0] for k in own], [sets[k][1] for k in own]))
        if not _has_acyclic_choice(masks):
            return None
        return ScoreTable(self.table.names, children), places

    def _total(self, number: int) -> float:
        return math.fsum(result.score for result in self.cases[number].results.values())

    def _is_end(self, number: int) -> bool:
        """Whether the engines prove that nothing in a case is better; sums round differently."""
        highest = self.score + 1e-12 * max(1.0, abs(self.score))
        return bool(self.cases[number].results) and self._total(number) <= highest

    def _check_end(self, number: int, table: ScoreTable) -> None:
        if not self._is_end(number):
            raise CertificateError(
                f"certificate: case {number} may score {self._total(number)!r}, "
                f"more than {self.score!r}"
            )
        results = self.cases[number].results
        for part in decompose(table):
            if part.variables not in results:
                raise CertificateError(f"certificate: case {number} lacks a proof of a component")
            verify_solution(part.table, results[part.variables])


def _left(
    child: int, sets: Iterable[tuple[float, tuple[int, ...]]], limits: Iterable[Limit]
) -> list[int]:
    """List a child's sets that keep to its limits and contain no better one that does."""
    kept: list[int] = []
    masks: list[int] = []
    mine = [limit for limit in limits if limit.child == child]
    for k, (_, parents) in enumerate(sets):
        mask = _mask(parents)
        if all(_keeps(parents, limit) for limit in mine) and not any(
            mask & other == other for other in masks
        ):
            kept.append(k)
            masks.append(mask)
    return kept


def _mask(members: Iterable[int]) -> int:
    return sum(1 << m for m in members)


def _keeps(parents: tuple[int, ...], limit: Limit) -> bool:
    inside = [m in parents for m in limit.members]
    if limit.kind == "none":
        return not any(inside)
    return all(inside) if limit.kind == "all" else any(inside)


def _has_acyclic_choice(masks: list[list[int]]) -> bool:
    placed, before = 0, -1
    while placed != before:
        before = placed
        for v, child in enumerate(masks):
            if any(mask & ~placed == 0 for mask in child):
                placed |= 1 << v
    return placed == (1 << len(masks)) - 1
