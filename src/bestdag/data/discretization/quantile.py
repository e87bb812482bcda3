"""Cut points that give intervals equally many cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from bestdag.data.discretization.cuts import counted_numbers, cut_between
from bestdag.errors import require_count

__all__ = ["Quantile"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantile:
    """Intervals with equal shares of the cases, as far as equal values allow.

    Cut number j goes between two neighbouring values, at their midpoint, where the share of the
    weight below it is nearest to j / `bins` (the lower place of two). Equal values are never
    separated, so cuts may fall together and the intervals be fewer; a column with two values has
    at least one cut.

    Parameters
    ----------
    bins : int, default 5
        Most intervals, at least 2.

    Notes
    -----
    Sorting takes O(m log m) for m rows. Ranks alone matter: any increasing function of the numbers
    is cut into the same groups of rows.

    References
    ----------
    .. [1] Dougherty, Kohavi and Sahami (1995). "Supervised and unsupervised discretization of
       continuous features." ICML, 194-202 (equal frequency intervals).

    Examples
    --------
    >>> Quantile(bins=2).cuts(np.array([4.0, 1.0, 2.0, 9.0]))
    array([3.])
    """

    name: ClassVar[str] = "quantile"
    needs_target: ClassVar[bool] = False

    bins: int = 5

    def __post_init__(self) -> None:
        require_count("quantile", "bins", self.bins, minimum=2)

    def cuts(
        self,
        values: npt.NDArray[np.float64],
        *,
        weights: npt.NDArray[Any] | None = None,
        target_codes: npt.NDArray[Any] | None = None,
        n_classes: int = 0,
    ) -> npt.NDArray[np.float64]:
        """Return cut points at the quantiles; the target plays no part."""
        numbers, counted = counted_numbers(values, weights)
        distinct, which = np.unique(numbers, return_inverse=True)
        if len(distinct) < 2:
            return np.empty(0)
        heavy = None if weights is None else np.asarray(weights)[counted]
        if heavy is not None and heavy.dtype.kind == "f":
            order = np.lexsort((heavy, which))  # float sums in an order of their own
            which, heavy = which[order], heavy[order]
        reached = np.cumsum(np.bincount(which, weights=heavy))
        # Compared as products: j / bins of the total is not always a float.
        below, wanted = reached[:-1] * self.bins, reached[-1] * np.arange(1, self.bins)
        upper = np.minimum(np.searchsorted(below, wanted), len(below) - 1)
        lower = np.maximum(upper - 1, 0)
        is_lower = np.abs(wanted - below[lower]) <= np.abs(below[upper] - wanted)
        ends = np.unique(np.where(is_lower, lower, upper))
        return np.array([cut_between(float(distinct[i]), float(distinct[i + 1])) for i in ends])
