"""Sums of products of tables by NumPy, and the greedy order: the reference of the native ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from itertools import combinations
from math import fsum, log2

import numpy as np
import numpy.typing as npt

from bestdag.factors import Factor, Plan

_Floats = npt.NDArray[np.float64]


_Neighbours = dict[str, set[str]]


def plan_elimination(
    scopes: Iterable[Iterable[str]],
    keep: Iterable[str],
    sizes: Mapping[str, int],
    cheap: float = 1 << 18,
) -> Plan:
    """Choose greedily: next comes the variable whose product is smallest, ties by name.

    Where that leads to large products, two more rules are tried, fewest new pairs of variables
    that meet in a table and the same weighted by size; the least work wins.
    """
    neighbours: _Neighbours = {name: set() for name in keep}
    kept = frozenset(neighbours)
    for scope in map(frozenset, scopes):
        for name in scope:
            neighbours.setdefault(name, set()).update(scope - {name})
    bits = {name: log2(sizes[name]) for name in neighbours}
    best = _greedy(neighbours, kept, bits, lambda *_: 0.0)
    if best.work > cheap:
        others = (_new_pairs(lambda a, b: 1.0), _new_pairs(lambda a, b: bits[a] * bits[b]))
        plans = [_greedy(neighbours, kept, bits, rule) for rule in others]
        best = min([best, *plans], key=lambda plan: plan.work)
    return best


def _greedy(
    given: _Neighbours,
    kept: frozenset[str],
    bits: Mapping[str, float],
    rule: Callable[[_Neighbours, str], float],
) -> Plan:
    """Eliminate by the smallest value of the rule, ties by the size of the product, by name."""
    neighbours = {name: set(others) for name, others in given.items()}

    def size(name: str) -> float:
        return bits[name] + fsum(bits[other] for other in neighbours[name])

    costs = {name: (rule(neighbours, name), size(name), name) for name in given if name not in kept}
    order = []
    largest = fsum(bits[name] for name in kept)
    work = 0.0
    while costs:
        name = min(costs, key=lambda name: costs[name])
        order.append(name)
        cells = costs.pop(name)[1]
        largest = max(largest, cells)
        work += 2.0 ** min(cells, 1000.0)
        around = neighbours.pop(name)
        for other in around:
            neighbours[other] |= around
            neighbours[other] -= {name, other}
        for other in around:
            if other in costs:
                costs[other] = (rule(neighbours, other), size(other), other)
    return Plan(tuple(order), largest, work)


def _new_pairs(weight: Callable[[str, str], float]) -> Callable[[_Neighbours, str], float]:
    """Sum a weight over the pairs of neighbours that only an elimination would bring together."""

    def rule(neighbours: _Neighbours, name: str) -> float:
        pairs = combinations(neighbours[name], 2)
        return fsum(weight(a, b) for a, b in pairs if b not in neighbours[a])

    return rule


def sum_product(factors: Sequence[Factor], plan: Plan) -> Factor:
    """Multiply all factors and sum out the variables of the plan."""
    return _eliminated(factors, plan, np.multiply, 1.0, lambda values, axis: values.sum(axis=axis))


def log_sum_product(factors: Sequence[Factor], plan: Plan) -> Factor:
    """Do the same with logarithms in and out: nothing underflows, and zero is minus infinity."""
    return _eliminated(factors, plan, np.add, 0.0, _log_sum)


def _eliminated(
    factors: Sequence[Factor],
    plan: Plan,
    times: np.ufunc,
    one: float,
    total: Callable[[_Floats, int], _Floats],
) -> Factor:
    left = list(factors)
    for name in plan.order:
        touched = [factor for factor in left if name in factor.axes]
        left = [factor for factor in left if name not in factor.axes]
        product = _product(touched, times, one)
        axis = product.axes.index(name)
        rest = product.axes[:axis] + product.axes[axis + 1 :]
        left.append(Factor(rest, total(product.values, axis)))
    return _product(left, times, one)


def _log_sum(values: _Floats, axis: int) -> _Floats:
    """Return the logarithm of the sum of exponentials along an axis."""
    highest = values.max(axis=axis, keepdims=True)
    highest[highest == -np.inf] = 0.0  # all are impossible: the sum below is 0
    with np.errstate(divide="ignore"):
        sums = np.log(np.exp(values - highest).sum(axis=axis))
    found: _Floats = sums + highest.squeeze(axis)
    return found


def aligned(factor: Factor, axes: Sequence[str]) -> _Floats:
    """Return the values over these axes, of length 1 where the factor has none."""
    present = [name for name in axes if name in factor.axes]
    values = factor.values.transpose([factor.axes.index(name) for name in present])
    lengths = iter(values.shape)
    return values.reshape([next(lengths) if name in factor.axes else 1 for name in axes])


def _product(factors: Sequence[Factor], times: np.ufunc, one: float) -> Factor:
    axes = tuple(dict.fromkeys(name for factor in factors for name in factor.axes))
    # Small ones first: the full size is reached as late as possible.
    tables = sorted((aligned(factor, axes) for factor in factors), key=lambda table: table.size)
    return Factor(axes, reduce(times, tables, np.full([1] * len(axes), one)))
