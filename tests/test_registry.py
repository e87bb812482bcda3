"""Names from the lists: the same in any case, with dashes or underscores, everywhere."""

import pytest

from bestdag import Network, Scorer, discretize, fit_network, learn, read
from bestdag.data.discretization import METHODS
from bestdag.errors import UnknownNameError
from bestdag.examples import example
from bestdag.parameters import ESTIMATORS, make_estimator
from bestdag.registry import canonical
from bestdag.scores import ALIASES, SCORES, make_score
from bestdag.search import SEARCHES, make_search, search_for_fit

CSV = example("asia.csv")
LISTS = [[*SCORES, *ALIASES], list(SEARCHES), list(ESTIMATORS), list(METHODS)]


@pytest.mark.parametrize("known", LISTS)
def test_every_name_is_found_in_any_spelling_and_no_other_one_is(known):
    for name in known:
        for spelling in (name, name.upper(), name.title(), name.replace("_", "-")):
            assert canonical(spelling, known) == name
    assert canonical("no_such", known) == "no_such"


def test_scores_by_the_names_of_their_classes():
    for name, score in SCORES.items():
        assert canonical(score.__name__, SCORES) == name
    assert make_score("MDL") == make_score("bic")


def test_python_takes_them_everywhere():
    data = read(CSV)
    lower = learn(data, "bic", search="hill_climb")
    upper = learn(data, "BIC", search="Hill-Climb")
    assert (upper.dag, upper.score) == (lower.dag, lower.score)
    assert upper.fit("MLE") == lower.fit("mle")
    assert learn(data, "BDeu").fit("Dirichlet") == learn(data, "bdeu").fit("dirichlet")
    assert Scorer(data, "QNML").total(lower.dag) == Scorer(data, "qnml").total(lower.dag)
    net = Network.load(example("asia.bif"))
    assert fit_network(net, data, "FSNML") == fit_network(net, data, "fsnml")
    assert make_estimator("MLE") == make_estimator("mle")
    assert search_for_fit("AUTO") == search_for_fit("auto")
    table = {"x": [0.5, 1.5, 2.5, 3.5], "y": ["a", "b", "a", "b"]}
    assert discretize(table, method="Quantile", bins=2) == discretize(
        table, method="quantile", bins=2
    )


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [("hc", "hill_climb"), ("ts", "tabu"), ("Tabu-Search", "tabu"), ("SA", "annealing")],
)
def test_searches_by_the_names_that_other_programs_have_for_them(theirs, ours):
    assert make_search(theirs) == make_search(ours)
    assert search_for_fit(theirs) == search_for_fit(ours)


def test_what_is_no_search_here_is_answered_with_what_to_use():
    with pytest.raises(
        UnknownNameError, match=r"search='hill_climb' and knowledge=pc_skeleton\(data\)"
    ):
        learn(CSV, search="MMHC")
    with pytest.raises(UnknownNameError, match=r"use pc\(data\)"):
        learn(CSV, search="pc")


def test_an_unknown_name_is_refused_as_it_was_written():
    with pytest.raises(UnknownNameError, match=r"unknown score 'BDU'.*did you mean 'bdeu'"):
        make_score("BDU")
    with pytest.raises(UnknownNameError, match="unknown score None"):
        make_score(None)
