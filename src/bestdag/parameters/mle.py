"""Maximum likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from bestdag.counts.family import FamilyCounts
from bestdag.parameters.base import normalized

__all__ = ["MLE"]


@dataclass(frozen=True, slots=True)
class MLE:
    r"""The frequencies: the parameters under which the data are most probable.

    .. math::

        \theta_{jk} = \frac{N_{jk}}{N_j}, \qquad \theta_{jk} = \frac1r
        \text{ where } N_j = 0.

    Notes
    -----
    A state that was never seen with a parent configuration gets probability 0: new data may
    then be impossible. So these are no score's own parameters, and used only by name. A
    configuration that was never seen gets the uniform distribution.

    References
    ----------
    .. [1] Silander, Roos and Myllymäki (2010). "Learning locally minimax optimal Bayesian
       networks." International Journal of Approximate Reasoning 51, section 2.

    Examples
    --------
    >>> MLE().rows(FamilyCounts.of([[3, 1], [0, 0]]))
    array([[0.75, 0.25],
           [0.5 , 0.5 ]])
    """

    name: ClassVar[str] = "mle"
    shares_unobserved: ClassVar[bool] = True

    def rows(self, counts: FamilyCounts) -> npt.NDArray[np.float64]:
        """Return the distribution in each configuration of the counts."""
        return normalized(counts.table)
