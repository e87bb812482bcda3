"""Branch, cut and price: the search that `bnc` runs in its worker thread."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from math import inf

import numpy as np
from numpy.typing import NDArray

from bestdag import _core
from bestdag.search.exact.bnc.branch_choice import ArcSets, Brancher
from bestdag.search.exact.bnc.certificate import Certificate, Multipliers, Node
from bestdag.search.exact.bnc.master import LpSolution, Master, Separator, Solving
from bestdag.search.exact.bnc.relaxation import LP_BITS, Cut, Pricing, Relaxation, Sets

__all__ = ["SearchTree", "Stopped", "closed_by"]

_RESOLUTION_UNITS = 28147  # 1e-10 of the first incumbent's cost, which is about 2^48 units
_COLUMNS_PER_CHILD = 12
_IDLE_AT_ROOT, _IDLE_BELOW = 4, 10  # solves before a cut leaves the program


class Stopped(Exception):  # noqa: N818 (not an error)
    """The caller asked to stop."""


@dataclass(order=True)
class OpenNode:
    """A node that is yet to be worked on, or is worked on at present."""

    bound: int
    number: int  # position in the certificate, and the tie-break
    allowed: NDArray[np.bool_] = field(compare=False)
    required: tuple[tuple[int, int], ...] = field(compare=False)
    best: NDArray[np.int64] | None = field(compare=False, default=None)  # proved `bound`, if here
    cuts: tuple[int, ...] = field(compare=False, default=())  # that proved it above


@dataclass(slots=True)
class Lane:
    """A linear program, and the node that it is for at present."""

    master: Master
    node: OpenNode | None = None


class SearchTree:
    """State of one search. `run` works; `choice` and `bound` may be read from another thread.

    It works in rounds: each of some lanes, which have linear programs of their own, works on a
    node, and goes on with one of its children in the next round or takes another open one. What
    lanes do in turn, between linear programs, they do in their order, so that the search is the
    same for any number of threads, which solve the programs of several lanes at once.
    """

    def __init__(
        self,
        sets: Sets,
        kernels: _core.BranchAndCutKernels,
        relaxation: Relaxation,
        should_stop: Callable[[], bool],
        max_pivots: float = inf,
        n_lanes: int = 1,
        threads: int = 1,
    ) -> None:
        self.sets = sets
        self.kernels = kernels
        self.relaxation = relaxation
        self._should_stop = should_stop
        self._max_pivots = max_pivots
        self._earlier_pivots = 0  # of a program that is gone
        self._arcs = ArcSets(sets)
        self._n_lanes = n_lanes
        self._threads = threads
        self._lanes = [Lane(self._new_master())]
        self._brancher = Brancher(sets, self._arcs)
        self.choice = kernels.best()
        self.nodes: list[Node] = [Node()]
        self._heap = [OpenNode(0, 0, np.ones(len(sets), dtype=bool), ())]
        self.processed = 0
        self.root_bound = 0
        self._separator = Separator(sets, kernels, relaxation)
        # Units below which no choice is, unless within the resolution of the incumbent.
        self.bound = 0
        self.is_done = False

    # What is known --------------------------------------------------------------------------

    @property
    def cutoff(self) -> int:
        """Units from which on a node holds nothing better than the incumbent by the resolution."""
        return self.relaxation.cost_units(self.choice) - _RESOLUTION_UNITS

    @property
    def resolution(self) -> float:
        """What a proof can miss, in nats."""
        return self.relaxation.nats(_RESOLUTION_UNITS + self.relaxation.rounding)

    # The search -----------------------------------------------------------------------------

    def run(self) -> None:
        """Search until the proof is done; raises `Stopped` when asked to stop."""
        while self._fill_lanes():
            self._publish()
            self._round([lane for lane in self._lanes if lane.node is not None])
        self.bound = max(self.bound, self.cutoff)
        self.is_done = True

    def _fill_lanes(self) -> bool:
        """Give an open node to each lane that has none; False when none is left."""
        while self._heap and self.processed and len(self._lanes) < self._n_lanes:
            self._lanes.append(Lane(self._copy_of(self._lanes[0].master)))
        for lane in self._lanes:
            if lane.node is None and self._heap:
                lane.node = heapq.heappop(self._heap)
        return any(lane.node is not None for lane in self._lanes)

    def _round(self, lanes: Sequence[Lane]) -> None:
        """Work on the nodes of lanes until all are done with; each may have a child then."""
        children = _solve_together([self._process(lane) for lane in lanes], self._threads)
        for lane, child in zip(lanes, children, strict=True):
            lane.node = child

    def _publish(self) -> None:
        bounds = [lane.node.bound for lane in self._lanes if lane.node is not None]
        bounds += [node.bound for node in self._heap[:1]]
        self.bound = max(self.bound, min([*bounds, self.cutoff]))

    def begin(self) -> None:
        """Put the first sets into the program of the root."""
        begin = self.sets.begin
        first = [np.arange(b, min(b + 5, e)) for b, e in itertools.pairwise(begin.tolist())]
        chosen = np.concatenate([*first, self.choice, np.maximum(begin[1:] - 1, 0)])
        self._lanes[0].master.add_columns(np.unique(chosen).astype(np.int64))

    @property
    def has_pivots_left(self) -> bool:
        """Whether the simplex method may go on."""
        pivots = sum(lane.master.pivots for lane in self._lanes)
        return self._earlier_pivots + pivots < self._max_pivots

    def _check(self) -> None:
        if self._should_stop() or not self.has_pivots_left:
            raise Stopped

    def _process(self, lane: Lane) -> Solving[OpenNode | None]:
        """Work on a node; returns the child to go on with, for which the basis is at hand."""
        node = lane.node
        assert node is not None
        self._check()
        is_root = node.number == 0
        self.processed += 1
        if node.bound >= self.cutoff:
            return None
        solution = yield from self._tighten(lane, node, is_root)
        if is_root:
            self.root_bound = node.bound
        if node.bound >= self.cutoff:
            return None
        if is_root:
            solution = (yield from self._start_again(lane, node)) or solution
        arc = None
        if solution is not None:
            room = float(np.ldexp(float(self.cutoff - node.bound), -LP_BITS))
            arc = yield from self._brancher.choose(lane.master, solution, node.allowed, room)
            self._check()
        arc = arc or self._any_arc(node.allowed)
        if arc is None:
            self._close(node)
            return None
        return self._branch(node, arc)

    def _start_again(self, lane: Lane, root: OpenNode) -> Solving[LpSolution | None]:
        """Make a smaller program for the tree, without what the root has done with."""
        old = lane.master
        self._earlier_pivots += old.pivots
        lane.master = master = self._new_master()
        master.add_columns(old.columns[root.allowed[old.columns]])
        master.add_cuts(
            [c for c, idle in zip(old.cuts, old.idle.tolist(), strict=True) if idle < 2]
        )
        objective = yield master.solve
        return None if objective is None else master.solution(objective)

    def _copy_of(self, old: Master) -> Master:
        master = self._new_master()
        master.add_columns(old.columns)
        master.add_cuts(old.cuts)
        return master

    def _new_master(self) -> Master:
        return Master(self.relaxation, self._should_stop)

    def _tighten(self, lane: Lane, node: OpenNode, is_root: bool) -> Solving[LpSolution | None]:
        """Solve, price and cut until the node is done with or cuts stop helping."""
        try:
            solution = yield from self._rounds(lane, node, is_root)
        except Stopped:
            if node.best is not None:
                self._record(node, node.best)
            raise
        if node.best is not None:
            if node.bound >= self.cutoff:
                self._record(node, node.best)
            else:
                self._fix(lane, self.relaxation.price(node.best, node.allowed), node.best)
        return solution

    def _rounds(self, lane: Lane, node: OpenNode, is_root: bool) -> Solving[LpSolution | None]:
        master = lane.master
        master.allow(node.allowed)
        self._bring_back(master, node.cuts)
        solution, primal, thorough = None, False, False
        progress: list[int] = []  # bounds after rounds of cuts
        while True:
            self._check()
            objective = yield partial(master.solve, primal=primal)
            self._check()
            if objective is None:
                return solution
            solution = master.solution(objective)
            multipliers = self.relaxation.multipliers(master.cuts, solution.cut_duals)
            pricing = self.relaxation.price(multipliers, node.allowed)
            if pricing.bound > node.bound:
                node.bound, node.best = pricing.bound, multipliers
                self._publish()
            if node.bound >= self.cutoff:
                return solution
            new = self._columns(master, node, solution, pricing)
            if len(new):
                master.add_columns(new)
                primal = True
                continue
            primal = False
            self._look_for_better(master, solution)
            if node.bound >= self.cutoff:
                return solution
            if is_root and len(progress) % 5 == 4:
                self._fix(lane, pricing, multipliers)
            progress.append(node.bound)
            if self._has_stalled(progress, is_root):
                if thorough or not is_root:
                    return solution
                thorough, progress = True, progress[-1:]
            if not self._cut(master, solution, is_root, thorough):
                return solution
            master.drop_idle_cuts(_IDLE_AT_ROOT if is_root else _IDLE_BELOW)

    def _bring_back(self, master: Master, cuts: Sequence[int]) -> None:
        """Add the cuts that proved the bound so far and left the program since."""
        present = set(master.cuts)
        master.add_cuts([c for c in cuts if c not in present])

    def _has_stalled(self, progress: Sequence[int], is_root: bool) -> bool:
        rounds, share = (8, 0.005) if is_root else (2, 0.02)
        if is_root and self.sets.n > 60:
            rounds, share = 12, 0.005
        if len(progress) <= rounds:
            return False
        gap = self.cutoff - progress[-1 - rounds]
        return progress[-1] - progress[-1 - rounds] < share * gap

    def _columns(
        self, master: Master, node: OpenNode, solution: LpSolution, pricing: Pricing
    ) -> NDArray[np.int64]:
        duals = np.clip(np.nan_to_num(solution.child_duals), -(2.0**20), 2.0**20)
        duals = np.floor(np.ldexp(duals, LP_BITS)).astype(np.int64)
        threshold = duals - 512  # about 1e-8 in the program
        wanted = node.allowed & ~master.in_master
        wanted &= pricing.reduced < threshold[self.sets.child]
        found = np.flatnonzero(wanted)
        if not len(found):
            return found
        order = np.lexsort((pricing.reduced[found], self.sets.child[found]))
        found = found[order]
        child = self.sets.child[found]
        rank = np.arange(len(found)) - np.searchsorted(child, child)
        return found[rank < _COLUMNS_PER_CHILD]

    def _look_for_better(self, master: Master, solution: LpSolution) -> None:
        weights = self.sets.arc_weights(solution.support, solution.x)
        if self.kernels.descend_from(_order_of(weights)):
            self.choice = self.kernels.best()
            master.add_columns(self.choice[~master.in_master[self.choice]])

    def _cut(self, master: Master, solution: LpSolution, is_root: bool, thorough: bool) -> bool:
        new = self._separator.violated(solution, master.cuts, is_root, thorough)
        master.add_cuts(new)
        return bool(new)

    def certificate(self, **claim: object) -> Certificate:
        """Return what is proved so far, with what the nodes at work know by now."""
        nodes = list(self.nodes)
        for lane in self._lanes:
            if lane.node is not None and lane.node.best is not None:
                node = nodes[lane.node.number]
                records = [*node.records, _multipliers(lane.node.best)]
                nodes[lane.node.number] = Node(records, node.arc, node.children)
        return Certificate.of_tree(nodes, self.relaxation.cuts, self.relaxation.exponent, **claim)

    # Proof ----------------------------------------------------------------------------------

    def _fix(self, lane: Lane, pricing: Pricing, multipliers: NDArray[np.int64]) -> None:
        node = lane.node
        assert node is not None
        fixed = self.relaxation.fixed_at_zero(pricing, self.cutoff) & node.allowed
        self._record(node, multipliers)
        if fixed.any():
            node.allowed = node.allowed & ~fixed
            lane.master.allow(node.allowed)

    def _record(self, node: OpenNode, multipliers: NDArray[np.int64]) -> None:
        self.nodes[node.number].records.append(_multipliers(multipliers))

    def _close(self, node: OpenNode) -> None:
        """Prove a node in which every child has at most one set left, without a program."""
        only = np.flatnonzero(node.allowed)
        if len(only) < self.sets.n:
            return  # a child has none: the check sees that too
        multipliers = np.zeros(len(self.relaxation.cuts), dtype=np.int64)
        cycles = self.kernels.separate(only, np.ones(len(only)), 1, [], 0.5, 1)
        self._check()
        if cycles:
            # No member of the cycle has a set without parents in it: any multiplier is paid.
            number = self._separator.number(Cut(((tuple(cycles[0][0]), 1),)))
            multipliers = np.zeros(len(self.relaxation.cuts), dtype=np.int64)
            multipliers[number] = max(self.cutoff, 0)
        elif self.kernels.descend_from(_order_of(self.sets.arc_weights(only, np.ones(len(only))))):
            self.choice = self.kernels.best()
        node.bound = self.relaxation.price(multipliers, node.allowed).bound
        self._record(node, multipliers)
        if node.bound < self.cutoff:
            raise AssertionError("exact: a node with one choice left was not closed")

    def _branch(self, node: OpenNode, arc: tuple[int, int]) -> OpenNode:
        parent, child = arc
        without = node.allowed.copy()
        self._arcs.forbid(without, parent, child)
        required = (*node.required, arc)
        having = node.allowed.copy()
        self._arcs.require(having, parent, child)
        for late, early in closed_by(required, arc, self.sets.n):
            self._arcs.forbid(having, late, early)
        cuts = node.cuts if node.best is None else tuple(np.flatnonzero(node.best).tolist())
        children = []
        for allowed, arcs in ((having, required), (without, node.required)):
            children.append(OpenNode(node.bound, len(self.nodes), allowed, arcs, cuts=cuts))
            self.nodes.append(Node())
        self.nodes[node.number].arc = arc
        self.nodes[node.number].children = children[0].number, children[1].number
        heapq.heappush(self._heap, children[1])
        return children[0]

    def _any_arc(self, allowed: NDArray[np.bool_]) -> tuple[int, int] | None:
        """Return an arc that some allowed set of its child has and another has not."""
        for child in range(self.sets.n):
            numbers = np.flatnonzero(allowed[self.sets.begin[child] : self.sets.begin[child + 1]])
            sets = [set(self.sets.parents(int(self.sets.begin[child] + f))) for f in numbers[:2]]
            if len(sets) == 2:
                return min(sets[0] ^ sets[1]), child
        return None


def _solve_together(
    works: Sequence[Solving[OpenNode | None]], threads: int
) -> list[OpenNode | None]:
    """Run works in step: all linear programs that they ask for, then each of them on in its turn.

    What they share they change in their order, whatever the number of threads. When one raises,
    the others are told to stop.
    """
    answers: list[OpenNode | None] = [None] * len(works)
    waiting: dict[int, Callable[[], float | None]] = {}

    def advance(number: int, objective: float | None) -> None:
        try:
            work = works[number]
            waiting[number] = work.send(objective)
        except StopIteration as end:
            waiting.pop(number, None)
            answers[number] = end.value

    try:
        for number in range(len(works)):
            advance(number, None)
        if len(works) == 1 or threads == 1:
            while waiting:
                for number, objective in [(n, solve()) for n, solve in sorted(waiting.items())]:
                    advance(number, objective)
            return answers
        with ThreadPoolExecutor(min(threads, len(works))) as pool:
            while waiting:
                numbers = sorted(waiting)
                found = list(pool.map(lambda n: waiting[n](), numbers))
                for number, objective in zip(numbers, found, strict=True):
                    advance(number, objective)
        return answers
    except BaseException:
        for work in works:  # so that each leaves what it has proved
            with suppress(Stopped, StopIteration, RuntimeError):
                work.throw(Stopped())
        raise


def _multipliers(values: NDArray[np.int64]) -> Multipliers:
    used = np.flatnonzero(values)
    return Multipliers(tuple(used.tolist()), tuple(values[used].tolist()))


def closed_by(
    required: Sequence[tuple[int, int]], arc: tuple[int, int], n: int
) -> list[tuple[int, int]]:
    """Arcs that would close a cycle with the required ones, of which `arc` is the newest."""
    above, below = {arc[0]}, {arc[1]}
    for _ in range(n):
        more_above = {u for u, v in required if v in above} - above
        more_below = {v for u, v in required if u in below} - below
        if not more_above and not more_below:
            break
        above |= more_above
        below |= more_below
    return [(late, early) for late in sorted(below) for early in sorted(above) if late != early]


def _order_of(weights: NDArray[np.float64]) -> list[int]:
    """Parents first, as far as the weights of arcs [parent, child] agree."""
    n = len(weights)
    incoming = weights.sum(axis=0)
    order = []
    for _ in range(n):
        v = int(np.argmin(incoming))
        order.append(v)
        incoming -= weights[v]
        incoming[v] = np.inf
    return order
