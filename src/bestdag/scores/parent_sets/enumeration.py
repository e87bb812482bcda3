"""All sets of at most so many parents, in the order in which `Scorer.all_families` has them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

__all__ = ["n_parent_sets", "parent_sets"]


def n_parent_sets(n_variables: int, max_parents: int) -> int:
    """Return how many sets of at most `max_parents` of the other variables there are.

    Examples
    --------
    >>> n_parent_sets(37, 3)
    7807
    """
    return sum(math.comb(n_variables - 1, k) for k in range(min(max_parents, n_variables - 1) + 1))


def parent_sets(others: Sequence[str], max_parents: int) -> Iterator[tuple[str, ...]]:
    """List the sets of at most `max_parents` names: smaller ones first, then colexicographically.

    Examples
    --------
    >>> [" ".join(names) for names in parent_sets(["a", "b", "c"], 2)]
    ['', 'a', 'b', 'c', 'a b', 'a c', 'b c']
    """
    for size in range(min(max_parents, len(others)) + 1):
        ranked = itertools.combinations(range(len(others)), size)
        for numbers in sorted(ranked, key=lambda numbers: numbers[::-1]):
            yield tuple(others[k] for k in numbers)
