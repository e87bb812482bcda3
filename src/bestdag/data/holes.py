"""Missing values in words and numbers: where they are, and how many rows have none."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from bestdag.data.dataset import Dataset
from bestdag.wording import count_of

__all__ = ["complete_rows", "holes_in_words", "holes_text", "shown_counts"]

_SHOWN_COLUMNS = 5


def complete_rows(data: Dataset) -> npt.NDArray[np.bool_]:
    """Which rows have no missing value.

    Examples
    --------
    >>> from bestdag.data.schema import Variable
    >>> data = Dataset([Variable("a", ("x", "y"))], [np.array([0, 2, 1])])
    >>> complete_rows(data).tolist()
    [True, False, True]
    """
    complete = np.ones(data.n_rows, dtype=np.bool_)
    for name in data.missing_counts:
        complete &= ~data.missing(name)
    return complete


def holes_in_words(data: Dataset) -> str:
    """Say which columns have missing values, and how many; there must be some.

    Examples
    --------
    >>> from bestdag.data.schema import Variable
    >>> holes_in_words(Dataset([Variable("a", ("x", "y"))], [np.array([0, 2, 1])]))
    "column 'a' has 1 missing value"
    """
    return holes_text(data.missing_counts)


def holes_text(holes: Mapping[str, int]) -> str:
    """Say the same of missing values that are counted by column."""
    if len(holes) == 1:
        ((name, n),) = holes.items()
        return f"column {name!r} has {count_of(n, 'missing value')}"
    total = sum(holes.values())
    texts = {name: f"{n:,}" for name, n in holes.items()}
    return f"{len(holes)} columns have {total:,} missing values: {shown_counts(texts)}"


def shown_counts(counts: Mapping[str, str]) -> str:
    """List the first few columns, each with what is said of it."""
    first = [f"{name!r} ({n})" for name, n in list(counts.items())[:_SHOWN_COLUMNS]]
    return ", ".join(first) + (", ..." if len(counts) > _SHOWN_COLUMNS else "")
