"""What can be said of structures from a file of local scores."""

from __future__ import annotations

import math

from bestdag.errors import InvalidParameterError
from bestdag.graph._names import arc_text
from bestdag.scores.table import ScoreTable
from bestdag.wording import count_of

__all__ = ["about_file"]

# Files often have six digits behind the point, and scores of thousands.
_TOLERANCE = 1e-4


def about_file(table: ScoreTable, *, is_checked: bool) -> str:
    """Say what a list from a file is worth; with `is_checked`, refuse one that has no classes."""
    size = _whole_up_to(table)
    if size is None:
        text = (
            "these are the best among the sets of the file; it does not list all, and files leave "
            "out sets that a subset beats, as a rule, which other near-optimal structures have"
        )
    else:
        text = f"the file lists every set of up to {count_of(size, 'parent')}"
    if is_checked:
        n_checked = _require_equal_members(table)
        text += f"; {count_of(n_checked, 'arc')} that may be turned within a class keep the score"
    return text


def _whole_up_to(table: ScoreTable) -> int | None:
    """Return the number of parents up to which every set is listed, if there is one for all."""
    n = table.n_variables
    sizes = {len(table.child(i)) for i in range(n)}
    if len(sizes) > 1:
        return None
    (listed,) = sizes
    total = 0
    for size in range(n):
        total += math.comb(n - 1, size)
        if total == listed:
            return size
        if total > listed:
            return None
    return None


def _require_equal_members(table: ScoreTable) -> int:
    """Turn every covered arc that the sets of the file allow, and refuse a change of the score.

    With Z besides, ``x | Z`` and ``y | Z, x`` must score as much as ``y | Z`` and ``x | Z, y``.
    """
    scores = [
        {frozenset(parents): score for score, parents in table.child(i)}
        for i in range(table.n_variables)
    ]
    n_checked = 0
    for y, mine in enumerate(scores):
        for parents, score in mine.items():
            for x in parents:
                rest = parents - {x}
                other = scores[x]
                turned = other.get(rest | {y})
                if x > y or turned is None or rest not in mine or rest not in other:
                    continue
                n_checked += 1
                one, two = score + other[rest], turned + mine[rest]
                if abs(one - two) > _TOLERANCE * max(1.0, 1e-3 * abs(one)):
                    arc = arc_text(table.names[x], table.names[y])
                    what = (
                        "learn: classes need a score that is the same for all members, and in this "
                        f"file turning the arc {arc} changes it from {one:.6g} to {two:.6g}"
                    )
                    raise InvalidParameterError(
                        f"{what}; pass per_class=False for single structures"
                    ).with_option(f"{what}; pass --no-per-class for single structures")
    return n_checked
