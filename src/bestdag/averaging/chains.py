"""Markov chains over orders and over partitions, for more variables than sums can take.

Over orders (Friedman and Koller 2003) the chain draws from the posterior that is modular in the
order. Over ordered partitions (Kuipers and Moffa 2017) each DAG belongs to one state alone, and the
prior over DAGs is uniform. There steps from structure to structure help: an arc is turned around
and both ends get new parents (Grzegorczyk and Husmeier 2008), or three variables get new parents
at once (Goudie and Mukherjee 2016).

Chains run in this process, or an executor runs each as a task of its own. A chain is a function of
the seed and its number, so that what is drawn is the same.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.averaging.deadline import Deadline
from bestdag.averaging.diagnostics import ChainDiagnostics, diagnose
from bestdag.averaging.draws import arcs_of_masks
from bestdag.averaging.local_weights import LocalWeights
from bestdag.checkpoint import RunState
from bestdag.machine import require_memory
from bestdag.wording import arg
from bestdag.workers import run_all

__all__ = ["ChainRun", "Ended", "run_chains"]

Ended = Literal["done", "time limit", "interrupted"]
_Arcs = npt.NDArray[np.bool_]
_Masks = npt.NDArray[np.uint64]

# Unless the number of steps is given: the first round, and how often twice as many follow where
# the chains do not agree yet, all that went before being thrown away.
_FIRST_STEPS = 20_000
_MOST_ROUNDS = 5
# Of each chain, before the state is kept if that is due.
_STEPS_AT_ONCE = 2_000
# Of each arc of each structure that is drawn, compared and counted; and of a chain.
_BYTES_PER_ARC, _BYTES_PER_CHAIN = 18.0, 2e6
# What is done with the draws when the chains have ended takes so long for each arc of each.
_SECONDS_PER_ARC = 2.5e-8


def run_chains(
    who: str,
    weights: LocalWeights,
    *,
    over_partitions: bool,
    n_chains: int,
    n_steps: int | None,
    n_before: int | None,
    n_kept: int,
    with_paths: bool,
    seed: int,
    threads: int,
    deadline: Deadline,
    state: RunState,
    executor: Executor | None = None,
) -> ChainRun:
    """Run chains until they agree, for so many steps, or until time is up or Ctrl-C.

    `weights` are by descending weight. Of `n_steps` steps the first `n_before` are thrown away, a
    fifth unless given; of the others every so many give a structure, `n_kept` for each chain, or
    one for each step. `with_paths` says that paths will be looked for, which takes time.
    Where the chains are, and what was drawn, is kept in `state`. An `executor` runs each
    chain as a task of its own; then finished chains are saved.
    """
    steps = _FIRST_STEPS if n_steps is None else n_steps
    before = steps // 5 if n_before is None else min(n_before, steps - 1)
    n_kept = min(n_kept, steps - before)
    between = (steps - before) // n_kept
    n, n_words = len(weights.names), weights.sets.shape[1]
    n_draws = n_chains * n_kept
    need = f"{n_draws:,} structures of {n} variables"
    n_bytes = n_draws * n * (8.0 * n_words + _BYTES_PER_ARC * n) + _BYTES_PER_CHAIN * n_chains
    require_memory(who, need, n_bytes, f"lower {arg('samples')}")
    spare = _SECONDS_PER_ARC * n_draws * n * n * (1 + n // 10 if with_paths else 1)
    until = deadline.earlier(spare)
    chains: _Chains
    if executor is None:
        chains = _NativeChains(weights, over_partitions, seed, n_chains, threads, until, state)
    else:
        chains = _ChainsElsewhere(weights, over_partitions, seed, n_chains, until, state, executor)
    run = _run(chains, steps, between, n_kept, is_open=n_steps is None)
    if run.ended == "done" and chains.is_new:
        state.keep(now=True)
    return run


def _run(chains: _Chains, steps: int, between: int, n_kept: int, *, is_open: bool) -> ChainRun:
    ended = chains.begin(steps - between * n_kept)
    if ended != "done":
        return chains.finish(chains.present(), ended)
    draws, ended = chains.drawn(n_kept, between)
    for _ in range(1, _MOST_ROUNDS if is_open else 1):
        if ended != "done" or chains.diagnosed(draws).is_mixed:
            break
        between *= 2
        later, ended = chains.drawn(n_kept, between)
        if later.shape[1] >= n_kept // 2:  # else what was drawn before is better
            draws = later
    return chains.finish(draws if draws.shape[1] else chains.present(), ended)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainRun:
    """What chains gave: the arcs of structures, (chains x kept) x n x n, and whether they agree."""

    arcs: _Arcs
    diagnostics: ChainDiagnostics
    ended: Ended


class _Chains(ABC):
    """What is drawn of some chains: chains x draws x n x n."""

    def __init__(self, weights: LocalWeights, n_chains: int, deadline: Deadline) -> None:
        self._shape = len(weights.names), weights.sets.shape[1]
        self._n_chains = n_chains
        self._deadline = deadline
        self.is_new = False  # whether anything was drawn here

    @abstractmethod
    def begin(self, n_steps: int) -> Ended:
        """Take the steps that are thrown away, the first half hot and cooling down."""

    @abstractmethod
    def drawn(self, n_draws: int, between: int) -> tuple[_Arcs, Ended]:
        """Draw so many structures of each chain, or what there is when time is up."""

    @abstractmethod
    def present(self) -> _Arcs:
        """Draw one structure of each chain where it is now."""

    @abstractmethod
    def counts(self) -> tuple[int, int]:
        """Return the steps of all chains, and those that led elsewhere."""

    def diagnosed(self, arcs: _Arcs) -> ChainDiagnostics:
        """Compare the chains."""
        n_steps, n_moved = self.counts()
        return diagnose(arcs, n_steps // self._n_chains, n_moved / max(1, n_steps))

    def finish(self, arcs: _Arcs, ended: Ended) -> ChainRun:
        """Return what was drawn, chain after chain."""
        n = self._shape[0]
        return ChainRun(arcs=arcs.reshape(-1, n, n), diagnostics=self.diagnosed(arcs), ended=ended)

    def _arcs(self, masks: npt.NDArray[np.uint64]) -> _Arcs:
        n, n_words = self._shape
        arcs = arcs_of_masks(masks.reshape(-1, n, n_words), n)
        return arcs.reshape(self._n_chains, -1, n, n)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where native chains are, and what they have drawn."""

    chains: list[tuple[list[list[int]], bool, float, int, int, int]]
    done: tuple[_Masks, ...]
    n_steps: int
    drawn: _Masks | None


class _NativeChains(_Chains):
    """Chains of this process."""

    def __init__(
        self,
        weights: LocalWeights,
        over_partitions: bool,
        seed: int,
        n_chains: int,
        threads: int,
        deadline: Deadline,
        state: RunState,
    ) -> None:
        super().__init__(weights, n_chains, deadline)
        self._state = state
        # Requests are worked off in order: the draws of finished ones, and how far the next one is.
        self._done: list[_Masks] = []
        self._n_requests = 0
        self._n_steps = 0  # of the first ones
        self._drawn: _Masks | None = None
        self._chains = _core.Chains(weights.native(), over_partitions, seed, n_chains)
        self._threads = threads
        place = state.get("chains", _Place)
        if place is not None:
            self._chains.restore(place.chains)
            self._done = list(place.done)
            self._n_steps, self._drawn = place.n_steps, place.drawn

    def begin(self, n_steps: int) -> Ended:
        """Take the steps that are thrown away, the first half hot and cooling down."""
        n_hot = n_steps // 2
        ended = self._hot_steps(n_hot)
        if ended == "done" and n_steps > n_hot:
            _, ended = self.drawn(1, n_steps - n_hot)
        return ended

    def drawn(self, n_draws: int, between: int) -> tuple[_Arcs, Ended]:
        """Draw so many structures of each chain, or what there is when time is up."""
        if (done := self._done_before()) is not None:
            return self._arcs(done), "done"
        at_once = max(1, _STEPS_AT_ONCE // between)
        masks = self._room(0)[0] if self._drawn is None else self._drawn
        try:
            while masks.shape[1] < n_draws:
                self._drawn, self.is_new = masks, True
                self._keep()
                some, ended = self._drawn_at_once(min(at_once, n_draws - masks.shape[1]), between)
                masks = np.concatenate([masks, some], axis=1)
                if ended != "done":
                    return self._arcs(masks), ended
        except KeyboardInterrupt:  # between two calls
            return self._arcs(masks), "interrupted"
        self._drawn = None
        self._done.append(masks)
        self._put()
        return self._arcs(masks), "done"

    def _drawn_at_once(self, n_draws: int, between: int) -> tuple[_Masks, Ended]:
        masks, n_drawn = self._room(n_draws)
        flat = masks.reshape(-1)
        ended = self._tried(
            lambda seconds: self._chains.run(between, self._threads, seconds, flat, n_drawn)
        )
        return masks[:, : int(n_drawn.min())], ended

    def _hot_steps(self, n_hot: int) -> Ended:
        """Take the hot steps, some at a time."""
        if self._done_before() is not None:
            return "done"
        try:
            while self._n_steps < n_hot:
                self._keep()
                first, last = self._n_steps, min(n_hot, self._n_steps + _STEPS_AT_ONCE)
                ended = self._tried(partial(self._chains.settle, n_hot, first, last, self._threads))
                if ended != "done":
                    return ended
                self._n_steps = last
        except KeyboardInterrupt:  # between two calls
            return "interrupted"
        self._done.append(self._room(0)[0])
        return "done"

    def _done_before(self) -> _Masks | None:
        """Return the draws of the next request if a resumed run already has them."""
        self._n_requests += 1
        return self._done[self._n_requests - 1] if self._n_requests <= len(self._done) else None

    def _keep(self) -> None:
        """Write where the chains are and what was drawn, when it is time."""
        if self._state.is_due:
            self._put()
            self._state.keep()

    def _put(self) -> None:
        places = self._chains.places()
        self._state.put("chains", _Place(places, tuple(self._done), self._n_steps, self._drawn))

    def present(self) -> _Arcs:
        """Draw one structure of each chain where it is now."""
        masks, n_drawn = self._room(1)
        self._chains.run(1, self._threads, float("inf"), masks.reshape(-1), n_drawn)
        return self._arcs(masks)

    def counts(self) -> tuple[int, int]:
        """Return the steps of all chains, and those that led elsewhere."""
        return self._chains.counts()

    def _room(self, n_draws: int) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
        masks = np.zeros((self._n_chains, n_draws, *self._shape), np.uint64)
        return masks, np.zeros(self._n_chains, np.int64)

    def _tried(self, work: Callable[[float], bool]) -> Ended:
        seconds = self._deadline.seconds_left
        if seconds == 0.0:  # a short call would end before native code looks at the clock
            return "time limit"
        try:
            return "done" if work(seconds) else "time limit"
        except KeyboardInterrupt:
            return "interrupted"


class _ChainsElsewhere(_Chains):
    """Chains of an executor: a task takes all steps again that went before.

    Chains that are done are kept, round by round.
    """

    def __init__(
        self,
        weights: LocalWeights,
        over_partitions: bool,
        seed: int,
        n_chains: int,
        deadline: Deadline,
        state: RunState,
        executor: Executor,
    ) -> None:
        super().__init__(weights, n_chains, deadline)
        self._state = state
        self._executor = executor
        self._weights = weights
        self._how = over_partitions, seed
        self._n_hot = 0
        self._rounds: list[tuple[int, int]] = []  # draws, and steps between them
        self._counts = 0, 0

    def begin(self, n_steps: int) -> Ended:
        """Remember the steps that are thrown away."""
        self._n_hot = n_steps // 2
        if n_steps > self._n_hot:
            self._rounds.append((1, n_steps - self._n_hot))
        return "done"

    def drawn(self, n_draws: int, between: int) -> tuple[_Arcs, Ended]:
        """Draw so many structures of each chain, or what there is when time is up."""
        self._rounds.append((n_draws, between))
        return self._run(f"round {len(self._rounds)} of chain")

    def _run(self, name: str) -> tuple[_Arcs, Ended]:
        """Run the chains that are not done."""
        work = partial(
            _one_chain,
            weights=self._weights,
            over_partitions=self._how[0],
            seed=self._how[1],
            n_hot=self._n_hot,
            rounds=tuple(self._rounds),
            seconds=self._deadline.seconds_left,
        )
        done = {
            number: chain
            for number in range(self._n_chains)
            if (chain := self._state.get(f"{name} {number}", _OneChain)) is not None
        }
        left = [number for number in range(self._n_chains) if number not in done]

        def take(place: int, chain: _OneChain) -> None:
            self.is_new = True
            if chain.is_done:
                self._state.put(f"{name} {left[place]}", chain)
                self._state.keep(now=True)  # it may have taken hours

        new = {}
        if left:
            ran = run_all(
                work,
                left,
                threads=None,
                who="posterior",
                executor=self._executor,
                on_answer=take,
            )
            new = dict(zip(left, ran, strict=True))
        chains = [one for _, one in sorted({**done, **new}.items())]
        self._counts = sum(one.n_steps for one in chains), sum(one.n_moved for one in chains)
        n_drawn = min(len(one.masks) for one in chains)
        masks = np.stack([one.masks[:n_drawn] for one in chains])
        in_time = all(one.is_done for one in chains)
        return self._arcs(masks), "done" if in_time else "time limit"

    def present(self) -> _Arcs:
        """Draw one structure of each chain, where there was no time for more."""
        self._n_hot, self._rounds = 0, [(1, 1)]
        self._deadline = Deadline("posterior", None)
        return self._run("present of chain")[0]

    def counts(self) -> tuple[int, int]:
        """Return the steps of all chains, and those that led elsewhere."""
        return self._counts


@dataclass(frozen=True, slots=True)
class _OneChain:
    """What one chain gave: its draws of the last round, variables x words each."""

    masks: npt.NDArray[np.uint64]
    n_steps: int
    n_moved: int
    is_done: bool


def _one_chain(
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
