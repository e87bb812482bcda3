"""From data to a proof: the table's optimum is that of all networks there are."""

import math

import numpy as np
import pytest

from bestdag.graph.enumeration import all_dags
from bestdag.scores import SCORES
from bestdag.scores.parent_sets.build import build_score_table
from bestdag.scores.scorer import Scorer
from bestdag.search.exact.dp.engine import solve_dp
from tests.scores.random_data import random_dataset


def check(name, n_tables, n_variables, *, seed):
    rng = np.random.default_rng([seed, *name.encode()])
    structures = None
    for _ in range(n_tables):
        data = random_dataset(rng, n_variables=n_variables)
        if structures is None:
            structures = [
                [(child, frozenset(dag.parents(child))) for child in data.names]
                for dag in all_dags(data.names)
            ]
        scorer = Scorer(data, name, threads=1)
        families = sorted({f for s in structures for f in s}, key=lambda f: (f[0], sorted(f[1])))
        scores = dict(zip(families, scorer.families(families).tolist(), strict=True))
        best = max(math.fsum(scores[f] for f in structure) for structure in structures)
        for table in (build_score_table(scorer), build_score_table(scorer, prune=False)):
            result = solve_dp(table, threads=1)
            assert result.is_proved
            assert result.score == pytest.approx(best, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", SCORES)
def test_optimum_of_the_table_is_that_of_all_networks_of_four_variables(name):
    check(name, 25, 4, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", SCORES)
def test_optimum_on_a_thousand_data_sets(name):
    check(name, 1000, 4, seed=2)


@pytest.mark.slow
@pytest.mark.parametrize("name", SCORES)
def test_optimum_of_the_table_is_that_of_all_networks_of_five_variables(name):
    check(name, 3, 5, seed=3)
