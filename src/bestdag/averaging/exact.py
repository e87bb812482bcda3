"""Exact posterior probabilities: sums over all orders, or over all DAGs.

Two priors over structures. Under the one that is *modular in the order* a structure counts once for
every order of the variables that it follows: P(G) is proportional to the number of its linear
extensions, so that sparse structures with many orders count more, and equivalent structures may
have different posterior probabilities. It is what makes 2^n sums suffice (Koivisto and Sood 2004).
Under the *uniform* one every DAG counts once, at the price of 3^n (Tian and He 2009). A structure
prior given to the score multiplies either.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.averaging.arc_probabilities import ParentSetProbability
from bestdag.averaging.deadline import Deadline
from bestdag.averaging.local_weights import LocalWeights
from bestdag.errors import InvalidParameterError
from bestdag.machine import memory_left, require_memory, settled_memory
from bestdag.wording import arg

__all__ = [
    "ExactSums",
    "ancestor_seconds",
    "ancestors_by_sums",
    "has_room_for_ancestors",
    "is_small_for_orders",
    "order_seconds",
    "sum_over_dags",
    "sum_over_orders",
    "uniform_seconds",
]

_Matrix = npt.NDArray[np.float64]
MOST_OF_ORDERS, MOST_OF_DAGS, MOST_OF_ANCESTORS = 30, 20, 20
_NANOSECONDS_PER_PAIR = 25.0
_NANOSECONDS_PER_TERM = 15.0
_NANOSECONDS_PER_ORDER_SUM = 7.0
# Sums of probabilities may miss 1 by this; more means that alternating sums lost their digits.
_TOLERANCE = 1e-6
_MOST_LISTED = 5
# What else is held beside the sums takes no more than they do.
_NEEDS_OF_ALL = 2.0


@dataclass(frozen=True, slots=True, eq=False)
class ExactSums:
    """What sums over all structures give."""

    arcs: _Matrix
    log_total: float
    parent_sets: dict[str, tuple[ParentSetProbability, ...]]


def is_small_for_orders(n: int) -> bool:
    """Whether memory suffices to sum over orders: by the limit or the machine, not what is free."""
    return _NEEDS_OF_ALL * _core.order_sums_bytes(n, min(n - 1, 12), 1) <= settled_memory()


def _ways_for(n: int, threads: int) -> tuple[int, int] | None:
    """Return how many bits to sum apart, by how many threads, so that it fits; or else None.

    No bits are fastest: then all sums inside subsets are kept. Each thread takes memory of its own.
    """
    room = memory_left()
    while threads:
        for top_bits in range(min(n - 1, 12) + 1):
            if _core.order_sums_bytes(n, top_bits, threads) <= room:
                return top_bits, threads
        threads //= 2
    return None


def sum_over_orders(
    who: str,
    weights: LocalWeights,
    *,
    threads: int,
    deadline: Deadline,
    progress: Callable[[float], None] | None = None,
) -> tuple[ExactSums, _core.OrderSums]:
    """Sum over all orders; also return the native sums, from which structures can be drawn."""
    n = len(weights.names)
    if n > MOST_OF_ORDERS:
        raise InvalidParameterError(
            f"{who}: exact sums over orders take up to {MOST_OF_ORDERS} variables, got {n}; use "
            f"{arg('method', 'chains')}"
        )
    ways = _ways_for(n, threads)
    if ways is None:
        least = _core.order_sums_bytes(n, min(n - 1, 12), 1)
        require_memory(
            who,
            f"a sum over all orders of {n} variables",
            least,
            f"use {arg('method', 'chains')}",
        )
        raise AssertionError("memory was returned")
    top_bits, threads = ways
    what = f"a sum over all orders of {n} variables"
    deadline.require_time(what, order_seconds(n) / threads)
    sums = _core.OrderSums(weights.native())
    deadline.require_done(sums.compute(top_bits, threads, deadline.seconds_left, progress), what)
    _require_structure(who, sums.log_total())
    sets, arcs = np.empty(len(weights.logs)), np.empty(n * n)
    deadline.require_done(sums.probabilities(threads, deadline.seconds_left, sets, arcs), what)
    totals = ExactSums(_clipped(arcs, n), sums.log_total(), _most_probable(weights, sets))
    return totals, sums


def sum_over_dags(
    who: str, weights: LocalWeights, *, threads: int, deadline: Deadline
) -> ExactSums:
    """Sum over all DAGs, each counted once."""
    n = len(weights.names)
    if n > MOST_OF_DAGS:
        raise InvalidParameterError(
            f"{who}: exact sums over DAGs take up to {MOST_OF_DAGS} variables, got {n}; use "
            f"{_other_ways()}"
        )
    what = f"a sum over all DAGs of {n} variables"
    deadline.require_time(what, uniform_seconds(n) / threads)
    require_memory(
        who,
        what,
        _core.dag_sums_bytes(n),
        f"use {_other_ways()}",
    )
    sets, arcs = np.empty(len(weights.logs)), np.empty(n * n)
    totals = _core.sum_over_dags(weights.native(), threads, deadline.seconds_left, sets, arcs)
    deadline.require_done(totals is not None, what)
    assert totals is not None
    _require_structure(who, totals[0])
    each = np.add.reduceat(sets, weights.begin[:-1])
    off = max(abs(totals[0] - totals[1]), float(np.abs(each - 1.0).max()))
    if not off <= _TOLERANCE:
        raise InvalidParameterError(
            f"{who}: the alternating sums over DAGs are off by {off:.1g}, too much; use "
            f"{_other_ways()}"
        )
    return ExactSums(_clipped(arcs, n), totals[0], _most_probable(weights, sets))


def ancestors_by_sums(
    who: str, weights: LocalWeights, *, threads: int, deadline: Deadline
) -> _Matrix:
    """Return the probabilities of directed paths under the prior that is modular in the order."""
    n = len(weights.names)
    need = f"the probabilities of all paths between {n} variables"
    while threads > 1 and _core.ancestor_bytes(n, threads) > memory_left():
        threads //= 2
    require_memory(who, need, _core.ancestor_bytes(n, threads), "take them from drawn structures")
    deadline.require_time(need, ancestor_seconds(n) / threads)
    out = np.empty(n * n)
    is_done = _core.ancestor_probabilities(weights.native(), threads, deadline.seconds_left, out)
    deadline.require_done(is_done, need)
    return _clipped(out, n)


def ancestor_seconds(n: int) -> float:
    """Forecast the time that `ancestors_by_sums` takes one processor."""
    return 1e-9 * _NANOSECONDS_PER_PAIR * n * n * 3.0 ** (n - 1)


def has_room_for_ancestors(n: int) -> bool:
    """Whether paths can be summed over within a minute of one processor, and within memory.

    By the limit or the machine, not by what is free.
    """
    return (
        n <= MOST_OF_ANCESTORS
        and ancestor_seconds(n) <= 60.0
        and _NEEDS_OF_ALL * _core.ancestor_bytes(n, 1) <= settled_memory()
    )


def order_seconds(n: int) -> float:
    """Forecast the time that `sum_over_orders` takes one processor."""
    return 1e-9 * _NANOSECONDS_PER_ORDER_SUM * n * n * 2.0**n


def uniform_seconds(n: int) -> float:
    """Forecast the time that `sum_over_dags` takes one processor."""
    return 1e-9 * _NANOSECONDS_PER_TERM * n * 3.0 ** (n - 1)


def _other_ways() -> str:
    """Say what can be used where sums over DAGs cannot."""
    over_orders = arg("prior", "order", option="--dag-prior")
    return f"{arg('method', 'sampling')}, {arg('method', 'chains')} or {over_orders}"


def _require_structure(who: str, log_total: float) -> None:
    if log_total == -math.inf:
        raise InvalidParameterError(
            f"{who}: no structure satisfies your constraints; leave out statements"
        )


def _clipped(values: npt.NDArray[np.float64], n: int) -> _Matrix:
    """Shape as a matrix; rounding may lead a little above 1."""
    return np.clip(values, 0.0, 1.0).reshape(n, n)


def _most_probable(
    weights: LocalWeights, sets: npt.NDArray[np.float64]
) -> dict[str, tuple[ParentSetProbability, ...]]:
    listed = {}
    for v, name in enumerate(weights.names):
        first, end = int(weights.begin[v]), int(weights.begin[v + 1])
        mine = sets[first:end]
        some = min(_MOST_LISTED, len(mine))
        best = np.argpartition(-mine, some - 1)[:some]
        best = best[np.lexsort((best, -mine[best]))]
        listed[name] = tuple(
            ParentSetProbability(weights.parents(first + k), min(1.0, float(mine[k])))
            for k in best.tolist()
        )
    return listed
