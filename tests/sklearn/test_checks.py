"""scikit-learn's own checks, with no expected failure."""

import pytest

pytest.importorskip("sklearn")

from sklearn.utils.estimator_checks import parametrize_with_checks

from bestdag.sklearn import (
    BayesianNetworkClassifier,
    FayyadIraniDiscretizer,
    NaiveBayesClassifier,
    TANClassifier,
)


@parametrize_with_checks(
    [
        TANClassifier(),
        NaiveBayesClassifier(),
        BayesianNetworkClassifier(max_parents=2),
        FayyadIraniDiscretizer(),
        FayyadIraniDiscretizer("quantile", bins=4),
    ]
)
def test_scikit_learn(estimator, check):
    check(estimator)
