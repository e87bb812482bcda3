"""Exact answers of a network: the junction tree of all of it, or of what a question needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, NoReturn

import numpy as np
import numpy.typing as npt

from bestdag.data.schema import Variable
from bestdag.errors import ImpossibleEvidenceError, NotEnoughMemoryError
from bestdag.inference.junction_tree import (
    Known,
    Parts,
    Require,
    Tables,
    Tree,
    ancestors_of,
    irreducible,
    max_tree,
    planned,
    relevant_families,
    structure_of,
    tree_bytes,
)
from bestdag.machine import require_memory
from bestdag.network.questions import said
from bestdag.wording import arg

if TYPE_CHECKING:
    from bestdag import _core
    from bestdag.network.content import NetworkContent

__all__ = ["Answers", "TreeForecast"]

_Floats = npt.NDArray[np.float64]

# With up to so many cells (8 MiB) the tree of the whole network is made at the first question,
# and answers all of them.
_SMALL_TREE = 1 << 20
# Up to so many (1 GiB) it is made for a question that needs a good part of it; what needs
# less makes a tree of its own, which may be a thousand times smaller. The limits are numbers of
# cells, not shares of the memory that is free: which tree answers is a matter of the question.
_LARGEST_TREE = 1 << 27
_GOOD_PART = 0.25
# Methods that sampling can answer too.
_SAMPLED = ("query", "marginals")


@dataclass(frozen=True, slots=True)
class TreeForecast:
    """How large the junction tree of a network is.

    Attributes
    ----------
    width : int
        Variables of the clique that has most, minus one: the treewidth is at most that.
    n_cliques : int
        Number of cliques.
    n_cells : float
        Cells of all cliques; a whole number up to 2**53.
    largest_clique : tuple of str
        The variables of the clique with most cells.
    largest_cells : float
        Its cells.
    n_bytes : float
        Memory for the tree and its messages.
    """

    width: int
    n_cliques: int
    n_cells: float
    largest_clique: tuple[str, ...]
    largest_cells: float
    n_bytes: float


class Answers:
    """The tables of a network, its junction tree when it has been made, and questions to them."""

    def __init__(self, network: NetworkContent) -> None:
        tables = network.tables
        self.variables: tuple[Variable, ...] = tuple(table.child for table in tables)
        self.done = network.interventions
        self.by_name = {v.name: (i, v) for i, v in enumerate(self.variables)}
        place = {v.name: i for i, v in enumerate(self.variables)}
        self.tables = Tables(
            tuple(place),
            tuple(v.arity for v in self.variables),
            tuple(tuple(place[p.name] for p in table.parents) for table in tables),
            tuple(t.values if t.sparse is None else t.sparse for t in tables),
        )
        self._structure: _core.CliqueTree | None = None
        self._tree: Tree | None = None

    @property
    def structure(self) -> _core.CliqueTree:
        """The cliques of the whole network, planned once."""
        if self._structure is None:
            every = range(len(self.variables))
            self._structure = structure_of(
                self.tables.arities, [self.tables.family(v) for v in every]
            )
        return self._structure

    def forecast(self) -> TreeForecast:
        """Say how large the tree of the whole network is."""
        structure = self.structure
        n = structure.n_cliques
        return TreeForecast(
            max((len(structure.axes(i)) for i in range(n)), default=1) - 1,
            n,
            structure.total_cells,
            tuple(sorted(self.tables.names[i] for i in structure.axes(structure.largest)))
            if n
            else (),
            structure.cells(structure.largest) if n else 0.0,
            tree_bytes(structure),
        )

    @property
    def has_small_tree(self) -> bool:
        """Whether the whole network has a small junction tree."""
        return self.structure.total_cells <= _SMALL_TREE

    def tree(self, who: str) -> Tree:
        """Return the junction tree of the whole network, which is made at the first call."""
        if self._tree is None:
            every = range(len(self.variables))
            parts = Parts.of(self.tables, every, {})
            self._tree = _tree(parts, who, structure=self.structure)
        return self._tree

    def log_probability(self, known: Known, who: str, *, whole: bool = False) -> float:
        """Return the logarithm of the probability of the evidence; minus infinity of zero."""
        if whole or self.has_small_tree:
            return self.tree(who).log_probability(known)
        above = sorted(ancestors_of(self.tables.parents, [*known.codes, *known.weights]))
        parts = Parts.of(self.tables, above, known.codes)
        plan = planned(parts)
        tree = self._tree_at_hand(plan, who)
        if tree is not None:
            return tree.log_probability(known)
        return _tree(parts, who, structure=plan).log_probability(_open(known))

    def marginals(self, known: Known, who: str) -> tuple[float, list[_Floats]]:
        """Return the log probability of the evidence, and the distribution of every variable."""
        log, distributions = self.tree(who).marginals(known)
        if log == -inf:
            self.refuse(known, who, whole=True)
        return log, distributions

    def joint(
        self, targets: Sequence[int], known: Known, who: str, *, whole: bool = False
    ) -> tuple[float, _Floats]:
        """Return the log probability of the evidence (NaN if too large), and the targets' joint."""
        if whole or self.has_small_tree:
            return self._joint_by(self.tree(who), targets, known, who)
        return self._joint_by_part(targets, known, who)

    def _joint_by(
        self, tree: Tree, targets: Sequence[int], known: Known, who: str
    ) -> tuple[float, _Floats]:
        """Answer from the tree of the whole network, if the targets share a clique of it."""
        if not tree.holds(targets):
            return self._joint_by_part(targets, known, who)
        log, joint = tree.joint(targets, known)
        if log == -inf:
            self.refuse(known, who, whole=True)
        return log, joint

    def _tree_at_hand(self, plan: _core.CliqueTree, who: str) -> Tree | None:
        """Return the tree of the whole network, if one by this plan is a good part of it."""
        n_cells = self.structure.total_cells
        if n_cells > _LARGEST_TREE or plan.total_cells < _GOOD_PART * n_cells:
            return None
        try:
            return self.tree(who)
        except NotEnoughMemoryError:
            return None

    def _joint_by_part(
        self, targets: Sequence[int], known: Known, who: str
    ) -> tuple[float, _Floats]:
        """Answer from the tables that decide about the targets; look whether the rest can be."""
        tables = self.tables
        deciding = relevant_families(tables.parents, targets, known.codes, known.weights)
        # A target that is known keeps its axis.
        free_targets = [target for target in targets if target not in known.codes]
        near = {v for family in deciding for v in tables.family(family)}
        here = Known(
            {v: code for v, code in known.codes.items() if v in near},
            {v: weights for v, weights in known.weights.items() if v in near},
        )
        parts = Parts.of(tables, deciding, known.codes)
        plan = planned(parts, free_targets)
        if not self.has_small_tree and self.structure.holds(np.array(targets, dtype=np.uint32)):
            tree = self._tree_at_hand(plan, who)
            if tree is not None:
                return self._joint_by(tree, targets, known, who)
        tree = _tree(parts, who, together=free_targets, structure=plan)
        log, joint = tree.joint(free_targets, _open(here))
        if log > -inf:
            log += self._log_of_rest(deciding, near, known, who)
        if log == -inf:
            self.refuse(known, who)
        if len(free_targets) == len(targets):
            return log, joint
        arities = [tables.arities[target] for target in targets]
        out = np.zeros(arities)
        out[tuple(known.codes.get(t, slice(None)) for t in targets)] = joint.reshape(
            [tables.arities[target] for target in free_targets]
        )
        return log, out.reshape(-1)

    def _log_of_rest(
        self, deciding: Sequence[int], near: set[int], known: Known, who: str
    ) -> float:
        """Return the logarithm of what the targets do not depend on; NaN if it is too large."""
        weights = {v: values for v, values in known.weights.items() if v not in near}
        above = ancestors_of(self.tables.parents, [*known.codes, *known.weights])
        rest = sorted(above.difference(deciding))
        if not rest:
            return 0.0
        try:
            tree = _tree(Parts.of(self.tables, rest, known.codes), who)
            return tree.log_probability(Known({}, weights))
        except NotEnoughMemoryError:
            return float("nan")

    def most_probable(
        self, known: Known, n: int, who: str
    ) -> tuple[float, npt.NDArray[np.int32], _Floats]:
        """Return the log probability of the evidence, and the n best configurations with theirs."""
        log = self.log_probability(known, who)
        if log == -inf:
            self.refuse(known, who)
        every = range(len(self.variables))
        tree = _tree(Parts.of(self.tables, every, known.codes), who, n_copies=2)
        codes, logs = tree.most_probable(_open(known), n)
        out = np.empty((len(codes), len(self.variables)), dtype=np.int32)
        out[:, tree.variables] = codes
        for variable, code in known.codes.items():
            out[:, variable] = code
        return log, out, logs

    def marginal_map(
        self, targets: Sequence[int], known: Known, n: int, who: str
    ) -> tuple[float, npt.NDArray[np.int32], _Floats]:
        """Return the log probability of the evidence, and the n best configurations of the targets.

        All logarithms are without what says nothing about the targets.
        """
        tables = self.tables
        deciding = relevant_families(tables.parents, targets, known.codes, known.weights)
        near = {v for family in deciding for v in tables.family(family)}
        free_targets = [target for target in targets if target not in known.codes]
        parts = Parts.of(tables, deciding, known.codes)
        weights = {v: w for v, w in known.weights.items() if v in near}
        tree = max_tree(parts, free_targets, weights, require=_requirement(who))
        log = tree.log_probability(Known())
        if log == -inf or self._log_of_rest(deciding, near, known, who) == -inf:
            self.refuse(known, who)
        codes, logs = tree.most_probable(Known(), n)
        out = np.empty((len(codes), len(targets)), dtype=np.int32)
        place = {v: i for i, v in enumerate(tree.variables)}
        for i, target in enumerate(targets):
            code = known.codes.get(target)
            out[:, i] = codes[:, place[target]] if code is None else code
        return log, out, logs

    def refuse(self, known: Known, who: str, *, whole: bool = False) -> NoReturn:
        """Raise an error that names a smallest part of the evidence with probability zero."""
        evidence = [*known.codes, *known.weights]

        def is_possible(some: Sequence[int]) -> bool:
            part = Known(
                {v: known.codes[v] for v in some if v in known.codes},
                {v: known.weights[v] for v in some if v in known.weights},
            )
            return self.log_probability(part, who, whole=whole) > -inf

        clash = irreducible(evidence, is_possible)
        shown = ", ".join(said(self.variables[v], known.codes.get(v)) for v in clash)
        soft = [self.variables[v].name for v in clash if v in known.weights]
        of = f" (with the likelihood of {', '.join(soft)})" if soft else ""
        only = "has probability zero; leave it out"
        if len(clash) > 1:
            only = "cannot be together: they have probability zero; leave one of them out"
        error = ImpossibleEvidenceError(
            f"{who}: {shown}{of} {only}, or estimate the tables without zeros"
        )
        error.findings = tuple(self.variables[v].name for v in clash)
        raise error


def _tree(
    parts: Parts,
    who: str,
    *,
    together: Sequence[int] = (),
    n_copies: int = 1,
    structure: _core.CliqueTree | None = None,
) -> Tree:
    require = _requirement(who)
    return Tree(parts, together, require=require, n_copies=n_copies, structure=structure)


def _requirement(who: str) -> Require:
    """Return what refuses trees that would not fit, and says what to do."""

    def require(what: str, n_bytes: float) -> None:
        if who in _SAMPLED:
            require_memory(
                who,
                what,
                n_bytes,
                f"ask for fewer variables, give more evidence, or pass {arg('method', 'sampling')}",
            )
        remedy = "ask for fewer variables, give more evidence, or use a network with fewer arcs"
        require_memory(who, what, n_bytes, remedy)

    return require


def _open(known: Known) -> Known:
    """Return what the tables do not hold yet."""
    return Known({}, known.weights)
