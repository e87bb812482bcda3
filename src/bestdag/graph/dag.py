"""Directed acyclic graphs over named nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from bestdag.errors import GraphError
from bestdag.graph._names import arc_text, as_names, check_nodes, check_pair, require_node, show
from bestdag.graph._walks import cycle_error, first_cycle, reach, topological_order

if TYPE_CHECKING:
    import networkx

    from bestdag.drawing.picture import Picture
    from bestdag.graph.pdag import Pdag
    from bestdag.graph.size import HasArities

__all__ = ["Dag"]

# repr shows every arc up to this number of nodes and arcs, and the numbers beyond.
_MAX_SHOWN = 30


class Dag:
    """A directed acyclic graph: the structure of a Bayesian network.

    A Dag never changes; `add`, `remove` and `reverse` return new ones. Two are equal when they
    have the same nodes and the same arcs, in whatever order these were given. `nodes` keeps the
    given order; everything derived is sorted by name, so results never depend on it.

    Parameters
    ----------
    nodes : iterable of str
        Names, any text, all different. A node may have no arc at all.
    arcs : iterable of (parent, child)
        Each arc once.

    Raises
    ------
    GraphError
        A node or arc listed twice, or something that is not a name or a pair of names.
    UnknownNameError
        An arc from or to a name that is not a node.
    CycleError
        Arcs that close a directed cycle; the message shows it.

    Examples
    --------
    >>> dag = Dag(["rain", "sprinkler", "wet"], [("rain", "wet"), ("sprinkler", "wet")])
    >>> dag.parents("wet")
    ('rain', 'sprinkler')
    >>> dag.d_separated("rain", "sprinkler"), dag.d_separated("rain", "sprinkler", given="wet")
    (True, False)
    >>> dag.add("wet", "rain")
    Traceback (most recent call last):
    ...
    bestdag.errors.CycleError: arc wet -> rain closes a cycle: rain -> wet -> rain
    """

    __slots__ = ("_children", "_hash", "_nodes", "_order", "_parents")

    _nodes: tuple[str, ...]
    _parents: dict[str, tuple[str, ...]]
    _children: dict[str, tuple[str, ...]]
    _order: tuple[str, ...] | None
    _hash: int | None

    def __init__(self, nodes: Iterable[str], arcs: Iterable[tuple[str, str]] = ()) -> None:
        names = check_nodes("Dag", nodes)
        if not isinstance(arcs, Iterable):
            raise GraphError(f"Dag: arcs must be a list of pairs of names, got {arcs!r:.60}")
        parents: dict[str, tuple[str, ...]] = dict.fromkeys(names, ())
        groups: dict[str, list[str]] = {}
        listed: dict[tuple[str, str], None] = {}
        for pair in arcs:
            arc = check_pair("Dag", "arc", pair, parents)
            if arc in listed:
                raise GraphError(f"Dag: arc {arc_text(*arc)} is listed twice")
            listed[arc] = None
            groups.setdefault(arc[1], []).append(arc[0])
        parents.update((child, tuple(sorted(group))) for child, group in groups.items())
        self._set(names, parents)
        if len(self.topological_order()) < len(names):
            raise first_cycle(names, list(listed))

    def _set(self, nodes: tuple[str, ...], parents: dict[str, tuple[str, ...]]) -> None:
        children: dict[str, tuple[str, ...]] = dict.fromkeys(nodes, ())
        groups: dict[str, list[str]] = {}
        for child in sorted(nodes):
            for parent in parents[child]:
                groups.setdefault(parent, []).append(child)
        children.update((parent, tuple(group)) for parent, group in groups.items())
        values = (nodes, parents, children)
        for slot, value in zip(("_nodes", "_parents", "_children"), values, strict=True):
            object.__setattr__(self, slot, value)
        object.__setattr__(self, "_order", None)
        object.__setattr__(self, "_hash", None)

    @classmethod
    def _trusted(cls, nodes: tuple[str, ...], parents: dict[str, tuple[str, ...]]) -> Dag:
        """Build without checks, from sorted parents known to be acyclic."""
        dag = cls.__new__(cls)
        dag._set(nodes, parents)
        return dag

    @classmethod
    def from_parents(cls, parents: Mapping[str, Iterable[str]]) -> Dag:
        """Build from the parents of each child.

        Every name that appears is a node: first the keys, then parents that are no key.

        Examples
        --------
        >>> Dag.from_parents({"wet": ["rain", "sprinkler"]}).nodes
        ('wet', 'rain', 'sprinkler')
        """
        if not isinstance(parents, Mapping):
            raise GraphError(
                "Dag: from_parents needs a mapping of children to their parents, "
                f"got {parents!r:.60}"
            )
        arcs = []
        for child, group in parents.items():
            if isinstance(group, str) or not isinstance(group, Iterable):
                raise GraphError(
                    f"Dag: the parents of {show(child)} must be a list of names, got {group!r}"
                )
            arcs += [(parent, child) for parent in group]
        return cls(dict.fromkeys([*parents, *(parent for parent, _ in arcs)]), arcs)

    @classmethod
    def empty(cls, nodes: Iterable[str]) -> Dag:
        """Build the graph without arcs."""
        return cls(nodes)

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names, in the order given."""
        return self._nodes

    @property
    def arcs(self) -> tuple[tuple[str, str], ...]:
        """Pairs (parent, child), sorted."""
        children = self._children
        return tuple((parent, child) for parent in sorted(children) for child in children[parent])

    @property
    def families(self) -> dict[str, tuple[str, ...]]:
        """Parents of each node, sorted by name; nodes are in the order given.

        Examples
        --------
        >>> Dag(["wet", "rain"], [("rain", "wet")]).families
        {'wet': ('rain',), 'rain': ()}
        """
        return dict(zip(self._nodes, map(self._parents.__getitem__, self._nodes), strict=True))

    def parents(self, node: str) -> tuple[str, ...]:
        """Parents of a node, sorted by name."""
        return self._parents[require_node(node, self._parents)]

    def children(self, node: str) -> tuple[str, ...]:
        """Children of a node, sorted by name."""
        return self._children[require_node(node, self._children)]

    def adjacent(self, node: str) -> tuple[str, ...]:
        """Parents and children of a node, sorted by name."""
        return tuple(sorted((*self.parents(node), *self._children[node])))

    def has_arc(self, parent: str, child: str) -> bool:
        """Whether parent -> child is an arc."""
        return require_node(parent, self._parents) in self.parents(child)

    def ancestors(self, node: str) -> tuple[str, ...]:
        """Nodes with a directed path to this one, without itself, sorted by name."""
        require_node(node, self._parents)
        return tuple(sorted(reach([node], self._parents.__getitem__)))

    def descendants(self, node: str) -> tuple[str, ...]:
        """Nodes with a directed path from this one, without itself, sorted by name."""
        require_node(node, self._children)
        return tuple(sorted(reach([node], self._children.__getitem__)))

    def markov_blanket(self, node: str) -> tuple[str, ...]:
        """Parents, children and the children's other parents, sorted by name."""
        children = self.children(node)
        blanket = {*self._parents[node], *children}
        blanket.update(*(self._parents[child] for child in children))
        return tuple(sorted(blanket - {node}))

    def topological_order(self) -> tuple[str, ...]:
        """Nodes with each after its parents; ties go to the first name."""
        if self._order is None:
            object.__setattr__(self, "_order", topological_order(self._children))
        assert self._order is not None
        return self._order

    def add(self, parent: str, child: str) -> Dag:
        """Return the graph with one arc more."""
        parent, child = check_pair("add", "arc", (parent, child), self._parents)
        if self.has_arc(parent, child):
            raise GraphError(f"add: arc {arc_text(parent, child)} is there already")
        error = cycle_error(parent, child, self._children.__getitem__)
        if error:
            raise error
        return self._with_parents(child, (*self._parents[child], parent))

    def remove(self, parent: str, child: str) -> Dag:
        """Return the graph with one arc less."""
        self._require_arc("remove", parent, child)
        return self._with_parents(child, (p for p in self._parents[child] if p != parent))

    def reverse(self, parent: str, child: str) -> Dag:
        """Return the graph with one arc turned round."""
        self._require_arc("reverse", parent, child)
        return self.remove(parent, child).add(child, parent)

    def subgraph(self, nodes: Iterable[str]) -> Dag:
        """Return the graph on some of the nodes, with all arcs between them."""
        keep = as_names(check_nodes("subgraph", nodes), self._parents)
        return Dag._trusted(
            tuple(name for name in self._nodes if name in keep),
            {name: tuple(p for p in self._parents[name] if p in keep) for name in keep},
        )

    def skeleton(self) -> Pdag:
        """Return the undirected graph of the arcs: a Pdag with edges only."""
        from bestdag.graph.equivalence import skeleton

        return skeleton(self)

    def moral_graph(self) -> Pdag:
        """Return the skeleton with the parents of each child joined: a Pdag with edges only."""
        from bestdag.graph.equivalence import moral_graph

        return moral_graph(self)

    def v_structures(self) -> tuple[tuple[str, str, str], ...]:
        """Triples (x, z, y), x before y, with arcs x -> z <- y and x, y not adjacent; sorted."""
        from bestdag.graph.equivalence import v_structures

        return v_structures(self)

    def cpdag(self) -> Pdag:
        """Return the essential graph: compelled arcs directed, reversible ones as edges."""
        from bestdag.graph.equivalence import cpdag

        return cpdag(self)

    def is_equivalent(self, other: Dag) -> bool:
        """Whether both imply the same independences: same nodes, skeleton and v-structures."""
        from bestdag.graph.equivalence import is_equivalent

        return is_equivalent(self, other)

    def d_separated(
        self, x: str | Iterable[str], y: str | Iterable[str], given: str | Iterable[str] = ()
    ) -> bool:
        """Whether `given` blocks every trail between `x` and `y` (names or sets of names)."""
        from bestdag.graph.separation import d_separated

        return d_separated(self, x, y, given)

    def n_parameters(self, data: HasArities | Mapping[str, int]) -> int:
        """Count the free parameters over a Dataset's variables, or over a mapping of arities."""
        from bestdag.graph.size import n_parameters

        return n_parameters(self, data)

    def to_networkx(self) -> networkx.DiGraph[str]:
        """Return a networkx DiGraph."""
        from bestdag.graph.export import dag_to_networkx

        return dag_to_networkx(self)

    @classmethod
    def from_networkx(cls, graph: networkx.Graph[Any]) -> Dag:
        """Build from a networkx DiGraph whose nodes are text."""
        from bestdag.graph.export import dag_from_networkx

        return dag_from_networkx(graph)

    def to_model_string(self) -> str:
        """Return the structure as R's bnlearn writes it, each node after its parents.

        Names that are empty, have ``[``, ``]``, ``|`` or ``:`` in them, or spaces around them are
        refused.

        Examples
        --------
        >>> Dag(["B", "A", "C"], [("A", "B"), ("C", "B")]).to_model_string()
        '[A][C][B|A:C]'
        """
        from bestdag.graph.export import to_model_string

        return to_model_string(self)

    @classmethod
    def from_model_string(cls, text: str) -> Dag:
        """Build from a model string, as ``modelstring()`` of R's bnlearn writes it.

        Examples
        --------
        >>> Dag.from_model_string("[A][C][B|A:C]").arcs
        (('A', 'B'), ('C', 'B'))
        """
        from bestdag.graph.export import dag_from_model_string

        return dag_from_model_string(text)

    def to_dot(self) -> str:
        """Return the graph in Graphviz's DOT language."""
        from bestdag.graph.export import to_dot

        return to_dot(self._nodes, self.arcs)

    def plot(self) -> Picture:
        """Draw the graph in layers, parents above children.

        Arcs that all equivalent structures share are drawn through, reversible ones dashed.
        """
        from bestdag.graph.plotting import plot_dag

        return plot_dag(self)

    def _repr_svg_(self) -> str | None:
        from bestdag.graph.plotting import notebook_svg

        return notebook_svg(self, len(self._nodes))

    def _require_arc(self, who: str, parent: str, child: str) -> None:
        if not self.has_arc(parent, child):
            raise GraphError(f"{who}: there is no arc {arc_text(parent, child)}")

    def _with_parents(self, child: str, parents: Iterable[str]) -> Dag:
        return Dag._trusted(self._nodes, {**self._parents, child: tuple(sorted(parents))})

    def __eq__(self, other: object) -> bool:
        return self._parents == other._parents if isinstance(other, Dag) else NotImplemented

    def __hash__(self) -> int:
        if self._hash is None:
            object.__setattr__(self, "_hash", hash(frozenset(self._parents.items())))
        assert self._hash is not None
        return self._hash

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Dag never changes: {name!r} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Dag never changes: {name!r} cannot be deleted")

    def __reduce__(self) -> tuple[type[Dag], tuple[Any, ...]]:
        return Dag, (self._nodes, self.arcs)

    def __str__(self) -> str:
        from bestdag.graph.export import to_text

        return to_text("Dag", self._nodes, self.arcs)

    def __repr__(self) -> str:
        arcs = self.arcs
        if max(len(arcs), len(self._nodes)) > _MAX_SHOWN:
            return f"<Dag: {len(self._nodes):,} nodes, {len(arcs):,} arcs>"
        return f"Dag({list(self._nodes)!r}, {list(arcs)!r})"
