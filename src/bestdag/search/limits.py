"""What left structures out of a search: what a proof covers, as a value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bestdag.wording import count_of

__all__ = ["Limits"]

Family = tuple[str, frozenset[str]]

# Families that are named as exceptions.
_MOST_EXEMPT = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The class of structures that a status and a bound are about.

    Attributes
    ----------
    max_parents : int or None
        At most so many parents for every variable; None where that is no limit.
    support : float
        At least so many rows for each occupied cell of every family's table, see `Support`; 0
        where that is no limit.
    has_statements : bool
        Whether statements of the user had to be obeyed.
    has_skeleton : bool
        Whether arcs could run along the links of a skeleton only.
    exempt : tuple of (str, frozenset of str)
        Families, as child and parents, that lack support and that the user requires.
    """

    max_parents: int | None = None
    support: float = 0.0
    has_statements: bool = False
    has_skeleton: bool = False
    exempt: tuple[Family, ...] = ()

    def words(self) -> str:
        """Say which structures were looked at.

        Examples
        --------
        >>> Limits().words()
        'all networks'
        >>> Limits(max_parents=3).words()
        'all networks with at most 3 parents per variable'
        >>> Limits(support=5).words()
        'all networks with at least 5 rows per table cell on average'
        >>> Limits(has_statements=True).words()
        'all networks that satisfy your constraints'
        """
        parts = []
        if self.max_parents is not None:
            parts.append(f"at most {count_of(self.max_parents, 'parent')} per variable")
        if self.support:
            parts.append(f"at least {count_of(self.support, 'row')} per table cell on average")
        text = "all networks"
        if self.has_statements:
            text += " that satisfy your constraints"
        if self.has_skeleton:
            text += " within the skeleton"
        return f"{text} with {' and '.join(parts)}" if parts else text

    def words_on(self, exempt: Sequence[Family]) -> str:
        """Say which families were kept without support.

        Examples
        --------
        >>> Limits(support=5).words_on([("wet", frozenset({"sun", "rain"}))])
        "required, although fewer than 5 rows per table cell: 'wet' given rain, sun"
        """
        names = [f"{child!r} given {', '.join(sorted(parents))}" for child, parents in exempt]
        shown = "; ".join([*names[:_MOST_EXEMPT], *(["..."] if len(names) > _MOST_EXEMPT else [])])
        least = f"{count_of(self.support, 'row')} per table cell"
        return f"required, although fewer than {least}: {shown}"
