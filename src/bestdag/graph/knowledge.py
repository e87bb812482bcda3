"""What the user knows about a graph before any data are seen."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from bestdag.errors import GraphError, unknown_name
from bestdag.files import shown_path, write_file
from bestdag.graph._contradictions import refuse_contradictions
from bestdag.graph._knowledge_file import read_knowledge, to_json
from bestdag.graph._knowledge_text import parse_lines
from bestdag.graph._knowledge_values import joined, plain, split
from bestdag.graph._statements import CHECKS, Statement
from bestdag.graph._violations import violations
from bestdag.graph.dag import Dag
from bestdag.graph.node_knowledge import NodeKnowledge, require_names, resolve

__all__ = ["Knowledge"]

# repr shows every statement up to this number, and only how many there are beyond it.
_MAX_SHOWN = 30

_Pairs = Iterable[tuple[str, str]]


class Knowledge:
    """Statements about arcs, orders, ancestors and numbers of parents, all of which hold.

    A Knowledge never changes. Two are equal when they say the same, in whatever order and
    however often. Nodes are named before it is known which nodes there are; `for_nodes` checks
    the names.

    Parameters
    ----------
    required_arcs, forbidden_arcs : iterable of (parent, child)
        Arcs that must be there, and arcs that must not.
    required_edges, forbidden_edges : iterable of (node, node)
        Pairs joined by an arc in either direction, and pairs not joined at all.
    tiers : iterable of iterables of str
        Groups from the top down: arcs lead within a tier or to a later one. A node is in one
        tier at most; nodes in no tier are free.
    within_tiers : bool, default True
        Whether arcs may join two nodes of one tier.
    order : iterable of (node, node)
        Pairs (a, b), a before b. Before is transitive; required arcs, ancestor statements and
        the total order put nodes before others as well, and all must fit one order of the
        nodes. No arc leads from a later to an earlier node.
    total_order : iterable of str
        Every node, in an order that all arcs follow.
    ancestors, non_ancestors : iterable of (node, node)
        Pairs (a, b) with a directed path from a to b, and pairs without one.
    roots, leaves : iterable of str
        Nodes without parents, and nodes without children.
    max_parents : int, optional
        The most parents that any node has.
    max_parents_of : mapping of str to int
        The most parents of single nodes; where `max_parents` is smaller, that holds.

    Raises
    ------
    GraphError
        Statements that no graph can satisfy; the message names those that clash.
    CycleError
        Required arcs, orders and ancestor statements that lead round a cycle; it is shown.
    InvalidParameterError
        A number of parents that is not a whole number from zero.

    Notes
    -----
    A contradiction is found when it follows from the statements step by step: a required arc
    that another statement (or several together) forbids, a required edge without a direction
    left, more required parents than a limit, an ancestor that no allowed path leads from, a
    non-ancestor that is one. Not decided, and left to a search that finds no graph at all, is
    whether one graph can serve several open choices at once: the directions of several required
    edges under limits on parents, or the paths of several ancestor statements that need more
    parents than a limit allows or that break a non-ancestor statement together.

    References
    ----------
    .. [1] Jensen and Nielsen (2007). "Bayesian Networks and Decision Graphs." Section 7.3,
       Figure 7.15.

    Examples
    --------
    >>> known = Knowledge(tiers=[["smoking"], ["cancer"], ["cough"]], required_arcs=[("smoking", "cancer")])
    >>> print(known)
    smoking -> cancer
    tiers: smoking | cancer | cough
    >>> known.violations(Dag(["cancer", "cough", "smoking"], [("cough", "cancer")]))
    ['smoking -> cancer: the arc is missing', 'tiers: arc cough -> cancer leads up, from tier 3 to tier 2']
    >>> known | Knowledge(required_arcs=[("cough", "smoking")])
    Traceback (most recent call last):
    ...
    bestdag.errors.GraphError: Knowledge: arc cough -> smoking is required and cannot be there; what clashes: cough -> smoking; tiers: smoking | cough
    """  # noqa: E501

    __slots__ = tuple(CHECKS)

    required_arcs: tuple[tuple[str, str], ...]
    forbidden_arcs: tuple[tuple[str, str], ...]
    required_edges: tuple[tuple[str, str], ...]
    forbidden_edges: tuple[tuple[str, str], ...]
    tiers: tuple[tuple[str, ...], ...]
    within_tiers: bool
    order: tuple[tuple[str, str], ...]
    total_order: tuple[str, ...]
    ancestors: tuple[tuple[str, str], ...]
    non_ancestors: tuple[tuple[str, str], ...]
    roots: tuple[str, ...]
    leaves: tuple[str, ...]
    max_parents: int | None
    max_parents_of: tuple[tuple[str, int], ...]

    def __init__(
        self,
        *,
        required_arcs: _Pairs = (),
        forbidden_arcs: _Pairs = (),
        required_edges: _Pairs = (),
        forbidden_edges: _Pairs = (),
        tiers: Iterable[Iterable[str]] = (),
        within_tiers: bool = True,
        order: _Pairs = (),
        total_order: Iterable[str] = (),
        ancestors: _Pairs = (),
        non_ancestors: _Pairs = (),
        roots: Iterable[str] = (),
        leaves: Iterable[str] = (),
        max_parents: int | None = None,
        max_parents_of: Mapping[str, int] | Iterable[tuple[str, int]] = (),
    ) -> None:
        given = locals()
        for field, check in CHECKS.items():
            object.__setattr__(self, field, check(field, given[field]))
        if not self.within_tiers and not self.tiers:
            raise GraphError("Knowledge: within_tiers needs tiers to speak of, got none")
        refuse_contradictions(self.statements())

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Knowledge:
        """Build from a mapping with the names of the parameters as keys."""
        for key in values:
            if key not in CHECKS:
                raise unknown_name("key", key, CHECKS, who="Knowledge")
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """Return what is said as lists, texts and numbers, ready for JSON."""
        return plain({field: getattr(self, field) for field in CHECKS})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Knowledge:
        """Read a ``.toml`` or ``.json`` file with the names of the parameters as keys.

        Raises
        ------
        FileError, FormatError
            A file that cannot be read, or is not TOML or JSON; the message gives the line.
        UnknownNameError, GraphError
            A key that is no parameter; statements that are malformed or clash.
        """
        values = read_knowledge(path)
        try:
            return cls(**values)
        except GraphError as error:
            raise type(error)(f"{shown_path(path)}: {error}") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file that `load` reads, complete or not at all."""
        if not os.fspath(path).lower().endswith((".json", ".json.gz")):
            raise unknown_name("file format", shown_path(path), [".json"], who="Knowledge.save")
        write_file(path, to_json(self.to_dict()))

    @classmethod
    def parse(cls, lines: Iterable[str]) -> Knowledge:
        """Build from short lines of text, one statement each.

        =========================  ====================================================
        ``A -> B``, ``B <- A``     required arc
        ``A !> B``                 forbidden arc
        ``A -- B``                 required edge, in either direction
        ``A !- B``                 forbidden edge, in both directions
        ``A < B``                  A before B
        ``A ~> B``                 A is an ancestor of B
        ``A !~> B``                A is not an ancestor of B
        ``tiers: A B | C | D``     tiers from the top down
        ``within_tiers: no``       no arcs within a tier
        ``total_order: A, B, C``   every node, in an order that all arcs follow
        ``roots: A, B``            nodes without parents; ``leaves:`` without children
        ``max_parents: 3``         the most parents of any node
        ``max_parents A, B: 1``    the most parents of these nodes
        =========================  ====================================================

        Signs may be chained: ``A < B < C`` says ``A < B`` and ``B < C``. In lists, names stand
        with commas or spaces between them. A name with a space, one of ``, | : ; < > ! ~`` or a
        quote in it, with ``--`` or ``->`` in it, or with ``-`` in front is put in quotes:
        ``'in single ones'``, which end at the next single quote, or ``"in double ones"``, with
        the escapes of JSON.

        Raises
        ------
        FormatError, UnknownNameError
            A line that is not such a statement; a keyword that does not exist.

        Examples
        --------
        >>> Knowledge.parse(["A -> 'blood pressure'", "tiers: A | B C", "max_parents C: 1"])
        Knowledge(required_arcs=[['A', 'blood pressure']], tiers=[['A'], ['B', 'C']],
                  max_parents_of={'C': 1})
        """
        return cls(**parse_lines(lines))

    @property
    def is_empty(self) -> bool:
        """Whether nothing is said."""
        return not self.statements()

    def statements(self) -> tuple[Statement, ...]:
        """Return the statements one by one, each with its `text()` and its `names()`."""
        return split({field: getattr(self, field) for field in CHECKS})

    def for_nodes(self, names: Iterable[str]) -> NodeKnowledge:
        """Resolve the statements to arrays over these nodes, which are all there are.

        Raises
        ------
        UnknownNameError
            A statement about a name that is not a node; the message offers the nearest one.
        GraphError
            Statements that clash over these nodes (an ancestor that only a path through a node
            that is not there could lead from), or a total order that does not list every node.

        Examples
        --------
        >>> nodes = Knowledge(required_arcs=[("A", "B")], leaves=["C"]).for_nodes(["A", "B", "C"])
        >>> nodes.allowed.astype(int)
        array([[0, 1, 1],
               [0, 0, 1],
               [0, 0, 0]])
        >>> nodes.required_parents(1), nodes.max_parents
        (array([0]), array([2, 2, 2], dtype=int32))
        """
        return resolve(self, names)

    def violations(self, dag: Dag) -> list[str]:
        """Say of each statement that a graph breaks what breaks it."""
        require_names(self, dag.nodes)
        return list(violations(self.statements(), dag))

    def allows(self, dag: Dag) -> bool:
        """Whether a graph satisfies every statement."""
        require_names(self, dag.nodes)
        return next(violations(self.statements(), dag), None) is None

    def __or__(self, other: Knowledge) -> Knowledge:
        if not isinstance(other, Knowledge):
            return NotImplemented
        return Knowledge(**joined(self.to_dict(), other.to_dict()))

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, field) for field in CHECKS)

    def __eq__(self, other: object) -> bool:
        return self._values() == other._values() if isinstance(other, Knowledge) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._values())

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Knowledge never changes: {name!r} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Knowledge never changes: {name!r} cannot be deleted")

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, self._values()

    def __str__(self) -> str:
        lines = [statement.text() for statement in self.statements()]
        if not self.within_tiers:
            lines.append("within_tiers: no")
        return "\n".join(lines) if lines else "nothing known"

    def __repr__(self) -> str:
        n_statements = len(self.statements())
        if n_statements > _MAX_SHOWN:
            return f"<Knowledge: {n_statements:,} statements>"
        shown = (f"{key}={value!r}" for key, value in self.to_dict().items())
        return f"Knowledge({', '.join(shown)})"


def _restored(*values: Any) -> Knowledge:
    """Rebuild a pickled Knowledge, which was checked when it was made."""
    knowledge = Knowledge.__new__(Knowledge)
    for field, value in zip(CHECKS, values, strict=True):
        object.__setattr__(knowledge, field, value)
    return knowledge
