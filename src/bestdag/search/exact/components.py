"""Separate problems inside a score table, and what is known of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bestdag.scores.table import ParentSets, ScoreTable
from bestdag.search.result import Status

__all__ = ["Component", "Interim", "Solution", "decompose"]


@dataclass(frozen=True, slots=True, eq=False)
class Component:
    """A problem of its own, and where its parts come from.

    Attributes
    ----------
    variables : tuple of int
        The numbers its variables have in the whole table, ascending.
    table : ScoreTable
        The candidate sets restricted to these variables.
    origins : tuple of int64 array
        For each of its children, the position in the whole table of the set behind each
        restricted set.
    """

    variables: tuple[int, ...]
    table: ScoreTable
    origins: tuple[npt.NDArray[np.int64], ...]


class Interim(NamedTuple):
    """What an engine knows while it works: a choice of sets, its score, and what none exceeds.

    There is no choice where it is about a part of the table only.
    """

    bound: float
    score: float | None = None
    chosen: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """One parent set per child, without a cycle, and what is proven about the choice.

    Attributes
    ----------
    chosen : tuple of int
        For child number i, the position of its chosen set in ``table.child(i)``.
    score : float
        Sum of the chosen sets' scores, rounded once (`math.fsum`).
    bound : float
        No acyclic choice scores more than this and `resolution` together; at least `score`, and
        equal to it only when the optimum is proved.
    status : {"optimum proved", "step limit", "time limit", "interrupted"}
        How the work ended.
    resolution : float
        What the arithmetic can hide, in nats; 0 when a proof is exact up to the rounding of double
        precision.
    engines : tuple of str
        Who did it.
    proofs : tuple
        What a check of the bound needs; their classes depend on the engine.
    n_nodes : int
        Size of the search: nodes of the tree, or subsets of the dynamic program.
    seconds : float
    was_interrupted : bool
        Whether Ctrl-C came; it does not lose what was proved by then, but nothing more should be
        begun.
    notes : tuple of str
        What the user should know about how it was done.
    """

    chosen: tuple[int, ...]
    score: float
    bound: float
    status: Status
    resolution: float = 0.0
    engines: tuple[str, ...] = ()
    proofs: tuple[Any, ...] = ()
    n_nodes: int = 0
    seconds: float = 0.0
    was_interrupted: bool = False
    notes: tuple[str, ...] = ()

    @property
    def is_proved(self) -> bool:
        """Whether no acyclic choice scores more than ``score + resolution``."""
        return self.status == "optimum proved"

    @property
    def gap(self) -> float:
        """``bound - score``, in nats."""
        return self.bound - self.score


def decompose(table: ScoreTable) -> tuple[Component, ...]:
    """Split a table into problems that can be solved one by one.

    Take the graph with an arc u -> v whenever u is in some candidate set of v. Each of its
    strongly connected components is a problem of its own: a candidate set is restricted to the
    members inside the component, and of the sets that look the same then the best one is kept.
    Sets worse than a restricted set without members are dropped, and what then falls apart is
    split again.

    Returns
    -------
    tuple of Component
        Every variable is in exactly one; in order of their first variables.

    Notes
    -----
    Solving the components independently is exact:

    1. A choice of one set per child is a subgraph of the candidate-parent graph. A directed cycle
       stays inside one strongly connected component, for its nodes reach each other. So the
       choice is acyclic if and only if, for every component, its arcs inside that component are:
       members outside are free.
    2. The score is a sum over children, and each child is in one component. So the best acyclic
       choice is a best acyclic choice in each component, made separately.
    3. Whether a choice is acyclic inside a component depends only on the restricted sets. Of two
       sets with the same restriction the better can replace the other in any choice; and a set
       without members inside can replace any worse set, for fewer arcs close no new cycle. What
       is dropped is never needed for *one* optimum (it is for counting ties).

    Examples
    --------
    >>> table = ScoreTable.from_lists(
    ...     ["a", "b", "c"],
    ...     {
    ...         "a": [(-1.0, ["b"]), (-2.0, [])],
    ...         "b": [(-1.5, ["a"]), (-2.0, [])],
    ...         "c": [(-1.0, ["a", "b"]), (-3.0, [])],
    ...     },
    ... )
    >>> [component.table.names for component in decompose(table)]
    [('a', 'b'), ('c',)]
    """
    whole = Component(
        tuple(range(len(table.names))),
        table,
        tuple(np.arange(len(table.child(i))) for i in range(len(table.names))),
    )
    waiting, done = [whole], []
    while waiting:
        part = waiting.pop()
        groups = _strong_components(_candidate_parents(part.table))
        if len(groups) == 1:
            done.append(part)
        else:
            waiting += [_restricted(part, group) for group in groups]
    return tuple(sorted(done, key=lambda component: component.variables))


def _candidate_parents(table: ScoreTable) -> list[list[int]]:
    return [np.unique(table.child(i).members).tolist() for i in range(len(table.names))]


def _restricted(part: Component, group: list[int]) -> Component:
    """Return the problem of some variables: their sets without members elsewhere."""
    place = np.full(part.table.n_variables, -1, np.int32)
    place[group] = np.arange(len(group))
    children, origins = [], []
    for i in group:
        sets, chosen = _restricted_sets(part.table.child(i), place)
        children.append(sets)
        origins.append(part.origins[i][chosen])
    names = [part.table.names[i] for i in group]
    table = ScoreTable(names, children, complete=part.table.complete)
    return Component(tuple(part.variables[i] for i in group), table, tuple(origins))


def _restricted_sets(
    sets: ParentSets, place: npt.NDArray[np.int32]
) -> tuple[ParentSets, npt.NDArray[np.int64]]:
    """Return the sets with members renumbered, those at -1 left out, and where each was.

    Sets come best first: of those that become equal the first stays, and none after an empty one.
    """
    members = place[sets.members]
    is_inside = members >= 0
    sizes_before = np.diff(sets.offsets)
    owner = np.repeat(np.arange(len(sets)), sizes_before)
    sizes = np.bincount(owner[is_inside], minlength=len(sets))
    empty = np.flatnonzero(sizes == 0)
    n_left = int(empty[0]) + 1 if len(empty) else len(sets)
    is_inside &= owner < n_left
    members, owner, sizes = members[is_inside], owner[is_inside], sizes[:n_left]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    scores = sets.scores[:n_left]
    if np.array_equal(sizes, sizes_before[:n_left]):
        return ParentSets(scores.copy(), offsets, members), np.arange(n_left)
    padded = np.full((n_left, max(1, int(sizes.max()))), -1, np.int32)
    padded[owner, np.arange(len(members)) - offsets[owner]] = members
    rows = padded.view(np.dtype((np.void, padded.dtype.itemsize * padded.shape[1]))).ravel()
    chosen = np.unique(rows, return_index=True)[1]
    # Restricting may change who is first among equal scores.
    keys = (*padded[chosen].T[::-1], sizes[chosen], -scores[chosen])
    chosen = chosen[np.lexsort(keys)]
    padded, sizes = padded[chosen], sizes[chosen]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return ParentSets(scores[chosen], offsets, padded[padded >= 0]), chosen


def _strong_components(parents: list[list[int]]) -> list[list[int]]:
    """Strongly connected components (Tarjan 1972), members ascending, without recursion."""
    index: dict[int, int] = {}
    lowest: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    found: list[list[int]] = []
    for root in range(len(parents)):
        if root in index:
            continue
        path = [(root, iter(parents[root]))]
        index[root] = lowest[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while path:
            node, rest = path[-1]
            for other in rest:
                if other not in index:
                    index[other] = lowest[other] = len(index)
                    stack.append(other)
                    on_stack.add(other)
                    path.append((other, iter(parents[other])))
                    break
                if other in on_stack:
                    lowest[node] = min(lowest[node], index[other])
            else:
                path.pop()
                if path:
                    below = path[-1][0]
                    lowest[below] = min(lowest[below], lowest[node])
                if lowest[node] == index[node]:
                    first = stack.index(node)
                    group = stack[first:]
                    del stack[first:]
                    on_stack.difference_update(group)
                    found.append(sorted(group))
    return found
