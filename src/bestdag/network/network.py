"""A Bayesian network: a graph and one conditional table per node."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestdag.data.dataset import Dataset
from bestdag.data.schema import Variable
from bestdag.errors import DataError, unknown_name
from bestdag.graph.dag import Dag
from bestdag.inference.log_tables import LogTables
from bestdag.inference.sampling import sample_codes
from bestdag.network import prediction
from bestdag.network.checks import property_texts, tables_by_name
from bestdag.network.table import ConditionalTable

if TYPE_CHECKING:
    import networkx

__all__ = ["Network"]


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

    __slots__ = ("_dag", "_hash", "_log_tables", "_name", "_notes", "_properties", "_tables")

    _dag: Dag
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
        found = tables_by_name(tables)
        if not isinstance(name, str):
            raise DataError(f"Network: a name must be text, got {name!r}")
        notes = {}
        for variable, texts in (variable_properties or {}).items():
            if variable not in found:
                raise unknown_name("variable", variable, found, who="Network")
            notes[variable] = property_texts(texts)
        parents = {child: [p.name for p in table.parents] for child, table in found.items()}
        self._dag = Dag.from_parents(parents)
        self._tables = found
        self._name = name
        self._properties = property_texts(properties)
        self._notes = {each: texts for each, texts in notes.items() if texts}
        self._hash = None
        self._log_tables = None

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
        values = [t.values if t.sparse is None else t.sparse for t in tables]
        columns = sample_codes(order, values, parents, n, seed=seed, threads=threads)
        return Dataset._adopt(self.variables, [columns[place[name]] for name in self._tables])

    def log_probability(
        self, data: Any, *, missing: str = "marginalize", threads: int | None = None
    ) -> npt.NDArray[np.float64]:
        """Work out the natural logarithm of the probability of each row.

        Parameters
        ----------
        data : Dataset, or anything `read` takes
            Columns are found by name; each variable of the network needs one, with no value
            that is not among its states.
        missing : {"marginalize", "error"}, default "marginalize"
            Give a row with missing cells the probability of the others, exactly (a missing
            cell without known descendants is left out), or refuse it.
        threads : int, optional
            Threads to use; by default one per processor. The numbers are the same.

        Returns
        -------
        float64 array
            One number per row; minus infinity where a probability is zero.

        Raises
        ------
        DataError, UnknownNameError
            A column too few or too many, or a value that is not a state.
        NotEnoughMemoryError
            If missing variables depend on each other so that the sum would not fit in memory.

        Examples
        --------
        >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
        >>> network = Network([
        ...     ConditionalTable(rain, (), [0.8, 0.2]),
        ...     ConditionalTable(wet, (rain,), [[0.9, 0.1], [0.0, 1.0]]),
        ... ])
        >>> rows = {"rain": ["no", "yes", None], "wet": ["yes", "no", "yes"]}
        >>> np.exp(network.log_probability(rows)).round(6)
        array([0.08, 0.  , 0.28])
        """
        return prediction.log_probability(self, data, missing, threads)

    def log_loss(
        self, data: Any, *, missing: str = "marginalize", threads: int | None = None
    ) -> float:
        """Work out the mean of -ln P(row), in nats: row weights count, lower is better.

        It is infinite when a row (of weight above zero) has probability zero. The parameters
        are those of `log_probability`.
        """
        return prediction.log_loss(self, data, missing, threads)

    def predict_proba(
        self,
        target: str,
        data: Any,
        *,
        missing: str = "marginalize",
        impossible: str = "error",
        threads: int | None = None,
    ) -> npt.NDArray[np.float64]:
        """Work out the distribution of one variable given the other cells of each row.

        Parameters
        ----------
        target : str
            The variable asked for. Its column may be absent and is never looked at.
        data : Dataset, or anything `read` takes
            Columns for other variables, found by name. A variable without a column is not known,
            and summed over; columns that are not in the network are ignored.
        missing : {"marginalize", "error"}, default "marginalize"
            Sum over missing cells and columns, exactly, or refuse them.
        impossible : {"error", "marginal"}, default "error"
            What to do about a row whose cells leave probability zero to every state of the
            target: refuse it by its number, or answer with the distribution that the target
            has when nothing is known.
        threads : int, optional
            Threads to use; by default one per processor. The numbers are the same.

        Returns
        -------
        float64 array, shape (rows, states)
            Columns in the order of the target's states; each row sums to 1.

        Notes
        -----
        Sums are taken in logarithms, so many attributes do not underflow. Only cells that the
        target depends on are looked at: in a complete row its Markov blanket.

        Examples
        --------
        >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
        >>> network = Network([
        ...     ConditionalTable(rain, (), [0.8, 0.2]),
        ...     ConditionalTable(wet, (rain,), [[0.9, 0.1], [0.0, 1.0]]),
        ... ])
        >>> network.predict_proba("rain", {"wet": ["no", "yes", None]}).round(6)
        array([[1.      , 0.      ],
               [0.285714, 0.714286],
               [0.8     , 0.2     ]])
        >>> network.predict("rain", {"wet": ["no", "yes"]})
        array(['no', 'yes'], dtype=object)
        """
        return prediction.predict_proba(self, target, data, missing, impossible, threads)

    def predict_log_proba(
        self,
        target: str,
        data: Any,
        *,
        missing: str = "marginalize",
        impossible: str = "error",
        threads: int | None = None,
    ) -> npt.NDArray[np.float64]:
        """Work out the natural logarithms of `predict_proba`, also where those would be zero."""
        return prediction.predict_proba(self, target, data, missing, impossible, threads, log=True)

    def predict(
        self,
        target: str,
        data: Any,
        *,
        missing: str = "marginalize",
        impossible: str = "error",
        threads: int | None = None,
    ) -> npt.NDArray[np.object_]:
        """Name the most probable state of one variable for each row, ties to the first state.

        The parameters are those of `predict_proba`; memory does not grow with the states.
        """
        return prediction.predict(self, target, data, missing, impossible, threads)

    def _logs(self) -> LogTables:
        """Return the logarithms of the tables: worked out once, kept, never pickled."""
        if self._log_tables is None:
            self._log_tables = prediction.log_tables(self)
        return self._log_tables

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Network:
        """Read a network file, also with ``.gz`` behind its suffix.

        The suffix names the format: ``.bif``, ``.json``, ``.xmlbif``, ``.net``, ``.dsc``,
        ``.xdsl`` or ``.uai``. What is in the file tells when the suffix does not.
        """
        from bestdag.network.formats import load_network

        return load_network(path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a network file, complete or not at all; the suffix names the format.

        It is one of those that `load` reads, or ``.dot``, which holds the graph alone.
        """
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
        from bestdag.network.display import summary

        return f"<Network {self._name!r}: {summary(self)}>"

    def __str__(self) -> str:
        from bestdag.network.display import network_text

        return network_text(self)

    def _repr_html_(self) -> str:
        from bestdag.network.display import html_table

        return html_table(self)


def _rebuilt(
    tables: tuple[ConditionalTable, ...],
    name: str,
    properties: tuple[str, ...],
    notes: dict[str, tuple[str, ...]],
) -> Network:
    return Network(tables, name=name, properties=properties, variable_properties=notes)
