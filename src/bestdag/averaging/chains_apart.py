"""Markov chains that others run, a task for each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.averaging.deadline import Deadline
from bestdag.averaging.drawn_chains import Arcs, Chains, Ended
from bestdag.averaging.local_weights import LocalWeights
from bestdag.checkpoint import Checkpoint
from bestdag.workers import run_all

__all__ = ["ChainsApart"]


class ChainsApart(Chains):
    """Chains of an executor: a task takes all steps again that went before.

    A chain is a function of the seed and its number, so that what is drawn is the same. Chains
    that are done are kept, round by round.
    """

    name = "chains apart"

    def __init__(
        self,
        weights: LocalWeights,
        over_partitions: bool,
        seed: int,
        n_chains: int,
        deadline: Deadline,
        checkpoint: Checkpoint,
        executor: Executor,
    ) -> None:
        super().__init__(weights, n_chains, deadline)
        self._checkpoint = checkpoint
        self._executor = executor
        self._weights = weights
        self._how = over_partitions, seed
        self._n_hot = 0
        self._rounds: list[tuple[int, int]] = []  # draws, and steps between them
        self._counts = 0, 0
        self._done: list[dict[int, _OneChain]] = []  # of each round
        self._n_asked = 0
        self.is_new = False  # whether any chain was run here

    def begin(self, n_steps: int) -> Ended:
        """Remember the steps that are thrown away."""
        self._n_hot = n_steps // 2
        if n_steps > self._n_hot:
            self._rounds.append((1, n_steps - self._n_hot))
        return "done"

    def drawn(self, n_draws: int, between: int) -> tuple[Arcs, Ended]:
        """Draw so many structures of each chain, or what there is when time is up."""
        self._rounds.append((n_draws, between))
        self._n_asked += 1
        if len(self._done) < self._n_asked:
            self._done.append({})
        return self._run(self._done[self._n_asked - 1])

    def _run(self, done: dict[int, _OneChain]) -> tuple[Arcs, Ended]:
        """Run the chains that are not done."""
        work = partial(
            _chain_apart,
            weights=self._weights,
            over_partitions=self._how[0],
            seed=self._how[1],
            n_hot=self._n_hot,
            rounds=tuple(self._rounds),
            seconds=self._deadline.seconds_left,
        )
        left = [number for number in range(self._n_chains) if number not in done]

        def take(place: int, chain: _OneChain) -> None:
            self.is_new = True
            if chain.is_done:
                done[left[place]] = chain
                self._checkpoint.keep(now=True)  # it may have taken hours

        found = {}
        if left:
            ran = run_all(
                work,
                left,
                threads=None,
                who="posterior",
                executor=self._executor,
                on_answer=take,
            )
            found = dict(zip(left, ran, strict=True))
        chains = [one for _, one in sorted({**done, **found}.items())]
        self._counts = sum(one.n_steps for one in chains), sum(one.n_moved for one in chains)
        n_drawn = min(len(one.masks) for one in chains)
        masks = np.stack([one.masks[:n_drawn] for one in chains])
        in_time = all(one.is_done for one in chains)
        return self._arcs(masks), "done" if in_time else "time limit"

    def present(self) -> Arcs:
        """Draw one structure of each chain, where there was no time for more."""
        self._n_hot, self._rounds = 0, [(1, 1)]
        self._deadline = Deadline("posterior", None)
        return self._run({})[0]

    def counts(self) -> tuple[int, int]:
        """Return the steps of all chains, and those that led elsewhere."""
        return self._counts

    def state(self) -> list[dict[int, Any]]:
        """Return the chains that are done, for `restore`."""
        return [
            {number: [one.masks, one.n_steps, one.n_moved] for number, one in done.items()}
            for done in self._done
        ]

    def restore(self, state: Sequence[Mapping[str, Any]]) -> None:
        """Take these for done."""
        self._done = [
            {int(number): _OneChain(one[0], one[1], one[2], True) for number, one in done.items()}
            for done in state
        ]


@dataclass(frozen=True, slots=True)
class _OneChain:
    """What one chain gave: its draws of the last round, variables x words each."""

    masks: npt.NDArray[np.uint64]
    n_steps: int
    n_moved: int
    is_done: bool


def _chain_apart(
    number: int,
    threads: int,
    *,
    weights: LocalWeights,
    over_partitions: bool,
    seed: int,
    n_hot: int,
    rounds: Sequence[tuple[int, int]],
    seconds: float,
) -> _OneChain:
    deadline = Deadline("posterior", None if math.isinf(seconds) else max(seconds, 1e-3))
    chain = _core.Chains(weights.native(), over_partitions, seed, 1, first=number)
    shape = len(weights.names), weights.sets.shape[1]
    masks, n_drawn = np.zeros((0, *shape), np.uint64), np.zeros(1, np.int64)
    is_done = chain.settle(n_hot, 0, n_hot, threads, deadline.seconds_left)
    for n_draws, between in rounds if is_done else ():
        masks = np.zeros((n_draws, *shape), np.uint64)
        left = deadline.seconds_left
        is_done = chain.run(between, threads, left, masks.reshape(-1), n_drawn)
        if not is_done:
            break
    return _OneChain(masks[: int(n_drawn[0])], *chain.counts(), is_done)
