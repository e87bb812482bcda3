"""Greedy equivalence search, literally: every valid operator of every pair at every step.

Moves are listed and checked by the definitions, on immutable graphs, and nothing is remembered
from one class to the next.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from bestdag.errors import GraphError
from bestdag.graph._walks import reach
from bestdag.graph.dag import Dag
from bestdag.graph.equivalence import WorkingGraph
from bestdag.graph.pdag import Pdag

__all__ = ["LISTINGS", "Delete", "Insert", "Turn", "View", "greedy", "moves", "ranked"]

Family = tuple[str, frozenset[str]]
Score = Callable[[Family], float]


class View:
    """A CPDAG with the sets around each node at hand."""

    __slots__ = ("adjacent", "children", "graph", "neighbours", "parents")

    def __init__(self, graph: Pdag) -> None:
        self.graph = graph
        self.parents = {v: frozenset(graph.parents(v)) for v in graph.nodes}
        self.children = {v: frozenset(graph.children(v)) for v in graph.nodes}
        self.neighbours = {v: frozenset(graph.neighbours(v)) for v in graph.nodes}
        self.adjacent = {v: frozenset(graph.adjacent(v)) for v in graph.nodes}

    def shared(self, x: str, y: str) -> frozenset[str]:
        """Neighbours of y that are adjacent to x: Chickering's NA(y, x)."""
        return self.neighbours[y] & self.adjacent[x]

    def is_clique(self, nodes: frozenset[str]) -> bool:
        """Whether every two of the nodes are adjacent."""
        return all(nodes - self.adjacent[v] == {v} for v in nodes)

    def is_cut_off(self, start: str, end: str, blocked: frozenset[str]) -> bool:
        """Whether no path along arcs and edges leads from start to end past the blocked nodes."""
        return end not in reach(
            [start], lambda v: (self.children[v] | self.neighbours[v]) - blocked
        )

    def directed(self, arcs: set[tuple[str, str]], without: frozenset[str]) -> Pdag:
        """Return the graph without one adjacency, with these arcs in place of edges or new."""
        pairs = {frozenset(arc) for arc in arcs} | {without}
        kept = [arc for arc in self.graph.arcs if frozenset(arc) not in pairs]
        edges = [edge for edge in self.graph.edges if frozenset(edge) not in pairs]
        return Pdag(self.graph.nodes, [*kept, *sorted(arcs)], edges)


@dataclass(frozen=True, slots=True)
class Insert:
    """Join x and y, which are not adjacent, and direct the neighbours `others` of y into y.

    References
    ----------
    .. [1] Chickering (2002). "Optimal structure identification with greedy search." JMLR 3,
       definition 12, theorems 15 and 17.
    """

    x: str
    y: str
    others: frozenset[str]

    def families(self, view: View) -> tuple[list[Family], list[Family]]:
        """Return the families that go and those that come."""
        base = view.shared(self.x, self.y) | self.others | view.parents[self.y]
        return [(self.y, base)], [(self.y, base | {self.x})]

    def is_valid(self, view: View) -> bool:
        """Whether the move leads to a class that has a member with one arc more."""
        barrier = view.shared(self.x, self.y) | self.others
        return view.is_clique(barrier) and view.is_cut_off(self.y, self.x, barrier)

    def apply(self, view: View) -> Pdag:
        """Return a graph whose extension is in the new class."""
        arcs = {(self.x, self.y)} | {(v, self.y) for v in self.others}
        return view.directed(arcs, frozenset())

    def __str__(self) -> str:
        return _text("insert", self.x, self.y, self.others)


@dataclass(frozen=True, slots=True)
class Delete:
    """Part x and y, joined by x - y or x -> y, and direct edges to `others` away from both.

    References
    ----------
    .. [1] Chickering (2002). "Optimal structure identification with greedy search." JMLR 3,
       definition 13, theorems 16 and 18.
    """

    x: str
    y: str
    others: frozenset[str]

    def families(self, view: View) -> tuple[list[Family], list[Family]]:
        """Return the families that go and those that come."""
        kept = (view.shared(self.x, self.y) - self.others) | view.parents[self.y]
        return [(self.y, kept | {self.x})], [(self.y, kept - {self.x})]

    def is_valid(self, view: View) -> bool:
        """Whether the move leads to a class that has a member with one arc less."""
        return view.is_clique(view.shared(self.x, self.y) - self.others)

    def apply(self, view: View) -> Pdag:
        """Return a graph whose extension is in the new class."""
        arcs = {(self.y, v) for v in self.others}
        arcs |= {(self.x, v) for v in self.others & view.neighbours[self.x]}
        return view.directed(arcs, frozenset((self.x, self.y)))

    def __str__(self) -> str:
        return _text("delete", self.x, self.y, self.others)


@dataclass(frozen=True, slots=True)
class Turn:
    """Reverse y -> x in a member of the class where y has the parents `others` beside its own.

    Notes
    -----
    In such a member x has no neighbour as a parent unless it is a parent of y as well: y -> x - z
    needs y -> z, and then z -> x would close a cycle with x -> y. So `others` says all. Where
    y - x is an edge and all `others` are adjacent to x, the arc is covered and its reversal
    stays in the class: such moves are not listed.

    References
    ----------
    .. [1] Hauser and Bühlmann (2012). "Characterization and greedy learning of interventional
       Markov equivalence classes of directed acyclic graphs." JMLR 13, section 4.3.
    """

    x: str
    y: str
    others: frozenset[str]

    def families(self, view: View) -> tuple[list[Family], list[Family]]:
        """Return the families that go and those that come."""
        of_y = view.parents[self.y] | self.others
        of_x = view.parents[self.x] - {self.y}
        if self.y in view.neighbours[self.x]:
            of_x |= self.others & view.neighbours[self.x]
        before = [(self.y, of_y), (self.x, of_x | {self.y})]
        return before, [(self.y, of_y | {self.x}), (self.x, of_x)]

    def is_valid(self, view: View) -> bool:
        """Whether there is such a member, and reversing the arc closes no cycle."""
        return self._turned(view) is not None

    def apply(self, view: View) -> Pdag:
        """Return a graph whose extension is in the new class."""
        turned = self._turned(view)
        assert turned is not None
        return Pdag(turned.nodes, turned.arcs, [])

    def _turned(self, view: View) -> Dag | None:
        x, y = self.x, self.y
        work = WorkingGraph.of(view.graph)
        work.direct([(v, y) for v in sorted(self.others)])
        work.direct([(y, v) for v in sorted(work.neighbours[y])])
        work.direct([(x, v) for v in sorted(work.neighbours[x])])
        directed = Pdag._trusted(
            view.graph.nodes,
            [(p, child) for child, group in work.parents.items() for p in group],
            [(v, w) for v, group in work.neighbours.items() for w in group if v < w],
        )
        before, _ = self.families(view)
        try:
            member = directed.to_dag()
            if any(frozenset(member.parents(child)) != parents for child, parents in before):
                return None
            return member.reverse(y, x) if member.cpdag() == view.graph else None
        except GraphError:  # no such member, or a cycle
            return None

    def __str__(self) -> str:
        return _text("turn", self.x, self.y, self.others)


Move = Insert | Delete | Turn


def inserts(view: View, x: str, y: str) -> Iterator[Insert]:
    """List the insertions of x -> y whose barrier is a clique; paths are not looked at."""
    if x == y or x in view.adjacent[y]:
        return
    shared = view.shared(x, y)
    if not view.is_clique(shared):
        return
    free = view.neighbours[y] - view.adjacent[x]
    for others in _cliques(view, free, shared):
        yield Insert(x, y, others)


def deletes(view: View, x: str, y: str) -> Iterator[Delete]:
    """List the valid deletions of x - y or x -> y."""
    if x not in view.parents[y] and x not in view.neighbours[y]:
        return
    shared = view.shared(x, y)
    for kept in _cliques(view, shared, frozenset()):
        yield Delete(x, y, shared - kept)


def turns(view: View, x: str, y: str) -> Iterator[Turn]:
    """List the turnings of y -> x or y - x into x -> y that may be valid."""
    is_arc = y in view.parents[x]
    if not is_arc and y not in view.neighbours[x]:
        return
    free = view.neighbours[y] - {x}
    for others in _cliques(view, free, frozenset()):
        if is_arc or not others <= view.adjacent[x]:
            yield Turn(x, y, others)


def _cliques(view: View, nodes: frozenset[str], fixed: frozenset[str]) -> Iterator[frozenset[str]]:
    """All subsets of `nodes` that form a clique together with the clique `fixed`."""
    fitting = sorted(v for v in nodes if fixed <= view.adjacent[v])
    stack: list[tuple[frozenset[str], list[str]]] = [(frozenset(), fitting)]
    while stack:
        chosen, left = stack.pop()
        yield chosen
        for place, v in enumerate(left):
            later = [w for w in left[place + 1 :] if w in view.adjacent[v]]
            stack.append((chosen | {v}, later))


def _text(what: str, x: str, y: str, others: frozenset[str]) -> str:
    more = f" with {', '.join(sorted(others))}" if others else ""
    return f"{what} {x} -> {y}{more}"


LISTINGS = (inserts, deletes, turns)


def moves(view: View, listing: Callable[[View, str, str], Iterator[Move]]) -> list[Move]:
    """List the valid moves of one kind, of all pairs."""
    pairs = itertools.permutations(sorted(view.graph.nodes), 2)
    return [move for x, y in pairs for move in listing(view, x, y) if move.is_valid(view)]


def gain_of(move: Move, view: View, score: Score) -> float:
    """Work out what a move adds to the score."""
    before, after = move.families(view)
    return sum(map(score, after)) - sum(map(score, before))


def ranked(
    view: View, listing: Callable[[View, str, str], Iterator[Move]], score: Score, unit: float
) -> list[tuple[float, Move]]:
    """List the valid moves that gain more than a unit, best first, equal ones by name."""
    gains = [(gain_of(move, view, score), move) for move in moves(view, listing)]
    return sorted(
        ((gain, move) for gain, move in gains if gain > unit),
        key=lambda e: (-np.rint(e[0] / unit), e[1].x, e[1].y, sorted(e[1].others)),
    )


def greedy(
    start: Dag,
    score: Score,
    allows: Callable[[Dag], bool],
    limit: Callable[[str], int],
    *,
    turning: bool,
) -> tuple[Pdag, list[str]]:
    """Insert and delete while that gains, then turn, and again; return the last class and moves.

    A move must lead to a class with a member that `allows` says yes to, and the families it
    brings must keep to the limits of their children.
    """
    graph, taken = start.cpdag(), []
    n_idle = place = 0  # kinds of moves since the last one taken; the next kind
    while n_idle < (3 if turning else 2):
        n_before = len(taken)
        while step := _best(View(graph), LISTINGS[place], score, allows, limit):
            graph, text = step
            taken.append(text)
        n_idle = 1 if len(taken) > n_before else n_idle + 1
        # Turns come where neither of the others gains, and the others after every turn.
        place = {0: 1, 1: 2 if n_idle >= 2 else 0, 2: 0}[place]
    return graph, taken


def _best(
    view: View,
    listing: Callable[[View, str, str], Iterator[Move]],
    score: Score,
    allows: Callable[[Dag], bool],
    limit: Callable[[str], int],
) -> tuple[Pdag, str] | None:
    member = view.graph.to_dag()
    total = sum(score((v, frozenset(member.parents(v)))) for v in member.nodes)
    for _, move in ranked(view, listing, score, 1e-12 * max(1.0, abs(total))):
        if any(len(parents) > limit(child) for child, parents in move.families(view)[1]):
            continue
        graph = move.apply(view).to_dag().cpdag()
        if any(map(allows, graph.members())):
            return graph, str(move)
    return None
