"""Which rows of a table `bestdag classify` uses, when values are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bestdag.wording import count_of, either

if TYPE_CHECKING:
    from bestdag.classification.uncut import UncutTable

__all__ = ["usable_rows"]


def usable_rows(
    table: UncutTable,
    path: str,
    target: str,
    missing: str,
    notes: list[str],
    *,
    allow_few_rows: bool = False,
    is_test: bool = False,
) -> UncutTable:
    """Refuse rows with missing values, or leave some out and note how many.

    With "em" and "marginalize" those without a class are left out, as there is nothing to compare
    with, and the others are noted; rows that are only to be predicted have `is_test`.
    """
    is_missing = table.is_missing()
    if not is_missing.any():
        return table
    is_kept = missing in ("em", "marginalize")
    if not is_kept:
        _refuse_empty_columns(table, path)
    n_missing, n_rows = int(is_missing.sum()), len(is_missing)
    if missing == "error":
        raise click.UsageError(
            f"{path}: {count_of(n_missing, 'row')} of {n_rows:,} "
            f"{either(n_missing, 'has', 'have')} missing values; leave out --missing error to "
            "learn from what they show, or pass --missing drop"
        )
    what = "missing values"
    if is_kept:
        n_holed = int((is_missing & ~table.is_missing_in(target)).sum())
        if n_holed:
            learned = (
                "learned from all rows, by EM" if missing == "em" else "learned from the others"
            )
            how = "" if is_test else f"{learned}, and "
            notes.append(
                f"{path}: {count_of(n_holed, 'row')} of {n_rows:,} "
                f"{either(n_holed, 'has', 'have')} missing values; {how}summed over them in "
                "prediction"
            )
        what = f"no class in {target!r}"
        is_missing = table.is_missing_in(target)
        n_missing = int(is_missing.sum())
    if n_missing == n_rows:
        raise click.UsageError(f"{path}: every row has {what}, so none would be left")
    if missing == "drop" and not allow_few_rows and 3 * (n_rows - n_missing) < n_rows:
        raise click.UsageError(
            f"{path}: {n_rows - n_missing:,} of {n_rows:,} rows have no missing values, "
            "less than a "
            "third; leave columns out with --drop, use --missing em, or pass "
            "--allow-few-rows to continue"
        )
    if n_missing:
        has, is_ = either(n_missing, "has", "have"), either(n_missing, "is", "are")
        notes.append(
            f"{path}: {count_of(n_missing, 'row')} of {n_rows:,} {has} {what} and {is_} left out"
        )
    return table.rows(~is_missing)


def _refuse_empty_columns(table: UncutTable, path: str) -> None:
    for name in table.names:
        is_missing = table.is_missing_in(name)
        if is_missing.all():
            raise click.UsageError(
                f"{path}: column {name!r} has no values, all {len(is_missing):,} cells are "
                "missing; leave it out with --drop"
            )
