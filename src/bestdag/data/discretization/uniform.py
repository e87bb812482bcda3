"""Cut points that give intervals equal widths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from bestdag.data.discretization.cuts import counted_numbers
from bestdag.errors import require_count

__all__ = ["Uniform"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Uniform:
    r"""Intervals of equal width between the least and the greatest finite value.

    .. math::

        c_j = \min + j \, \frac{\max - \min}{b}, \qquad j = 1, \dots, b - 1,

    with b `bins`, to 12 significant digits.

    Parameters
    ----------
    bins : int, default 5
        Number of intervals, at least 2.

    Notes
    -----
    One value far from the others leaves most intervals empty: `Quantile` does not mind it.

    References
    ----------
    .. [1] Dougherty, Kohavi and Sahami (1995). "Supervised and unsupervised discretization of
       continuous features." ICML, 194-202 (equal width intervals).

    Examples
    --------
    >>> Uniform(bins=4).cuts(np.array([0.0, 0.5, 8.0]))
    array([2., 4., 6.])
    """

    name: ClassVar[str] = "uniform"
    needs_target: ClassVar[bool] = False

    bins: int = 5

    def __post_init__(self) -> None:
        require_count("uniform", "bins", self.bins, minimum=2)

    def cuts(
        self,
        values: npt.NDArray[np.float64],
        *,
        weights: npt.NDArray[Any] | None = None,
        target_codes: npt.NDArray[Any] | None = None,
        n_classes: int = 0,
    ) -> npt.NDArray[np.float64]:
        """Return equidistant cut points; weights (other than 0) and target play no part."""
        plain = np.asarray(values, dtype=np.float64)
        numbers, _ = counted_numbers(np.where(np.isinf(plain), np.nan, plain), weights)
        if not len(numbers):
            return np.empty(0)
        low, high = float(numbers.min()), float(numbers.max())
        shares = np.arange(1, self.bins) / self.bins
        points = low * (1 - shares) + high * shares  # high - low may be beyond float64
        points = np.array([float(f"{point:.12g}") for point in points]) + 0.0
        return np.unique(points[(low <= points) & (points < high)])
