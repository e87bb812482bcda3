"""Answers for many rows at once: their probability, and what they say about one variable."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from bestdag.inference.log_tables import LogTables, Rows
from bestdag.inference.missing import add_sums
from bestdag.machine import require_memory
from bestdag.wording import by_reader

__all__ = ["log_marginal", "log_probabilities", "most_probable", "posteriors"]

_Floats = npt.NDArray[np.float64]

# Cells of the table of posteriors that only the most probable state is taken from (32 MiB).
_BLOCK_CELLS = 1 << 22


def log_probabilities(tables: LogTables, rows: Rows, *, threads: int | None = None) -> _Floats:
    """Return the logarithm of the probability of what each row shows.

    Examples
    --------
    >>> tables = LogTables([np.array([0.8, 0.2]), np.array([[0.9, 0.1], [0.0, 1.0]])], [[], [0]])
    >>> rain, wet = np.array([0, 1, 2], np.uint8), np.array([1, 0, 1], np.uint8)  # 2 is missing
    >>> np.exp(log_probabilities(tables, Rows(3, (rain, wet), (True, False)))).round(6)
    array([0.08, 0.  , 0.28])
    """
    what = f"the answer for {rows.n_rows:,} rows"
    require_memory("log_probability", what, rows.n_rows * 8, "use fewer rows at a time")
    out = np.zeros((rows.n_rows, 1))
    if any(rows.has_missing):
        add_sums(tables, rows, out)
    tables.add(rows, out, threads=threads)
    return out[:, 0]


def posteriors(
    tables: LogTables,
    rows: Rows,
    target: int,
    *,
    log: bool = False,
    threads: int | None = None,
) -> _Floats:
    """Return the distribution of one variable given the other cells of each row.

    A row is NaN where every state of the target has probability zero beside the cells that it
    depends on.

    Examples
    --------
    >>> tables = LogTables([np.array([0.8, 0.2]), np.array([[0.9, 0.1], [0.0, 1.0]])], [[], [0]])
    >>> wet = np.array([0, 1, 2], np.uint8)
    >>> posteriors(tables, Rows(3, (None, wet), (True, True)), 0).round(6)
    array([[1.      , 0.      ],
           [0.285714, 0.714286],
           [0.8     , 0.2     ]])
    """
    arity = tables.arities[target]
    require_memory(
        "predict_proba",
        f"the answer for {rows.n_rows:,} rows and {arity:,} states",
        rows.n_rows * arity * 8,
        f"use fewer rows at a time{by_reader(', or predict()', '')}",
    )
    out = np.zeros((rows.n_rows, arity))
    if any(some for v, some in enumerate(rows.has_missing) if v != target):
        add_sums(tables, rows, out, target=target)
    tables.add(rows, out, target=target, result="log share" if log else "share", threads=threads)
    return out


def most_probable(
    tables: LogTables, rows: Rows, target: int, *, threads: int | None = None
) -> Iterator[tuple[int, npt.NDArray[np.intp], npt.NDArray[np.bool_]]]:
    """Go through the rows in blocks: the first row, the most probable states, impossible rows.

    Ties go to the first state. Rows that are impossible have no meaningful state.
    """
    n_together = max(1, _BLOCK_CELLS // tables.arities[target])
    for first in range(0, rows.n_rows, n_together):
        found = posteriors(
            tables, rows.part(first, first + n_together), target, log=True, threads=threads
        )
        yield first, found.argmax(axis=1), np.isnan(found[:, 0])


def log_marginal(tables: LogTables, target: int) -> _Floats:
    """Return the logarithm of the distribution of one variable when nothing else is known."""
    n_variables = len(tables.arities)
    nothing = Rows(1, (None,) * n_variables, (True,) * n_variables)
    found: _Floats = posteriors(tables, nothing, target, log=True)[0]
    return found
