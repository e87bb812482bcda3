"""The iterations of EM: expected counts, new probabilities, and again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.inference.flat_tables import FlatTables
from bestdag.inference.incomplete import IncompleteRows
from bestdag.machine import require_memory
from bestdag.wording import count_of

__all__ = ["EMRun", "Expectation", "iterate"]

_Floats = npt.NDArray[np.float64]

# Bytes for each cell of the largest group: the product, its place in each family, messages.
_BYTES_PER_CELL = 64


@dataclass(frozen=True, slots=True, eq=False)
class EMRun:
    """How EM went from one start.

    Attributes
    ----------
    start : str
        "available", "uniform", "random" or "network".
    values : array
        The probabilities at the end, in the layout of `FlatTables`.
    counts : array
        The expected counts under them.
    trace : tuple of float
        The objective at the start and after each iteration.
    log_likelihood : float
        Of what the rows show, at the end.
    converged : bool
    """

    start: str
    values: _Floats
    counts: _Floats
    trace: tuple[float, ...]
    log_likelihood: float
    converged: bool

    @property
    def objective(self) -> float:
        """What was raised: the log-likelihood plus, with a prior, its part."""
        return self.trace[-1]

    @property
    def iterations(self) -> int:
        """How often expected counts became new probabilities."""
        return len(self.trace) - 1


class Expectation:
    """The E step for one structure and one set of rows; groups of missing values are found once.

    Missing values that nothing known depends on are left out: they change neither what the rows
    show nor where it is most probable, and leaving them out saves iterations.

    `clock` says how many seconds are left; when there are none, `_core.OutOfTimeError` is raised.
    """

    def __init__(
        self, rows: IncompleteRows, tables: FlatTables, clock: Callable[[], float] = lambda: inf
    ) -> None:
        self._seconds_left = clock
        self.rows = rows
        self.tables = tables
        require_memory(
            "EM", "the tables and their counts", 6 * 8 * tables.n_cells, "use fewer arcs"
        )
        self._groups: _core.MissingGroups = rows.groups(
            tables.parents, whole=False, seconds=clock()
        )
        largest = self._groups.largest
        require_memory(
            "EM",
            f"{largest:,.6g} states of missing values that depend on each other",
            int(min(_BYTES_PER_CELL * largest * rows.threads, 1e30)),
            "leave out rows with many missing values, or use fewer arcs",
        )

    @property
    def is_complete(self) -> bool:
        """Whether no missing value matters, so that the counts are known."""
        return self._groups.n_cases == 0

    def __call__(self, values: _Floats) -> tuple[float, _Floats]:
        """Return the log-likelihood and the expected counts."""
        counts = np.empty(self.tables.n_cells)
        log_likelihood = self._groups.expected_counts(
            values, counts, self._seconds_left(), self.rows.threads
        )
        return log_likelihood, counts

    def complete_counts(self) -> _Floats:
        """Return the counts of each family in the rows in which it is complete."""
        return np.asarray(self._groups.complete_counts(), dtype=np.float64)

    def __repr__(self) -> str:
        return f"<Expectation: {count_of(self._groups.n_cases, 'case')}>"


def iterate(
    expect: Expectation,
    values: _Floats,
    maximize: Callable[[_Floats], _Floats],
    bonus: Callable[[_Floats], float],
    *,
    start: str,
    tolerance: float,
    max_iterations: int,
) -> EMRun | None:
    """Iterate until the objective changes by no more than `tolerance`, relatively.

    Parameters
    ----------
    expect : Expectation
    values : array
        The probabilities at the start.
    maximize : callable
        Expected counts in, probabilities out: the M step.
    bonus : callable
        What the M step raises beside the log-likelihood, at given probabilities.

    Returns
    -------
    EMRun, or None where a row is impossible at the start.
    """
    log_likelihood, counts = expect(values)
    trace = [log_likelihood + bonus(values)]
    if log_likelihood == -np.inf:
        return None
    converged = False
    while not converged and len(trace) <= max_iterations:
        values = maximize(counts)
        log_likelihood, counts = expect(values)
        trace.append(log_likelihood + bonus(values))
        change = abs(trace[-1] - trace[-2])
        converged = expect.is_complete or change <= tolerance * abs(trace[-1])
    return EMRun(start, values, counts, tuple(trace), log_likelihood, converged)
