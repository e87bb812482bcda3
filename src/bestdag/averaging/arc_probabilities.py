"""`ArcProbabilities`: how sure each arc is, however that was found out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bestdag.averaging.graphs import averaged_dag, averaged_pdag
from bestdag.averaging.truth import TruthComparison, compare_with_truth
from bestdag.errors import bad_setting, require_known
from bestdag.graph.dag import Dag
from bestdag.graph.pdag import Pdag
from bestdag.tabular import Table, Tabular

if TYPE_CHECKING:
    from bestdag.averaging.diagnostics import ChainDiagnostics
    from bestdag.averaging.weighted_dags import WeightedDags

__all__ = ["ArcProbabilities", "EdgeStrength", "ParentSetProbability"]

_MAX_LINES = 30
_LEAST_SHOWN = 5e-4
_WIDEST = 4.0  # of the lines of a picture: an arc that is certain


class EdgeStrength(NamedTuple):
    """A pair that may be joined.

    `probability` is that of the edge, `direction` the share of ``parent -> child`` in it, at least
    one half.
    """

    parent: str
    child: str
    probability: float
    direction: float


class ParentSetProbability(NamedTuple):
    """A parent set and its probability."""

    parents: tuple[str, ...]
    probability: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ArcProbabilities(Tabular):
    """How sure each arc is: shares of bootstrap replicates, or posterior probabilities.

    Attributes
    ----------
    names : tuple of str
        The variables in name order.
    matrix : float64 array, n x n
        ``matrix[i, j]`` is the probability of the arc from variable i to variable j.
    method : str
        How they were found: "bootstrap", "exact order", "exact uniform", "sampled", "order chain",
        "partition chain".
    threshold : float
        Edges above it belong to the averaged network unless another threshold is given.
    settings : mapping
        What they depend on: score, rows, prior, seed and so on.
    notes : tuple of str
        What else there is to know.
    seconds : float
        Of all parts of a run that was kept and went on.
    resumed_seconds : float
        Of these, the seconds before it went on the last time.
    ancestors : float64 array or None
        ``ancestors[i, j]`` is the probability of a directed path from variable i to variable j.
    parent_sets : mapping or None
        For each variable its most probable parent sets.
    dags : WeightedDags or None
        The structures that were drawn or learned, each with its weight.
    diagnostics : ChainDiagnostics or None
        Whether the chains agree.
    log_evidence : float or None
        Logarithm of the sum over structures of exp(score), as the prior counts them.
    status : {"done", "time limit", "interrupted"}
        What ended the work; it is then that of what was drawn so far.

    Examples
    --------
    >>> found = ArcProbabilities(
    ...     names=("a", "b"), matrix=np.array([[0.0, 0.6], [0.3, 0.0]]), method="bootstrap"
    ... )
    >>> found["a", "b"], round(found.edge("b", "a"), 6), found.averaged().arcs
    (0.6, 0.9, (('a', 'b'),))
    """

    names: tuple[str, ...]
    matrix: npt.NDArray[np.float64]
    method: str
    threshold: float = 0.5
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    resumed_seconds: float = 0.0
    ancestors: npt.NDArray[np.float64] | None = None
    parent_sets: Mapping[str, tuple[ParentSetProbability, ...]] | None = None
    dags: WeightedDags | None = None
    diagnostics: ChainDiagnostics | None = None
    log_evidence: float | None = None
    status: str = "done"

    def __post_init__(self) -> None:
        for array in (self.matrix, self.ancestors):
            if array is not None:
                array.setflags(write=False)

    def __getitem__(self, arc: tuple[str, str]) -> float:
        """Return the probability of the arc from the first variable to the second."""
        parent, child = arc
        return float(self.matrix[self._number(parent), self._number(child)])

    def edge(self, one: str, other: str) -> float:
        """Return the probability that two variables are joined, in either direction.

        It is the sum of the probabilities of both arcs, which exclude each other.

        Raises
        ------
        UnknownNameError
            If a name is no variable.
        """
        return min(1.0, self[one, other] + self[other, one])

    def ancestor(self, source: str, target: str) -> float | None:
        """Return the probability of a directed path from `source` to `target`.

        None where `posterior` was called without ``ancestors=True``. Under the model of a causal
        network, it is the probability that a change of the source may reach the target at all.
        """
        if self.ancestors is None:
            return None
        return float(self.ancestors[self._number(source), self._number(target)])

    def edges(self) -> tuple[EdgeStrength, ...]:
        """List the pairs that may be joined, the surest first, ties by name.

        Each is (parent, child, probability of the edge, share of this direction in it), the more
        probable direction first.
        """
        strengths = []
        ones, others = np.nonzero(np.triu(self.matrix + self.matrix.T, 1))
        for i, j in zip(ones.tolist(), others.tolist(), strict=True):
            if self.matrix[i, j] < self.matrix[j, i]:
                i, j = j, i
            total = float(self.matrix[i, j] + self.matrix[j, i])
            share = float(self.matrix[i, j]) / total
            strengths.append(EdgeStrength(self.names[i], self.names[j], min(1.0, total), share))
        return tuple(sorted(strengths, key=lambda one: (-one.probability, one.parent, one.child)))

    def averaged(
        self, threshold: float | None = None, *, as_pdag: bool = False, direction: float = 0.5
    ) -> Dag | Pdag:
        """Return the averaged network: every edge above the threshold.

        Parameters
        ----------
        threshold : float, optional
            From 0 to 1; `self.threshold` unless given.
        as_pdag : bool, default False
            Leave an edge undirected unless the share of one direction exceeds `direction`. By
            default every edge has its more probable direction, the surest first, and an arc
            that would close a cycle is turned round.
        direction : float, default 0.5
            From 0.5 to 1.

        Returns
        -------
        Dag, or Pdag with `as_pdag`

        Raises
        ------
        InvalidParameterError
            If a setting is out of range.

        Notes
        -----
        It shows which edges to trust, and need not be probable itself: no single structure drawn
        may have all of these edges. For predictions `average_networks` keeps the structures apart.

        References
        ----------
        .. [1] Scutari and Nagarajan (2013). "Identifying significant edges in graphical models of
           molecular networks." Artificial Intelligence in Medicine 57(3), 207-217.
        """
        least = self.threshold if threshold is None else threshold
        for name, value, below in (("threshold", least, 0.0), ("direction", direction, 0.5)):
            if not (isinstance(value, int | float) and below <= value <= 1):
                raise bad_setting("averaged", name, f"a number from {below:g} to 1", value)
        if as_pdag:
            return averaged_pdag(self.names, self.matrix, least, direction)
        return averaged_dag(self.names, self.matrix, least)

    def compare(self, true: Any) -> TruthComparison:
        """Compare with a true network: AUC, Brier score, calibration.

        Parameters
        ----------
        true : Dag, Pdag or Network
            Over the same variables. Data alone cannot tell the structures of one class from each
            other, so a fair comparison is with the class: ``compare(dag.cpdag())``.

        Raises
        ------
        GraphError
            If it is no graph, or over other variables.
        """
        return compare_with_truth(self.names, self.matrix, true)

    def _table(self) -> Table:
        edges = self.edges()
        return Table(
            names=("parent", "child", "probability", "direction"),
            rows=edges,
            n_rows=len(edges),
            title=f"confidence in each arc ({self.method})",
            notes=(*self.notes, f"threshold of the averaged network: {self.threshold:.4g}"),
            bars="probability",
        )

    def plot(self, ax: Any = None, *, kind: str = "heat map", threshold: float = 0.1) -> Any:
        """Draw a heat map, or a graph whose arcs are as wide as they are probable.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw the heat map; new axes by default.
        kind : {"heat map", "graph"}
            The heat map needs matplotlib.
        threshold : float, default 0.1
            The graph has the edges above it; one whose directions are about equally probable (a
            share from 1/4 to 3/4) has no head.

        Returns
        -------
        Axes or Picture
        """
        if kind == "heat map":
            from bestdag.plots import arc_probabilities

            return arc_probabilities(self, ax)
        if kind != "graph":
            raise bad_setting("plot", "kind", "'heat map' or 'graph'", kind)
        from bestdag.drawing.picture import draw
        from bestdag.drawing.svg import Line

        lines = []
        for parent, child in self.averaged(threshold).arcs:
            probability = self.edge(parent, child)
            share = self[parent, child] / (self[parent, child] + self[child, parent])
            ends = (parent, child) if share >= 0.25 else (child, parent)
            width, note = _WIDEST * probability, f"probability {probability:.3g}"
            is_directed = not 0.25 <= share <= 0.75
            lines.append(Line(*ends, "edge", width, note, is_directed))
        return draw(self.names, lines, remark="wider: more probable; no head: either direction")

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as numbers, texts, lists and dicts, which JSON can hold."""
        made: dict[str, Any] = {
            "method": self.method,
            "variables": list(self.names),
            "matrix": self.matrix.tolist(),
            "edges": [one._asdict() for one in self.edges()],
            "threshold": self.threshold,
            "arcs": [list(arc) for arc in self.averaged().arcs],
            "settings": dict(self.settings),
            "notes": list(self.notes),
            "seconds": self.seconds,
            "resumed_seconds": self.resumed_seconds,
            "status": self.status,
            "log_evidence": self.log_evidence,
            "ancestors": None if self.ancestors is None else self.ancestors.tolist(),
            "diagnostics": None if self.diagnostics is None else self.diagnostics.to_dict(),
            "dags": None if self.dags is None else self.dags.to_dict(),
        }
        if self.parent_sets is not None:
            made["parent_sets"] = {
                child: [
                    {"parents": list(one.parents), "probability": one.probability} for one in listed
                ]
                for child, listed in self.parent_sets.items()
            }
        return made

    def to_json(self) -> str:
        """Return `to_dict` as text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def _number(self, name: str) -> int:
        require_known("variable", name, self.names)
        return self.names.index(name)

    def __str__(self) -> str:
        shown = [one for one in self.edges() if one.probability >= _LEAST_SHOWN]
        lines = [f"{self.method}: {len(self.names)} variables, {self.seconds:.2f} s"]
        lines += self.notes
        lines.append(f"threshold of the averaged network: {self.threshold:.4g}")
        width = max((len(f"{one.parent} -> {one.child}") for one in shown[:_MAX_LINES]), default=4)
        lines.append(f"{'edge':<{width}}  probability  direction")
        for one in shown[:_MAX_LINES]:
            arc = f"{one.parent} -> {one.child}"
            mark = "" if one.probability > self.threshold else "  (below the threshold)"
            lines.append(f"{arc:<{width}}  {one.probability:>11.4f}  {one.direction:>9.4f}{mark}")
        if len(shown) > _MAX_LINES:
            lines.append(f"... and {len(shown) - _MAX_LINES:,} more")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<ArcProbabilities: {self.method}, {len(self.names)} variables>"
