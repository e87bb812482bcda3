"""Score tables made from data."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from itertools import combinations

import numpy as np

from bestdag.errors import (
    GraphError,
    NotEnoughMemoryError,
    bad_setting,
    require_count,
    require_positive,
    unknown_name,
)
from bestdag.graph._names import show
from bestdag.graph.knowledge import Knowledge, NodeKnowledge
from bestdag.machine import do_without, memory_left, readable_size, require_memory
from bestdag.machine import memory_limit as limited_memory
from bestdag.scores.local_scores import LocalScores
from bestdag.scores.parent_sets.limits import ParentLimits, all_but, with_bonuses
from bestdag.scores.parent_sets.listing import Listing, listed_apart
from bestdag.scores.prior import ArcPrior
from bestdag.scores.table import ParentSets, ScoreTable
from bestdag.workers import Workers, resolve_workers

__all__ = ["build_for_statements", "build_score_table", "groups_to_keep"]

Group = tuple[int, ...]
# More groups than this take longer than all sets of a moderate problem.
_MOST_GROUPS = 20_000
# Of a set while groups are joined; and of the memory there is, what they may take by then.
_BYTES_PER_SET, _SHARE_OF_MEMORY = 350, 0.5
_WHO = "score table"
# While a table is made, a set is there as it was found and as it is sorted in.
_BYTES_PER_SET = 80
_BYTES_PER_MEMBER = 16
# More sets than this are not listed where statements need only some of them.
_MANY_SETS = 100_000

_Parents = Mapping[str, Iterable[str]]


def build_score_table(
    scores: LocalScores,
    *,
    max_parents: int | Mapping[str, int] | None = None,
    candidates: _Parents | None = None,
    required: _Parents | None = None,
    knowledge: Knowledge | None = None,
    prune: bool = True,
    margin: float = 0.0,
    time_limit: float | None = None,
    anytime: bool = False,
    workers: int | Executor | Workers | None = None,
) -> ScoreTable:
    """Score the parent sets of every variable that an optimal network may need.

    Parameters
    ----------
    scores : LocalScores
        With their prior over structures.
    max_parents : int, or mapping of child to int, optional
        At most so many parents; children that the mapping leaves out have no limit. Without
        it, sets of every size are looked at, and pruning decides when to stop.
    candidates : mapping of child to parents, optional
        A child that is named here gets parents from its list only; the others from all.
    required : mapping of child to parents, optional
        Parents that every set of the child must have.
    knowledge : Knowledge, optional
        What is known of the network; each set keeps to it, as far as single families can. Where
        a subset may break what the set itself keeps to (an ancestor to be, an edge in either
        direction), nothing is pruned; or, where that would be many sets, only sets that a subset
        with the same parents for the statements beats.
    prune : bool, default True
        Leave out every set that scores no more than one of its (allowed) subsets. A best network
        never needs such a set, because it may use the subset instead. Switch it off where that
        reasoning fails: when all optimal networks are wanted, or averages over networks, or when
        a network must have certain paths.
    margin : float, default 0.0
        Where it is positive, pruning leaves out only sets that a subset beats by more than this, in
        nats: what a network needs that is worse than the best by no more.
    time_limit : float, optional
        Seconds. A table that was not finished says ``complete = False``; it has every set that
        was scored in time, smaller sets first. The child that has had the least time goes next,
        so that what one does not need is left to the others. Its `open_sets` bound what it lacks.
    anytime : bool, default False
        Where the sets of a child do not fit, list no more of it, instead of raising: the table is
        then incomplete.
    workers : int or Executor, optional
        The number of threads, those of `scores` unless given; or the `Executor` of
        concurrent.futures that lists the sets, some children to each task. Each of its workers
        needs all rows, which are sent to it.

    Returns
    -------
    ScoreTable
        Its names are the variables, sorted; `n_scored` tells how many families were scored.

    Raises
    ------
    NotEnoughMemoryError
        When the sets do not fit; fewer parents would help.
    KeyboardInterrupt
        Within a tenth of a second of Ctrl-C.

    Notes
    -----
    Sets are looked at by size. Up to three parents all are scored, from sets of columns that are
    counted once for all children. With more, a set is scored only if all its subsets with one
    parent less are open: a set is closed, and with it everything that contains it, when an upper
    bound on the scores of all larger sets is no more than the best score seen among its subsets.
    The bounds are those of the score's native kernel; the guide has their proofs. A score without a
    kernel, and any score with a prior over structures that is not a sum over arcs, is pruned by its
    subsets' scores alone, after scoring. `ParentSetListing` does the same bit by bit.

    References
    ----------
    .. [1] de Campos and Ji (2011). "Efficient structure learning of Bayesian networks using
       constraints." Journal of Machine Learning Research 12.
    .. [2] de Campos, Scanagatta, Corani and Zaffalon (2018). "Entropy-based pruning for learning
       Bayesian networks using BIC." Artificial Intelligence 260.

    Examples
    --------
    >>> from bestdag import Scorer, read
    >>> data = read({"rain": ["no", "yes", "yes"] * 9, "wet": ["no", "yes", "yes"] * 9})
    >>> table = build_score_table(Scorer(data, "bic"))
    >>> [(round(score, 3), parents) for score, parents in table.sets("wet")]
    [(-3.296, ('rain',)), (-18.834, ())]
    """
    start = time.monotonic()
    who_works = resolve_workers(_WHO, workers)
    with_threads = getattr(scores, "with_threads", None)
    if who_works.threads is not None and with_threads is not None:
        scores = with_threads(who_works.threads)
    if not 0.0 <= margin < math.inf:
        raise bad_setting(_WHO, "margin", "a finite number >= 0", margin)
    names = list(scores.names)
    limits = _limits(names, max_parents, candidates, required)
    known = None
    if knowledge is not None and not knowledge.is_empty:
        known = knowledge.for_nodes(names)
        limits = [_within(known, child, limit) for child, limit in enumerate(limits)]
    deadline = None
    if time_limit is not None:
        deadline = start + require_positive(_WHO, "time_limit", time_limit)
    with limited_memory(None):
        return _listed(
            scores,
            limits,
            known,
            prune=prune,
            margin=margin,
            deadline=deadline,
            anytime=anytime,
            executor=who_works.executor,
        )


def _listed(
    scores: LocalScores,
    limits: list[ParentLimits],
    known: NodeKnowledge | None,
    *,
    prune: bool,
    margin: float,
    deadline: float | None,
    anytime: bool,
    executor: Executor | None,
) -> ScoreTable:
    """List the sets within the limits; the deadline is a value of `time.monotonic`."""
    names = list(scores.names)

    def build(limits: list[ParentLimits], seconds: float | None, prune: bool) -> ScoreTable:
        time_left = math.inf if seconds is None else seconds
        listing = Listing(scores, prune=prune, margin=margin, anytime=anytime)
        if executor is None:
            return listing.table(limits, time_left)
        return listed_apart(listing, limits, time_left, executor)

    prior = scores.structure_prior
    is_sum = prior is None or isinstance(prior, ArcPrior)
    is_native = is_sum and scores.native is not None
    has_joint_statements = known is not None and bool(known.ancestors or known.required_edges)
    if is_native and prune and has_joint_statements and _size(limits)[0] > _MANY_SETS:
        assert known is not None
        assert prior is None or isinstance(prior, ArcPrior)
        likely = _without_impossible(limits, names, prior)
        groups = groups_to_keep(known, likely)
        if groups is not None:
            return build_for_statements(
                names,
                likely,
                groups,
                lambda some, seconds: build(some, seconds, prune),
                math.inf if deadline is None else deadline,
                anytime=anytime,
            )
    prune = prune and not has_joint_statements
    if not (prune or anytime):
        _require_room(limits)
    left = None if deadline is None else max(1e-9, deadline - time.monotonic())
    return build(limits, left, prune)


def _limits(
    names: list[str],
    max_parents: int | Mapping[str, int] | None,
    candidates: _Parents | None,
    required: _Parents | None,
) -> list[ParentLimits]:
    numbers = {name: i for i, name in enumerate(names)}
    listed = _numbered("candidates", candidates, numbers)
    wanted = _numbered("required", required, numbers)
    most = _most_parents(max_parents, numbers)
    everybody = frozenset(range(len(names)))
    limits = []
    for child, name in enumerate(names):
        must = wanted.get(child, frozenset())
        if child not in listed and not must:
            most_here = min(most.get(child, len(names)), len(names) - 1)
            limits.append(ParentLimits((), all_but(child, len(names)), most_here))
            continue
        may = listed.get(child, everybody - {child})
        if not must <= may:
            raise GraphError(
                f"{_WHO}: {show(names[min(must - may)])} is a required parent of {show(name)} "
                "and not among its candidates"
            )
        limit = most.get(child, len(may))
        if len(must) > limit:
            raise GraphError(
                f"{_WHO}: {show(name)} has {len(must)} required parents, more than the "
                f"{limit} it may have"
            )
        allowed = np.array(sorted(may - must), np.int32)
        limits.append(ParentLimits(tuple(sorted(must)), allowed, min(limit, len(may))))
    return limits


def _within(known: NodeKnowledge, child: int, limit: ParentLimits) -> ParentLimits:
    """Narrow a child's limits by what is known."""
    name = show(known.names[child])
    must = sorted({*limit.required, *known.required_parents(child).tolist()})
    may = np.zeros(len(known.names), np.bool_)
    may[limit.allowed] = True
    may[list(limit.required)] = True
    may &= known.allowed[:, child]
    if not may[must].all():
        parent = show(known.names[next(p for p in must if not may[p])])
        raise GraphError(
            f"{_WHO}: {parent} must be a parent of {name}, and is not among those it may have"
        )
    most = min(limit.max_parents, int(known.max_parents[child]), int(may.sum()))
    if len(must) > most:
        raise GraphError(
            f"{_WHO}: {name} has {len(must)} required parents, more than the {most} it may have"
        )
    may[must] = False
    return ParentLimits(tuple(must), np.flatnonzero(may).astype(np.int32), most)


def _numbered(
    what: str, parents: _Parents | None, numbers: Mapping[str, int]
) -> dict[int, frozenset[int]]:
    found = {}
    for child, group in (parents or {}).items():
        if child not in numbers:
            raise unknown_name("variable", child, numbers, who=f"{_WHO}: {what}")
        if isinstance(group, str):
            raise GraphError(
                f"{_WHO}: {what} of {show(child)} must be a list of names, got the text {group!r}"
            )
        listed = list(group)
        for parent in listed:
            if parent not in numbers:
                raise unknown_name("variable", parent, numbers, who=f"{_WHO}: {what}")
            if parent == child:
                raise GraphError(f"{_WHO}: {what}: {show(child)} cannot be its own parent")
        found[numbers[child]] = frozenset(numbers[parent] for parent in listed)
    return found


def _most_parents(
    max_parents: int | Mapping[str, int] | None, numbers: Mapping[str, int]
) -> dict[int, int]:
    if max_parents is None:
        return {}
    if not isinstance(max_parents, Mapping):
        limit = require_count(_WHO, "max_parents", max_parents)
        return dict.fromkeys(numbers.values(), limit)
    for child in max_parents:
        if child not in numbers:
            raise unknown_name("variable", child, numbers, who=f"{_WHO}: max_parents")
    return {
        numbers[child]: require_count(_WHO, f"max_parents of {show(child)}", limit)
        for child, limit in max_parents.items()
    }


def _without_impossible(
    limits: list[ParentLimits], names: list[str], prior: ArcPrior | None
) -> list[ParentLimits]:
    """Leave out the parents that a prior forbids; its other terms come later."""
    allowed = [limit.allowed for limit in with_bonuses(limits, names, prior)]
    return [
        replace(
            limit, allowed=kept, max_parents=min(limit.max_parents, len(limit.required) + len(kept))
        )
        for limit, kept in zip(limits, allowed, strict=True)
    ]


def _size(limits: list[ParentLimits]) -> tuple[int, int]:
    """How many sets there are, and members in them."""
    shapes = Counter(
        (len(limit.required), len(limit.allowed), limit.max_parents) for limit in limits
    )
    n_sets = 0
    n_members = 0
    for (n_required, n_allowed, most), n_children in shapes.items():
        for size in range(most - n_required + 1):
            sets = n_children * math.comb(n_allowed, size)
            n_sets += sets
            n_members += sets * (n_required + size)
    return n_sets, n_members


def _require_room(limits: list[ParentLimits]) -> None:
    """Forecast the memory of all sets there are."""
    n_sets, n_members = _size(limits)
    needed = n_sets * _BYTES_PER_SET + n_members * _BYTES_PER_MEMBER
    require_memory(_WHO, f"a table of {n_sets:,} parent sets", needed, "use fewer parents")


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
