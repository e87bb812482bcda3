"""The order of structures that were found: by score, and among ties one that is always the same."""

from __future__ import annotations

from collections.abc import Sequence

from bestdag.graph.equivalence import is_equivalent
from bestdag.search.structures import Structure
from bestdag.search.ties import tie_width

__all__ = ["with_first"]


def with_first(found: Sequence[Structure], first: Structure, *, per_class: bool) -> list[Structure]:
    """Order structures best first, ties by their parents, and put one of the best before all.

    Scores that differ by rounding alone are ties. Where the others leave out the first, it takes
    the place of the last of those it ties with; where it is worse than the best, nothing is done.

    Examples
    --------
    >>> from bestdag.graph.dag import Dag
    >>> one, other = Dag(["a", "b"], [("b", "a")]), Dag(["a", "b"], [("a", "b")])
    >>> pairs = [(-2.0, Dag(["a", "b"])), (-1.0, one), (-1.0, other)]
    >>> listed = [Structure.of(score, dag) for score, dag in pairs]
    >>> [s.dag.arcs for s in with_first(listed, listed[1], per_class=False)]
    [(('b', 'a'),), (('a', 'b'),), ()]
    """
    ranked = sorted(found, key=lambda item: -item.score)
    ordered: list[Structure] = []
    while len(ordered) < len(ranked):
        start = len(ordered)
        least = ranked[start].score - tie_width(ranked[start].score)
        end = start
        while end < len(ranked) and ranked[end].score >= least:
            end += 1
        ordered += sorted(ranked[start:end], key=lambda item: item.parents)
        if start == 0 and first.score >= least:
            ordered = _led_by(ordered, first, per_class)
    return ordered


def _led_by(ties: list[Structure], first: Structure, per_class: bool) -> list[Structure]:
    for place, item in enumerate(ties):
        if item.parents == first.parents or (per_class and is_equivalent(item.dag, first.dag)):
            return [first, *ties[:place], *ties[place + 1 :]]
    return [first, *ties[:-1]]
