"""Greedy search over equivalence classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any, ClassVar

from bestdag.errors import GraphError, InvalidParameterError, require_flag
from bestdag.graph.dag import Dag
from bestdag.graph.pdag import Pdag
from bestdag.registry import setting
from bestdag.scores.scorer import Scorer
from bestdag.search.feasible import feasible_parents
from bestdag.search.ges.gains import Gains
from bestdag.search.ges.operators import Family, Move, View, deletes, inserts, turns
from bestdag.search.problem import Problem
from bestdag.search.result import SearchResult, Status, Step

__all__ = ["GES"]

# Gains below this share of the score are rounding: families of equivalent structures are summed in
# different orders.
_ROUNDING = 1e-11
# So many members of a class are looked at for one that obeys.
_MANY_MEMBERS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class GES:
    """Greedy equivalence search: insert the best edge while the score rises, then delete.

    Steps lead from one Markov equivalence class to another, by Chickering's valid operators. For
    a score that is consistent and score equivalent, and data from a distribution that has a
    perfect map, the class found is that of the map in the limit of large samples.

    Parameters
    ----------
    turning : bool, default False
        Also turn arcs round, and repeat the three phases until none raises the score. Never
        ends lower than without, often higher on small samples.

    Notes
    -----
    The score and the structure prior must be score equivalent. With knowledge, the search keeps
    to classes with a member that obeys it. For limits and statements about paths all members are
    looked at where they are 200 at most, one where they are more. The limit theorem no longer
    holds then.

    References
    ----------
    .. [1] Chickering (2002). "Optimal structure identification with greedy search." JMLR 3.
    .. [2] Hauser and Bühlmann (2012). "Characterization and greedy learning of interventional
       Markov equivalence classes of directed acyclic graphs." JMLR 13.

    Examples
    --------
    >>> from bestdag.examples import example
    >>> from bestdag.learning import learn
    >>> result = learn(example("asia.csv"), "bic", search=GES())
    >>> result.status, result.dag.cpdag().edges
    ('local optimum', (('bronc', 'smoke'), ('lung', 'smoke')))
    """

    name: ClassVar[str] = "ges"

    turning: bool = setting(False, "Add the turning phase.")

    def __post_init__(self) -> None:
        require_flag(self.name, "turning", self.turning)

    def run(self, problem: Problem) -> SearchResult:
        """Search; a time limit or Ctrl-C gives the best class so far."""
        scorer = problem.scorer(self.name)
        _require_equivalence(scorer)
        walk = _Walk(problem, scorer)
        status: Status = "local optimum"
        try:
            while True:
                before = len(walk.trace)
                for listing in (inserts, deletes, turns) if self.turning else (inserts, deletes):
                    if not walk.climb(listing):
                        status = "time limit"
                        break
                if status == "time limit" or not self.turning or len(walk.trace) == before:
                    break
        except KeyboardInterrupt:
            status = "interrupted"
        return SearchResult(
            dag=walk.member,
            score=walk.score,
            bound=None,
            status=status,
            search=self.name,
            seconds=problem.seconds,
            settings=asdict(self),
            trace=tuple(walk.trace),
            notes=() if walk.is_free else (_WITH_KNOWLEDGE,),
        )


_WITH_KNOWLEDGE = (
    "with knowledge, ges keeps to classes with a member that obeys it; "
    "its limit theorem does not hold there"
)


class _Walk:
    """Where the search stands: a class, a member that obeys the knowledge, and the way there."""

    def __init__(self, problem: Problem, scorer: Scorer) -> None:
        self._problem = problem
        self._scorer = scorer
        self._nodes = problem.nodes
        self.is_free = problem.knowledge.is_empty and problem.max_parents is None
        self._limits = dict(zip(problem.names, map(int, self._nodes.max_parents), strict=True))
        self.trace: list[Step] = []
        self.member = self._start()
        self.view = View(self.member.cpdag())
        self.score = scorer.total(self.member)

    def climb(self, listing: Callable[[View, str, str], Iterable[Move]]) -> bool:
        """Take the best step of one kind while there is one; False when time is up."""
        is_late = self._problem.out_of_time
        gains = Gains(self._scorer, listing, self._is_small, is_late)
        while not is_late() and gains.update(self.view):
            if not self._step(gains):
                return not is_late()
            self._problem.progress(f"ges: {self.trace[-1].move}, score {self.score:.3f}")
        return False

    def _step(self, gains: Gains) -> bool:
        # The score of a start may be minus infinity, where a prior calls it impossible.
        unit = _ROUNDING * (max(1.0, abs(self.score)) if isfinite(self.score) else 1.0)
        for gain, move in gains.best(unit, unit):
            if self._problem.out_of_time():
                return False
            if not move.is_valid(self.view):
                continue
            after = move.apply(self.view).to_dag()
            graph = after.cpdag()
            member = after if self.is_free else self._obeying(graph)
            if member is not None:
                score = self._scorer.total(member)  # Ctrl-C here leaves the class before
                self.member, self.view, self.score = member, View(graph), score
                self.trace.append(Step(str(move), gain, score))
                return True
        return False

    def _is_small(self, family: Family) -> bool:
        child, parents = family
        return len(parents) <= self._limits[child]

    def _start(self) -> Dag:
        if self._problem.start is not None:
            return self._problem.start
        names = self._problem.names
        parents = feasible_parents(self._nodes, who="ges")
        return Dag(names, [(names[p], names[c]) for c, group in enumerate(parents) for p in group])

    def _obeying(self, graph: Pdag) -> Dag | None:
        """Return a member of a class that obeys the knowledge, or None when none is found."""
        allowed, place = self._nodes.allowed, {v: i for i, v in enumerate(self._problem.names)}
        arcs, edges = list(graph.arcs), []
        for x, y in graph.edges:
            i, j = place[x], place[y]
            if not allowed[i, j] or self._nodes.required[j, i]:
                arcs.append((y, x))
            elif not allowed[j, i] or self._nodes.required[i, j]:
                arcs.append((x, y))
            else:
                edges.append((x, y))
        try:
            member = Pdag(graph.nodes, arcs, edges).apply_meek_rules().to_dag()
        except GraphError:
            return None
        if member.cpdag() != graph:
            return None
        if self._obeys(member):
            return member
        try:  # a limit or a statement about paths: another member may do
            return next(filter(self._obeys, graph.members(limit=_MANY_MEMBERS)), None)
        except GraphError:
            return None

    def _obeys(self, member: Dag) -> bool:
        fits = all(self._is_small((v, frozenset(member.parents(v)))) for v in member.nodes)
        return fits and self._problem.knowledge.allows(member)


def _require_equivalence(scorer: Scorer) -> None:
    what: Any = scorer.score if not scorer.score.is_score_equivalent else scorer.structure_prior
    if not scorer.is_score_equivalent:
        raise InvalidParameterError(
            f"ges: needs a score and a structure prior that are equal for equivalent structures, "
            f"and {what!r} is not; use bdeu, bde, bic, aic or qnml, or the search hill_climb"
        )
