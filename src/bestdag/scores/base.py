"""What a score is, and what several scores share."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, NoReturn, Protocol, runtime_checkable

import numpy as np

from bestdag.counts.family import FamilyCounts
from bestdag.data.dataset import Dataset
from bestdag.data.schema import Variable
from bestdag.errors import DataError, InvalidParameterError
from bestdag.special import n_log_n

if TYPE_CHECKING:
    from bestdag import _core

__all__ = [
    "BoundScore",
    "PenalisedLikelihood",
    "RefusingScore",
    "Score",
    "checked_value",
    "kernel_for",
    "require_fractional_counts",
    "require_whole_counts",
    "require_whole_weights",
    "whole_total",
]

# By how much a sum of expected counts may miss a whole number, relatively.
_ROUNDING = 1e-9


@runtime_checkable
class Score(Protocol):
    """Settings and a formula: counts of a family in, its local score out.

    Natural logarithms; higher is better; the score of a network is the sum over its families.
    A score of your own needs these members and nothing else; without a native kernel, `kernel`
    returns None and everything works, only slower. It may also have ``terms(counts)``, the
    named parts whose sum is ``family(counts)``: `Scorer.explain` shows them. And it may have
    ``upper_bound(counts)``, a number that no family of the same child with these parents and at
    least one more exceeds; without it, a search that could not score every family says nothing
    about how far from the best its structure may be. A score that is defined for whole counts only
    says ``needs_whole_counts = True`` and never gets others.

    Examples
    --------
    The log-likelihood minus what the parent configurations cost, as a class of one's own:

    >>> from bestdag import LL, learn
    >>> class PerConfiguration:
    ...     name = "per_configuration"
    ...     is_score_equivalent = False
    ...
    ...     def family(self, counts):
    ...         return LL().family(counts) - 2.0 * counts.n_configurations
    ...
    ...     def kernel(self):
    ...         return None
    >>> learn({"a": [0, 0, 1, 1] * 9, "b": [0, 0, 1, 1] * 9}, PerConfiguration()).dag.arcs
    (('a', 'b'),)
    """

    name: ClassVar[str]
    is_score_equivalent: ClassVar[bool]

    def family(self, counts: FamilyCounts) -> float:
        """Score one family."""
        ...

    def kernel(self) -> _core.Kernel | None:
        """Return the native kernel, or None for a score that has none."""
        ...


@runtime_checkable
class BoundScore(Score, Protocol):
    """A score whose settings name variables: its native kernel is bound to those of the data."""

    def kernel_for(self, variables: Sequence[Variable]) -> _core.Kernel | None:
        """Return the native kernel for data with these variables, in name order, or None."""
        ...


@runtime_checkable
class RefusingScore(BoundScore, Protocol):
    """A score whose native kernel may refuse families, such as `BD` with tables."""

    def refuse(self, child: Variable, parents: Sequence[Variable], n_bytes: float) -> NoReturn:
        """Raise what is wrong with a family the kernel refused; it would have needed `n_bytes`."""
        ...


def checked_value(score: Score, counts: FamilyCounts) -> float:
    """Score one family by the formula; a value that is no number below infinity is refused."""
    value = score.family(counts)
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not number < math.inf:  # nan too
        parents = ", ".join(repr(parent.name) for parent in counts.parents) or "no parents"
        raise InvalidParameterError(
            f"{score.name}: family() must give a number below infinity, got {value!r:.60} for "
            f"{counts.child.name!r} given {parents}"
        )
    return number


def kernel_for(score: Score, variables: Sequence[Variable]) -> _core.Kernel | None:
    """Return the native kernel of a score for these variables, in name order, or None."""
    return score.kernel_for(variables) if isinstance(score, BoundScore) else score.kernel()


class PenalisedLikelihood(ABC):
    r"""Base of scores that differ in the penalty of one parameter alone.

    .. math::

        \sum_{j=1}^{q} \sum_{k=1}^{r} N_{jk} \ln\frac{N_{jk}}{N_j} - c(N)\, q (r - 1)

    The penalty counts all q parent configurations, seen or not; in the first sum the ones never
    observed add zero. N is the sum of the weights.

    Examples
    --------
    A criterion of one's own is its name and its c(N):

    >>> class Half(PenalisedLikelihood):
    ...     name = "half"
    ...
    ...     def penalty(self, n):
    ...         return 0.5
    ...
    ...     def kernel(self):
    ...         return None
    >>> round(Half().family(FamilyCounts.of([[6, 2], [0, 2]])), 6)  # two free parameters
    -5.498681
    """

    __slots__ = ()

    estimator: ClassVar[str] = "fsnml"
    is_score_equivalent: ClassVar[bool] = True
    is_hyperparameter_free: ClassVar[bool] = True
    is_regular: ClassVar[bool] = True

    @abstractmethod
    def penalty(self, n: float) -> float:
        """Return c(N), the penalty of one parameter; N may be 0."""

    def rate(self, n: float) -> float:
        """Return c(N) / N, the penalty of one parameter in a score per row."""
        return self.penalty(n) / n if n > 0 else 0.0

    def terms(self, counts: FamilyCounts) -> dict[str, float]:
        """Return log-likelihood and penalty."""
        fit = float(np.sum(n_log_n(counts.table)) - np.sum(n_log_n(counts.row_totals)))
        each = self.penalty(counts.total)
        n_parameters = counts.n_configurations * (counts.arity - 1)  # may be infinite
        return {"log-likelihood": fit, "penalty": -each * n_parameters if each else 0.0}

    def family(self, counts: FamilyCounts) -> float:
        """Score one family."""
        return sum(self.terms(counts).values())


def require_whole_counts(name: str, counts: FamilyCounts) -> None:
    """Refuse counts that are not whole numbers, in the name of the score."""
    if counts.table.dtype != np.int64:
        raise DataError(
            f"{name}: is defined for whole counts only, and some of these are not whole; "
            "use another score"
        )


def whole_total(name: str, counts: FamilyCounts) -> int:
    """Return the number of cases, or refuse one that is not whole, in the name of the score.

    Cells need not be whole: the expected counts of an incomplete table add up to a whole number.
    """
    if counts.table.dtype == np.int64:
        return int(counts.total)
    total = float(counts.total)
    whole = round(total)
    if abs(total - whole) > _ROUNDING * max(1.0, total):
        raise DataError(
            f"{name}: is defined for whole numbers of cases only, got {total:g}; use another score"
        )
    return whole


def require_fractional_counts(score: Score, dataset: Dataset) -> None:
    """Refuse a score that cannot be worked out from the expected counts of an incomplete table."""
    if getattr(score, "needs_whole_total", False):
        require_whole_weights(score, dataset)
    elif getattr(score, "needs_whole_counts", False):
        raise InvalidParameterError(
            f"{score.name}: is defined for whole counts only, and the expected counts of rows with "
            "missing values are not whole; use qnml, bic or bdeu"
        )


def require_whole_weights(score: Score, dataset: Dataset) -> None:
    """Refuse data whose weights are not whole numbers where the score needs whole counts."""
    real = dataset.weights is not None and dataset.weights.dtype == np.float64
    if real and getattr(score, "needs_whole_counts", False):
        raise DataError(
            f"{score.name}: is defined for whole counts only, and the weights are not whole "
            "numbers; round them or use another score"
        )
