"""Partially directed acyclic graphs: arcs, and edges without a direction."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from bestdag.errors import GraphError
from bestdag.graph._names import arc_text, check_nodes, check_pair, require_node, show
from bestdag.graph._walks import first_cycle, topological_order

if TYPE_CHECKING:
    import networkx

    from bestdag.drawing.picture import Picture
    from bestdag.graph.dag import Dag

__all__ = ["Pdag"]

# repr shows every arc and edge up to this number, and only how many there are beyond it.
_MAX_SHOWN = 30


class Pdag:
    """A graph with directed arcs and undirected edges, and no directed cycle.

    A CPDAG (essential graph) is the Pdag of an equivalence class: arcs where all members of the
    class agree on the direction, edges elsewhere. Purely undirected graphs (skeletons, moral
    graphs) are Pdags without arcs. A Pdag never changes, and two are equal when they have the
    same nodes, arcs and edges. `nodes` has the order of the argument; everything else is sorted
    by name.

    Parameters
    ----------
    nodes : iterable of str
        Names, any text, all different.
    arcs : iterable of (parent, child)
        The directed part, each arc once.
    edges : iterable of (node, node)
        The undirected part, each edge once, its two ends in any order.

    Raises
    ------
    GraphError
        A node, arc or edge listed twice, or two nodes joined by both an arc and an edge.
    UnknownNameError
        An arc or edge with an end that is not a node.
    CycleError
        Arcs that close a directed cycle; the message shows it.

    References
    ----------
    .. [1] Carvalho (2009). "Scoring functions for learning Bayesian networks." INESC-ID
       Tec. Rep. 54, Definitions 2.14 to 2.16.

    Examples
    --------
    >>> graph = Pdag(["A", "B", "C", "D"], [("A", "C"), ("B", "C")], [("C", "D")])
    >>> graph.neighbours("C"), graph.adjacent("C")
    (('D',), ('A', 'B', 'D'))
    >>> graph.apply_meek_rules().arcs
    (('A', 'C'), ('B', 'C'), ('C', 'D'))
    """

    __slots__ = ("_children", "_hash", "_neighbours", "_nodes", "_parents")

    _nodes: tuple[str, ...]
    _parents: dict[str, tuple[str, ...]]
    _children: dict[str, tuple[str, ...]]
    _neighbours: dict[str, tuple[str, ...]]
    _hash: int | None

    def __init__(
        self,
        nodes: Iterable[str],
        arcs: Iterable[tuple[str, str]] = (),
        edges: Iterable[tuple[str, str]] = (),
    ) -> None:
        names = check_nodes("Pdag", nodes)
        known = dict.fromkeys(names)
        directed = [check_pair("Pdag", "arc", pair, known) for pair in arcs]
        undirected = [check_pair("Pdag", "edge", pair, known) for pair in edges]
        seen: set[tuple[str, str]] = set()
        for arc in directed:
            if arc in seen:
                raise GraphError(f"Pdag: arc {arc_text(*arc)} is listed twice")
            seen.add(arc)
        for one, other in undirected:
            if (one, other) in seen or (other, one) in seen:
                raise GraphError(f"Pdag: {show(one)} and {show(other)} are joined twice")
            seen.add((one, other))
        self._set(names, directed, undirected)
        if len(topological_order(self._children)) < len(names):
            raise first_cycle(names, directed)

    def _set(
        self,
        nodes: tuple[str, ...],
        arcs: Iterable[tuple[str, str]],
        edges: Iterable[tuple[str, str]],
    ) -> None:
        parents: dict[str, list[str]] = {name: [] for name in nodes}
        children: dict[str, list[str]] = {name: [] for name in nodes}
        neighbours: dict[str, list[str]] = {name: [] for name in nodes}
        for parent, child in arcs:
            parents[child].append(parent)
            children[parent].append(child)
        for one, other in edges:
            neighbours[one].append(other)
            neighbours[other].append(one)
        object.__setattr__(self, "_nodes", nodes)
        object.__setattr__(self, "_hash", None)
        for slot, groups in (
            ("_parents", parents),
            ("_children", children),
            ("_neighbours", neighbours),
        ):
            frozen = {name: tuple(sorted(group)) for name, group in groups.items()}
            object.__setattr__(self, slot, frozen)

    @classmethod
    def _trusted(
        cls,
        nodes: tuple[str, ...],
        arcs: Iterable[tuple[str, str]],
        edges: Iterable[tuple[str, str]],
    ) -> Pdag:
        """Build without checks."""
        graph = cls.__new__(cls)
        graph._set(nodes, arcs, edges)
        return graph

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names, in the order of the argument."""
        return self._nodes

    @property
    def arcs(self) -> tuple[tuple[str, str], ...]:
        """Directed pairs (parent, child), sorted."""
        groups = self._children
        return tuple((parent, child) for parent in sorted(groups) for child in groups[parent])

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """Undirected pairs, each in name order, sorted."""
        groups = self._neighbours
        return tuple((one, other) for one in sorted(groups) for other in groups[one] if one < other)

    def parents(self, node: str) -> tuple[str, ...]:
        """Return the nodes with an arc to this one, sorted by name."""
        return self._parents[require_node(node, self._parents)]

    def children(self, node: str) -> tuple[str, ...]:
        """Return the nodes with an arc from this one, sorted by name."""
        return self._children[require_node(node, self._children)]

    def neighbours(self, node: str) -> tuple[str, ...]:
        """Return the nodes joined to this one by an undirected edge, sorted by name."""
        return self._neighbours[require_node(node, self._neighbours)]

    def adjacent(self, node: str) -> tuple[str, ...]:
        """Return the nodes joined to this one by an arc or an edge, sorted by name."""
        return tuple(sorted((*self.parents(node), *self._children[node], *self._neighbours[node])))

    def skeleton(self) -> Pdag:
        """Return the graph with all directions removed."""
        return Pdag._trusted(self._nodes, (), (*self.arcs, *self.edges))

    def v_structures(self) -> tuple[tuple[str, str, str], ...]:
        """Return the triples (x, z, y), x before y, with x -> z <- y and x, y not adjacent; sorted.

        Edges do not count: a v-structure has two arcs.

        Examples
        --------
        >>> Pdag(["A", "B", "C"], [("A", "C"), ("B", "C")]).v_structures()
        (('A', 'C', 'B'),)
        """
        from bestdag.graph.equivalence import v_structures

        return v_structures(self)

    def is_cpdag(self) -> bool:
        """Whether this graph is the CPDAG of some Dag: an edge wherever members disagree, no other.

        It is decided by making a Dag of it (`to_dag`) and comparing the CPDAG of that.
        """
        from bestdag.graph.equivalence import is_cpdag

        return is_cpdag(self)

    def apply_meek_rules(self) -> Pdag:
        """Return the graph with every edge directed that Meek's four rules direct.

        The result has the same consistent extensions, and an edge stays undirected only
        when both of its directions occur among them.

        Raises
        ------
        GraphError
            When the rules contradict each other, so that no consistent extension exists.

        References
        ----------
        .. [1] Meek (1995). "Causal inference and causal explanation with background knowledge."
           UAI, section 2.1.2.

        Examples
        --------
        >>> Pdag(["A", "B", "C"], [("A", "B")], [("B", "C")]).apply_meek_rules().arcs
        (('A', 'B'), ('B', 'C'))
        """
        from bestdag.graph.equivalence import apply_meek_rules

        return apply_meek_rules(self)

    def to_dag(self) -> Dag:
        """Return a Dag with this skeleton, these arcs and no further v-structure.

        Of a CPDAG it is one member of the class: that which tends to follow the order of names.

        Raises
        ------
        GraphError
            When there is none.

        References
        ----------
        .. [1] Dor and Tarsi (1992). "A simple algorithm to construct a consistent extension of a
           partially oriented graph." UCLA Cognitive Systems Laboratory, R-185.

        Examples
        --------
        >>> Pdag(["A", "B", "C"], [], [("A", "B"), ("B", "C")]).to_dag().arcs
        (('A', 'B'), ('B', 'C'))
        """
        from bestdag.graph.equivalence import to_dag

        return to_dag(self)

    def members(self, *, limit: int = 10_000) -> tuple[Dag, ...]:
        """Return all Dags of the equivalence class of a CPDAG, sorted by their arcs.

        Parameters
        ----------
        limit : int, default 10,000
            A class with more members is refused, never cut short.

        Raises
        ------
        GraphError
            When the graph is no CPDAG, or its class has more than `limit` members.

        Notes
        -----
        A class can have very many members: n! where all n nodes are joined by edges.

        Examples
        --------
        >>> [dag.arcs for dag in Pdag(["A", "B"], [], [("A", "B")]).members()]
        [(('A', 'B'),), (('B', 'A'),)]
        """
        from bestdag.graph.equivalence import members

        return members(self, limit=limit)

    def to_networkx(self) -> networkx.DiGraph[str]:
        """Return a networkx DiGraph in which an edge is a pair of opposite arcs.

        `from_networkx` reads it back: a Pdag has no directed cycle, so the pair means nothing else.
        """
        from bestdag.graph.export import pdag_to_networkx

        return pdag_to_networkx(self)

    @classmethod
    def from_networkx(cls, graph: networkx.Graph[Any]) -> Pdag:
        """Build from a networkx DiGraph (opposite arcs make an edge) or Graph (all edges)."""
        from bestdag.graph.export import pdag_from_networkx

        return pdag_from_networkx(graph)

    def to_dot(self) -> str:
        """Return the graph in Graphviz's DOT language; edges have ``dir=none``."""
        from bestdag.graph.export import to_dot

        return to_dot(self._nodes, self.arcs, self.edges)

    def plot(self) -> Picture:
        """Draw the graph in layers; edges have no head."""
        from bestdag.graph.plotting import plot_pdag

        return plot_pdag(self)

    def _repr_svg_(self) -> str | None:
        from bestdag.graph.plotting import notebook_svg

        return notebook_svg(self, len(self._nodes))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pdag):
            return NotImplemented
        return self._parents == other._parents and self._neighbours == other._neighbours

    def __hash__(self) -> int:
        if self._hash is None:
            content = (frozenset(self._parents.items()), frozenset(self._neighbours.items()))
            object.__setattr__(self, "_hash", hash(content))
        assert self._hash is not None
        return self._hash

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Pdag never changes: {name!r} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Pdag never changes: {name!r} cannot be deleted")

    def __reduce__(self) -> tuple[type[Pdag], tuple[Any, ...]]:
        return Pdag, (self._nodes, self.arcs, self.edges)

    def __str__(self) -> str:
        from bestdag.graph.export import to_text

        return to_text("Pdag", self._nodes, self.arcs, self.edges)

    def __repr__(self) -> str:
        arcs, edges = self.arcs, self.edges
        if max(len(self._nodes), len(arcs) + len(edges)) > _MAX_SHOWN:
            numbers = f"{len(self._nodes):,} nodes, {len(arcs):,} arcs, {len(edges):,} edges"
            return f"<Pdag: {numbers}>"
        return f"Pdag({list(self._nodes)!r}, {list(arcs)!r}, {list(edges)!r})"
