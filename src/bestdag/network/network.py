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
        Free text about the network, which files hold.
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
        """Return the same network under another name, which files hold."""
        if not isinstance(name, str):
            raise DataError(f"Network: a name must be text, got {name!r}")
        made: Network = object.__new__(type(self))
        for slot in NetworkContent.__slots__:
            setattr(made, slot, getattr(self, slot))
        made._name, made._hash = name, None
        return made

    def do(self, states: Mapping[str, str] | None = None, /, **more: str) -> Network:
        r"""Return the network after an intervention, do(X = x).

        The variables that are set lose their parents; every other table stays as it is. With S
        the variables that are set,

        .. math:: P(x \mid do(x_S)) = \prod_{i \notin S} P(x_i \mid \mathrm{pa}_i)

        where x agrees with :math:`x_S`, and zero elsewhere. That is what setting a variable does
        when the arcs are causal; observing the same state is ``query(..., given=...)``.

        Parameters
        ----------
        states : mapping of name to state, optional
            The intervention; for names that Python does not take as arguments.
        **more : str
            The intervention, as name=state.

        Raises
        ------
        UnknownNameError
            A name or a state that is not there.

        References
        ----------
        .. [1] Pearl (2009). "Causality", 2nd edition. Section 3.2.3, equation 3.10.

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
        r"""Work out the Kullback-Leibler divergence to another network, in nats.

        .. math:: D(P \,\|\, Q) = \sum_x P(x) \ln \frac{P(x)}{Q(x)}

        with P this network and Q the other one: how much log loss is lost per row by taking the
        other one for this. It is not symmetric.

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

        Raises
        ------
        DataError
            Networks over other variables or states.
        NotEnoughMemoryError
            With ``method="exact"``, when the junction tree does not fit.

        Notes
        -----
        The sum falls apart into families, so exact values need the junction tree of this network
        and not the joint distribution. Sampling would miss an infinite divergence. So the zeros of
        the other network's tables are first compared with what this network can do, exactly.

        Examples
        --------
        >>> from bestdag import ConditionalTable, Network, Variable
        >>> coin = Variable("coin", ("heads", "tails"))
        >>> fair, bent = (Network([ConditionalTable(coin, (), [p, 1 - p])]) for p in (0.5, 0.75))
        >>> round(fair.kl_divergence(bent).value, 6)  # (ln(2/3) + ln 2) / 2
        0.143841
        """
        from bestdag.network.divergence import kl_divergence

        return kl_divergence(self, other, method, samples=samples, seed=seed, threads=threads)

    def compile(self) -> CompiledNetwork:
        """Return the network with the junction tree of all variables, for many questions.

        `query` makes what each question needs; a compiled network makes the whole tree once, and
        then computes only what changed since the last question. `forecast` says how large the
        tree would be.

        Raises
        ------
        NotEnoughMemoryError
            If it would not fit in memory; nothing was allocated.

        References
        ----------
        .. [1] Lauritzen and Spiegelhalter (1988). "Local computations with probabilities on
           graphical structures and their application to expert systems." JRSS B 50.

        Examples
        --------
        >>> from bestdag import Network
        >>> from bestdag.examples import example
        >>> Network.load(example("asia.bif")).compile()
        <CompiledNetwork 'asia': 6 cliques, 40 of 40 cells>
        """
        from bestdag.network.compiled import CompiledNetwork

        return CompiledNetwork(self)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Network:
        """Read a network file, also with ``.gz`` behind its suffix.

        The suffix names the format: ``.bif``, ``.json``, ``.xmlbif``, ``.net``, ``.dsc``,
        ``.xdsl`` or ``.uai``. What is in the file tells when the suffix does not.

        Raises
        ------
        FileError
            A file that cannot be read.
        FormatError
            A file that does not follow its format; the message says line and column.
        """
        from bestdag.network.formats import load_network

        return load_network(path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a network file, complete or not at all; the suffix names the format.

        It is one that `load` reads, or ``.dot``, which holds the graph alone. Numbers are written
        in the shortest form that gives the same double, so what is read back is equal. ``.bif``
        and ``.json`` hold sparse tables as they are; the other formats write every row.

        Raises
        ------
        UnknownNameError
            A suffix that names no format.
        WriteError
            A file that cannot be written; what was there before is untouched.
        NotEnoughMemoryError
            Tables so large that the file does not fit in memory while it is made.
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
