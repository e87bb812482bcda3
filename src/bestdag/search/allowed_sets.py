"""The sets of a table of local scores that a search may choose, and the fewest there can be."""

from __future__ import annotations

import math

import numpy as np

from bestdag.errors import InvalidParameterError
from bestdag.graph.knowledge import NodeKnowledge
from bestdag.scores.local_scores import LocalScores
from bestdag.scores.table import ParentSets, ScoreTable

__all__ = ["allowed_sets", "require_sums", "smallest_sets"]

_LARGEST_SUM = 1e300


def require_sums(table: ScoreTable) -> None:
    """Refuse scores whose sums, or those of their differences, a double may not hold."""
    largest = [float(np.abs(table.child(i).scores).max()) for i in range(table.n_variables)]
    if sum(largest) > _LARGEST_SUM:
        name = table.names[int(np.argmax(largest))]
        raise InvalidParameterError(
            f"search: scores that add up to more than {_LARGEST_SUM:g} are too large to compute "
            f"with, got {max(largest):g} for {name!r}"
        )


def allowed_sets(table: ScoreTable, nodes: NodeKnowledge) -> ScoreTable:
    """Leave out the sets of a given table that the user's knowledge forbids."""
    kept = []
    for i, child in enumerate(table.names):
        allowed = set(map(int, nodes.allowed_parents(i)))
        required = set(map(int, nodes.required_parents(i)))
        limit = int(nodes.max_parents[i])
        sets = table.child(i)
        left = [
            (score, parents)
            for score, parents in sets
            if len(parents) <= limit and required <= set(parents) <= allowed
        ]
        if not left:
            raise InvalidParameterError(
                f"search: the score file has no parent set of {child!r} that the knowledge "
                "allows; make the file with that knowledge or from data"
            )
        if required and not _lists_every_set(sets, table.n_variables - 1, limit):
            what = (
                f"search: {child!r} has required parents, and the score file may lack the sets "
                "they need (files leave out sets that a subset beats); learn from the data, or"
            )
            if_whole = "if the file lists every set up to that size"
            raise InvalidParameterError(f"{what} give max_parents {if_whole}").with_option(
                f"{what} give --max-parents {if_whole}"
            )
        kept.append(ParentSets.of([score for score, _ in left], [p for _, p in left]))
    return ScoreTable(table.names, kept, complete=table.complete)


def _lists_every_set(sets: ParentSets, n_others: int, limit: int) -> bool:
    """Whether every set of at most `limit` of the others is there."""
    listed = sum(len(parents) <= limit for _, parents in sets)
    return listed == sum(math.comb(n_others, k) for k in range(min(limit, n_others) + 1))


def smallest_sets(scorer: LocalScores, nodes: NodeKnowledge) -> ScoreTable:
    """List the required parents of every variable alone."""
    names = nodes.names
    sets = [nodes.required_parents(child) for child in range(len(names))]
    scores = scorer.families(
        [(name, [names[p] for p in group]) for name, group in zip(names, sets, strict=True)]
    )
    places = np.arange(len(names) + 1)
    offsets = np.concatenate([[0], np.cumsum([len(group) for group in sets])])
    members = np.concatenate(sets).astype(np.int32)
    return ScoreTable.from_arrays(names, places, scores, offsets, members, complete=False)
