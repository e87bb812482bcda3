"""What rows to be predicted hold that no training row has, said in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from bestdag.data.dataset import Dataset
from bestdag.wording import count_of, either

__all__ = ["Part", "notes_on"]

_MOST_SHOWN = 5


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Training rows, and rows to be predicted with their true classes.

    `unknown` says how many cells of a column have values that are no states.
    """

    train: Dataset
    target: str
    test: Dataset
    classes: npt.NDArray[np.int64]
    unknown: Mapping[str, int] = field(default_factory=dict)

    def unseen_classes(self) -> dict[str, int]:
        """Return the classes that no training row has, each with its number of rows."""
        target = self.train.variable(self.target)
        counts = np.bincount(self.classes, minlength=target.arity)
        trained = np.bincount(self.train.codes(target.name), minlength=target.arity)
        places = np.flatnonzero((counts > 0) & (trained == 0)).tolist()
        return {target.states[place]: int(counts[place]) for place in places}

    def unseen_values(self) -> dict[str, int]:
        """Return the columns with values that no training row has, each with its cells.

        Numbers are not among them: each belongs to an interval.
        """
        found = {}
        for variable in self.test.variables:
            if variable.cuts is None:
                trained = np.bincount(self.train.codes(variable.name), minlength=variable.arity)
                is_unseen = np.append(trained[: variable.arity] == 0, False)
                n_unseen = int(is_unseen[self.test.codes(variable.name)].sum())
                found[variable.name] = n_unseen + self.unknown.get(variable.name, 0)
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
