"""Branch-and-cut-and-price: proven optima for tables too wide for dynamic programming."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Sequence
from fractions import Fraction
from math import fsum, inf, nextafter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestdag import _core
from bestdag.errors import GraphError, InvalidParameterError
from bestdag.machine import do_without, memory_left
from bestdag.scores.table import ScoreTable
from bestdag.search.exact.bnc.certificate import Certificate, Node
from bestdag.search.exact.bnc.relaxation import Relaxation, Sets
from bestdag.search.exact.bnc.tree import SearchTree, Stopped
from bestdag.search.exact.components import Interim, Solution
from bestdag.search.result import Status
from bestdag.search.steps import result_of

__all__ = ["BranchAndCut", "solve_bnc"]

_POLL_SECONDS = 0.05
# The tree ends, as after its last step, when less memory than this is left.
_LEAST_MEMORY = 32 << 20
# Iterated local search ends after this many rounds in a row without a better network ...
_PATIENCE = 100
_PATIENCE_PER_VARIABLE = 5
_ROUNDS_PER_CALL = 50
# ... fewer among more sets than these.
_SETS_OF_A_ROUND = 20_000


def solve_bnc(table: ScoreTable, **settings: Any) -> Solution:
    """Find the acyclic choice of parent sets with the highest score, and prove it.

    `settings` are those of `BranchAndCut`, whose steps this runs to their end.

    Examples
    --------
    >>> table = ScoreTable.from_lists(
    ...     ["a", "b"], {"a": [(-2.0, []), (-1.0, ["b"])], "b": [(-3.0, []), (-1.5, ["a"])]}
    ... )
    >>> result = solve_bnc(table, threads=1, deadline=None)
    >>> result.score, result.chosen, result.status
    (-3.5, (1, 0), 'optimum proved')
    """
    return BranchAndCut(table, **settings).run()


class BranchAndCut:
    """One run of branch and cut.

    Parameters
    ----------
    table : ScoreTable
        The candidate sets.
    threads : int, default 1
        For the linear programs of nodes that are worked on at once; nothing depends on it.
    deadline : float or None
        A `time.monotonic()` value to stop at.
    max_pivots : float, default inf
        Steps of the simplex method after which to stop, with status "step limit": a measure of
        work that does not depend on the machine. When memory runs out the status is the same.
    seed : int, default 0
        Of the local search that finds the first networks.
    incumbent : sequence of int or None
        A known network to start from: for each child the position of its set.
    nodes_at_once : int, default 1
        The search works in rounds of so many nodes.

    Raises
    ------
    GraphError
        When every choice of sets has a cycle.

    Notes
    -----
    A binary variable per set; cluster cuts (Jaakkola et al. 2010), their form for two (Cussens
    2011); columns and cuts are generated. Linear programs only advise: every bound is a Lagrangian
    one in whole numbers (see `relaxation`). Ctrl-C and the deadline end the
    steps with the best so far.
    """

    def __init__(
        self,
        table: ScoreTable,
        *,
        deadline: float | None = None,
        max_pivots: float = inf,
        seed: int = 0,
        incumbent: Sequence[int] | None = None,
        nodes_at_once: int = 1,
        threads: int = 1,
    ) -> None:
        self._n_lanes = nodes_at_once
        self._threads = threads
        self._start = time.monotonic()
        self._deadline = inf if deadline is None else deadline
        self._max_pivots = max_pivots
        self._status: Status = "optimum proved"
        self._stop = False
        self._error: BaseException | None = None
        self._finished = threading.Event()
        self._is_awaited = threading.Event()  # the work rests while nobody asks for more
        self._sets = Sets(table)
        sets = self._sets
        self._kernels = _core.BranchAndCutKernels(
            sets.begin, sets.costs, sets.offsets, sets.members, seed
        )
        if not self._kernels.is_feasible:
            raise GraphError("exact: every choice of parent sets in the table has a cycle")
        self._order = None if incumbent is None else _order_of(sets, incumbent)
        self._tree: SearchTree | None = None

    @property
    def n_cuts(self) -> int:
        """Cuts made."""
        return self._kernels.n_cuts

    @property
    def root_gap(self) -> float:
        """Nats between the incumbent and what the root of the tree proved."""
        tree = self._tree
        if tree is None:
            return 0.0
        return tree.relaxation.nats(max(0, tree.cutoff - tree.root_bound))

    def run(self) -> Solution:
        """Work to the end."""
        return result_of(self.steps())

    def steps(self) -> Generator[Interim, None, Solution]:
        """Work in another thread, and say a few times a second how far that is.

        The work rests between two steps that are asked for, so that a search may give it turns.

        "optimum proved" means that no acyclic choice scores more than ``score + resolution``; the
        resolution is about 1e-10 of the distance between the first network found and the sum of
        every child's best score. The certificate is checked by `certificate.verify`.
        """
        # This thread answers Ctrl-C. An interrupted Thread.join() forgets that its thread still
        # runs, an Event does not.
        worker = threading.Thread(target=self._work, name="bestdag-bnc", daemon=True)
        worker.start()
        try:
            while not self._finished.is_set():
                self._is_awaited.set()
                try:
                    left = self._deadline - time.monotonic()
                    if left <= 0:
                        self._end("time limit")
                    elif memory_left() < _LEAST_MEMORY:
                        do_without("bnc", "branch-and-cut ended early")
                        self._end("step limit")
                    self._finished.wait(min(_POLL_SECONDS, left) if left > 0 else _POLL_SECONDS)
                    if not self._finished.is_set():
                        self._is_awaited.clear()
                        yield self._interim()
                except KeyboardInterrupt:
                    self._end("interrupted")
        finally:
            if not self._finished.is_set():  # nobody asks for more
                self._end("interrupted")
                self._finished.wait()
        worker.join()
        if self._error is not None:
            raise self._error
        return self._report()

    def _interim(self) -> Interim:
        choice, score, bound = self._known()
        return Interim(bound, score, tuple((choice - self._sets.begin[:-1]).tolist()))

    def _end(self, status: Status) -> None:
        if not self._stop:
            self._status = status
        self._stop = True
        self._kernels.stop()
        self._is_awaited.set()

    def _should_stop(self) -> bool:
        """Rest while nobody waits; then say whether to stop."""
        self._is_awaited.wait()
        return self._stop

    def _work(self) -> None:
        try:
            self._first_networks()
            cost = float(self._sets.costs[self._kernels.best()].sum())
            if cost > 0 and not self._stop:
                self._search(Relaxation(self._sets, self._kernels, cost))
        except Stopped:
            if not self._stop:
                self._status = "step limit"
        except BaseException as error:  # handed to the caller's thread
            self._error = error
        finally:
            self._finished.set()

    def _search(self, relaxation: Relaxation) -> None:
        tree = SearchTree(
            self._sets,
            self._kernels,
            relaxation,
            self._should_stop,
            self._max_pivots,
            self._n_lanes,
            self._threads,
        )
        tree.begin()
        self._tree = tree
        tree.run()

    def _first_networks(self) -> None:
        n = self._sets.n
        self._kernels.descend_from(list(range(n)) if self._order is None else self._order)
        # Among many sets a round takes long; what is known to begin with is good already.
        share = min(1.0, _SETS_OF_A_ROUND / len(self._sets))
        patience = share * (_PATIENCE + _PATIENCE_PER_VARIABLE * n)
        rounds = max(1, int(share * _ROUNDS_PER_CALL))
        idle = 0
        while idle < patience and not self._should_stop():
            if not float(self._sets.costs[self._kernels.best()].sum()) > 0:
                break
            idle = 0 if self._kernels.improve(rounds) else idle + rounds

    def _known(self) -> tuple[NDArray[np.int64], float, float]:
        """Return the best choice so far, its score, and the bound."""
        sets, tree = self._sets, self._tree
        choice = self._kernels.best() if tree is None else tree.choice
        score = fsum(sets.scores[choice].tolist())
        total = sum(map(Fraction, sets.scores[sets.begin[:-1]].tolist()))
        if tree is not None:
            total -= tree.bound * Fraction(2) ** tree.relaxation.exponent
        bound = float(total)
        if Fraction(bound) < total:
            bound = nextafter(bound, inf)
        return choice, score, max(score, bound)

    def _report(self) -> Solution:
        tree = self._tree
        choice, score, bound = self._known()
        is_trivial = tree is None and not float(self._sets.costs[choice].sum()) > 0
        is_proved = is_trivial or (tree is not None and tree.is_done)
        status: Status = "optimum proved" if is_proved else self._status
        bound = score if is_proved else bound
        resolution = 0.0 if tree is None else tree.resolution
        chosen = tuple((choice - self._sets.begin[:-1]).tolist())
        claim = {"parents": chosen, "score": score, "resolution": resolution, "bound": bound}
        if tree is None:
            certificate = Certificate.of_tree([Node()], [], 0, **claim)
        else:
            certificate = tree.certificate(**claim)
        return Solution(
            chosen=chosen,
            score=score,
            bound=bound,
            status=status,
            resolution=resolution,
            engines=("bnc",),
            proofs=(certificate,),
            n_nodes=0 if tree is None else tree.processed,
            seconds=time.monotonic() - self._start,
        )


def _order_of(sets: Sets, incumbent: Sequence[int]) -> list[int]:
    """Parents first; refuses what is not an acyclic choice."""
    counts = np.diff(sets.begin)
    if len(incumbent) != sets.n or any(
        not 0 <= k < c for k, c in zip(incumbent, counts.tolist(), strict=True)
    ):
        raise InvalidParameterError("bnc: incumbent needs the position of one set for each child")
    parents = [set(sets.parents(int(b) + k)) for b, k in zip(sets.begin, incumbent, strict=False)]
    order: list[int] = []
    while len(order) < sets.n:
        placed = set(order)
        ready = [v for v in range(sets.n) if v not in placed and parents[v] <= placed]
        if not ready:
            raise GraphError("bnc: the incumbent has a cycle")
        order.extend(ready)
    return order
