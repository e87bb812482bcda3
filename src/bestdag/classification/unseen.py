"""What rows to be predicted hold that no training row has, said in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.classification.columns import CodedTable
from bestdag.data.labels import is_absent
from bestdag.wording import count_of, either

__all__ = ["Part", "notes_on"]

_MOST_SHOWN = 5


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Training rows as codes, and rows to be predicted with their true classes."""

    coded: CodedTable
    columns: Mapping[str, npt.NDArray[Any]]
    classes: npt.NDArray[Any]

    def unseen_classes(self) -> dict[str, int]:
        """Return the classes that no training row has, each with its number of rows."""
        target = self.coded.target
        counts = np.bincount(self.classes, minlength=target.arity)
        trained = np.bincount(self.coded.dataset.codes(target.name), minlength=target.arity)
        places = np.flatnonzero((counts > 0) & (trained == 0)).tolist()
        return {target.states[place]: int(counts[place]) for place in places}

    def unseen_values(self) -> dict[str, int]:
        """Return the columns with values that no training row has, each with its cells.

        Numbers are not among them: each belongs to an interval.
        """
        found = {}
        for column in self.coded.columns:
            variable = column.variable
            if variable.cuts is not None:
                continue
            raw = self.columns[variable.name]
            codes = column.codes(raw, ignore_unknown=True)
            trained = np.bincount(self.coded.dataset.codes(variable.name), minlength=variable.arity)
            is_unseen = np.append(trained == 0, False)[codes]
            n_unknown = sum(not is_absent(value) for value in raw[codes == variable.arity].tolist())
            found[variable.name] = int(is_unseen.sum()) + n_unknown
        return {name: n for name, n in found.items() if n}


def notes_on(parts: Iterable[Part]) -> tuple[str, ...]:
    """Say how many rows have classes, and how many cells values, that training rows lack."""
    classes: dict[str, int] = {}
    values: dict[str, int] = {}
    n_rows = 0
    for part in parts:
        n_rows += len(part.classes)
        for total, new in ((classes, part.unseen_classes()), (values, part.unseen_values())):
            for name, n in new.items():
                total[name] = total.get(name, 0) + n
    notes = []
    if classes:
        n = sum(classes.values())
        notes.append(
            f"{n:,} of {n_rows:,} predicted rows {either(n, 'has', 'have')} a class that none "
            f"of their training rows has: {_listing(classes)}"
        )
    if values:
        n = sum(values.values())
        notes.append(
            f"{count_of(n, 'cell')} of {n_rows:,} predicted rows "
            f"{either(n, 'has a value', 'have values')} that none of their training rows has, "
            f"in {_listing(values)}"
        )
    return tuple(notes)


def _listing(counts: Mapping[str, int]) -> str:
    shown = [f"{name!r} ({n:,})" for name, n in list(counts.items())[:_MOST_SHOWN]]
    more = [f"{len(counts) - _MOST_SHOWN} more"] if len(counts) > _MOST_SHOWN else []
    return ", ".join(shown + more)
