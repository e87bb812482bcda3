"""Why a branching is a maximum one: multipliers on cuts, which the check of trees understands.

A structure in which every variable has at most one parent is a branching. Edmonds (1967) shows that
the linear program over the cluster cuts ("in every group of variables one has no parent inside")
has a branching as an optimum. The multipliers are found as Fulkerson (1974) packs rooted cuts: a
group raises its price until an arc from outside is paid for; groups that are paid for round a cycle
become one group.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from bestdag.certificate.numbers import at_least, power_below
from bestdag.scores.table import ScoreTable
from bestdag.search.exact.bnc.certificate import Certificate, Multipliers, Node
from bestdag.search.exact.bnc.relaxation import Cut

__all__ = ["branching_certificate"]

# The highest cost is about 2^55 units: sums over the rows of a matrix fit into 64 bits.
_UNIT_BITS = 55
_NONE = np.int64(2) ** 62


def branching_certificate(table: ScoreTable, chosen: Sequence[int]) -> Certificate:
    """Return a proof that no branching scores more than the chosen one and its resolution.

    Parameters
    ----------
    table : ScoreTable
        Sets of at most one parent.
    chosen : sequence of int
        For each variable the position of its set; an acyclic choice.

    References
    ----------
    .. [1] Edmonds (1967). "Optimum branchings." Journal of Research of the National Bureau of
       Standards 71B.
    .. [2] Fulkerson (1974). "Packing rooted directed cuts in a weighted directed graph."
       Mathematical Programming 6.

    Examples
    --------
    >>> table = ScoreTable.from_lists(
    ...     ["a", "b"], {"a": [(-2.0, []), (-1.0, ["b"])], "b": [(-3.0, []), (-1.5, ["a"])]}
    ... )
    >>> proof = branching_certificate(table, (1, 0))
    >>> proof.score, proof.resolution, proof.cuts[0].terms
    (-3.5, 0.0, (((0, 1), 1),))
    """
    n = table.n_variables
    scores = [list(map(Fraction, table.child(v).scores.tolist())) for v in range(n)]
    costs = [[child[0] - score for score in child] for child in scores]
    exponent = power_below(max(child[-1] for child in costs)) - _UNIT_BITS
    unit = Fraction(2) ** exponent
    matrix = np.full((n + 1, n), _NONE)  # [parent, child]; the last row is "no parent"
    for v, child in enumerate(costs):
        for (_, parents), cost in zip(table.child(v), child, strict=True):
            matrix[parents[0] if parents else n, v] = cost // unit
    groups, prices = _prices(matrix)
    paid = sum(prices) * unit
    cost = sum((costs[v][k] for v, k in enumerate(chosen)), Fraction())
    score = sum((scores[v][k] for v, k in enumerate(chosen)), Fraction())
    large = [k for k, group in enumerate(groups) if len(group) > 1 and prices[k] > 0]
    multipliers = Multipliers(tuple(range(len(large))), tuple(prices[k] for k in large))
    return Certificate(
        parents=tuple(map(int, chosen)),
        score=float(score),
        resolution=at_least(max(Fraction(), cost - paid)),
        bound=float(score),
        exponent=exponent,
        cuts=tuple(Cut(((groups[k], 1),)) for k in large),
        nodes=(Node([multipliers]),),
    )


def _prices(costs: npt.NDArray[np.int64]) -> tuple[list[tuple[int, ...]], list[int]]:
    """Let groups of variables pay for an arc that enters them; returns groups and prices.

    Their sum is the cost of a cheapest branching, and no arc costs less than all groups that it
    enters pay together.
    """
    left = costs.copy()  # what is left to pay; a group is in the row and column of one member
    n = left.shape[1]
    members: list[list[int]] = [[v] for v in range(n)]
    is_done = np.zeros(n + 1, bool)
    is_done[n] = True
    groups: list[tuple[int, ...]] = []
    prices: list[int] = []
    for start in range(n):
        path = [start] if not _is_merged(members, start) and not is_done[start] else []
        while path:
            group = path[-1]
            column = left[:, group]
            source = int(np.argmin(column))
            price = int(column[source])
            assert price < _NONE, "a variable without candidate parents, not even none"
            groups.append(tuple(sorted(members[group])))
            prices.append(price)
            column[column < _NONE] -= price
            if is_done[source]:
                is_done[path] = True
                path = []
            elif source in path:
                place = path.index(source)
                _merge(left, members, path[place:])
                del path[place + 1 :]
            else:
                path.append(source)
    return groups, prices


def _is_merged(members: list[list[int]], v: int) -> bool:
    return not members[v]


def _merge(left: npt.NDArray[np.int64], members: list[list[int]], cycle: list[int]) -> None:
    """Make one group of those on a cycle, in the place of the first."""
    first, others = cycle[0], cycle[1:]
    left[:, first] = left[:, cycle].min(axis=1)
    left[first, :] = left[cycle, :].min(axis=0)
    left[others, :] = _NONE
    left[first, first] = _NONE
    for other in others:
        members[first] += members[other]
        members[other] = []
