"""Functions of counts: log-gamma, rising factorials, n log n, regret. Natural logarithms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.errors import InvalidParameterError

__all__ = ["log_gamma", "log_rising", "n_log_n", "n_log_share", "regret", "szpankowski_regret"]

_Floats = npt.NDArray[np.float64]

# Above this a float no longer tells a count from its neighbours.
_MAX_COUNT = 2.0**53
# Values between two looks for Ctrl-C: a tenth of a second or so.
_BLOCK = 1 << 16


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


def n_log_share(n: npt.ArrayLike, total: npt.ArrayLike) -> _Floats:
    r"""Return :math:`n \ln(n / t)`, elementwise, for 0 <= n <= t, with 0 where n = 0.

    It keeps its digits where the difference of `n_log_n` would lose them.

    Examples
    --------
    >>> n_log_share([0, 1, 3], 4).round(6).tolist()
    [0.0, -1.386294, -0.863046]
    """
    part, whole = np.broadcast_arrays(
        np.asarray(n, dtype=np.float64), np.asarray(total, dtype=np.float64)
    )
    safe = np.where(part > 0, whole, 1.0)
    is_most = 2 * part > safe
    logs = np.log(np.where((part > 0) & ~is_most, part, safe) / safe)
    logs += np.log1p(np.where(is_most, part - safe, 0.0) / safe)
    return part * logs


def regret(n: npt.ArrayLike, r: npt.ArrayLike) -> _Floats:
    r"""Return the regret of the multinomial, :math:`\ln C(r, n)`, elementwise.

    C(r, n) is the sum, over all columns of n rows of a variable with r states, of the column's
    maximised likelihood:

    .. math::

        C(r, n) = \sum_{k_1 + \dots + k_r = n} \frac{n!}{k_1! \cdots k_r!}
        \prod_{i=1}^{r} \left(\frac{k_i}{n}\right)^{k_i}
        = \sum_{k=0}^{n} \frac{n^{\underline{k}}\,(r-1)^{\overline{k}}}{n^k\, k!}.

    Parameters
    ----------
    n : array_like
        Whole numbers from 0 to 2**53.
    r : array_like
        Whole finite numbers >= 1, products of arities for instance; 1e300 will do.

    Returns
    -------
    array of float
        Exactly 0 where n = 0 or r = 1; relative error below 2e-15 elsewhere.

    Raises
    ------
    InvalidParameterError
        For other n or r.

    Notes
    -----
    The time does not grow with n or r. Below 64 rows the second sum is taken as it stands. Up
    to 512 states, C(2, n), which is 1 plus Ramanujan's Q function, is followed by
    C(r + 2, n) = C(r + 1, n) + (n/r) C(r, n). For the rest, C(r, n) is a coefficient of a
    power series, found by summing over a circle through its saddle point.

    References
    ----------
    .. [1] Kontkanen and Myllymäki (2007). "A linear-time algorithm for computing the
       multinomial stochastic complexity." Information Processing Letters 103.
    .. [2] Silander, Roos and Myllymäki (2010). "Learning locally minimax optimal Bayesian
       networks." International Journal of Approximate Reasoning 51, equation 10.

    Examples
    --------
    >>> np.exp(regret(3, [1, 2, 3])).round(6).tolist()  # 1, 26/9, 53/9
    [1.0, 2.888889, 5.888889]
    >>> float(regret(100, 1e20).round(6))
    4144.653167
    """
    return _regret("regret", _core.regret, n, r)


def szpankowski_regret(n: npt.ArrayLike, r: npt.ArrayLike) -> _Floats:
    r"""Return Szpankowski and Weinberger's approximation of `regret`, elementwise.

    .. math::

        n \left( \ln\beta + (\beta + 2) \ln C_\beta - \frac{1}{C_\beta} \right)
        - \frac12 \ln\left( C_\beta + \frac{2}{\beta} \right), \qquad
        \beta = \frac{r}{n}, \quad C_\beta = \frac12 + \frac12 \sqrt{1 + \frac4\beta}.

    Parameters
    ----------
    n, r : array_like
        As in `regret`.

    Returns
    -------
    array of float
        Exactly 0 where n = 0 or r = 1, which the formula misses.

    References
    ----------
    .. [1] Szpankowski and Weinberger (2012). "Minimax pointwise redundancy for memoryless
       models over large alphabets." IEEE Transactions on Information Theory 58.
    .. [2] Silander, Leppä-aho, Jääsaari and Roos (2018). "Quotient normalized maximum
       likelihood criterion for learning Bayesian network structures." AISTATS.

    Examples
    --------
    >>> szpankowski_regret(100, [1, 2, 1000]).round(6).tolist()
    [0.0, 2.667099, 243.704769]
    """
    return _regret("szpankowski_regret", _core.szpankowski_regret, n, r)


def _regret(
    who: str,
    native: Callable[[_Floats, _Floats, _Floats], None],
    n: npt.ArrayLike,
    r: npt.ArrayLike,
) -> _Floats:
    first, second = np.broadcast_arrays(
        np.asarray(n, dtype=np.float64), np.asarray(r, dtype=np.float64)
    )
    _require_whole(who, "n", first, 0.0, _MAX_COUNT)
    _require_whole(who, "r", second, 1.0, np.finfo(np.float64).max)
    flat_n, flat_r = (np.ascontiguousarray(x).reshape(-1) for x in (first, second))
    out = np.empty(first.size)
    for start in range(0, out.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        native(flat_n[block], flat_r[block], out[block])
    return out.reshape(first.shape)


def _require_whole(who: str, what: str, values: _Floats, least: float, most: float) -> None:
    good = (values >= least) & (values <= most) & (np.floor(values) == values)
    if not good.all():
        limit = f" to {most:,.0f}" if most == _MAX_COUNT else ", finite"
        raise InvalidParameterError(
            f"{who}: {what} must be a whole number >= {least:.0f}{limit}, "
            f"got {float(values[~good][0])!r}"
        )
