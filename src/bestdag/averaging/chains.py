"""Markov chains over orders and over partitions, for more variables than sums can take.

Over orders (Friedman and Koller 2003) the chain draws from the posterior that is modular in the
order. Over ordered partitions (Kuipers and Moffa 2017) each DAG belongs to one state alone, and the
prior over DAGs is uniform.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.averaging.diagnostics import ChainDiagnostics, diagnose
from bestdag.averaging.draws import arcs_of_masks
from bestdag.averaging.local_weights import LocalWeights
from bestdag.machine import require_memory

__all__ = ["run_chains"]


def run_chains(
    who: str,
    weights: LocalWeights,
    *,
    over_partitions: bool,
    n_chains: int,
    n_steps: int,
    n_before: int,
    n_kept: int,
    seed: int,
    threads: int,
) -> tuple[npt.NDArray[np.bool_], ChainDiagnostics]:
    """Run chains and return the arcs of the structures drawn: (chains x kept) x n x n.

    `weights` are by descending weight. Of `n_steps` steps the first `n_before` are thrown away;
    of the others every so many give a structure, `n_kept` for each chain, or one for each step.
    """
    n, n_words = len(weights.names), weights.sets.shape[1]
    n_kept = min(n_kept, n_steps - n_before)
    between = (n_steps - n_before) // n_kept
    n_before = n_steps - between * n_kept
    n_draws = n_chains * n_kept
    need = f"{n_draws:,} structures of {n} variables"
    n_bytes = n_draws * n * (8.0 * n_words + 3.0 * n)
    require_memory(who, need, n_bytes, "keep fewer samples", option="keep fewer --samples")
    masks = np.empty((n_draws, n, n_words), np.uint64)
    log_dags, log_states = np.empty((n_chains, n_kept)), np.empty((n_chains, n_kept))
    accepted = np.empty(n_chains, np.int64)
    is_done = _core.run_chains(
        weights.native(),
        over_partitions,
        seed,
        n_before,
        between,
        threads,
        math.inf,
        masks.reshape(-1),
        log_dags,
        log_states,
        accepted,
    )
    assert is_done
    arcs = arcs_of_masks(masks, n)
    rate = float(accepted.sum()) / (n_chains * n_steps)
    found = diagnose(arcs.reshape(n_chains, n_kept, n, n), n_steps, rate)
    return arcs, found
