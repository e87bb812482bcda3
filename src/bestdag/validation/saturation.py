"""Whether more data would still help: the sensitivity to the prior over growing samples."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestdag.data.readers import as_dataset
from bestdag.errors import DataError, InvalidParameterError, import_optional, require_count
from bestdag.evaluation.sensitivity import Sensitivity, sensitivity
from bestdag.evaluation.structures import compare
from bestdag.graph.dag import Dag
from bestdag.scores.bdeu import BDeu
from bestdag.search import search_for_fit
from bestdag.search.steps import Search
from bestdag.tabular import Table, Tabular
from bestdag.validation.fits import learn_one_of_many
from bestdag.wording import count_of
from bestdag.workers import resolve_workers

__all__ = ["Saturation", "SaturationPoint", "saturation"]

_LEAST_ROWS = 20
_NOTE = (
    "the sensitivity goes with the accuracy of predictions; the structure may still change when it "
    "is flat"
)


@dataclass(frozen=True, slots=True)
class SaturationPoint:
    """BDeu's optimum on the first rows.

    Attributes
    ----------
    n_rows : int
    sensitivity : Sensitivity
        Of the optimum.
    dag : Dag
    is_proved : bool
        Whether it is proven that this is the optimum.
    shd_to_last : int or None
        Distance between its class and that of the point before.
    """

    n_rows: int
    sensitivity: Sensitivity
    dag: Dag
    is_proved: bool
    shd_to_last: int | None

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "rows": self.n_rows,
            **self.sensitivity.to_dict(),
            "arcs": [list(arc) for arc in self.dag.arcs],
            "is_proved": self.is_proved,
            "shd_to_last": self.shd_to_last,
        }


@dataclass(frozen=True, slots=True)
class Saturation(Tabular):
    """The curve of the relative sensitivity over the number of rows.

    Attributes
    ----------
    points : tuple of SaturationPoint
        By growing number of rows.
    tolerance : float
        The curve is flat from a point on when no later one is lower by more than this share of
        the highest one.
    """

    points: tuple[SaturationPoint, ...]
    tolerance: float

    @property
    def curve(self) -> tuple[float, ...]:
        """Relative sensitivity at each point: (Max-BDeu - Min-BDeu) / abs(Min-BDeu)."""
        return tuple(point.sensitivity.relative for point in self.points)

    @property
    def saturated_at(self) -> int | None:
        """The number of rows from which on the curve is flat; None where it falls to the end.

        Flat from a point on: no later point is lower by more than `tolerance` times the highest.
        """
        curve = self.curve
        least = self.tolerance * max(curve)
        for k in range(len(curve) - 1):
            if curve[k] - min(curve[k + 1 :]) <= least:
                return self.points[k].n_rows
        return None

    @property
    def is_flat(self) -> bool:
        """Whether the curve is flat at its end."""
        return self.saturated_at is not None

    def _table(self) -> Table:
        return Table(
            names=("rows", "relative", "difference", "arcs", "shd_to_last", "proved"),
            rows=(
                (
                    point.n_rows,
                    point.sensitivity.relative,
                    point.sensitivity.difference,
                    len(point.dag.arcs),
                    point.shd_to_last,
                    point.is_proved,
                )
                for point in self.points
            ),
            n_rows=len(self.points),
            n_labels=1,
            title="sensitivity to the prior over growing samples",
            notes=[self._verdict(), _NOTE],
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "points": [point.to_dict() for point in self.points],
            "tolerance": self.tolerance,
            "is_flat": self.is_flat,
            "saturated_at": self.saturated_at,
            "notes": [_NOTE],
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve; needs matplotlib."""
        if ax is None:
            ax = import_optional("matplotlib.pyplot", who="plot", extra="plot").subplots()[1]
        ax.plot([point.n_rows for point in self.points], self.curve, marker="o")
        if self.saturated_at is not None:
            ax.axvline(self.saturated_at, linestyle=":", label="flat from here on")
            ax.legend()
        ax.set(xscale="log", xlabel="rows", ylabel="(Max-BDeu - Min-BDeu) / |Min-BDeu|")
        ax.set_title("sensitivity of BDeu's optimum")
        return ax

    def __str__(self) -> str:
        lines = [f"{'rows':>10}  {'relative':>10}  {'difference':>12}  {'arcs':>5}  {'changed':>7}"]
        for point in self.points:
            changed = "" if point.shd_to_last is None else str(point.shd_to_last)
            mark = "" if point.is_proved else "  (not proven)"
            lines.append(
                f"{point.n_rows:>10,}  {point.sensitivity.relative:>10.6f}  "
                f"{point.sensitivity.difference:>12.4f}  {len(point.dag.arcs):>5}  "
                f"{changed:>7}{mark}"
            )
        return "\n".join([*lines, self._verdict(), _NOTE])

    def _verdict(self) -> str:
        where = self.saturated_at
        if where is None:
            return "falling to the end: more rows would help"
        return (
            f"flat from {count_of(where, 'row')} on: no later point is lower by more than "
            f"{self.tolerance:g} of the highest"
        )


def saturation(
    data: Any,
    *,
    sizes: Sequence[int] | None = None,
    ess: float = 1.0,
    epsilon: float = 0.5,
    max_parents: int | None = 3,
    search: Search | str = "auto",
    tolerance: float = 0.05,
    seed: int = 0,
    workers: int | Executor | None = None,
) -> Saturation:
    """Follow the sensitivity of BDeu's optimum to the prior over growing samples.

    Parameters
    ----------
    data : Dataset, or anything `read` takes
    sizes : list of int, optional
        Numbers of rows; 20, 40, 80, ... and all of them unless given.
    ess, epsilon : float, default 1 and 0.5
        Of BDeu, Min-BDeu and Max-BDeu.
    max_parents : int or None, default 3
    search : Search or str, default "auto"
    tolerance : float, default 0.05
        The curve is flat from a point on when no later one is lower by more than this share of
        the highest one.
    seed : int, default 0
        The rows are put in a random order; each sample is the beginning of the next.
    workers : int or Executor, optional
        As in `learn`.

    Returns
    -------
    Saturation

    Raises
    ------
    DataError
        If rows have weights.
    InvalidParameterError
        If a setting is out of range.

    Notes
    -----
    Scanagatta, de Campos and Zaffalon (2014), section 4.2, found that the curve falls and becomes
    flat where the accuracy of predictions does. It says nothing about the structure, which may
    still change: `shd_to_last` tells.

    Examples
    --------
    >>> from bestdag.examples import example
    >>> found = saturation(example("asia.csv"), search="exact")
    >>> [point.n_rows for point in found.points][-3:], found.is_flat
    ([640, 1280, 2000], True)
    """
    who_works = resolve_workers("saturation", workers)
    dataset = as_dataset(data)
    if dataset.weights is not None:
        raise DataError("saturation: rows without weights are needed; repeat the rows instead")
    require_count("saturation", "seed", seed)
    if not (isinstance(tolerance, int | float) and 0 <= tolerance < 1):
        raise InvalidParameterError(
            f"saturation: tolerance: a number >= 0 and < 1 is needed, got {tolerance!r}"
        )
    order = np.random.default_rng(seed).permutation(dataset.n_rows)
    points: list[SaturationPoint] = []
    for size in _checked(sizes, dataset.n_rows):
        rows = dataset.select(rows=np.sort(order[:size]))
        result = learn_one_of_many(
            rows,
            BDeu(ess=ess),
            search=search_for_fit(search),
            max_parents=max_parents,
            support=0.0,  # the question is what the score makes of families without support
            workers=who_works,
            seed=seed,
        )
        measured = sensitivity(
            result.dag, rows, ess=ess, epsilon=epsilon, threads=who_works.threads
        )
        assert isinstance(measured, Sensitivity)
        distance = compare(points[-1].dag, result.dag).shd_cpdag if points else None
        points.append(SaturationPoint(size, measured, result.dag, result.is_proved, distance))
    return Saturation(tuple(points), tolerance)


def _checked(sizes: Sequence[int] | None, n_rows: int) -> list[int]:
    if sizes is None:
        sizes = []
        size = _LEAST_ROWS
        while size < n_rows:
            sizes.append(size)
            size *= 2
        return [*sizes, n_rows]
    listed = sorted({require_count("saturation", "a size", size, minimum=1) for size in sizes})
    if not listed or listed[-1] > n_rows:
        raise InvalidParameterError(
            f"saturation: sizes of 1 to {n_rows:,} rows are needed, got {list(sizes)!r:.60}"
        )
    return listed
