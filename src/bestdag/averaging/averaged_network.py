"""Predictions averaged over structures: Bayesian model averaging."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.averaging.arc_probabilities import ArcProbabilities
from bestdag.averaging.weighted_dags import WeightedDags
from bestdag.data.dataset import Dataset
from bestdag.data.readers import as_dataset
from bestdag.errors import InvalidParameterError, require_count
from bestdag.network.fitting import fitted_network
from bestdag.network.network import Network
from bestdag.network.prediction import known_cells, known_rows
from bestdag.parameters import OF_SCORE, choose_estimator
from bestdag.parameters.base import Estimator
from bestdag.scores import make_score
from bestdag.scores.base import Score

__all__ = ["AveragedNetwork", "average_networks"]

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class AveragedNetwork:
    r"""A mixture of networks: the distribution of a row, averaged over structures.

    .. math::

        P(x) = \sum_G w_G P_G(x), \qquad
        P(x_t \mid x_{\setminus t}) = \frac{\sum_G w_G P_G(x)}{\sum_G w_G P_G(x_{\setminus t})}.

    Attributes
    ----------
    networks : tuple of Network
    weights : float64 array
        They sum to 1.
    left_out : float
        The weight of structures that are not among them.
    """

    networks: tuple[Network, ...]
    weights: _Floats
    left_out: float = 0.0

    def log_probability(self, data: Any, *, threads: int | None = None) -> _Floats:
        """Work out ln P(row) of each row under the mixture; missing values are summed over.

        Parameters
        ----------
        data : Dataset, or anything `read` takes
            With the variables of the networks.
        threads : int, optional

        Returns
        -------
        array of float64
            In nats; minus infinity where no network allows the row.
        """
        rows = known_rows(self.networks[0], data, "log_probability")
        return self._log_probability(rows, threads)

    def log_loss(self, data: Any, *, threads: int | None = None) -> float:
        """Work out the mean of -ln P(row), in nats; lower is better.

        Row weights count. It is never above the weighted mean of the networks' own losses, since
        the logarithm of a mean is at least the mean of the logarithms (Jensen).
        """
        rows = known_rows(self.networks[0], data, "log_loss")
        logs, weights = self._log_probability(rows, threads), rows.weights
        if weights is None:
            return -fsum(logs.tolist()) / len(logs)
        counts = weights > 0
        return -fsum((logs[counts] * weights[counts]).tolist()) / float(weights.sum())

    def _log_probability(self, rows: Dataset, threads: int | None) -> _Floats:
        logs = [one.log_probability(rows, threads=threads) for one in self.networks]
        return _log_mixture(np.array(logs), np.log(self.weights)[:, None])

    def predict_proba(self, target: str, data: Any, *, threads: int | None = None) -> _Floats:
        """Work out the distribution of one variable given the other cells of each row.

        Each network counts by its weight and by how probable it makes the other cells.

        Parameters
        ----------
        target : str
        data : Dataset, or anything `read` takes
            A column of the target is not looked at, and may lack.
        threads : int, optional

        Returns
        -------
        array of float64, rows x states of the target
        """
        first = self.networks[0]
        others = known_cells(first, target, data, "predict_proba")
        parts = []
        for one in self.networks:
            log_shares = one.predict_log_proba(
                target, others, impossible="marginal", threads=threads
            )
            parts.append(log_shares + one.log_probability(others, threads=threads)[:, None])
        joint = _log_mixture(np.array(parts), np.log(self.weights)[:, None, None])
        joint -= joint.max(axis=1, keepdims=True)
        shares = np.exp(joint)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def predict(
        self, target: str, data: Any, *, threads: int | None = None
    ) -> npt.NDArray[np.object_]:
        """Name the most probable state of one variable for each row; ties go to the first state."""
        best = self.predict_proba(target, data, threads=threads).argmax(axis=1)
        states = np.array([*self.networks[0].variable(target).states, None], dtype=np.object_)
        return np.asarray(states[best])

    def __len__(self) -> int:
        return len(self.networks)

    def __repr__(self) -> str:
        return f"<AveragedNetwork: {len(self)} structures>"


def average_networks(
    structures: ArcProbabilities | WeightedDags,
    data: Any,
    score: Score | str = "bdeu",
    *,
    parameters: Estimator | str = OF_SCORE,
    most: int = 100,
    threads: int | None = None,
) -> AveragedNetwork:
    """Fit the structures that were drawn or learned, and average over them.

    Parameters
    ----------
    structures : ArcProbabilities or WeightedDags
        With structures: from `bootstrap`, or from `posterior` by draws or chains, or with
        ``samples=``.
    data : Dataset, or anything `read` takes
        The rows they were learned from.
    score : Score or str, default "bdeu"
        What the structures were weighed by.
    parameters : Estimator or str, default "score"
        By default the estimator that belongs to the score: structures weighed under a prior
        predict under it. Others as for `Result.fit`.
    most : int, default 100
        So many structures at most, the heaviest; `left_out` says how much the others weigh.
    threads : int, optional

    Returns
    -------
    AveragedNetwork

    Raises
    ------
    InvalidParameterError
        If there are no structures: exact sums keep none unless `posterior` gets ``samples=``.

    References
    ----------
    .. [1] Hoeting, Madigan, Raftery and Volinsky (1999). "Bayesian model averaging: a tutorial."
       Statistical Science 14, 382-417.

    Examples
    --------
    >>> from bestdag.averaging.posterior import posterior
    >>> from bestdag.examples import example
    >>> arcs = posterior(example("asia.csv"), method="sampling", samples=200)
    >>> averaged = average_networks(arcs, example("asia.csv"), most=5)
    >>> averaged.predict_proba("lung", {"smoke": ["yes"], "xray": ["yes"]}).round(1)
    array([[0.4, 0.6]])
    """
    require_count("average_networks", "most", most, minimum=1)
    dags = structures.dags if isinstance(structures, ArcProbabilities) else structures
    if dags is None:
        raise InvalidParameterError(
            "average_networks: needs structures, and sums over all of them keep none; ask "
            "posterior for samples=1000 too"
        )
    dataset = as_dataset(data)
    chosen = make_score(score) if isinstance(score, str) else score
    estimator = choose_estimator(chosen, parameters, {})
    numbers = range(min(most, len(dags)))
    networks = [
        fitted_network(dags.dag(k), dataset, estimator, threads=threads)[0] for k in numbers
    ]
    weights = dags.weights[: len(networks)]
    total = float(weights.sum())
    return AveragedNetwork(tuple(networks), weights / total, max(0.0, 1.0 - total))


def _log_mixture(logs: _Floats, log_weights: _Floats) -> _Floats:
    """Return ln of the weighted sum over the first axis."""
    terms = logs + log_weights
    largest = terms.max(axis=0)
    safe = np.where(np.isfinite(largest), largest, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(safe + np.log(np.exp(terms - safe).sum(axis=0)))
