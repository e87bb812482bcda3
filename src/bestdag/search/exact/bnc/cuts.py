"""Which cuts to add: clusters first, halved sums of clusters when those run out."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from bestdag import _core
from bestdag.search.exact.bnc.master import LpSolution
from bestdag.search.exact.bnc.relaxation import Cut, Relaxation, Sets

__all__ = ["Separator"]

_LEAST_VIOLATION = 0.02
_CUTS_PER_VARIABLE = 0.75  # taken in per round and kind
_ENOUGH_PER_VARIABLE = 0.25  # so many cuts make the next, slower, kind unnecessary
_NEARLY_TIGHT = 0.2  # slack of clusters that may go into halved sums


class Separator:
    """Finds violated cuts, and knows the number of every cut found so far."""

    def __init__(
        self, sets: Sets, kernels: _core.BranchAndCutKernels, relaxation: Relaxation
    ) -> None:
        self._kernels = kernels
        self._relaxation = relaxation
        self._numbers: dict[Cut, int] = {}
        self._most = max(20, int(_CUTS_PER_VARIABLE * sets.n))
        self._enough = int(_ENOUGH_PER_VARIABLE * sets.n)

    def number(self, cut: Cut) -> int:
        """Return the cut's number in the relaxation; it is added when new."""
        number = self._numbers.get(cut)
        if number is None:
            number = self._numbers[cut] = self._relaxation.add(cut)
        return number

    def violated(
        self, solution: LpSolution, present: Sequence[int], is_root: bool, thorough: bool
    ) -> list[int]:
        """Return numbers of cuts that the solution violates; `present` are in the program.

        Slower kinds are looked for when faster ones find nothing, or if `thorough`. Halved sums are
        looked for at the root only: below it they take longer than they save.
        """
        cuts = [self._relaxation.cuts[c] for c in present]
        clusters = sorted({cut.terms[0] for cut in cuts if not cut.halved})
        # The clusters at hand are good places to look for others.
        starts = [list(members) for members, _ in clusters]
        found: list[Cut] = []
        enough = inf if thorough else self._enough
        for k in (1, 2):
            near = self._kernels.separate(
                solution.support, solution.x, k, starts, _LEAST_VIOLATION, self._most
            )
            found.extend(Cut(((tuple(members), k),)) for members, _ in near)
            if len(found) >= enough:
                break
        if is_root and len(found) < enough:
            found.extend(self._halves(solution, clusters))
        known = set(present)
        return [c for c in dict.fromkeys(map(self.number, found)) if c not in known]

    def _halves(
        self, solution: LpSolution, clusters: Sequence[tuple[tuple[int, ...], int]]
    ) -> list[Cut]:
        """Halved cuts from clusters that are nearly tight, in the program or not."""
        terms = set(clusters)
        for k in (1, 2):
            near = self._kernels.separate(solution.support, solution.x, k, [], -_NEARLY_TIGHT, 200)
            terms.update((tuple(members), k) for members, _ in near)
        ordered = sorted(terms)
        found = self._kernels.separate_halves(
            solution.support, solution.x, ordered, _LEAST_VIOLATION, max(5, self._most // 3)
        )
        return [
            Cut(tuple(ordered[t] for t in chosen), tuple(equations), halved=True)
            for chosen, equations, _ in found
        ]
