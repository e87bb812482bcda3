"""Structures drawn from the posterior that is modular in the order, weighted for the uniform one.

A draw comes up as often as its structure has orders; the uniform prior over DAGs counts each once.
Two corrections (Ellis and Wong 2008): keep the *distinct* structures and weight each by P(G, D),
which is right to the extent that they cover the posterior; or weight each draw by one over its
number of orders (*extensions*), which is right on average whatever they cover, with an effective
sample size that says how much is left of the draws.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.averaging.deadline import Deadline
from bestdag.averaging.local_weights import LocalWeights
from bestdag.averaging.weighted_dags import WeightedDags
from bestdag.machine import require_memory

__all__ = ["arcs_of_masks", "draw_from_orders", "weighted_uniformly"]

# Less than this is shown as 0.0 %.
_NEXT_TO_NOTHING = 5e-4
# Distinct structures that cover so much are weighted by P(G, D).
_WELL_COVERED = 0.9


def draw_from_orders(
    who: str,
    weights: LocalWeights,
    sums: _core.OrderSums,
    n_draws: int,
    *,
    seed: int,
    threads: int,
    deadline: Deadline,
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.float64]]:
    """Draw structures: parents as words, draws x n x 1, and the logarithms of P(G, D).

    `weights` are by descending weight, and `sums` are those of them.
    """
    n = len(weights.names)
    require_memory(who, f"{n_draws:,} structures", 3.0 * n_draws * n * n, "draw fewer")
    masks, logs = np.empty((n_draws, n, 1), np.uint64), np.empty(n_draws)
    is_done = sums.draw(seed, threads, deadline.seconds_left, masks.reshape(-1), logs)
    deadline.require_done(is_done, f"drawing {n_draws:,} structures")
    return masks, logs


def arcs_of_masks(masks: npt.NDArray[np.uint64], n: int) -> npt.NDArray[np.bool_]:
    """Return the arcs of structures given as words of parents: structures x n x words."""
    shifts = np.arange(64, dtype=np.uint64)
    arcs = np.zeros((len(masks), n, n), np.bool_)  # parent, child
    for k in range(masks.shape[2]):
        bits = (masks[:, :, k, None] >> shifts) & np.uint64(1)  # structure, child, bit
        some = min(64, n - 64 * k)
        arcs[:, 64 * k : 64 * k + some] = np.swapaxes(bits[:, :, :some], 1, 2)
    return arcs


def weighted_uniformly(
    names: tuple[str, ...],
    masks: npt.NDArray[np.uint64],
    logs: npt.NDArray[np.float64],
    log_total: float,
    *,
    how: str,
    threads: int,
    deadline: Deadline,
    log_uniform: float | None = None,
) -> tuple[WeightedDags, str]:
    """Weight draws for the uniform prior over DAGs; also return a note that says how.

    `log_total` is the sum over all orders; `how` is "auto", "distinct" or "extensions".
    `log_uniform` is the sum over all DAGs, estimated where it is not known.
    """
    n = len(names)
    distinct, first, counts = np.unique(masks, axis=0, return_index=True, return_counts=True)
    orders = np.empty(len(distinct))
    flat = np.ascontiguousarray(distinct).reshape(-1)
    is_done = _core.log_linear_extensions(flat, n, threads, deadline.seconds_left, orders)
    deadline.require_done(is_done, f"counting the orders of {len(distinct):,} structures")
    # The mean of one over the number of orders is the ratio of the two totals.
    log_shares = np.log(counts / len(masks)) - orders
    is_estimate = log_uniform is None
    if log_uniform is None:
        log_uniform = log_total + _log_sum(log_shares)
    own = logs[first]
    covered = min(1.0, math.exp(_log_sum(own) - log_uniform))
    shares = np.exp(log_shares - _log_sum(log_shares))
    size = float(1.0 / np.sum(shares**2 / counts))
    if how == "auto":
        how = "distinct" if covered >= _WELL_COVERED else "extensions"
    if how == "distinct":
        weights = np.exp(own - _log_sum(own))
        note = f"{len(distinct):,} distinct structures, weighted by P(G, D)"
    else:
        weights = shares
        note = f"{len(masks):,} draws, weighted by one over the number of their orders"
    about = "about " if is_estimate else ""
    note += f"; they cover {about}{covered:.1%} of the posterior, effective sample size {size:,.0f}"
    if covered < _NEXT_TO_NOTHING:
        note += "; the listed structures cover almost none of it: use the arc probabilities"
    order = np.lexsort((first, -weights))
    dags = WeightedDags(
        names, arcs_of_masks(distinct[order], n), weights[order] / weights.sum(), size, covered
    )
    return dags, note


def _log_sum(logs: npt.NDArray[np.float64]) -> float:
    largest = float(logs.max())
    return largest + math.log(float(np.exp(logs - largest).sum()))
