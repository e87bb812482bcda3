"""Strategies after which no value is missing: refuse the table, drop rows, make a state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bestdag.data.dataset import Dataset
from bestdag.data.missing import missing_in_words
from bestdag.data.readers import read
from bestdag.errors import DataError
from bestdag.incomplete.base import CompleteRows
from bestdag.scores.base import Score
from bestdag.wording import arg

__all__ = ["DropRows", "MissingState", "Refuse", "suited"]

# Dropping rows suits where it leaves so many of them.
_MOST_ROWS = 0.95


@dataclass(frozen=True, slots=True)
class Refuse(CompleteRows):
    """Refuse a table with missing values, and say which way of treating them suits it.

    Examples
    --------
    >>> from bestdag.data.readers import read
    >>> from bestdag.scores import make_score
    >>> data = read({"a": ["x", None, "y"], "b": ["u", "v", "v"]}, missing="keep")
    >>> Refuse().settle(data, make_score("qnml"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    bestdag.errors.DataError: learn: column 'a' has 1 missing value, ...
    """

    name: ClassVar[str] = "error"
    reads_as: ClassVar[str] = "keep"  # so that the refusal can say how many rows are complete

    def settle(self, dataset: Dataset, score: Score) -> Dataset:
        """Return the data if they are complete."""
        if not dataset.has_missing:
            return dataset
        n_left = dataset.n_complete
        ways = [arg("missing", name) for name in _in_order(n_left / dataset.n_rows, score)]
        raise DataError(
            f"learn: {missing_in_words(dataset)}, and {n_left:,} of {dataset.n_rows:,} rows are "
            f"complete; {_said(ways)}"
        )


def suited(share_left: float, score: Score) -> str:
    """Name the way to treat missing values that suits, where this share of the rows is complete."""
    return _in_order(share_left, score)[0]


def _said(ways: list[str]) -> str:
    suits, *others = ways
    if not others:
        return f"recommended: {suits}"
    listed = " and ".join([*filter(None, [", ".join(others[:-1])]), others[-1]])
    return f"recommended: {suits}; also possible: {listed}"


def _in_order(share_left: float, score: Score) -> list[str]:
    """List the ways that are possible, the one that suits first."""
    from bestdag.incomplete import TREATMENTS, make_treatment

    ways = [make_treatment(name) for name in TREATMENTS if name != Refuse.name]
    possible = [way for way in ways if way.refusal(score) is None]
    names = [way.name for way in possible if way.name != DropRows.name or share_left > 0]
    keeping = [way.name for way in possible if way.keeps_missing]
    suits = DropRows.name if share_left >= _MOST_ROWS or not keeping else keeping[0]
    if suits not in names:
        suits = names[0]
    return [suits, *(name for name in names if name != suits)]


@dataclass(frozen=True, slots=True)
class DropRows(CompleteRows):
    """Learn from the rows without missing values, as `read` with ``missing="drop"`` leaves them.

    Right when values are missing completely at random; it wastes what the other rows show.
    """

    name: ClassVar[str] = "drop"
    reads_as: ClassVar[str] = "drop"
    summary: ClassVar[str] = "rows with missing values were dropped"

    def settle(self, dataset: Dataset, score: Score) -> Dataset:
        """Return the complete rows."""
        return read(dataset, missing="drop") if dataset.has_missing else dataset


@dataclass(frozen=True, slots=True)
class MissingState(CompleteRows):
    """Give columns with missing values a last state ``missing``, as `read` does.

    For tables in which it says something that a value is missing: the network is then one of what
    was recorded, not of what there is.
    """

    name: ClassVar[str] = "state"
    reads_as: ClassVar[str] = "state"
    summary: ClassVar[str] = "missing values count as a category of their own"

    def settle(self, dataset: Dataset, score: Score) -> Dataset:
        """Return the data with one more state where values are missing."""
        return read(dataset, missing="state") if dataset.has_missing else dataset
