"""Greedy search over equivalence classes."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import inf, isfinite
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.errors import InvalidParameterError, require_count, require_flag
from bestdag.graph.dag import Dag
from bestdag.registry import setting
from bestdag.scores.local_scores import LocalScores
from bestdag.scores.node_average import NodeAverage
from bestdag.search.problem import Problem
from bestdag.search.steps import Event, Found, Note, SearchEnd, Step, Steps, require_start
from bestdag.search.ties import tie_width
from bestdag.wording import arg

__all__ = ["GES"]

# A move's number in native code is its place in here.
_KINDS = ("insert", "delete", "turn")
# Scores computed in one call.
_TOGETHER = 1 << 20


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
    start_from : Dag, optional
        The structure to begin with, which must obey the knowledge.

    Raises
    ------
    InvalidParameterError
        A setting out of range; on running, a score or structure prior that is not score equivalent.

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
    start_from: Dag | None = setting(None, "First structure: a network file.", load="structure")

    def __post_init__(self) -> None:
        if self.start_from is not None:
            require_start(self.name, self.start_from)
        require_flag(self.name, "turning", self.turning)
        if self.max_steps is not None:
            require_count(self.name, "max_steps", self.max_steps)

    def steps(self, problem: Problem) -> Steps:
        """Insert and delete until neither gains, then turn, and again until nothing gains."""
        scorer = problem.scorer(self.name)
        _require_equivalence(scorer)
        walk = _ClassWalk(problem, scorer, self.max_steps)
        if not walk.is_free:
            yield Note(_WITH_KNOWLEDGE)
        yield walk.current()
        while True:
            yield from walk.climb("insert")
            if (yield from walk.climb("delete")):
                continue
            if not self.turning or not (yield from walk.climb("turn")):
                break
        yield walk.final()


class _ClassWalk:
    """Where the search stands: a class, a member that obeys the knowledge, and the score."""

    def __init__(self, problem: Problem, scorer: LocalScores, max_steps: int | None) -> None:
        self._problem = problem
        self._scorer = scorer
        self._max_steps = inf if max_steps is None else max_steps
        self.is_free = problem.knowledge.is_empty and problem.max_parents is None
        self._n_steps = 0
        start = problem.feasible_dag("ges")
        self._score = scorer.total(start)
        self._member = problem.parents(start)
        self._native = self._native_walk()

    def current(self) -> Found:
        """Return a structure of the class that obeys the knowledge."""
        return Found(partial(self._problem.dag, self._member), self._score)

    def final(self) -> Found:
        """Return it with its own score, not a sum of gains with their rounding."""
        dag = self._problem.dag(self._member)
        return Found(dag, self._scorer.total(dag))

    def climb(self, kind: str) -> Generator[Event, None, bool]:
        """Take the best step of one kind while there is one; returns whether there was."""
        before = self._n_steps
        self._native.begin(_KINDS.index(kind))
        self._update()
        while (step := self._step(kind)) is not None:
            yield self.current()
            yield step
            self._update()
        return self._n_steps > before

    def _update(self) -> None:
        """Score what the moves out of this class need."""
        self._problem.check_time()
        while (wanted := self._native.wanted(_TOGETHER)) is not None:
            scores = self._scores(*wanted)
            self._problem.check_time()  # after the limit they are not all there
            self._native.set_scores(scores)

    def _scores(
        self,
        children: npt.NDArray[np.int32],
        offsets: npt.NDArray[np.int64],
        parents: npt.NDArray[np.int32],
        candidate_offsets: npt.NDArray[np.int64],
        candidates: npt.NDArray[np.int32],
    ) -> npt.NDArray[np.float64]:
        families = list(zip(children.tolist(), _split(parents.tolist(), offsets), strict=True))
        if not families:
            return np.empty(0)
        groups = [candidates[a:b] for a, b in pairwise(candidate_offsets.tolist())]
        left = self._problem.seconds_left
        return np.concatenate(self._scorer.numbered_changes(families, groups, left))

    def _step(self, kind: str) -> Step | None:
        """Take the best step; None when there is none."""
        if self._n_steps >= self._max_steps:
            raise SearchEnd("step limit")
        # The score of a start may be minus infinity, where a prior calls it impossible.
        move = self._native.best(tie_width(self._score), self._problem.seconds_left)
        if move is None:
            self._problem.check_time()
            return None
        x, y, others, gain = move
        after = self._score + gain
        if not isfinite(after):
            after = self._scorer.total(self._problem.dag(self._native.best_member()))
        self._native.take()
        self._score, self._member = after, self._native.member()
        self._n_steps += 1
        return Step(self._text(kind, x, y, others), gain, after)

    def _text(self, kind: str, x: int, y: int, others: Sequence[int]) -> str:
        names = self._problem.names
        more = f" with {', '.join(names[v] for v in others)}" if others else ""
        return f"{kind} {names[x]} -> {names[y]}{more}"

    def _native_walk(self) -> _core.ClassWalk:
        nodes = self._problem.nodes
        return _core.ClassWalk(
            self._member,
            nodes.max_parents,
            allowed=None if self.is_free else np.ascontiguousarray(nodes.allowed, np.uint8),
            required=[(p, c) for p, c in np.argwhere(nodes.required).tolist()],
            edges=nodes.required_edges,
            ancestors=nodes.ancestors,
            non_ancestors=nodes.non_ancestors,
        )


def _split(values: list[int], offsets: npt.NDArray[np.int64]) -> list[list[int]]:
    return [values[a:b] for a, b in pairwise(offsets.tolist())]


_WITH_KNOWLEDGE = (
    "with knowledge, ges keeps to classes with a member that obeys it; "
    "its limit theorem does not hold there"
)


def _require_equivalence(scorer: LocalScores) -> None:
    if isinstance(scorer.score, NodeAverage):
        raise InvalidParameterError(
            f"ges: {arg('missing', 'available')} scores families over different rows, so that "
            "equivalent structures have different scores; use the search hill_climb, tabu or auto"
        )
    what: Any = scorer.score if not scorer.score.is_score_equivalent else scorer.structure_prior
    if not scorer.is_score_equivalent:
        raise InvalidParameterError(
            f"ges: needs a score and a structure prior that are equal for equivalent structures, "
            f"and {what!r} is not; use bdeu, bde, bic, aic or qnml, or the search hill_climb"
        )
