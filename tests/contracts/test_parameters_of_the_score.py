"""Networks are fitted by fsNML unless told, and by the estimator of the score wherever asked."""

import json

import pytest

from bestdag import (
    BDeu,
    Network,
    average_networks,
    cross_validate,
    fit_network,
    learn,
    learning_curve,
    posterior,
    read,
)
from bestdag.classification.model import Recipe
from bestdag.cli.main import run
from bestdag.examples import example
from bestdag.parameters import DEFAULT_ESTIMATOR, FSNML, Dirichlet
from bestdag.search import make_search

CSV = str(example("asia.csv"))
ASIA = read(CSV)
SCORE = BDeu(ess=20)
GIVEN = [(None, FSNML()), ("score", Dirichlet(ess=20)), ("SCORE", Dirichlet(ess=20))]
by_name = pytest.mark.parametrize(("name", "estimator"), GIVEN)


def given(name, key="parameters"):
    return {} if name is None else {key: name}


@by_name
def test_results(name, estimator):
    found = learn(ASIA, SCORE)
    assert found.fit(**given(name)) == fit_network(found.dag, ASIA, estimator)


def test_structures_of_the_user():
    dag = learn(ASIA, SCORE).dag
    assert fit_network(dag, ASIA) == fit_network(dag, ASIA, DEFAULT_ESTIMATOR)
    assert fit_network(dag, ASIA) == fit_network(dag, ASIA, FSNML())


@by_name
def test_cross_validation_and_learning_curves(name, estimator):
    few = ASIA.select(rows=slice(0, 200))
    one, other = (
        cross_validate(few, SCORE, "tree", k=2, **settings).methods[0].log_losses
        for settings in (given(name), {"parameters": estimator})
    )
    assert one == other
    one, other = (
        learning_curve(few, SCORE, "tree", sizes=[50], repeats=1, **settings).log_losses
        for settings in (given(name), {"parameters": estimator})
    )
    assert [values.tolist() for values in one.values()] == [v.tolist() for v in other.values()]


@by_name
def test_classifiers(name, estimator):
    recipe = Recipe(search=make_search("tan", target="dysp"), score=SCORE, **given(name))
    model = recipe.fit(ASIA, "dysp")
    assert model.network == fit_network(model.result.dag, model.result.dataset, estimator)


def test_a_named_estimator_of_a_classifier_has_its_defaults_whatever_the_score():
    recipe = Recipe(search=make_search("tan", target="dysp"), score=SCORE, parameters="dirichlet")
    model = recipe.fit(ASIA, "dysp")
    plain = Dirichlet(ess=1)
    assert model.network == fit_network(model.result.dag, model.result.dataset, plain)


def test_an_average_over_a_posterior_predicts_under_its_prior():
    found = posterior(ASIA, SCORE, method="sampling", samples=5)
    same = average_networks(found, ASIA, SCORE, parameters=Dirichlet(ess=20))
    other = average_networks(found, ASIA, SCORE, parameters="fsnml")
    assert average_networks(found, ASIA, SCORE).log_loss(ASIA) == same.log_loss(ASIA)
    assert same.log_loss(ASIA) != other.log_loss(ASIA)


COMMAND = ("--score", "bdeu", "--ess", "20")


@by_name
def test_learn_on_the_command_line(name, estimator, tmp_path, capsys):
    out = tmp_path / "net.bif"
    parameters = () if name is None else ("--parameters", name)
    assert run(["learn", CSV, *COMMAND, *parameters, "-o", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["settings"]["parameters"] == estimator.name
    assert Network.load(out) == fit_network(learn(ASIA, SCORE).dag, ASIA, estimator)


@by_name
@pytest.mark.parametrize("command", [("evaluate", "--cv", "2"), ("classify", "--target", "dysp")])
def test_trials_on_the_command_line(command, name, estimator, capsys):
    def loss(*parameters):
        assert run([command[0], CSV, *command[1:], *COMMAND, *parameters, "--json"]) == 0
        shown = json.loads(capsys.readouterr().out)
        return shown["methods"][0]["log_loss"] if "methods" in shown else shown["log_loss"]

    parameters = () if name is None else ("--parameters", name)
    own = loss(*parameters)
    assert (own == loss("--parameters", "fsnml")) is (name is None)
    assert (own == loss("--parameters", "score")) is (name is not None)
    assert estimator.name == ("fsnml" if name is None else "dirichlet")
