"""Which families have enough rows to be learned from: a limit on families, like `max_parents`."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace

from bestdag.errors import require_not_negative

__all__ = ["DEFAULT_SUPPORT", "Family", "Support"]

# Rows per occupied cell: the rule of thumb for tests of contingency tables (Cochran 1954).
DEFAULT_SUPPORT = 5.0

Family = tuple[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Support:
    r"""Families with at least so many rows, on average, for each occupied cell of their table.

    A family is admissible when its columns, child and parents together, take at most
    :math:`N / s` different joint values in the data, :math:`N` the number of rows (or the sum of
    their weights) and :math:`s` the support. A table with as many cells as there are rows gets
    about :math:`-N \ln r` from most scores, for any data, which is more than a nearly uniform
    variable has without parents: a search without limits then proves structures of no use.

    The limit depends on the set of columns alone and only falls as columns are added. So every
    subset of an admissible set is admissible, equivalent structures are admissible together, and a
    set that is not ends the listing of all that contain it. A missing value counts as a value. A
    variable without parents is always admissible, and so are the families in `exempt`.

    Parameters
    ----------
    rows_per_cell : float
        :math:`s \geq 0`; 0 is no limit.
    exempt : tuple of (str, frozenset of str)
        Families that the user requires.

    References
    ----------
    .. [1] Cochran (1954). "Some methods for strengthening the common chi-squared tests."
       Biometrics 10(4), 417-451.

    Examples
    --------
    >>> Support(5.0).most_cells(200), Support(0.0).most_cells(200)
    (40.0, inf)
    """

    rows_per_cell: float = DEFAULT_SUPPORT
    exempt: tuple[Family, ...] = ()

    def __post_init__(self) -> None:
        require_not_negative("support", "support", self.rows_per_cell)

    def __bool__(self) -> bool:
        return self.rows_per_cell > 0

    def most_cells(self, total_weight: float) -> float:
        """Return how many different values the columns of a family may take."""
        return float(total_weight) / self.rows_per_cell if self else math.inf

    def exempting(self, families: Collection[Family]) -> Support:
        """Return this limit, from which these families are exempt too."""
        return replace(self, exempt=(*self.exempt, *(f for f in families if f not in self.exempt)))
