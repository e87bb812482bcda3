"""Missing values, summed out exactly: group by group of missing variables that meet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import log2

import numpy as np
import numpy.typing as npt

from bestdag.factors import Factor, Plan, log_sum_product, plan_elimination
from bestdag.inference.tables import LogTables, Rows
from bestdag.machine import require_memory

__all__ = ["Group", "Sums", "add_sums", "find_groups"]

# Cells whose groups are found together (about 100 MiB), and log2 of the rows that are then.
_BLOCK_CELLS = 1 << 23
_ROOMY_GROUPS = _ROOMY = 22

_Positions = npt.NDArray[np.intp]


def add_sums(
    tables: LogTables, rows: Rows, out: npt.NDArray[np.float64], *, target: int | None = None
) -> None:
    """Add to each row what the tables with missing values in it sum to, as a logarithm.

    Parameters
    ----------
    tables : LogTables
        The network.
    rows : Rows
        Where the missing values are.
    out : float64 array, shape (rows, 1) or (rows, arity of the target)
        What is added to.
    target : int, optional
        A variable that is never summed out; only what depends on it is added.

    Raises
    ------
    NotEnoughMemoryError
        If missing variables meet in a product that would not fit in memory.
    """
    where = _rows_in_need(tables, rows, target)
    n_together = max(1, _BLOCK_CELLS // len(rows.columns))
    for first in range(0, len(where), n_together):
        chosen = where[first : first + n_together]
        part = rows.at(chosen)
        for group, positions in find_groups(tables, part, target):
            for here, sums in _group_sums(tables, part, group, positions, target):
                out[chosen[here]] += sums


def _rows_in_need(tables: LogTables, rows: Rows, target: int | None) -> _Positions:
    """Return the rows with a missing value, or with one beside the target in some table."""
    near = range(len(rows.columns)) if target is None else tables.blanket(target)
    need = np.zeros(rows.n_rows, dtype=np.bool_)
    for variable in near:
        if rows.has_missing[variable]:
            need |= rows.missing(variable, tables.arities[variable])
    return np.flatnonzero(need)


def _group_sums(
    tables: LogTables, rows: Rows, group: Group, positions: _Positions, target: int | None
) -> Iterator[tuple[_Positions, npt.NDArray[np.float64]]]:
    """Sum a group out for these rows, some at a time: shape (rows, 1) or (rows, arity)."""
    members = {v for family in group.families for v in tables.families[family]}
    known = sorted(members - set(group.variables) - {target})
    n_together = 1 << _ROOMY_GROUPS
    for first in range(0, len(positions), n_together):
        here = positions[first : first + n_together]
        codes = {}
        for variable in known:
            column = rows.columns[variable]
            assert column is not None  # absent columns are missing in every row
            codes[variable] = column[here].astype(np.intp)
        summed = frozenset(group.variables)
        yield here, Sums(tables, group.families, summed, codes, len(here), target).logs()


_Bools = npt.NDArray[np.bool_]
_Labels = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Group:
    """Missing variables that meet, without the target, and the families they meet in."""

    variables: tuple[int, ...]
    families: tuple[int, ...]


def find_groups(
    tables: LogTables, rows: Rows, target: int | None = None
) -> Iterator[tuple[Group, _Positions]]:
    """List the groups of all rows, each with the rows that have it, in a fixed order.

    With a target, which counts as missing everywhere, only the groups that it belongs to.

    Examples
    --------
    In a chain 0 -> 1 -> 2 -> 3 of which 1 and 3 are missing, 3 is left out and 1 stands alone,
    in its own table and in that of 2.

    >>> half = np.full((2, 2), 0.5)
    >>> chain = LogTables([half[0], half, half, half], [[], [0], [1], [2]])
    >>> row = tuple(np.array([code], np.uint8) for code in (0, 2, 1, 2))
    >>> list(find_groups(chain, Rows(1, row, (False, True, False, True))))
    [(Group(variables=(1,), families=(1, 2)), array([0]))]
    """
    missing = [v for v, some in enumerate(rows.has_missing) if some or v == target]
    place = {v: i for i, v in enumerate(missing)}
    needed, active = _needed(tables, rows, missing, target)
    families = sorted({family for v in missing for family in tables.touching(v)})
    meetings = {f: [place[v] for v in tables.families[f] if v in place] for f in families}
    labels = _labels(needed, active, meetings)
    wanted = needed if target is None else needed & (labels == labels[place[target]])
    sets = _Sets(wanted.shape)
    for variable, i in place.items():
        if variable != target:
            here = np.flatnonzero(wanted[i])
            sets.put(("variable", variable), labels[i, here], here)
    for family, met in meetings.items():
        others = [i for i in met if missing[i] != target]
        some = wanted[others].any(axis=0)
        if family in active:
            some &= active[family]
        here = np.flatnonzero(some)
        label = np.where(wanted[others][:, here], labels[others][:, here], len(missing)).min(
            axis=0, initial=len(missing)
        )
        sets.put(("family", family), label, here)
    for members, positions in sets.listed():
        variables = tuple(v for kind, v in members if kind == "variable")
        yield Group(variables, tuple(v for kind, v in members if kind == "family")), positions


def _needed(
    tables: LogTables, rows: Rows, missing: list[int], target: int | None
) -> tuple[_Bools, dict[int, _Bools]]:
    """Return which missing values are summed over, and in which rows their families take part.

    A missing variable is needed when a child is known or needed itself.
    """
    place = {v: i for i, v in enumerate(missing)}
    needed = np.zeros((len(missing), rows.n_rows), dtype=np.bool_)
    active: dict[int, _Bools] = {}
    for variable in reversed(tables.order):
        if variable not in place:
            continue
        cells = needed[place[variable]]
        if variable == target:
            cells[:] = True
            continue
        absent = rows.missing(variable, tables.arities[variable])
        for child in tables.children[variable]:
            cells |= active.get(child, True)
        cells &= absent
        active[variable] = cells | ~absent
    return needed, active


def _labels(needed: _Bools, active: dict[int, _Bools], meetings: dict[int, list[int]]) -> _Labels:
    """Give the needed cells of a row that are joined by active families one number."""
    labels = np.repeat(np.arange(len(needed), dtype=np.int32)[:, None], needed.shape[1], axis=1)
    none = np.int32(len(needed))
    labels[~needed] = none
    sweep = [(family, met) for family, met in meetings.items() if len(met) > 1]
    changed = True
    while changed:
        changed = False
        for family, met in sweep:
            here = labels[met]
            least = here.min(axis=0)
            wrong = (here != least) & (here != none)
            if family in active:
                wrong &= active[family]
            if wrong.any():
                changed = True
                labels[met] = np.where(wrong, least, here)
        sweep.reverse()  # labels travel along a chain in either direction
    return labels


class _Sets:
    """One growing set per label and row; equal sets have equal numbers."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._numbers = np.zeros(shape, dtype=np.int32)  # 0 is the empty set
        self._steps: list[tuple[int, tuple[str, int]]] = [(0, ("", 0))]

    def put(self, member: tuple[str, int], labels: npt.NDArray[np.int32], rows: _Positions) -> None:
        """Put one member into the sets of some rows."""
        numbers, inverse = np.unique(self._numbers[labels, rows], return_inverse=True)
        self._numbers[labels, rows] = len(self._steps) + inverse
        self._steps.extend((number, member) for number in numbers.tolist())

    def listed(self) -> Iterator[tuple[list[tuple[str, int]], _Positions]]:
        """List the sets that are not empty, each with its rows, members in order of arrival."""
        rows = np.nonzero(self._numbers)[1]
        numbers = self._numbers[self._numbers > 0]
        order = np.argsort(numbers, kind="stable")
        ends = np.flatnonzero(np.diff(numbers[order])) + 1
        for some in np.split(order, ends) if len(order) else []:
            members = []
            number = int(numbers[some[0]])
            while number:
                number, member = self._steps[number]
                members.append(member)
            yield members[::-1], rows[some]


_Floats = npt.NDArray[np.float64]

# log2 of the cells of the products that rows make together (32 MiB).
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
            sums = log_sum_product(list(self._factors(here)), plan, [_ROW, *self._target_axis])
            out[here] = sums.reshape(len(sums), -1)
        return out

    @property
    def _target_axis(self) -> list[str]:
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
        sizes = {name: self.tables.arities[int(name)] for name in (*names, *self._target_axis)}
        return plan_elimination(scopes, [_ROW, *self._target_axis], sizes | {_ROW: 1})

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
        widest = max(sizes, key=lambda family: (sizes[family], -family), default=None)
        return widest if widest is not None and sizes[widest] > 0 else None

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
        open_codes = table.configurations[listed][:, free].astype(np.intp)
        case, left = self._with(
            rows, {parents[axis]: open_codes[:, k] for k, axis in enumerate(free)}
        )
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
            grown = np.unique(np.column_stack([rows, open_codes[:, : k + 1]]), axis=0)
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
