"""A walk from structure to structure by single-arc changes, with its trace and its limits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.graph._names import arc_text
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge import NodeKnowledge
from bestdag.search.climbing.rows import Family, Rows, screened
from bestdag.search.feasible import Parents, feasible_parents
from bestdag.search.problem import Problem
from bestdag.search.steps import POINT, Event, Found, Note, SearchEnd, Step, Steps
from bestdag.search.ties import tie_width

__all__ = ["ADD", "REMOVE", "REVERSE", "Mark", "Move", "Walk"]

# Kind, parent, child, gain.
Move = tuple[int, int, int, float]
ADD, REMOVE, REVERSE = 0, 1, 2
_VERBS = ("add", "remove", "reverse")

# To prepare a list of candidates, for each of them: what does not fit is not begun.
_SECONDS_PER_CANDIDATE = 4.5e-8

# Moves from a structure on before the next structure is remembered.
_MOST_MOVES = 1_000


@dataclass(frozen=True, slots=True)
class _Path:
    """A structure and moves from there on; there come more, and none goes."""

    origin: Parents
    moves: list[Move]

    def after(self, n_moves: int) -> Parents:
        """Return the structure that so many moves lead to."""
        if n_moves == 0:
            return self.origin
        parents = [set(group) for group in self.origin]
        for kind, parent, child, _ in self.moves[:n_moves]:
            if kind == ADD:
                parents[child].add(parent)
            else:
                parents[child].remove(parent)
                if kind == REVERSE:
                    parents[parent].add(child)
        return [sorted(group) for group in parents]


@dataclass(frozen=True, slots=True)
class Mark:
    """A structure of a walk and its score."""

    score: float
    parents: Parents


class Walk:
    """The current structure and the best so far; methods that change them return the events.

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
        Steps before `SearchEnd` is raised.
    remember : bool
        Whether families are likely to come again.
    use_start : bool
        Whether a start given with the problem is the first structure.
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
        use_start: bool = True,
    ) -> None:
        self.problem = problem
        self._has_limit = problem.deadline is not None
        self.nodes = nodes
        self.score = -math.inf
        self.tie = tie_width(0.0)
        self.who = who
        self._max_steps = math.inf if max_steps is None else max_steps
        self._scorer = problem.scorer(who)
        self.base = self._base_parents(use_start)
        self.rows: Rows
        self.climb: _core.Climb
        self._n_candidates = n_candidates
        self._remember = remember
        self._n_steps = 0
        # A structure is found again by making the moves again from where they began.
        self._path = _Path(self.base, [])
        self._best = (-math.inf, self._path, 0)  # score, path, how many of its moves
        self._texts: dict[tuple[int, int, int], str] = {}  # the same arcs come and go

    def _base_parents(self, use_start: bool) -> Parents:
        start, names = self.problem.start, self.nodes.names
        if start is None or not use_start:
            return feasible_parents(self.nodes, who=self.who)
        number = {name: i for i, name in enumerate(names)}
        return [[number[p] for p in start.parents(name)] for name in names]

    @property
    def best_score(self) -> float:
        """The highest score so far."""
        return self._best[0]

    def prepare(self) -> Steps:
        """Choose the possible parents of each variable; all else comes after that."""
        nodes, n, n_best = self.nodes, len(self.nodes.names), self._n_candidates
        if n_best is None or n_best >= n - 1:
            if n * n * _SECONDS_PER_CANDIDATE > self.problem.seconds_left:
                raise SearchEnd("time limit")
            candidates = [nodes.allowed_parents(child).astype(np.int32) for child in range(n)]
        else:
            yield Note(f"parents were chosen among the {n_best} best single ones")
            left = self.problem.seconds_left
            scores = self._scorer.pair_scores(nodes.names, time_limit=max(left, 0.0))
            yield POINT
            candidates = screened(scores, nodes, n_best, self.base)
        for child in np.flatnonzero(nodes.max_parents == 0).tolist():
            candidates[child] = np.empty(0, np.int32)
        yield POINT
        self.rows = Rows(
            self.who,
            self._scorer,
            candidates,
            nodes.max_parents,
            remember=self._remember,
            seconds_left=lambda: self.problem.seconds_left,
            check=self.check_time,
        )
        self.climb = _native(nodes, candidates)
        yield POINT

    def begin(self, parents: Parents) -> Steps:
        """Score the first structure; after that there is something to return."""
        self.climb.reset(parents)
        scores = self._scorer.families(map(self._named, range(len(parents)), parents))
        self.set_tie(scores)
        self._path = _Path(parents, [])
        self._best = (math.fsum(scores), self._path, 0)
        self.score = self._best[0]
        yield self._best_found()
        self._score_rows(list(enumerate(parents)), scores.tolist())

    def set_tie(self, scores: npt.NDArray[np.float64]) -> None:
        """Say how large local scores are, and so which gains are equal."""
        self.tie = tie_width(np.max(np.abs(scores), where=np.isfinite(scores), initial=1.0))

    def make(self, moves: Sequence[Move]) -> Iterator[Event]:
        """Make legal moves that change different families, and score these in one call."""
        self._require_steps()
        climb = self.climb
        children: list[int] = []
        made = []
        for move in moves:
            kind, parent, child, gain = move
            climb.apply(kind, parent, child)
            made.append(Step(self._text(kind, parent, child), gain, climb.total()))
            children.append(child)
            if kind == REVERSE:
                children.append(parent)
        self._score_rows(
            [(child, climb.parents_of(child)) for child in children],
            [climb.score(child) for child in children],
        )
        return self._arrive(moves, made)

    def foresee(self, additions: Sequence[tuple[int, int]]) -> None:
        """Score families with a parent more, (child, parent), in one call, and remember them."""
        grown = [(c, sorted([*self.climb.parents_of(c), p]), None) for c, p in additions]
        unknown = [family for family in grown if self.rows.recall(*family[:2]) is None]
        if self.rows.remembers and len(unknown) > 1:
            for _ in self.rows.score(unknown):
                pass

    def score_family(self, child: int) -> None:
        """Score one family after a move on `climb` alone."""
        self._score_rows([(child, self.climb.parents_of(child))], [self.climb.score(child)])

    def jump(self, moves: Sequence[Move], why: str) -> Iterator[Event]:
        """Score the structure that moves made on `climb` alone led to."""
        self._require_steps()
        self._score_unscored()
        score = self.climb.total()
        return self._arrive(moves, [Step(why, score - self.score, score)])

    def go_to(self, parents: Parents, why: str) -> Iterator[Event]:
        """Go to another structure."""
        self._require_steps()
        self.climb.reset(parents)
        self._score_unscored()
        score = self.climb.total()
        self._path = _Path(parents, [])
        return self._arrive([], [Step(why, score - self.score, score)])

    def mark(self) -> Mark:
        """Remember the current structure."""
        return Mark(self.score, self.climb.parents())

    def return_to(self, mark: Mark) -> Iterator[Event]:
        """Go back to a structure remembered."""
        self.climb.reset(mark.parents)
        self._score_unscored()
        self._path = _Path(mark.parents, [])
        step = Step("go back", mark.score - self.score, mark.score)
        self.score = mark.score
        return iter((step,))

    def return_to_best(self) -> Iterator[Event]:
        """Go back to the best structure so far."""
        return self.return_to(Mark(self.best_score, self.best_parents()))

    def best_parents(self) -> Parents:
        """Return the best structure so far."""
        _, path, n_moves = self._best
        return path.after(n_moves)

    def _best_found(self) -> Found:
        """Return the event of the best structure so far; its graph is made at the first use."""
        score, path, n_moves = self._best
        return Found(partial(_dag_of, self.problem, path, n_moves), score)

    def check_time(self) -> None:
        """Raise `SearchEnd` when the time is up."""
        if self._has_limit:
            self.problem.check_time()

    def _text(self, kind: int, parent: int, child: int) -> str:
        text = self._texts.get((kind, parent, child))
        if text is None:
            arc = arc_text(self.nodes.names[parent], self.nodes.names[child])
            text = self._texts[kind, parent, child] = f"{_VERBS[kind]} {arc}"
        return text

    def _named(self, child: int, parents: Sequence[int]) -> tuple[str, list[str]]:
        names = self.nodes.names
        return names[child], [names[p] for p in parents]

    def _arrive(self, moves: Sequence[Move], steps: Sequence[Step]) -> Iterator[Event]:
        self._path.moves.extend(moves)
        self._n_steps += len(steps)
        self.score = steps[-1].score
        is_best = self.score > self._best[0] + self.tie
        if is_best:
            self._best = (self.score, self._path, len(self._path.moves))
        if len(self._path.moves) >= _MOST_MOVES:
            self._path = _Path(self.climb.parents(), [])
        return iter((self._best_found(), *steps) if is_best else steps)

    def _score_unscored(self) -> None:
        children = self.climb.unscored()
        families = [(child, self.climb.parents_of(child)) for child in children]
        self._score_rows(families, [None] * len(families))

    def _score_rows(
        self, families: Sequence[tuple[int, Sequence[int]]], known: Sequence[float | None]
    ) -> None:
        unknown: list[Family] = []
        for (child, parents), score in zip(families, known, strict=True):
            row = self.rows.recall(child, parents)
            if row is None:
                unknown.append((child, parents, score))
            else:
                self.climb.set_row(child, *row)
        if not unknown:
            return
        for scored in self.rows.score(unknown):
            for child, row in scored:
                self.climb.set_row(child, *row)
            if len(unknown) > 2:  # two take no longer than a step
                self.check_time()

    def _require_steps(self) -> None:
        if self._n_steps >= self._max_steps:
            raise SearchEnd("step limit")


def _dag_of(problem: Problem, path: _Path, n_moves: int) -> Dag:
    return problem.dag(path.after(n_moves))


def _native(nodes: NodeKnowledge, candidates: Sequence[npt.NDArray[np.int32]]) -> _core.Climb:
    ends = np.zeros(len(candidates) + 1, np.int64)
    np.cumsum([len(group) for group in candidates], out=ends[1:])
    flags = np.zeros(ends[-1], np.uint8)
    for child in np.flatnonzero(nodes.required.any(axis=0)).tolist():
        flags[ends[child] : ends[child + 1]] = nodes.required[candidates[child], child]
    return _core.Climb(
        ends,
        np.concatenate([np.empty(0, np.int32), *candidates]),
        flags,
        nodes.max_parents,
        edges=nodes.required_edges,
        ancestors=nodes.ancestors,
        non_ancestors=nodes.non_ancestors,
    )
