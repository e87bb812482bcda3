"""Greedy hill climbing over single-arc changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from bestdag.errors import InvalidParameterError, require_count, require_flag
from bestdag.graph.dag import Dag
from bestdag.registry import setting
from bestdag.search.climbing.ascent import (
    STARTS,
    Draws,
    Reinsertion,
    ascend,
    begun_walk,
    random_parents,
    require_limits,
)
from bestdag.search.climbing.walk import Walk
from bestdag.search.problem import Problem
from bestdag.search.steps import Event, Search, Steps, require_start
from bestdag.wording import arg

__all__ = ["HillClimb"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HillClimb:
    """Take the best arc addition, removal or reversal until none gains.

    Parameters
    ----------
    start_from : {"empty", "random", "tree"} or Dag, default "empty"
        The first structure: only what the knowledge requires, a random one, or a tree of highest
        score (Chow and Liu).
    reinsert : bool, default True
        Go on from a local optimum: cut each variable loose from its parents and children, climb
        again and take what is better, until no such cut helps.
    restarts : int, default 0
        Climb so many times again and return the best.
    perturb : int, default 0
        Each restart begins with the best structure so far after this many random moves; 0 means
        with a new random structure.
    candidates : int, optional
        A screen for large problems: a variable's parents are chosen among so many, the ones with
        the best scores as its only parent. The result says so.
    max_steps : int, optional
        Stop after so many moves, with status "step limit".

    Raises
    ------
    InvalidParameterError
        A setting out of range, or `perturb` without `restarts`.

    Notes
    -----
    After a move only the families it changed are scored again, all their changes in one native
    call. Of moves with the same gain (up to rounding) the first is made: additions before removals
    before reversals, then by the names of parent and child. So the result does not depend on the
    order of columns or rows. A "local optimum" is a structure that no single move improves.

    References
    ----------
    .. [1] Jensen and Nielsen (2007). "Bayesian Networks and Decision Graphs", 2nd edition,
       Algorithm 7.2.
    .. [2] Chow and Liu (1968). "Approximating discrete probability distributions with dependence
       trees." IEEE Transactions on Information Theory 14(3), 462-467.

    Examples
    --------
    >>> from bestdag import learn
    >>> from bestdag.examples import example
    >>> result = learn(example("asia.csv"), "bic", search=HillClimb(restarts=3, perturb=4))
    >>> result.status, result.trace[0].move
    ('local optimum', 'add bronc -> dysp')
    """

    name: ClassVar[str] = "hill_climb"

    start_from: Literal["empty", "random", "tree"] | Dag = setting(
        "empty", "First structure: empty, random, tree, or a network file.", load="structure"
    )
    reinsert: bool = setting(True, "Escape local optima by reinserting variables.")
    restarts: int = setting(0, "Number of restarts.")
    perturb: int = setting(0, "Number of random moves from the best structure at each restart.")
    candidates: int | None = setting(
        None, "Number of candidate parents per variable, the best single ones."
    )
    max_steps: int | None = setting(None, "Maximum number of moves.")

    def __post_init__(self) -> None:
        require_start("hill_climb", self.start_from, *STARTS)
        require_count("hill_climb", "restarts", self.restarts)
        require_count("hill_climb", "perturb", self.perturb)
        if self.perturb and not self.restarts:
            raise InvalidParameterError(
                f"hill_climb: {arg('perturb')} is for restarts, got {arg('perturb', self.perturb)} "
                f"without restarts; set {arg('restarts')} to how often the best structure is "
                "perturbed"
            )
        require_flag("hill_climb", "reinsert", self.reinsert)
        require_limits("hill_climb", self.candidates, self.max_steps)

    def steps(self, problem: Problem) -> Steps:
        """Climb from the start, and from each restart."""
        walk = yield from begun_walk(self, problem, start_from=self.start_from)
        yield from self._ascend(walk)
        for number in range(1, self.restarts + 1):
            yield from self._restart(walk, number)
            yield from self._ascend(walk)

    def independent(self) -> Sequence[Search]:
        """List climbs that do not depend on each other: one for the start and for each restart."""
        # Restarts from the best so far, and a number of steps for all of them, do.
        if self.perturb or self.max_steps is not None:
            return [self]
        return [_OneClimb(self, number) for number in range(self.restarts + 1)]

    def _restart(self, walk: Walk, number: int) -> Iterator[Event]:
        if self.perturb:
            yield from walk.return_to_best()
            moves = Draws(walk, number).scramble(self.perturb)
            yield from walk.jump(moves, f"restart {number}: {len(moves)} random moves")
        else:
            parents = random_parents(walk, number)
            yield from walk.go_to(parents, f"restart {number}: a random structure")

    def _ascend(self, walk: Walk) -> Steps:
        yield from ascend(walk)
        if self.reinsert:
            yield from Reinsertion(walk).run()


@dataclass(frozen=True, slots=True)
class _OneClimb:
    """The climb from the start, number 0, or from the random structure of a restart."""

    settings: HillClimb
    number: int

    @property
    def name(self) -> str:
        return self.settings.name

    def steps(self, problem: Problem) -> Steps:
        settings = self.settings
        walk = yield from begun_walk(settings, problem, start_from=settings.start_from)
        if self.number:
            yield from settings._restart(walk, self.number)
        yield from settings._ascend(walk)
