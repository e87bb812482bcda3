"""What a column is: its name and its ordered states."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, field

from bestdag.errors import DataError, unknown_name

__all__ = ["DEFAULT_MAX_STATES", "DEFAULT_MAX_VALUES", "MAX_ARITY", "MISSING_STATE", "Variable"]

# Codes are at most 16 bits wide and one code is kept for missing values.
MAX_ARITY = 65_535
# A column with more distinct values than this is refused unless the limit is raised.
DEFAULT_MAX_STATES = 50
# A numeric column with more distinct values than this is cut, where numbers are cut.
DEFAULT_MAX_VALUES = 20
# What a state that stands for missing values is called.
MISSING_STATE = "missing"


@dataclass(frozen=True, slots=True)
class Variable:
    """A discrete variable: a name and its states, in order.

    Parameters
    ----------
    name : str
        Column name; any text.
    states : tuple of str
        At least one state, all different. States are text, also when they look like numbers.
    cuts : tuple of float, optional
        For a variable made from a number column: the ascending cut points, one fewer than
        there are states, not counting a last state ``missing``. A value x belongs to state
        number (how many cuts are < x).

    Attributes
    ----------
    arity : int
        Number of states, seen in the data or not.

    Examples
    --------
    >>> smoke = Variable("smoke", ("no", "yes"))
    >>> smoke.arity, smoke.code("yes")
    (2, 1)
    """

    name: str
    states: tuple[str, ...]
    cuts: tuple[float, ...] | None = field(default=None)
    arity: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise DataError(f"variable: a name must be text, got {self.name!r}")
        object.__setattr__(self, "states", tuple(self.states))
        object.__setattr__(self, "arity", len(self.states))
        bad = [state for state in self.states if not isinstance(state, str)]
        if bad:
            raise DataError(f"variable {self.name!r}: states must be text, got {bad[0]!r}")
        if not 1 <= len(self.states) <= MAX_ARITY:
            raise DataError(
                f"variable {self.name!r}: between 1 and {MAX_ARITY:,} states are possible, "
                f"got {len(self.states):,}"
            )
        if len(set(self.states)) != len(self.states):
            seen: set[str] = set()
            twice = next(s for s in self.states if s in seen or seen.add(s))  # type: ignore[func-returns-value]
            raise DataError(f"variable {self.name!r}: state {twice!r} is listed twice")
        if self.cuts is not None and not self._fits(len(self.cuts)):
            raise DataError(
                f"variable {self.name!r}: {len(self.states)} states need "
                f"{len(self.states) - 1} cut points, got {len(self.cuts)}"
            )
        if self.cuts and not (
            all(map(math.isfinite, self.cuts)) and all(map(operator.lt, self.cuts, self.cuts[1:]))
        ):
            raise DataError(
                f"variable {self.name!r}: cut points must be finite and ascending, "
                f"got {self.cuts!r:.60}"
            )

    def _fits(self, n_cuts: int) -> bool:
        n_missing = 1 if len(self.states) > 1 and self.states[-1] == MISSING_STATE else 0
        return len(self.states) - 1 - n_missing <= n_cuts <= len(self.states) - 1

    def code(self, state: str) -> int:
        """Return the position of a state.

        Raises
        ------
        UnknownNameError
            If there is no such state; the message offers the nearest one.
        """
        try:
            return self.states.index(state)
        except ValueError:
            raise unknown_name(f"state of {self.name!r}", state, self.states) from None
