"""Functions of counts: log-gamma, rising factorials, n log n, quantiles. Natural logarithms."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bestdag import _core

__all__ = ["chi_square_quantile", "log_gamma", "log_rising", "n_log_n"]

_Floats = npt.NDArray[np.float64]


def chi_square_quantile(df: float, confidence: float) -> float:
    """Return what a chi-square variable stays below with probability `confidence`.

    Degrees of freedom may be huge; with none the variable is always 0, and so is the quantile.

    Examples
    --------
    >>> round(chi_square_quantile(1, 0.95), 6)
    3.841459
    """
    return _core.chi_square_quantile(df, confidence) if df > 0 else 0.0


def log_gamma(x: npt.ArrayLike) -> _Floats:
    r"""Return :math:`\ln\Gamma(x)` of each number, all > 0.

    Examples
    --------
    >>> log_gamma([1, 2, 5]).round(6).tolist()  # 0!, 1!, 4!
    [0.0, 0.0, 3.178054]
    """
    values = np.asarray(x, dtype=np.float64)
    out = np.empty(values.shape)
    _core.log_gamma(np.ascontiguousarray(values).reshape(-1), out.reshape(-1))
    return out


def log_rising(a: npt.ArrayLike, n: npt.ArrayLike) -> _Floats:
    r"""Return :math:`\ln[\Gamma(a + n) / \Gamma(a)]`, elementwise, for a > 0 and n >= 0.

    For whole n this is the logarithm of :math:`a (a + 1) \cdots (a + n - 1)`. It keeps its
    digits where the difference of two log-gammas would lose them, and is 0 for n = 0.

    Examples
    --------
    >>> log_rising(0.5, [0, 1, 3]).round(6).tolist()  # 1, 1/2, 15/8
    [0.0, -0.693147, 0.628609]
    """
    first, second = np.broadcast_arrays(
        np.asarray(a, dtype=np.float64), np.asarray(n, dtype=np.float64)
    )
    out = np.empty(first.shape)
    _core.log_rising(
        np.ascontiguousarray(first).reshape(-1),
        np.ascontiguousarray(second).reshape(-1),
        out.reshape(-1),
    )
    return out


def n_log_n(n: npt.ArrayLike) -> _Floats:
    r"""Return :math:`n \ln n` of each number >= 0, with :math:`0 \ln 0 = 0`.

    Examples
    --------
    >>> n_log_n([0, 1, 2]).round(6).tolist()
    [0.0, 0.0, 1.386294]
    """
    values = np.asarray(n, dtype=np.float64)
    return values * np.log(np.where(values > 0, values, 1.0))
