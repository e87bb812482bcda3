"""When a column of numbers is cut into intervals, when its values are states, and when neither.

`read` never cuts: it refuses any column with more than `max_states` values. `discretize` and the
classifiers ask `kept_values`; what is proposed instead of a refusal asks `is_identifier`. The page
``docs/guide/number-columns.md`` says both rules in words.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bestdag.data.schema import DEFAULT_MAX_STATES, DEFAULT_MAX_VALUES

__all__ = ["is_identifier", "kept_values"]

# Values that span less than this are counted in an array.
_MAX_SPAN = 1 << 20
# Whole floats beyond this are not all there: what is so long is no quantity.
_MAX_WHOLE = 2.0**53
# Six digits: of the quantities in the UCI tables, those whose values differ in half of the rows
# have at most four, identifiers and weights six and more.
_LONG = 100_000
# Nearly all differ, in enough rows for that to say something.
_MOST_DIFFER, _LEAST_ROWS = 0.95, 200
# All differ although so many of as many draws from their range would repeat another.
_LEAST_REPEATS = 3


def kept_values(
    values: npt.NDArray[np.float64],
    max_values: int = DEFAULT_MAX_VALUES,
    max_states: int = DEFAULT_MAX_STATES,
) -> list[int] | None:
    """Return the different values of a numeric column that keeps them as states; None if it is cut.

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


def is_identifier(n_values: int, n_present: int, low: float, high: float) -> bool:
    """Whether whole numbers are an identifier or a weight by their look, not a quantity.

    Parameters
    ----------
    n_values, n_present : int
        How many different numbers there are, in how many rows.
    low, high : float
        The least and the greatest.

    Examples
    --------
    Sample codes, weights of a census and numbers of rows, but no cholesterol and no price.

    >>> is_identifier(645, 699, 61_634, 13_454_352), is_identifier(21_648, 32_561, 12_285, 1.5e6)
    (True, True)
    >>> is_identifier(214, 214, 1, 214)
    True
    >>> is_identifier(152, 303, 126, 564), is_identifier(921, 1000, 250, 18_424)
    (False, False)
    """
    if n_present == 0 or not (np.isfinite(low) and np.isfinite(high)):
        return False
    share, largest = n_values / n_present, max(abs(low), abs(high))
    if largest > _MAX_WHOLE or (share >= 0.5 and largest >= _LONG):
        return True
    if share >= _MOST_DIFFER and n_present >= _LEAST_ROWS:
        return True
    expected = n_present * (n_present - 1) / (2 * (high - low + 1))
    return n_values == n_present and expected >= _LEAST_REPEATS
