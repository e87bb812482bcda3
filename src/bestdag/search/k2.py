"""K2: parents chosen greedily along an order of the variables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from bestdag.errors import GraphError, InvalidParameterError, require_count, unknown_name
from bestdag.graph.knowledge import NodeKnowledge
from bestdag.registry import setting
from bestdag.search.climbing.walk import Walk
from bestdag.search.feasible import Parents
from bestdag.search.problem import Problem
from bestdag.search.steps import POINT, Note, Steps
from bestdag.wording import arg

__all__ = ["K2Search"]

_N_ORDERS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class K2Search:
    """Give each variable, one after the other, the parents that gain most.

    A variable's parents come from those before it in the order: the one that gains most is added
    until none gains or there are `max_parents`, a setting of the problem.

    Parameters
    ----------
    order : sequence of str, optional
        Every variable once. Without it the total order of the knowledge is used, or
        random orders.
    orders : int, optional
        Try so many random orders, 10 unless given, and return the best structure. They follow
        what the knowledge says about arcs, tiers and orders.

    Raises
    ------
    InvalidParameterError
        Both `order` and `orders`; on running, an order that lacks a variable.
    UnknownNameError
        On running, an order with a name that is no variable.
    GraphError
        On running, an order that contradicts the knowledge.

    Notes
    -----
    With at most u parents per variable, an order takes the scores of O(u n^2) families [1]_.

    "local optimum" means that no further parent that the order allows raises the score. K2 is
    also the name of a score; this search runs with every score.

    References
    ----------
    .. [1] Cooper and Herskovits (1992). "A Bayesian method for the induction of probabilistic
       networks from data." Machine Learning 9, 309-347.

    Examples
    --------
    >>> from bestdag import learn
    >>> from bestdag.examples import example
    >>> order = ["asia", "smoke", "tub", "lung", "bronc", "either", "xray", "dysp"]
    >>> result = learn(example("asia.csv"), "k2", search=K2Search(order=order))
    >>> result.dag.parents("either"), result.dag.parents("dysp")
    (('lung', 'tub'), ('bronc', 'either'))
    """

    name: ClassVar[str] = "k2"

    order: Sequence[str] | None = setting(None, "All variables in order, separated by commas.")
    orders: int | None = setting(
        None, "Number of random orders to try.  [default: 10, if no order is given]"
    )

    def __post_init__(self) -> None:
        if self.orders is not None:
            require_count("k2", "orders", self.orders, minimum=1)
        if self.order is None:
            return
        if self.orders is not None:
            raise InvalidParameterError(
                f"k2: give either {arg('order')} or {arg('orders')}, not both"
            )
        if isinstance(self.order, str) or not isinstance(self.order, Iterable):
            raise InvalidParameterError(f"k2: order must be a list of names, got {self.order!r}")
        object.__setattr__(self, "order", tuple(self.order))

    def steps(self, problem: Problem) -> Steps:
        """Add parents along each order."""
        nodes, order = problem.nodes, self._one_order(problem)
        n_orders = 1
        if order is None:
            n_orders = self.orders or _N_ORDERS
            yield Note(f"the best of {n_orders} random orders")
        else:
            nodes = _along(nodes, order)
        walk = Walk(self.name, problem, nodes, use_start=False, remember=order is None)
        yield from walk.prepare()
        yield from walk.begin(walk.base)
        for number in range(n_orders):
            if number:
                yield from walk.go_to(walk.base, f"order {number + 1}")
            rng = np.random.default_rng([problem.seed, number])
            yield from _add_parents(walk, order or _random_order(nodes, walk.base, rng))

    def _one_order(self, problem: Problem) -> list[int] | None:
        """Return the one order, by the setting or the knowledge; None for random orders."""
        number = {name: i for i, name in enumerate(problem.names)}
        if self.order is not None:
            _require_every_name(self.order, number)
            return [number[name] for name in self.order]
        if self.orders is not None:
            return None
        if problem.knowledge.total_order:
            return [number[name] for name in problem.knowledge.total_order]
        return None


def _require_every_name(order: Sequence[str], number: dict[str, int]) -> None:
    for name in order:
        if name not in number:
            raise unknown_name("variable", name, number, who="k2: order")
    if len(order) != len(number) or len(set(order)) != len(number):
        missing = sorted(set(number).difference(order))
        what = f"{missing[0]!r} is missing" if missing else "a name comes twice"
        raise InvalidParameterError(f"k2: {arg('order')} must have every variable once; {what}")


def _along(nodes: NodeKnowledge, order: Sequence[int]) -> NodeKnowledge:
    """Allow only arcs along the order, and refuse one that contradicts the knowledge."""
    place = np.argsort(order)
    along = place[:, None] < place[None, :]
    against = [("->", parent, child) for parent, child in np.argwhere(nodes.required & ~along)]
    against += [("~>", a, b) for a, b in nodes.ancestors if not along[a, b]]
    for sign, before, after in against:
        names = nodes.names
        raise GraphError(
            f"k2: the order has {names[after]!r} before {names[before]!r}, and the knowledge says "
            f"'{names[before]} {sign} {names[after]}'; give another order"
        )
    return replace(nodes, allowed=nodes.allowed & along)


def _add_parents(walk: Walk, order: Sequence[int]) -> Steps:
    """Add the best parent from before until none gains: to all in step, one call for each round.

    Where paths matter, what an earlier variable got decides what a later one may have.
    """
    place = np.argsort(order).astype(np.int32)
    groups = [[child] for child in order] if walk.nodes.has_ancestral else [list(order)]
    for group in groups:
        children = group
        while children:
            best = (walk.climb.best_addition(child, walk.tie, place) for child in children)
            moves = [move for move in best if move is not None and move[3] > walk.tie]
            if moves:
                yield from walk.make(moves)
            children = [child for _, _, child, _ in moves]
        yield POINT


def _random_order(nodes: NodeKnowledge, base: Parents, rng: np.random.Generator) -> list[int]:
    """Draw an order that the arcs of `base` follow, and pairs that are allowed one way only.

    The latter as far as possible: pairs may lead round a circle.
    """
    n = len(nodes.names)
    left = np.ones(n, bool)
    needs = np.zeros((n, n), bool)  # needs[p, c]: p must come before c
    for child, group in enumerate(base):
        needs[group, child] = True
    wants: npt.NDArray[np.bool_] = nodes.allowed & ~nodes.allowed.T
    n_needed, n_wanted = needs.sum(axis=0), wants.sum(axis=0)
    order: list[int] = []
    while len(order) < n:
        ready = np.flatnonzero(left & (n_needed == 0))
        fewest = n_wanted[ready].min()
        node = int(rng.choice(ready[n_wanted[ready] == fewest]))
        order.append(node)
        left[node] = False
        n_needed -= needs[node]
        n_wanted -= wants[node]
    return order
