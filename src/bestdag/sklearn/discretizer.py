"""A transformer that cuts numeric columns into intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from bestdag.classification.model import Coding
from bestdag.data.discretization.cuts import apply_cuts
from bestdag.sklearn.tables import class_labels

__all__ = ["FayyadIraniDiscretizer"]


class FayyadIraniDiscretizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Cut numbers where that tells the classes apart, and as often as the data justify.

    Parameters
    ----------
    method : {"fayyad_irani", "quantile", "uniform"}, default "fayyad_irani"
        The other two do not look at the classes.
    bins : int, optional
        How many intervals, for "quantile" and "uniform".

    Attributes
    ----------
    cuts_ : list of arrays
        The cut points of each column. A value is in interval number (how many cuts are below it).

    Notes
    -----
    `transform` gives the numbers of the intervals as floats, NaN where the value was NaN. Values
    beyond those seen in training are in the outer intervals.

    References
    ----------
    .. [1] Fayyad and Irani (1993). "Multi-interval discretization of continuous-valued attributes
       for classification learning." IJCAI.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> FayyadIraniDiscretizer().fit(X, y).cuts_[3]
    array([0.8 , 1.75])
    """

    def __init__(self, method: Any = "fayyad_irani", *, bins: int | None = None) -> None:
        self.method = method
        self.bins = bins

    def fit(
        self, X: Any, y: Any = None, sample_weight: npt.ArrayLike | None = None
    ) -> FayyadIraniDiscretizer:
        """Find the cut points of every column.

        Parameters
        ----------
        X : array or frame of numbers, rows x columns
            NaN marks a missing value.
        y : array of classes
            Needed by the method "fayyad_irani", not looked at by the others.
        sample_weight : array, optional
            How often each row counts.

        Returns
        -------
        self
        """
        method = Coding(method=self.method, bins=self.bins).make_method()
        array = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        arguments: dict[str, Any] = {"weights": weights}
        if method.needs_target:
            labels, _ = class_labels(self, X, y)
            classes, codes = np.unique(labels, return_inverse=True)
            arguments |= {"target_codes": codes, "n_classes": len(classes)}
        self.cuts_ = [method.cuts(array[:, j].copy(), **arguments) for j in range(array.shape[1])]
        return self

    def transform(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the number of the interval of every value, as floats; NaN stays NaN."""
        check_is_fitted(self)
        array = validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite="allow-nan")
        out = np.empty(array.shape, np.float64)
        for j, cuts in enumerate(self.cuts_):
            out[:, j] = apply_cuts(array[:, j], cuts)
        out[np.isnan(array)] = np.nan
        return out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = self.method == "fayyad_irani"
        return tags
