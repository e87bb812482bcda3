"""Penalised node-average likelihood."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import ClassVar

from bestdag import _core
from bestdag.counts.family import FamilyCounts
from bestdag.errors import bad_setting, require_prior_count
from bestdag.registry import setting
from bestdag.scores.node_average import mean_log_likelihood

__all__ = ["PNAL"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PNAL:
    r"""Mean log-likelihood at its maximum minus a penalty that vanishes slowly.

    .. math::

        \frac{1}{N_{ok}} \sum_{j=1}^{q} \sum_{k=1}^{r} N_{jk} \ln\frac{N_{jk}}{N_j}
        - \lambda_N\, q (r - 1), \qquad \lambda_N = c\, N^{-a}

    A score per row, made for tables with missing values: with ``missing="available"`` the counts
    and their sum :math:`N_{ok}` are those of the rows that show the whole family, and N is the
    number of all rows. On complete rows the two are the same.

    Parameters
    ----------
    scale : float, default 0.05
        c, from 1e-100 to 1e100. With the default the penalty is close to that of BIC at some
        thousand rows.
    exponent : float, default 0.4
        a, between 0 and 1/2.

    Notes
    -----
    With missing values the mean log-likelihoods of two families are over different rows, and
    differ by chance by as much as :math:`N^{-1/2}` where the families fit equally well. A penalty
    that vanishes faster, as that of BIC does (ln N / 2N), does not outweigh this in general:
    needless parents may stay however many rows there are. Any a < 1/2 does, if values are missing
    completely at random [1]_.

    Score equivalent on complete rows; not so with missing values.

    References
    ----------
    .. [1] Balov (2013). "Consistent model selection of discrete Bayesian networks from incomplete
       data." Electronic Journal of Statistics 7.
    .. [2] Bodewes and Scutari (2021). "Learning Bayesian networks from incomplete data with the
       node-average likelihood." International Journal of Approximate Reasoning 138.

    Examples
    --------
    >>> counts = FamilyCounts.of([[6, 2], [0, 2]])  # LL is -4.498681, two free parameters
    >>> round(PNAL(scale=1.0, exponent=0.25).family(counts), 6)  # LL / 10 - 2 / 10 ** 0.25
    -1.574551
    """

    name: ClassVar[str] = "pnal"
    estimator: ClassVar[str] = "fsnml"
    is_score_equivalent: ClassVar[bool] = True
    is_per_row: ClassVar[bool] = True
    is_hyperparameter_free: ClassVar[bool] = False
    is_regular: ClassVar[bool] = True

    scale: float = setting(0.05, "Penalty per parameter, at one row.")
    exponent: float = setting(
        0.4, "Rate at which the penalty falls with the number of rows, below 1/2."
    )

    def __post_init__(self) -> None:
        require_prior_count("PNAL", "scale", self.scale)
        real = isinstance(self.exponent, numbers.Real)
        if not real or not 0 < self.exponent < 0.5:  # True is 1
            raise bad_setting("PNAL", "exponent", "a number between 0 and 1/2", self.exponent)

    def rate(self, n: float) -> float:
        """Return the penalty of one parameter, for N rows."""
        return self.scale * n**-self.exponent if n > 0 else 0.0

    def terms(self, counts: FamilyCounts) -> dict[str, float]:
        """Return the mean log-likelihood and the penalty."""
        n_parameters = counts.n_configurations * (counts.arity - 1)
        return {
            "mean log-likelihood": mean_log_likelihood(counts),
            "penalty": -self.rate(counts.total) * n_parameters,
        }

    def family(self, counts: FamilyCounts) -> float:
        """Score one family."""
        return sum(self.terms(counts).values())

    def kernel(self) -> _core.Kernel:
        """Return the native kernel, for bulk work."""
        return _core.pnal(self.scale, self.exponent)
