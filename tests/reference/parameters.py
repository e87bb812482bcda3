"""Parameters by another route: literal definitions in exact fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from tests.reference.nml import likelihood


def posterior_mean(counts, priors):
    """The expected parameters, one row."""
    total = sum(counts) + sum(map(Fraction, priors))
    return [(n + Fraction(a)) / total for n, a in zip(counts, priors, strict=True)]


def alone(column):
    """Maximised likelihood of a column without parents."""
    return likelihood(column, [()] * len(column))


def snml_prediction(column, r):
    """Equation 16 of Silander et al. (2010): the last factor, by the likelihoods themselves."""
    longer = [alone([*column, k]) for k in range(r)]
    return [value / sum(longer) for value in longer]


def snml_probability(column, r):
    """Equation 16: the product over the cases."""
    value = Fraction(1)
    for n, state in enumerate(column):
        value *= snml_prediction(column[:n], r)[state]
    return value


def column_with(counts):
    """Some column with these counts."""
    return [k for k, n in enumerate(counts) for _ in range(n)]


def network_likelihood(rows, parents):
    """Maximised likelihood of rows under a structure: `parents` of each column, by number."""
    value = Fraction(1)
    for child, given in enumerate(parents):
        configurations = [tuple(row[p] for p in given) for row in rows]
        value *= likelihood([row[child] for row in rows], configurations)
    return value


def predictions(value_of, rows, arities):
    """Normalise `value_of` the rows and one more over all rows there are."""
    values = {row: value_of([*rows, row]) for row in product(*(range(r) for r in arities))}
    total = sum(values.values())
    return {row: value / total for row, value in values.items()}
