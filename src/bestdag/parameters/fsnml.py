"""Factorized sequential normalized maximum likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from bestdag.counts.family import FamilyCounts
from bestdag.errors import DataError, InvalidParameterError, require_count
from bestdag.parameters.base import normalized

__all__ = ["FSNML", "snml_code_length", "snml_probabilities", "snml_shares"]


@dataclass(frozen=True, slots=True)
class FSNML:
    r"""The prediction that is minimax optimal for the next case, in each configuration.

    .. math::

        \theta_{jk} = \frac{e(N_{jk})\,(N_{jk} + 1)}{\sum_{k'=1}^{r} e(N_{jk'})\,(N_{jk'} + 1)},
        \qquad e(n) = \left(\frac{n + 1}{n}\right)^n, \quad e(0) = 1.

    Each probability is proportional to the maximised likelihood of the data with one more case
    of that state. Belongs to the scores fNML, qNML, LL, AIC, BIC
    and MIT.

    Notes
    -----
    All probabilities are positive, and a configuration that was never seen gets the uniform
    distribution. Without settings. Counts need not be whole: the maximised likelihood of
    weighted cases has the same form.

    References
    ----------
    .. [1] Silander, Roos and Myllymäki (2010). "Learning locally minimax optimal Bayesian
       networks." International Journal of Approximate Reasoning 51, section 4.3.

    Examples
    --------
    >>> FSNML().rows(FamilyCounts.of([[1, 0], [0, 0]]))  # 4 to 1
    array([[0.8, 0.2],
           [0.5, 0.5]])
    """

    name: ClassVar[str] = "fsnml"
    shares_unobserved: ClassVar[bool] = True

    def rows(self, counts: FamilyCounts) -> npt.NDArray[np.float64]:
        """Return the distribution in each configuration of the counts."""
        return snml_probabilities(counts.table)


_Floats = npt.NDArray[np.float64]

# Cells of running counts held at a time (8 MiB).
_BLOCK = 1 << 20


def snml_shares(n: npt.ArrayLike) -> _Floats:
    r"""Return what each state claims of the next case, from its count n >= 0.

    .. math:: e(n)\,(n + 1), \qquad e(n) = \left(\frac{n + 1}{n}\right)^n, \quad e(0) = 1.

    The predictive probability of a state is its share of the sum over all states. It is
    Laplace's rule of succession but for the factors e(n), which grow from 1 to 2.718...

    Examples
    --------
    >>> snml_shares([0, 1, 2]).round(6).tolist()  # 1, 4, 27/4
    [1.0, 4.0, 6.75]
    """
    counts = np.asarray(n, dtype=np.float64)
    # n ln(1 + 1/n), where 1/n neither overflows nor loses its digits.
    safe = np.where(counts > 0, counts, 1.0)
    logs = np.where(counts < 1, np.log1p(safe) - np.log(safe), np.log1p(1 / np.maximum(safe, 1)))
    shares: _Floats = np.exp(counts * logs) * (counts + 1)
    return shares


def snml_probabilities(counts: npt.ArrayLike) -> _Floats:
    r"""Return the probabilities of the next case, from the counts of the states (last axis).

    .. math:: P(k \mid n_1 \dots n_r) = \frac{e(n_k)\,(n_k + 1)}{\sum_{k'} e(n_{k'})\,(n_{k'} + 1)}

    Each is proportional to the maximised likelihood of the cases seen and one more of state k.

    Examples
    --------
    >>> snml_probabilities([1, 0, 0]).round(6).tolist()  # 4 to 1 to 1
    [0.666667, 0.166667, 0.166667]
    """
    return normalized(snml_shares(counts))


def snml_code_length(sequence: npt.ArrayLike, arity: int) -> float:
    r"""Return the length, in nats, of the code of a sequence of states.

    .. math::

        -\ln P_{\mathrm{sNML}}(x_1 \dots x_N) = -\sum_{n=1}^{N} \ln
        \frac{\hat P(x_1 \dots x_{n-1}, x_n)}{\sum_{x} \hat P(x_1 \dots x_{n-1}, x)}

    with :math:`\hat P` the maximised likelihood.

    Parameters
    ----------
    sequence : array_like
        Codes 0 ... arity - 1, one per case; none at all have length 0.
    arity : int
        Number of states.

    Notes
    -----
    The length depends on the order of the cases, so it is no score of a table. At worst it
    exceeds that of the maximised likelihood by [1]_, Theorem 5:

    .. math:: \frac1K \sum_{k=1}^{K-1} \left[ N \ln\frac{N+k}{N} + k \ln\frac{N+k}{k} \right].

    References
    ----------
    .. [1] Silander, Roos and Myllymäki (2010). "Learning locally minimax optimal Bayesian
       networks." International Journal of Approximate Reasoning 51, equation 16.

    Examples
    --------
    >>> from math import exp
    >>> round(exp(-snml_code_length([0, 0, 1, 1], 2)) * 6665, 6)
    128.0
    >>> round(exp(-snml_code_length([0, 1, 0, 1], 2)) * 215, 6)
    4.0
    """
    arity = require_count("sNML", "arity", arity, minimum=1)
    codes = np.asarray(sequence)
    if codes.size == 0:
        return 0.0
    if codes.ndim != 1 or codes.dtype.kind not in "iu":
        raise InvalidParameterError(
            f"sNML: a sequence of whole numbers is needed, got {codes.dtype} of shape {codes.shape}"
        )
    if codes.min() < 0 or codes.max() >= arity:
        wrong = codes[(codes < 0) | (codes >= arity)][0]
        raise DataError(f"sNML: codes of {arity} states are 0 to {arity - 1}, got {wrong}")
    shares = snml_shares(np.arange(len(codes)))
    seen = np.zeros(arity, np.int64)
    logs = []
    n_together = max(1, _BLOCK // arity)
    for first in range(0, len(codes), n_together):
        block = codes[first : first + n_together]
        is_state = block[:, None] == np.arange(arity)
        before = seen + np.cumsum(is_state, axis=0) - is_state
        probability = shares[before[is_state]] / shares[before].sum(axis=1)
        logs.append(float(np.log(probability).sum()))
        seen += is_state.sum(axis=0)
    return -float(np.sum(logs))
