"""A walk from structure to structure by single-arc changes, with its trace and its limits."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.graph._names import arc_text
from bestdag.graph.dag import Dag
from bestdag.graph.node_knowledge import NodeKnowledge
from bestdag.search.base import Problem, Status, Step
from bestdag.search.climbing.feasible import Parents, feasible_parents
from bestdag.search.climbing.rows import Rows, screened

__all__ = ["ADD", "NOISE", "REMOVE", "REVERSE", "LimitError", "Move", "Walk"]

ADD, REMOVE, REVERSE = 0, 1, 2
_VERBS = ("add", "remove", "reverse")

# Gains that differ by less than this share of the largest local score are equal: what rounding
# leaves between equivalent structures is a thousand times smaller.
NOISE = 1e-11

_SECONDS_BETWEEN_REPORTS = 0.1

# Kind, parent, child, gain.
Move = tuple[int, int, int, float]


class LimitError(Exception):
    """A limit is reached."""

    def __init__(self, status: Status) -> None:
        super().__init__(status)
        self.status: Status = status


class Walk:
    """The current structure, the best so far, and how it came about.

    Parameters
    ----------
    who : str
        The search, for messages.
    problem : Problem
    nodes : NodeKnowledge
        What every structure obeys.
    n_candidates : int or None
        For each variable only so many of its best single parents may become parents.
    max_steps : int or None
        Steps before `LimitError` is raised.
    remember : bool
        Whether families are likely to come again.
    """

    def __init__(
        self,
        who: str,
        problem: Problem,
        nodes: NodeKnowledge,
        *,
        n_candidates: int | None = None,
        max_steps: int | None = None,
        remember: bool = False,
    ) -> None:
        self.problem = problem
        self.nodes = nodes
        self.score = -math.inf
        self.tie = NOISE
        self.who = who
        self._max_steps = math.inf if max_steps is None else max_steps
        self._scorer = problem.scorer(who)
        self.base = self._base_parents()
        self.notes: tuple[str, ...] = ()
        n = len(nodes.names)
        if n_candidates is None or n_candidates >= n - 1:
            candidates = [nodes.allowed_parents(child).astype(np.int32) for child in range(n)]
        else:
            candidates = screened(self._scorer, nodes, n_candidates, self.base)
            self.notes = (f"parents were chosen among the {n_candidates} best single ones",)
        for child in np.flatnonzero(nodes.max_parents == 0).tolist():
            candidates[child] = np.empty(0, np.int32)
        self.rows = Rows(who, self._scorer, candidates, nodes.max_parents, remember=remember)
        self.climb = _native(nodes, candidates)
        self._n_steps = 0
        # Where each stretch began, and its moves; a structure is found again by making them again.
        self._stretches: list[tuple[Parents, list[Move]]] = []
        self._trace: list[tuple[Move | str, float, float]] = []  # what, gain, score after it
        self._best = (-math.inf, 0, 0)  # score, stretch, moves
        self._next_report = time.monotonic() + _SECONDS_BETWEEN_REPORTS

    def _base_parents(self) -> Parents:
        start, names = self.problem.start, self.nodes.names
        if start is None:
            return feasible_parents(self.nodes, who=self.who)
        number = {name: i for i, name in enumerate(names)}
        return [[number[p] for p in start.parents(name)] for name in names]

    @property
    def best_score(self) -> float:
        """The highest score so far."""
        return self._best[0]

    @property
    def has_begun(self) -> bool:
        """Whether there is a scored structure."""
        return bool(self._stretches)

    def begin(self, parents: Parents) -> None:
        """Score the first structure; after that there is something to return."""
        self.climb.reset(parents)
        scores = self._scorer.families(map(self._named, range(len(parents)), parents))
        self.set_tie(scores)
        self._arrive(parents, math.fsum(scores))
        self.check_time()
        self._score_rows(list(enumerate(parents)), scores.tolist())

    def set_tie(self, scores: npt.NDArray[np.float64]) -> None:
        """Say how large local scores are, and so which gains are equal."""
        self.tie = NOISE * float(np.max(np.abs(scores), where=np.isfinite(scores), initial=1.0))

    def go_to(self, parents: Parents, why: str) -> None:
        """Go to another structure."""
        self._require_steps()
        self.climb.reset(parents)
        self._score_rows(list(enumerate(parents)), [None] * len(parents))
        score = math.fsum(self.climb.scores())
        self._trace.append((why, score - self.score, score))
        self._arrive(parents, score)

    def make(self, moves: Sequence[Move]) -> None:
        """Make legal moves that change different families, and score these in one call."""
        self._require_steps()
        climb = self.climb
        children: list[int] = []
        made = []
        for move in moves:
            kind, parent, child, gain = move
            climb.apply(kind, parent, child)
            made.append((move, gain, math.fsum(climb.scores())))
            children.append(child)
            if kind == REVERSE:
                children.append(parent)
        families = [(child, climb.parents_of(child)) for child in children]
        self._score_rows(families, [climb.score(child) for child in children])
        self._trace += made
        self._stretches[-1][1].extend(moves)
        self.score = made[-1][2]
        self._n_steps += len(moves)
        self._note_best()
        self._report()

    def check_time(self) -> None:
        """Raise `LimitError` when the time is up."""
        if self.problem.out_of_time():
            raise LimitError("time limit")

    def return_to_best(self) -> Parents:
        """Make the best structure so far the current one, unscored, and return it."""
        _, stretch, n_moves = self._best
        parents, moves = self._stretches[stretch]
        self.climb.reset(parents)
        for kind, parent, child, _ in moves[:n_moves]:
            self.climb.apply(kind, parent, child)
        return self.climb.parents()

    def best_dag(self) -> Dag:
        """Return the best structure so far, over the names."""
        names = self.nodes.names
        arcs = [
            (names[parent], names[child])
            for child, group in enumerate(self.return_to_best() if self._stretches else self.base)
            for parent in group
        ]
        return Dag(names, arcs)

    def trace(self) -> tuple[Step, ...]:
        """Return the steps in words."""
        return tuple(
            Step(what if isinstance(what, str) else self._text(what), gain, score)
            for what, gain, score in self._trace
        )

    def _text(self, move: Move) -> str:
        kind, parent, child, _ = move
        return f"{_VERBS[kind]} {arc_text(self.nodes.names[parent], self.nodes.names[child])}"

    def _named(self, child: int, parents: Sequence[int]) -> tuple[str, list[str]]:
        names = self.nodes.names
        return names[child], [names[p] for p in parents]

    def _arrive(self, parents: Parents, score: float) -> None:
        self._stretches.append((parents, []))
        self.score = score
        self._note_best()

    def _score_rows(
        self, families: Sequence[tuple[int, Sequence[int]]], known: Sequence[float | None]
    ) -> None:
        for rows in self.rows.get(families, known):
            for child, (score, changed) in rows:
                self.climb.set_row(child, score, changed)
            if len(families) > 2:  # two take no longer than a step
                self.check_time()

    def _require_steps(self) -> None:
        if self._n_steps >= self._max_steps:
            raise LimitError("step limit")

    def _note_best(self) -> None:
        if self.score > self._best[0] + self.tie:
            at = len(self._stretches) - 1
            self._best = (self.score, at, len(self._stretches[at][1]))

    def _report(self) -> None:
        now = time.monotonic()
        if now >= self._next_report:
            self._next_report = now + _SECONDS_BETWEEN_REPORTS
            self.problem.progress(f"{self._n_steps:,} steps, best score {self.best_score:.2f}")


def _native(nodes: NodeKnowledge, candidates: Sequence[npt.NDArray[np.int32]]) -> _core.Climb:
    ends = np.zeros(len(candidates) + 1, np.int64)
    np.cumsum([len(group) for group in candidates], out=ends[1:])
    flags = [nodes.required[group, child] for child, group in enumerate(candidates)]
    empty = np.empty(0, np.int32)
    return _core.Climb(
        ends,
        np.concatenate([empty, *candidates]),
        np.concatenate([empty, *flags]).astype(np.uint8),
        nodes.max_parents,
        edges=nodes.required_edges,
        ancestors=nodes.ancestors,
        non_ancestors=nodes.non_ancestors,
    )
