"""The bounds of docs/guide/bounds.md: no finer table of counts scores more."""

import math

import numpy as np
import pytest

from bestdag.counts.family import FamilyCounts
from bestdag.scores import make_score
from bestdag.special import log_rising, regret

CASES = 1500


def pure(value):
    """Sum over the cells of what a row with that cell alone scores."""
    return lambda table, q, growth, total: sum(
        value(n, table.shape[1]) for n in table.ravel().tolist() if n
    )


def likelihood(weight):
    return lambda table, q, growth, total: -weight(total) * growth * q * (table.shape[1] - 1)


def qnml(table, q, growth, total):
    r = table.shape[1]
    return -float(regret(total, q * growth * r) - regret(total, q * growth))


def bdq(a):
    def bound(table, q, growth, total):
        b = a * q * growth
        return -float(log_rising(b * table.shape[1], total) - log_rising(b, total))

    return bound


# score, bound, whether real counts are allowed
BOUNDS = {
    "ll": (make_score("ll"), likelihood(lambda n: 0.0), True),
    "aic": (make_score("aic"), likelihood(lambda n: 1.0), True),
    "bic": (make_score("bic"), likelihood(lambda n: 0.5 * math.log(n)), True),
    "hqc": (make_score("hqc"), likelihood(lambda n: math.log(math.log(max(n, math.e)))), True),
    "k2": (make_score("k2"), pure(lambda n, r: -math.log(math.comb(n + r - 1, r - 1))), False),
    "bd": (
        make_score("bd", pseudo_count=0.3),
        pure(lambda n, r: float(log_rising(0.3, n) - log_rising(0.3 * r, n))),
        True,
    ),
    "fnml": (make_score("fnml"), pure(lambda n, r: -float(regret(n, r))), False),
    "qnml": (make_score("qnml"), qnml, False),
    **{f"bdq {a}": (make_score("bdq", pseudo_count=a), bdq(a), True) for a in (0.01, 0.5, 20.0)},
    **{
        f"bdeu {ess}": (
            make_score("bdeu", ess=ess),
            pure(lambda n, r: -min(1.0, n) * math.log(r)),
            True,
        )
        for ess in (0.01, 1.0, 100.0)
    },
    **{
        f"min_bdeu {ess} {epsilon}": (
            make_score("min_bdeu", ess=ess, epsilon=epsilon),
            pure(
                lambda n, r, e=epsilon: (
                    min(1.0, n) * ((r - 1) * math.log((1 - e) / r) + math.log(e + (1 - e) / r)) / r
                )
            ),
            True,
        )
        for ess in (0.01, 100.0)
        for epsilon in (0.01, 0.5)
    },
    **{
        f"max_bdeu {ess} {epsilon}": (
            make_score("max_bdeu", ess=ess, epsilon=epsilon),
            pure(lambda n, r, e=epsilon: min(1.0, n) * math.log(e + (1.0 - e) / r)),
            True,
        )
        for ess, epsilon in ((0.01, 0.0), (1.0, 0.5), (100.0, 1.0))
    },
}


def split_at_random(rng, rows, real):
    """Split rows of counts into finer ones that add up to them."""
    finer = []
    for row in rows:
        n_parts = int(rng.integers(1, 4))
        if rng.random() < 0.4:  # by the child's state: what the bounds assume at best
            finer += [np.where(np.arange(len(row)) == k, row, 0) for k in range(len(row))]
        elif real:
            shares = rng.dirichlet([0.5] * n_parts, size=len(row))
            finer += [row * shares[:, part] for part in range(n_parts)]
        else:
            parts = np.array([rng.multinomial(n, [1 / n_parts] * n_parts) for n in row])
            finer += [parts[:, part] for part in range(n_parts)]
    return np.array([row for row in finer if row.sum() > 0])


@pytest.mark.parametrize("name", BOUNDS)
def test_no_refinement_scores_more_than_the_bound(name):
    score, bound, takes_real = BOUNDS[name]
    rng = np.random.default_rng(3)
    nearest = -math.inf
    for _ in range(CASES // 5 if name.startswith("max_bdeu") else CASES):  # slow by its formula
        real = takes_real and rng.random() < 0.3
        r = int(rng.integers(2, 5))
        n_rows = int(rng.integers(1, 5))
        table = rng.integers(0, int(rng.choice([2, 5, 60])), (n_rows, r))
        table[0, 0] += 1
        if real:
            table = table * rng.random(table.shape)
            table[0, 0] += 1.0
        table = table[table.sum(axis=1) > 0]
        q = float(len(table) + rng.integers(0, 3))
        growth = float(rng.integers(2, 4))
        finer = split_at_random(rng, table, real)
        if rng.random() < 0.3:
            finer = split_at_random(rng, finer, real)
        # At least `growth` times the configurations; sometimes very many.
        new_q = max(len(finer), q * growth * float(rng.choice([1, 2, 1e6])))
        total = float(table.sum())
        got = score.family(FamilyCounts.of(finer, n_configurations=new_q))
        limit = bound(table, q, growth, total)
        assert got <= limit + 1e-9 * max(1.0, total), (table, finer, q, new_q)
        nearest = max(nearest, got - limit)
    assert nearest > -0.5  # not so loose that the test would never see an error


def log_likelihood(table):
    totals = table.sum(axis=1)
    return math.fsum(
        n * math.log(n / total)
        for row, total in zip(table.tolist(), totals.tolist(), strict=True)
        for n in row
        if n
    )


# Any prior will do: a mean of likelihoods is no more than the largest.
@pytest.mark.parametrize("name", ["k2", "bdeu", "min_bdeu", "max_bdeu", "bd", "fnml"])
def test_no_score_of_a_mean_is_above_the_maximised_likelihood(name):
    score = make_score("bd", pseudo_count=0.3) if name == "bd" else make_score(name)
    rng = np.random.default_rng(5)
    for _ in range(300):
        r = int(rng.integers(2, 5))
        table = rng.integers(0, 30, (int(rng.integers(1, 6)), r))
        if name != "fnml" and rng.random() < 0.5:
            table = table * rng.random(table.shape)
        table[0, 0] += 1
        table = table[table.sum(axis=1) > 0]
        got = score.family(FamilyCounts.of(table, n_configurations=float(len(table) + 1)))
        assert got <= log_likelihood(table) + 1e-9


# Split rows have a regret that is no less; the likelihood given all other columns caps the rest.
def test_fnml_pays_at_least_the_regret_of_coarser_rows():
    score = make_score("fnml")
    rng = np.random.default_rng(6)
    for _ in range(500):
        r = int(rng.integers(2, 5))
        table = rng.integers(0, 20, (int(rng.integers(1, 4)), r))
        table[0, 0] += 1
        table = table[table.sum(axis=1) > 0]
        finer = split_at_random(rng, table, False)
        least = math.fsum(float(regret(n, r)) for n in table.sum(axis=1).tolist())
        got = score.family(FamilyCounts.of(finer))
        assert got <= log_likelihood(finer) - least + 1e-9
