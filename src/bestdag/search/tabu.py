"""Tabu search: hill climbing that goes on past local optima."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from bestdag.errors import require_count, require_flag
from bestdag.graph.dag import Dag
from bestdag.registry import setting
from bestdag.search.climbing.ascent import STARTS, Reinsertion, ascend, begun_walk, require_limits
from bestdag.search.problem import Problem
from bestdag.search.steps import Steps, require_start

__all__ = ["Tabu"]

_LONGEST = 2**31 - 1  # moves, in native code


@dataclass(frozen=True, slots=True, kw_only=True)
class Tabu:
    """Climb, then always take the best move, even one that loses, and do not undo recent ones.

    It begins as `HillClimb` does. From the structure found there it goes on. A pair of variables
    whose arc one of the last moves changed is left alone, unless that leads to a better structure
    than all before.

    Parameters
    ----------
    length : int, default 10
        How many of the last moves are not to be undone.
    patience : int, default 100
        End after so many moves without a better structure.
    reinsert : bool, default True
        As in `HillClimb`, for the climb at the beginning.
    start_from : {"empty", "random", "tree"} or Dag, default "empty"
        As in `HillClimb`.
    candidates, max_steps : int, optional
        As in `HillClimb`.

    Raises
    ------
    InvalidParameterError
        A setting out of range.

    Notes
    -----
    The best structure met is returned. No single move improves it: such a move is made whether
    or not it undoes a recent one.

    References
    ----------
    .. [1] Glover (1989). "Tabu search, part I." ORSA Journal on Computing 1(3), 190-206.
    .. [2] Jensen and Nielsen (2007). "Bayesian Networks and Decision Graphs", 2nd edition,
       Exercise 7.12.

    Examples
    --------
    >>> from bestdag import learn
    >>> from bestdag.examples import example
    >>> result = learn(example("asia.csv"), "bic", search=Tabu())
    >>> result.status, min(step.gain for step in result.trace) < 0
    ('local optimum', True)
    """

    name: ClassVar[str] = "tabu"

    length: int = setting(10, "Length of the tabu list.")
    patience: int = setting(100, "Number of moves without improvement before stopping.")
    reinsert: bool = setting(True, "Escape local optima by reinserting variables.")
    start_from: Literal["empty", "random", "tree"] | Dag = setting(
        "empty", "First structure: empty, random, tree, or a network file.", load="structure"
    )
    candidates: int | None = setting(
        None, "Number of candidate parents per variable, the best single ones."
    )
    max_steps: int | None = setting(None, "Maximum number of moves.")

    def __post_init__(self) -> None:
        require_count("tabu", "length", self.length, minimum=1)
        require_count("tabu", "patience", self.patience, minimum=1)
        require_start("tabu", self.start_from, *STARTS)
        require_flag("tabu", "reinsert", self.reinsert)
        require_limits("tabu", self.candidates, self.max_steps)

    def steps(self, problem: Problem) -> Steps:
        """Climb, and walk on until patience ends."""
        length = min(self.length, _LONGEST)
        walk = yield from begun_walk(self, problem, start_from=self.start_from)
        yield from ascend(walk)
        if self.reinsert:
            yield from Reinsertion(walk).run()
        n_idle = 0
        while n_idle < self.patience:
            best = walk.best_score
            needed = best - walk.score + walk.tie
            move = walk.climb.best(walk.tie, length, needed)
            if move is None or move[3] == float("-inf"):
                return
            yield from walk.make([move])
            n_idle = 0 if walk.best_score > best else n_idle + 1
