"""BDe: by hand, against enumeration of the prior network's joint distribution, refusals."""

import pickle
from dataclasses import fields, replace
from fractions import Fraction
from functools import reduce
from itertools import product
from math import inf, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestdag import machine
from bestdag.counts.engine import CountingEngine
from bestdag.counts.family import FamilyCounts
from bestdag.data.dataset import Dataset
from bestdag.data.schema import Variable
from bestdag.errors import (
    DataError,
    InvalidParameterError,
    NotEnoughMemoryError,
    UnknownNameError,
)
from bestdag.graph.dag import Dag
from bestdag.network.network import Network
from bestdag.network.table import ConditionalTable
from bestdag.scores import bde as prior_network
from bestdag.scores.bde import BDe
from bestdag.scores.bdeu import BDeu
from bestdag.scores.prior import ArcDifferencePrior
from bestdag.scores.scorer import Scorer
from tests.conftest import examples, make_dataset
from tests.reference import scores as reference
from tests.scores.prior_networks import PriorNet, random_data, random_net


def enumerated(net, counts):
    """P(child, parents) of each observed configuration: every joint state, one by one."""
    names = net.names
    place = {name: i for i, name in enumerate(names)}
    family = [*(p.name for p in counts.parents), counts.child.name]
    sums = {}
    for state in product(*(range(net.variable(name).arity) for name in names)):
        p = 1.0
        for name in names:
            parents, values = net.given[name]
            p *= np.asarray(values)[(*(state[place[q]] for q in parents), state[place[name]])]
        key = tuple(state[place[name]] for name in family)
        sums[key] = sums.get(key, 0.0) + p
    return np.array(
        [[sums[(*codes, k)] for k in range(counts.arity)] for codes in counts.configurations]
    )


RAIN = PriorNet({"rain": ([], [0.75, 0.25]), "wet": (["rain"], [[2 / 3, 1 / 3], [0.0, 1.0]])})


# ess 4. rain: a = (3, 1), counts (1, 1): 3 1 / (4 5) = 3/20.
# rain given wet: P(rain, wet) = (1/2, 1/4; 0, 1/4), so wet=0: a = (2, 0), wet=1: a = (1, 1).
# The data have (rain, wet) = (0, 0) and (1, 1): 2/2 and 1/2.
def test_value_worked_out_by_hand():
    scorer = Scorer(make_dataset({"rain": [0, 1], "wet": [0, 1]}), BDe(prior=RAIN, ess=4))
    assert scorer.family("rain") == pytest.approx(log(3 / 20), abs=1e-12)
    assert scorer.family("rain", ["wet"]) == pytest.approx(log(1 / 2), abs=1e-12)


# rain=1 with wet=0 is impossible.
def test_impossible_data_score_minus_infinity():
    scorer = Scorer(make_dataset({"rain": [1, 0], "wet": [0, 1]}), BDe(prior=RAIN, ess=4))
    assert scorer.family("rain") == pytest.approx(log(3 / 20), abs=1e-12)
    assert scorer.family("wet", ["rain"]) == -inf
    assert scorer.family("rain", ["wet"]) == -inf
    assert scorer.total(Dag(["rain", "wet"], [("rain", "wet")])) == -inf
    assert scorer.explain("wet", ["rain"]).terms["cells"] == -inf


# Whole rows of zeros: wet is never 0 when rain is 1, and z repeats wet given both.
def test_impossible_configurations_score_minus_infinity_and_never_nan():
    net = PriorNet({**RAIN.given, "z": (["wet"], [[1.0, 0.0], [0.5, 0.5]])})
    dataset = make_dataset({"rain": [1, 1], "wet": [0, 0], "z": [0, 1]})
    assert Scorer(dataset, BDe(prior=net)).family("z", ["rain", "wet"]) == -inf


@given(st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3), min_size=1, max_size=4))
def test_without_prior_it_is_bdeu(table):
    counts = FamilyCounts.of(table, n_configurations=7)
    assert BDe(ess=2.5).family(counts) == BDeu(ess=2.5).family(counts)
    assert BDe(ess=2.5).kernel() is not None


def test_with_a_uniform_prior_network_it_is_bdeu():
    rng = np.random.default_rng(1)
    uniform = PriorNet({f"v{i}": ([], np.full(r, 1 / r)) for i, r in enumerate([2, 3, 4])})
    dataset = random_data(rng, uniform, 50)
    families = [("v0", []), ("v1", ["v0", "v2"]), ("v2", ["v1"])]
    bde = Scorer(dataset, BDe(prior=uniform, ess=3)).families(families)
    assert bde == pytest.approx(Scorer(dataset, BDeu(ess=3)).families(families), rel=1e-12)


@pytest.mark.parametrize("max_dense", [1 << 16, 0], ids=["whole table", "row by row"])
@given(st.integers(0, 2**32))
@settings(max_examples=examples(40))
def test_pseudo_counts_equal_enumeration(max_dense, seed):
    rng = np.random.default_rng(seed)
    net = random_net(rng, 6)
    child, *others = rng.permutation(net.names).tolist()
    (counts,) = CountingEngine(random_data(rng, net, 12)).count([(child, others[: seed % 5])])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prior_network, "_MAX_DENSE", max_dense)
        got = prior_network.PriorMarginals(net).of(counts)
    assert got == pytest.approx(enumerated(net, counts), rel=1e-12, abs=1e-15)


@given(st.integers(0, 2**32), st.floats(0.1, 20))
@settings(max_examples=examples(20))
def test_agrees_with_reference(seed, ess):
    rng = np.random.default_rng(seed)
    net = random_net(rng, 4, min_arity=2)
    child, *parents = rng.permutation(net.names).tolist()[:3]
    (counts,) = CountingEngine(random_data(rng, net, 15)).count([(child, parents)])
    priors = [[Fraction(ess * p) for p in row] for row in enumerated(net, counts).tolist()]
    expected = reference.dirichlet(counts.table.tolist(), priors)
    assert BDe(prior=net, ess=ess).family(counts) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(st.integers(0, 2**32))
@settings(max_examples=examples(20))
def test_score_equivalent_with_any_prior_network(seed):
    rng = np.random.default_rng(seed)
    net = random_net(rng, 4)
    scorer = Scorer(random_data(rng, net, 30), BDe(prior=net, ess=5))
    names = list(net.names)
    dag = Dag(names, [(a, b) for i, a in enumerate(names) for b in names[:i] if rng.random() < 0.6])
    totals = [scorer.total(member) for member in dag.cpdag().members()]
    assert totals == pytest.approx([totals[0]] * len(totals), rel=1e-9)


# A chain of 300: P(first, last) is diag(p) times the product of the transition matrices.
def test_long_chain():
    rng = np.random.default_rng(3)
    steps = rng.dirichlet([5.0, 1.0, 1.0], (299, 3))
    tables = {"v000": ([], [0.2, 0.3, 0.5])}
    for i, step in enumerate(steps, start=1):
        tables[f"v{i:03}"] = ([f"v{i - 1:03}"], step)
    net = PriorNet(tables)
    (counts,) = CountingEngine(random_data(rng, net, 60)).count([("v299", ["v000"])])
    expected = np.diag([0.2, 0.3, 0.5]) @ reduce(np.matmul, steps)
    got = prior_network.PriorMarginals(net).of(counts)
    assert got == pytest.approx(expected, rel=1e-11)


# Twenty independent parents with 30 states: P = product of the parts, no table of 30^21 cells.
def test_large_families_follow_the_rows():
    rng = np.random.default_rng(4)
    net = PriorNet({f"v{i:02}": ([], rng.dirichlet(np.ones(30))) for i in range(21)})
    (counts,) = CountingEngine(random_data(rng, net, 50)).count([("v20", net.names[:20])])
    parts = [np.asarray(net.given[name][1]) for name in net.names]
    expected = np.outer(
        [np.prod([parts[i][code] for i, code in enumerate(row)]) for row in counts.configurations],
        parts[20],
    )
    assert prior_network.PriorMarginals(net).of(counts) == pytest.approx(expected, rel=1e-12)
    assert np.isfinite(BDe(prior=net).family(counts))


def test_rows_are_worked_out_in_pieces(monkeypatch):
    rng = np.random.default_rng(5)
    net = random_net(rng, 6, min_arity=2)
    (counts,) = CountingEngine(random_data(rng, net, 200)).count(
        [("v000", ["v001", "v002", "v003"])]
    )
    monkeypatch.setattr(prior_network, "_MAX_DENSE", 0)
    whole = prior_network.PriorMarginals(net).of(counts)
    monkeypatch.setattr(prior_network, "_ROOMY", 0)  # one row at a time
    assert prior_network.PriorMarginals(net).of(counts) == pytest.approx(whole, rel=1e-14)


def test_tables_are_worked_out_once_and_forgotten_when_full(monkeypatch):
    rng = np.random.default_rng(6)
    net = random_net(rng, 5, min_arity=2)
    engine = CountingEngine(random_data(rng, net, 30))
    counts = engine.count([(a, [b]) for a in net.names for b in net.names if a != b])
    fresh = [prior_network.PriorMarginals(net).of(c).tolist() for c in counts]
    calls = []
    plan = prior_network.plan_elimination
    monkeypatch.setattr(prior_network, "plan_elimination", lambda *a: calls.append(a) or plan(*a))
    shared = prior_network.PriorMarginals(net)
    assert [shared.of(c).tolist() for c in counts] == fresh
    assert len(calls) == 10  # pairs, not families
    monkeypatch.setattr(prior_network, "_MAX_CACHED", 10)
    small = prior_network.PriorMarginals(net)
    for _ in range(2):
        assert [small.of(c).tolist() for c in counts] == fresh
    assert len(calls) > 10 + 10 + 1  # forgotten and worked out again


# Rows that sum to 0.9999999 count as rows that sum to 1.
def test_rows_are_scaled_to_one():
    near = PriorNet({"a": ([], [0.4999999, 0.5]), "b": (["a"], [[0.3, 0.7], [0.1, 0.8999999]])})
    dataset = make_dataset({"a": [0, 1, 1], "b": [0, 1, 0]})
    scorer = Scorer(dataset, BDe(prior=near, ess=2))
    forward = scorer.family("a") + scorer.family("b", ["a"])
    backward = scorer.family("b") + scorer.family("a", ["b"])
    assert forward == pytest.approx(backward, rel=1e-13)


def test_states_of_data_and_prior_network_must_agree():
    variables = [Variable("rain", ("dry", "wet"))]
    dataset = Dataset(variables, [np.array([0, 1], np.uint8)])
    with pytest.raises(
        DataError, match="states of 'rain' are 'dry', 'wet' in the data and '0', '1'"
    ):
        Scorer(dataset, BDe(prior=RAIN)).family("rain")


def test_a_variable_the_prior_network_does_not_know_is_named():
    with pytest.raises(UnknownNameError, match="BDe: the prior network: unknown variable 'snow'"):
        Scorer(make_dataset({"snow": [0, 1]}), BDe(prior=RAIN)).family("snow")


def test_too_dense_a_prior_network_is_refused_with_a_forecast(monkeypatch):
    net = random_net(np.random.default_rng(7), 6, min_arity=2)
    (counts,) = CountingEngine(random_data(np.random.default_rng(7), net, 5)).count([("v000", [])])
    monkeypatch.setattr(prior_network, "_MAX_LOG2_CELLS", 0)
    assert np.isfinite(BDe(prior=net).family(counts))  # row by row
    monkeypatch.setattr(machine, "available_memory", lambda: 10)
    with pytest.raises(NotEnoughMemoryError, match=r"BDe: the joint .* 'v000' and its 0 parents"):
        BDe(prior=net).family(counts)


@pytest.mark.parametrize("prior", ["net.bif", Dag(["a"], []), 3])
def test_refuses_a_prior_that_is_no_network(prior):
    with pytest.raises(InvalidParameterError, match="BDe: prior must be a network with tables"):
        BDe(prior=prior)


@pytest.mark.parametrize("values", [[[0.5, 0.5]], [2.0, 3.0], [1.5, -0.5], [np.nan, 1.0]])
def test_refuses_tables_that_are_no_probabilities(values):
    with pytest.raises(InvalidParameterError, match="table of 'a' must have the shape"):
        BDe(prior=PriorNet({"a": ([], values)}))


@pytest.mark.parametrize("ess", [0.0, -1.0, float("nan"), "1"])
def test_refuses_ess_that_is_not_positive(ess):
    with pytest.raises(InvalidParameterError, match=r"BDe: ess must be .* > 0, got"):
        BDe(ess=ess)


# The example network of the hand-worked values, as a Network: the same scores.
def test_takes_a_network():
    rain, wet = RAIN.variable("rain"), RAIN.variable("wet")
    network = Network(
        [
            ConditionalTable(rain, (), RAIN.given["rain"][1]),
            ConditionalTable(wet, (rain,), RAIN.given["wet"][1]),
        ]
    )
    scorer = Scorer(network.sample(50, seed=1), BDe(prior=network, ess=4))
    again = pickle.loads(pickle.dumps(scorer))
    assert again.score == scorer.score
    for dag in (network.dag, Dag(["rain", "wet"], [("wet", "rain")])):
        expected = Scorer(scorer.dataset, BDe(prior=RAIN, ess=4)).total(dag)
        assert again.total(dag) == scorer.total(dag) == expected
    assert ArcDifferencePrior(network, kappa=0.5).network == network.dag


def test_pickles_and_compares_with_its_prior():
    score = BDe(prior=RAIN, ess=4)
    again = pickle.loads(pickle.dumps(score))
    assert again == score
    assert hash(again) == hash(score)
    assert score != BDe(ess=4)
    assert replace(score, ess=2) == BDe(prior=RAIN, ess=2)
    assert [setting.name for setting in fields(score)] == ["prior", "ess"]
    dataset = make_dataset({"rain": [0, 1], "wet": [0, 1]})
    assert Scorer(dataset, again).family("rain", ["wet"]) == pytest.approx(log(1 / 2))
    assert score.kernel() is None
