"""Bayesian network classifiers with scikit-learn's interface."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from bestdag.classification.model import Coding, Recipe
from bestdag.classification.uncut import codes_under, refuse_unknown
from bestdag.data.dataset import Dataset
from bestdag.data.schema import DEFAULT_MAX_STATES, DEFAULT_MAX_VALUES, Variable
from bestdag.errors import require_choice
from bestdag.parameters import DEFAULT_ESTIMATOR
from bestdag.scores import DEFAULT_SCORE
from bestdag.scores.support import DEFAULT_SUPPORT
from bestdag.search import search_for_fit
from bestdag.search.naive_bayes import NaiveBayes, augmented
from bestdag.search.steps import Search
from bestdag.search.trees import TAN
from bestdag.sklearn.tables import (
    KEEPING,
    TrainingRows,
    class_labels,
    raw_columns,
    raw_table,
)

__all__ = ["BayesianNetworkClassifier", "NaiveBayesClassifier", "TANClassifier"]


class _ScoreSetting:
    """`score` is a setting and, as of every classifier of scikit-learn, a method."""

    def __get__(self, classifier: Any, owner: type) -> Any:
        if classifier is None:
            return ClassifierMixin.score
        return ClassifierMixin.score.__get__(classifier)

    def __set__(self, classifier: Any, value: Any) -> None:
        classifier.__dict__["score"] = value


class _NetworkClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What the classifiers share: columns in, classes out; subclasses say how to search."""

    score = _ScoreSetting()

    def __init__(
        self,
        score: Any,
        parameters: Any,
        discretization: Any,
        bins: int | None,
        max_values: int,
        max_states: int,
        missing: str,
        missing_values: Iterable[str],
        unlabelled: str,
        handle_unknown: str,
        n_jobs: int | None,
    ) -> None:
        self.score = score
        self.parameters = parameters
        self.discretization = discretization
        self.bins = bins
        self.max_values = max_values
        self.max_states = max_states
        self.missing = missing
        self.missing_values = missing_values
        self.unlabelled = unlabelled
        self.handle_unknown = handle_unknown
        self.n_jobs = n_jobs

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the settings by name."""
        return {**super().get_params(deep), "score": self.__dict__["score"]}

    def fit(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> _NetworkClassifier:
        """Learn structure and parameters from training rows.

        Parameters
        ----------
        X : array or frame, rows x attributes
        y : array of classes
            None and NaN where a row has none, if `unlabelled` says what to do about such rows.
        sample_weight : array, optional
            How often each row counts; rows of weight 0 are as if they were not there.

        Returns
        -------
        self

        Raises
        ------
        DataError
            If no row is left to learn from, a text column has too many values, or a value is
            missing and `missing` refuses that.
        """
        rows = TrainingRows(type(self).__name__, self.missing, self.unlabelled)
        require_choice("classifier", "handle_unknown", self.handle_unknown, ("ignore", "error"))
        columns = raw_columns(self, X, reset=True)
        known, has_class = class_labels(self, X, y, may_lack=self.unlabelled != "error")
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        table, options = raw_table(X, columns, self.missing_values)
        used = rows.used(table, has_class, weights)
        if not used.all():
            table, options = raw_table(X, columns, self.missing_values, used)
        self.classes_, class_codes = np.unique(known[used[has_class]], return_inverse=True)
        codes = np.full(len(used), len(self.classes_))  # the code of a missing value
        codes[has_class & used] = class_codes
        target = Variable(_unused("class", table.names), tuple(map(str, self.classes_.tolist())))
        recipe = self._recipe(target.name, tuple(table.names))
        uncut = recipe.coding.uncut(table, target, codes[used], options)
        counted = None if weights is None else weights[used]
        cut = recipe.coding.cut(uncut, target.name, counted, keep_missing=rows.keeps_missing)
        self.model_ = recipe.fit(cut, target.name)
        self.network_ = self.model_.network
        return self

    def predict_log_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the natural logarithms of the classes' probabilities, rows x classes.

        They are ln P(class | attributes) under `network_`, with missing values summed over. Columns
        are matched by place, as in all of scikit-learn.
        """
        check_is_fitted(self)
        columns = raw_columns(self, X, reset=False)
        # By place, as in all of scikit-learn: an array may follow a frame; names were compared.
        attributes = self.model_.attributes
        named = [(v.name, column) for v, (_, column) in zip(attributes, columns, strict=True)]
        codes, unknown = codes_under(*raw_table(X, named, self.missing_values), attributes)
        if self.handle_unknown == "error":
            refuse_unknown(attributes, unknown)
        return self.model_.log_probabilities(Dataset(attributes, codes))

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the probabilities of the classes, rows x classes in the order of `classes_`."""
        probabilities: npt.NDArray[np.float64] = np.exp(self.predict_log_proba(X))
        return probabilities

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the most probable class of each row; ties go to the first class."""
        best = np.argmax(self.predict_log_proba(X), axis=1)
        labels: npt.NDArray[Any] = self.classes_[best]
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _recipe(self, target: str, names: tuple[str, ...]) -> Recipe:
        coding = Coding(
            method=self.discretization,
            bins=self.bins,
            max_values=self.max_values,
            max_states=self.max_states,
        )
        return Recipe(
            search=self._search(target),
            score=self.__dict__["score"],
            parameters=self.parameters,
            coding=coding,
            missing=self.missing if self.missing in KEEPING else "error",
            workers=_threads(self.n_jobs),
            **self._settings(target, names),
        )

    @abstractmethod
    def _search(self, target: str) -> Search:
        """Return the search for the structure."""

    def _settings(self, target: str, names: tuple[str, ...]) -> dict[str, Any]:
        return {}


class TANClassifier(_NetworkClassifier):
    """Tree-augmented naive Bayes with the best tree for any score.

    Each attribute depends on the class and on at most one other attribute; the tree is the best
    there is.

    Parameters
    ----------
    score : str or Score, default "qnml"
        What the tree is best for.
    parameters : {"mle", "dirichlet", "fsnml", "score"} or Estimator, default "fsnml"
        How the tables are estimated; names mean default settings, whatever the score. "score"
        takes the estimator that belongs to the score, None takes fsNML.
    forest : bool, default False
        Leave out arcs of the tree that do not raise the score.
    discretization : {"fayyad_irani", "quantile", "uniform"}, default "fayyad_irani"
        How numeric columns are cut, on the training rows.
    bins : int, optional
        How many intervals, for "quantile" and "uniform".
    max_values : int, default 20
        A numeric column with at most so many different values, all whole, keeps them as states.
        A number between them counts as the nearest; for categories use text or a categorical type.
    max_states : int, default 50
        Refuse a text column with more different values than this. Columns that declare their
        values (pandas categorical, polars Enum) may have more.
    missing : {"em", "available", "drop", "error"}, default "em"
        Training rows with missing values: learn from all that they show, as `learn` does, by
        structural EM or, with the scores LL, AIC, BIC, HQC and PNAL, by "available" cases; leave
        them out, with a warning; or refuse them. EM needs a score that takes fractional counts:
        all but fNML and PNAL. Missing values of rows to predict are summed over.
    missing_values : sequence of str, default ("",)
        Texts that mark a missing value, beside None and NaN, such as ``("", "?")``.
    unlabelled : {"error", "drop", "keep"}, default "error"
        Training rows without a class, None or NaN in y: refuse them, leave them out, or learn from
        what else they show, for the ways `missing` that keep missing values.
    handle_unknown : {"ignore", "error"}, default "ignore"
        What to do about a value that was not seen in training: sum over it, as over a missing one,
        or refuse it.
    n_jobs : int, optional
        Threads: 1 unless given, -1 for all processors.

    Attributes
    ----------
    classes_ : array
    network_ : Network
        The network over the discretized columns; the class is called ``class``.
    model_ : Classifier
        The network with the coding of the columns; ``model_.result`` tells how it was found.

    Notes
    -----
    ``score`` is a setting here and a method of every classifier of scikit-learn:
    ``classifier.score(X, y)`` gives the accuracy, ``get_params()["score"]`` the setting.

    References
    ----------
    .. [1] Carvalho (2009). "Scoring functions for learning Bayesian networks." INESC-ID,
       Algorithms 5 to 7.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> round(TANClassifier(score="bic").fit(X, y).score(X, y), 2)
    0.95
    """

    def __init__(
        self,
        score: Any = DEFAULT_SCORE,
        *,
        parameters: Any = DEFAULT_ESTIMATOR,
        forest: bool = False,
        discretization: Any = "fayyad_irani",
        bins: int | None = None,
        max_values: int = DEFAULT_MAX_VALUES,
        max_states: int = DEFAULT_MAX_STATES,
        missing: str = "em",
        missing_values: Iterable[str] = ("",),
        unlabelled: str = "error",
        handle_unknown: str = "ignore",
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            *(score, parameters, discretization, bins, max_values, max_states),
            *(missing, missing_values, unlabelled, handle_unknown, n_jobs),
        )
        self.forest = forest

    def _search(self, target: str) -> Search:
        return TAN(target=target, forest=self.forest)


class NaiveBayesClassifier(_NetworkClassifier):
    """Naive Bayes: each attribute depends on the class alone.

    The settings are those of `TANClassifier`. There is no structure to search for, so ``score``
    matters only where ``parameters`` is "score": the estimator that belongs to it is taken then.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> round(NaiveBayesClassifier().fit(X, y).score(X, y), 2)
    0.95
    """

    def __init__(
        self,
        score: Any = DEFAULT_SCORE,
        *,
        parameters: Any = DEFAULT_ESTIMATOR,
        discretization: Any = "fayyad_irani",
        bins: int | None = None,
        max_values: int = DEFAULT_MAX_VALUES,
        max_states: int = DEFAULT_MAX_STATES,
        missing: str = "em",
        missing_values: Iterable[str] = ("",),
        unlabelled: str = "error",
        handle_unknown: str = "ignore",
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            *(score, parameters, discretization, bins, max_values, max_states),
            *(missing, missing_values, unlabelled, handle_unknown, n_jobs),
        )

    def _search(self, target: str) -> Search:
        return NaiveBayes(target=target)


class BayesianNetworkClassifier(_NetworkClassifier):
    """A Bayesian network found by any search, used as a classifier.

    Parameters
    ----------
    score, parameters, discretization, bins, max_values, max_states
        As of `TANClassifier`, and so are missing, missing_values, unlabelled, handle_unknown and
        n_jobs.
    search : str or Search, default "auto"
        The search for the structure.
    augmented : bool, default True
        Make the class a parent of every attribute (augmented naive Bayes) and search for the
        arcs among attributes. Otherwise the network is free, and the Markov blanket of the class
        decides.
    max_parents : int, optional
        At most so many parents, the class included.
    support : float, default 5.0
        At least so many rows per occupied table cell, as in `learn`.
    time_limit : float, optional
        Seconds for the search.
    random_state : int, optional
        Seed of searches that draw at random; 0 unless given.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> free = BayesianNetworkClassifier(augmented=False).fit(X, y)
    >>> free.network_.dag.markov_blanket("class")
    ('x2', 'x3')
    """

    def __init__(
        self,
        score: Any = DEFAULT_SCORE,
        *,
        search: Any = "auto",
        augmented: bool = True,
        max_parents: int | None = None,
        support: float = DEFAULT_SUPPORT,
        time_limit: float | None = None,
        parameters: Any = DEFAULT_ESTIMATOR,
        discretization: Any = "fayyad_irani",
        bins: int | None = None,
        max_values: int = DEFAULT_MAX_VALUES,
        max_states: int = DEFAULT_MAX_STATES,
        missing: str = "em",
        missing_values: Iterable[str] = ("",),
        unlabelled: str = "error",
        handle_unknown: str = "ignore",
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            *(score, parameters, discretization, bins, max_values, max_states),
            *(missing, missing_values, unlabelled, handle_unknown, n_jobs),
        )
        self.search = search
        self.augmented = augmented
        self.max_parents = max_parents
        self.support = support
        self.time_limit = time_limit
        self.random_state = random_state

    def _search(self, target: str) -> Search:
        return search_for_fit(self.search)

    def _settings(self, target: str, names: tuple[str, ...]) -> dict[str, Any]:
        return {
            "knowledge": augmented(target, names) if self.augmented else None,
            "max_parents": self.max_parents,
            "support": self.support,
            "time_limit": self.time_limit,
            "seed": _seed(self.random_state),
        }


def _unused(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _threads(n_jobs: int | None) -> int | None:
    """As in scikit-learn, None is one and -1 is all."""
    if n_jobs is None:
        return 1
    return None if n_jobs < 0 else n_jobs


def _seed(random_state: Any) -> int:
    if random_state is None:
        return 0
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(random_state.randint(np.iinfo(np.int32).max))
