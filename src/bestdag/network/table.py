"""One conditional probability table: the distribution of a variable given its parents."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.data.schema import Variable
from bestdag.errors import DataError

__all__ = ["SUM_TOLERANCE", "ConditionalTable", "configuration_text", "wrong_row"]

# Published networks carry rounded numbers: their rows miss 1 by up to 3e-7.
SUM_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class ConditionalTable:
    r"""The distribution of one variable in each configuration of its parents.

    Numbers are kept as they are given, to the last bit: rows that sum to 0.9999999 stay so.

    Parameters
    ----------
    child : Variable
        Whose distribution it is.
    parents : tuple of Variable
        In the order of the axes of `values`; empty for a variable without parents.
    values : array of float64, shape (\*parent arities, child arity)
        Probabilities: finite, at least 0, and each row (last axis) sums to 1 within 1e-6. The
        array is copied and read-only.

    Raises
    ------
    DataError
        When the shape or a value is wrong; the message names the configuration.

    Examples
    --------
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> table = ConditionalTable(wet, (rain,), [[0.9, 0.1], [0.0, 1.0]])
    >>> table.row(rain="yes")
    array([0., 1.])
    >>> ConditionalTable(wet, (rain,), [[0.9, 0.1], [0.3, 0.6]])
    Traceback (most recent call last):
    ...
    bestdag.errors.DataError: table of 'wet': values for rain=yes must sum to 1, got 0.9 (0.3, 0.6)
    """

    child: Variable
    parents: tuple[Variable, ...]
    values: npt.NDArray[np.float64]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parents", tuple(self.parents))
        who = f"table of {self.child.name!r}"
        names = [self.child.name]
        for parent in self.parents:
            if parent.name in names:
                raise DataError(f"{who}: {parent.name!r} is listed twice")
            names.append(parent.name)
        try:
            values = np.array(self.values, dtype=np.float64, order="C")
        except (TypeError, ValueError):
            raise DataError(f"{who}: values must be an array of numbers") from None
        shape = (*(parent.arity for parent in self.parents), self.child.arity)
        if values.shape != shape:
            raise DataError(f"{who}: values must have the shape {shape}, got {values.shape}")
        wrong = wrong_row(values.reshape(-1, self.child.arity))
        if wrong is not None:
            place = configuration_text(self.parents, wrong[0])
            raise DataError(f"{who}: values{place} {wrong[1]}")
        values.flags.writeable = False
        object.__setattr__(self, "values", values)

    @property
    def n_configurations(self) -> int:
        """Number of configurations of the parents; 1 without parents."""
        return math.prod(parent.arity for parent in self.parents)

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: configurations times (arity - 1)."""
        return self.n_configurations * (self.child.arity - 1)

    @property
    def rows(self) -> npt.NDArray[np.float64]:
        """All rows, one per configuration, the last parent running fastest."""
        return self.values.reshape(-1, self.child.arity)

    def row(self, /, **states: str) -> npt.NDArray[np.float64]:
        """Return the distribution in one configuration, given as parent=state."""
        names = tuple(parent.name for parent in self.parents)
        if set(states) != set(names):
            raise DataError(
                f"table of {self.child.name!r}: a state is needed for each of "
                f"{', '.join(names) or 'no parents'}, got {', '.join(states) or 'none'}"
            )
        place = tuple(parent.code(states[parent.name]) for parent in self.parents)
        found: npt.NDArray[np.float64] = self.values[place]
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConditionalTable):
            return NotImplemented
        return (
            self.child == other.child
            and self.parents == other.parents
            and self.values.tobytes() == other.values.tobytes()
        )

    def __hash__(self) -> int:
        return hash((self.child, self.parents, self.values.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:  # a plain pickle would make the array writable
        return ConditionalTable, (self.child, self.parents, self.values)

    def __repr__(self) -> str:
        given = " | " + ", ".join(parent.name for parent in self.parents) if self.parents else ""
        return f"<ConditionalTable: {self.child.name}{given}, {self.n_parameters:,} parameters>"


def wrong_row(rows: npt.NDArray[np.float64]) -> tuple[int, str] | None:
    """Find the first row that is no distribution: its number and what is wrong with it."""
    with np.errstate(over="ignore", invalid="ignore"):
        sums = rows.sum(axis=1)
        off = np.abs(sums - 1.0)
    bad = ~(off <= SUM_TOLERANCE) | ~(rows >= 0).all(axis=1)
    if not bad.any():
        return None
    row = int(np.argmax(bad))
    values = rows[row]
    for value in values[~np.isfinite(values)].tolist():
        return row, f"must be finite numbers, got {value}"
    for value in values[values < 0].tolist():
        return row, f"must be at least 0, got {value}"
    shown = ", ".join(map(repr, values[:6].tolist())) + (", ..." if len(values) > 6 else "")
    return row, f"must sum to 1, got {sums[row]:.10g} ({shown})"


def configuration_text(parents: Sequence[Variable], number: int) -> str:
    """Write a configuration for an error message: ' for a=x, b=y', or nothing.

    Examples
    --------
    >>> two = Variable("a", ("no", "yes")), Variable("b", ("x", "y", "z"))
    >>> configuration_text(two, 5), configuration_text((), 0)
    (' for a=yes, b=z', '')
    """
    parts: list[str] = []
    for parent in reversed(parents):
        number, code = divmod(number, parent.arity)
        pair = (parent.name, parent.states[code])
        parts.append("=".join(text if text.isprintable() else repr(text) for text in pair))
    return " for " + ", ".join(reversed(parts)) if parts else ""
