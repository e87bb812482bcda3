"""Cross-validation: the same parts for all, numbers by another route, seeds."""

import math
import pickle
import statistics

import numpy as np
import pytest

from bestdag import (
    BIC,
    FSNML,
    BDeu,
    DataError,
    Dirichlet,
    InvalidParameterError,
    UnknownNameError,
    cross_validate,
    fit_network,
    learn,
    read,
)
from bestdag.evaluation.classification import folds
from bestdag.examples import example

DATA = read(example("asia.csv")).select(rows=slice(0, 400))


def by_hand(score, search, parameters, k, seed, repeats=1, classes=None):
    classes = np.zeros(DATA.n_rows, int) if classes is None else classes
    losses = []
    for repeat in range(repeats):
        drawn = int(np.random.SeedSequence([seed, repeat]).generate_state(1)[0])
        part = folds(classes, k, seed=drawn)
        for held_out in range(k):
            train = DATA.select(rows=part != held_out)
            dag = learn(train, score, search=search).dag
            net = fit_network(dag, train, parameters)
            losses.append(net.log_loss(DATA.select(rows=part == held_out)))
    return losses


def test_losses_are_those_of_rows_held_out():
    found = cross_validate(DATA, BDeu(ess=4), "exact", "score", k=4, seed=7, repeats=2)
    losses = by_hand(BDeu(ess=4), "exact", Dirichlet(ess=4), 4, 7, repeats=2)
    (method,) = found.methods
    assert method.log_losses == pytest.approx(losses, abs=1e-12)
    assert method.log_loss == pytest.approx(statistics.mean(losses), abs=1e-12)
    # Nadeau and Bengio: eight parts, each test set a third of its training set.
    error = statistics.stdev(losses) * math.sqrt(1 / 8 + 1 / 3)
    assert method.standard_error == pytest.approx(error, abs=1e-12)
    low, high = method.interval
    assert (high - low) / 2 == pytest.approx(2.364624 * error, rel=1e-6)  # t with 7 degrees
    assert method.n_proved == 8


def test_every_combination_is_a_method_on_the_same_parts():
    found = cross_validate(
        DATA, ["bdeu", "bic"], ["tree", "hill_climb"], ["mle", "score", "fsnml"], k=2
    )
    assert len(found.methods) == 12
    assert len({method.label for method in found.methods}) == 12
    assert "bic, hill_climb, score" in {method.label for method in found.methods}
    assert found["bic, tree, score"].log_losses == found["bic, tree, fsnml"].log_losses
    assert found["bdeu, tree, score"].log_losses != found["bdeu, tree, fsnml"].log_losses
    with pytest.raises(InvalidParameterError, match="fsnml is given twice"):
        cross_validate(DATA, "bic", "tree", [None, "fsnml"], k=2)
    alone = cross_validate(DATA, "bic", "hill_climb", "fsnml", k=2).methods[0]
    assert found["bic, hill_climb, fsnml"].log_losses == alone.log_losses


def test_settings_are_in_labels_where_names_are_not_enough():
    found = cross_validate(DATA, [BDeu(ess=1), BDeu(ess=10), BIC()], "tree", k=2)
    assert [m.label for m in found.methods] == ["BDeu(ess=1)", "BDeu(ess=10)", "bic"]


def test_differences_are_paired():
    found = cross_validate(DATA, ["bdeu", "bic", "aic"], "hill_climb", k=5)
    one, other = found["aic"].log_losses, found["bic"].log_losses
    apart = [a - b for a, b in zip(one, other, strict=True)]
    difference = found.difference("aic", "bic")
    assert difference.mean == pytest.approx(statistics.mean(apart), abs=1e-12)
    error = statistics.stdev(apart) * math.sqrt(1 / 5 + 1 / 4)
    assert difference.standard_error == pytest.approx(error, abs=1e-12)
    assert {d.other for d in found.differences()} == {found.best.label}
    assert all(d.mean >= 0 for d in found.differences())
    assert found.difference("bic", "bic").interval == (0, 0)
    with pytest.raises(UnknownNameError, match="did you mean 'bic'"):
        found.difference("bci", "aic")


def test_a_target_has_equal_shares_in_all_parts():
    classes = DATA.codes("dysp").astype(int)
    found = cross_validate(DATA, "bdeu", "tree", k=3, target="dysp", seed=2)
    losses = by_hand("bdeu", "tree", FSNML(), 3, 2, classes=classes)
    assert found.methods[0].log_losses == pytest.approx(losses, abs=1e-12)
    assert found.target == "dysp"
    free = cross_validate(DATA, "bdeu", "tree", k=3, seed=2)
    assert free.methods[0].log_losses != found.methods[0].log_losses


def test_seeds_threads_and_the_order_of_columns():
    def losses(data=DATA, **settings):
        return cross_validate(data, "bdeu", "hill_climb", k=3, **settings).methods[0].log_losses

    assert losses() == losses(workers=1) == losses(workers=2)
    assert losses(seed=1) != losses()
    assert losses(DATA.select(DATA.names[::-1])) == pytest.approx(losses(), abs=1e-12)


def test_impossible_rows_make_the_loss_infinite_and_null_in_json():
    data = read({"a": ["x"] * 9 + ["y"], "b": ["u", "v"] * 5})
    found = cross_validate(data, "bic", "tree", ["mle", "fsnml"], k=5)
    assert found["bic, mle"].log_loss == math.inf
    assert found.to_dict()["methods"][0]["log_loss"] is None
    assert found.best.label == "bic, fsnml"
    assert "inf" in str(found)


def test_results_print_plot_and_pickle():
    found = cross_validate(DATA, ["bdeu", "bic"], "tree", k=2)
    assert pickle.loads(pickle.dumps(found)) == found
    assert "2-fold cross-validation, 400 rows" in str(found)
    figure = pytest.importorskip("matplotlib.figure")
    ax = figure.Figure().subplots()
    assert found.plot(ax) is ax
    assert [label.get_text() for label in ax.get_yticklabels()] == ["bdeu", "bic"]


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"k": 1}, InvalidParameterError, "k must be a whole number >= 2, got 1"),
        ({"k": 401}, InvalidParameterError, "400 rows cannot be divided into 401 parts"),
        ({"repeats": 0}, InvalidParameterError, "repeats must be a whole number >= 1"),
        ({"score": []}, InvalidParameterError, "the list for score has nothing in it"),
        ({"score": ["bic", "bic"]}, InvalidParameterError, "is given twice"),
        ({"target": "dyps"}, UnknownNameError, "did you mean 'dysp'"),
    ],
)
def test_refusals(settings, error, message):
    with pytest.raises(error, match=message):
        cross_validate(DATA, **{"search": "tree", **settings})


def test_missing_cells_are_refused():
    data = read({"a": ["x", None, "y", "y"], "b": ["u", "v", "u", "v"]}, missing="keep")
    with pytest.raises(DataError, match="missing values in 'a'"):
        cross_validate(data, k=2)
