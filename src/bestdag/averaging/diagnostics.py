"""Whether Markov chains agree: split R-hat and effective sample sizes of arc indicators."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.tabular import Table, Tabular, measures
from bestdag.wording import count_of

__all__ = ["UNMIXED", "ChainDiagnostics", "diagnose", "effective_sizes", "split_r_hat"]

_Array = npt.NDArray[np.float64]
# Chains that agree have less (Vehtari et al. 2021 ask for 1.01 with more draws than are kept here).
_WELL_MIXED = 1.05
# Arcs that are hardly ever there, or hardly ever missing, are not judged: their R-hat depends on a
# handful of draws, and chains that differ there differ by little.
_LEAST_JUDGED = 0.01
_LEAST_DRAWS = 4


UNMIXED = "the chains do not agree: the probabilities are imprecise, more steps are needed"


@dataclass(frozen=True, slots=True, eq=False)
class ChainDiagnostics(Tabular):
    r"""Whether chains agree.

    Each chain is cut into two halves of n draws. With W the mean of their variances and B/n the
    variance of their means, split R-hat is

    .. math::

        \hat R = \sqrt{\frac{n - 1}{n} + \frac{B / n}{W}},

    near 1 where the halves of all chains say the same. The effective sample size is the number of
    draws divided by :math:`1 + 2 \sum_t \rho_t`, with the autocorrelations summed as Geyer does.

    Attributes
    ----------
    r_hat : float64 array, n x n
        Split R-hat of the indicator of each arc; 1 where all draws are equal, infinite where chains
        are stuck at different values.
    is_judged : bool array, n x n
        The arcs that are there in 1 to 99 of 100 draws: on those the chains must agree.
    effective_size : float64 array, n x n
        Independent draws that would be as good.
    n_chains, n_kept, n_steps : int
        Chains, draws kept of each, steps of each.
    acceptance : float
        Share of the steps that led elsewhere.

    References
    ----------
    .. [1] Gelman et al. (2013). "Bayesian Data Analysis", 3rd edition, sections 11.4 and 11.5.
    .. [2] Geyer (1992). "Practical Markov chain Monte Carlo." Statistical Science 7, 473-483.
    """

    r_hat: _Array
    is_judged: npt.NDArray[np.bool_]
    effective_size: _Array
    n_chains: int
    n_kept: int
    n_steps: int
    acceptance: float

    @property
    def worst_r_hat(self) -> float:
        """The largest of the arcs that are judged."""
        return float(self.r_hat[self.is_judged].max(initial=1.0))

    @property
    def n_unmixed(self) -> int:
        """The number of arcs on which the chains do not agree."""
        return int((self.r_hat[self.is_judged] > _WELL_MIXED).sum())

    @property
    def least_effective_size(self) -> float:
        """The smallest effective sample size of any arc."""
        return float(self.effective_size.min(initial=float(self.n_chains * self.n_kept)))

    @property
    def is_mixed(self) -> bool:
        """Whether the chains agree on every arc that is judged: R-hat at most 1.05.

        One chain has nothing to agree with but itself, and fewer than four draws say nothing.
        Chains that agree may still all miss the same part of the posterior.
        """
        return self.worst_r_hat <= _WELL_MIXED and self.n_kept >= _LEAST_DRAWS

    def _table(self) -> Table:
        return measures(self.to_dict(), "agreement of the chains")

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold: None for what is infinite."""
        worst = self.worst_r_hat
        return {
            "worst_r_hat": worst if np.isfinite(worst) else None,
            "least_effective_size": self.least_effective_size,
            "is_mixed": self.is_mixed,
            "unmixed_arcs": self.n_unmixed,
            "chains": self.n_chains,
            "kept": self.n_kept,
            "steps": self.n_steps,
            "acceptance": self.acceptance,
        }

    def __str__(self) -> str:
        verdict = "the chains agree" if self.is_mixed else "the chains do not agree"
        return (
            f"{self.n_chains} chains of {self.n_steps:,} steps, {self.acceptance:.0%} moved; "
            f"R-hat at most {self.worst_r_hat:.3f}, above {_WELL_MIXED:g} for "
            f"{count_of(self.n_unmixed, 'arc')}, effective sample size at least "
            f"{self.least_effective_size:,.0f}; {verdict}"
        )


def diagnose(
    indicators: npt.NDArray[np.bool_], n_steps: int, acceptance: float
) -> ChainDiagnostics:
    """Compare chains; `indicators` are chains x draws x n x n."""
    n_chains, n_kept, n, _ = indicators.shape
    r_hat = np.ones((n, n))
    sizes = np.full((n, n), float(n_chains * n_kept))
    varies = indicators.any(axis=(0, 1)) & ~indicators.all(axis=(0, 1))
    for i, j in np.argwhere(varies).tolist():
        draws = indicators[:, :, i, j].astype(np.float64)
        r_hat[i, j] = split_r_hat(draws)
        sizes[i, j] = effective_sizes(draws)
    shares = indicators.mean(axis=(0, 1))
    is_judged = (shares >= _LEAST_JUDGED) & (shares <= 1.0 - _LEAST_JUDGED)
    return ChainDiagnostics(r_hat, is_judged, sizes, n_chains, n_kept, n_steps, acceptance)


def split_r_hat(draws: _Array) -> float:
    """Return the split R-hat of chains x draws: each chain counts as two halves.

    References
    ----------
    .. [1] Gelman et al. (2013). "Bayesian Data Analysis", 3rd edition, section 11.4.

    Examples
    --------
    >>> split_r_hat(np.array([[0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0]])) > 1
    True
    """
    half = draws.shape[1] // 2
    if half < 2:
        return float("inf")
    parts = np.concatenate([draws[:, :half], draws[:, -half:]])
    within = float(parts.var(axis=1, ddof=1).mean())
    between = float(parts.mean(axis=1).var(ddof=1))
    if within == 0.0:
        return 1.0 if between == 0.0 else float("inf")
    return float(np.sqrt((half - 1) / half + between / within))


def effective_sizes(draws: _Array) -> float:
    """Return the effective sample size of chains x draws, over all chains.

    References
    ----------
    .. [1] Geyer (1992). "Practical Markov chain Monte Carlo." Statistical Science 7, 473-483: sums
       of neighbouring autocorrelations, while they are positive and fall.
    .. [2] Gelman et al. (2013). "Bayesian Data Analysis", 3rd edition, section 11.5.
    """
    n_chains, n = draws.shape
    if n < 2:
        return float(n_chains)
    centred = draws - draws.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, 2 * n, axis=1)
    autocovariance = np.fft.irfft(spectrum * spectrum.conj(), 2 * n, axis=1)[:, :n] / n
    within = float(autocovariance[:, 0].mean()) * n / (n - 1)
    between = float(draws.mean(axis=1).var(ddof=1)) if n_chains > 1 else 0.0
    variance = within * (n - 1) / n + between
    if variance == 0.0:
        return float(n_chains * n)
    correlation = 1.0 - (within - autocovariance.mean(axis=0)) / variance
    correlation[0] = 1.0
    pairs = correlation[: n - n % 2].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs < 0)
    pairs = np.minimum.accumulate(pairs[: negative[0] if len(negative) else len(pairs)])
    time = max(-1.0 + 2.0 * float(pairs.sum()), 1.0 / math.log10(n_chains * n + 9.0))
    return float(n_chains * n / time)
