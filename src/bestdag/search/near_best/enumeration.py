"""All acyclic choices of a table within a window below the best, best first."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.machine import memory_left, thread_count
from bestdag.scores.table import ScoreTable
from bestdag.search.exact.bnc.certificate import Certificate
from bestdag.search.exact.bnc.relaxation import Sets
from bestdag.search.near_best.parts import divided, undivided
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
# How many are asked for together: now and then somebody must count those that statements allow.
_AT_A_TIME = 256
# To put a structure into the list, in the end.
SECONDS_TO_LIST = 8e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What is looked for.

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
        Whatever ends it, those that were found are the best there are: `rest` says what the others
        score at most.
    """
    sets = Sets(table)
    total = math.fsum(sets.scores[sets.begin[:-1]].tolist())
    limit = total - window.best + window.nats + window.slack
    found = Choices()
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
        search.add_part(*undivided(sets).arrays(sets))
    else:
        for cut in certificate.cuts:
            search.add_cut([(list(c), k) for c, k in cut.terms], list(cut.equations), cut.halved)
        for part in divided(sets, certificate, limit):
            search.add_part(*part.arrays(sets))
    is_wanted = _filter(window)
    try:
        for chosen in _all_of(search, window, threads, deadline, found):
            parents = _parents(sets, chosen)
            if is_wanted is None or is_wanted(parents):
                found.scores.append(math.fsum(sets.scores[chosen].tolist()))
                found.parents.append(parents)
                if len(found.scores) == window.number:
                    break
    except KeyboardInterrupt:
        found.status = "interrupted"
    found.rest = total - search.rest + tie_width(window.best) / 2
    return found


def _all_of(
    search: _core.NearBest,
    window: Window,
    threads: int | None,
    deadline: float | None,
    found: Choices,
) -> Iterator[npt.NDArray[np.int32]]:
    """Go through what the search finds; says in `found` why it ended."""
    n_threads = thread_count(threads, who="exact")
    n_seen = 0
    is_over = search.is_over
    while not is_over:
        count = _AT_A_TIME
        if window.number is not None:  # no more than needed: what comes next stays a bound
            count = min(count, window.number - len(found.scores))
        seconds = math.inf
        if deadline is not None:
            seconds = deadline - time.monotonic() - SECONDS_TO_LIST * len(found.scores)
        # Short runs do not look at the clock.
        is_late = seconds <= 0 or not search.run(count, seconds, n_threads)
        rows: npt.NDArray[np.int32] = np.asarray(search.chosen(n_seen), np.int32)
        yield from rows
        n_seen = search.n_found
        is_over = search.is_over
        if not is_over and (is_late or search.is_full):
            found.status = "time limit" if is_late else "memory limit"
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
