"""Two structures compared: what one has that the other has not, and how far apart they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from bestdag.errors import GraphError
from bestdag.graph.dag import Dag
from bestdag.graph.pdag import Pdag
from bestdag.tabular import Table, Tabular
from bestdag.wording import count_of, first_names

if TYPE_CHECKING:
    from bestdag.drawing.picture import Picture
    from bestdag.network.network import Network

__all__ = ["Agreement", "StructureComparison", "compare"]

_Pair = tuple[str, str]
# Differences that are printed; more are counted.
_MAX_LINES = 30


class Agreement(NamedTuple):
    """How far two sets agree: what was learned, and what is true.

    With c in both, precision is c / learned, recall c / true, and F1 their harmonic mean,
    2 c / (learned + true). A share of nothing is 1: nothing learned has no mistake in it,
    and of nothing true nothing is missing.

    Attributes
    ----------
    n_common, n_learned, n_true : int
        Sizes of both together and of each.

    Examples
    --------
    >>> agreement = Agreement(n_common=2, n_learned=4, n_true=2)
    >>> agreement.precision, agreement.recall, round(agreement.f1, 6)
    (0.5, 1.0, 0.666667)
    """

    n_common: int
    n_learned: int
    n_true: int

    @property
    def precision(self) -> float:
        """Share of what was learned that is true."""
        return self.n_common / self.n_learned if self.n_learned else 1.0

    @property
    def recall(self) -> float:
        """Share of what is true that was learned."""
        return self.n_common / self.n_true if self.n_true else 1.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        both = self.n_learned + self.n_true
        return 2 * self.n_common / both if both else 1.0

    def to_dict(self) -> dict[str, float]:
        """Return precision, recall and f1."""
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1}


@dataclass(frozen=True, slots=True)
class StructureComparison(Tabular):
    """A learned structure compared with the true one.

    Attributes
    ----------
    true, learned : Dag or Pdag
        The structures.
    shd_dag : int or None
        Pairs of nodes whose mark differs (no arc, one direction, the other); None when a graph
        has undirected edges.
    shd_cpdag : int
        The same for the classes of both: their CPDAGs. A Pdag is taken as it is.
    moral_mismatches : int
        Pairs that are joined in exactly one of the two moral graphs.
    skeleton : Agreement
        Pairs that are joined, in either direction.
    arcs : Agreement
        Pairs with their marks: an arc agrees when it has its direction, an edge when it has none.
    v_structures : Agreement
        Colliders between nodes that are not joined.
    added, removed : tuple of pairs
        Joined in the learned structure only, in the true one only; (parent, child), an edge in
        name order.
    reversed : tuple of pairs
        Arcs that the learned structure has the other way round, as the true one has them.
    within_class : tuple of pairs
        The arcs of `reversed` that differ only within the class: data cannot tell, because the
        pair has the same mark in both CPDAGs.
    directed, undirected : tuple of pairs
        Edges of the true structure that are arcs of the learned one, as it has them, and arcs that
        are edges there.
    """

    true: Dag | Pdag
    learned: Dag | Pdag
    shd_dag: int | None
    shd_cpdag: int
    moral_mismatches: int
    skeleton: Agreement
    arcs: Agreement
    v_structures: Agreement
    added: tuple[_Pair, ...]
    removed: tuple[_Pair, ...]
    reversed: tuple[_Pair, ...]
    within_class: tuple[_Pair, ...]
    directed: tuple[_Pair, ...]
    undirected: tuple[_Pair, ...]

    def _table(self) -> Table:
        rows = self.rows()
        return Table(
            names=("pair", "true", "learned"),
            rows=rows,
            n_rows=len(rows),
            title="differences of two structures",
            notes=self._summary(),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        lists = ("added", "removed", "reversed", "within_class", "directed", "undirected")
        return {
            "shd_dag": self.shd_dag,
            "shd_cpdag": self.shd_cpdag,
            "moral_mismatches": self.moral_mismatches,
            "skeleton": self.skeleton.to_dict(),
            "arcs": self.arcs.to_dict(),
            "v_structures": self.v_structures.to_dict(),
            **{name: [list(pair) for pair in getattr(self, name)] for name in lists},
        }

    def rows(self) -> list[tuple[str, str, str]]:
        """List the differences: pair, what the true structure has, what the learned one has."""
        within = set(self.within_class)
        differences = [(pair, "", _shown(pair, self.learned)) for pair in self.added]
        differences += [(pair, _shown(pair, self.true), "") for pair in self.removed]
        for pair in (*self.reversed, *self.directed, *self.undirected):
            note = " (same class)" if pair in within else ""
            differences.append((pair, _shown(pair, self.true), _shown(pair, self.learned) + note))
        differences.sort(key=lambda row: (min(row[0]), max(row[0])))
        return [(f"{min(pair)}, {max(pair)}", true, learned) for pair, true, learned in differences]

    def to_dot(self) -> str:
        """Return one drawing of both structures in Graphviz's DOT language.

        Black: in both. Red and dashed: missing. Blue: added. Orange: another direction, as learned;
        dotted when only the member of the class differs.
        """
        from bestdag.evaluation.drawing import comparison_dot

        return comparison_dot(self)

    def plot(self) -> Picture:
        """Draw both structures in one picture, in layers, by kinds as `to_dot` does."""
        from bestdag.evaluation.drawing import comparison_picture

        return comparison_picture(self)

    def _summary(self) -> list[str]:
        lines = [
            f"SHD {self.shd_dag if self.shd_dag is not None else '-'} between DAGs, "
            f"{self.shd_cpdag} between classes; "
            f"{count_of(self.moral_mismatches, 'mismatch', 'mismatches')} of moral graphs"
        ]
        for name in ("skeleton", "arcs", "v_structures"):
            agreement: Agreement = getattr(self, name)
            lines.append(
                f"{name.replace('_', '-')}: precision {agreement.precision:.3f}, "
                f"recall {agreement.recall:.3f}, F1 {agreement.f1:.3f}"
            )
        return lines

    def __str__(self) -> str:
        lines = self._summary()
        rows = self.rows()
        lines += [f"{pair}: {a or 'none'} | {b or 'none'}" for pair, a, b in rows[:_MAX_LINES]]
        if len(rows) > _MAX_LINES:
            lines.append(f"... and {len(rows) - _MAX_LINES:,} more")
        return "\n".join(lines)


def compare(true: Dag | Pdag | Network, learned: Dag | Pdag | Network) -> StructureComparison:
    """Compare a learned structure with the true one.

    Parameters
    ----------
    true, learned : Dag, Pdag or Network
        Over the same nodes, in any order. States and parameters do not matter.

    Returns
    -------
    StructureComparison

    Raises
    ------
    GraphError
        Structures over different nodes; the message names some.

    Notes
    -----
    The structural Hamming distance (SHD) counts one for each pair of nodes whose mark differs, so
    a reversed arc counts once [1]_. Data cannot tell equivalent structures apart, so the distance
    between classes says more about learning than the one between DAGs. The mismatches of moral
    graphs are defined in [2]_.

    References
    ----------
    .. [1] Tsamardinos, Brown and Aliferis (2006). "The max-min hill-climbing Bayesian network
       structure learning algorithm." Machine Learning 65.
    .. [2] Scanagatta, de Campos and Zaffalon (2014). "Min-BDeu and Max-BDeu scores for learning
       Bayesian networks." PGM. Section 4.1.

    Examples
    --------
    >>> true = Dag(["A", "B", "C"], [("A", "B"), ("B", "C")])
    >>> result = compare(true, Dag(["A", "B", "C"], [("B", "A"), ("B", "C")]))
    >>> result.shd_dag, result.shd_cpdag, result.reversed, result.within_class
    (1, 0, (('A', 'B'),), (('A', 'B'),))
    >>> compare(true, true.cpdag()).shd_cpdag
    0
    """
    one, other = _graph_of(true), _graph_of(learned)
    _require_same_nodes(one, other)
    marks, marks_learned = _marks(one), _marks(other)
    classes, classes_learned = _marks(_class_of(one)), _marks(_class_of(other))
    both_directed = not (_has_edges(one) or _has_edges(other))
    added, removed, turned, within, directed, undirected = ([] for _ in range(6))
    for pair in sorted({*marks, *marks_learned}):
        mark, mark_learned = marks.get(pair), marks_learned.get(pair)
        if mark == mark_learned:
            continue
        if mark is None:
            added.append(mark_learned or pair)
        elif mark_learned is None:
            removed.append(mark or pair)
        elif not mark:
            directed.append(mark_learned)
        elif not mark_learned:
            undirected.append(mark)
        else:
            turned.append(mark)
            if classes[pair] == classes_learned[pair]:
                within.append(mark)
    return StructureComparison(
        true=one,
        learned=other,
        shd_dag=_n_differing(marks, marks_learned) if both_directed else None,
        shd_cpdag=_n_differing(classes, classes_learned),
        moral_mismatches=len(_moral_pairs(one) ^ _moral_pairs(other)),
        skeleton=_agreement(marks.keys(), marks_learned.keys()),
        arcs=_agreement(marks.items(), marks_learned.items()),
        v_structures=_agreement(one.v_structures(), other.v_structures()),
        added=tuple(sorted(added)),
        removed=tuple(sorted(removed)),
        reversed=tuple(sorted(turned)),
        within_class=tuple(sorted(within)),
        directed=tuple(sorted(directed)),
        undirected=tuple(sorted(undirected)),
    )


def _graph_of(structure: object) -> Dag | Pdag:
    if not isinstance(structure, Dag | Pdag):
        structure = getattr(structure, "dag", structure)
    if not isinstance(structure, Dag | Pdag):
        raise GraphError(f"compare: needs a Dag, a Pdag or a Network, got {structure!r:.60}")
    return structure


def _require_same_nodes(one: Dag | Pdag, other: Dag | Pdag) -> None:
    missing = sorted(set(one.nodes) - set(other.nodes))
    extra = sorted(set(other.nodes) - set(one.nodes))
    if missing or extra:
        parts = [f"the learned structure lacks {first_names(missing)}"] if missing else []
        parts += [f"the true structure lacks {first_names(extra)}"] if extra else []
        raise GraphError(
            f"compare: both structures need the same nodes; {' and '.join(parts)}; "
            "rename the nodes or leave these out"
        )


def _marks(graph: Dag | Pdag) -> Mapping[_Pair, Any]:
    """Return the arc of each pair that is joined, () for an edge."""
    marks: dict[_Pair, Any] = {(min(arc), max(arc)): arc for arc in graph.arcs}
    if isinstance(graph, Pdag):
        marks.update(dict.fromkeys(graph.edges, ()))
    return marks


def _n_differing(one: Mapping[_Pair, Any], other: Mapping[_Pair, Any]) -> int:
    return sum(one.get(pair) != other.get(pair) for pair in {*one, *other})


def _class_of(graph: Dag | Pdag) -> Pdag:
    return graph.cpdag() if isinstance(graph, Dag) else graph


def _has_edges(graph: Dag | Pdag) -> bool:
    return isinstance(graph, Pdag) and bool(graph.edges)


def _moral_pairs(graph: Dag | Pdag) -> set[_Pair]:
    """Return the pairs of the moral graph: parents that are not joined make a v-structure."""
    pairs = {(x, y) for x, _, y in graph.v_structures()}
    return pairs.union(_marks(graph))


def _agreement(true: Any, learned: Any) -> Agreement:
    return Agreement(len({*true} & {*learned}), len(learned), len(true))


def _shown(pair: _Pair, graph: Dag | Pdag) -> str:
    for parent, child in (pair, pair[::-1]):
        if parent in graph.parents(child):
            return f"{parent} -> {child}"
    return f"{min(pair)} -- {max(pair)}"
