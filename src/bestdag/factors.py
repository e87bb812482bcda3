"""Sums of products of tables, one variable after the other; natively. Axes are known by name.

Probabilities are summed as they are, or as logarithms where products could underflow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bestdag import _core

__all__ = [
    "Factor",
    "Plan",
    "at_rows",
    "log_sum_product",
    "plan_elimination",
    "sum_out",
    "sum_product",
]

_Floats = npt.NDArray[np.float64]
_Axes = npt.NDArray[np.uint32]

# Below this many cells a second opinion on the order costs more than it can save.
_CHEAP = 1 << 18
_NANOSECONDS_PER_CELL = 3.0


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """A table with one named axis per variable."""

    axes: tuple[str, ...]
    values: _Floats


@dataclass(frozen=True, slots=True)
class Plan:
    """In which order to sum variables out.

    `log2_cells` is log2 of the cells of the largest product, `work` the cells of all products.
    """

    order: tuple[str, ...]
    log2_cells: float
    work: float


def plan_elimination(
    scopes: Iterable[Iterable[str]],
    keep: Iterable[str],
    sizes: Mapping[str, int],
    cheap: float = _CHEAP,
) -> Plan:
    """Choose greedily: next comes the variable whose product is smallest, ties by name.

    Where that leads to more than `cheap` cells in all products, two more rules are tried, fewest
    new pairs of variables that meet in a table and the same weighted by size; the least work wins.
    """
    listed = [tuple(scope) for scope in scopes]
    wanted = list(keep)
    names = sorted({*wanted, *(name for scope in listed for name in scope)})
    numbers = {name: i for i, name in enumerate(names)}
    lengths = np.array([sizes[name] for name in names], dtype=np.uint32)
    order, log2_cells, work = _core.plan_elimination(
        lengths, *_flat(listed, numbers), _numbered(wanted, numbers), float(cheap)
    )
    return Plan(tuple(names[axis] for axis in order), log2_cells, work)


def sum_product(factors: Sequence[Factor], plan: Plan, keep: Sequence[str]) -> _Floats:
    """Multiply all factors and sum out the variables of the plan.

    Returns
    -------
    array of float64
        With the axes `keep`, in this order; of length 1 where no factor has them.
    """
    lengths, parts, order, axes = _arrays(factors, plan, keep)
    out = np.empty([lengths[axis] for axis in axes.tolist()])
    flat = out.reshape(-1)
    _core.sum_product(lengths, *parts, order, axes, flat, _NANOSECONDS_PER_CELL * plan.work)
    return out


def log_sum_product(factors: Sequence[Factor], plan: Plan, keep: Sequence[str]) -> _Floats:
    """Do the same with logarithms in and out: nothing underflows, and zero is minus infinity.

    The first axis that is kept may be one of rows: each of them is scaled for itself.
    """
    lengths, parts, order, axes = _arrays(factors, plan, keep)
    out = np.empty([lengths[axis] for axis in axes.tolist()])
    flat = out.reshape(-1)
    _core.log_sum_product(lengths, *parts, order, axes, flat, _NANOSECONDS_PER_CELL * plan.work)
    return out


def sum_out(factors: Sequence[Factor], plan: Plan) -> list[Factor]:
    """Only sum out the variables of the plan: factors over the others are left; logarithms."""
    lengths, parts, order, _ = _arrays(factors, plan, ())
    names = _names(factors, ())
    left = _core.sum_out(lengths, *parts, order, _NANOSECONDS_PER_CELL * plan.work)
    return [
        Factor(
            tuple(names[axis] for axis in axes), values.reshape([lengths[axis] for axis in axes])
        )
        for axes, values in left
    ]


def at_rows(factor: Factor, fixed: Mapping[str, npt.NDArray[np.intp]], row: str) -> Factor:
    """Fix some variables of a factor to the codes of many rows; `row` names the new axis."""
    here = [name for name in factor.axes if name in fixed]
    if not here:
        return factor
    rest = [name for name in factor.axes if name not in fixed]
    values = factor.values.transpose([factor.axes.index(name) for name in here + rest])
    return Factor((row, *rest), values[tuple(fixed[name] for name in here)])


_Parts = tuple[_Axes, npt.NDArray[np.int64], list[_Floats]]


def _names(factors: Sequence[Factor], keep: Sequence[str]) -> list[str]:
    """List the axes, `keep` first."""
    return list(dict.fromkeys([*keep, *(name for factor in factors for name in factor.axes)]))


def _arrays(
    factors: Sequence[Factor], plan: Plan, keep: Sequence[str]
) -> tuple[_Axes, _Parts, _Axes, _Axes]:
    numbers = {name: i for i, name in enumerate(_names(factors, keep))}
    lengths = np.ones(len(numbers), dtype=np.uint32)
    for factor in factors:
        for name, length in zip(factor.axes, factor.values.shape, strict=True):
            lengths[numbers[name]] = length
    axes, ends = _flat([factor.axes for factor in factors], numbers)
    values = [np.ascontiguousarray(factor.values).reshape(-1) for factor in factors]
    order = _numbered([name for name in plan.order if name in numbers], numbers)
    return lengths, (axes, ends, values), order, _numbered(keep, numbers)


def _flat(
    scopes: Sequence[Sequence[str]], numbers: Mapping[str, int]
) -> tuple[_Axes, npt.NDArray[np.int64]]:
    axes = _numbered([name for scope in scopes for name in scope], numbers)
    return axes, np.cumsum([len(scope) for scope in scopes], dtype=np.int64)


def _numbered(names: Iterable[str], numbers: Mapping[str, int]) -> _Axes:
    return np.array([numbers[name] for name in names], dtype=np.uint32)
