"""What a kind of statement can do; a kind says only where it differs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from bestdag.errors import CycleError, GraphError
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge.implications import Implications
from bestdag.graph.knowledge.words import Line, in_quotes
from bestdag.wording import shown_value

__all__ = ["Pair", "Statement", "check_items", "check_name", "check_names", "check_once"]


@dataclass(frozen=True)
class Statement:
    """One thing the user said. A subclass is a kind of statement, and a parameter of Knowledge.

    The docstring of a kind is what the documentation says of the parameter. `violations` is the
    definition of the kind; all that it demands has to follow from what `imply` and `propagate`
    say in the words of `Implications`, which are all that the searches honour.
    """

    field: ClassVar[str]  # the parameter of Knowledge, and the key in files
    type_text: ClassVar[str]  # the type of its value, in words
    form: ClassVar[str]  # an example of its lines of text
    says: ClassVar[str]  # what that says
    default: ClassVar[Any] = ()  # the value when nothing is said
    keyword: ClassVar[str] = ""  # what its lines of text begin with
    has_head: ClassVar[bool] = False  # whether names stand between the keyword and the colon
    is_whole: ClassVar[bool] = False  # whether the value is one statement, not one per item
    is_single: ClassVar[bool] = False  # whether two different values cannot be joined
    is_long: ClassVar[bool] = False  # whether violations show the keyword alone
    is_positive: ClassVar[bool] = False  # whether it can break in a graph without arcs
    names_every_node: ClassVar[bool] = False  # whether there are no nodes but those it names

    value: Any  # what is said: of most kinds, an item of the parameter's value

    # The value of the parameter, as a whole.

    @classmethod
    def check(cls, value: Any) -> Any:
        """Return the value in its one form: hashable, sorted, without repetition."""
        raise NotImplementedError

    @classmethod
    def plain(cls, value: Any) -> Any:
        """Return a checked value as lists, texts and numbers, ready for JSON."""
        if not isinstance(value, tuple):
            return value
        return [list(item) if isinstance(item, tuple) else item for item in value]

    @classmethod
    def join(cls, one: Any, other: Any) -> Any:
        """Return what two different plain values say together."""
        if cls.is_single:
            raise GraphError(f"Knowledge: two different {cls.field} cannot be joined; give one")
        return one + other

    @classmethod
    def read(cls, line: Line) -> Any:
        """Return the plain value that a line with the keyword says."""
        return line.names()

    @classmethod
    def each(cls, values: Mapping[str, Any]) -> Iterator[Statement]:
        """Make the single statements of the checked values of all parameters."""
        value = values[cls.field]
        if not cls.is_whole:
            return (cls(item if isinstance(item, tuple) else (item,)) for item in value)
        return iter(()) if value == cls.default else iter((cls(value),))

    @classmethod
    def settings(cls, values: Mapping[str, Any]) -> Iterable[str]:
        """Write lines that say how the statements of another kind are meant."""
        return ()

    # A single statement.

    def names(self) -> tuple[str, ...]:
        """Return the nodes the statement speaks of."""
        return tuple(self.value)

    def text(self, only: Collection[str] | None = None) -> str:
        """Write the statement as `Knowledge.parse` reads it; long lists for some names only."""
        shown = ", ".join(in_quotes(name) for name in self.value if only is None or name in only)
        return f"{self.keyword}: {shown}"

    def check_with(self, statements: Sequence[Statement]) -> None:
        """Refuse others of the statements that cannot stand beside this one."""

    def check_nodes(self, nodes: Collection[str]) -> None:
        """Refuse nodes that the statement excludes; `nodes` has all that it names."""

    def violations(self, dag: Dag) -> Iterable[str]:
        """Say what in the graph violates the constraint."""
        raise NotImplementedError

    def imply(self, known: Implications, at: list[int]) -> None:
        """Add what follows from the statement alone; `at` are its nodes."""

    # All statements of the kind together.

    @classmethod
    def joint_violations(cls, statements: Sequence[Statement], dag: Dag) -> Iterable[str]:
        """Say what in the graph breaks several of all statements at once."""
        return ()

    @classmethod
    def propagate(cls, known: Implications) -> str | None:
        """Add what follows until nothing more does; or say what clashes."""
        return None

    @classmethod
    def contradiction(cls, known: Implications) -> str | None:
        """Say what clashes when nothing more follows."""
        return None


def check_name(field: str, name: object) -> str:
    """Return a name as ordinary text, also of NumPy's strings."""
    if not isinstance(name, str):
        raise GraphError(f"Knowledge: {field}: a node's name must be text, got {shown_value(name)}")
    return str.__str__(name)


def check_items(field: str, value: object, needed: str) -> list[Any]:
    """Return the items of a list."""
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise GraphError(f"Knowledge: {field} must be a list of {needed}, got {shown_value(value)}")
    return list(value)


def check_names(field: str, value: object) -> list[str]:
    """Return the names of a list of names."""
    return [check_name(field, name) for name in check_items(field, value, "names")]


def check_once(field: str, names: Iterable[str]) -> None:
    """Refuse a name that comes twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise GraphError(f"Knowledge: {field} lists node {in_quotes(name)} twice")
        seen.add(name)


class Pair(Statement):
    """A statement about two nodes; its sign is made of the characters ``- < > ! ~``."""

    sign: ClassVar[str]
    turned_sign: ClassVar[str] = ""  # says the same with the names in the other order
    is_symmetric: ClassVar[bool] = False  # whether the order of the names does not matter
    precedes: ClassVar[bool] = False  # whether the first node comes before the second

    @classmethod
    def check(cls, value: Any) -> tuple[tuple[str, str], ...]:
        pairs: set[tuple[str, str]] = set()
        for item in check_items(cls.field, value, "pairs of names"):
            if not isinstance(item, (tuple, list)) or len(item) != 2:
                needed = f"{cls.field} must be a list of pairs of names"
                raise GraphError(f"Knowledge: {needed}, got {shown_value(item)}")
            first, second = (check_name(cls.field, name) for name in item)
            if first == second:
                text = f"{cls.field}: {cls((first, second)).text()} joins a node with itself"
                raise (CycleError if cls.precedes else GraphError)(f"Knowledge: {text}")
            turn = cls.is_symmetric and second < first
            pairs.add((second, first) if turn else (first, second))
        return tuple(sorted(pairs))

    def text(self, only: Collection[str] | None = None) -> str:
        return f" {self.sign} ".join(map(in_quotes, self.value))
