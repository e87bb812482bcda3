"""When a column of numbers is cut into intervals, and when its values are states: the one rule.

`read` never cuts: it refuses any column with more than `max_states` values. `discretize` and the
classifiers ask `kept_values`. The page ``docs/guide/number-columns.md`` says it in words.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bestdag.data.schema import DEFAULT_MAX_STATES, DEFAULT_MAX_VALUES

__all__ = ["kept_values"]

# Values that span less than this are counted in an array.
_MAX_SPAN = 1 << 20


def kept_values(
    values: npt.NDArray[np.float64],
    max_values: int = DEFAULT_MAX_VALUES,
    max_states: int = DEFAULT_MAX_STATES,
) -> list[int] | None:
    """Return the different values of a number column that keeps them as states; None if it is cut.

    They are kept when all are whole, and at most `max_values` and `max_states`. NaN is a missing
    cell; infinite values are not whole; a column without values has none to keep.

    Examples
    --------
    >>> kept_values(np.array([3.0, 1.0, np.nan, 3.0]))
    [1, 3]
    >>> kept_values(np.array([3.0, 1.5])) is None
    True
    >>> kept_values(np.arange(21.0)) is None
    True
    """
    present = values[~np.isnan(values)]
    if len(present) == 0:
        return None
    low, high = float(present.min()), float(present.max())
    if not (np.isfinite(low) and np.isfinite(high)) or (present != np.floor(present)).any():
        return None
    if high - low >= _MAX_SPAN:
        found = np.unique(present)
    else:
        is_there = np.zeros(int(high - low) + 1, np.bool_)
        is_there[(present - low).astype(np.intp)] = True
        found = low + np.flatnonzero(is_there).astype(np.float64)
    return [int(value) for value in found] if len(found) <= min(max_values, max_states) else None
