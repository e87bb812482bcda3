"""Checks of a proof by other means than those that found it."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from bestdag.errors import BestdagError
from bestdag.scores.table import ScoreTable
from bestdag.search.exact.bnc.certificate import Certificate, verify
from bestdag.search.exact.bnc.engine import solve_bnc
from bestdag.search.exact.components import Solution
from bestdag.search.exact.frontier.certificate import FrontierCertificate

__all__ = ["VerificationError", "verify_solution"]

# Above this the recursion over subsets in Python takes longer than another engine's proof.
_MOST_BY_RECURSION = 12


class VerificationError(BestdagError, ValueError):
    """A result claims more than a check can confirm."""


def verify_solution(table: ScoreTable, result: Solution) -> None:
    """Check that no acyclic choice from the table scores more than a result claims.

    A certificate of branch and cut, or of a search among few subsets, is checked in exact
    arithmetic. A proof by dynamic programming leaves no such certificate: small problems are solved
    again by a recursion in fractions, larger ones by branch and cut, whose certificate is then
    checked.

    Raises
    ------
    VerificationError
        If the claim does not hold.
    """
    if not result.is_proved:
        raise VerificationError(f"verify: nothing is proved, the search ended by {result.status}")
    chosen = sum(
        (Fraction(float(table.child(i).scores[k])) for i, k in enumerate(result.chosen)),
        Fraction(0),
    )
    if abs(float(chosen) - result.score) > 1e-9 * max(1.0, abs(result.score)):
        raise VerificationError(
            f"verify: the chosen sets add up to {float(chosen)!r}, not to {result.score!r}"
        )
    for proof in result.proofs:
        if isinstance(proof, Certificate):
            verify(table, proof)
            return
        if isinstance(proof, FrontierCertificate):
            proof.verify(table)
            return
    best = _best_score(table)
    if best > chosen + Fraction(result.resolution):
        raise VerificationError(
            f"verify: a choice scores {float(best)!r}, more than {result.score!r}"
        )


def _best_score(table: ScoreTable) -> Fraction:
    if table.n_variables > _MOST_BY_RECURSION:
        other = solve_bnc(table)
        if not other.is_proved:
            raise VerificationError("verify: the other engine could not prove its result")
        verify(table, other.proofs[0])
        return Fraction(other.score)
    return _best_by_recursion(table)


def _best_by_recursion(table: ScoreTable) -> Fraction:
    """Best acyclic choice by adding one variable after another (Silander and Myllymäki 2006)."""
    n = table.n_variables
    sets = [
        [(Fraction(score), sum(1 << p for p in parents)) for score, parents in table.child(i)]
        for i in range(n)
    ]

    @cache
    def best(subset: int) -> Fraction | None:
        if subset == 0:
            return Fraction(0)
        values = []
        for v in range(n):
            if subset >> v & 1:
                rest = subset & ~(1 << v)
                before = best(rest)
                local = next((score for score, mask in sets[v] if mask & ~rest == 0), None)
                if before is not None and local is not None:
                    values.append(before + local)
        return max(values, default=None)

    value = best((1 << n) - 1)
    if value is None:
        raise VerificationError("verify: every choice of parent sets has a cycle")
    return value
