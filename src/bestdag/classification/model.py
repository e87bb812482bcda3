"""A classifier: how columns are coded, and a network over the codes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.classification.uncut import UncutTable, split_numbers
from bestdag.data.dataset import Dataset
from bestdag.data.discretization import make_method
from bestdag.data.discretization.base import Method
from bestdag.data.discretization.cuts import cut_variable
from bestdag.data.encoder import coded_column
from bestdag.data.schema import DEFAULT_MAX_STATES, DEFAULT_MAX_VALUES, Variable
from bestdag.data.settings import ReadOptions
from bestdag.data.sources.base import RawColumn
from bestdag.data.table import Table
from bestdag.errors import DataError, require_count
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
from bestdag.search.steps import Search
from bestdag.wording import arg, by_reader

__all__ = ["Classifier", "Coding", "Recipe"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coding:
    """How raw columns become discrete ones.

    Numbers become intervals: those of `method`, or one around each value where the values are few
    and whole. Text, truth values and declared categories keep their values as states.

    Parameters
    ----------
    method : {"fayyad_irani", "quantile", "uniform"} or Method, default "fayyad_irani"
        Where numbers are cut.
    bins : int, optional
        How many intervals, for the methods that take a number.
    max_values : int, default 20
        A numeric column with at most so many different values, all whole, keeps them as states; a
        number that was not seen in training counts as the nearest one.
    max_states : int, default 50
        Most different values of a text column; declared values are no surprise, however many.
    """

    method: str | Method = "fayyad_irani"
    bins: int | None = None
    max_values: int = DEFAULT_MAX_VALUES
    max_states: int = DEFAULT_MAX_STATES

    def __post_init__(self) -> None:
        require_count("classifier", "max_values", self.max_values)
        require_count("classifier", "max_states", self.max_states, minimum=1)
        self.make_method()

    def make_method(self) -> Method:
        """Return the method of discretization with its settings."""
        return make_method("classifier", self.method, self.bins)

    def uncut(
        self, table: Table, target: Variable, codes: npt.ArrayLike, options: ReadOptions
    ) -> UncutTable:
        """Return training rows whose columns are typed: text there is text, whatever it spells."""
        numbers, categories = split_numbers(
            table, self.max_values, self.max_states, text_has_numbers=False
        )
        whole = [name for name in table.names if name not in numbers and name not in categories]
        pairs = [self._discrete(column, options) for column in table.discrete(whole)]
        pairs += [*categories.values(), (target, np.asarray(codes))]
        dataset = Dataset([variable for variable, _ in pairs], [coded for _, coded in pairs])
        return UncutTable((*table.names, target.name), dataset, numbers)

    def cut(
        self,
        table: UncutTable,
        target: str,
        weights: npt.NDArray[Any] | None = None,
        *,
        keep_missing: bool = False,
    ) -> Dataset:
        """Learn from training rows where numbers are cut, and cut them there.

        Parameters
        ----------
        table : UncutTable
            The training rows alone: cut points that have seen the rows to predict would flatter.
        target : str
            The column with the classes, the last column of what is returned.
        weights : array, optional
            How often each row counts.
        keep_missing : bool, default False
            Accept missing values. Cut points are then those of the rows that have the number, and
            the class where it matters.

        Returns
        -------
        Dataset

        Raises
        ------
        DataError
            If there is no attribute, or a value is missing without `keep_missing`.
        """
        attributes = [name for name in table.names if name != target]
        if not attributes:
            raise DataError("classifier: at least one attribute beside the class is needed")
        for name in attributes:
            if not keep_missing and table.is_missing_in(name).any():
                raise DataError(
                    f"column {name!r}: has missing values in the training data, which must be "
                    "complete; leave out those rows, or give missing values a value of their own"
                )
        method = self.make_method()
        has_class = np.ones(table.dataset.n_rows, bool)
        arguments: dict[str, Any] = {}
        if method.needs_target:
            has_class = ~table.dataset.missing(target)
            arguments["target_codes"] = table.dataset.codes(target)[has_class]
            arguments["n_classes"] = table.dataset.variable(target).arity
        arguments["weights"] = None if weights is None else weights[has_class]
        variables = [
            cut_variable(name, method.cuts(table.numbers[name][has_class], **arguments).tolist())
            if name in table.numbers
            else table.dataset.variable(name)
            for name in [*attributes, target]
        ]
        return table.cut(variables, weights)

    def _discrete(
        self, column: RawColumn, options: ReadOptions
    ) -> tuple[Variable, npt.NDArray[Any]]:
        variable, codes = coded_column(column, options)
        if variable.arity > self.max_states and not column.has_fixed_states:
            name, n = column.name, variable.arity
            declare = "leave it out, declare its categories, make it numeric if it holds numbers"
            raise DataError(
                f"column {name!r}: has {n:,} different values in the training data, more than "
                f"{arg('max_states', self.max_states)}; "
                f"{by_reader(declare, f'leave it out with --drop {name}')}, or raise "
                f"{arg('max_states')}"
            )
        return variable, codes


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

    References
    ----------
    .. [1] Friedman, Geiger and Goldszmidt (1997). "Bayesian network classifiers." Machine Learning
       29, 131-163.
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
    workers: int | None = None

    @property
    def keeps_missing(self) -> bool:
        """Whether rows with missing values are learned from."""
        return make_treatment(self.missing).keeps_missing

    def fit(self, dataset: Dataset, target: str) -> Classifier:
        """Learn a classifier from training rows that `coding` has cut.

        Ctrl-C raises KeyboardInterrupt: half a search makes no classifier.
        """
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
                workers=self.workers,
            )
        if result.was_interrupted:
            raise KeyboardInterrupt  # half a search makes no classifier
        assert result.scored_by is not None
        # Not `result.fit`: many attributes have many parameters, and classify well all the same.
        estimator = self._estimator(result.scored_by)
        network = result.treatment.fit(result.dag, dataset, estimator, self.workers, result.counts)
        attributes = tuple(v for v in dataset.variables if v.name != target)
        return Classifier(attributes, dataset.variable(target), network, result, self.workers)

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
        r"""Return ln P(class | row), one row per row and one column per class.

        .. math::

            P(c \mid x) = \frac{P(c, x)}{\sum_{c'} P(c', x)},

        where missing values are summed over. A row that has probability zero with every class gets
        the marginal distribution of the class, since no class is more at odds with it than another.
        """
        return self.network.predict_log_proba(
            self.target.name,
            dataset,
            impossible="marginal",
            threads=self.threads,
        )
