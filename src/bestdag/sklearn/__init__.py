"""scikit-learn estimators: classifiers and a discretizer; needs the extra ``sklearn``.

>>> from bestdag.sklearn import TANClassifier
>>> TANClassifier(score="fnml")
TANClassifier(score='fnml')
"""

from __future__ import annotations

from bestdag.errors import import_optional

import_optional("sklearn", who="bestdag.sklearn")

from bestdag.sklearn.classifiers import (  # noqa: E402
    BayesianNetworkClassifier,
    NaiveBayesClassifier,
    TANClassifier,
)
from bestdag.sklearn.discretizer import FayyadIraniDiscretizer  # noqa: E402

__all__ = [
    "BayesianNetworkClassifier",
    "FayyadIraniDiscretizer",
    "NaiveBayesClassifier",
    "TANClassifier",
]
