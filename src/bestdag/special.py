"""Functions of counts: log-gamma, rising factorials, n log n. Natural logarithms."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bestdag import _core

__all__ = ["log_gamma", "log_rising", "log_rising_slopes", "n_log_n"]

_Floats = npt.NDArray[np.float64]


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


def log_rising_slopes(a: npt.ArrayLike, n: npt.ArrayLike) -> tuple[_Floats, _Floats]:
    r"""Return the first and the second derivative by a of `log_rising`, elementwise.

    They are the digamma difference :math:`\psi(a + n) - \psi(a)` and its derivative; for whole n
    :math:`\sum_{i<n} 1/(a + i)` and :math:`-\sum_{i<n} 1/(a + i)^2`. No difference of large
    numbers is taken, so they keep their digits for any a > 0 and n >= 0.

    Examples
    --------
    >>> first, second = log_rising_slopes(1.0, [0, 1, 3])  # 0, 1, 1 + 1/2 + 1/3 ...
    >>> first.round(6).tolist(), second.round(6).tolist()
    ([0.0, 1.0, 1.833333], [0.0, -1.0, -1.361111])
    """
    points, counts = np.broadcast_arrays(
        np.asarray(a, dtype=np.float64), np.asarray(n, dtype=np.float64)
    )
    first, second = np.empty(points.shape), np.empty(points.shape)
    _core.log_rising_slopes(
        np.ascontiguousarray(points).reshape(-1),
        np.ascontiguousarray(counts).reshape(-1),
        first.reshape(-1),
        second.reshape(-1),
    )
    return first, second


def n_log_n(n: npt.ArrayLike) -> _Floats:
    r"""Return :math:`n \ln n` of each number >= 0, with :math:`0 \ln 0 = 0`.

    Examples
    --------
    >>> n_log_n([0, 1, 2]).round(6).tolist()
    [0.0, 0.0, 1.386294]
    """
    values = np.asarray(n, dtype=np.float64)
    return values * np.log(np.where(values > 0, values, 1.0))
