"""The first phase of PC, by native code: which links stay, and what separated the others."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.constraint.settings import PC
from bestdag.graph.knowledge import NodeKnowledge
from bestdag.graph.pdag import Pdag
from bestdag.independence.base import REMARKS, Independence
from bestdag.machine import memory_left
from bestdag.progress import Reporter
from bestdag.wording import count_of

__all__ = ["Ended", "Level", "Skeleton", "TestList", "find_skeleton", "seconds_until"]

Ended = Literal["complete", "time limit", "interrupted"]

# The list of tests gets this share of the memory that is left, and no more than this.
_LOG_SHARE, _LOG_BYTES = 0.25, 2**30
_FORBIDDEN, _FREE, _REQUIRED = 0, 1, 2
_FOREVER = 1e8


class Level(NamedTuple):
    """One round of the first phase.

    `questions` are counted as Algorithm 7.1 asks them; `tests` were carried out: a question that
    the other end asks again is not.
    """

    size: int
    questions: int
    tests: int
    removed: int


class TestList(Sequence[Independence]):
    """Tests as they were made, in arrays; an item is made when it is looked at."""

    __test__ = False  # for pytest

    def __init__(self, names: Sequence[str], arrays: dict[str, Any], *, has_numbers: bool) -> None:
        self._names = names
        self._arrays = arrays
        self._has_numbers = has_numbers

    def __len__(self) -> int:
        return len(self._arrays["one"])

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        k = range(len(self))[place]
        columns, names = self._arrays, self._names
        numbers = {}
        if self._has_numbers:
            numbers = {
                "statistic": float(columns["statistic"][k]),
                "df": float(columns["df"][k]),
                "log_p_value": float(columns["log_p"][k]),
            }
        return Independence(
            one=names[columns["one"][k]],
            other=names[columns["other"][k]],
            given=tuple(names[i] for i in self.members(k)),
            is_independent=bool(columns["is_independent"][k]),
            remark=REMARKS[int(columns["remark"][k])],
            **numbers,
        )

    def members(self, k: int) -> list[int]:
        """Return the numbers of the variables that a test conditions on."""
        ends = self._arrays["end"]
        first = int(ends[k - 1]) if k else 0
        members: list[int] = self._arrays["member"][first : int(ends[k])].tolist()
        return members

    def __repr__(self) -> str:
        return f"<TestList: {len(self):,} tests>"

    def in_order(self, n_first: int) -> TestList:
        """Return the first `n_first` in the order of Algorithm 7.1: by size, node, neighbour."""
        columns = self._arrays
        sizes = np.diff(columns["end"], prepend=0)
        by = np.lexsort((columns["other"][:n_first], columns["one"][:n_first], sizes[:n_first]))
        order = np.concatenate([by, np.arange(n_first, len(self))])
        starts = columns["end"] - sizes
        members = [columns["member"][starts[k] : columns["end"][k]] for k in order]
        arrays = {key: values[order] for key, values in columns.items() if key != "member"}
        arrays["end"] = np.cumsum(sizes[order])
        arrays["member"] = np.concatenate([np.empty(0, np.int32), *members])
        return TestList(self._names, arrays, has_numbers=self._has_numbers)


class Skeleton:
    """The links that stay, and the tests of every pair. Nodes are numbers in name order."""

    def __init__(
        self,
        names: tuple[str, ...],
        search: _core.SkeletonSearch,
        settings: PC,
        *,
        ended: Ended,
        n_levels: int,
        has_numbers: bool,
    ) -> None:
        self.names = names
        self.ended = ended
        self.is_stable = settings.stable
        self._search = search
        self.has_numbers = has_numbers
        joined: Any = search.adjacency()
        self.adjacency: npt.NDArray[np.uint8] = joined
        levels: Any = search.levels()
        rows = levels.tolist()
        self.levels = tuple(Level(size, *row) for size, row in enumerate(rows[:n_levels]))
        self.n_votes = 0
        self._graph: Pdag | None = None
        self._saved_log: dict[str, Any] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the native search, but for its answers."""
        state = {**self.__dict__, "decisive_tests": self.decisive_tests, "_saved_log": self._log()}
        del state["_search"]
        return state

    def _log(self) -> dict[str, Any]:
        """Return the logged tests, as arrays."""
        if self._saved_log is not None:
            return self._saved_log
        log: Any = self._search.log()
        return dict(log)

    @cached_property
    def decisive_tests(self) -> TestList:
        """For each pair that was tested, the test that separated it or the one nearest to it."""
        return TestList(self.names, self._search.findings(), has_numbers=self.has_numbers)

    @cached_property
    def _places(self) -> npt.NDArray[np.int64]:
        """Where each pair is in `decisive_tests`, ascending keys."""
        arrays = self.decisive_tests._arrays
        keys: npt.NDArray[np.int64] = arrays["one"].astype(np.int64) * len(self.names)
        return keys + np.asarray(arrays["other"], np.int64)

    def place(self, one: int, other: int) -> int | None:
        """Return where a pair is in `decisive_tests`; None where it was not tested."""
        key = min(one, other) * len(self.names) + max(one, other)
        k = int(np.searchsorted(self._places, key))
        return k if k < len(self._places) and self._places[k] == key else None

    def decisive_test(self, one: int, other: int) -> Independence | None:
        """Return the test that separated a pair, or the one nearest to it."""
        k = self.place(one, other)
        return None if k is None else self.decisive_tests[k]

    def n_tests(self, one: int, other: int) -> int:
        """Return how many tests of a pair the first phase made."""
        k = self.place(one, other)
        return 0 if k is None else int(self.decisive_tests._arrays["n_tests"][k])

    def separations(self) -> Iterator[tuple[int, int, list[int], float]]:
        """Yield the pairs that a set separates: numbers, the set, ln of the p-value."""
        tests, arrays = self.decisive_tests, self.decisive_tests._arrays
        for k in np.flatnonzero(arrays["is_independent"]).tolist():
            pair = int(arrays["one"][k]), int(arrays["other"][k])
            yield *pair, tests.members(k), float(arrays["log_p"][k])

    def separating_set(self, one: int, other: int) -> list[int] | None:
        """Return the set that separated a pair; None where none did."""
        k = self.place(one, other)
        if k is None or not self.decisive_tests._arrays["is_independent"][k]:
            return None
        return self.decisive_tests.members(k)

    def log_p(self, one: int, other: int) -> float:
        """Return ln of the p-value of the test that separated a pair."""
        k = self.place(one, other)
        return 0.0 if k is None else float(self.decisive_tests._arrays["log_p"][k])

    def votes(self, max_size: int | None, seconds: float, threads: int) -> dict[str, Any] | None:
        """Count the separating sets of unshielded triples; None when time was up first."""
        most = len(self.names) if max_size is None else min(max_size, len(self.names))
        adjacency = np.ascontiguousarray(self.adjacency)
        votes: Any = self._search.votes(adjacency, most, seconds, threads)
        if votes is None:
            return None
        self.n_votes = int(votes["n_tests"])
        return dict(votes)

    def graph(self, nodes: tuple[str, ...], directed: Any) -> Pdag:
        """Return the links as a graph, made at the first call: there may be millions."""
        if self._graph is None:
            arcs, edges = directed if directed is not None else ((), self.links())
            self._graph = Pdag(nodes, arcs, edges)
        return self._graph

    def links(self) -> list[tuple[str, str]]:
        """Return the links by names."""
        return [
            (self.names[i], self.names[j]) for i, j in np.argwhere(np.triu(self.adjacency)).tolist()
        ]

    @property
    def n_logged(self) -> int:
        """Number of tests that were logged with their numbers."""
        return (
            len(self._saved_log["one"]) if self._saved_log is not None else self._search.n_logged()
        )

    def tests(self) -> TestList:
        """Return the logged tests, in the order of the algorithm."""
        logged = TestList(self.names, self._log(), has_numbers=self.has_numbers)
        n_first = min(sum(level.tests for level in self.levels), len(logged))
        return logged.in_order(n_first) if self.is_stable else logged


def find_skeleton(
    test: _core.IndependenceTest,
    names: tuple[str, ...],
    settings: PC,
    known: NodeKnowledge,
    *,
    has_numbers: bool,
    keep_tests: bool,
    deadline: float | None,
    threads: int,
    reporter: Reporter | None,
) -> Skeleton:
    """Ask level by level until no node has enough neighbours, or a limit is reached.

    What is found until a limit or Ctrl-C holds: every removal stands by itself.
    """
    number = {name: i for i, name in enumerate(names)}
    order: Sequence[int] = range(len(names))
    if settings.order is not None and not settings.stable:
        order = [number[name] for name in settings.order]
    links = np.full((len(names), len(names)), _FREE, np.uint8)
    links[~(known.allowed | known.allowed.T)] = _FORBIDDEN
    links[known.required | known.required.T] = _REQUIRED
    for one, other in known.required_edges:
        links[one, other] = links[other, one] = _REQUIRED
    room = int(min(_LOG_SHARE * max(0.0, memory_left()), _LOG_BYTES)) if keep_tests else 0
    search = _core.SkeletonSearch(
        test,
        np.array(order, np.int32),
        links,
        np.ascontiguousarray(known.allowed, np.uint8),
        stable=settings.stable,
        needs_path=settings.necessary_path,
        log_bytes=room,
    )
    most = len(names) if settings.max_conditioning is None else settings.max_conditioning
    ended: Ended = "complete"
    size = 0
    try:
        while size <= most and search.has_level(size):
            if reporter is not None:
                reporter.report("testing independences", f"given {count_of(size, 'variable')}")
            left = seconds_until(deadline)
            size += 1
            if left <= 0 or not search.run_level(size - 1, left, threads):
                ended = "time limit"
                break
    except KeyboardInterrupt:
        ended = "interrupted"
    return Skeleton(names, search, settings, ended=ended, n_levels=size, has_numbers=has_numbers)


def seconds_until(deadline: float | None) -> float:
    """Return the seconds left, at least none."""
    return _FOREVER if deadline is None else max(0.0, deadline - time.monotonic())
