"""Markov chains over orders and over partitions, for more variables than sums can take.

Over orders (Friedman and Koller 2003) the chain draws from the posterior that is modular in the
order. Over ordered partitions (Kuipers and Moffa 2017) each DAG belongs to one state alone, and the
prior over DAGs is uniform. There steps from structure to structure help: an arc is turned around
and both ends get new parents (Grzegorczyk and Husmeier 2008), or three variables get new parents
at once (Goudie and Mukherjee 2016).
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.averaging.chains_apart import ChainsApart
from bestdag.averaging.deadline import Deadline
from bestdag.averaging.drawn_chains import Arcs, ChainRun, Chains, Ended
from bestdag.averaging.local_weights import LocalWeights
from bestdag.checkpoint import Checkpoint
from bestdag.machine import require_memory
from bestdag.wording import arg

__all__ = ["ChainRun", "Ended", "run_chains"]

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
    checkpoint: Checkpoint,
    executor: Executor | None = None,
) -> ChainRun:
    """Run chains until they agree, for so many steps, or until time is up or Ctrl-C.

    `weights` are by descending weight. Of `n_steps` steps the first `n_before` are thrown away, a
    fifth unless given; of the others every so many give a structure, `n_kept` for each chain, or
    one for each step. `with_paths` says that paths will be looked for, which takes time.
    Where the chains are, and what was drawn, is kept in `checkpoint`. An `executor` runs each
    chain as a task of its own; then those that are done are kept.
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
    crew: _Crew | ChainsApart
    if executor is None:
        crew = _Crew(weights, over_partitions, seed, n_chains, threads, until, checkpoint)
    else:
        crew = ChainsApart(weights, over_partitions, seed, n_chains, until, checkpoint, executor)
    with checkpoint.part(crew.name, crew.state) as saved:
        if saved is not None:
            crew.restore(saved)
        found = _run(crew, steps, between, n_kept, is_open=n_steps is None)
        if found.ended == "done" and crew.is_new:
            checkpoint.keep(now=True)
        return found


def _run(crew: Chains, steps: int, between: int, n_kept: int, *, is_open: bool) -> ChainRun:
    ended = crew.begin(steps - between * n_kept)
    if ended != "done":
        return crew.finish(crew.present(), ended)
    found, ended = crew.drawn(n_kept, between)
    for _ in range(1, _MOST_ROUNDS if is_open else 1):
        if ended != "done" or crew.diagnosed(found).is_mixed:
            break
        between *= 2
        later, ended = crew.drawn(n_kept, between)
        if later.shape[1] >= n_kept // 2:  # else what was drawn before is better
            found = later
    return crew.finish(found if found.shape[1] else crew.present(), ended)


class _Crew(Chains):
    """Native chains of this process."""

    name = "chains"

    def __init__(
        self,
        weights: LocalWeights,
        over_partitions: bool,
        seed: int,
        n_chains: int,
        threads: int,
        deadline: Deadline,
        checkpoint: Checkpoint,
    ) -> None:
        super().__init__(weights, n_chains, deadline)
        self._checkpoint = checkpoint
        # What was asked for is done in its order: what is done with, and how far the next thing is.
        self._done: list[_Masks] = []
        self._n_asked = 0
        self.is_new = False  # whether anything was drawn here
        self._n_steps = 0  # of the first ones
        self._drawn: _Masks | None = None
        self._chains = _core.Chains(weights.native(), over_partitions, seed, n_chains)
        self._threads = threads

    def begin(self, n_steps: int) -> Ended:
        """Take the steps that are thrown away, the first half hot and cooling down."""
        n_hot = n_steps // 2
        ended = self._settled(n_hot)
        if ended == "done" and n_steps > n_hot:
            _, ended = self.drawn(1, n_steps - n_hot)
        return ended

    def drawn(self, n_draws: int, between: int) -> tuple[Arcs, Ended]:
        """Draw so many structures of each chain, or what there is when time is up."""
        if (done := self._asked_before()) is not None:
            return self._arcs(done), "done"
        at_once = max(1, _STEPS_AT_ONCE // between)
        masks = self._room(0)[0] if self._drawn is None else self._drawn
        try:
            while masks.shape[1] < n_draws:
                self._drawn, self.is_new = masks, True
                self._checkpoint.keep()
                some, ended = self._drawn_at_once(min(at_once, n_draws - masks.shape[1]), between)
                masks = np.concatenate([masks, some], axis=1)
                if ended != "done":
                    return self._arcs(masks), ended
        except KeyboardInterrupt:  # between two calls
            return self._arcs(masks), "interrupted"
        self._drawn = None
        self._done.append(masks)
        return self._arcs(masks), "done"

    def _drawn_at_once(self, n_draws: int, between: int) -> tuple[_Masks, Ended]:
        masks, n_drawn = self._room(n_draws)
        flat = masks.reshape(-1)
        ended = self._tried(
            lambda seconds: self._chains.run(between, self._threads, seconds, flat, n_drawn)
        )
        return masks[:, : int(n_drawn.min())], ended

    def _settled(self, n_hot: int) -> Ended:
        """Take the hot steps, some at a time."""
        if self._asked_before() is not None:
            return "done"
        try:
            while self._n_steps < n_hot:
                self._checkpoint.keep()
                first, last = self._n_steps, min(n_hot, self._n_steps + _STEPS_AT_ONCE)
                ended = self._tried(partial(self._chains.settle, n_hot, first, last, self._threads))
                if ended != "done":
                    return ended
                self._n_steps = last
        except KeyboardInterrupt:  # between two calls
            return "interrupted"
        self._done.append(self._room(0)[0])
        return "done"

    def _asked_before(self) -> _Masks | None:
        """Return what a run that was kept has done in place of the next thing."""
        self._n_asked += 1
        return self._done[self._n_asked - 1] if self._n_asked <= len(self._done) else None

    def state(self) -> dict[str, Any]:
        """Return where the chains are and what was drawn, for `restore`."""
        return {
            "places": self._chains.places(),
            "done": list(self._done),
            "n_steps": self._n_steps,
            "drawn": self._drawn,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        self._chains.restore([tuple(place) for place in state["places"]])
        self._done = state["done"]
        self._n_steps, self._drawn = state["n_steps"], state["drawn"]

    def present(self) -> Arcs:
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
