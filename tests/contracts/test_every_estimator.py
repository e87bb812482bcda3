"""What every estimator promises, checked for each entry of the list."""

import pickle
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestdag import MinBDeu, fit_network
from bestdag.counts.family import FamilyCounts
from bestdag.data.dataset import Dataset
from bestdag.graph.dag import Dag
from bestdag.parameters import ESTIMATORS, FSNML, Dirichlet, choose_estimator, estimator_for
from bestdag.parameters.base import Estimator
from bestdag.scores import SCORES, make_score
from tests.conftest import examples
from tests.contracts.test_every_score import datasets

# Few rows and many states are what these tests are about.
pytestmark = pytest.mark.filterwarnings("ignore:fit. the network has .* parameters")

EVERY = [
    *(estimator() for estimator in ESTIMATORS.values()),
    Dirichlet(pseudo_count=2),
    *(estimator_for(make_score(name)) for name in ("bde", "k2", "bdq", "min_bdeu", "max_bdeu")),
]
every_estimator = pytest.mark.parametrize("estimator", EVERY, ids=repr)

tables = st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=1, max_size=4)


def chain_of(dataset, n_parents=2):
    """Each variable has the variables before it as parents, at most so many."""
    names = sorted(dataset.names)
    return Dag.from_parents({n: names[max(0, i - n_parents) : i] for i, n in enumerate(names)})


@every_estimator
@given(tables, st.sampled_from([1, 0.37]))
def test_rows_are_distributions(estimator, table, scale):
    counts = FamilyCounts.of(np.array(table) * scale, n_configurations=5)
    rows = estimator.rows(counts)
    assert rows.shape == counts.table.shape
    assert rows.dtype == np.float64
    assert rows.sum(axis=1) == pytest.approx(1.0, abs=1e-15)
    assert (rows >= 0).all()
    if estimator.name not in ("mle", "em"):  # these maximise the likelihood
        assert (rows > 0).all()


@every_estimator
@given(tables)
def test_ten_times_the_counts_are_nearer_to_the_frequencies(estimator, table):
    few, many = (FamilyCounts.of(np.array(table) * n) for n in (1, 10))
    seen = few.row_totals > 0
    frequencies = few.table[seen] / few.row_totals[seen, None]
    before, after = (
        np.abs(estimator.rows(counts)[seen] - frequencies).max(axis=1) for counts in (few, many)
    )
    assert (after <= before + 1e-12).all()


@every_estimator
@given(tables, st.permutations(range(3)))
def test_same_after_relabelling_states(estimator, table, order):
    if getattr(estimator, "prior", None) == MinBDeu():
        table = [[row[0], row[1] + 10, row[2] + 20] for row in table]  # no ties for the rarest
    cells = np.array(table)
    rows = estimator.rows(FamilyCounts.of(cells))
    moved = estimator.rows(FamilyCounts.of(cells[:, order]))
    assert moved == pytest.approx(rows[:, order], rel=1e-12)


@every_estimator
@given(datasets(), st.randoms(use_true_random=False))
@settings(max_examples=examples(25))
def test_order_of_rows_and_columns_and_threads_do_not_change_a_bit(estimator, dataset, random):
    order = random.sample(range(dataset.n_rows), dataset.n_rows)
    names = random.sample(dataset.names, dataset.n_variables)
    moved = Dataset(
        [dataset.variable(n) for n in names],
        [dataset.codes(n)[order] for n in names],
        None if dataset.weights is None else dataset.weights[order],
    )
    dag = chain_of(dataset)
    one = fit_network(dag, dataset, estimator, threads=1)
    assert fit_network(dag, moved, estimator, threads=3) == one


@every_estimator
@given(datasets(weights=("whole",)))
@settings(max_examples=examples(25))
def test_whole_weights_equal_repetition(estimator, dataset):
    repeated = Dataset(
        dataset.variables, [np.repeat(dataset.codes(n), dataset.weights) for n in dataset.names]
    )
    dag = chain_of(dataset)
    assert fit_network(dag, dataset, estimator) == fit_network(dag, repeated, estimator)


@every_estimator
def test_pickles_compares_and_prints_its_settings(estimator):
    assert isinstance(estimator, Estimator)
    assert pickle.loads(pickle.dumps(estimator)) == estimator
    assert repr(estimator).startswith(type(estimator).__name__)
    assert all(setting.init and setting.name[0] != "_" for setting in fields(estimator))


BELONGS = {
    "ll": "fsnml", "aic": "fsnml", "bic": "fsnml", "hqc": "fsnml", "mit": "fsnml", "pnal": "fsnml",
    "fnml": "fsnml", "qnml": "fsnml", "k2": "dirichlet", "bd": "dirichlet", "bdq": "dirichlet",
    "bde": "dirichlet", "bdeu": "dirichlet", "min_bdeu": "dirichlet", "max_bdeu": "dirichlet",
}  # fmt: skip


@pytest.mark.parametrize("name", SCORES)
def test_every_score_has_an_estimator(name):
    score = make_score(name)
    assert choose_estimator(score, None, {}) == FSNML()
    estimator = choose_estimator(score, "score", {})
    assert estimator.name == BELONGS.get(name, getattr(score, "estimator", None))
    if estimator.name == "dirichlet":
        assert estimator.prior is score


@pytest.mark.parametrize("name", SCORES)
@given(datasets())
@settings(max_examples=examples(25))
def test_what_was_merely_not_seen_is_possible_with_the_parameters_of_a_score(name, dataset):
    estimator = estimator_for(make_score(name))
    for table in fit_network(chain_of(dataset), dataset, estimator).tables:
        assert (table.rows > 0).all()
