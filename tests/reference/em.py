"""Incomplete rows by brute force: every completion of every row, one after the other."""

from itertools import product
from math import log


def completions(row, arities):
    """List all ways to fill in a row; None is a missing value."""
    cells = zip(row, arities, strict=True)
    return product(*([code] if code is not None else range(n) for code, n in cells))


def probability(row, tables, parents):
    """Multiply the conditional probabilities of a complete row."""
    p = 1.0
    for child, group in enumerate(parents):
        p *= tables[child][tuple(row[q] for q in group)][row[child]]
    return p


def log_likelihood(rows, weights, tables, parents, arities):
    """Sum the weighted logarithms of what the rows show."""
    return sum(
        w * log(sum(probability(c, tables, parents) for c in completions(row, arities)))
        for row, w in zip(rows, weights, strict=True)
    )


def family_counts(rows, weights, tables, parents, arities, family):
    """Return the expected counts of any family (child, parents) as a dict of configurations."""
    child, group = family
    counts = {}
    for row, w in zip(rows, weights, strict=True):
        every = [(c, probability(c, tables, parents)) for c in completions(row, arities)]
        total = sum(p for _, p in every)
        for c, p in every:
            key = tuple(c[q] for q in group)
            counts.setdefault(key, [0.0] * arities[child])[c[child]] += w * p / total
    return counts
