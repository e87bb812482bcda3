"""Sums of products of small tables, one variable after the other. Axes are known by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import log2

import numpy as np
import numpy.typing as npt

__all__ = ["Factor", "Plan", "aligned", "plan_elimination", "sum_product"]

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """A table with one named axis per variable."""

    axes: tuple[str, ...]
    values: _Floats


@dataclass(frozen=True, slots=True)
class Plan:
    """In which order to sum variables out, and log2 of the cells of the largest product."""

    order: tuple[str, ...]
    log2_cells: float


def plan_elimination(
    scopes: Iterable[Iterable[str]], keep: Iterable[str], sizes: Mapping[str, int]
) -> Plan:
    """Choose greedily: next comes the variable whose product is smallest, ties by name."""
    neighbours: dict[str, set[str]] = {name: set() for name in keep}
    kept = frozenset(neighbours)
    for scope in map(frozenset, scopes):
        for name in scope:
            neighbours.setdefault(name, set()).update(scope - {name})
    bits = {name: log2(sizes[name]) for name in neighbours}

    def cost(name: str) -> float:
        return bits[name] + sum(bits[other] for other in sorted(neighbours[name]))

    costs = {name: cost(name) for name in neighbours if name not in kept}
    order = []
    largest = sum(bits[name] for name in kept)
    while costs:
        name = min(costs, key=lambda name: (costs[name], name))
        order.append(name)
        largest = max(largest, costs.pop(name))
        around = neighbours.pop(name)
        for other in around:
            neighbours[other] |= around
            neighbours[other] -= {name, other}
        for other in around:
            if other in costs:
                costs[other] = cost(other)
    return Plan(tuple(order), largest)


def sum_product(factors: Sequence[Factor], plan: Plan) -> Factor:
    """Multiply all factors and sum out the variables of the plan."""
    left = list(factors)
    for name in plan.order:
        touched = [factor for factor in left if name in factor.axes]
        left = [factor for factor in left if name not in factor.axes]
        product = _product(touched)
        axis = product.axes.index(name)
        rest = product.axes[:axis] + product.axes[axis + 1 :]
        left.append(Factor(rest, product.values.sum(axis=axis)))
    return _product(left)


def aligned(factor: Factor, axes: Sequence[str]) -> _Floats:
    """Return the values over these axes, of length 1 where the factor has none."""
    present = [name for name in axes if name in factor.axes]
    values = factor.values.transpose([factor.axes.index(name) for name in present])
    lengths = iter(values.shape)
    return values.reshape([next(lengths) if name in factor.axes else 1 for name in axes])


def _product(factors: Sequence[Factor]) -> Factor:
    axes = tuple(dict.fromkeys(name for factor in factors for name in factor.axes))
    # Small ones first: the full size is reached as late as possible.
    tables = sorted((aligned(factor, axes) for factor in factors), key=lambda table: table.size)
    return Factor(axes, reduce(np.multiply, tables, np.ones([1] * len(axes))))
