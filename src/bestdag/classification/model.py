"""A classifier: how columns are coded, and a network over the codes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from bestdag.classification.coding import Coding
from bestdag.data.dataset import Dataset
from bestdag.data.schema import Variable
from bestdag.graph.knowledge import Knowledge
from bestdag.incomplete import Treatment, make_treatment
from bestdag.learned import Result
from bestdag.learning import learn
from bestdag.network.network import Network
from bestdag.parameters import OF_SCORE, choose_estimator, make_estimator
from bestdag.parameters.base import Estimator
from bestdag.progress import handling_interrupts
from bestdag.registry import canonical
from bestdag.scores import DEFAULT_SCORE
from bestdag.scores.base import Score
from bestdag.scores.support import DEFAULT_SUPPORT
from bestdag.search.problem import Search

__all__ = ["Classifier", "Recipe"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How a classifier is learned from rows.

    Parameters
    ----------
    search : Search
        The search for the structure: TAN, naive Bayes, or any other.
    score : Score or str, default "qnml"
    parameters : Estimator or str, optional
        The estimator of the parameters, fsNML unless given. A name is that estimator with its
        default settings, whatever the score, so that classifiers compare by their structures;
        "score" is the one that belongs to the score.
    knowledge : Knowledge, optional
    coding : Coding
        How raw columns become discrete.
    missing : Treatment or str, default "error"
        What to do about missing values of training rows, as in `learn`.
    """

    search: Search
    score: Score | str = DEFAULT_SCORE
    parameters: Estimator | str | None = None
    knowledge: Knowledge | None = None
    coding: Coding = field(default_factory=Coding)
    missing: Treatment | str = "error"
    max_parents: int | None = None
    support: float = DEFAULT_SUPPORT
    time_limit: float | None = None
    seed: int = 0
    threads: int | None = None

    @property
    def keeps_missing(self) -> bool:
        """Whether rows with missing values are learned from."""
        return make_treatment(self.missing).keeps_missing

    def fit(self, dataset: Dataset, target: str) -> Classifier:
        """Learn from training rows that `coding` has cut."""
        with handling_interrupts():
            result = learn(
                dataset,
                self.score,
                search=self.search,
                missing=self.missing,
                knowledge=self.knowledge,
                max_parents=self.max_parents,
                support=self.support,
                time_limit=self.time_limit,
                seed=self.seed,
                threads=self.threads,
            )
        if result.was_interrupted:
            raise KeyboardInterrupt  # half a search makes no classifier
        assert result.scored_by is not None
        # Not `result.fit`: many attributes have many parameters, and classify well all the same.
        estimator = self._estimator(result.scored_by)
        network = result.treatment.fit(result.dag, dataset, estimator, self.threads)
        attributes = tuple(v for v in dataset.variables if v.name != target)
        return Classifier(attributes, dataset.variable(target), network, result, self.threads)

    def _estimator(self, score: Score) -> Estimator:
        chosen = choose_estimator(score, self.parameters, {})
        if isinstance(self.parameters, str) and canonical(self.parameters, [OF_SCORE]) != OF_SCORE:
            return make_estimator(chosen.name)
        return chosen


@dataclass(frozen=True, slots=True, eq=False)
class Classifier:
    """A network that says how probable each class is, given a row of the attributes."""

    attributes: tuple[Variable, ...]
    target: Variable
    network: Network
    result: Result
    threads: int | None = None

    def log_probabilities(self, dataset: Dataset) -> npt.NDArray[np.float64]:
        """Return ln P(class | row), one row per row and one column per class.

        Missing values are summed over. A row that has probability zero with every class gets the
        marginal distribution of the class.
        """
        return self.network.predict_log_proba(
            self.target.name,
            dataset,
            impossible="marginal",
            threads=self.threads,
        )
