"""Rule 1: which unshielded triples are v-structures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bestdag.constraint.conflicts import Conflict
from bestdag.constraint.orientation import Orientation, VStructure
from bestdag.constraint.settings import PC
from bestdag.constraint.skeleton import Skeleton
from bestdag.graph._names import show
from bestdag.graph.knowledge import NodeKnowledge

__all__ = ["by_first_set", "by_votes"]


def by_first_set(skeleton: Skeleton, orientation: Orientation) -> Iterator[VStructure]:
    """Yield the triples whose middle is not in the set that separated the other two."""
    adjacency = skeleton.adjacency
    for middle in range(len(skeleton.names)):
        orientation.check_time()
        near = np.flatnonzero(adjacency[middle])
        for one in near.tolist():
            for other in near[(near > one) & (adjacency[one, near] == 0)].tolist():
                given = skeleton.separating_set(one, other)
                if given is not None and middle not in given:
                    log_p = skeleton.log_p(one, other)
                    yield VStructure(one, middle, other, 1.0, log_p)


def by_votes(
    skeleton: Skeleton,
    orientation: Orientation,
    settings: PC,
    known: NodeKnowledge,
    votes: dict[str, Any],
) -> Iterator[VStructure]:
    """Yield the triples that the separating sets agree on; others are noted as ambiguous.

    Beside the sets of neighbours that were asked about, the set that separated the two in the
    first phase has a vote.
    """
    near = (skeleton.adjacency != 0) & known.allowed.T  # [node, who may be asked about]
    triples = zip(
        *(votes[key].tolist() for key in ("one", "middle", "other", "separating", "with_middle")),
        strict=True,
    )
    for one, middle, other, n_sets, n_with in triples:
        given = skeleton.separating_set(one, other)
        if given is not None and not (near[one, given].all() or near[other, given].all()):
            n_sets += 1
            n_with += middle in given
        if n_sets == 0:
            continue
        is_majority = settings.v_structures == "majority"
        if (2 * n_with < n_sets) if is_majority else n_with == 0:
            share = (n_sets - n_with) / n_sets
            yield VStructure(one, middle, other, share, skeleton.log_p(one, other))
        elif (2 * n_with == n_sets) if is_majority else n_with < n_sets:
            orientation.ambiguous.add((one, middle, other))
            orientation.conflicts.append(_ambiguous(skeleton, one, middle, other, n_with, n_sets))


def _ambiguous(
    skeleton: Skeleton, one: int, middle: int, other: int, n_with: int, n_sets: int
) -> Conflict:
    a, c, b = (show(skeleton.names[i]) for i in (one, middle, other))
    return Conflict(
        "ambiguous triple",
        tuple(skeleton.names[i] for i in (one, middle, other)),
        f"{n_with:,} of the {n_sets:,} sets that separate {a} and {b} have {c}",
        f"{a} - {c} - {b} is neither a v-structure nor kept from becoming one",
    )
