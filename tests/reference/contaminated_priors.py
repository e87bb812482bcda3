"""Min- and Max-BDeu by another route: exact fractions, every corner, a fine grid."""

from __future__ import annotations

from fractions import Fraction
from math import lgamma

import numpy as np

from tests.reference.scores import log_fraction


def log_probability(row, prior):
    """Predict each case of a row from those before it, under a Dirichlet prior, in fractions."""
    prior = [Fraction(a) for a in prior]
    probability = Fraction(1)
    seen = [0] * len(row)
    for state, count in enumerate(row):
        for _ in range(count):
            probability *= (seen[state] + prior[state]) / (sum(seen) + sum(prior))
            seen[state] += 1
    return log_fraction(probability)


def corners(arity, total, epsilon):
    """The priors whose convex hull is the contamination set (Scanagatta et al. 2014, eq. 3)."""
    total, epsilon = Fraction(total), Fraction(epsilon)
    for corner in range(arity):
        yield [total * ((1 - epsilon) / arity + epsilon * (k == corner)) for k in range(arity)]


def min_bdeu(table, n_configurations, ess, epsilon):
    """The smallest value among all corners, configuration by configuration."""
    total = Fraction(ess) / Fraction(n_configurations)
    return sum(
        min(log_probability(row, prior) for prior in corners(len(row), total, epsilon))
        for row in table
    )


def grid_of_priors(arity, total, epsilon, n_steps):
    """Mixtures of the corners, in steps of 1 / n_steps; the corners are among them."""
    points = np.array([[float(a) for a in prior] for prior in corners(arity, total, epsilon)])
    if arity == 2:
        first = np.arange(n_steps + 1)
        mixtures = np.column_stack([first, n_steps - first])
    else:
        i, k = np.meshgrid(np.arange(n_steps + 1), np.arange(n_steps + 1))
        i, k = i[i + k <= n_steps], k[i + k <= n_steps]
        mixtures = np.column_stack([i, k, n_steps - i - k])
    return mixtures / n_steps @ points


_log_gamma = np.vectorize(lgamma)


def log_probabilities(row, priors):
    """ln of the probability of one row under each of many priors, by log-gammas."""
    row, total, n = np.array(row), priors[0].sum(), sum(row)
    cells = np.sum(_log_gamma(priors + row) - _log_gamma(priors), axis=1)
    return cells + lgamma(total) - lgamma(total + n)
