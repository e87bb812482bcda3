"""Missing values as a table is read: the strategies, and what is said about them.

A strategy decides from counts alone, so that rows may be in memory, on disk or on a cluster.
Strategies that learn from what is missing are in `bestdag.incomplete`; they read with "keep".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from bestdag.data.checks import code_type
from bestdag.data.dataset import Dataset
from bestdag.data.schema import MISSING_STATE, Variable
from bestdag.data.warnings import as_marks, missing_text, shown_counts, warn
from bestdag.errors import DataError
from bestdag.wording import arg, by_reader

if TYPE_CHECKING:
    from bestdag.data.settings import ReadOptions

__all__ = [
    "STRATEGIES",
    "MissingStrategy",
    "MissingValues",
    "complete_rows",
    "missing_in_words",
    "recoding",
]

# Dropping rows leaves at least one in so many, unless `allow_few_rows` is set.
_LEAST_PART = 3


@dataclass(frozen=True, slots=True)
class MissingValues:
    """What a strategy sees: missing values by column, rows before and after it, likely marks."""

    counts: Mapping[str, int]
    n_rows: int
    n_left: int
    marks: Mapping[str, int]


class MissingStrategy(Protocol):
    """What becomes of missing values as a table is read.

    It sees counts alone, never rows: so one strategy serves memory, disk and cluster.

    Attributes
    ----------
    name : str
        What ``missing=`` is called by.
    drops_rows : bool
        Rows with a missing value are left out.
    makes_state : bool
        The code of a missing value becomes that of the last state.
    """

    name: ClassVar[str]
    drops_rows: ClassVar[bool]
    makes_state: ClassVar[bool]

    def check(self, missing: MissingValues, options: ReadOptions) -> None:
        """Refuse the missing values of a table that has some, or warn of what is done."""
        ...

    def variable(
        self, variable: Variable, shown: npt.NDArray[Any], is_fixed: bool, options: ReadOptions
    ) -> Variable:
        """Return what a variable becomes, by the rows left that show each code.

        The last code is that of missing values. A variable that `is_fixed` keeps its states.
        """
        ...


class _Keep:
    """Missing values stay missing."""

    name: ClassVar[str] = "keep"
    drops_rows: ClassVar[bool] = False
    makes_state: ClassVar[bool] = False

    def check(self, missing: MissingValues, options: ReadOptions) -> None:
        """Accept them."""

    def variable(
        self, variable: Variable, shown: npt.NDArray[Any], is_fixed: bool, options: ReadOptions
    ) -> Variable:
        """Leave the states as they are."""
        return variable


class _Refuse(_Keep):
    """A table with missing values is refused."""

    name: ClassVar[str] = "error"

    def check(self, missing: MissingValues, options: ReadOptions) -> None:
        """Say which columns have some and what may be done; other texts may mark them too."""
        who, what = f"read: {options.source}", missing_text(missing.counts)
        how = f"pass {arg('missing', 'drop')} to leave out their rows"
        if not options.states.keys() >= missing.counts.keys():
            drop, state, keep = (arg("missing", name) for name in ("drop", "state", "keep"))
            ways = by_reader(f"{drop}, {state} or {keep}", f"{drop} or {state}")
            how = f"pass {ways}, or leave the columns out with {arg('drop')}"
        also = ""
        if missing.marks:
            cells = " and ".join(f"{n:,} {mark!r}" for mark, n in missing.marks.items())
            also = f"; {cells} may mark missing values too: pass {as_marks(missing.marks, options)}"
        raise DataError(f"{who}: {what}; {how}{also}")


class _DropRows(_Keep):
    """Rows with missing values are left out."""

    name: ClassVar[str] = "drop"
    drops_rows: ClassVar[bool] = True

    def check(self, missing: MissingValues, options: ReadOptions) -> None:
        """Refuse to drop all rows or, unless that was allowed, most of them; else say how many."""
        who, n_rows, n_left = f"read: {options.source}", missing.n_rows, missing.n_left
        if n_left == 0:
            raise DataError(f"{who}: every row has a missing value, so none would be left")
        if not options.allow_few_rows and n_left * _LEAST_PART < n_rows:
            worst = sorted(missing.counts.items(), key=lambda column: -column[1])
            shown = shown_counts({name: f"{n:,}" for name, n in worst})
            raise DataError(
                f"{who}: {n_left:,} of {n_rows:,} rows have no missing values, less than a third; "
                f"most are missing in {shown}: {arg('drop')} such columns, use "
                f"{arg('missing', 'state')}, or pass {arg('allow_few_rows', True)} to continue"
            )
        warn(f"{who}: dropped {n_rows - n_left:,} of {n_rows:,} rows with missing values")

    def variable(
        self, variable: Variable, shown: npt.NDArray[Any], is_fixed: bool, options: ReadOptions
    ) -> Variable:
        """Leave out states that no row shows any more, unless they were declared."""
        seen = shown[: variable.arity] > 0
        if is_fixed or seen.all():
            return variable
        return Variable(variable.name, tuple(np.array(variable.states, object)[seen]))


class _MissingState(_Keep):
    """Columns with missing values get a last state for them."""

    name: ClassVar[str] = "state"
    makes_state: ClassVar[bool] = True

    def variable(
        self, variable: Variable, shown: npt.NDArray[Any], is_fixed: bool, options: ReadOptions
    ) -> Variable:
        """Return the variable with that state, which may have been declared."""
        if not shown[variable.arity]:
            return variable
        if variable.name in options.states and variable.states[-1] == MISSING_STATE:
            return variable
        if MISSING_STATE in variable.states:
            raise DataError(
                f"read: {options.source}: column {variable.name!r} already has a state called "
                f"{MISSING_STATE!r} beside its missing values; pass "
                f"{as_marks([MISSING_STATE], options)}"
            )
        return Variable(variable.name, (*variable.states, MISSING_STATE), variable.cuts)


# The list: one entry for each strategy.
STRATEGIES: dict[str, MissingStrategy] = {
    strategy.name: strategy for strategy in (_Refuse(), _DropRows(), _MissingState(), _Keep())
}


def recoding(
    old: Variable, new: Variable, has_missing: bool, strategy: MissingStrategy
) -> npt.NDArray[Any] | None:
    """Return the new code of each old one, the missing value's last; None if all stay."""
    place = {state: code for code, state in enumerate(new.states)}
    codes = [place.get(state, new.arity) for state in old.states]
    table = np.array([*codes, new.arity - (strategy.makes_state and has_missing)])
    kind = code_type(new.arity)
    if kind is code_type(old.arity) and np.array_equal(table, np.arange(len(table))):
        return None
    return table.astype(kind)


def complete_rows(data: Dataset) -> npt.NDArray[np.bool_]:
    """Which rows have no missing value.

    Examples
    --------
    >>> data = Dataset([Variable("a", ("x", "y"))], [np.array([0, 2, 1])])
    >>> complete_rows(data).tolist()
    [True, False, True]
    """
    complete = np.ones(data.n_rows, dtype=np.bool_)
    for name in data.missing_counts:
        complete &= ~data.missing(name)
    return complete


def missing_in_words(data: Dataset) -> str:
    """Say which columns have missing values, and how many; there must be some.

    Examples
    --------
    >>> missing_in_words(Dataset([Variable("a", ("x", "y"))], [np.array([0, 2, 1])]))
    "column 'a' has 1 missing value"
    """
    return missing_text(data.missing_counts)
