"""Factorized sequential normalized maximum likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from bestdag.counts.family import FamilyCounts
from bestdag.parameters.snml import snml_probabilities

__all__ = ["FSNML"]


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
