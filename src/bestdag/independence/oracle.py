"""Answers that need no data: from a graph, or from a list of statements."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

import numpy as np

from bestdag import _core
from bestdag.errors import GraphError
from bestdag.graph._names import check_nodes, show
from bestdag.graph.dag import Dag

__all__ = ["Answers", "Oracle", "StatedIndependences", "native_oracle"]


class Answers(Protocol):
    """An object that answers questions of independence in place of data.

    A class of your own with these two members is enough: `pc` takes it as `oracle`.
    """

    @property
    def nodes(self) -> Sequence[str]:
        """The variables."""
        ...

    def is_independent(self, one: str, other: str, given: Collection[str]) -> bool:
        """Whether the two are independent given a set, in either order of the two."""
        ...


class Oracle:
    """Answers from a Dag: two nodes are independent given a set when it d-separates them.

    With the true graph as oracle, PC finds its equivalence class: what it could learn from
    data without limit. `d_separated` has the definition.

    Parameters
    ----------
    dag : Dag
        The graph.

    Examples
    --------
    >>> oracle = Oracle(Dag.from_parents({"C": ["A", "B"]}))
    >>> oracle.is_independent("A", "B", []), oracle.is_independent("A", "B", ["C"])
    (True, False)
    """

    def __init__(self, dag: Dag) -> None:
        if not isinstance(dag, Dag):
            raise GraphError(f"Oracle: needs a Dag, got {type(dag).__name__}")
        self.dag = dag

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes of the graph."""
        return self.dag.nodes

    def is_independent(self, one: str, other: str, given: Collection[str]) -> bool:
        """Whether the set d-separates the two."""
        from bestdag.graph.separation import d_separated

        return d_separated(self.dag, one, other, given)


class StatedIndependences:
    """Answers from a list: what is listed is independent, and nothing else.

    Made for exercises and tests: statements that no graph agrees with show what PC does then.

    Parameters
    ----------
    nodes : iterable of str
        All variables.
    statements : iterable of (one, other, given)
        The two, in any order, and the set conditioned on, without repetition. Nothing is derived:
        a statement that follows from others must be listed as well.

    Raises
    ------
    GraphError
        A statement about a name that is not a node.

    Examples
    --------
    >>> stated = StatedIndependences("ABC", [("A", "B", ["C"])])
    >>> stated.is_independent("B", "A", ["C"]), stated.is_independent("A", "B", [])
    (True, False)
    """

    def __init__(
        self, nodes: Iterable[str], statements: Iterable[tuple[str, str, Iterable[str]]]
    ) -> None:
        self.nodes = check_nodes("StatedIndependences", list(nodes))
        known = set(self.nodes)
        self._stated = set()
        for one, other, condition in statements:
            members = frozenset(condition)
            for name in (one, other, *members):
                if name not in known:
                    raise GraphError(f"StatedIndependences: {show(str(name))} is not a node")
            self._stated.add((frozenset((one, other)), members))

    def is_independent(self, one: str, other: str, given: Collection[str]) -> bool:
        """Whether the statement is listed, with the two in either order."""
        return (frozenset((one, other)), frozenset(given)) in self._stated


def native_oracle(answers: Answers, names: Sequence[str]) -> _core.IndependenceTest:
    """Return what native code asks; `names` are the nodes in the order of their numbers."""
    number = {name: i for i, name in enumerate(names)}
    if isinstance(answers, Oracle):
        arcs = [number[node] for arc in answers.dag.arcs for node in arc]
        return _core.IndependenceTest.oracle(len(names), np.array(arcs, np.int32))

    def ask(one: int, other: int, condition: list[int]) -> bool:
        said = answers.is_independent(names[one], names[other], [names[i] for i in condition])
        return bool(said)

    return _core.IndependenceTest.asking(len(names), ask)
