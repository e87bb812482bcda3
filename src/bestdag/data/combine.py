"""Tables under one another, and columns under other states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestdag.data.checks import as_weights, code_type
from bestdag.data.schema import Variable
from bestdag.errors import DataError, InvalidParameterError, unknown_name

if TYPE_CHECKING:
    from bestdag.data.dataset import Dataset

__all__ = ["recoded", "stacked"]

_SHOWN_STATES = 6


def stacked(
    parts: Sequence[Dataset],
) -> tuple[tuple[Variable, ...], list[npt.NDArray[Any]], npt.NDArray[Any] | None]:
    """Put the rows of tables with equal variables under one another."""
    for number, part in enumerate(parts, start=1):
        if not hasattr(part, "codes"):
            raise InvalidParameterError(
                f"concat: Datasets are needed, got {type(part).__name__} as number {number}"
            )
    if not parts:
        raise InvalidParameterError("concat: at least one Dataset is needed, got none")
    first = parts[0]
    for number, part in enumerate(parts[1:], start=2):
        _require_same_variables(first, part, number)
    weights = None
    if any(part.weights is not None for part in parts):
        each = [np.ones(p.n_rows, np.int64) if p.weights is None else p.weights for p in parts]
        weights = as_weights(np.concatenate(each), who="concat")
    columns = [np.concatenate([part.codes(name) for part in parts]) for name in first.names]
    return first.variables, columns, weights


def recoded(
    old: Variable, column: npt.NDArray[Any], states: Sequence[str] | None
) -> tuple[Variable, npt.NDArray[Any]]:
    """Express a column in other states; every state that some row shows must be among them.

    Examples
    --------
    >>> new, codes = recoded(Variable("x", ("a", "b")), np.array([0, 1, 2]), ("b", "c", "a"))
    >>> codes  # the 2 was a missing value, now a 3
    array([2, 0, 3], dtype=uint8)
    """
    if states is None or tuple(states) == old.states:
        return old, column
    new = Variable(old.name, tuple(states))
    place = {state: code for code, state in enumerate(new.states)}
    used = np.bincount(column, minlength=old.arity + 1) > 0
    table = np.full(old.arity + 1, new.arity, dtype=code_type(new.arity))
    for code, state in enumerate(old.states):
        if state in place:
            table[code] = place[state]
        elif used[code]:
            raise unknown_name(f"state of {old.name!r}", state, new.states)
    return new, table[column]


def _require_same_variables(first: Dataset, part: Dataset, number: int) -> None:
    for variable in first.variables:
        if variable.name not in part.arities:
            raise DataError(f"concat: Dataset {number} has no variable {variable.name!r}")
        other = part.variable(variable.name)
        if other.states != variable.states:
            raise DataError(
                f"concat: variable {variable.name!r} has states {_shown(variable)} in the first "
                f"Dataset and {_shown(other)} in Dataset {number}; declare them with with_states"
            )
        if other.cuts != variable.cuts:
            raise DataError(
                f"concat: variable {variable.name!r} has other cut points in Dataset {number} "
                f"than in the first"
            )
    for name in part.names:
        if name not in first.arities:
            raise DataError(f"concat: Dataset {number} has a variable {name!r}, the first has not")


def _shown(variable: Variable) -> str:
    more = ", ..." if variable.arity > _SHOWN_STATES else ""
    return f"({', '.join(map(repr, variable.states[:_SHOWN_STATES]))}{more})"
