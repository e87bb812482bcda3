"""A Bayesian network: a graph and one conditional table per node."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, overload

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

    from bestdag.inference.distribution import Distribution, Estimate, Explanation
    from bestdag.network.answers import Answers, TreeForecast
    from bestdag.network.compiled import CompiledNetwork
    from bestdag.network.findings import Given, Likelihood
    from bestdag.network.imputation import ImputationMethod

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

    __slots__ = (
        "_dag",
        "_hash",
        "_kept_answers",
        "_log_tables",
        "_name",
        "_notes",
        "_properties",
        "_tables",
    )

    _kept_answers: Answers | None
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
        self._kept_answers = None

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

    # Questions

    @overload
    def impute(
        self,
        data: Any,
        method: ImputationMethod = "most_probable",
        *,
        n: None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> Dataset: ...

    @overload
    def impute(
        self,
        data: Any,
        method: ImputationMethod = "draw",
        *,
        n: int,
        seed: int = 0,
        threads: int | None = None,
    ) -> list[Dataset]: ...

    def impute(
        self,
        data: Any,
        method: ImputationMethod = "most_probable",
        *,
        n: int | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> Dataset | list[Dataset]:
        """Fill in the missing cells of rows.

        Parameters
        ----------
        data : Dataset, path, frame
            A Dataset, or anything that `read` takes. A variable of the network without a column is
            missing everywhere, and gets one.
        method : {"most_probable", "draw"}
            All missing cells of a row together get their most probable states, given what the row
            shows, ties to the first states; or states drawn from their joint distribution.
        n : int, optional
            Several imputations, drawn independently of each other: what is estimated from each
            says how uncertain the missing cells leave it. Needs ``method="draw"``.
        seed : int, default 0
            For draws. A row's draws depend on the seed, on the number of the row and on what it
            shows alone.
        threads : int, optional
            Every processor by default. The result is the same.

        Returns
        -------
        Dataset, or a list of n
            Complete, the variables of the network in its order, rows and weights as they were.

        Raises
        ------
        DataError
            When what a row shows has probability zero; it is named.

        Notes
        -----
        The most probable states are one guess: counts of them are more regular than the data were.
        To estimate from, draw, or use `EM`.

        Examples
        --------
        >>> from bestdag.examples import example
        >>> network = Network.load(example("asia.bif"))
        >>> seen = {"asia": ["no", "yes"], "either": ["yes", ""], "xray": ["", "yes"]}
        >>> filled = network.impute(seen)
        >>> filled.has_missing, filled.variable("xray").states[filled.codes("xray")[0]]
        (False, 'yes')
        """
        from bestdag.network.imputation import impute

        return impute(self, data, method, n, seed, threads)

    def query(
        self,
        targets: str | Iterable[str],
        given: Given | None = None,
        *,
        likelihood: Likelihood | None = None,
        method: str = "exact",
        samples: int = 100_000,
        seed: int = 0,
        threads: int | None = None,
    ) -> Distribution:
        """Work out the distribution of a variable, or the joint distribution of several.

        Parameters
        ----------
        targets : str or list of str
            What is asked for; several variables in the order of the answer's axes.
        given : mapping of name to state, optional
            What is known.
        likelihood : mapping of name to numbers, optional
            Likelihood (virtual) evidence: for each state of a variable, how probable the
            observation is there, as a list in the order of the states or by state. Only ratios
            matter.
        method : {"exact", "sampling"}, default "exact"
            Work it out by a junction tree, or estimate it by likelihood weighting, with standard
            errors and the effective sample size.
        samples : int, default 100,000
            Rows to draw, with sampling.
        seed : int, default 0
            Of the draws, with sampling; equal seeds give equal answers.
        threads : int, optional
            Threads to draw with; by default one per processor. The numbers are the same.

        Returns
        -------
        Distribution
            Probabilities by names and states.

        Raises
        ------
        UnknownNameError
            A name or a state that is not there; the message offers the nearest one.
        ImpossibleEvidenceError
            What is known has probability zero; the message names findings that cannot be
            together, none of which can be left out.
        NotEnoughMemoryError
            The junction tree would not fit in memory; nothing was allocated.

        Notes
        -----
        Variables that say nothing about the question are left out, unless the tree of the whole
        network is small: that one is then made at the first question and kept.

        Examples
        --------
        >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
        >>> network = Network([
        ...     ConditionalTable(rain, (), [0.8, 0.2]),
        ...     ConditionalTable(wet, (rain,), [[0.9, 0.1], [0.0, 1.0]]),
        ... ])
        >>> print(network.query("rain", given={"wet": "yes"}))
        P(rain)
          no   0.285714  ######
          yes  0.714286  ##############
        """
        from bestdag.network import questions

        if questions.require_method(method, "query"):
            return questions.query(self._answers(), targets, given, likelihood)
        return questions.sampled_query(
            self, targets, given, likelihood, samples=samples, seed=seed, threads=threads
        )

    def marginals(
        self,
        given: Given | None = None,
        *,
        likelihood: Likelihood | None = None,
        method: str = "exact",
        samples: int = 100_000,
        seed: int = 0,
        threads: int | None = None,
    ) -> dict[str, Distribution]:
        """Work out the distributions of all variables at once; the parameters are as in `query`."""
        from bestdag.network import questions

        if questions.require_method(method, "marginals"):
            return questions.distributions(self._answers(), given, likelihood)
        return questions.sampled_marginals(
            self, given, likelihood, samples=samples, seed=seed, threads=threads
        )

    def probability(
        self,
        given: Given | None = None,
        *,
        likelihood: Likelihood | None = None,
        log: bool = False,
    ) -> float:
        """Work out the probability of what is known, or its natural logarithm.

        The numbers of `likelihood` are first divided by the largest of each variable, since only
        their ratios matter. Rows of tables are taken as they are, also where they miss the sum 1
        by rounding.

        Examples
        --------
        >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
        >>> network = Network([
        ...     ConditionalTable(rain, (), [0.8, 0.2]),
        ...     ConditionalTable(wet, (rain,), [[0.9, 0.1], [0.0, 1.0]]),
        ... ])
        >>> round(network.probability({"wet": "yes"}), 6)
        0.28
        """
        from bestdag.network import questions

        return questions.probability(self._answers(), given, likelihood, log=log)

    def most_probable(
        self,
        variables: str | Iterable[str] | None = None,
        given: Given | None = None,
        *,
        likelihood: Likelihood | None = None,
        n: int = 1,
    ) -> list[Explanation]:
        """Find the most probable configuration, and the n best of them, exactly.

        Parameters
        ----------
        variables : str or list of str, optional
            Which variables are explained: the others are summed over (marginal MAP). By default
            all are explained (most probable explanation).
        given, likelihood
            What is known, as in `query`.
        n : int, default 1
            How many configurations.

        Returns
        -------
        list of Explanation
            The best first; fewer than n where fewer are possible.

        Notes
        -----
        The n best are found by the algorithm of Nilsson [1]_. Sums come before maxima in a marginal
        MAP, so its tables may be much larger; their size is forecast.

        References
        ----------
        .. [1] Nilsson (1998). "An efficient algorithm for finding the M most probable
           configurations in probabilistic expert systems." Statistics and Computing 8.

        Examples
        --------
        >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
        >>> network = Network([
        ...     ConditionalTable(rain, (), [0.8, 0.2]),
        ...     ConditionalTable(wet, (rain,), [[0.9, 0.1], [0.0, 1.0]]),
        ... ])
        >>> [(e.states, round(e.probability, 6)) for e in network.most_probable(n=2)]
        [({'rain': 'no', 'wet': 'no'}, 0.72), ({'rain': 'yes', 'wet': 'yes'}, 0.2)]
        """
        from bestdag.network import questions

        return questions.explanations(self._answers(), variables, given, likelihood, n)

    def mutual_information(
        self,
        a: str | Iterable[str],
        b: str | Iterable[str],
        *,
        given: Given | None = None,
        conditional_on: str | Iterable[str] = (),
    ) -> float:
        """Work out what two variables, or groups of them, say about each other, in nats.

        Parameters
        ----------
        a, b : str or list of str
            The variables.
        given : mapping of name to state, optional
            Findings: the information is that of the distribution given these states.
        conditional_on : str or list of str
            Variables: the information that is left when they are known, averaged over their
            states.
        """
        from bestdag.network import questions

        return questions.mutual_information(self._answers(), a, b, given, conditional_on)

    def do(self, states: Mapping[str, str] | None = None, /, **more: str) -> Network:
        """Return the network after an intervention: variables set from outside.

        Parameters
        ----------
        states : mapping of name to state, optional
            What is set; for names that Python does not take as arguments.
        **more : str
            What is set, as name=state.

        Examples
        --------
        >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
        >>> network = Network([
        ...     ConditionalTable(rain, (), [0.8, 0.2]),
        ...     ConditionalTable(wet, (rain,), [[0.9, 0.1], [0.0, 1.0]]),
        ... ])
        >>> network.do(wet="yes").query("rain").to_dict()
        {'no': 0.8, 'yes': 0.2}
        """
        from bestdag.network import questions

        return questions.intervened(self, {**states, **more} if states else more)

    def markov_blanket(self, name: str) -> tuple[str, ...]:
        """Name the parents, children and other parents of children of a variable."""
        return self._dag.markov_blanket(self.variable(name).name)

    def kl_divergence(
        self,
        other: Network,
        *,
        method: str = "auto",
        samples: int = 100_000,
        seed: int = 0,
        threads: int | None = None,
    ) -> Estimate:
        """Work out the Kullback-Leibler divergence to another network, in nats.

        Parameters
        ----------
        other : Network
            Over the same variables, with the same states.
        method : {"auto", "exact", "sampling"}, default "auto"
            Exactly where that fits in memory, else by sampling; or one of them.
        samples, seed, threads
            Of sampling, as in `query`.

        Returns
        -------
        Estimate
            The value, infinite where this network can do what the other one cannot; with a
            standard error where it was sampled.

        Notes
        -----
        Sampling would miss an infinite divergence. So the zeros of the other network's tables are
        first compared with what this network can do, exactly.
        """
        from bestdag.network.divergence import kl_divergence

        return kl_divergence(self, other, method, samples=samples, seed=seed, threads=threads)

    def compile(self) -> CompiledNetwork:
        """Make the junction tree of all variables and keep it, for many questions.

        Raises
        ------
        NotEnoughMemoryError
            If it would not fit in memory; nothing was allocated.
        """
        from bestdag.network.compiled import CompiledNetwork

        return CompiledNetwork(self)

    def forecast(self) -> TreeForecast:
        """Say how large the junction tree of all variables is, without making it."""
        return self._answers().forecast()

    def _answers(self) -> Answers:
        """Return what answers questions: made once, kept, never pickled."""
        if self._kept_answers is None:
            from bestdag.network.answers import Answers

            self._kept_answers = Answers(self)
        return self._kept_answers

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
