"""d-separation: which independences a Dag implies."""

from __future__ import annotations

from collections.abc import Iterable

from bestdag.errors import GraphError
from bestdag.graph._names import as_names, show
from bestdag.graph.dag import Dag

__all__ = ["d_connected", "d_separated"]


def d_connected(
    dag: Dag, nodes: str | Iterable[str], given: str | Iterable[str] = ()
) -> frozenset[str]:
    """Return the nodes with an active trail from one of `nodes` given `given`, `nodes` included.

    A trail is active when each of its colliders is in `given` or has a descendant there,
    and no other node of it is in `given`.

    Notes
    -----
    Every node is entered at most twice, from a parent and from a child, so time is linear
    in the number of arcs.

    References
    ----------
    .. [1] Geiger, Verma and Pearl (1989). "d-separation: from theorems to algorithms." UAI.
    .. [2] Shachter (1998). "Bayes-Ball: the rational pastime." UAI.

    Examples
    --------
    >>> dag = Dag.from_parents({"C": ["A", "B"], "D": ["C"]})
    >>> sorted(d_connected(dag, "A")), sorted(d_connected(dag, "A", "D"))
    (['A', 'C', 'D'], ['A', 'B', 'C'])
    """
    starts = as_names(nodes, dag._parents)
    blocked = as_names(given, dag._parents)
    _refuse_common("d_connected", ("nodes", starts), ("given", blocked))
    seen: set[tuple[str, bool]] = set()
    waiting = [(node, True) for node in starts]  # True: entered from a child, going up
    reachable = set()
    while waiting:
        step = waiting.pop()
        if step in seen:
            continue
        seen.add(step)
        node, from_child = step
        if node not in blocked:
            reachable.add(node)
            waiting += [(child, False) for child in dag.children(node)]
        # A given node sends a trail that came from a parent back to all its parents. So a
        # collider above a given node opens as well: the trail goes down there and returns.
        if from_child != (node in blocked):
            waiting += [(parent, True) for parent in dag.parents(node)]
    return frozenset(reachable)


def d_separated(
    dag: Dag, x: str | Iterable[str], y: str | Iterable[str], given: str | Iterable[str] = ()
) -> bool:
    """Whether `given` blocks every trail between `x` and `y`.

    Parameters
    ----------
    dag : Dag
        The graph.
    x, y, given : str or iterable of str
        One node or several. No node may be in two of them. An empty `x` or `y` is
        separated from everything.

    Raises
    ------
    GraphError
        A node that is in two of the sets.
    UnknownNameError
        A name that is not a node.

    Notes
    -----
    In every distribution that factorizes along the graph, `x` and `y` are then independent given
    `given`; where they are not separated, some such distribution makes them dependent [1]_.

    References
    ----------
    .. [1] Geiger and Pearl (1990). "On the logic of causal models." UAI 4.

    Examples
    --------
    >>> dag = Dag.from_parents({"C": ["A", "B"], "D": ["C"]})
    >>> d_separated(dag, "A", "B"), d_separated(dag, "A", "B", given="D")
    (True, False)
    """
    sources, targets = as_names(x, dag._parents), as_names(y, dag._parents)
    blocked = as_names(given, dag._parents)
    _refuse_common("d_separated", ("x", sources), ("y", targets))
    _refuse_common("d_separated", ("x", sources), ("given", blocked))
    _refuse_common("d_separated", ("y", targets), ("given", blocked))
    return targets.isdisjoint(d_connected(dag, sources, blocked))


def _refuse_common(
    who: str, one: tuple[str, frozenset[str]], other: tuple[str, frozenset[str]]
) -> None:
    common = one[1] & other[1]
    if common:
        raise GraphError(f"{who}: node {show(min(common))} is both in {one[0]} and in {other[0]}")
