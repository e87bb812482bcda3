"""Which tables of a network a question needs.

A variable that is neither asked for nor known, nor an ancestor of one that is, is barren: its table
sums to one. Of the others, a table counts only if its variables are connected with what is asked
for, by tables and not through what is known.

Shachter (1998). "Bayes-ball: the rational pastime." UAI '98; here by the moral graph of the
ancestors (Lauritzen, Dawid, Larsen and Leimer 1990).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

__all__ = ["ancestors_of", "relevant_families"]


def ancestors_of(parents: Sequence[Sequence[int]], variables: Iterable[int]) -> set[int]:
    """Return these variables and all their ancestors.

    Examples
    --------
    >>> sorted(ancestors_of([[], [0], [1], [1]], [2]))
    [0, 1, 2]
    """
    found = set(variables)
    waiting = list(found)
    while waiting:
        for parent in parents[waiting.pop()]:
            if parent not in found:
                found.add(parent)
                waiting.append(parent)
    return found


def relevant_families(
    parents: Sequence[Sequence[int]],
    targets: Collection[int],
    known: Collection[int],
    weighted: Collection[int] = (),
) -> list[int]:
    """Return the variables whose tables decide about the targets, in order.

    Parameters
    ----------
    parents : sequence of sequences of int
        The parents of each variable.
    targets : collection of int
        What is asked for.
    known : collection of int
        Variables whose state is known.
    weighted : collection of int
        Variables whose states have weights (likelihood evidence); they are not known.

    Examples
    --------
    In the chain 0 -> 1 -> 2 -> 3 with 1 known, 3 needs only its own table and that of 2.

    >>> relevant_families([[], [0], [1], [2]], [3], [1])
    [2, 3]
    """
    above = ancestors_of(parents, {*targets, *known, *weighted})
    known = set(known)
    meets: dict[int, list[int]] = {}  # families by their variables that are not known
    for child in above:
        for variable in (*parents[child], child):
            if variable not in known:
                meets.setdefault(variable, []).append(child)
    families: set[int] = set()
    reached = set(targets) - known
    waiting = list(reached)
    while waiting:
        for family in meets.get(waiting.pop(), ()):
            if family in families:
                continue
            families.add(family)
            for variable in (*parents[family], family):
                if variable not in known and variable not in reached:
                    reached.add(variable)
                    waiting.append(variable)
    return sorted(families)
