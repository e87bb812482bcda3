"""What a network answers about its variables, given what is known of others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from bestdag.network.content import NetworkContent

if TYPE_CHECKING:
    from bestdag.inference.distribution import Distribution, Explanations, Marginals
    from bestdag.network.answers import TreeForecast
    from bestdag.network.questions import Given, Likelihood

__all__ = ["VariableAnswers"]


class VariableAnswers(NetworkContent):
    """The methods of a network that answer questions about variables."""

    __slots__ = ()

    def query(
        self,
        targets: str | Iterable[str],
        given: Given | None = None,
        *,
        likelihood: Likelihood | None = None,
        method: Literal["exact", "sampling"] = "exact",
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
            Exact inference, or estimates by likelihood weighting. The first is by a junction
            tree; the second has standard errors and the effective sample size.
        samples : int, default 100,000
            Number of samples of `method` sampling.
        seed : int, default 0
            Seed of the samples. Equal seeds give equal answers.
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
        >>> from bestdag import ConditionalTable, Network, Variable
        >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
        >>> network = Network([
        ...     ConditionalTable(rain, (), [0.8, 0.2]),
        ...     ConditionalTable(wet, (rain,), [[0.9, 0.1], [0.0, 1.0]]),
        ... ])
        >>> print(network.query("rain", given={"wet": "yes"}))
        P(rain | wet = yes)
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
    ) -> Marginals:
        """Work out the distributions of all variables at once; the parameters are as in `query`.

        Returns
        -------
        Marginals
            A dict by name, with `to_pandas` for all of them in one frame.
        """
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
        """Work out the probability of the evidence, or its natural logarithm.

        The numbers of `likelihood` are first divided by the largest of each variable, since only
        their ratios matter. Rows of tables are taken as they are, also where they miss the sum 1
        by rounding.

        Examples
        --------
        >>> from bestdag import ConditionalTable, Network, Variable
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
    ) -> Explanations:
        """Find the most probable configuration, and the n best of them, exactly.

        Parameters
        ----------
        variables : str or list of str, optional
            Which variables are explained: the others are summed over (marginal MAP). By default
            all are explained (most probable explanation).
        given, likelihood
            What is known, as in `query`.
        n : int, default 1
            Number of explanations.

        Returns
        -------
        Explanations
            A list, the best first; fewer than n where fewer are possible.

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
        >>> from bestdag import ConditionalTable, Network, Variable
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

    def forecast(self) -> TreeForecast:
        """Say how large the junction tree of all variables is, without making it."""
        return self._answers().forecast()
