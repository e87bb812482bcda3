"""Which numeric columns of a table are cut into intervals, and the cutting: one column at a time.

`read` never cuts: it refuses any column with more than `max_states` values. `discretize` and the
classifiers go by `category_values`, what is proposed instead of a refusal by `is_identifier`. The
page ``docs/guide/number-columns.md`` says both rules in words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.data.checks import as_weights
from bestdag.data.discretization.base import Method
from bestdag.data.discretization.cuts import cut_codes, cut_variable
from bestdag.data.encoder import coded_column
from bestdag.data.schema import DEFAULT_MAX_STATES, DEFAULT_MAX_VALUES, Variable
from bestdag.data.settings import ReadOptions
from bestdag.data.sources.base import RawColumn
from bestdag.data.table import Table
from bestdag.data.warnings import number_marks, warn_of_number_marks
from bestdag.errors import DataError, InvalidParameterError, unknown_name

__all__ = ["Cutter", "category_values", "is_identifier"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cutter:
    """What `discretize` does to the columns of a table.

    `cut` names the columns that the method cuts; None leaves the choice to the rule: columns
    of numbers that `category_values` does not keep. `known` holds
    the variables whose cut points are known; with `may_lack` some need not be in the table.
    """

    method: Method | None = None
    target: str | None = None
    cut: frozenset[str] | None = None
    known: Mapping[str, Variable] = field(default_factory=dict)
    max_values: int = DEFAULT_MAX_VALUES
    may_lack: bool = False

    def columns(
        self, table: Table, options: ReadOptions
    ) -> tuple[list[RawColumn], tuple[str, ...]]:
        """Return the columns, cut or as they are, and the names of the cut ones."""
        names = table.names
        self._require_names(names, options)
        is_cut = {name: self._is_cut(table, name, options) for name in names}
        cut = tuple(name for name in names if is_cut[name])
        whole = [name for name in names if not is_cut[name]]
        made = {column.name: column for column in table.discrete(whole)}
        for name in [name for name in whole if name in self.known]:  # holds the states themselves
            made[name] = replace(made[name], variable=self.known[name])
        counted: dict[str, Any] = {}
        rows = None
        if any(name not in self.known for name in cut):
            rows = self._complete_rows(table, is_cut, made, options)
            counted = self._counted(made, table.weights(), rows, options)
        made |= {name: self._cut(table, name, rows, counted) for name in cut}
        chosen = [name for name in cut if name not in self.known]
        marked = {name: number_marks(table.numbers(name).values) for name in chosen}
        warn_of_number_marks({name: marks for name, marks in marked.items() if marks}, options)
        return [made[name] for name in names], cut

    def _require_names(self, names: Sequence[str], options: ReadOptions) -> None:
        who = f"discretize: {options.source}"
        named = [
            *sorted(self.cut or ()),
            *(n for n in self.known if n in names or not self.may_lack),
        ]
        for name in [self.target, *named] if self.target is not None else named:
            if name not in names:
                raise unknown_name("column", name, names, who=who)
        if self.target in named:
            raise InvalidParameterError(
                f"{who}: the target {self.target!r} cannot be binned itself"
            )

    def _is_cut(self, table: Table, name: str, options: ReadOptions) -> bool:
        is_named = name in self.known or name in (self.cut or ())
        if not is_named and (
            self.cut is not None
            or name == self.target
            or name in options.states
            or table.has_declared_states(name)
        ):
            return False
        numbers = table.numbers(name)
        if numbers.wrong is None:
            categories = category_values(numbers.values, self.max_values, options.max_states)
            return is_named or categories is None
        row, cell = numbers.wrong
        has_states = name in options.states and name in self.known
        if not is_named or (has_states and cell in self.known[name].states):
            return False
        raise DataError(
            f"read: {options.source}: column {name!r} must hold numbers to be binned, "
            f"got {cell!r} in row {row + 1:,}"
        )

    def _complete_rows(
        self,
        table: Table,
        is_cut: Mapping[str, bool],
        made: Mapping[str, RawColumn],
        options: ReadOptions,
    ) -> npt.NDArray[np.bool_] | None:
        """Which rows will be left, when those with missing values are dropped."""
        if not options.missing.drops_rows:
            return None
        complete: npt.NDArray[np.bool_] | None = None
        for name, cut in is_cut.items():
            if cut:
                present = ~np.isnan(table.numbers(name).values)
            else:
                variable, codes = coded_column(made[name], options)
                present = codes != variable.arity
            complete = present if complete is None else complete & present
        return complete

    def _counted(
        self,
        made: Mapping[str, RawColumn],
        weights: npt.NDArray[Any] | None,
        rows: npt.NDArray[np.bool_] | None,
        options: ReadOptions,
    ) -> dict[str, Any]:
        """Return the weights and the target's codes, as a method takes them."""
        counted: dict[str, Any] = {}
        if weights is not None:
            checked = as_weights(weights, who=f"read: {options.source}")
            counted["weights"] = checked if rows is None else checked[rows]
        if self.method is not None and self.method.needs_target and self.target is not None:
            variable, codes = coded_column(made[self.target], options)
            counted["target_codes"] = codes if rows is None else codes[rows]
            counted["n_classes"] = variable.arity
        return counted

    def _cut(
        self,
        table: Table,
        name: str,
        rows: npt.NDArray[np.bool_] | None,
        counted: Mapping[str, Any],
    ) -> RawColumn:
        values = table.numbers(name).values
        if name in self.known:
            variable = self.known[name]
        else:
            assert self.method is not None
            chosen = values if rows is None else values[rows]
            variable = cut_variable(name, self.method.cuts(chosen, **counted).tolist())
        codes = cut_codes(variable, values)
        return RawColumn(name, variable.states, codes, variable.states, variable, owned=True)


# Values that span less than this are counted in an array.
_MAX_SPAN = 1 << 20
# Whole floats beyond this are not all there: what is so long is no quantity.
_MAX_WHOLE = 2.0**53
# Six digits: of the quantities in the UCI tables, those whose values differ in half of the rows
# have at most four, identifiers and weights six and more.
_LONG = 100_000
# Nearly all differ, in enough rows for that to say something.
_MOST_DIFFER, _LEAST_ROWS = 0.95, 200
# All differ although so many of as many draws from their range would repeat another.
_LEAST_REPEATS = 3


def category_values(
    values: npt.NDArray[np.float64],
    max_values: int = DEFAULT_MAX_VALUES,
    max_states: int = DEFAULT_MAX_STATES,
) -> list[int] | None:
    """Return the different values of a numeric column that keeps them as states; None if it is cut.

    They are kept when all are whole, and at most `max_values` and `max_states`. NaN is a missing
    cell; infinite values are not whole; a column without values has none to keep.

    Examples
    --------
    >>> category_values(np.array([3.0, 1.0, np.nan, 3.0]))
    [1, 3]
    >>> category_values(np.array([3.0, 1.5])) is None
    True
    >>> category_values(np.arange(21.0)) is None
    True
    """
    present = values[~np.isnan(values)]
    if len(present) == 0:
        return None
    low, high = float(present.min()), float(present.max())
    if not (np.isfinite(low) and np.isfinite(high)) or (present != np.floor(present)).any():
        return None
    if high - low >= _MAX_SPAN:
        distinct = np.unique(present)
    else:
        is_there = np.zeros(int(high - low) + 1, np.bool_)
        is_there[(present - low).astype(np.intp)] = True
        distinct = low + np.flatnonzero(is_there).astype(np.float64)
    return (
        [int(value) for value in distinct] if len(distinct) <= min(max_values, max_states) else None
    )


def is_identifier(n_values: int, n_present: int, low: float, high: float) -> bool:
    """Whether whole numbers are an identifier or a weight by their look, not a quantity.

    Parameters
    ----------
    n_values, n_present : int
        How many different numbers there are, in how many rows.
    low, high : float
        The least and the greatest.

    Examples
    --------
    Sample codes, weights of a census and numbers of rows, but no cholesterol and no price.

    >>> is_identifier(645, 699, 61_634, 13_454_352), is_identifier(21_648, 32_561, 12_285, 1.5e6)
    (True, True)
    >>> is_identifier(214, 214, 1, 214)
    True
    >>> is_identifier(152, 303, 126, 564), is_identifier(921, 1000, 250, 18_424)
    (False, False)
    """
    if n_present == 0 or not (np.isfinite(low) and np.isfinite(high)):
        return False
    share, largest = n_values / n_present, max(abs(low), abs(high))
    if largest > _MAX_WHOLE or (share >= 0.5 and largest >= _LONG):
        return True
    if share >= _MOST_DIFFER and n_present >= _LEAST_ROWS:
        return True
    expected = n_present * (n_present - 1) / (2 * (high - low + 1))
    return n_values == n_present and expected >= _LEAST_REPEATS
