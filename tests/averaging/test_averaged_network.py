"""Bayesian model averaging: mixtures by hand, and predictions by Bayes' rule."""

import numpy as np
import pytest

from bestdag import (
    FSNML,
    Dirichlet,
    InvalidParameterError,
    average_networks,
    bootstrap,
    fit_network,
    posterior,
    read,
)
from bestdag.examples import example
from bestdag.parameters import estimator_for
from bestdag.scores import make_score

ASIA = read(example("asia.csv"))
TRAIN = ASIA.select(["bronc", "dysp", "either", "smoke"], rows=slice(0, 80))
TEST = ASIA.select(["bronc", "dysp", "either", "smoke"], rows=slice(80, 180))
FOUND = posterior(TRAIN, method="sampling", samples=500, seed=1)
AVERAGED = average_networks(FOUND, TRAIN, most=1000)


def joints():
    estimator = estimator_for(make_score("bdeu"))
    return [(weight, fit_network(dag, TRAIN, estimator)) for dag, weight in FOUND.dags]


def test_log_probability_is_that_of_the_mixture():
    expected = sum(w * np.exp(net.log_probability(TEST)) for w, net in joints())
    np.testing.assert_allclose(np.exp(AVERAGED.log_probability(TEST)), expected, rtol=1e-9)
    assert AVERAGED.log_loss(TEST) == pytest.approx(-np.log(expected).mean())
    assert AVERAGED.left_out == pytest.approx(0.0, abs=1e-12)


def test_predictions_follow_from_the_mixture_by_bayes_rule():
    table = TEST.select(rows=slice(0, 10))
    codes = {name: table.codes(name) for name in table.names}
    joint = []
    for code in (0, 1):
        columns = [np.full(10, code) if n == "dysp" else codes[n] for n in table.names]
        rows = type(table)(table.variables, columns)
        joint.append(sum(w * np.exp(net.log_probability(rows)) for w, net in joints()))
    expected = np.array(joint).T / np.sum(joint, axis=0)[:, None]
    found = AVERAGED.predict_proba("dysp", table)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    # The column of the target is never looked at, and may be absent.
    np.testing.assert_array_equal(AVERAGED.predict_proba("dysp", table.drop("dysp")), found)
    states = np.array(table.variable("dysp").states, object)
    assert (AVERAGED.predict("dysp", table) == states[found.argmax(axis=1)]).all()


def test_columns_that_are_absent_are_summed_over():
    found = AVERAGED.predict_proba("dysp", {"bronc": ["yes"]})
    parts = [
        (w, net.query("dysp", given={"bronc": "yes"}), net.probability({"bronc": "yes"}))
        for w, net in joints()
    ]
    expected = sum(w * p * one["yes"] for w, one, p in parts) / sum(w * p for w, _, p in parts)
    states = TRAIN.variable("dysp").states
    assert found[0, states.index("yes")] == pytest.approx(expected)


def test_the_average_predicts_held_out_rows_at_least_as_well_as_its_worst_members():
    losses = [net.log_loss(TEST) for _, net in joints()]
    assert AVERAGED.log_loss(TEST) < max(losses)


def test_the_heaviest_structures_are_kept():
    few = average_networks(FOUND, TRAIN, most=3)
    assert len(few) == 3
    assert few.left_out == pytest.approx(1.0 - FOUND.dags.weights[:3].sum())
    assert few.weights.sum() == pytest.approx(1.0)


def test_structures_of_a_bootstrap_can_be_averaged():
    found = bootstrap(TRAIN, "bic", replicates=5)
    averaged = average_networks(found, TRAIN, "bic")
    assert np.isfinite(averaged.log_loss(TEST))


def test_the_parameters_are_those_of_the_score_unless_others_are_asked_for():
    dag, weight = next(iter(FOUND.dags))
    assert weight > 0
    for given, estimator in [({}, Dirichlet(ess=1)), ({"parameters": "fsnml"}, FSNML())]:
        one = average_networks(FOUND, TRAIN, most=1, **given)
        expected = fit_network(dag, TRAIN, estimator).log_loss(TEST)
        assert one.log_loss(TEST) == pytest.approx(expected, abs=1e-12)


def test_sums_without_structures_are_refused():
    with pytest.raises(InvalidParameterError, match="average_networks: needs structures"):
        average_networks(posterior(TRAIN), TRAIN)
