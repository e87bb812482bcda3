"""Tables for statements that concern several families, without listing every set there is.

Leaving out a set that a subset beats is wrong where a structure needs the arcs: an edge either way,
or a path. But it needs few of them. Take a best structure, one path for each ancestor statement,
and a child in it. At most one arc into the child lies on each path, and some arcs are required
edges; let T be the parents these arcs come from. Any set that contains T may replace the child's
own, as far as the statements go. So the child needs no set that scores less than one of its
subsets with T in it: for every T that can occur, it is enough to list the sets with T that no
smaller set with T beats.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from bestdag.errors import NotEnoughMemoryError
from bestdag.graph.knowledge import NodeKnowledge
from bestdag.machine import do_without, memory_left, readable_size
from bestdag.scores.parent_sets.limits import ParentLimits
from bestdag.scores.table import ParentSets, ScoreTable

__all__ = ["build_for_statements", "groups_to_keep"]

Group = tuple[int, ...]
# More groups than this take longer than all sets of a moderate problem.
_MOST_GROUPS = 20_000
# Of a set while groups are joined; and of the memory there is, what they may take by then.
_BYTES_PER_SET, _SHARE_OF_MEMORY = 350, 0.5


def groups_to_keep(
    known: NodeKnowledge, limits: Sequence[ParentLimits]
) -> list[list[Group]] | None:
    """List, for each child, the groups of parents T; None when there are too many."""
    everybody: list[list[Group]] = []
    n_groups = 0
    for child, limit in enumerate(limits):
        groups = []
        for group in _groups(known, child, limit):
            n_groups += 1
            if n_groups > _MOST_GROUPS:
                return None
            groups.append(group)
        everybody.append(groups)
    return everybody


def _groups(known: NodeKnowledge, child: int, limit: ParentLimits) -> Iterator[Group]:
    joined = {a + b - child for a, b in known.required_edges if child in (a, b)}
    partners = sorted(joined & set(limit.allowed.tolist()))
    room = limit.max_parents - len(limit.required)
    seen: set[Group] = set()
    for n_arcs in range(min(len(known.ancestors), room) + 1):
        for arcs in combinations(limit.allowed.tolist(), n_arcs):
            for n_edges in range(len(partners) + 1):
                for edges in combinations(partners, n_edges):
                    group = tuple(sorted({*arcs, *edges}))
                    if len(group) <= room and group not in seen:
                        seen.add(group)
                        yield group


def build_for_statements(
    names: Sequence[str],
    limits: Sequence[ParentLimits],
    groups: Sequence[Sequence[Group]],
    build: Callable[[list[ParentLimits], float], ScoreTable],
    deadline: float,
    *,
    anytime: bool,
) -> ScoreTable:
    """Join the tables of one group after the other; `build` gets limits and seconds."""
    found: list[dict[Group, float]] = [{} for _ in names]
    is_complete, n_scored = True, 0
    for number in range(max(map(len, groups))):
        left = deadline - time.monotonic()
        n_bytes = _BYTES_PER_SET * sum(map(len, found))
        has_room = n_bytes <= _SHARE_OF_MEMORY * (memory_left() + n_bytes)
        if not (has_room or anytime):
            raise NotEnoughMemoryError(
                "score table: the parent sets that the statements need do not fit into "
                f"{readable_size(memory_left() + n_bytes)}; use fewer parents"
            )
        if not has_room:
            do_without("sets", f"parent sets are listed up to {readable_size(n_bytes)}")
        if number and (left <= 0 or not has_room):
            is_complete = False
            break
        narrowed = [
            _with_group(limit, mine[number] if number < len(mine) else None)
            for limit, mine in zip(limits, groups, strict=True)
        ]
        table = build(narrowed, max(left, 1e-3))
        is_complete &= table.complete
        n_scored += table.n_scored
        for i, sets in enumerate(found):
            sets.update((parents, score) for score, parents in table.child(i))
    children = [ParentSets.of(list(sets.values()), list(sets)) for sets in found]
    return ScoreTable(names, children, complete=is_complete, n_scored=n_scored)


def _with_group(limit: ParentLimits, group: Group | None) -> ParentLimits:
    if group is None:  # no more groups: the smallest set again
        return replace(limit, allowed=limit.allowed[:0], max_parents=len(limit.required))
    return replace(
        limit,
        required=tuple(sorted({*limit.required, *group})),
        allowed=limit.allowed[~np.isin(limit.allowed, group)],
    )
