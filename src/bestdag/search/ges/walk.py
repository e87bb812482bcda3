"""A walk over equivalence classes: steps taken natively, scores asked for in bulk."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from itertools import pairwise
from math import inf, isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.graph.dag import Dag
from bestdag.scores.local_scores import LocalScores
from bestdag.search.problem import Problem, SearchEnd
from bestdag.search.result import Step
from bestdag.search.ties import tie_width
from bestdag.wording import count_of

__all__ = ["KINDS", "Walk"]

# A move's number in native code is its place in here.
KINDS = ("insert", "delete", "turn")

# Scores asked for in one call.
_TOGETHER = 1 << 20


class Walk:
    """Where the search stands: a class, a member that obeys the knowledge, and the way there."""

    def __init__(
        self,
        problem: Problem,
        scorer: LocalScores,
        max_steps: int | None = None,
        saved: dict[str, Any] | None = None,
    ) -> None:
        self._problem = problem
        self._scorer = scorer
        self._max_steps = inf if max_steps is None else max_steps
        self.is_free = problem.knowledge.is_empty and problem.max_parents is None
        self._steps: list[Step] = []  # the last of them is perhaps not taken yet
        self._n_earlier = 0  # of them, those of a walk that was kept
        self._phase = (KINDS[0], 0)  # the kind of moves, and the steps before the first of them
        self._skipped = 0  # kinds of moves that were done with
        if saved is None:
            self._start = problem.feasible_dag("ges")
            self._start_score = scorer.total(self._start)
        else:
            self._start = problem.dag(saved["member"])
            self._start_score = saved["start_score"]
            self._steps = [Step(*step) for step in saved["steps"]]
            self._n_earlier = len(self._steps)
            self._phase = tuple(saved["phase"])
            self._skipped = KINDS.index(self._phase[0])
        self._native = self._native_walk()

    @property
    def n_steps(self) -> int:
        """How many steps were taken."""
        return self._n_earlier + self._native.n_taken

    def state(self) -> dict[str, Any]:
        """Return where the walk is, between two steps."""
        number = {name: i for i, name in enumerate(self._problem.names)}
        member = self.member()
        return {
            "member": [sorted(number[p] for p in member.parents(v)) for v in self._problem.names],
            "start_score": self._start_score,
            "steps": self.trace,
            "phase": self._phase,
        }

    @property
    def trace(self) -> tuple[Step, ...]:
        """The steps taken."""
        return tuple(self._steps[: self.n_steps])

    @property
    def score(self) -> float:
        """The score of the class."""
        return self._steps[self.n_steps - 1].score if self.n_steps else self._start_score

    def member(self) -> Dag:
        """Return a structure of the class that obeys the knowledge."""
        return self._problem.dag(self._native.member()) if self._native.n_taken else self._start

    def climb(self, kind: str) -> Generator[None, None, bool]:
        """Take the best step of one kind while there is one; returns whether there was."""
        if self._skipped and KINDS[self._skipped] != kind:
            return False
        if not self._skipped:
            self._phase = (kind, self.n_steps)
        self._skipped = 0
        before = self._phase[1]
        self._native.begin(KINDS.index(kind))
        self._update()
        while self._step(kind):
            steps = count_of(self.n_steps, "step")
            self._problem.tell("search ges", steps, score=self.score)
            yield
            self._update()
        return self.n_steps > before

    def settle(self) -> None:
        """Let the last score be that of the structure, not a sum of gains with their rounding."""
        if self.n_steps:
            total = self._scorer.total(self.member())
            self._steps[-1] = self._steps[-1]._replace(score=total)

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

    def _step(self, kind: str) -> bool:
        """Take the best step; False when there is none."""
        if self.n_steps >= self._max_steps:
            raise SearchEnd("step limit")
        # The score of a start may be minus infinity, where a prior calls it impossible.
        score = self.score
        move = self._native.best(tie_width(score), self._problem.seconds_left)
        if move is None:
            self._problem.check_time()
            return False
        x, y, others, gain = move
        del self._steps[self.n_steps :]
        after = score + gain
        if not isfinite(after):
            after = self._scorer.total(self._problem.dag(self._native.best_member()))
        self._steps.append(Step(self._text(kind, x, y, others), gain, after))
        self._native.take()
        return True

    def _text(self, kind: str, x: int, y: int, others: Sequence[int]) -> str:
        names = self._problem.names
        more = f" with {', '.join(names[v] for v in others)}" if others else ""
        return f"{kind} {names[x]} -> {names[y]}{more}"

    def _native_walk(self) -> _core.ClassWalk:
        names, nodes = self._problem.names, self._problem.nodes
        place = {name: number for number, name in enumerate(names)}
        return _core.ClassWalk(
            [sorted(place[p] for p in self._start.parents(name)) for name in names],
            nodes.max_parents,
            allowed=None if self.is_free else np.ascontiguousarray(nodes.allowed, np.uint8),
            required=[(p, c) for p, c in np.argwhere(nodes.required).tolist()],
            edges=nodes.required_edges,
            ancestors=nodes.ancestors,
            non_ancestors=nodes.non_ancestors,
        )


def _split(values: list[int], offsets: npt.NDArray[np.int64]) -> list[list[int]]:
    return [values[a:b] for a, b in pairwise(offsets.tolist())]
