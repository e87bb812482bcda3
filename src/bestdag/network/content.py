"""What a network holds: its variables, conditional tables and graph, compared by content."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from bestdag.data.schema import Variable
from bestdag.errors import DataError, unknown_name
from bestdag.graph.dag import Dag
from bestdag.network.table import ConditionalTable

if TYPE_CHECKING:
    import networkx

    from bestdag.inference.tables import LogTables
    from bestdag.network.answers import Answers

__all__ = ["NetworkContent", "property_texts", "tables_by_name"]


def tables_by_name(tables: Iterable[ConditionalTable]) -> dict[str, ConditionalTable]:
    """Return the tables by the names of their variables, or say why they make no network."""
    if not isinstance(tables, Iterable):
        raise DataError(f"Network: a list of tables is needed, got {tables!r:.60}")
    by_name: dict[str, ConditionalTable] = {}
    for table in tables:
        if not isinstance(table, ConditionalTable):
            raise DataError(f"Network: each table must be a ConditionalTable, got {table!r:.60}")
        if table.child.name in by_name:
            raise DataError(f"Network: variable {table.child.name!r} has two tables")
        by_name[table.child.name] = table
    if not by_name:
        raise DataError("Network: at least one table is needed, got none")
    _check_parents(by_name)
    return by_name


def _check_parents(tables: Mapping[str, ConditionalTable]) -> None:
    for child, table in tables.items():
        for parent in table.parents:
            if parent.name not in tables:
                raise DataError(
                    f"Network: {parent.name!r}, a parent of {child!r}, has no table of its own"
                )
            own = tables[parent.name].child
            if parent != own:
                raise DataError(
                    f"Network: states of {parent.name!r} are {own.states!r} in its own table "
                    f"and {parent.states!r} in the table of {child!r}"
                )


def property_texts(texts: Iterable[str]) -> tuple[str, ...]:
    """Return one text or several as a tuple."""
    listed = (texts,) if isinstance(texts, str) else tuple(texts)
    for text in listed:
        if not isinstance(text, str):
            raise DataError(f"Network: a property must be text, got {text!r}")
    return listed


class NetworkContent:
    """What a network holds, without what it answers; the parameters are those of `Network`."""

    __slots__ = (
        "_cached_answers",
        "_dag",
        "_done",
        "_hash",
        "_log_tables",
        "_name",
        "_notes",
        "_properties",
        "_tables",
    )

    _cached_answers: Answers | None
    _dag: Dag
    _done: dict[str, str]
    _hash: int | None
    _log_tables: LogTables | None
    _name: str
    _notes: dict[str, tuple[str, ...]]
    _properties: tuple[str, ...]
    _tables: dict[str, ConditionalTable]

    def __init__(
        self,
        tables: Iterable[ConditionalTable],
        *,
        name: str = "unknown",
        properties: Iterable[str] = (),
        variable_properties: Mapping[str, Iterable[str]] | None = None,
    ) -> None:
        by_name = tables_by_name(tables)
        if not isinstance(name, str):
            raise DataError(f"Network: a name must be text, got {name!r}")
        notes = {}
        for variable, texts in (variable_properties or {}).items():
            if variable not in by_name:
                raise unknown_name("variable", variable, by_name, who="Network")
            notes[variable] = property_texts(texts)
        arcs = [(p.name, child) for child, table in by_name.items() for p in table.parents]
        self._dag = Dag(by_name, arcs)
        self._tables = by_name
        self._name = name
        self._properties = property_texts(properties)
        self._notes = {each: texts for each, texts in notes.items() if texts}
        self._done = {}
        self._hash = None
        self._log_tables = None
        self._cached_answers = None

    # What it holds

    @property
    def name(self) -> str:
        """What the network is called in files."""
        return self._name

    @property
    def properties(self) -> tuple[str, ...]:
        """Free text about the network."""
        return self._properties

    def properties_of(self, name: str) -> tuple[str, ...]:
        """Free text about one variable."""
        return self._notes.get(self.variable(name).name, ())

    @property
    def interventions(self) -> Mapping[str, str]:
        """The variables set by `do`, with their states; no part of comparisons or files."""
        return MappingProxyType(self._done)

    @property
    def dag(self) -> Dag:
        """The graph."""
        return self._dag

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables, in order."""
        return tuple(self._tables)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, in order."""
        return tuple(table.child for table in self._tables.values())

    @property
    def tables(self) -> tuple[ConditionalTable, ...]:
        """The conditional tables, in the order of the variables."""
        return tuple(self._tables.values())

    @property
    def arities(self) -> Mapping[str, int]:
        """Number of states of each variable."""
        return MappingProxyType({name: t.child.arity for name, t in self._tables.items()})

    @property
    def n_parameters(self) -> int:
        r"""Number of free parameters, :math:`\sum_i q_i (r_i - 1)`.

        With :math:`r_i` the states of variable i and :math:`q_i` the configurations of its parents,
        observed or not.
        """
        return sum(table.n_parameters for table in self._tables.values())

    def table(self, name: str) -> ConditionalTable:
        """Return the table of a variable.

        Raises
        ------
        UnknownNameError
            A name that is not there; the message offers the nearest one.
        """
        if name not in self._tables:
            raise unknown_name("variable", name, self._tables)
        return self._tables[name]

    def variable(self, name: str) -> Variable:
        """Return a variable, with its states.

        Raises
        ------
        UnknownNameError
            A name that is not there; the message offers the nearest one.
        """
        return self.table(name).child

    def markov_blanket(self, name: str) -> tuple[str, ...]:
        """Return the names of the parents, children and other parents of children of a variable.

        Given these, the variable is independent of all others.
        """
        return self._dag.markov_blanket(self.variable(name).name)

    def to_networkx(self) -> networkx.DiGraph[str]:
        """Make a networkx graph of the arcs."""
        return self._dag.to_networkx()

    def to_dot(self) -> str:
        """Write the graph for Graphviz."""
        return self._dag.to_dot()

    def _answers(self) -> Answers:
        """Return the engine of exact answers, which is made at the first call; never pickled."""
        if self._cached_answers is None:
            from bestdag.network.answers import Answers

            self._cached_answers = Answers(self)
        return self._cached_answers

    def _logs(self) -> LogTables:
        """Return the logarithms of the tables, which are made at the first call; never pickled."""
        if self._log_tables is None:
            from bestdag.network.prediction import log_tables

            self._log_tables = log_tables(self)
        return self._log_tables

    # As a Python value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NetworkContent):
            return NotImplemented
        return self is other or self._content() == other._content()

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self._content())
        return self._hash

    def _content(self) -> tuple[Any, ...]:
        return self.tables, self._properties, tuple(sorted(self._notes.items()))
