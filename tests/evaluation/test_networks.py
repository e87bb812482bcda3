"""Networks on data: log losses, accuracy, divergence, distances, each by another route."""

import math

import numpy as np
import pytest

from bestdag import (
    ConditionalTable,
    Dag,
    DataError,
    Dataset,
    InvalidParameterError,
    Network,
    Variable,
    distance_score,
    evaluate_network,
    fit_network,
    learn,
    random_network,
)
from bestdag.examples import example
from bestdag.graph.enumeration import all_dags

A, B = Variable("a", ("0", "1")), Variable("b", ("0", "1"))
TRUE = Network(
    [ConditionalTable(A, (), [0.5, 0.5]), ConditionalTable(B, (A,), [[0.8, 0.2], [0.4, 0.6]])]
)
OTHER = Network([ConditionalTable(A, (), [0.25, 0.75]), ConditionalTable(B, (), [0.5, 0.5])])
ROWS = Dataset([A, B], [[0, 0, 1, 1], [0, 1, 1, 1]])


def test_by_hand():
    found = evaluate_network(OTHER, ROWS, truth=TRUE)
    losses = [-math.log(p) for p in (0.125, 0.125, 0.375, 0.375)]
    assert found.log_loss == pytest.approx(sum(losses) / 4, abs=1e-12)
    assert found.standard_error == pytest.approx(np.std(losses, ddof=1) / 2, abs=1e-12)
    true = sum(math.log(p) for p in (0.4, 0.1, 0.3, 0.3))
    assert found.accuracy_score == pytest.approx(100 * (true + sum(losses)) / abs(true), abs=1e-9)
    joint = {(0, 0): (0.4, 0.125), (0, 1): (0.1, 0.125), (1, 0): (0.2, 0.375), (1, 1): (0.3, 0.375)}
    divergence = sum(p * math.log(p / q) for p, q in joint.values())
    assert found.kl_divergence == pytest.approx(divergence, abs=1e-12)
    assert found.kl_standard_error is None
    assert (found.n_arcs, found.n_parameters, found.n_rows) == (0, 2, 4)
    low, high = found.interval
    assert (low + high) / 2 == pytest.approx(found.log_loss)
    assert high - low == pytest.approx(2 * 1.959963985 * found.standard_error)


def test_weights_are_repetitions():
    weighted = Dataset([A, B], [[0, 0, 1, 0], [0, 1, 1, 0]], weights=[1, 1, 2, 0])
    assert evaluate_network(OTHER, weighted, truth=TRUE) == evaluate_network(
        OTHER, ROWS, truth=TRUE
    )


def test_the_truth_has_an_accuracy_score_of_zero():
    net = Network.load(example("asia.bif"))
    found = evaluate_network(net, net.sample(500), truth=net)
    assert (found.accuracy_score, found.kl_divergence) == (0.0, 0.0)
    assert "accuracy score 0.0000 %" in str(found)


def test_the_accuracy_score_approaches_the_divergence():
    net = Network.load(example("asia.bif"))
    rows = net.sample(200_000, seed=5)
    found = evaluate_network(learn(net.sample(300, seed=1)).fit(), rows, truth=net)
    apart = found.accuracy_score / 100 * net.log_loss(rows)
    assert apart == pytest.approx(found.kl_divergence, rel=0.1)


def test_impossible_rows_are_infinitely_bad_and_null_in_json():
    sure = Network([ConditionalTable(A, (), [1.0, 0.0]), ConditionalTable(B, (), [0.5, 0.5])])
    found = evaluate_network(sure, ROWS)
    assert found.log_loss == math.inf
    assert found.to_dict()["log_loss"] is None
    with pytest.raises(DataError, match="a row is impossible in the true network"):
        evaluate_network(OTHER, ROWS, truth=sure)


def brute_distance(dag, data, kind):
    """Sum over all cells of the joint, each probability multiplied out."""
    network = fit_network(dag, data, "mle")
    total = 0.0
    for cell in np.ndindex(*(data.variable(name).arity for name in data.names)):
        states = {n: data.variable(n).states[c] for n, c in zip(data.names, cell, strict=True)}
        p = 1.0
        for name in data.names:
            row = network.table(name).row(**{q: states[q] for q in dag.parents(name)})
            p *= row[data.variable(name).states.index(states[name])]
        same = np.all([data.codes(n) == c for n, c in zip(data.names, cell, strict=True)], axis=0)
        share = np.count_nonzero(same) / data.n_rows
        if kind == "euclidean":
            total += (share - p) ** 2
        elif share:
            total += share * math.log(share / p)
    return total


@pytest.mark.parametrize("kind", ["euclidean", "kl"])
def test_distances_to_the_empirical_distribution(kind):
    data = random_network(3, "order", n_arcs=3, arities=(2, 3), seed=2).sample(60)
    for dag in all_dags(data.names):
        found = distance_score(dag, data, distance=kind)
        assert found == pytest.approx(brute_distance(dag, data, kind), abs=1e-12)
        costly = distance_score(dag, data, distance=kind, constant=0.5)
        assert costly == pytest.approx(found + 0.5 * dag.n_parameters(data), abs=1e-12)


def test_complete_structures_fit_exactly_until_size_costs():
    data = ROWS
    full, empty = Dag(list("ab"), [("a", "b")]), Dag(list("ab"))
    assert distance_score(full, data) == pytest.approx(0, abs=1e-15)
    assert distance_score(empty, data) > 0
    assert distance_score(full, data, constant=1) > distance_score(empty, data, constant=1)


def test_distance_refusals():
    with pytest.raises(InvalidParameterError, match="distance must be one of 'euclidean', 'kl'"):
        distance_score(Dag(list("ab")), ROWS, distance="l1")
    with pytest.raises(InvalidParameterError, match="constant must be a finite number >= 0"):
        distance_score(Dag(list("ab")), ROWS, constant=-1)
    wide = Dataset([Variable(f"x{i}", ("0", "1")) for i in range(60)], [[0, 1]] * 60)
    with pytest.raises(MemoryError, match="choose fewer columns"):
        distance_score(Dag(wide.names), wide)


def test_plots():
    figure = pytest.importorskip("matplotlib.figure")
    ax = figure.Figure().subplots()
    assert evaluate_network(OTHER, ROWS).plot(ax) is ax
