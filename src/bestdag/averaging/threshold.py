"""The strength from which on an edge belongs to the averaged network."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["inclusion_threshold"]


def inclusion_threshold(strengths: npt.ArrayLike) -> float:
    r"""Estimate the strength above which edges are significant.

    If the strengths separated true edges from others perfectly, a share t of them would be 0 and
    the others 1. The share whose distribution is nearest to the one observed, F, is

    .. math::

        \hat t = \arg\min_t \int_0^1 |F(x) - t| \, dx,

    and the threshold is the smallest strength x with F(x) >= t: edges above it are significant.

    Parameters
    ----------
    strengths : array of float
        One number between 0 and 1 for each pair of variables, those without any edge too.

    References
    ----------
    .. [1] Scutari and Nagarajan (2013). "Identifying significant edges in graphical models of
       molecular networks." Artificial Intelligence in Medicine 57(3), 207-217.

    Examples
    --------
    The example of section 3 of the paper:

    >>> inclusion_threshold([0.0460, 0.2242, 0.3921, 0.7689, 0.8935, 0.9439])
    0.3921
    """
    seen = np.sort(np.asarray(strengths, float).reshape(-1))
    if len(seen) == 0:
        return 0.0
    ends = np.concatenate([[0.0], seen, [1.0]])
    lengths = np.diff(ends)
    below = np.arange(len(seen) + 1) / len(seen)  # F on each piece
    # The nearest constant is the median of F over [0, 1]: F grows, so that the pieces are in order.
    share = below[int(np.searchsorted(np.cumsum(lengths), 0.5 * lengths.sum()))]
    if share == 0.0:
        return 0.0
    return float(seen[int(np.ceil(share * len(seen) - 1e-9)) - 1])
