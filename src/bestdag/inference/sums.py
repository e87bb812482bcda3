"""Sums of products of tables over the missing variables of many rows at once.

A sparse table in which many missing variables meet is never written out. Its configurations fall
into those that are listed and boxes of others: with the list as a tree of codes, first parent
first, a box leaves the tree at some parent, whose code is then none of those that go on. Every
listed configuration and every box is a case of its own, with fewer missing variables and with
one row of the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import log2

import numpy as np
import numpy.typing as npt

from bestdag.factors import Factor, Plan, log_sum_product, plan_elimination
from bestdag.inference.log_tables import LogTables
from bestdag.machine import require_memory

__all__ = ["Sums"]

_Floats = npt.NDArray[np.float64]
_Bools = npt.NDArray[np.bool_]
_Positions = npt.NDArray[np.intp]

# log2 of the cells of the products that rows make together (32 MiB).
_ROOMY = 22
# Cases that are worked out together, and sparse tables that are taken apart inside each other.
_BLOCK_CASES = 1 << 18
_MAX_DEPTH = 3
# The axis of the rows; variables are called by their position.
_ROW = "row"


@dataclass(frozen=True, slots=True, kw_only=False)
class Sums:
    """The sums of rows that miss the same variables.

    Attributes
    ----------
    tables : LogTables
    families : tuple of int
        The tables that are multiplied.
    summed : frozenset of int
        The variables summed over.
    codes : mapping of variable to array
        The codes of the known variables, one per row.
    n_rows : int
    target : int, optional
        A variable that is neither known nor summed over.
    defaults : tuple of int
        Sparse tables that are multiplied by the row of their other configurations.
    allowed : mapping of variable to array of bool, shape (rows, arity)
        States that a missing variable may have.
    depth : int
        How many sparse tables were taken apart before.
    """

    tables: LogTables
    families: tuple[int, ...]
    summed: frozenset[int]
    codes: Mapping[int, _Positions]
    n_rows: int
    target: int | None = None
    defaults: tuple[int, ...] = ()
    allowed: Mapping[int, _Bools] = field(default_factory=dict)
    depth: int = 0

    def logs(self) -> _Floats:
        """Return the logarithms of the sums: shape (rows, 1), or (rows, arity of the target)."""
        plan = self._plan()
        if plan.log2_cells > _ROOMY:
            wide = self._widest() if self.depth < _MAX_DEPTH else None
            if wide is not None:
                return self._by_cases(wide)
            require_memory(
                "Network",
                f"the sum over {len(self.summed):,} missing variables that depend on each other",
                int(24 * 2.0 ** min(plan.log2_cells, 100.0)),  # a product, exponentials, parts
                "leave out rows with many missing values, or use a network with fewer arcs",
            )
        out = np.empty((self.n_rows, self._width))
        log2_rows = log2(max(1, self.n_rows))
        n_together = max(1, int(2 ** min(log2_rows, _ROOMY - plan.log2_cells)))
        for first in range(0, self.n_rows, n_together):
            here = slice(first, first + n_together)
            found = log_sum_product(list(self._factors(here)), plan, [_ROW, *self._kept])
            out[here] = found.reshape(len(found), -1)
        return out

    @property
    def _kept(self) -> list[str]:
        return [] if self.target is None else [str(self.target)]

    @property
    def _width(self) -> int:
        return 1 if self.target is None else self.tables.arities[self.target]

    def _plan(self) -> Plan:
        """Plan the sums for one row."""
        scopes = [set(self.tables.axes(family)) for family in self.families]
        scopes += [{str(family)} for family in self.defaults]
        scopes += [{_ROW, str(variable)} for variable in self.allowed]
        known = set(map(str, self.codes))
        scopes = [{_ROW if name in known else name for name in scope} for scope in scopes]
        names = {name for scope in scopes for name in scope if name != _ROW}
        sizes = {name: self.tables.arities[int(name)] for name in (*names, *self._kept)}
        return plan_elimination(scopes, [_ROW, *self._kept], sizes | {_ROW: 1})

    def _factors(self, here: slice) -> Iterator[Factor]:
        codes = {str(variable): column[here] for variable, column in self.codes.items()}
        for family in self.families:
            yield self.tables.at_rows(family, codes, _ROW)
        for family in self.defaults:
            table = self.tables.sparse(family)
            assert table is not None
            if family in self.codes:
                yield Factor((_ROW,), table.default[codes[str(family)]])
            else:
                yield Factor((str(family),), table.default)
        for variable, states in self.allowed.items():
            yield Factor((_ROW, str(variable)), np.where(states[here], 0.0, -np.inf))

    def _open(self, family: int) -> list[int]:
        """Return the parents in one table that are not known."""
        return [v for v in self.tables.families[family][:-1] if v not in self.codes]

    def _widest(self) -> int | None:
        """Return the sparse table with most configurations left open, if there is one."""
        sizes = {
            family: sum(log2(self.tables.arities[v]) for v in self._open(family))
            for family in self.families
            if self.tables.sparse(family) is not None
        }
        found = max(sizes, key=lambda family: (sizes[family], -family), default=None)
        return found if found is not None and sizes[found] > 0 else None

    def _by_cases(self, family: int) -> _Floats:
        """Take one sparse table apart."""
        table = self.tables.sparse(family)
        assert table is not None
        out = np.full((self.n_rows, self._width), -np.inf)
        n_together = max(1, _BLOCK_CASES // (table.n_listed + 1))
        for first in range(0, self.n_rows, n_together):
            here = np.arange(first, min(first + n_together, self.n_rows))
            part = self._at(here)
            for case, rows in part._cases(family):
                logs = case._pruned().logs()
                place = np.arange(out.shape[1])[None, :]
                if self.target is not None and case.target is None:
                    place = case.codes[self.target][:, None]
                np.logaddexp.at(out, (here[rows][:, None], place), logs)
        return out

    def _at(self, rows: _Positions) -> Sums:
        """Return the sums of some rows, which may come more than once."""
        return replace(
            self,
            codes={variable: column[rows] for variable, column in self.codes.items()},
            allowed={variable: states[rows] for variable, states in self.allowed.items()},
            n_rows=len(rows),
        )

    def _with(self, rows: _Positions, fixed: Mapping[int, _Positions]) -> tuple[Sums, _Positions]:
        """Fix variables of some rows where their states are allowed; return the rows left, too."""
        good = np.ones(len(rows), dtype=np.bool_)
        for variable in fixed.keys() & self.allowed.keys():
            good &= self.allowed[variable][rows, fixed[variable]]
        rows, fixed = rows[good], {variable: codes[good] for variable, codes in fixed.items()}
        made = self._at(rows)
        return replace(
            made,
            summed=self.summed - set(fixed),
            codes={**made.codes, **fixed},
            allowed={v: states for v, states in made.allowed.items() if v not in fixed},
            target=None if self.target in fixed else self.target,
            depth=self.depth + 1,
        ), rows

    def _cases(self, family: int) -> Iterator[tuple[Sums, _Positions]]:
        """List the cases of a sparse table: for each kind, the sums and the rows they belong to."""
        table = self.tables.sparse(family)
        assert table is not None
        parents = self.tables.families[family][:-1]
        free = [axis for axis, v in enumerate(parents) if v not in self.codes]
        fixed = {axis: self.codes[v] for axis, v in enumerate(parents) if v in self.codes}
        rows, listed = table.matches(fixed, self.n_rows)
        found = table.configurations[listed][:, free].astype(np.intp)
        case, left = self._with(rows, {parents[axis]: found[:, k] for k, axis in enumerate(free)})
        if len(left):
            yield case, left
        # Prefixes of codes that listed configurations have, behind the row; all rows at first.
        rest = replace(
            self,
            families=tuple(each for each in self.families if each != family),
            defaults=(*self.defaults, family),
        )
        nodes = np.arange(self.n_rows)[:, None]
        for k, axis in enumerate(free):
            grown = np.unique(np.column_stack([rows, found[:, : k + 1]]), axis=0)
            states = np.ones((len(nodes), self.tables.arities[parents[axis]]), dtype=np.bool_)
            states[_places(nodes, grown), grown[:, -1]] = False
            leaves = states.any(axis=1)
            ends = nodes[leaves]
            box = rest._at(ends[:, 0])._allowing(parents[axis], states[leaves])
            prefix = {parents[free[i]]: ends[:, i + 1] for i in range(k)}
            case, left = box._with(np.arange(len(ends)), prefix)
            if len(left):
                yield case, ends[left, 0]
            nodes = grown

    def _allowing(self, variable: int, states: _Bools) -> Sums:
        """Limit the states of one variable, in each row."""
        both = states & self.allowed[variable] if variable in self.allowed else states
        return replace(self, allowed={**self.allowed, variable: both})

    def _pruned(self) -> Sums:
        """Leave out tables that sum to one: of variables summed over that are nowhere else."""
        families, defaults = list(self.families), list(self.defaults)
        while True:
            seen = [v for family in families for v in self.tables.families[family]]
            seen += [*defaults, *self.allowed]
            alone = {v for v in self.summed if seen.count(v) == 1}
            if alone.isdisjoint(families) and alone.isdisjoint(defaults):
                return replace(self, families=tuple(families), defaults=tuple(defaults))
            families = [family for family in families if family not in alone]
            defaults = [family for family in defaults if family not in alone]


def _places(nodes: _Positions, grown: _Positions) -> _Positions:
    """Return which node each longer prefix goes on from; both are sorted."""
    if nodes.shape[1] == 1:  # every row, also without a prefix
        return np.asarray(grown[:, 0])
    changes = (grown[1:, :-1] != grown[:-1, :-1]).any(axis=1)
    return np.concatenate([[0], np.cumsum(changes)]).astype(np.intp)[: len(grown)]
