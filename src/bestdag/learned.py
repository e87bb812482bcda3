"""What was learned: the structure, what is known about it, and what it was learned from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from bestdag.counts.engine import CountingEngine
from bestdag.data.dataset import Dataset
from bestdag.data.sources.files import table_name
from bestdag.errors import DataError, InvalidParameterError
from bestdag.graph.knowledge import Knowledge
from bestdag.graph.pdag import Pdag
from bestdag.incomplete import Treatment
from bestdag.network.fitting import warn_of_many_parameters
from bestdag.network.formats import format_for_writing
from bestdag.network.network import Network
from bestdag.parameters import choose_estimator
from bestdag.parameters.base import Estimator
from bestdag.scores.base import Score
from bestdag.scores.explanation import arc_losses
from bestdag.scores.local_scores import LocalScores
from bestdag.scores.prior import StructurePrior
from bestdag.scores.scorer import Scorer
from bestdag.search.result import SearchResult
from bestdag.wording import arg, by_reader, count_of

if TYPE_CHECKING:
    import networkx

    from bestdag.advice import Advice
    from bestdag.certificate import OptimalityCertificate
    from bestdag.drawing.picture import Picture
    from bestdag.report.sections import Probabilities

__all__ = ["Result"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Result(SearchResult):
    """What was learned: the structure, what is known about it, and what it was learned from.

    Attributes
    ----------
    dataset : Dataset or None
        The rows; None when a table of local scores was given.
    scored_by : Score or None
        The score; None as well.
    treatment : Treatment
        How missing values were treated.
    structure_prior : StructurePrior or None
    data_notes : tuple of str
        Those of the notes that say what became of the rows.
    advice : tuple of Advice
        What to know before the structure is used: too many parameters, nothing to learn.
    asked : mapping of str to object
        What `learn` was given beside these, for those who repeat it; threads change nothing.
    knowledge : Knowledge or None
        The constraints that were given.
    scores : LocalScores or None
        What the structure was learned by: all that comes after learning counts by it. None where
        scores changed on the way, as by structural EM.

    Examples
    --------
    >>> from bestdag import learn
    >>> [one.kind for one in learn({"coin": ["heads", "tails"]}).advice]
    ['nothing to learn']
    """

    dataset: Dataset | None
    scored_by: Score | None
    treatment: Treatment
    structure_prior: StructurePrior | None = None
    data_notes: tuple[str, ...] = ()
    advice: tuple[Advice, ...] = ()
    asked: Mapping[str, Any] = field(default_factory=dict)
    knowledge: Knowledge | None = None
    scores: LocalScores | None = None
    _scorers: list[Scorer] = field(default_factory=list, init=False)
    _fitted: list[Network] = field(default_factory=list, init=False)

    def fit(
        self,
        parameters: Estimator | str | None = None,
        *,
        threads: int | None = None,
        **settings: Any,
    ) -> Network:
        """Fit the parameters of the structure to the data it was learned from.

        Parameters
        ----------
        parameters : Estimator or str, optional
            An estimator, or the name of one: "fsnml" (the default), "dirichlet", "mle", "em"; or
            "score", the one that belongs to the score: the posterior mean under its own prior where
            it has one, else fsNML. After ``missing="em"`` by EM.
        threads : int, optional
            Threads for counting; every processor by default.
        **settings
            Settings of the estimator, such as ``ess=10``; those not given have their defaults.

        Returns
        -------
        Network

        Examples
        --------
        >>> from bestdag import learn
        >>> from bestdag.examples import example
        >>> result = learn(example("asia.csv"), "bdeu")
        >>> result.fit()  # by fsNML
        <Network 'asia': 8 variables, 7 arcs, 17 parameters>
        >>> result.fit("dirichlet", ess=10) == result.fit()
        False
        """
        if self.dataset is None or self.scored_by is None:
            raise DataError(
                "fit: needs rows of data, and this structure was learned from a table of local "
                "scores; use fit_network(result.dag, data, parameters)"
            )
        estimator = choose_estimator(self.scored_by, parameters, settings)
        network = self.treatment.fit(self.dag, self.dataset, estimator, threads, self.counts)
        warn_of_many_parameters(network.tables, self.dataset)
        return network.with_name(table_name(self.asked.get("data")))

    @property
    def network(self) -> Network:
        """The fitted network: `fit` with its defaults, done once and kept.

        Examples
        --------
        >>> from bestdag import learn
        >>> from bestdag.examples import example
        >>> result = learn(example("asia.csv"), "bdeu")
        >>> result.network.query("lung", given={"smoke": "yes"}).most_probable()
        'no'
        >>> result.network is result.network
        True
        """
        if not self._fitted:
            self._fitted.append(self.fit())
        return self._fitted[0]

    @property
    def cpdag(self) -> Pdag:
        """The class of the structure: arcs that all equivalent ones have, edges for the others."""
        return self.dag.cpdag()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted network (see `network`); the ending names the format.

        The formats are those of `Network.save`, ``.json`` among them; `bestdag.load` opens what
        was written. Other parameters than the default ones: ``result.fit(...).save(path)``.
        """
        format_for_writing(path)  # a name that says no format is refused before anything is fitted
        self.network.save(path)

    def to_networkx(self) -> networkx.DiGraph[str]:
        """Make a networkx graph of the arcs."""
        return self.dag.to_networkx()

    def scorer(self, *, threads: int | None = None) -> Scorer:
        """Return where the scores of families come from.

        After ``missing="em"`` they are scores of the expected counts under the structure found,
        its parameters fitted by EM; after ``missing="available"`` means over the rows that show
        the family.
        """
        if self.dataset is None or self.scored_by is None:
            raise DataError(
                "scorer: needs rows of data, and this structure was learned from a table of local "
                "scores; use Scorer(data, score)"
            )
        if not self._scorers:
            scorer = self.scores
            if not isinstance(scorer, Scorer):
                scorer = self.treatment.scorer(
                    self.dataset,
                    self.scored_by,
                    self.structure_prior,
                    threads=threads,
                    dag=self.dag,
                )
            assert scorer is not None
            self._scorers.append(scorer.within_support(0.0))
        return self._scorers[0].with_threads(threads)

    @property
    def counts(self) -> CountingEngine | None:
        """What counted the rows while learning; None without rows, or where they are incomplete."""
        return self.scores.counts if isinstance(self.scores, Scorer) else None

    def arc_losses(self, *, threads: int | None = None) -> dict[tuple[str, str], float]:
        """Work out the score lost when one arc is left out and all others stay, in nats.

        From missing values the scores are those of `scorer`: expected ones, or means per row.

        Examples
        --------
        >>> from bestdag import learn
        >>> from bestdag.examples import example
        >>> losses = learn(example("asia.csv"), "bdeu").arc_losses()
        >>> round(losses["bronc", "dysp"], 1)
        562.4
        """
        if self.dataset is None or self.scored_by is None:
            raise DataError(
                "arc_losses: needs rows of data, and this structure was learned from a table of "
                "local scores; use arc_losses(Scorer(data, score), result.dag)"
            )
        return arc_losses(self.scorer(threads=threads), self.dag)

    def compelled(self) -> frozenset[tuple[str, str]]:
        """Return the arcs that point this way in every equivalent structure that may be.

        Those of the CPDAG, and those whose reversal is ruled out by a statement of what is known.

        Examples
        --------
        >>> from bestdag import learn
        >>> result = learn({"a": [0, 0, 1, 1] * 9, "b": [0, 0, 1, 1] * 9}, knowledge=["a -> b"])
        >>> sorted(result.compelled()), result.dag.cpdag().arcs
        ([('a', 'b')], ())
        """
        compelled = set(self.dag.cpdag().arcs)
        if self.knowledge is not None:
            rules = self.knowledge.for_nodes(self.dag.nodes)
            place = {name: i for i, name in enumerate(rules.names)}
            compelled |= {
                (parent, child)
                for parent, child in self.dag.arcs
                if not rules.allowed[place[child], place[parent]]
            }
        return frozenset(compelled)

    def plot(self, *, threads: int | None = None) -> Picture:
        """Draw the structure in layers.

        The wider an arc, the more score is lost without it; dashed ones are reversible. Where the
        structure was learned from local scores, all arcs are equally wide.
        """
        from bestdag.graph.plotting import plot_dag

        losses = None if self.dataset is None else self.arc_losses(threads=threads)
        return plot_dag(self.dag, losses, compelled=self.compelled())

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        threads: int | None = None,
        probabilities: Probabilities | None = None,
    ) -> None:
        """Write a report: one HTML file that fetches nothing.

        It has the graph, to zoom, to search and to ask for the probabilities of each variable, what
        was read, every arc and every score, the near-optimal structures where they were listed,
        what other scores would choose (in no more time than learning took, or a second), the
        search, and what is needed to repeat it. After Ctrl-C it comes at once, without other
        scores.

        Parameters
        ----------
        path : path
            The file, written complete or not at all; one that is there is replaced.
        threads : int, optional
            Threads for counting.
        probabilities : ArcProbabilities, optional
            How sure each arc is, by `bootstrap` or `posterior`: the wider, the more probable.
        """
        from bestdag.report.page import write_report

        write_report(self, path, threads=threads, probabilities=probabilities)

    def bounded(self, time_limit: float | None = None, *, threads: int | None = None) -> Result:
        """Bound the best score, whatever search found this structure.

        Parameters
        ----------
        time_limit : float, optional
            Seconds. Without a limit it takes as long as the search took, at least two seconds, or
            less where the bound is reached.
        threads : int, optional
            One per processor unless given.

        Returns
        -------
        Result
            The same with the lower of its bounds, so that it has a `gap`; after Ctrl-C with status
            "interrupted". What is proved already is returned as it is.

        Examples
        --------
        >>> from bestdag import learn
        >>> from bestdag.examples import example
        >>> result = learn(example("asia.csv"), "bic", search="hill_climb")
        >>> result.gap is None, round(result.bounded().gap, 6)
        (True, 0.0)
        """
        if self.scores is None:
            raise InvalidParameterError(
                "bounded: structural EM ends in a local optimum, which cannot be bounded; "
                f"{by_reader('learn', 'leave out --bound, or learn')} with another strategy for "
                f"missing values, such as {arg('missing', 'drop')}"
            )
        if self.is_proved or self.status == "interrupted":
            return self
        from bestdag.search.bound import bound_after

        scores = self.scores
        if isinstance(scores, Scorer):
            scores = scores.within_support(self.limits.support).with_threads(threads)
        return bound_after(
            self,
            scores,
            knowledge=self.knowledge,
            max_parents=self.asked.get("max_parents"),
            time_limit=time_limit,
            threads=threads,
        )

    def certificate(self, max_parents: int | None = None) -> OptimalityCertificate:
        """Return what proves the answer, to be written to a file and checked by `verify`.

        Parameters
        ----------
        max_parents : int, optional
            Certify the best structure with at most so many parents per variable, where that is
            proved (see `ladder`); by default the most that is proved.

        Returns
        -------
        OptimalityCertificate
            Lists of parent sets, and the proof over them: branching trees with their cuts and
            multipliers. Dynamic programming leaves nothing but its result, which `verify` finds
            again by other means; where it listed no sets, they are listed now. The structure is
            one of the best: `dag`, unless its families are not listed.

        Examples
        --------
        >>> from bestdag import learn
        >>> from bestdag.examples import example
        >>> learn(example("asia.csv"), "bdeu").certificate()  # doctest: +ELLIPSIS
        <OptimalityCertificate: the best log score of all networks ... is -4477.636283 (...)>
        """
        from bestdag.certificate.making import certificate_of

        return certificate_of(self, max_parents)

    def _repr_html_(self) -> str:
        from bestdag.graph.plotting import notebook_svg

        head = escape(f"{self._about()}; {self.summary()}")
        return f"<div><p>{head}</p>{notebook_svg(self, len(self.dag.nodes)) or ''}</div>"

    def __repr__(self) -> str:
        return f"<Result: {self._about()}; {self.summary()}>"

    def __str__(self) -> str:
        first = "".join(f"{one.text}\n" for one in self.advice)
        return f"{first}{self._about()}\n{SearchResult.__str__(self)}"

    def _about(self) -> str:
        if self.dataset is None:
            name = "local scores" if self.scores is None else self.scores.name
            return f"{name} of {len(self.dag.nodes):,} variables"
        prior = "" if self.structure_prior is None else f" with {self.structure_prior!r}"
        return f"{self.scored_by!r}{prior} on {count_of(self.dataset.total_weight, 'row')}"
