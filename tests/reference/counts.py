"""Counts of a family with a dictionary, row by row."""

from __future__ import annotations

from collections import defaultdict


def family_counts(dataset, child, parents):
    """Return (configurations, table) as lists, configurations in lexicographic order."""
    parents = sorted(parents)
    weights = dataset.weights if dataset.weights is not None else [1] * dataset.n_rows
    cells = defaultdict(lambda: [0] * dataset.arities[child])
    for row in range(dataset.n_rows):
        key = tuple(int(dataset.codes(p)[row]) for p in parents)
        cells[key][int(dataset.codes(child)[row])] += weights[row]
    seen = sorted(key for key, counts in cells.items() if any(counts))
    return [list(key) for key in seen], [cells[key] for key in seen]
