"""Every numeric setting of every score, search and estimator: it works or is refused in a line."""

import math
from dataclasses import MISSING, fields

import pytest

from bestdag import learn
from bestdag.errors import BestdagError
from bestdag.graph.dag import Dag
from bestdag.network.fitting import fit_network
from bestdag.parameters import ESTIMATORS
from bestdag.scores import SCORES
from bestdag.scores.scorer import Scorer
from bestdag.search import SEARCHES
from tests.conftest import make_dataset

VALUES = {
    "zero": 0,
    "minus one": -1,
    "2^31": 2**31,
    "2^63": 2**63,
    "2^64": 2**64,
    "10^20": 10**20,
    "10^99": 10**99,
    "10^300": 10**300,
    "10^400": 10**400,
    "-10^400": -(10**400),
    "10^5000": 10**5000,
    "a half": 0.5,
    "1e308": 1e308,
    "-1e308": -1e308,
    "5e-324": 5e-324,
    "1e-99": 1e-99,
    "1e99": 1e99,
    "nan": math.nan,
    "inf": math.inf,
    "-inf": -math.inf,
    "text": "many",
    "text of a number": "3",
    "none": None,
    "bool": True,
    "list": [1],
}
every_value = pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)

# What an entry cannot do without.
NEEDED = {"tan": {"target": "a"}, "naive_bayes": {"target": "a"}}

DATA = make_dataset(
    {"a": [0, 1, 2, 1, 0, 0], "b": [1, 1, 0, 0, 1, 0], "c": [0, 1, 0, 1, 1, 1], "d": [0] * 5 + [1]}
)
DAG = Dag(["a", "b", "c", "d"], [("a", "b"), ("c", "b")])


def numeric_settings(listed):
    """List (entry, setting) for every setting that holds a number."""
    found = []
    for name, entry in listed.items():
        for field in fields(entry):
            kinds = str(field.type)
            is_number = isinstance(field.default, int | float) and field.default is not MISSING
            if is_number or "int" in kinds.split(" | ") or "float" in kinds.split(" | "):
                found.append((name, field.name))
    return found


def works_or_is_refused(work):
    try:
        work()
    except BestdagError as error:
        text = str(error)
        assert text
        assert "\n" not in text
        assert len(text) < 400


@every_value
@pytest.mark.parametrize(("name", "setting"), numeric_settings(SCORES))
def test_settings_of_scores(name, setting, value):
    def work():
        score = SCORES[name](**NEEDED.get(name, {}), **{setting: value})
        assert math.isfinite(Scorer(DATA, score).total(DAG))
        for search in ("exact", "hill_climb"):
            found = learn(DATA, score, search=search, time_limit=1.0)
            assert math.isfinite(found.score)
        Scorer(DATA, score).explain("b", ["a", "c"])
        learn(DATA, score, search="hill_climb").fit()

    works_or_is_refused(work)


@every_value
@pytest.mark.parametrize(("name", "setting"), numeric_settings(SEARCHES))
def test_settings_of_searches(name, setting, value):
    def work():
        search = SEARCHES[name](**NEEDED.get(name, {}), **{setting: value})
        assert math.isfinite(learn(DATA, search=search, time_limit=0.02).score)

    works_or_is_refused(work)


@every_value
@pytest.mark.parametrize("setting", ["max_parents", "time_limit", "seed", "threads"])
@pytest.mark.parametrize("name", SEARCHES)
def test_limits_of_every_search(name, setting, value):
    limits = {"time_limit": 0.02, "threads": 1, setting: value}
    if setting == "time_limit" and not isinstance(value, str | list | None):
        limits["max_parents"] = 1
    search = SEARCHES[name](**NEEDED.get(name, {}))

    def work():
        assert math.isfinite(learn(DATA, search=search, **limits).score)

    works_or_is_refused(work)


@every_value
@pytest.mark.parametrize(("name", "setting"), numeric_settings(ESTIMATORS))
def test_settings_of_estimators(name, setting, value):
    def work():
        network = fit_network(DAG, DATA, ESTIMATORS[name](**{setting: value}))
        assert all(map(math.isfinite, network.log_probability(DATA)))

    works_or_is_refused(work)


def test_there_are_settings_to_try():
    assert ("bdeu", "ess") in numeric_settings(SCORES)
    assert ("tabu", "length") in numeric_settings(SEARCHES)
    assert ("annealing", "initial_temperature") in numeric_settings(SEARCHES)
    assert ("dirichlet", "ess") in numeric_settings(ESTIMATORS)
