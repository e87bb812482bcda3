"""The native search over orders with grown parents, for one scorer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.machine import memory_left
from bestdag.scores.local_scores import LocalScores
from bestdag.scores.prior import SparsePrior, UniformPrior
from bestdag.search.order.candidates import Limits
from bestdag.search.ties import tie_width

__all__ = ["crew_bytes", "new_crew", "prior_sums"]

# Bytes of scores that are kept, and of the memory there is; when there are more, they are forgotten
# and scored again.
_MAX_BYTES, _SHARE_FOR_SCORES = 1 << 29, 0.25

# What a prior adds, by arcs and by children.
PriorSums = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]


def new_crew(
    scorer: LocalScores,
    prior: PriorSums | None,
    limits: Limits,
    before: Sequence[tuple[int, int]],
    seed: int,
    chains: int,
    score: float,
    max_bytes: float,
) -> _core.OrderCrew:
    """Set up the native search; `score` says how large scores are, and so which are equal.

    Without `prior` families are scored in Python.
    """
    n = len(limits.max_parents)
    allowed = limits.allowed & (limits.max_parents > 0)
    candidates = [np.flatnonzero(column).astype(np.int32) for column in allowed.T]
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum([len(group) for group in candidates], out=offsets[1:])
    arcs, bases = (np.zeros((n, n)), np.zeros(n)) if prior is None else prior
    native = None if prior is None else scorer.native
    return _core.OrderCrew(
        native.change_source if native else partial(_score_in_python, scorer),
        offsets,
        np.concatenate([np.empty(0, np.int32), *candidates]),
        limits.required.T[allowed.T].astype(np.uint8),
        arcs.T[allowed.T],
        bases,
        limits.max_parents,
        before=[*((p, c) for p, c in np.argwhere(limits.required).tolist()), *before],
        tie=tie_width(score),
        n_rows=float(scorer.n_rows),
        seed=seed % 2**64,
        n_lanes=chains,
        max_bytes=max_bytes,
    )


def crew_bytes() -> float:
    """Say how many bytes of scores are kept."""
    return min(_MAX_BYTES, _SHARE_FOR_SCORES * memory_left())


def _score_in_python(
    scorer: LocalScores, child: int, parents: list[int], candidates: list[int]
) -> npt.NDArray[np.float64]:
    wanted = np.array(candidates, np.int32)
    return scorer.numbered_changes([(child, parents)], [wanted])[0]


def prior_sums(scorer: LocalScores) -> PriorSums | None:
    """Return what a prior adds; None when it is no finite sum, or no native score adds to it."""
    if scorer.native is None:
        return None
    names = list(scorer.names)
    n = len(names)
    prior: Any = scorer.structure_prior
    if prior is None or isinstance(prior, UniformPrior):
        return np.zeros((n, n)), np.zeros(n)
    if isinstance(prior, SparsePrior):
        sums = np.full((n, n), prior.per_arc)
        np.fill_diagonal(sums, 0.0)
        return sums, np.zeros(n)
    if not hasattr(prior, "arc"):
        return None
    arcs = np.array([[0.0 if p == c else prior.arc(p, c) for c in names] for p in names])
    bases = np.array([prior.family(c, frozenset()) for c in names])
    return (arcs, bases) if np.isfinite(arcs).all() and np.isfinite(bases).all() else None
