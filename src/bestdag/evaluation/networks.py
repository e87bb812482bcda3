"""A network on data: how well it predicts rows that it has not seen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.data.dataset import Dataset
from bestdag.data.readers import as_dataset, read_matching
from bestdag.errors import DataError, bad_setting, require_choice
from bestdag.graph.dag import Dag
from bestdag.machine import require_memory, require_row_memory
from bestdag.network.fitting import fitted_network
from bestdag.network.network import Network
from bestdag.plots.axes import axes_for
from bestdag.tabular import Table, Tabular, measures
from bestdag.wording import count_of

__all__ = ["NetworkEvaluation", "distance_score", "evaluate_network"]

# Of a row: the number of its cell, twice.
_BYTES_PER_LOOKUP = 16
# Twice this many standard errors contain 95 % of a normal distribution.
_Z = 1.959963984540054


@dataclass(frozen=True, slots=True)
class NetworkEvaluation(Tabular):
    """What a network says about rows.

    Attributes
    ----------
    n_rows : float
        Rows, or their weights together.
    n_arcs, n_parameters : int
        Of the network.
    log_loss : float
        Mean of -ln P(row), in nats; infinite where a row is impossible. Lower is better.
    standard_error : float
        Of the log loss, over rows.
    accuracy_score : float or None
        100 (T - L) / abs(T), L and T the log-likelihoods of the network and of the true one:
        lower is nearer to the truth. None without a true network.
    kl_divergence : float or None
        From the true network to this one, in nats.
    kl_standard_error : float or None
        Where the divergence was sampled.
    """

    n_rows: float
    n_arcs: int
    n_parameters: int
    log_loss: float
    standard_error: float
    accuracy_score: float | None = None
    kl_divergence: float | None = None
    kl_standard_error: float | None = None

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the expected log loss: 1.96 standard errors on both sides."""
        half = _Z * self.standard_error
        return self.log_loss - half, self.log_loss + half

    def _table(self) -> Table:
        return measures(self.to_dict(), "network on data")

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold: None for what is infinite."""
        measured = {name: getattr(self, name) for name in self.__slots__}
        return {
            name: value if value is None or math.isfinite(value) else None
            for name, value in measured.items()
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw the log loss with its interval; needs matplotlib."""
        ax = axes_for(ax, "plot")
        if math.isfinite(self.log_loss):
            ax.errorbar([self.log_loss], [0], xerr=[_Z * self.standard_error], fmt="o")
        ax.set_yticks([])
        ax.set(xlabel="log loss (nats per row)", title=f"{self.n_rows:,g} rows")
        return ax

    def __str__(self) -> str:
        lines = [
            f"{count_of(self.n_arcs, 'arc')}, {count_of(self.n_parameters, 'parameter')}",
            f"log loss {self.log_loss:.6f} ± {self.standard_error:.6f} nats per row "
            f"({count_of(self.n_rows, 'row')})",
        ]
        if self.accuracy_score is not None:
            lines.append(f"accuracy score {self.accuracy_score:.4f} % (0: the true network)")
        if self.kl_divergence is not None:
            error = self.kl_standard_error
            how = "exact" if error is None else f"± {error:.6f}, sampled"
            lines.append(f"KL divergence from the true network {self.kl_divergence:.6f} ({how})")
        return "\n".join(lines)


def evaluate_network(
    network: Network,
    data: Any,
    *,
    truth: Network | None = None,
    threads: int | None = None,
) -> NetworkEvaluation:
    """Say how well a network predicts rows, and how far it is from the true one.

    Parameters
    ----------
    network : Network
        The network to judge.
    data : Dataset, or anything `read` takes
        Rows that the network has not seen, with its states. Missing values are summed over.
    truth : Network, optional
        The network that the rows come from: for the accuracy score of Scanagatta, de Campos and
        Zaffalon (2014), section 4, and the divergence, exact where that fits in memory.
    threads : int, optional
        One per processor unless given. The numbers are the same.

    Raises
    ------
    DataError, UnknownNameError
        No Network, a column too few or too many, a value that is not a state, or a row that the
        true network calls impossible.

    Notes
    -----
    On rows that the network was learned from the log loss is too low: hold rows back, or use
    `cross_validate`.

    Examples
    --------
    >>> from bestdag import learn
    >>> from bestdag.examples import example
    >>> truth = Network.load(example("asia.bif"))
    >>> net = learn(truth.sample(500, seed=1), "bdeu").fit()
    >>> result = evaluate_network(net, truth.sample(10_000, seed=2), truth=truth)
    >>> round(result.log_loss, 2), round(result.accuracy_score, 1), round(result.kl_divergence, 3)
    (2.24, 0.4, 0.009)
    """
    if not isinstance(network, Network):
        raise DataError(f"evaluate_network: a Network is needed, got {network!r:.60}")
    if not isinstance(data, Dataset):
        data = read_matching(data, network.variables, missing="keep")
    logs = network.log_probability(data, threads=threads)
    log_loss, error = _mean(-logs, data.weights)
    accuracy, divergence, sampled = None, None, None
    if truth is not None:
        true_loss, _ = _mean(-truth.log_probability(data, threads=threads), data.weights)
        if not math.isfinite(true_loss):
            raise DataError("evaluate_network: a row is impossible in the true network")
        accuracy = accuracy_score(-log_loss, -true_loss)
        estimate = truth.kl_divergence(network, threads=threads)
        divergence = float(estimate)
        sampled = None if estimate.is_exact else estimate.standard_error
    return NetworkEvaluation(
        n_rows=data.total_weight,
        n_arcs=len(network.dag.arcs),
        n_parameters=network.n_parameters,
        log_loss=log_loss,
        standard_error=error,
        accuracy_score=accuracy,
        kl_divergence=divergence,
        kl_standard_error=sampled,
    )


def accuracy_score(log_likelihood: float, true_log_likelihood: float) -> float:
    """Return by how many percent a log-likelihood is below that of the true network.

    Examples
    --------
    >>> accuracy_score(-110.0, -100.0)
    10.0
    """
    if true_log_likelihood == 0:
        return 0.0 if log_likelihood == 0 else math.inf
    return 100 * (true_log_likelihood - log_likelihood) / abs(true_log_likelihood)


def _mean(losses: npt.NDArray[np.float64], weights: npt.NDArray[Any] | None) -> tuple[float, float]:
    """Return the mean of losses and its standard error."""
    if weights is None:
        weights = np.ones(len(losses))
    is_used = weights > 0
    losses, weights = losses[is_used], weights[is_used].astype(np.float64)
    total = math.fsum(weights.tolist())
    mean = math.fsum((weights * losses).tolist()) / total
    if not math.isfinite(mean):
        return math.inf, math.inf
    squares = math.fsum((weights * (losses - mean) ** 2).tolist())
    return mean, math.sqrt(squares / total / (total - 1)) if total > 1 else math.inf


def distance_score(
    dag: Dag, data: Any, *, constant: float = 0.0, distance: str = "euclidean"
) -> float:
    r"""Return the distance from the data to the nearest numbers of a structure, plus its size.

    .. math::

        dist(P_D, P_S) + c \cdot size(S), \qquad dist = \sum_x (P_D(x) - P_S(x))^2 \quad
        \text{or} \quad \sum_x P_D(x) \ln \frac{P_D(x)}{P_S(x)},

    with :math:`P_D` the shares of the rows, :math:`P_S` the structure with maximum-likelihood
    parameters, and the number of free parameters for the size. Lower is better.

    Parameters
    ----------
    dag : Dag
        The structure, over some or all columns.
    data : Dataset, or anything `read` takes
        Complete rows.
    constant : float, default 0
        c: what a parameter costs.
    distance : {"euclidean", "kl"}, default "euclidean"
        Of the joint distributions: their table must fit in memory.

    Raises
    ------
    NotEnoughMemoryError
        A joint distribution with too many cells.
    InvalidParameterError
        A negative constant, or another distance.

    References
    ----------
    .. [1] Jensen and Nielsen (2007). "Bayesian Networks and Decision Graphs." Section 7.3.1, the
       first score.

    Examples
    --------
    >>> data = {"X1": ["y"] * 8 + ["n"] * 2, "X2": ["p"] * 6 + ["n"] * 4}
    >>> empty, full = Dag(["X1", "X2"]), Dag(["X1", "X2"], [("X1", "X2")])
    >>> round(distance_score(empty, data), 6), abs(round(distance_score(full, data), 6))
    (0.0576, 0.0)
    >>> round(distance_score(full, data, constant=0.01), 6)
    0.03
    """
    who = "distance_score"
    require_choice(who, "distance", distance, ["euclidean", "kl"])
    if not (isinstance(constant, int | float) and 0 <= constant < math.inf):
        raise bad_setting(who, "constant", "a finite number >= 0", constant)
    data = as_dataset(data)
    names = sorted(dag.nodes)
    shape = [data.variable(name).arity for name in names]
    n_cells = math.prod(shape)
    require_memory(
        who, "the joint distribution", 40.0 * min(n_cells, 1 << 100), "choose fewer columns"
    )
    require_row_memory(who, "looking up", data.n_rows, _BYTES_PER_LOOKUP)
    network, _ = fitted_network(dag, data, "mle")
    joint = np.ones([1] * len(names))
    axis = {name: k for k, name in enumerate(names)}
    for name in names:
        table = network.table(name)
        axes = [axis[variable.name] for variable in (*table.parents, table.child)]
        values = np.transpose(table.values, np.argsort(axes))
        joint = joint * values.reshape([shape[k] if k in axes else 1 for k in range(len(shape))])
    index = np.zeros(data.n_rows, np.int64)
    for name, size in zip(names, shape, strict=True):
        index = index * size + data.codes(name)
    shares = np.bincount(index, data.weights, minlength=n_cells) / float(data.total_weight)
    fitted = np.broadcast_to(joint, shape).reshape(-1)
    if distance == "euclidean":
        gap = math.fsum(((shares - fitted) ** 2).tolist())
    else:
        seen = shares > 0
        gap = math.fsum((shares[seen] * np.log(shares[seen] / fitted[seen])).tolist())
        gap = max(0.0, gap)
    return gap + constant * dag.n_parameters(data)
