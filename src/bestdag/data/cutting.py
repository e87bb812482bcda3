"""Which columns of a table are cut, and the cutting: one column at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.data.checks import as_weights
from bestdag.data.discretization.base import Method
from bestdag.data.discretization.cuts import cut_codes, cut_variable
from bestdag.data.encode import ReadOptions, coded_column
from bestdag.data.number_columns import kept_values
from bestdag.data.raw import RawColumn, RawTable
from bestdag.data.schema import DEFAULT_MAX_VALUES, Variable
from bestdag.data.settle import warn_of_number_marks
from bestdag.data.suspects import number_marks
from bestdag.errors import DataError, InvalidParameterError, unknown_name

__all__ = ["Cutter"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cutter:
    """What `discretize` does to the columns of a table.

    `cut` names the columns that the method cuts; None leaves the choice to the rule: columns
    of numbers that `kept_values` does not keep. `given` holds
    the variables whose cut points are known; with `may_lack` some need not be in the table.
    """

    method: Method | None = None
    target: str | None = None
    cut: frozenset[str] | None = None
    given: Mapping[str, Variable] = field(default_factory=dict)
    max_values: int = DEFAULT_MAX_VALUES
    may_lack: bool = False

    def columns(
        self, table: RawTable, options: ReadOptions
    ) -> tuple[list[RawColumn], tuple[str, ...]]:
        """Return the columns, cut or as they are, and the names of those that are cut."""
        names = table.names
        self._require_names(names, options)
        is_cut = {name: self._is_cut(table, name, options) for name in names}
        cut = tuple(name for name in names if is_cut[name])
        whole = [name for name in names if not is_cut[name]]
        made = {column.name: column for column in table.discrete(whole)}
        for name in [name for name in whole if name in self.given]:  # holds the states themselves
            made[name] = replace(made[name], variable=self.given[name])
        counted: dict[str, Any] = {}
        rows = None
        if any(name not in self.given for name in cut):
            rows = self._complete_rows(table, is_cut, made, options)
            counted = self._counted(made, table.weights(), rows, options)
        made |= {name: self._cut(table, name, rows, counted) for name in cut}
        chosen = [name for name in cut if name not in self.given]
        marked = {name: number_marks(table.numbers(name).values) for name in chosen}
        warn_of_number_marks({name: found for name, found in marked.items() if found}, options)
        return [made[name] for name in names], cut

    def _require_names(self, names: Sequence[str], options: ReadOptions) -> None:
        who = f"discretize: {options.source}"
        asked = [
            *sorted(self.cut or ()),
            *(n for n in self.given if n in names or not self.may_lack),
        ]
        for name in [self.target, *asked] if self.target is not None else asked:
            if name not in names:
                raise unknown_name("column", name, names, who=who)
        if self.target in asked:
            raise InvalidParameterError(
                f"{who}: the target {self.target!r} cannot be binned itself"
            )

    def _is_cut(self, table: RawTable, name: str, options: ReadOptions) -> bool:
        asked = name in self.given or name in (self.cut or ())
        if not asked and (
            self.cut is not None
            or name == self.target
            or name in options.states
            or table.has_declared_states(name)
        ):
            return False
        found = table.numbers(name)
        if found.wrong is None:
            kept = kept_values(found.values, self.max_values, options.max_states)
            return asked or kept is None
        row, cell = found.wrong
        has_states = name in options.states and name in self.given
        if not asked or (has_states and cell in self.given[name].states):
            return False
        raise DataError(
            f"read: {options.source}: column {name!r} must hold numbers to be binned, "
            f"got {cell!r} in row {row + 1:,}"
        )

    def _complete_rows(
        self,
        table: RawTable,
        is_cut: Mapping[str, bool],
        made: Mapping[str, RawColumn],
        options: ReadOptions,
    ) -> npt.NDArray[np.bool_] | None:
        """Which rows will be left, when those with missing values are dropped."""
        if options.missing != "drop":
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
        """Return what a method is told beside the numbers."""
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
        table: RawTable,
        name: str,
        rows: npt.NDArray[np.bool_] | None,
        counted: Mapping[str, Any],
    ) -> RawColumn:
        values = table.numbers(name).values
        if name in self.given:
            variable = self.given[name]
        else:
            assert self.method is not None
            chosen = values if rows is None else values[rows]
            variable = cut_variable(name, self.method.cuts(chosen, **counted).tolist())
        codes = cut_codes(variable, values)
        return RawColumn(name, variable.states, codes, variable.states, variable, owned=True)
