"""What an estimator of parameters is."""

from __future__ import annotations

from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from bestdag.counts.family import FamilyCounts

__all__ = ["Estimator", "normalized", "shares_unobserved"]

_Floats = npt.NDArray[np.float64]


@runtime_checkable
class Estimator(Protocol):
    """Settings and a rule: counts of a family in, its conditional distributions out.

    An estimator of your own needs these members and nothing else. One that gives all
    configurations without counts the same row may say so: with the attribute
    ``shares_unobserved = True`` it computes that row once, and the tables of many
    configurations stay as small as the data.

    Examples
    --------
    Laplace's rule of succession, as a class of one's own:

    >>> from bestdag import Dag, fit_network
    >>> class Succession:
    ...     name = "succession"
    ...     shares_unobserved = True
    ...
    ...     def rows(self, counts):
    ...         return normalized(counts.table + 1)
    >>> network = fit_network(Dag(["coin"]), {"coin": ["heads", "heads", "tails"]}, Succession())
    >>> network.table("coin").values
    array([0.6, 0.4])
    """

    name: ClassVar[str]

    def rows(self, counts: FamilyCounts) -> _Floats:
        """Return the distribution of the child in each configuration of the counts.

        An array of the shape of ``counts.table`` whose rows sum to 1. Configurations may have
        no counts at all: `fit_network` gives all there are, or one of them to an estimator with
        ``shares_unobserved``.
        """
        ...


def shares_unobserved(rule: object) -> bool:
    """Whether an estimator, or a prior, says that all configurations without counts are alike."""
    return bool(getattr(rule, "shares_unobserved", False))


def normalized(shares: npt.ArrayLike) -> _Floats:
    """Scale rows of numbers >= 0 to sum to 1; a row of zeros becomes uniform.

    Examples
    --------
    >>> normalized([[3, 1], [0, 0]]).tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """
    rows = np.asarray(shares, dtype=np.float64)
    with np.errstate(over="ignore"):
        sums = rows.sum(axis=-1, keepdims=True)
    if not np.isfinite(sums).all():  # numbers near the largest there are
        rows = rows / np.maximum(rows.max(axis=-1, keepdims=True), 1.0)
        sums = rows.sum(axis=-1, keepdims=True)
    is_empty = sums == 0
    if is_empty.any():
        rows, sums = np.where(is_empty, 1.0, rows), np.where(is_empty, rows.shape[-1], sums)
    scaled: _Floats = rows / sums
    return scaled
