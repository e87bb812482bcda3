"""What is drawn of Markov chains, whoever runs them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from bestdag.averaging.deadline import Deadline
from bestdag.averaging.diagnostics import ChainDiagnostics, diagnose
from bestdag.averaging.draws import arcs_of_masks
from bestdag.averaging.local_weights import LocalWeights

__all__ = ["Arcs", "ChainRun", "Chains", "Ended"]

Ended = Literal["done", "time limit", "interrupted"]
Arcs = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainRun:
    """What chains gave: the arcs of structures, (chains x kept) x n x n, and whether they agree."""

    arcs: Arcs
    diagnostics: ChainDiagnostics
    ended: Ended


class Chains(ABC):
    """What is drawn of some chains: chains x draws x n x n."""

    def __init__(self, weights: LocalWeights, n_chains: int, deadline: Deadline) -> None:
        self._shape = len(weights.names), weights.sets.shape[1]
        self._n_chains = n_chains
        self._deadline = deadline

    @abstractmethod
    def begin(self, n_steps: int) -> Ended:
        """Take the steps that are thrown away, the first half hot and cooling down."""

    @abstractmethod
    def drawn(self, n_draws: int, between: int) -> tuple[Arcs, Ended]:
        """Draw so many structures of each chain, or what there is when time is up."""

    @abstractmethod
    def present(self) -> Arcs:
        """Draw one structure of each chain where it is now."""

    @abstractmethod
    def counts(self) -> tuple[int, int]:
        """Return the steps of all chains, and those that led elsewhere."""

    def diagnosed(self, arcs: Arcs) -> ChainDiagnostics:
        """Compare the chains."""
        n_steps, n_moved = self.counts()
        return diagnose(arcs, n_steps // self._n_chains, n_moved / max(1, n_steps))

    def finish(self, arcs: Arcs, ended: Ended) -> ChainRun:
        """Return what was drawn, chain after chain."""
        n = self._shape[0]
        return ChainRun(arcs=arcs.reshape(-1, n, n), diagnostics=self.diagnosed(arcs), ended=ended)

    def _arcs(self, masks: npt.NDArray[np.uint64]) -> Arcs:
        n, n_words = self._shape
        arcs = arcs_of_masks(masks.reshape(-1, n, n_words), n)
        return arcs.reshape(self._n_chains, -1, n, n)
