"""How cases are divided into parts: by rows, or by the cases that rows with whole weights are."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from bestdag.data.dataset import Dataset
from bestdag.errors import DataError, InvalidParameterError
from bestdag.evaluation.classification import folds
from bestdag.wording import arg, count_of

__all__ = ["Parts", "case_parts", "divided"]

# NumPy draws without replacement from fewer cases than this.
_MOST_CASES = 10**9


class Parts(Protocol):
    """The parts of a table."""

    def without(self, part: int) -> Dataset:
        """Return the cases that are not in a part."""
        ...

    def only(self, part: int) -> Dataset:
        """Return the cases of a part."""
        ...


class _RowParts:
    """Every row is in one part."""

    def __init__(self, dataset: Dataset, part_of_row: npt.NDArray[np.int64]) -> None:
        self._dataset, self._part_of_row = dataset, part_of_row

    def without(self, part: int) -> Dataset:
        return self._dataset.select(rows=self._part_of_row != part)

    def only(self, part: int) -> Dataset:
        return self._dataset.select(rows=self._part_of_row == part)


class _CaseParts:
    """A row of weight w is w cases, and some of them are in each part."""

    def __init__(self, dataset: Dataset, weights: npt.NDArray[np.int64]) -> None:
        self._dataset, self._weights = dataset, weights  # parts x rows

    def without(self, part: int) -> Dataset:
        return self._weighed(self._weights.sum(axis=0) - self._weights[part])

    def only(self, part: int) -> Dataset:
        return self._weighed(self._weights[part])

    def _weighed(self, weights: npt.NDArray[np.int64]) -> Dataset:
        positions = np.flatnonzero(weights)
        rows = self._dataset.select(rows=positions)
        columns = [rows.codes(name) for name in rows.names]
        return Dataset(rows.variables, columns, weights[positions])


def divided(dataset: Dataset, classes: npt.NDArray[np.int64], k: int, *, seed: int) -> Parts:
    """Divide cases into k parts with the classes in equal shares.

    Rows with whole weights are divided case by case, as if each case were a row of its own; with
    fractional weights a row stays in one part.
    """
    weights = dataset.weights
    if weights is None or weights.dtype == np.float64:
        return _RowParts(dataset, folds(classes, k, seed=seed))
    return _CaseParts(dataset, case_parts(classes, weights.astype(np.int64), k, seed=seed))


def case_parts(
    classes: npt.NDArray[np.int64], weights: npt.NDArray[np.int64], k: int, *, seed: int = 0
) -> npt.NDArray[np.int64]:
    """Say how many cases of each row are in each part: an array of parts x rows.

    As in `folds`, the cases of a class are dealt to the parts in turn, each class beginning where
    the last one ended; which of them a part gets is drawn without replacement. So the parts have
    the distribution that they have where every case is a row.

    Examples
    --------
    >>> case_parts(np.array([0, 0, 1]), np.array([4, 2, 6]), 3).sum(axis=1)
    array([4, 4, 4])
    """
    total = int(weights.sum())
    if k > total:
        raise InvalidParameterError(
            f"folds: {arg('k', k, option='--cv')}: {count_of(total, 'row')} cannot be divided into "
            f"{k} parts"
        )
    if total >= _MOST_CASES:
        raise DataError(
            f"folds: fewer than {_MOST_CASES:,} cases can be divided, got {total:,}; divide the "
            f"rows before"
        )
    random = np.random.default_rng(seed)
    cases = np.zeros((k, len(weights)), np.int64)
    start = 0
    for one in np.unique(classes):
        rows = np.flatnonzero(classes == one)
        left = weights[rows]
        n_cases = int(left.sum())
        sizes = np.bincount((start + np.arange(min(n_cases, k))) % k, minlength=k)
        if n_cases > k:  # every part gets a share, the first ones in turn one more
            sizes = np.full(k, n_cases // k)
            sizes[(start + np.arange(n_cases % k)) % k] += 1
        for part, size in enumerate(sizes.tolist()):
            drawn = random.multivariate_hypergeometric(left, size, method="marginals")
            cases[part, rows] = drawn
            left = left - drawn
        start += n_cases
    return cases
