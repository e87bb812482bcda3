"""Whether a table has few different rows, before they are put together."""

from __future__ import annotations

from collections.abc import Sequence

from bestdag.data.duck import DuckTable, Field
from bestdag.data.interrupts import interruptible

__all__ = ["LEAST_ROWS", "has_fractions_sql", "promises_few_different_rows"]

# Fewer rows than this are quick to count as they are.
LEAST_ROWS = 100_000
# Equal rows are put together unasked where at most one in so many is left.
_SHARE = 8
# Rows of the sample that is looked at first.
_SAMPLE = 1 << 16


def promises_few_different_rows(table: DuckTable, fields: Sequence[Field], n_rows: int) -> bool:
    """Whether at most one in eight rows seems to be left when equal ones are put together.

    The first rows are looked at, and where they promise it, all of them, by an estimate that
    takes fixed memory. What a sample of n rows with d different ones, f1 of them seen once and f2
    twice, promises is at least d + f1 (f1 - 1) / (2 (f2 + 1)) different rows in all (Chao 1984).
    """
    rows = f"hash({', '.join(field.cheapest for field in fields)}) AS h"
    sample = table.projected(rows)
    counts = interruptible(
        lambda: (
            sample.limit(_SAMPLE)
            .aggregate("count(*) AS n", "h")
            .aggregate("count(*), count(*) FILTER (n = 1), count(*) FILTER (n = 2)")
            .fetchall()[0]
        ),
        table.con,
    )
    different, once, twice = map(int, counts)
    promised = different + once * (once - 1) / (2 * (twice + 1))
    if promised * _SHARE > n_rows:
        return False
    hashed = f"approx_count_distinct(hash({', '.join(field.cheapest for field in fields)}))"
    return bool(int(table.select(hashed)[0][0]) * _SHARE <= n_rows)


def has_fractions_sql(weight: Field) -> str:
    """Return SQL for how many weights are no whole numbers: their sums depend on the order."""
    number = f"TRY_CAST({weight.sql} AS DOUBLE)"
    return f"count(*) FILTER ({number} IS NULL OR {number} <> floor({number}))"
