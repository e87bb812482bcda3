"""All DAGs over a few nodes, and how many there are over many."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import combinations, product

from bestdag.errors import InvalidParameterError, require_count
from bestdag.graph._names import check_nodes
from bestdag.graph.dag import Dag

__all__ = ["all_dags", "n_dags"]

_MAX_NODES = 5  # 29,281 DAGs; 6 nodes have 3.8 million

# f(0), f(1), ... as far as they were computed; replaced as a whole, so threads may share it.
_known: tuple[int, ...] = (1,)


def n_dags(n: int) -> int:
    r"""Return the number of DAGs over n labelled nodes, exactly.

    .. math::

        f(n) = \sum_{i=1}^{n} (-1)^{i+1} \binom{n}{i} 2^{i(n-i)} f(n-i), \qquad f(0) = 1.

    Parameters
    ----------
    n : int
        Number of nodes, 0 or more.

    Notes
    -----
    The values up to n are computed once. f(n) has about n^2 / 2 bits, so time grows
    about as n^4: at once for a hundred nodes, many seconds for a thousand.

    References
    ----------
    .. [1] Robinson (1977). "Counting unlabeled acyclic digraphs." Combinatorial Mathematics V.
    .. [2] Jensen and Nielsen (2007). "Bayesian Networks and Decision Graphs." Chapter 7,
       equation 7.1 and Table 7.1.

    Examples
    --------
    >>> [n_dags(n) for n in range(6)]
    [1, 1, 3, 25, 543, 29281]
    """
    global _known
    n = require_count("n_dags", "n", n)
    values = list(_known)
    for m in range(len(values), n + 1):
        terms = (
            (math.comb(m, i) * values[m - i] << i * (m - i)) * (1 if i % 2 else -1)
            for i in range(1, m + 1)
        )
        values.append(sum(terms))
    if len(values) > len(_known):
        _known = tuple(values)
    return values[n]


def all_dags(nodes: Iterable[str]) -> Iterator[Dag]:
    """Iterate over all DAGs on up to five nodes, the empty one first.

    Parameters
    ----------
    nodes : iterable of str
        At most five names.

    Raises
    ------
    InvalidParameterError
        More than five nodes; the message says how many DAGs there would be.

    Examples
    --------
    >>> [dag.arcs for dag in all_dags(["A", "B"])]
    [(), (('A', 'B'),), (('B', 'A'),)]
    """
    names = check_nodes("all_dags", nodes)
    if len(names) > _MAX_NODES:
        raise InvalidParameterError(
            f"all_dags: at most {_MAX_NODES} nodes can be enumerated, "
            f"got {len(names):,}, which have {_roughly_n_dags(len(names))} DAGs"
        )
    return _all_dags(names)


def _roughly_n_dags(n: int) -> str:
    """Write f(n) in full for few nodes, as a power of ten for many, at once for any n."""
    if n <= 10:
        return f"{n_dags(n):,}"
    if n <= 100:
        return f"about {Decimal(n_dags(n)):.1e}"
    # The subsets of the arcs that follow one order of the nodes are DAGs already.
    return f"more than 10^{int(n * (n - 1) // 2 * math.log10(2)):,}"


def _all_dags(names: tuple[str, ...]) -> Iterator[Dag]:
    pairs = list(combinations(sorted(names), 2))
    for directions in product(range(3), repeat=len(pairs)):
        parents: dict[str, list[str]] = {name: [] for name in sorted(names)}
        for (one, other), direction in zip(pairs, directions, strict=True):
            if direction == 1:
                parents[other].append(one)
            elif direction == 2:
                parents[one].append(other)
        if _is_acyclic(parents):
            frozen = {name: tuple(sorted(group)) for name, group in parents.items()}
            yield Dag._trusted(names, frozen)


def _is_acyclic(parents: dict[str, list[str]]) -> bool:
    left = dict(parents)
    while left:
        roots = [name for name, group in left.items() if left.keys().isdisjoint(group)]
        if not roots:
            return False
        for name in roots:
            del left[name]
    return True
