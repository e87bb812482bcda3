"""Which tables a question needs, and junction trees over them; the messages are native."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log2, prod

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.factors import Factor, plan_elimination, sum_out
from bestdag.inference.sparse_table import SparseTable

__all__ = [
    "Known",
    "Parts",
    "Require",
    "Tables",
    "Tree",
    "ancestors_of",
    "irreducible",
    "max_tree",
    "planned",
    "relevant_families",
    "structure_of",
    "tree_bytes",
]

_Floats = npt.NDArray[np.float64]
_Codes = npt.NDArray[np.int32]
_Axes = npt.NDArray[np.uint32]

Require = Callable[[str, float], None]

_NO_AXES: _Axes = np.empty(0, dtype=np.uint32)
_NO_WEIGHTS: _Floats = np.empty(0)
# Tables with up to so many cells in all are held twice (Propagation::kMostKept).
_MOST_KEPT = 1 << 22


@dataclass(frozen=True, slots=True)
class Known:
    """Evidence, by position of the variables: codes, and weights of states."""

    codes: Mapping[int, int] = field(default_factory=dict)
    weights: Mapping[int, _Floats] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """The tables of a network as arrays; variables are known by position."""

    names: tuple[str, ...]
    arities: tuple[int, ...]
    parents: tuple[tuple[int, ...], ...]
    values: tuple[_Floats | SparseTable, ...]

    def family(self, child: int) -> tuple[int, ...]:
        """Return the variables of a table, in the order of its axes."""
        return (*self.parents[child], child)


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The factors of a question: the tables of some variables at the codes of the evidence.

    `scopes` has the open variables of each, `families` whose table it is.
    """

    tables: Tables
    families: Sequence[int]
    scopes: list[list[int]]
    codes: Mapping[int, int]

    @classmethod
    def of(cls, tables: Tables, families: Sequence[int], codes: Mapping[int, int]) -> Parts:
        """Take the tables of these variables at these codes."""
        scopes = [[v for v in tables.family(f) if v not in codes] for f in families]
        return cls(tables, families, scopes, codes)

    def values(self) -> list[_Floats]:
        """Write the factors out: the open variables that have several states."""
        return [self._at(family) for family in self.families]

    def _at(self, family: int) -> _Floats:
        table = self.tables.values[family]
        members = self.tables.family(family)
        fixed = {i: self.codes[v] for i, v in enumerate(members) if v in self.codes}
        if isinstance(table, SparseTable):
            rows = {axis: np.array([code], dtype=np.intp) for axis, code in fixed.items()}
            return np.ascontiguousarray(table.at_rows(rows)).reshape(-1)
        if not fixed:
            return table.reshape(-1)
        where = tuple(fixed.get(i, slice(None)) for i in range(len(members)))
        return np.ascontiguousarray(table[where], dtype=np.float64).reshape(-1)


class Tree:
    """A junction tree for factors over some variables, known by their positions.

    Parameters
    ----------
    parts : Parts
        The factors.
    together : sequence of int
        Variables that must share a clique.
    require : function of (str, float)
        Refuses what would take more bytes than there are; the text says what it is.
    n_copies : int
        How many times the tables are held for one question, beside the factors.
    structure : CliqueTree, optional
        The cliques, where they are planned already.
    logs : sequence of arrays, optional
        Logarithms that take the place of the parts' values, one array for each scope.

    Raises
    ------
    NotEnoughMemoryError
        If the tables would not fit in memory: nothing was allocated then.
    """

    def __init__(
        self,
        parts: Parts,
        together: Sequence[int] = (),
        *,
        require: Require,
        n_copies: int = 1,
        structure: _core.CliqueTree | None = None,
        logs: Sequence[_Floats] | None = None,
    ) -> None:
        self.variables = _variables(parts, together)
        self._place = {v: i for i, v in enumerate(self.variables)}
        self._arities = [parts.tables.arities[v] for v in self.variables]
        self.structure = structure or planned(parts, together)
        names = [parts.tables.names[v] for v in self.variables]
        _require_tree(self.structure, names, require, n_copies)
        scopes = [[self._place[v] for v in scope] for scope in parts.scopes]
        axes, ends = flat(scopes)
        values = parts.values() if logs is None else logs
        self._native = _core.JunctionTree(self.structure, axes, ends, values, logs is not None, 1)
        self._every = np.arange(len(self.variables), dtype=np.uint32)
        self._starts = np.cumsum([0, *self._arities]).tolist()

    @property
    def n_held_cells(self) -> int:
        """Number of cells of the tables, without cells that are left out as always zero."""
        return self._native.held_cells

    def holds(self, variables: Sequence[int]) -> bool:
        """Whether these variables share a clique."""
        if not all(v in self._place for v in variables):
            return False
        return self.structure.holds(self._axes(variables))

    def log_probability(self, known: Known) -> float:
        """Return the logarithm of the probability of the evidence; minus infinity of zero."""
        return self._native.marginals(*self._evidence(known), _NO_AXES, np.empty(0))

    def marginals(self, known: Known) -> tuple[float, list[_Floats]]:
        """Return the log probability of the evidence, and the distribution of each variable."""
        out = np.empty(self._starts[-1])
        log = self._native.marginals(*self._evidence(known), self._every, out)
        ends = self._starts
        return log, [out[ends[i] : ends[i + 1]] for i in range(len(self.variables))]

    def joint(self, variables: Sequence[int], known: Known) -> tuple[float, _Floats]:
        """Return the log probability of the evidence, and the joint of variables of one clique."""
        out = np.empty(prod(self._arities[self._place[v]] for v in variables))
        log = self._native.joint(*self._evidence(known), self._axes(variables), out)
        return log, out

    def most_probable(self, known: Known, n: int) -> tuple[_Codes, _Floats]:
        """Return the n most probable configurations, with the logarithms of their probabilities."""
        return self._native.most_probable(*self._evidence(known), n)

    def rows(
        self, codes: _Codes, variables: Sequence[int], threads: int
    ) -> tuple[_Floats, list[_Floats]]:
        """Answer rows of codes, where one not below its arity is unknown.

        Returns the logarithms of their probabilities and, for each variable, its distributions,
        of shape (rows, arity): NaN in rows of probability zero.
        """
        n_rows = len(codes)
        arities = [self._arities[self._place[v]] for v in variables]
        logs = np.empty(n_rows)
        out = np.empty(n_rows * sum(arities))
        self._native.rows(codes, self._axes(variables), logs, out, threads)
        ends = np.cumsum([0, *(n_rows * arity for arity in arities)]).tolist()
        return logs, [
            out[ends[i] : ends[i + 1]].reshape(n_rows, arity) for i, arity in enumerate(arities)
        ]

    def _axes(self, variables: Sequence[int]) -> _Axes:
        return np.array([self._place[v] for v in variables], dtype=np.uint32)

    def _evidence(self, known: Known) -> tuple[_Codes, _Axes, _Floats]:
        codes = np.full(len(self.variables), -1, dtype=np.int32)
        for variable, code in known.codes.items():
            codes[self._place[variable]] = code
        if not known.weights:
            return codes, _NO_AXES, _NO_WEIGHTS
        return codes, self._axes(list(known.weights)), np.concatenate([*known.weights.values()])


def max_tree(
    parts: Parts,
    targets: Sequence[int],
    weights: Mapping[int, _Floats],
    *,
    require: Require,
) -> Tree:
    """Sum out all variables but the targets, and make a tree of what is left.

    Raises
    ------
    NotEnoughMemoryError
        If the sums, or the tree, would not fit in memory: sums come before maxima, so the order
        is not free.
    """
    arities = parts.tables.arities
    scopes = [[str(v) for v in scope if arities[v] > 1] for scope in parts.scopes]
    scopes += [[str(v)] for v in weights if arities[v] > 1]
    sizes = {str(v): arities[v] for scope in scopes for v in map(int, scope)}
    keep = [str(v) for v in targets if str(v) in sizes]
    plan = plan_elimination(scopes, keep, sizes)
    kept_cells = sum(log2(sizes[name]) for name in keep)
    if plan.order and plan.log2_cells > kept_cells:
        what = f"the largest sum before the maximum, of 2^{plan.log2_cells:.1f} cells,"
        require(what, 24 * 2.0 ** min(plan.log2_cells, 1000.0))
    with np.errstate(divide="ignore"):
        tables = [np.log(values) for values in parts.values()]
        tables += [np.log(values) for v, values in weights.items() if arities[v] > 1]
    factors = [
        Factor(tuple(scope), values.reshape([sizes[name] for name in scope]))
        for scope, values in zip(scopes, tables, strict=True)
    ]
    left = sum_out(factors, plan)
    rest = Parts(parts.tables, (), [[int(name) for name in factor.axes] for factor in left], {})
    # Variables of one state have no factor left.
    rest.scopes.extend([v] for v in targets if str(v) not in sizes)
    logs = [factor.values.reshape(-1) for factor in left]
    logs += [np.zeros(1) for v in targets if str(v) not in sizes]
    return Tree(rest, require=require, n_copies=2, logs=logs)


def flat(scopes: Sequence[Sequence[int]]) -> tuple[_Axes, npt.NDArray[np.int64]]:
    """Write lists of axes one after the other, and where each ends."""
    axes = np.array([axis for scope in scopes for axis in scope], dtype=np.uint32)
    return axes, np.cumsum([len(scope) for scope in scopes], dtype=np.int64)


def planned(parts: Parts, together: Sequence[int] = ()) -> _core.CliqueTree:
    """Plan the junction tree of factors in which some variables share a clique."""
    variables = _variables(parts, together)
    place = {v: i for i, v in enumerate(variables)}
    scopes = [[place[v] for v in scope] for scope in (*parts.scopes, list(together))]
    return structure_of([parts.tables.arities[v] for v in variables], scopes)


def _variables(parts: Parts, together: Sequence[int]) -> list[int]:
    return sorted({*(v for scope in parts.scopes for v in scope), *together})


def structure_of(arities: Sequence[int], scopes: Sequence[Sequence[int]]) -> _core.CliqueTree:
    """Plan a junction tree; nothing is multiplied yet."""
    return _core.CliqueTree(np.array(arities, dtype=np.uint32), *flat(scopes))


def tree_bytes(structure: _core.CliqueTree, n_copies: int = 1) -> float:
    """Forecast the bytes of a junction tree and its messages."""
    cells = structure.total_cells
    largest = structure.cells(structure.largest) if structure.n_cliques else 1.0
    n_held = n_copies + (1 if cells <= _MOST_KEPT else 0)
    return 8.0 * (n_held * cells + 2 * structure.total_separator_cells + largest)


def _require_tree(
    structure: _core.CliqueTree, names: Sequence[str], require: Require, n_copies: int
) -> None:
    """Refuse a junction tree that would not fit, by its size and its largest clique."""
    n_bytes = tree_bytes(structure, n_copies)
    if n_bytes < 1 << 20:  # not worth looking
        return
    members = [names[axis] for axis in structure.axes(structure.largest)]
    shown = ", ".join(map(repr, members[:8])) + (", ..." if len(members) > 8 else "")
    what = (
        f"the junction tree, whose largest clique has {len(members)} variables ({shown}) and "
        f"{structure.cells(structure.largest):.3g} cells,"
    )
    require(what, n_bytes)


def irreducible(evidence: Sequence[int], is_possible: Callable[[Sequence[int]], bool]) -> list[int]:
    """Return a part of the evidence that is impossible, and possible without any one of it.

    Junker (2004). "QuickXplain: preferred explanations and relaxations for over-constrained
    problems." AAAI '04.

    Examples
    --------
    >>> irreducible(range(10), lambda some: not {2, 7} <= set(some))
    [2, 7]
    """

    def conflict(taken: list[int], added: list[int], left: list[int]) -> list[int]:
        if added and not is_possible(taken):
            return []
        if len(left) == 1:
            return left
        half = len(left) // 2
        second = conflict(taken + left[:half], left[:half], left[half:])
        first = conflict(taken + second, second, left[:half])
        return first + second

    return sorted(conflict([], [], list(evidence)))


def ancestors_of(parents: Sequence[Sequence[int]], variables: Iterable[int]) -> set[int]:
    """Return these variables and all their ancestors.

    Examples
    --------
    >>> sorted(ancestors_of([[], [0], [1], [1]], [2]))
    [0, 1, 2]
    """
    ancestors = set(variables)
    waiting = list(ancestors)
    while waiting:
        for parent in parents[waiting.pop()]:
            if parent not in ancestors:
                ancestors.add(parent)
                waiting.append(parent)
    return ancestors


def relevant_families(
    parents: Sequence[Sequence[int]],
    targets: Collection[int],
    known: Collection[int],
    weighted: Collection[int] = (),
) -> list[int]:
    """Return the variables whose tables decide about the targets, in order.

    Parameters
    ----------
    parents : sequence of sequences of int
        The parents of each variable.
    targets : collection of int
        The variables whose distribution is wanted.
    known : collection of int
        Variables whose state is known.
    weighted : collection of int
        Variables whose states have weights (likelihood evidence); they are not known.

    Examples
    --------
    In the chain 0 -> 1 -> 2 -> 3 with 1 known, 3 needs only its own table and that of 2.

    >>> relevant_families([[], [0], [1], [2]], [3], [1])
    [2, 3]
    """
    above = ancestors_of(parents, {*targets, *known, *weighted})
    known = set(known)
    meets: dict[int, list[int]] = {}  # families by their variables that are not known
    for child in above:
        for variable in (*parents[child], child):
            if variable not in known:
                meets.setdefault(variable, []).append(child)
    families: set[int] = set()
    reached = set(targets) - known
    waiting = list(reached)
    while waiting:
        for family in meets.get(waiting.pop(), ()):
            if family in families:
                continue
            families.add(family)
            for variable in (*parents[family], family):
                if variable not in known and variable not in reached:
                    reached.add(variable)
                    waiting.append(variable)
    return sorted(families)
