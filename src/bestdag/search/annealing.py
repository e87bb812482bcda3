"""Simulated annealing: random moves at first, greedy ones in the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from bestdag.errors import InvalidParameterError, require_choice, require_count, require_positive
from bestdag.graph.dag import Dag
from bestdag.registry import setting
from bestdag.search.climbing.ascent import (
    STARTS,
    Draws,
    Reinsertion,
    ascend,
    begun_walk,
    require_limits,
)
from bestdag.search.climbing.walk import Walk
from bestdag.search.problem import Problem
from bestdag.search.steps import POINT, Steps, require_start
from bestdag.wording import arg

__all__ = ["Annealing"]

# Proposals of one native call take a few milliseconds at most.
_PROPOSALS_PER_CALL = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Annealing:
    r"""Propose random moves and accept losses less and less often, then climb.

    A proposed move that gains :math:`g` nats at the temperature :math:`T` is made with probability
    :math:`\min(1, e^{g / T})`. At the end the structure reached and the best structure met are
    climbed from as `HillClimb` does.

    Parameters
    ----------
    initial_temperature, final_temperature : float, defaults 10 and 0.1
        The first and the last temperature, in nats.
    schedule : {"geometric", "linear"}, default "geometric"
        How temperatures fall: by the same factor, or by the same difference.
    levels : int, default 50
        Number of temperatures.
    proposals : int, optional
        Moves proposed at each temperature; 100 for each variable by default.
    start_from : {"empty", "random", "tree"} or Dag, default "empty"
        The first structure, as in `HillClimb`.
    candidates, max_steps : int, optional
        As in `HillClimb`.

    Raises
    ------
    InvalidParameterError
        A setting out of range, or a final temperature above the first.

    Notes
    -----
    Proposals are drawn in native code from a stream that depends on the seed alone. One that is
    refused costs a few nanoseconds; one that is accepted costs the scores of the families that
    changed, as a step of `HillClimb` does.

    References
    ----------
    .. [1] Kirkpatrick, Gelatt and Vecchi (1983). "Optimization by simulated annealing." Science
       220, 671-680.
    .. [2] Jensen and Nielsen (2007). "Bayesian Networks and Decision Graphs", 2nd edition,
       Exercise 7.13.

    Examples
    --------
    >>> from bestdag import learn
    >>> from bestdag.examples import example
    >>> learn(example("asia.csv"), "bic", search=Annealing(levels=20)).status
    'local optimum'
    """

    name: ClassVar[str] = "annealing"

    initial_temperature: float = setting(
        10.0, "Initial temperature, on the scale of the log score."
    )
    final_temperature: float = setting(0.1, "Final temperature, on the scale of the log score.")
    schedule: Literal["geometric", "linear"] = setting("geometric", "Cooling schedule.")
    levels: int = setting(50, "Number of temperatures.")
    proposals: int | None = setting(None, "Number of moves proposed per temperature.")
    start_from: Literal["empty", "random", "tree"] | Dag = setting(
        "empty", "First structure: empty, random, tree, or a network file.", load="structure"
    )
    candidates: int | None = setting(
        None, "Number of candidate parents per variable, the best single ones."
    )
    max_steps: int | None = setting(None, "Maximum number of moves.")

    def __post_init__(self) -> None:
        require_positive("annealing", "initial_temperature", self.initial_temperature)
        require_positive("annealing", "final_temperature", self.final_temperature)
        if self.final_temperature > self.initial_temperature:
            raise InvalidParameterError(
                f"annealing: {arg('final_temperature')} must be at most "
                f"{arg('initial_temperature')}, {self.initial_temperature!r}, got "
                f"{self.final_temperature!r}"
            )
        require_choice("annealing", "schedule", self.schedule, ("geometric", "linear"))
        require_count("annealing", "levels", self.levels, minimum=1)
        if self.proposals is not None:
            require_count("annealing", "proposals", self.proposals, minimum=1)
        require_start("annealing", self.start_from, *STARTS)
        require_limits("annealing", self.candidates, self.max_steps)

    def temperatures(self) -> Iterator[float]:
        """Go through the temperatures; they may be too many to be listed.

        Examples
        --------
        >>> search = Annealing(initial_temperature=8, final_temperature=1, levels=4)
        >>> [round(t, 3) for t in search.temperatures()]
        [8.0, 4.0, 2.0, 1.0]
        """
        k = 0
        while k < self.levels:
            yield self._temperature(k)
            k += 1

    def _temperature(self, level: int) -> float:
        first, last = float(self.initial_temperature), float(self.final_temperature)
        share = level / max(1, self.levels - 1)
        if self.schedule == "linear":
            return first + (last - first) * share
        return float(first * (last / first) ** share)

    def steps(self, problem: Problem) -> Steps:
        """Climb, so that a local optimum is there, cool, and climb again."""
        walk = yield from begun_walk(self, problem, start_from=self.start_from)
        yield from ascend(walk)
        yield from self._cool(walk)
        best = walk.best_score
        yield from ascend(walk)
        if walk.best_score == best:  # the structure reached leads to nothing better
            yield from walk.return_to_best()
            yield from ascend(walk)
        yield from Reinsertion(walk).run()

    def _cool(self, walk: Walk) -> Steps:
        """Propose moves at one temperature after the other."""
        n_proposals = self.proposals or 100 * len(walk.base)
        draws = Draws(walk, 0)
        for level, temperature in enumerate(self.temperatures(), start=1):
            end = level * n_proposals
            while draws.counter < end:
                n_tries = min(_PROPOSALS_PER_CALL, end - draws.counter)
                move = draws.move(temperature, n_tries)
                yield from walk.make([move]) if move is not None else (POINT,)
