"""From what a file says to a Network: what all readers of network files share."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.data.schema import Variable
from bestdag.errors import CycleError
from bestdag.graph.dag import Dag
from bestdag.machine import require_memory
from bestdag.network.exact_names import Fail, Note, restored_variable, sorted_notes
from bestdag.network.network import Network
from bestdag.network.scanner import is_bare
from bestdag.network.table import MAX_AXES, ConditionalTable, configuration_text, wrong_row
from bestdag.wording import count_of

__all__ = ["Builder", "Declared", "all_rows", "dense_table", "table_of_all_rows"]


_MANY = 1 << 16  # numbers for which memory is asked for


@dataclass(frozen=True, slots=True)
class States:
    """States as they stand in rows of tables; variables with the same ones share this."""

    written: tuple[str, ...]
    codes: Mapping[str, int]
    bare_codes: Mapping[str, int]  # of the states that may stand unquoted

    @classmethod
    def of(cls, written: tuple[str, ...]) -> States:
        """Give each state its code."""
        codes = {state: code for code, state in enumerate(written)}
        bare = {state: code for state, code in codes.items() if is_bare(state)}
        return cls(written, codes, codes if len(bare) == len(codes) else bare)


@dataclass(slots=True)
class Declared:
    """A variable and what was said of it so far."""

    variable: Variable
    states: States
    position: Any
    properties: list[str] | None  # None where there are none: most variables have no list
    table: ConditionalTable | None = None

    def note(self, text: str) -> None:
        """Add a property."""
        if self.properties is None:
            self.properties = []
        self.properties.append(text)


class Builder:
    """Collects variables and tables; `fail` raises the error for a place in the file.

    Parameters
    ----------
    fail : Fail
        Takes a place, as the reader writes it, and what is wrong there.
    block : str
        What the file calls the thing that holds a table.
    """

    def __init__(self, fail: Fail, block: str) -> None:
        self.fail = fail
        self.name = "unknown"
        self.properties: list[str] = []
        self._block = block
        self._declared: dict[str, Declared] = {}  # by the names in the file
        self._states: dict[tuple[str, ...], States] = {}
        self._renamed: set[str] = set()  # names that are others than in the file
        self._tables: list[ConditionalTable] = []  # in the order of the file
        self._places: list[Any] = []  # of these

    def require_new(self, name: str, position: Any) -> None:
        """Refuse a second variable of one name."""
        if name in self._declared:
            self.fail(position, f"variable {name!r} is declared twice")

    def declare(
        self,
        name: str,
        states: Sequence[str],
        notes: Iterable[Note],
        position: Any,
        in_rows: Sequence[str] | None = None,
    ) -> Declared:
        """Add a variable; `notes` are its properties, and what our writer kept beside it.

        Rows of tables call its states by their names, or as `in_rows` says.
        """
        self.require_new(name, position)
        own, properties = sorted_notes(self.fail, notes, name)
        listed = self._shared(states).written
        variable = restored_variable(self.fail, name, listed, own, position)
        if self._has(variable.name):
            self.fail(position, f"variable {variable.name!r} is declared twice")
        if variable.name != name:
            self._renamed.add(variable.name)
        shared = self._shared(listed if in_rows is None else in_rows)
        made = Declared(variable, shared, position, properties or None)
        self._declared[name] = made
        return made

    def _shared(self, written: Sequence[str]) -> States:
        key = tuple(written)
        states = self._states.get(key)
        if states is None:
            states = self._states[key] = States.of(key)
        return states

    def _has(self, name: str) -> bool:
        """Whether a variable has this name, be it in the file or restored."""
        same = self._declared.get(name)
        return name in self._renamed or (same is not None and same.variable.name == name)

    def child(self, name: str, position: Any) -> Declared:
        """Find the variable that a table is for, which has none so far."""
        declared = self._known(name, position)
        if declared.table is not None:
            self.fail(position, f"variable {name!r} has two {self._block}s")
        return declared

    def parents(self, child: str, names: Iterable[tuple[str, Any]]) -> list[Declared]:
        """Find the parents in a table, none of them twice."""
        seen = {child}
        parents = []
        for name, position in names:
            parents.append(self._known(name, position))
            if name in seen:
                self.fail(position, f"{name!r} is listed twice in one {self._block.split()[-1]}")
            seen.add(name)
        return parents

    def place(self, child: Declared, table: ConditionalTable, position: Any) -> None:
        """Give a variable its table."""
        child.table, child.position = table, None  # its own place is needed no more
        self._tables.append(table)
        self._places.append(position)

    def network(self, order: Sequence[int] | None = None) -> Network:
        """Return the network, its variables as declared or in another order; only once.

        What was declared is given up first: a file may have millions of variables.
        """
        tables = []
        for declared in self._declared.values():
            if declared.table is None:
                shown = repr(declared.variable.name)
                self.fail(declared.position, f"variable {shown} has no {self._block} in this file")
            tables.append(declared.table)
        every = self._declared.values()
        notes = {each.variable.name: each.properties for each in every if each.properties}
        del every
        self._declared, self._renamed = {}, set()
        listed = tables if order is None else [tables[place] for place in order]
        try:
            return Network(
                listed, name=self.name, properties=self.properties, variable_properties=notes
            )
        except CycleError as error:
            self.fail(self._closing_block(tables), str(error))

    @property
    def is_empty(self) -> bool:
        """Whether no variable was declared."""
        return not self._declared

    def knows(self, names: Iterable[str]) -> bool:
        """Whether all these were declared, by their names in the file."""
        return all(name in self._declared for name in names)

    @property
    def n_variables(self) -> int:
        """How many variables were declared."""
        return len(self._declared)

    def _known(self, name: str, position: Any) -> Declared:
        if name not in self._declared:
            self.fail(position, f"variable {name!r} is not declared above this line")
        return self._declared[name]

    def _closing_block(self, tables: list[ConditionalTable]) -> Any:
        """Where the first table stands that closes a cycle with the tables before it."""
        parents = {table.child.name: [p.name for p in table.parents] for table in tables}

        def has_cycle(n_blocks: int) -> bool:
            children = [table.child.name for table in self._tables[:n_blocks]]
            arcs = [(p, child) for child in children for p in parents[child]]
            try:
                Dag(parents, arcs)
            except CycleError:
                return True
            return False

        first = bisect.bisect_left(range(len(self._tables)), True, key=has_cycle)
        return self._places[first - 1]


def dense_table(
    fail: Fail,
    child: Variable,
    parents: Sequence[Declared],
    numbers: npt.NDArray[np.float64],
    position: Any,
    *,
    is_first_fastest: bool = False,
) -> ConditionalTable:
    """Make a table of all its numbers, those of one configuration together.

    The last parent runs fastest, or the first one.
    """
    variables = [parent.variable for parent in parents]
    shape = [variable.arity for variable in variables]
    n_needed = prod(shape) * child.arity
    if len(numbers) != n_needed:
        fail(
            position,
            f"values of {child.name!r}: {count_of(n_needed, 'number')} needed here, "
            f"got {len(numbers):,}",
        )
    if n_needed >= _MANY:
        who = f"table of {child.name!r}"
        require_memory(who, f"{n_needed:,} numbers", 24 * n_needed, "use a smaller network")
    if is_first_fastest and len(shape) < MAX_AXES:
        turned = numbers.reshape(*shape[::-1], child.arity)
        n_parents = len(shape)
        numbers = turned.transpose(*range(n_parents)[::-1], n_parents).reshape(-1)
    rows = numbers.reshape(-1, child.arity)
    wrong = wrong_row(rows)
    if wrong is not None:
        place = configuration_text(variables, wrong[0])
        fail(position, f"values of {child.name!r}{place} {wrong[1]}")
    return table_of_all_rows(child, variables, rows)


def table_of_all_rows(
    child: Variable, parents: Sequence[Variable], rows: npt.NDArray[np.float64]
) -> ConditionalTable:
    """Make a table of a row for each configuration, the last parent running fastest."""
    shape = [parent.arity for parent in parents]
    if len(shape) < MAX_AXES:
        return ConditionalTable(child, parents, rows.reshape(*shape, child.arity))
    # So many parents that an array has no axes for them; most have one state.
    codes = np.zeros((len(rows), len(shape)), dtype=np.int64)
    rest = np.arange(len(rows))
    for axis in reversed(range(len(shape))):
        rest, codes[:, axis] = np.divmod(rest, shape[axis])
    return ConditionalTable.of_rows(child, parents, codes[1:], rows[1:], rows[0])


def all_rows(table: ConditionalTable) -> npt.NDArray[np.float64]:
    """Return the rows of a table for every configuration, the last parent running fastest."""
    if len(table.parents) < MAX_AXES:
        return table.rows
    assert table.sparse is not None
    n_rows = table.n_configurations
    who = f"table of {table.child.name!r}"
    n_bytes = min(16 * n_rows * table.child.arity, 1 << 100)
    require_memory(who, "writing out all rows", n_bytes, "use .bif or .json")
    rows = np.empty((n_rows, table.child.arity))
    rows[...] = table.sparse.default
    places = np.zeros(table.sparse.n_listed, dtype=np.int64)
    for axis, parent in enumerate(table.parents):
        places = places * parent.arity + table.sparse.configurations[:, axis]
    rows[places] = table.sparse.rows[:-1]
    return rows
