"""Meek's rules: the directions that follow from those already there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bestdag.errors import GraphError
from bestdag.graph._names import show
from bestdag.graph._walks import topological_order
from bestdag.graph.pdag import Pdag

__all__ = ["WorkingGraph", "apply_meek_rules"]


class WorkingGraph:
    """A Pdag that changes while edges are directed; its skeleton stays as it is."""

    __slots__ = ("adjacent", "children", "neighbours", "parents")

    def __init__(
        self,
        parents: dict[str, set[str]],
        children: dict[str, set[str]],
        neighbours: dict[str, set[str]],
        adjacent: dict[str, frozenset[str]],
    ) -> None:
        self.parents = parents
        self.children = children
        self.neighbours = neighbours
        self.adjacent = adjacent

    @classmethod
    def of(cls, graph: Pdag) -> WorkingGraph:
        """Start from a Pdag."""
        return cls(
            {node: set(graph.parents(node)) for node in graph.nodes},
            {node: set(graph.children(node)) for node in graph.nodes},
            {node: set(graph.neighbours(node)) for node in graph.nodes},
            {node: frozenset(graph.adjacent(node)) for node in graph.nodes},
        )

    def copy(self) -> WorkingGraph:
        """Return a copy that changes independently."""
        return WorkingGraph(
            _copy(self.parents), _copy(self.children), _copy(self.neighbours), self.adjacent
        )

    def direct(self, arcs: Iterable[tuple[str, str]]) -> None:
        """Direct edges along the given arcs, and all others that follow by the rules.

        Arcs already there are looked at again for what follows from them.
        """
        waiting = list(arcs)
        for arc in waiting:
            self._direct_one(*arc)
        while waiting:
            a, b = waiting.pop()
            follow = {*self._rule_1(a, b), *self._rule_2(a, b)}
            follow |= {*self._rule_3(a, b), *self._rule_4(a, b)}
            for arc in sorted(follow):  # sorted: errors, too, are the same in every run
                if self._direct_one(*arc):
                    waiting.append(arc)

    def _direct_one(self, parent: str, child: str) -> bool:
        if child not in self.neighbours[parent]:
            return False
        self.neighbours[parent].discard(child)
        self.neighbours[child].discard(parent)
        self.children[parent].add(child)
        self.parents[child].add(parent)
        return True

    # Each rule yields what follows from a -> b together with the rest of the graph. Edges never
    # appear, so the last arc of a premise to be looked at finds the case. Where an edge of the
    # premise of rule 3 or 4 has been directed before that, rules 1 and 2 give the same arc.

    def _rule_1(self, a: str, b: str) -> Iterator[tuple[str, str]]:
        """Rule 1: a -> b - c, a and c not adjacent: b -> c, else there is a new v-structure."""
        for c in self.neighbours[b] - self.adjacent[a]:
            yield b, c

    def _rule_2(self, a: str, b: str) -> Iterator[tuple[str, str]]:
        """Rule 2: x -> y -> z and x - z: x -> z, else there is a cycle."""
        for z in self.children[b] & self.neighbours[a]:
            yield a, z
        for x in self.parents[a] & self.neighbours[b]:
            yield x, b

    def _rule_3(self, a: str, b: str) -> Iterator[tuple[str, str]]:
        """Rule 3: x - a -> b, x - c -> b, x - b, a and c not adjacent: x -> b."""
        for x in self.neighbours[a] & self.neighbours[b]:
            if (self.parents[b] & self.neighbours[x]) - self.adjacent[a] - {a}:
                yield x, b

    def _rule_4(self, a: str, b: str) -> Iterator[tuple[str, str]]:
        """Rule 4: c -> d -> y, x - c, x - y, x and d adjacent, c and y not: x -> y."""
        for y in self.children[b] - self.adjacent[a]:  # a -> b is c -> d
            for x in self.neighbours[a] & self.neighbours[y] & self.adjacent[b]:
                yield x, y
        for c in self.parents[a] - self.adjacent[b]:  # a -> b is d -> y
            for x in self.neighbours[c] & self.neighbours[b] & self.adjacent[a]:
                yield x, b


def _copy(groups: dict[str, set[str]]) -> dict[str, set[str]]:
    return {node: set(group) for node, group in groups.items()}


def apply_meek_rules(graph: Pdag) -> Pdag:
    """Return the closure under Meek's four rules.

    Notes
    -----
    Where the rules demand both directions of an edge, whichever is taken ends in a cycle or
    in a v-structure that was not there; then the graph has no consistent extension, the
    closure would depend on the order of the rules, and an error is raised instead.

    References
    ----------
    .. [1] Meek (1995). "Causal inference and causal explanation with background knowledge."
       UAI, section 2.1.2.
    """
    work = WorkingGraph.of(graph)
    work.direct(graph.arcs)
    arcs = [(parent, child) for parent, group in work.children.items() for child in group]
    edges = [(x, y) for x, group in work.neighbours.items() for y in group if x < y]
    result = Pdag._trusted(graph.nodes, arcs, edges)
    new = sorted(set(result.v_structures()).difference(graph.v_structures()))
    if new:
        x, z, y = map(show, new[0])
        raise GraphError(f"apply_meek_rules: the arcs force a new v-structure {x} -> {z} <- {y}")
    if len(topological_order(work.children)) < len(graph.nodes):
        raise GraphError("apply_meek_rules: the arcs force a directed cycle")
    return result
