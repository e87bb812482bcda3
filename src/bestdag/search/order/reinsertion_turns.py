"""Cutting variables of the best structure loose and climbing again, in turns with other rounds."""

from __future__ import annotations

from typing import Any

from bestdag.search.climbing.ascent import Reinsertion
from bestdag.search.climbing.walk import Walk
from bestdag.search.feasible import Parents
from bestdag.search.problem import SearchEnd
from bestdag.search.ties import is_better

__all__ = ["ReinsertionTurns"]

# This share of the variables is reinserted in a turn, again and again while each of them raises the
# score by more than such a share on average. After that so many variables are reinserted in one of
# three rounds; in one of nine, when that gained less than half of what the search over orders did
# of late. Where it gains more than a third of that, which takes three times as long, it has up to
# so many turns in a row.
_SHARE_REINSERTED, _STEEP, _REINSERTIONS = 0.125, 4e-7, 50
_TURN_OF, _RARE_TURN_OF, _WORTH = 3, 9, 0.5
_IN_A_ROW, _WORTH_MORE = 4, 1 / 3

_PLAIN = ("_gains", "_n_more", "_is_steep")


class ReinsertionTurns:
    """Reinsertion of variables, some in each turn, and whether it has the next one.

    Parameters
    ----------
    walk : Walk
        At a local optimum; it remembers its best structure.
    """

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self._reinsertion = Reinsertion(walk)
        self._gains = {"orders": 0.0, "reinsert": 0.0}  # of a turn, the last ones
        self._n_more = 0  # turns that come next
        self._is_steep = True  # whether it comes before all else

    def has_turn(self, n_rounds: int) -> bool:
        """Say whether the round of this number is a turn of it."""
        is_worth_it = self._gains["reinsert"] >= _WORTH * self._gains["orders"]
        every = _TURN_OF if is_worth_it else _RARE_TURN_OF
        return self._is_steep or self._n_more > 0 or n_rounds % every == 0

    def run(self, parents: Parents, score: float) -> None:
        """Cut some variables of the best structure loose, and climb again, while there is time."""
        try:
            if is_better(score, self._walk.best_score):
                self._reinsertion.go_to(parents)
            self._reinsertion.run(self._n_cuts)
        except SearchEnd:
            pass

    @property
    def best_score(self) -> float:
        """Score of the best structure that it came to."""
        return self._walk.best_score

    def best_parents(self) -> Parents:
        """Return the parents of every variable in that structure."""
        home = self._reinsertion.home  # which is the best, unless time ended on the way to it
        is_home = home.score == self._walk.best_score
        return home.parents if is_home else self._walk.best_parents()

    def take_gain(self, gain: float, score: float) -> None:
        """Note what a turn gained, at the score of the best structure now."""
        self._gains["reinsert"] = gain
        self._n_more = (self._n_more or _IN_A_ROW) - 1
        if gain <= _WORTH_MORE * self._gains["orders"]:
            self._n_more = 0
        self._is_steep = gain > self._n_cuts * _STEEP * abs(score)

    def take_gain_of_orders(self, gain: float) -> None:
        """Note what a round of search over orders gained."""
        self._gains["orders"] += 0.5 * (gain - self._gains["orders"])

    @property
    def _n_cuts(self) -> int:
        """Of one turn."""
        many = int(_SHARE_REINSERTED * len(self._walk.base)) if self._is_steep else 0
        return max(_REINSERTIONS, many)

    def state(self) -> dict[str, Any]:
        """Return where it is between two turns."""
        return {
            **{name: getattr(self, name) for name in _PLAIN},
            "walk": self._walk.state(),
            "cuts": self._reinsertion.state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state; the walk is there already."""
        for name in _PLAIN:
            setattr(self, name, state[name])
        self._reinsertion.restore(state["cuts"])
