"""Climbs by others: a task for each restart."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from bestdag.scores.local_scores import LocalScores
from bestdag.search.problem import Problem
from bestdag.search.result import SearchResult, Status
from bestdag.search.ties import tie_width
from bestdag.workers import run_all

__all__ = ["climbed_apart"]


@dataclass(frozen=True, slots=True)
class _Climb:
    """Climbs once, with all that the problem has."""

    once: Callable[[Problem, int], SearchResult]
    scorer: LocalScores
    settings: Mapping[str, Any]

    def __call__(self, number: int, threads: int) -> SearchResult:
        problem = Problem(self.scorer, threads=threads, **self.settings)
        return self.once(problem, number)


def climbed_apart(
    search: Any,
    once: Callable[[Problem, int], SearchResult],
    problem: Problem,
    executor: Executor,
) -> SearchResult:
    """Climb from the start and from random structures, and return the best as if in turn.

    `once` climbs from the start, number 0, or from the random structure of a restart.
    """
    left = problem.seconds_left
    settings = {
        "knowledge": problem.knowledge,
        "max_parents": problem.max_parents,
        "time_limit": None if math.isinf(left) else max(left, 1e-3),
        "seed": problem.seed,
        "start": problem.start,
    }
    work = _Climb(once, problem.scorer(search.name), settings)
    found = run_all(
        work, range(search.restarts + 1), threads=None, who=search.name, executor=executor
    )
    best = found[0]
    largest = max(abs(score) for score in work.scorer.by_child(best.dag).values())
    for other in found[1:]:
        if other.score > best.score + tie_width(largest):
            best = other
    status: Status = next(
        (one.status for one in found if one.status != "local optimum"), "local optimum"
    )
    trace = [step for one in found for step in one.trace]
    return problem.result(
        search, best.dag, best.score, status, trace=tuple(trace), notes=found[0].notes
    )
