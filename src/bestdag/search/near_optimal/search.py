"""The best structure and those next to it, with proof.

A structure that scores no less than the best minus g has no parent set that one of its subsets
beats by more than g: with the subset in its place it would score more than the best. So the sets to
be listed are known once g is. For the k best, g is a guess that grows until there are k.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from bestdag.errors import InvalidParameterError
from bestdag.graph.equivalence import is_equivalent
from bestdag.machine import memory_left
from bestdag.scores.parent_sets.build import build_score_table
from bestdag.scores.parent_sets.limits import n_parent_sets
from bestdag.scores.table import ScoreTable
from bestdag.search.auto import Auto
from bestdag.search.driver import Afterwards
from bestdag.search.exact.bnc.certificate import Certificate
from bestdag.search.exact.bnc.engine import solve_bnc
from bestdag.search.exact.search import Exact
from bestdag.search.exact.statements.statements import Statements
from bestdag.search.near_optimal.enumeration import (
    MANY_VARIABLES,
    SECONDS_TO_LIST,
    Choices,
    Window,
    enumerate_choices,
)
from bestdag.search.near_optimal.request import (
    NearOptimal,
    about_file,
    bayes_factors_of,
    refuse_classes,
)
from bestdag.search.problem import Problem
from bestdag.search.result import SearchResult
from bestdag.search.steps import Listed, Outcome, Phase, Search, Steps, checked_search
from bestdag.search.structures import ListStatus, Structure, Structures
from bestdag.search.ties import tie_width
from bestdag.wording import arg

__all__ = ["solve_near_optimal", "with_first"]

# The first guess of how far below the best the k-th is, in nats: so much, and for each doubling of
# k; then four times as far, up to so far, and then everything there is.
_FIRST_NATS, _NATS_PER_DOUBLING, _GROWTH, _FAR = 0.5, 0.25, 4.0, 1_000.0
# Fewer sets than this are all listed at once, whatever their scores.
_FEW_SETS = 5_000
# Work of branch and cut, in steps of the simplex method.
_MAX_PIVOTS = 500_000
# A listed structure, in bytes, and for each of its variables; and of the memory there is.
_BYTES, _BYTES_PER_VARIABLE, _SHARE_OF_MEMORY = 2_000, 300, 0.3


def solve_near_optimal(problem: Problem, search: Search, request: NearOptimal) -> SearchResult:
    """Find the best structure by exact search, and then those next to it.

    The result of the search is returned with `structures`. Of structures that tie with the best,
    the one that the search returns comes first.
    """
    search = checked_search(search)
    if isinstance(search, Auto):
        search = Exact()
    if not isinstance(search, Exact):
        what = f"near-optimal structures need exact search, got {search.name!r}"
        raise InvalidParameterError(f"learn: {what}; pass {arg('search', 'exact')}")
    if request.per_class:
        refuse_classes(problem.scores)
    return problem.solve(
        search, Afterwards(lambda outcome: _Listing(problem, outcome, request).steps())
    )


class _Listing:
    """One list: the table of each window, what it gives, and what is said about it."""

    def __init__(self, problem: Problem, outcome: Outcome, request: NearOptimal) -> None:
        assert outcome.best is not None
        self._problem = problem
        self._outcome, self._best = outcome, outcome.best
        self._request = request
        self._notes: list[str] = []
        resolution = 0.0 if outcome.proof is None else outcome.proof.resolution
        self._slack = 2.0 * tie_width(self._best.score) + resolution
        self._certificate: Certificate | None = None
        self._statements = Statements.of(problem.nodes)
        self._number, self._is_capped = self._most()

    def steps(self) -> Steps:
        """List the structures of the request, as far as limits allow."""
        best, problem = self._best, self._problem
        if self._outcome.proof is None:
            self._notes.append(
                "the best structure is not proved, and other structures are unranked"
            )
            is_interrupted = self._outcome.status == "interrupted"
            yield Listed(self._listed(None, "interrupted" if is_interrupted else "time limit"))
            return
        if isinstance(problem.scores, ScoreTable):
            is_checked = bool(self._request.per_class)
            self._notes.append(about_file(problem.table(), is_checked=is_checked))
        elif self._request.per_class and not problem.knowledge.is_empty:
            self._notes.append("classes count that have a member which your constraints allow")
        longest: Choices | None = None
        status: ListStatus = "complete"
        try:
            for nats in self._windows():
                table = self._table(nats)
                if table is None:
                    status = "time limit" if problem.out_of_time() else "memory limit"
                    break
                furthest = _furthest(table, best.score)
                nearer = min(nats, furthest)
                yield Phase(
                    "listing structures",
                    f"within {nearer:.3g} nats, among {table.n_sets:,} parent sets",
                )
                choices = self._enumerated(table, nearer, longest)
                if longest is None or len(choices.scores) >= len(longest.scores):
                    longest = choices
                status = choices.status
                if status != "complete" or len(choices.scores) >= self._number:
                    break
                if nats >= furthest and (math.isinf(nats) or self._is_from_file):
                    choices.rest = -math.inf  # there is nothing else
                    break
                yield Phase("listing structures", f"{len(choices.scores):,} found, looking further")
        except KeyboardInterrupt:
            status = "interrupted"
        if (
            status == "complete"
            and self._is_capped
            and len(longest.scores if longest else ()) >= self._number
        ):
            status = "memory limit"
        yield Listed(self._listed(longest, status))

    @property
    def _is_from_file(self) -> bool:
        return isinstance(self._problem.scores, ScoreTable)

    def _most(self) -> tuple[int, bool]:
        """Return how many are listed at most, and whether memory says so."""
        n = len(self._problem.names)
        room = _SHARE_OF_MEMORY * memory_left() / (_BYTES + _BYTES_PER_VARIABLE * n)
        cap = int(max(1, min(room, 2**40)))
        k = self._request.k
        return (cap, True) if k is None or cap < k else (k, False)

    def _windows(self) -> Iterator[float]:
        """Go through the windows to look into, one after the other, in nats."""
        if self._request.nats is not None:
            yield self._request.nats
            return
        nats = _FIRST_NATS + _NATS_PER_DOUBLING * math.log2(self._number)
        while not self._has_few_sets() and nats < _FAR:
            yield nats
            nats *= _GROWTH
        yield math.inf

    def _has_few_sets(self) -> bool:
        problem = self._problem
        n = len(problem.names)
        most = n - 1 if problem.max_parents is None else min(n - 1, problem.max_parents)
        return n * n_parent_sets(n, most) <= _FEW_SETS

    def _table(self, nats: float) -> ScoreTable | None:
        """List the sets for this window; None where limits do not allow it."""
        problem = self._problem
        if isinstance(problem.scores, ScoreTable):
            return problem.table()
        left = problem.seconds_left
        table = build_score_table(
            problem.scores,
            max_parents=problem.max_parents,
            knowledge=problem.knowledge,
            prune=math.isfinite(nats),
            margin=nats + self._slack if math.isfinite(nats) else 0.0,
            time_limit=None if math.isinf(left) else max(left, 1e-3),
            anytime=True,
        )
        return table if table.complete else None

    def _enumerated(self, table: ScoreTable, nats: float, previous: Choices | None) -> Choices:
        problem, request = self._problem, self._request
        deadline = problem.deadline
        if deadline is not None and previous is not None:  # which are listed if this finds no more
            deadline -= SECONDS_TO_LIST * len(previous.scores)
        if self._certificate is None and table.n_variables > MANY_VARIABLES:
            solved = solve_bnc(problem.table(), deadline=problem.deadline, max_pivots=_MAX_PIVOTS)
            if solved.status == "interrupted":
                raise KeyboardInterrupt
            self._certificate = solved.proofs[0]
        window = Window(
            best=self._best.score,
            nats=nats,
            slack=self._slack,
            number=self._number,
            per_class=bool(request.per_class),
            has_whole_classes=not self._is_from_file and problem.knowledge.is_empty,
            is_wanted=None if self._statements.is_empty else self._statements.are_kept,
        )
        return enumerate_choices(
            table, window, self._certificate, threads=problem.threads, deadline=deadline
        )

    def _listed(self, choices: Choices | None, status: ListStatus) -> Structures:
        best = self._best
        first = Structure.of(best.score, best.structure, self._problem.names)
        rest = best.score if self._outcome.proof is not None else self._bound()
        items = [first]
        if choices is not None:
            rest = None if choices.rest == -math.inf else min(choices.rest, best.score)
            pairs = zip(choices.scores, choices.parents, strict=True)
            items = [Structure(score, first.names, parents) for score, parents in pairs]
            items = with_first(items, first, per_class=bool(self._request.per_class)) or [first]
            if self._request.nats is not None:
                least = items[0].score - self._request.nats - tie_width(best.score)
                if rest is not None and status == "complete" and len(items) < self._number:
                    rest = min(rest, least)  # all that is not worse is listed
                items = [item for item in items if item.score >= least]
        has_factors, why_not = bayes_factors_of(self._problem.scores)
        if why_not is not None:
            self._notes.append(why_not)
        return Structures(
            items=tuple(items[: self._number]),
            rest=rest,
            status=status,
            per_class=bool(self._request.per_class),
            has_bayes_factors=has_factors,
            notes=tuple(self._notes),
        )

    def _bound(self) -> float | None:
        """Return what no structure exceeds, where the best is not proved."""
        bound = self._outcome.bound
        if bound is None or bound.value is None:
            return None
        return max(bound.value, self._best.score)


def _furthest(table: ScoreTable, best: float) -> float:
    """How far below the best the worst choice of sets is, cycles or not."""
    return best - math.fsum(float(table.child(i).scores[-1]) for i in range(table.n_variables))


def with_first(
    structures: Sequence[Structure], first: Structure, *, per_class: bool
) -> list[Structure]:
    """Order structures best first, ties by their parents, and put one of the best before all.

    Scores that differ by rounding alone are ties. Where the others leave out the first, it takes
    the place of the last that it ties with; where it is worse than the best, nothing is done.

    Examples
    --------
    >>> from bestdag.graph.dag import Dag
    >>> one, other = Dag(["a", "b"], [("b", "a")]), Dag(["a", "b"], [("a", "b")])
    >>> pairs = [(-2.0, Dag(["a", "b"])), (-1.0, one), (-1.0, other)]
    >>> listed = [Structure.of(score, dag) for score, dag in pairs]
    >>> [s.dag.arcs for s in with_first(listed, listed[1], per_class=False)]
    [(('b', 'a'),), (('a', 'b'),), ()]
    """
    ranked = sorted(structures, key=lambda item: -item.score)
    ordered: list[Structure] = []
    while len(ordered) < len(ranked):
        start = len(ordered)
        least = ranked[start].score - tie_width(ranked[start].score)
        end = start
        while end < len(ranked) and ranked[end].score >= least:
            end += 1
        ordered += sorted(ranked[start:end], key=lambda item: item.parents)
        if start == 0 and first.score >= least:
            ordered = _led_by(ordered, first, per_class)
    return ordered


def _led_by(ties: list[Structure], first: Structure, per_class: bool) -> list[Structure]:
    for place, item in enumerate(ties):
        if item.parents == first.parents or (per_class and is_equivalent(item.dag, first.dag)):
            return [first, *ties[:place], *ties[place + 1 :]]
    return [first, *ties[:-1]]
