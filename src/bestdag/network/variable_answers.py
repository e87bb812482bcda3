"""What a network answers about its variables, given evidence about others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from bestdag.network.content import NetworkContent

if TYPE_CHECKING:
    from bestdag.inference.distribution import Distribution, Explanations, Marginals
    from bestdag.network.answers import TreeForecast
    from bestdag.network.questions import Evidence, Likelihood

__all__ = ["VariableAnswers"]


class VariableAnswers(NetworkContent):
    """The methods of a network that answer questions about variables."""

    __slots__ = ()

    def query(
        self,
        targets: str | Iterable[str],
        given: Evidence | None = None,
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
            The variables whose distribution is wanted; several in the order of the answer's axes.
        given : mapping of name to state, optional
            The evidence. A target may be in it.
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
            The evidence has probability zero; the message names variables whose states cannot occur
            together, none of which can be left out.
        NotEnoughMemoryError
            The junction tree would not fit in memory; nothing was allocated.

        Notes
        -----
        Exact answers come from a junction tree [1]_. Variables that say nothing about the question
        are left out, unless the tree of the whole network is small: that one is then made at the
        first question and serves all later ones. Sampling draws the variables that are not known
        from their tables and weighs each row by the probability of the evidence [2]_; its standard
        errors grow as the evidence becomes less probable.

        References
        ----------
        .. [1] Lauritzen and Spiegelhalter (1988). "Local computations with probabilities on
           graphical structures and their application to expert systems." JRSS B 50.
        .. [2] Fung and Chang (1990). "Weighing and integrating evidence for stochastic simulation
           in Bayesian networks." UAI 5.

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
        given: Evidence | None = None,
        *,
        likelihood: Likelihood | None = None,
        method: str = "exact",
        samples: int = 100_000,
        seed: int = 0,
        threads: int | None = None,
    ) -> Marginals:
        """Work out the distributions of all variables at once; parameters and errors as in `query`.

        Two passes over the junction tree of the whole network give all of them.

        Returns
        -------
        Marginals
            A dict by name, with `to_pandas` for all of them in one frame.

        Examples
        --------
        >>> from bestdag import Network
        >>> from bestdag.examples import example
        >>> marginals = Network.load(example("asia.bif")).marginals({"smoke": "yes"})
        >>> round(marginals["lung"]["yes"], 6), round(marginals["bronc"]["yes"], 6)
        (0.1, 0.6)
        """
        from bestdag.network import questions

        if questions.require_method(method, "marginals"):
            return questions.distributions(self._answers(), given, likelihood)
        return questions.sampled_marginals(
            self, given, likelihood, samples=samples, seed=seed, threads=threads
        )

    def probability(
        self,
        given: Evidence | None = None,
        *,
        likelihood: Likelihood | None = None,
        log: bool = False,
    ) -> float:
        """Work out the probability of the evidence, or its natural logarithm.

        The numbers of `likelihood` are first divided by the largest of each variable, since only
        their ratios matter. Rows of tables are taken as they are, also where they miss the sum 1
        by rounding. Evidence of probability zero is no error here: the answer is 0, its logarithm
        minus infinity.

        Parameters
        ----------
        given, likelihood
            The evidence, as in `query`.
        log : bool, default False
            Return the natural logarithm, which does not underflow.

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
        given: Evidence | None = None,
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
            The evidence, as in `query`.
        n : int, default 1
            Number of explanations, at least 1.

        Returns
        -------
        Explanations
            A list, the best first; fewer than n where fewer are possible.

        Raises
        ------
        UnknownNameError, ImpossibleEvidenceError, NotEnoughMemoryError
            As for `query`.

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
        given: Evidence | None = None,
        conditional_on: str | Iterable[str] = (),
    ) -> float:
        r"""Work out the mutual information of two variables, or groups of them, in nats.

        .. math:: I(A; B \mid C) = H(A, C) + H(B, C) - H(A, B, C) - H(C)

        with H the entropy: how much knowing B lowers the mean uncertainty about A. It is 0 exactly
        when A and B are independent given C.

        Parameters
        ----------
        a, b : str or list of str
            The variables; no variable may be in two of the groups.
        given : mapping of name to state, optional
            Evidence: the information is that of the distribution given these states.
        conditional_on : str or list of str
            C: the information that is left when these variables are known, averaged over their
            states.

        Raises
        ------
        DataError
            A variable that is named twice, or an empty group.
        UnknownNameError, ImpossibleEvidenceError, NotEnoughMemoryError
            As for `query`; the joint distribution of all these variables is made.

        References
        ----------
        .. [1] Cover and Thomas (2006). "Elements of Information Theory", 2nd edition. Section 2.5.

        Examples
        --------
        >>> from bestdag import Network
        >>> from bestdag.examples import example
        >>> network = Network.load(example("asia.bif"))
        >>> round(network.mutual_information("smoke", "lung"), 6)
        0.02244
        >>> round(network.mutual_information("smoke", "lung", given={"either": "yes"}), 6)
        0.07052
        """
        from bestdag.network import questions

        return questions.mutual_information(self._answers(), a, b, given, conditional_on)

    def forecast(self) -> TreeForecast:
        """Forecast the size of the junction tree of all variables, without making it.

        Time and memory of exact answers grow with its cells. The tree comes from an elimination
        order, which is not proved to be best: its width is an upper bound on the treewidth.

        Examples
        --------
        >>> from bestdag import Network
        >>> from bestdag.examples import example
        >>> forecast = Network.load(example("asia.bif")).forecast()
        >>> forecast.width, forecast.n_cells, forecast.largest_clique
        (2, 40.0, ('either', 'lung', 'tub'))
        """
        return self._answers().forecast()
