"""A Bayesian network: a graph and one conditional table per node."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bestdag.errors import DataError
from bestdag.network.content import NetworkContent
from bestdag.network.questions import interventions_text
from bestdag.network.row_answers import RowAnswers
from bestdag.network.table import ConditionalTable
from bestdag.network.variable_answers import VariableAnswers

if TYPE_CHECKING:
    from bestdag.drawing.picture import Picture
    from bestdag.inference.distribution import Estimate
    from bestdag.network.compiled import CompiledNetwork

__all__ = ["Network"]


class Network(RowAnswers, VariableAnswers):
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
    >>> from bestdag import ConditionalTable, Network, Variable
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

    __slots__ = ()

    def with_name(self, name: str) -> Network:
        """Return the same network under another name, which files keep."""
        if not isinstance(name, str):
            raise DataError(f"Network: a name must be text, got {name!r}")
        made: Network = object.__new__(type(self))
        for slot in NetworkContent.__slots__:
            setattr(made, slot, getattr(self, slot))
        made._name, made._hash = name, None
        return made

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
        >>> from bestdag import ConditionalTable, Network, Variable
        >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
        >>> network = Network([
        ...     ConditionalTable(rain, (), [0.8, 0.2]),
        ...     ConditionalTable(wet, (rain,), [[0.9, 0.1], [0.0, 1.0]]),
        ... ])
        >>> print(network.do(wet="yes").query("rain"))
        P(rain | do(wet = yes))
          no   0.8  ################
          yes  0.2  ####
        """
        from bestdag.network import questions

        return questions.intervened(self, {**states, **more} if states else more)

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

    def plot(self) -> Picture:
        """Draw the structure, as `Dag.plot` does."""
        return self.dag.plot()

    def __reduce__(self) -> tuple[Any, ...]:
        what = (self.tables, self._name, self._properties, self._notes, self._done)
        return _rebuilt, what

    def __repr__(self) -> str:
        from bestdag.network.display import summary

        done = "".join(f", {text}" for text in interventions_text(self._done))
        return f"<Network {self._name!r}: {summary(self)}{done}>"

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
    done: dict[str, str],
) -> Network:
    network = Network(tables, name=name, properties=properties, variable_properties=notes)
    network._done = done
    return network
