"""A Bayesian network: a graph and one conditional table per node."""

from __future__ import annotations

import html
import os
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from bestdag.data.dataset import Dataset
from bestdag.data.display import count_of
from bestdag.data.schema import Variable
from bestdag.errors import DataError, unknown_name
from bestdag.graph.dag import Dag
from bestdag.inference.sampling import sample_codes
from bestdag.network.table import ConditionalTable

if TYPE_CHECKING:
    import networkx

__all__ = ["Network"]

_SHOWN_HTML_ROWS = 30


class Network:
    """A Bayesian network over discrete variables: immutable, compared and hashed by content.

    Parameters
    ----------
    tables : iterable of ConditionalTable
        One per variable; their order is the order of the variables. Every parent has a table
        of its own, with the same states.
    name : str, default "unknown"
        What the network is called in files.
    properties : iterable of str, optional
        Free text about the network, kept in files.
    variable_properties : mapping of name to iterable of str, optional
        Free text about single variables.

    Raises
    ------
    DataError
        A variable with two tables, a parent without one, or states that disagree.
    CycleError
        Parents that close a directed cycle.

    Notes
    -----
    Two networks are equal when all they hold is equal: the variables in order, the tables bit
    for bit with the parents in order, the name and the properties.

    Examples
    --------
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> network = Network([
    ...     ConditionalTable(rain, (), [0.8, 0.2]),
    ...     ConditionalTable(wet, (rain,), [[0.9, 0.1], [0.0, 1.0]]),
    ... ])
    >>> network
    <Network 'unknown': 2 variables, 1 arc, 3 parameters>
    >>> network.sample(1000, seed=1)
    Dataset(1,000 rows, 2 variables: rain[2], wet[2])
    """

    __slots__ = ("_dag", "_hash", "_name", "_notes", "_properties", "_tables")

    _dag: Dag
    _hash: int | None
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
        found: dict[str, ConditionalTable] = {}
        for table in tables:
            if table.child.name in found:
                raise DataError(f"Network: variable {table.child.name!r} has two tables")
            found[table.child.name] = table
        if not found:
            raise DataError("Network: at least one table is needed, got none")
        _check_parents(found)
        if not isinstance(name, str):
            raise DataError(f"Network: a name must be text, got {name!r}")
        notes = {}
        for variable, texts in (variable_properties or {}).items():
            if variable not in found:
                raise unknown_name("variable", variable, found, who="Network")
            notes[variable] = _texts(texts)
        parents = {child: [p.name for p in table.parents] for child, table in found.items()}
        self._dag = Dag.from_parents(parents)
        self._tables = found
        self._name = name
        self._properties = _texts(properties)
        self._notes = {each: texts for each, texts in notes.items() if texts}
        self._hash = None

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
        """Number of free parameters: (arity - 1) times the parent configurations, summed."""
        return sum(table.n_parameters for table in self._tables.values())

    def table(self, name: str) -> ConditionalTable:
        """Return the table of a variable, or an error that offers the nearest name."""
        if name not in self._tables:
            raise unknown_name("variable", name, self._tables)
        return self._tables[name]

    def variable(self, name: str) -> Variable:
        """Return a variable, or an error that offers the nearest name."""
        return self.table(name).child

    # What it does

    def sample(self, n: int, *, seed: int = 0, threads: int | None = None) -> Dataset:
        """Draw rows at random.

        Parameters
        ----------
        n : int
            Number of rows, at least 1.
        seed : int, default 0
            At least 0; equal seeds give equal rows. The rows of a shorter sample are the
            first rows of a longer one.
        threads : int, optional
            Threads to use; by default one per processor. The rows are the same.

        Returns
        -------
        Dataset
            Columns in the order of `variables`.

        Raises
        ------
        NotEnoughMemoryError
            If the rows would not fit in memory.
        """
        order = self._dag.topological_order()
        place = {name: i for i, name in enumerate(order)}
        tables = [self._tables[name] for name in order]
        parents = [[place[p.name] for p in table.parents] for table in tables]
        values = [table.values for table in tables]
        columns = sample_codes(order, values, parents, n, seed=seed, threads=threads)
        return Dataset._adopt(self.variables, [columns[place[name]] for name in self._tables])

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Network:
        """Read a network file: ``.bif``, or ``.bif.gz``."""
        from bestdag.network.formats import load_network

        return load_network(path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a network file, complete or not at all; the suffix names the format."""
        from bestdag.network.formats import save_network

        save_network(self, path)

    def to_networkx(self) -> networkx.DiGraph[str]:
        """Make a networkx graph of the arcs."""
        return self._dag.to_networkx()

    def to_dot(self) -> str:
        """Write the graph for Graphviz."""
        return self._dag.to_dot()

    # As a Python value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Network):
            return NotImplemented
        return self is other or self._content() == other._content()

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self._content())
        return self._hash

    def _content(self) -> tuple[Any, ...]:
        return self.tables, self._name, self._properties, tuple(sorted(self._notes.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (self.tables, self._name, self._properties, self._notes)

    def __repr__(self) -> str:
        return f"<Network {self._name!r}: {self._summary()}>"

    def _summary(self) -> str:
        arcs = sum(len(table.parents) for table in self._tables.values())
        return (
            f"{count_of(len(self._tables), 'variable')}, {count_of(arcs, 'arc')}, "
            f"{count_of(self.n_parameters, 'parameter')}"
        )

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{title}</th>" for title in ("variable", "states", "parents"))
        rows = []
        for table in self.tables[:_SHOWN_HTML_ROWS]:
            states = ", ".join(table.child.states[:10]) + (", ..." * (table.child.arity > 10))
            cells = (table.child.name, states, ", ".join(p.name for p in table.parents))
            rows.append("".join(f"<td>{html.escape(cell)}</td>" for cell in cells))
        if len(self._tables) > _SHOWN_HTML_ROWS:
            rows.append("<td>...</td>" * 3)
        body = "".join(f"<tr>{cells}</tr>" for cells in rows)
        return (
            f"<div><p>{html.escape(self._name)}: {self._summary()}</p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        )


def _rebuilt(
    tables: tuple[ConditionalTable, ...],
    name: str,
    properties: tuple[str, ...],
    notes: dict[str, tuple[str, ...]],
) -> Network:
    return Network(tables, name=name, properties=properties, variable_properties=notes)


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


def _texts(texts: Iterable[str]) -> tuple[str, ...]:
    listed = (texts,) if isinstance(texts, str) else tuple(texts)
    for text in listed:
        if not isinstance(text, str):
            raise DataError(f"Network: a property must be text, got {text!r}")
    return listed
