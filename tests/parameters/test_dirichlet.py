"""Posterior mean: every prior by hand, the predictive identity of BD scores, refusals."""

import pickle
from fractions import Fraction
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestdag import BD, K2, BDe, BDeu, Dag, Dirichlet, MaxBDeu, MinBDeu, Scorer, fit_network
from bestdag.counts.family import FamilyCounts
from bestdag.data.dataset import Dataset
from bestdag.data.schema import Variable
from bestdag.errors import DataError, InvalidParameterError
from bestdag.network.network import Network
from bestdag.network.table import ConditionalTable
from bestdag.parameters import estimator_for
from tests.conftest import examples, make_dataset
from tests.reference import parameters as reference
from tests.scores.random_data import random_dataset

# Few rows and many states are what these tests are about.
pytestmark = pytest.mark.filterwarnings("ignore:fit. the network has .* parameters")

RAIN, WET = Variable("rain", ("0", "1")), Variable("wet", ("0", "1"))
PRIOR = Network(
    [
        ConditionalTable(RAIN, (), [0.75, 0.25]),
        ConditionalTable(WET, (RAIN,), [[0.9, 0.1], [0.2, 0.8]]),
    ]
)


def counts_of_wet(table):
    """Counts of wet given rain: one row for rain=0, one for rain=1."""
    return FamilyCounts(WET, (RAIN,), np.array([[0], [1]], np.uint16), np.array(table), 2.0)


def test_bdeu_worked_out_by_hand():
    # ess 6 over 2 configurations of 3 states: 1 per cell. (3+1, 0+1, 0+1) / 6 and 1/3 each.
    rows = Dirichlet(ess=6).rows(FamilyCounts.of([[3, 0, 0], [0, 0, 0]]))
    assert rows == pytest.approx(
        np.array([[4 / 6, 1 / 6, 1 / 6], [1 / 3, 1 / 3, 1 / 3]]), abs=1e-15
    )


def test_bdeu_spreads_over_configurations_never_seen():
    # One row seen of q = 4: ess 4 gives each configuration 1, each cell 1/2. (1 + 1/2) / 2.
    rows = Dirichlet(ess=4).rows(FamilyCounts.of([[1, 0]], n_configurations=4))
    assert rows.tolist() == [[0.75, 0.25]]


def test_the_default_is_bdeu_with_ess_1():
    assert Dirichlet() == Dirichlet(ess=1.0)
    # a = 1/2 per cell: (3 + 1/2) / 5.
    assert Dirichlet().rows(FamilyCounts.of([[3, 1]])) == pytest.approx(np.array([[0.7, 0.3]]))


def test_constant_and_k2_worked_out_by_hand():
    counts = FamilyCounts.of([[2, 0], [0, 0]])
    for estimator in (Dirichlet(pseudo_count=1), Dirichlet(prior=K2())):  # (2 + 1) / 4
        assert estimator.rows(counts).tolist() == [[0.75, 0.25], [0.5, 0.5]]
    # (2 + 1/2) / 3
    assert Dirichlet(pseudo_count=0.5).rows(counts)[0] == pytest.approx([5 / 6, 1 / 6])


def test_given_tables_worked_out_by_hand():
    estimator = Dirichlet(tables={("wet", ("rain",)): [[8, 2], [1, 3]]})
    # (2 + 8) / 20, (8 + 2) / 20; nothing seen: 1/4, 3/4.
    assert estimator.rows(counts_of_wet([[2, 8], [0, 0]])).tolist() == [[0.5, 0.5], [0.25, 0.75]]


def test_prior_network_worked_out_by_hand():
    # 8 cases from the prior: rain=0 has 6, of them 5.4 and 0.6; rain=1 has 2: 0.4 and 1.6.
    rows = Dirichlet(prior=PRIOR, ess=8).rows(counts_of_wet([[3, 1], [0, 0]]))
    assert rows == pytest.approx(np.array([[8.4 / 10, 1.6 / 10], [0.2, 0.8]]), abs=1e-15)


def test_min_and_max_bdeu_worked_out_by_hand():
    counts = FamilyCounts.of([[3, 1]])
    # Min: floor 2 (1 - 1/2) / 2 = 1/2 each, the free 1 goes to the rarer state: (3.5, 2.5) / 6.
    adverse = Dirichlet(prior=MinBDeu(ess=2, epsilon=0.5)).rows(counts)
    assert adverse == pytest.approx(np.array([[7 / 12, 5 / 12]]))
    # Max: the golden section, a = (sqrt 5 - 1) / 2 and 1 - a. (3 + a) / 5.
    kind = Dirichlet(prior=MaxBDeu(ess=1)).rows(counts)
    a = (sqrt(5) - 1) / 2
    assert kind == pytest.approx(np.array([[(3 + a) / 5, (2 - a) / 5]]))


@pytest.mark.parametrize("score", [MinBDeu(ess=3), MaxBDeu(ess=3), MaxBDeu(ess=3, epsilon=1)])
def test_min_and_max_bdeu_are_uniform_where_nothing_was_seen(score):
    rows = Dirichlet(prior=score).rows(FamilyCounts.of([[0, 0], [5, 0]]))
    assert rows[0].tolist() == [0.5, 0.5]


@given(
    st.lists(st.lists(st.integers(0, 50), min_size=3, max_size=3), min_size=1, max_size=4),
    st.fractions(Fraction(1, 100), 100),
    st.integers(0, 3),
)
def test_bdeu_and_constant_agree_with_exact_fractions(table, size, unseen):
    q = len(table) + unseen
    counts = FamilyCounts.of(table, n_configurations=q)
    for estimator, prior in (
        (Dirichlet(ess=float(size)), size / (3 * q)),
        (Dirichlet(pseudo_count=float(size)), size),
    ):
        for got, row in zip(estimator.rows(counts), table, strict=True):
            expected = [float(x) for x in reference.posterior_mean(row, [prior] * 3)]
            assert got == pytest.approx(expected, rel=1e-14)


def random_dag(rng, names):
    order = rng.permutation(names).tolist()
    pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    return Dag(names, [pair for pair in pairs if rng.random() < 0.5])


def random_network(rng, dag, dataset):
    tables = []
    for node in dag.nodes:
        parents = tuple(dataset.variable(p) for p in dag.parents(node))
        shape = tuple(p.arity for p in parents)
        values = rng.dirichlet(np.ones(dataset.variable(node).arity), shape)
        tables.append(ConditionalTable(dataset.variable(node), parents, values))
    return Network(tables)


def log_probability(network, row):
    """Logarithm of the product of the tables' entries; `row` maps names to codes."""
    return sum(
        log(t.values[(*(row[p.name] for p in t.parents), row[t.child.name])])
        for t in network.tables
    )


# P(next row | data) = P(data, next row) / P(data): the fitted network predicts what the score says.
@pytest.mark.parametrize("kind", ["bdeu", "k2", "bd", "tables", "bde"])
@given(st.integers(0, 2**32), st.sampled_from([None, "whole"]))
@settings(max_examples=examples(30))
def test_prediction_is_the_ratio_of_bd_scores(kind, seed, weights):
    rng = np.random.default_rng(seed)
    data = random_dataset(rng, n_variables=4, max_rows=15, weights=weights)
    dag = random_dag(rng, data.names)
    tables = {
        (v.name, dag.parents(v.name)): rng.gamma(
            1.0, size=(int(np.prod([data.arities[p] for p in dag.parents(v.name)])), v.arity)
        )
        + 0.01
        for v in data.variables
    }
    score = {
        "bdeu": BDeu(ess=float(rng.gamma(2))),
        "k2": K2(),
        "bd": BD(pseudo_count=float(rng.gamma(1)) + 0.01),
        "tables": BD(tables=tables),
        "bde": BDe(prior=random_network(rng, random_dag(rng, data.names), data), ess=3.0),
    }[kind]
    network = fit_network(dag, data, estimator_for(score))
    row = {v.name: int(rng.integers(v.arity)) for v in data.variables}
    one = Dataset(data.variables, [np.array([row[n]]) for n in data.names])
    gained = Scorer(Dataset.concat([data, one]), score).total(dag) - Scorer(data, score).total(dag)
    assert log_probability(network, row) == pytest.approx(gained, abs=1e-9)


def test_what_the_prior_calls_impossible():
    certain = Network(
        [
            ConditionalTable(RAIN, (), [1.0, 0.0]),
            ConditionalTable(WET, (RAIN,), [[1, 0], [0.5, 0.5]]),
        ]
    )
    estimator = Dirichlet(prior=certain, ess=2)
    # rain=1 has no prior cases and no data: no mean, so uniform. rain=0: (4 + 2) / 6.
    assert estimator.rows(counts_of_wet([[4, 0], [0, 0]])).tolist() == [[1, 0], [0.5, 0.5]]
    with pytest.raises(DataError, match=r"3 cases with wet=1, rain=0, which the prior calls imp"):
        estimator.rows(counts_of_wet([[4, 3], [0, 0]]))


def test_the_largest_and_the_smallest_pseudo_counts():
    assert Dirichlet(pseudo_count=1e100).rows(FamilyCounts.of([[3, 1, 0]])) == pytest.approx(1 / 3)
    few = Dirichlet(ess=1e-100).rows(FamilyCounts.of([[0, 0], [1, 0]]))
    assert few[0].tolist() == [0.5, 0.5]
    assert few[1] == pytest.approx([1, 2.5e-101], rel=1e-12, abs=0)
    with pytest.raises(InvalidParameterError, match=r"Dirichlet: .* between 1e-100 and 1e\+100"):
        Dirichlet(pseudo_count=1e308)


@pytest.mark.parametrize(
    ("given_settings", "message"),
    [
        ({"ess": 0.0}, r"Dirichlet: ess must be a finite number > 0, got 0.0"),
        ({"pseudo_count": -1}, r"Dirichlet: pseudo_count must be a finite number > 0, got -1"),
        ({"ess": 1, "pseudo_count": 1}, r"give one of .* got ess and pseudo_count"),
        ({"ess": 1, "prior": K2()}, r"give one of .* got ess and prior"),
        ({"tables": {}, "prior": PRIOR}, r"give one of .* got tables and prior"),
        ({"prior": "bdeu"}, r"Dirichlet: prior must be a network .* got 'bdeu'"),
        ({"prior": K2}, r"Dirichlet: prior must be a network .* got <class"),
    ],
)
def test_refusals(given_settings, message):
    with pytest.raises(InvalidParameterError, match=message):
        Dirichlet(**given_settings)


@pytest.mark.parametrize(
    "estimator",
    [
        Dirichlet(),
        Dirichlet(ess=2.5),
        Dirichlet(tables={("wet", ("rain",)): [[8, 2], [1, 3]]}),
        Dirichlet(prior=PRIOR, ess=8),
        Dirichlet(prior=BD(tables={("wet", ("rain",)): [[8, 2], [1, 3]]})),
        Dirichlet(prior=MinBDeu(ess=2)),
    ],
)
def test_a_copy_by_pickle_is_equal_and_works(estimator):
    copy = pickle.loads(pickle.dumps(estimator))
    assert copy == estimator
    assert hash(copy) == hash(estimator)
    assert repr(copy) == repr(estimator)
    counts = counts_of_wet([[2, 8], [0, 1]])
    assert copy.rows(counts).tolist() == estimator.rows(counts).tolist()


def test_row_weights_that_are_no_whole_numbers():
    data = make_dataset({"a": [0, 1]}, weights=np.array([0.5, 1.0]))
    # (1/2 + 1/2) / (3/2 + 1)
    network = fit_network(Dag(["a"]), data, "dirichlet")
    assert network.table("a").values.tolist() == pytest.approx([0.4, 0.6])
