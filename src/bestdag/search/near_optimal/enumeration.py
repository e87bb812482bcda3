"""All acyclic choices of a table within a window below the best, best first.

The leaves of a branch-and-cut tree divide the acyclic choices: a node is split into the choices
with an arc and those without. At each leaf there are multipliers m_c >= 0 on valid cuts
``sum a_cf x_f >= b_c``, and for any such multipliers an acyclic choice x costs

    sum_f cost_f x_f  >=  sum_c m_c b_c + sum_f (cost_f - sum_c m_c a_cf) x_f,

also with sets that the linear programs did not know. So a tree over the pruned sets that
proves the optimum also says which of all sets are in choices near it: sets whose reduced cost is
too high are left out, with the limit of the window in place of the optimum's cost.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, combinations

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.machine import memory_left, thread_count
from bestdag.scores.table import ScoreTable
from bestdag.search.exact.bnc.certificate import Certificate, Multipliers
from bestdag.search.exact.bnc.relaxation import Cut, OrderCut, Sets
from bestdag.search.exact.bnc.tree import closed_by
from bestdag.search.structures import ListStatus
from bestdag.search.ties import tie_width

__all__ = ["MANY_VARIABLES", "SECONDS_TO_LIST", "Choices", "Window", "enumerate_choices"]

Parents = tuple[tuple[int, ...], ...]  # of each variable

# With more variables linear programs say first which sets matter.
MANY_VARIABLES = 20
# Components that are solved as a whole: within a second, and where linear programs help, at once.
_LARGEST_COMPONENT, _LARGEST_WITH_CUTS = 22, 15
# Of the memory there is: for one component, and for the queue.
_SHARE_FOR_COMPONENT, _SHARE_FOR_QUEUE = 0.3, 0.3
# How many are listed at a time: in between, structures that statements allow are counted.
_AT_A_TIME = 256
# To put a structure into the list, in the end.
SECONDS_TO_LIST = 8e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What the enumeration looks for.

    Attributes
    ----------
    best : float
        Score of the best structure.
    nats : float
        How far below it is looked.
    slack : float
        What rounding may hide, in nats.
    number : int or None
        So many are enough.
    per_class : bool
        One for each class of equivalent structures.
    has_whole_classes : bool
        Whether all members of a class are in the table, with one score.
    is_wanted : callable or None
        Takes the parents of each variable; says whether a structure counts.
    """

    best: float
    nats: float
    slack: float
    number: int | None
    per_class: bool
    has_whole_classes: bool
    is_wanted: Callable[[Parents], bool] | None = None


@dataclass(slots=True)
class Choices:
    """What was found: scores, parents of each variable, and what anything else scores at most."""

    scores: list[float] = field(default_factory=list)
    parents: list[Parents] = field(default_factory=list)
    rest: float = math.inf
    status: ListStatus = "complete"


def enumerate_choices(
    table: ScoreTable,
    window: Window,
    certificate: Certificate | None,
    *,
    threads: int | None,
    deadline: float | None,
) -> Choices:
    """Find the best acyclic choices within a window, in order.

    Parameters
    ----------
    table : ScoreTable
        All the sets that a structure in the window may have.
    window : Window
    certificate : Certificate or None
        The tree of branch and cut over the same variables, with any sets.
    threads : int or None
    deadline : float or None
        A value of `time.monotonic`.

    Returns
    -------
    Choices
        At any end the choices in it are the best there are: `rest` says what the others score at
        most.
    """
    sets = Sets(table)
    total = math.fsum(sets.scores[sets.begin[:-1]].tolist())
    limit = total - window.best + window.nats + window.slack
    choices = Choices()
    search = _core.NearBest(
        sets.begin,
        sets.costs,
        sets.offsets,
        sets.members,
        limit,
        0 if window.number is None else window.number + 1,  # one more, for the bound
        window.is_wanted is None,
        window.per_class and window.is_wanted is None,
        window.has_whole_classes,
        _largest_component(certificate is not None),
        _SHARE_FOR_QUEUE * memory_left(),
    )
    if certificate is None:
        search.add_part(*_undivided(sets).arrays(sets))
    else:
        for cut in certificate.cuts:
            _add(search, cut)
        for part in _divided(sets, certificate, limit):
            search.add_part(*part.arrays(sets))
    is_wanted = _filter(window)
    try:
        for chosen in _all_of(search, window, threads, deadline, choices):
            parents = _parents(sets, chosen)
            if is_wanted is None or is_wanted(parents):
                choices.scores.append(math.fsum(sets.scores[chosen].tolist()))
                choices.parents.append(parents)
                if len(choices.scores) == window.number:
                    break
    except KeyboardInterrupt:
        choices.status = "interrupted"
    choices.rest = total - search.rest + tie_width(window.best) / 2
    return choices


def _add(search: _core.NearBest, cut: Cut | OrderCut) -> None:
    if isinstance(cut, OrderCut):
        search.add_order_cut(cut.members, list(chain(*cut.gains)), cut.most)
    else:
        search.add_cut([(list(c), k) for c, k in cut.terms], list(cut.equations), cut.halved)


def _all_of(
    search: _core.NearBest,
    window: Window,
    threads: int | None,
    deadline: float | None,
    choices: Choices,
) -> Iterator[npt.NDArray[np.int32]]:
    """Go through what the search finds; `choices` says why it ended."""
    n_threads = thread_count(threads, who="exact")
    n_seen = 0
    is_over = search.is_over
    while not is_over:
        count = _AT_A_TIME
        if window.number is not None:  # no more than needed: what comes next stays a bound
            count = min(count, window.number - len(choices.scores))
        seconds = math.inf
        if deadline is not None:
            seconds = deadline - time.monotonic() - SECONDS_TO_LIST * len(choices.scores)
        # Short runs do not look at the clock.
        is_late = seconds <= 0 or not search.run(count, seconds, n_threads)
        rows: npt.NDArray[np.int32] = np.asarray(search.chosen(n_seen), np.int32)
        yield from rows
        n_seen = search.n_found
        is_over = search.is_over
        if not is_over and (is_late or search.is_full):
            choices.status = "time limit" if is_late else "memory limit"
            return


def _filter(window: Window) -> Callable[[Parents], bool] | None:
    """Return what says whether a structure counts; of a class, the first that is wanted does."""
    is_wanted = window.is_wanted
    if is_wanted is None or not window.per_class:
        return is_wanted
    seen: set[tuple[frozenset[tuple[int, ...]], ...]] = set()

    def is_new(parents: Parents) -> bool:
        if not is_wanted(parents):
            return False
        before = len(seen)
        seen.add(_class_of(parents))
        return len(seen) > before

    return is_new


def _class_of(parents: Parents) -> tuple[frozenset[tuple[int, ...]], ...]:
    """Return links and colliders, which equivalent structures share (Verma and Pearl 1990)."""
    links = frozenset((min(p, v), max(p, v)) for v, group in enumerate(parents) for p in group)
    colliders = frozenset(
        (v, *pair)
        for v, group in enumerate(parents)
        for pair in combinations(group, 2)
        if pair not in links
    )
    return links, colliders


def _parents(sets: Sets, chosen: npt.NDArray[np.int32]) -> Parents:
    return tuple(map(sets.parents, chosen.tolist()))


def _largest_component(has_cuts: bool) -> int:
    """How many variables are solved together: as many as time and memory allow."""
    room = _SHARE_FOR_COMPONENT * memory_left()
    most = _LARGEST_WITH_CUTS if has_cuts else _LARGEST_COMPONENT
    while most > 2 and _core.subset_marginal_bytes(most) > room:
        most -= 1
    return most


# Parts of all choices, and what linear programs say about each.

_Reals = npt.NDArray[np.float64]
_Arcs = tuple[tuple[int, int], ...]

# Sets times members, or sets of one child, that are looked at together.
_ENTRIES_AT_A_TIME = 4_000_000


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """Some of the choices: which sets they have, and multipliers (in nats) of cuts for them."""

    allowed: npt.NDArray[np.bool_]
    cuts: tuple[int, ...] = ()
    multipliers: tuple[float, ...] = ()

    def arrays(
        self, sets: Sets
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int32], _Reals]:
        """Return it as native code wants it: ends, sets, cuts and multipliers."""
        numbers = np.flatnonzero(self.allowed)
        ends = np.searchsorted(numbers, sets.begin[1:]).astype(np.int64)
        cuts = np.array(self.cuts, np.int32)
        return ends, numbers.astype(np.int32), cuts, np.array(self.multipliers, np.float64)


def _undivided(sets: Sets) -> _Part:
    """Return all choices as one part, about which nothing is known."""
    return _Part(np.ones(len(sets), dtype=bool))


def _divided(sets: Sets, certificate: Certificate, limit: float) -> Iterator[_Part]:
    """Go through the leaves of a tree that may have a choice whose cost is within the limit."""
    waiting: list[tuple[int, _Part, _Arcs]] = [(0, _undivided(sets), ())]
    while waiting:
        number, part, required = waiting.pop()
        node = certificate.nodes[number]
        for record in node.records[-1:]:  # the last is the best
            narrowed = _narrowed(sets, part, certificate, record, limit)
            if narrowed is None:
                break
            part = narrowed
        else:
            if node.arc is None or node.children is None:
                yield part
                continue
            more = (*required, node.arc)
            halves = (_with_arc(sets, part, more), more), (_without(sets, part, node.arc), required)
            for child, (half, arcs) in zip(node.children, halves, strict=True):
                if _has_all(sets, half.allowed):
                    waiting.append((child, half, arcs))


def _has_all(sets: Sets, allowed: npt.NDArray[np.bool_]) -> bool:
    """Whether every child has a set."""
    return bool(np.logical_or.reduceat(allowed, sets.begin[:-1]).all())


def _without(sets: Sets, part: _Part, arc: tuple[int, int]) -> _Part:
    parent, child = arc
    left_out = (sets.child == child) & sets.having(parent)
    return replace(part, allowed=part.allowed & ~left_out)


def _with_arc(sets: Sets, part: _Part, required: _Arcs) -> _Part:
    """Take the sets with the newest of the required arcs, and none that closes a cycle with all."""
    parent, child = required[-1]
    allowed = part.allowed & ((sets.child != child) | sets.having(parent))
    for late, early in closed_by(required, required[-1], sets.n):
        allowed &= ~((sets.child == early) & sets.having(late))
    return replace(part, allowed=allowed)


def _narrowed(
    sets: Sets, part: _Part, certificate: Certificate, record: Multipliers, limit: float
) -> _Part | None:
    """Leave out the sets that the multipliers exclude; None when that leaves nothing."""
    unit = 2.0**certificate.exponent
    pairs = [
        (certificate.cuts[c], m * unit) for c, m in zip(record.cuts, record.values, strict=True)
    ]
    reduced, paid = _reduced_costs(sets, pairs)
    least = np.minimum.reduceat(np.where(part.allowed, reduced, np.inf), sets.begin[:-1])
    bound = paid + math.fsum(least.tolist())
    allowed = part.allowed & (bound - least[sets.child] + reduced <= limit)
    if not _has_all(sets, allowed):
        return None
    return _Part(allowed, record.cuts, tuple(m for _, m in pairs))


def _reduced_costs(sets: Sets, pairs: list[tuple[Cut | OrderCut, float]]) -> tuple[_Reals, float]:
    """Return the reduced cost of every set, and what the cuts pay."""
    reduced = sets.costs.copy()
    for child in range(sets.n):
        mine = [(cut, m) for cut, m in pairs if _concerns(cut, child)]
        if mine:
            _subtract(sets, child, mine, reduced)
    return reduced, math.fsum(m * cut.right_side for cut, m in pairs)


def _concerns(cut: Cut | OrderCut, child: int) -> bool:
    if isinstance(cut, OrderCut):
        return child in cut.members
    return child in cut.equations or any(child in members for members, _ in cut.terms)


def _subtract(
    sets: Sets, child: int, mine: list[tuple[Cut | OrderCut, float]], reduced: _Reals
) -> None:
    first, last = int(sets.begin[child]), int(sets.begin[child + 1])
    step = max(1, _ENTRIES_AT_A_TIME // sets.n)
    for start in range(first, last, step):
        end = min(start + step, last)
        is_in = np.zeros((end - start, sets.n), np.float32)
        sizes = np.diff(sets.offsets[start : end + 1])
        members = sets.members[sets.offsets[start] : sets.offsets[end]]
        is_in[np.repeat(np.arange(end - start), sizes), members] = 1.0
        for cut, multiplier in mine:
            reduced[start:end] -= multiplier * _coefficients(cut, child, is_in)


def _coefficients(
    cut: Cut | OrderCut, child: int, is_in: npt.NDArray[np.float32]
) -> npt.NDArray[np.int64]:
    """Return a cut's coefficients for sets of a child; `is_in` has a row of ones and zeros each."""
    if isinstance(cut, OrderCut):
        gains = cut.gains[cut.members.index(child)]
        forgone = np.array([max(gains) - gain for gain in gains])
        inside = is_in[:, list(cut.members)] @ (1 << np.arange(len(cut.members)))
        return forgone[inside.astype(np.int64)]
    count = np.full(len(is_in), -int(child in cut.equations), np.int64)
    for cluster, k in cut.terms:
        if child in cluster:
            count += is_in[:, list(cluster)].sum(axis=1) < k
    return -(-count // 2) if cut.halved else count
