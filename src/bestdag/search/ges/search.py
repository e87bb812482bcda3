"""Greedy search over equivalence classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from bestdag.errors import InvalidParameterError, require_count, require_flag
from bestdag.registry import setting
from bestdag.scores.local_scores import LocalScores
from bestdag.scores.node_average import NodeAverage
from bestdag.search.ges.walk import Walk
from bestdag.search.problem import Problem
from bestdag.search.result import SearchResult

__all__ = ["GES"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GES:
    """Greedy equivalence search: insert the best edge while the score rises, delete, and repeat.

    Steps lead from one Markov equivalence class to another, by Chickering's valid operators. For
    a score that is consistent and score equivalent, and data from a distribution that has a
    perfect map, the class found is that of the map in the limit of large samples.

    Parameters
    ----------
    turning : bool, default False
        Also turn arcs round where neither an insertion nor a deletion raises the score, and go on
        from there. Never ends lower than without, often higher on small samples.
    max_steps : int, optional
        Stop after so many moves, with status "step limit".

    Notes
    -----
    The two phases are repeated until neither raises the score, since on small samples a deletion
    may let another insertion gain. So a "local optimum" is a class from which no valid insertion
    or deletion (with `turning`, and no turn) raises the score.

    All pairs of variables are candidates throughout. After a step only the moves near a change of
    the class are listed again, and only families that were never met are scored. Of moves with the
    same gain (up to rounding) the first by name is taken, so the result does not depend on the
    order of columns or rows.

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
    max_steps: int | None = setting(None, "Maximum number of moves.")

    def __post_init__(self) -> None:
        require_flag(self.name, "turning", self.turning)
        if self.max_steps is not None:
            require_count(self.name, "max_steps", self.max_steps)

    def run(self, problem: Problem) -> SearchResult:
        """Search; a time limit or Ctrl-C gives the best class so far."""
        scorer = problem.scorer(self.name)
        _require_equivalence(scorer)
        walk: Walk
        with problem.checkpoint.part(self.name, lambda: walk.state()) as saved:
            walk = Walk(problem, scorer, self.max_steps, saved)

            def climb() -> None:
                for _ in self.steps(walk):
                    problem.keep()

            status = problem.until_stopped(climb)
        notes = () if walk.is_free else (_WITH_KNOWLEDGE,)
        return problem.result(
            self, walk.member(), walk.score, status, trace=walk.trace, notes=notes
        )

    def steps(self, walk: Walk) -> Iterator[None]:
        """Insert and delete until neither gains, then turn, and again until nothing gains."""
        while True:
            yield from walk.climb("insert")
            if (yield from walk.climb("delete")):
                continue
            if not self.turning or not (yield from walk.climb("turn")):
                walk.settle()
                return


_WITH_KNOWLEDGE = (
    "with knowledge, ges keeps to classes with a member that obeys it; "
    "its limit theorem does not hold there"
)


def _require_equivalence(scorer: LocalScores) -> None:
    if isinstance(scorer.score, NodeAverage):
        why = (
            "scores families over different rows, so that equivalent structures have different "
            "scores; use the search hill_climb, tabu or auto"
        )
        raise InvalidParameterError(f"ges: missing='available' {why}").with_option(
            f"ges: --missing available {why}"
        )
    what: Any = scorer.score if not scorer.score.is_score_equivalent else scorer.structure_prior
    if not scorer.is_score_equivalent:
        raise InvalidParameterError(
            f"ges: needs a score and a structure prior that are equal for equivalent structures, "
            f"and {what!r} is not; use bdeu, bde, bic, aic or qnml, or the search hill_climb"
        )
