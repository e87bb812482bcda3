"""Which scores are equal: what rounding alone may leave between equivalent structures."""

from __future__ import annotations

import math

__all__ = ["is_better", "tie_width"]

# Of the size of scores. Sums of the same terms in another order differ by a hundredth of it.
_ROUNDING = 1e-12


def tie_width(scale: float) -> float:
    """Return the largest difference between scores of this size that counts as none.

    Examples
    --------
    >>> tie_width(-5000.0)
    5e-09
    >>> tie_width(-math.inf)
    1e-12
    """
    return _ROUNDING * (max(1.0, abs(scale)) if math.isfinite(scale) else 1.0)


def is_better(score: float, than: float) -> bool:
    """Whether a score is higher by more than rounding.

    Examples
    --------
    >>> is_better(-99.0, -100.0), is_better(-100.0 + 1e-11, -100.0), is_better(-1.0, -math.inf)
    (True, False, True)
    """
    return score > than + tie_width(score)
