"""Which missing variables of a row meet, for many rows at once.

The missing variables of a row fall apart into groups: two belong together when they meet in a
table. A missing variable without a known descendant is in no group and its table is left out: it
sums to one. Whatever else is missing in a row, equal groups are worked out together, so the
number of different rows does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bestdag.inference.log_tables import LogTables, Rows

__all__ = ["Group", "find_groups"]

_Bools = npt.NDArray[np.bool_]
_Positions = npt.NDArray[np.intp]
_Labels = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Group:
    """Missing variables that meet, the target apart, and the families they meet in."""

    variables: tuple[int, ...]
    families: tuple[int, ...]


def find_groups(
    tables: LogTables, rows: Rows, target: int | None = None
) -> Iterator[tuple[Group, _Positions]]:
    """List the groups of all rows, each with the rows that have it, in a fixed order.

    With a target, which counts as missing everywhere, only the groups that it belongs to.

    Examples
    --------
    In a chain 0 -> 1 -> 2 -> 3 of which 1 and 3 are missing, 3 is left out and 1 stands alone,
    in its own table and in that of 2.

    >>> half = np.full((2, 2), 0.5)
    >>> chain = LogTables([half[0], half, half, half], [[], [0], [1], [2]])
    >>> row = tuple(np.array([code], np.uint8) for code in (0, 2, 1, 2))
    >>> list(find_groups(chain, Rows(1, row, (False, True, False, True))))
    [(Group(variables=(1,), families=(1, 2)), array([0]))]
    """
    holes = [v for v, some in enumerate(rows.has_missing) if some or v == target]
    place = {v: i for i, v in enumerate(holes)}
    needed, active = _needed(tables, rows, holes, target)
    families = sorted({family for v in holes for family in tables.touching(v)})
    meetings = {f: [place[v] for v in tables.families[f] if v in place] for f in families}
    labels = _labels(needed, active, meetings)
    wanted = needed if target is None else needed & (labels == labels[place[target]])
    sets = _Sets(wanted.shape)
    for variable, i in place.items():
        if variable != target:
            here = np.flatnonzero(wanted[i])
            sets.put(("variable", variable), labels[i, here], here)
    for family, met in meetings.items():
        others = [i for i in met if holes[i] != target]
        some = wanted[others].any(axis=0)
        if family in active:
            some &= active[family]
        here = np.flatnonzero(some)
        label = np.where(wanted[others][:, here], labels[others][:, here], len(holes)).min(
            axis=0, initial=len(holes)
        )
        sets.put(("family", family), label, here)
    for members, positions in sets.listed():
        variables = tuple(v for kind, v in members if kind == "variable")
        yield Group(variables, tuple(v for kind, v in members if kind == "family")), positions


def _needed(
    tables: LogTables, rows: Rows, holes: list[int], target: int | None
) -> tuple[_Bools, dict[int, _Bools]]:
    """Return which cells are summed over, and in which rows the families of holes are not left out.

    A missing variable is needed when a child is known or needed itself.
    """
    place = {v: i for i, v in enumerate(holes)}
    needed = np.zeros((len(holes), rows.n_rows), dtype=np.bool_)
    active: dict[int, _Bools] = {}
    for variable in reversed(tables.order):
        if variable not in place:
            continue
        cells = needed[place[variable]]
        if variable == target:
            cells[:] = True
            continue
        absent = rows.missing(variable, tables.arities[variable])
        for child in tables.children[variable]:
            cells |= active.get(child, True)
        cells &= absent
        active[variable] = cells | ~absent
    return needed, active


def _labels(needed: _Bools, active: dict[int, _Bools], meetings: dict[int, list[int]]) -> _Labels:
    """Give the needed cells of a row that are joined by active families one number."""
    labels = np.repeat(np.arange(len(needed), dtype=np.int32)[:, None], needed.shape[1], axis=1)
    none = np.int32(len(needed))
    labels[~needed] = none
    sweep = [(family, met) for family, met in meetings.items() if len(met) > 1]
    changed = True
    while changed:
        changed = False
        for family, met in sweep:
            here = labels[met]
            least = here.min(axis=0)
            wrong = (here != least) & (here != none)
            if family in active:
                wrong &= active[family]
            if wrong.any():
                changed = True
                labels[met] = np.where(wrong, least, here)
        sweep.reverse()  # labels travel along a chain in whatever order it is listed
    return labels


class _Sets:
    """One growing set per label and row; equal sets have equal numbers."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._numbers = np.zeros(shape, dtype=np.int32)  # 0 is the empty set
        self._steps: list[tuple[int, tuple[str, int]]] = [(0, ("", 0))]

    def put(self, member: tuple[str, int], labels: npt.NDArray[np.int32], rows: _Positions) -> None:
        """Put one member into the sets of some rows."""
        found, inverse = np.unique(self._numbers[labels, rows], return_inverse=True)
        self._numbers[labels, rows] = len(self._steps) + inverse
        self._steps.extend((number, member) for number in found.tolist())

    def listed(self) -> Iterator[tuple[list[tuple[str, int]], _Positions]]:
        """List the sets that are not empty, each with its rows, members in order of arrival."""
        rows = np.nonzero(self._numbers)[1]
        numbers = self._numbers[self._numbers > 0]
        order = np.argsort(numbers, kind="stable")
        ends = np.flatnonzero(np.diff(numbers[order])) + 1
        for some in np.split(order, ends) if len(order) else []:
            members = []
            number = int(numbers[some[0]])
            while number:
                number, member = self._steps[number]
                members.append(member)
            yield members[::-1], rows[some]
