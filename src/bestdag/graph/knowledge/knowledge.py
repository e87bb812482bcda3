"""What the user knows about a graph before any data are seen."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from inspect import Parameter, Signature, getdoc
from typing import Any

from bestdag.errors import GraphError, InvalidParameterError, UnknownNameError, unknown_name
from bestdag.files import shown_path, write_file
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge.kinds import KINDS, Statement
from bestdag.graph.knowledge.node_knowledge import (
    NodeKnowledge,
    refuse_contradictions,
    require_names,
    resolve,
)
from bestdag.graph.knowledge.text import parse_lines, read_knowledge, to_json

__all__ = ["Knowledge", "known_as", "require_knowledge"]

# repr shows every statement up to this number, and only how many there are beyond it.
_MAX_SHOWN = 30


class Knowledge:
    """Statements about arcs, orders, ancestors and numbers of parents, all of which hold.

    A Knowledge never changes. Two are equal when they say the same, in any order and
    however often. Nodes are named before it is known which nodes there are; `for_nodes` checks
    the names.

    Parameters
    ----------
    @parameters@

    Raises
    ------
    GraphError
        Statements that no graph can satisfy; the message names the ones that clash.
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

    __slots__ = ("_statements", "_values")

    _statements: tuple[Statement, ...]
    _values: dict[str, Any]

    def __init__(self, **said: Any) -> None:
        _refuse_unknown(said, TypeError)
        self._set({kind.field: kind.check(said.get(kind.field, kind.default)) for kind in KINDS})
        refuse_contradictions(self._statements)

    def _set(self, values: dict[str, Any]) -> None:
        object.__setattr__(self, "_values", values)
        object.__setattr__(self, "_statements", tuple(s for k in KINDS for s in k.each(values)))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Knowledge:
        """Build from a mapping with the names of the parameters as keys, as `to_dict` makes it.

        Raises
        ------
        UnknownNameError
            A key that is no parameter.
        GraphError
            Statements that are malformed or clash.
        """
        _refuse_unknown(values, UnknownNameError)
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """Return the statements as lists, texts and numbers, ready for JSON.

        Examples
        --------
        >>> Knowledge(required_arcs=[("A", "B")], max_parents=2).to_dict()
        {'required_arcs': [['A', 'B']], 'max_parents': 2}
        """
        said = ((kind, self._values[kind.field]) for kind in KINDS)
        return {kind.field: kind.plain(value) for kind, value in said if value != kind.default}

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
        """Write a JSON file that `load` reads, complete or not at all.

        Raises
        ------
        UnknownNameError
            A suffix other than ``.json`` (with ``.gz`` behind or not).
        WriteError
            A file that cannot be written.
        """
        if not os.fspath(path).lower().endswith((".json", ".json.gz")):
            raise unknown_name("file format", shown_path(path), [".json"], who="Knowledge.save")
        write_file(path, to_json(self.to_dict()))

    @classmethod
    def parse(cls, lines: Iterable[str]) -> Knowledge:
        """Build from short lines of text, one statement each.

        @forms@

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
        return not self._statements

    def statements(self) -> tuple[Statement, ...]:
        """Return the statements one by one, each with its `text()` and its `names()`."""
        return self._statements

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
        return resolve(self._statements, names)

    def violations(self, dag: Dag) -> list[str]:
        """Return one line for each violation: the statement, and what in the graph breaks it.

        The list is empty when the graph satisfies every statement.

        Raises
        ------
        UnknownNameError
            A statement about a name that is not a node of the graph.
        """
        return list(self._violations(dag))

    def allows(self, dag: Dag) -> bool:
        """Whether a graph satisfies every statement; it stops at the first violation."""
        return next(self._violations(dag), None) is None

    def _violations(self, dag: Dag) -> Iterator[str]:
        require_names(self._statements, dag.nodes)
        for said in self._statements:
            for text in said.violations(dag):
                yield f"{said.keyword if said.is_long else said.text()}: {text}"
        for kind in KINDS:
            yield from kind.joint_violations(self._statements, dag)

    def __or__(self, other: Knowledge) -> Knowledge:
        if not isinstance(other, Knowledge):
            return NotImplemented
        said, also = self.to_dict(), other.to_dict()
        for kind in KINDS:
            if kind.field in also:
                one, more = said.get(kind.field, also[kind.field]), also[kind.field]
                said[kind.field] = one if one == more else kind.join(one, more)
        return Knowledge(**said)

    def __eq__(self, other: object) -> bool:
        return self._values == other._values if isinstance(other, Knowledge) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self._values.values()))

    def __getattr__(self, name: str) -> Any:
        if any(kind.field == name for kind in KINDS):
            return self._values[name]
        raise AttributeError(f"'Knowledge' object has no attribute {name!r}")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Knowledge never changes: {name!r} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Knowledge never changes: {name!r} cannot be deleted")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._values,)

    def __str__(self) -> str:
        lines = [statement.text() for statement in self._statements]
        lines += [line for kind in KINDS for line in kind.settings(self._values)]
        return "\n".join(lines) if lines else "nothing known"

    def __repr__(self) -> str:
        n_statements = len(self._statements)
        if n_statements > _MAX_SHOWN:
            return f"<Knowledge: {n_statements:,} statements>"
        shown = (f"{key}={value!r}" for key, value in self.to_dict().items())
        return f"Knowledge({', '.join(shown)})"


def _restored(values: dict[str, Any]) -> Knowledge:
    """Rebuild a pickled Knowledge, which was checked when it was made."""
    knowledge = Knowledge.__new__(Knowledge)
    knowledge._set(values)
    return knowledge


def _refuse_unknown(values: Mapping[str, Any], error: type[Exception]) -> None:
    fields = [kind.field for kind in KINDS]
    for key in values:
        if key not in fields:
            raise error(str(unknown_name("key", key, fields, who="Knowledge")))


def _fill(thing: Any, mark: str, lines: list[str]) -> None:
    """Put lines that the kinds of statement make into a docstring, indented like the mark."""
    if thing.__doc__ is not None:  # there are none under python -OO
        before, after = thing.__doc__.split(mark)
        indent = before[before.rindex("\n") :]
        thing.__doc__ = before + indent.join(lines) + after


def _parameters() -> list[str]:
    lines = []
    for kind in KINDS:
        lines.append(f"{kind.field} : {kind.type_text}")
        lines += [f"    {line}".rstrip() for line in (getdoc(kind) or "").splitlines()]
    return lines


def _table_of_forms() -> list[str]:
    forms = {f"``{kind.form}``": kind.says for kind in KINDS}
    width = max(map(len, forms))
    rule = f"{'=' * width}  {'=' * max(map(len, forms.values()))}"
    return [rule, *(f"{form:<{width}}  {text}" for form, text in forms.items()), rule]


_fill(Knowledge, "@parameters@", _parameters())
_fill(Knowledge.parse.__func__, "@forms@", _table_of_forms())  # type: ignore[attr-defined]
Knowledge.__signature__ = Signature(  # type: ignore[attr-defined]
    [Parameter(kind.field, Parameter.KEYWORD_ONLY, default=kind.default) for kind in KINDS]
)


_NOTHING = Knowledge()


def known_as(knowledge: Knowledge | Sequence[str] | None) -> Knowledge | None:
    """Take statements for what they say; anything else is refused."""
    if isinstance(knowledge, str):
        return Knowledge.parse([knowledge])
    if isinstance(knowledge, list | tuple) and all(isinstance(line, str) for line in knowledge):
        return Knowledge.parse(knowledge)
    return None if knowledge is None else require_knowledge("learn", knowledge)  # type: ignore[arg-type]


def require_knowledge(who: str, knowledge: Knowledge | None) -> Knowledge:
    """Return knowledge, of nothing where None is given, or refuse something else."""
    if knowledge is None:
        return _NOTHING
    if not isinstance(knowledge, Knowledge):
        raise InvalidParameterError(
            f"{who}: knowledge must be a Knowledge, got {knowledge!r:.60}; "
            "Knowledge.parse makes one of statements such as 'A -> B'"
        )
    return knowledge
