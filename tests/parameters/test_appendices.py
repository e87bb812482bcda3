"""Silander, Roos and Myllymäki (2010), Appendices A and B, in exact fractions and by our scores.

Two ways to predict the next row that no parameters of the structure X1 -> X2 <- X3 can express:
X1 and X3 would not be independent.
"""

from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
import pytest

from bestdag import FNML, LL, Dag, Scorer
from tests.conftest import make_dataset
from tests.reference import parameters as reference
from tests.reference.nml import likelihood, normalizer

PARENTS = [(), (0, 2), ()]
ARITIES = (2, 2, 2)
ROWS = list(product(range(2), repeat=3))  # 000, 001, ... 111

APPENDIX_A = [Fraction(n, 38) for n in (16, 4, 4, 4, 4, 1, 4, 1)]  # 8/19, 2/19, ..., 1/38
APPENDIX_B = [Fraction(n, 49729) for n in (32805, 2808, 4860, 2808, 2808, 416, 2808, 416)]


def fnml(rows):
    """The fNML probability of rows, as a fraction."""
    value = Fraction(1)
    for child, given in enumerate(PARENTS):
        configurations = [tuple(row[p] for p in given) for row in rows]
        value *= likelihood([row[child] for row in rows], configurations)
        for configuration in set(configurations):
            value /= normalizer(2, configurations.count(configuration))
    return value


def by_score(score, rows):
    """Normalise the exponential of a score over the next row."""
    dag = Dag(["x1", "x2", "x3"], [("x1", "x2"), ("x3", "x2")])

    def value(row):
        columns = zip(*rows, row, strict=True)
        data = make_dataset(
            dict(zip(dag.nodes, map(list, columns), strict=True)), dict.fromkeys(dag.nodes, 2)
        )
        return exp(Scorer(data, score).total(dag))

    values = np.array([value(row) for row in ROWS])
    return values / values.sum()


def test_appendix_a():
    data = [(0, 0, 0)]
    found = reference.predictions(
        lambda rows: reference.network_likelihood(rows, PARENTS), data, ARITIES
    )
    assert [found[row] for row in ROWS] == APPENDIX_A
    assert by_score(LL(), data) == pytest.approx([float(x) for x in APPENDIX_A], rel=1e-12)


def test_appendix_a_is_not_independent():
    joint = {
        (x1, x3): sum(APPENDIX_A[ROWS.index((x1, x2, x3))] for x2 in range(2))
        for x1, x3 in product(range(2), repeat=2)
    }
    assert [joint[x] for x in sorted(joint)] == [Fraction(n, 19) for n in (10, 4, 4, 1)]
    x1, x3 = (
        {k: sum(p for x, p in joint.items() if x[i] == k) for k in range(2)} for i in range(2)
    )
    independent = {(a, b): x1[a] * x3[b] for a, b in joint}
    # The paper prints 70/361 for the middle ones, which is 14/19 5/19.
    assert [independent[x] for x in sorted(joint)] == [Fraction(n, 361) for n in (196, 70, 70, 25)]


def test_appendix_b():
    data = [(0, 0, 0)] * 2
    found = reference.predictions(fnml, data, ARITIES)
    assert [found[row] for row in ROWS] == APPENDIX_B
    assert by_score(FNML(), data) == pytest.approx([float(x) for x in APPENDIX_B], rel=1e-12)
