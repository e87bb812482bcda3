"""Scores by another route: slow, literal, in exact fractions where that is possible."""

from __future__ import annotations

from fractions import Fraction
from math import log


def log_fraction(x: Fraction) -> float:
    """Natural logarithm of a fraction of any size."""
    return log(x.numerator) - log(x.denominator)


def bdeu(table, n_configurations, ess):
    """Predict each case from those before it and multiply: the chain rule, in fractions."""
    q, s = Fraction(n_configurations), Fraction(ess)
    probability = Fraction(1)
    for row in table:
        seen = [0] * len(row)
        for state, count in enumerate(row):
            for _ in range(count):
                probability *= (seen[state] + s / q / len(row)) / (sum(seen) + s / q)
                seen[state] += 1
    return log_fraction(probability)


def bic(table, n_configurations):
    """Multiply the maximum-likelihood probabilities of all cases, then subtract the penalty."""
    likelihood = Fraction(1)
    for row in table:
        for count in row:
            likelihood *= Fraction(count, max(1, sum(row))) ** count
    n = sum(map(sum, table))
    return log_fraction(likelihood) - log(n) / 2 * n_configurations * (len(table[0]) - 1)


def hqc(table, n_configurations):
    """The same with the logarithm of the logarithm; one or two cases are charged nothing."""
    n = sum(map(sum, table))
    charge = log(log(n)) if n >= 3 else 0.0
    return log_likelihood(table) - charge * n_configurations * (len(table[0]) - 1)


def bdq(table, n_configurations, pseudo_count):
    """Predict child and parents of each case from those before it, over the same for the parents.

    Each is one variable, whose states have the same prior weight.
    """
    a, q, r = Fraction(pseudo_count), Fraction(n_configurations), len(table[0])
    joint, parents, n = Fraction(1), Fraction(1), 0
    for row in table:
        seen = [0] * r
        for state, count in enumerate(row):
            for _ in range(count):
                joint *= (a + seen[state]) / (a * q * r + n)
                parents *= (a + sum(seen)) / (a * q + n)
                seen[state] += 1
                n += 1
    return log_fraction(joint / parents)


def log_likelihood(table):
    """Multiply the maximum-likelihood probabilities of all cases."""
    likelihood = Fraction(1)
    for row in table:
        for count in row:
            likelihood *= Fraction(count, max(1, sum(row))) ** count
    return log_fraction(likelihood)


def dirichlet(table, priors):
    """Predict each case from those before it and from its row's prior cases, in fractions."""
    probability = Fraction(1)
    for row, prior in zip(table, priors, strict=True):
        weights = [Fraction(a) for a in prior]
        for state, count in enumerate(row):
            for _ in range(count):
                probability *= weights[state] / sum(weights)
                weights[state] += 1
    return log_fraction(probability)
