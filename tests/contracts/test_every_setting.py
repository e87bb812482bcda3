"""Every numeric setting of every score, search and estimator: it works or is refused in a line."""

import math
import re
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
# What no number of things, no size and no flag can be.
NONSENSE = {"nan", "-inf", "-1e308", "-10^400", "10^5000", "text", "text of a number", "list"}

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


def is_refused(setting, work):
    """Whether a value is refused; then in one line that names the setting."""
    try:
        work()
    except BestdagError as error:
        text = str(error)
    else:
        return False
    assert re.search(rf"\b{setting}\b", text), text
    assert "\n" not in text
    assert len(text) < 400
    return True


def require_sense(setting, work):
    """Try every value: it works or is refused, and what no setting can be is refused."""
    refused = {
        name for name, value in VALUES.items() if is_refused(setting, lambda v=value: work(v))
    }
    assert refused >= NONSENSE


@pytest.mark.parametrize(("name", "setting"), numeric_settings(SCORES))
def test_settings_of_scores(name, setting):
    def work(value):
        score = SCORES[name](**NEEDED.get(name, {}), **{setting: value})
        assert math.isfinite(Scorer(DATA, score).total(DAG))
        for search in ("exact", "hill_climb"):
            found = learn(DATA, score, search=search, time_limit=1.0)
            assert math.isfinite(found.score)
        Scorer(DATA, score).explain("b", ["a", "c"])
        learn(DATA, score, search="hill_climb").fit()

    require_sense(setting, work)


@pytest.mark.parametrize(("name", "setting"), numeric_settings(SEARCHES))
def test_settings_of_searches(name, setting):
    def work(value):
        search = SEARCHES[name](**NEEDED.get(name, {}), **{setting: value})
        assert math.isfinite(learn(DATA, search=search, time_limit=0.02).score)

    require_sense(setting, work)


# The values of settings of `learn` that can be used; all others are refused, by every search.
USABLE = {
    "max_parents": {"zero", "2^31", "none"},
    "time_limit": {
        *("2^31", "2^63", "2^64", "10^20", "10^99", "10^300", "1e99", "1e308"),
        *("a half", "5e-324", "1e-99", "none"),
    },
    "seed": {"zero", "2^31"},
    "workers": {"2^31", "none"},
}


@pytest.mark.parametrize("setting", USABLE)
@pytest.mark.parametrize("name", SEARCHES)
def test_limits_of_every_search(name, setting):
    search = SEARCHES[name](**NEEDED.get(name, {}))
    limits = {"time_limit": 0.02, "workers": 1, "max_parents": 1}

    def work(value):
        assert math.isfinite(learn(DATA, search=search, **limits | {setting: value}).score)

    usable = {
        text for text, value in VALUES.items() if not is_refused(setting, lambda v=value: work(v))
    }
    needs_a_parent = name in NEEDED and setting == "max_parents"  # the class
    assert usable == USABLE[setting] - ({"zero"} if needs_a_parent else set())


@pytest.mark.parametrize(("name", "setting"), numeric_settings(ESTIMATORS))
def test_settings_of_estimators(name, setting):
    def work(value):
        network = fit_network(DAG, DATA, ESTIMATORS[name](**{setting: value}))
        assert all(map(math.isfinite, network.log_probability(DATA)))

    require_sense(setting, work)


def test_there_are_settings_to_try():
    assert ("bdeu", "ess") in numeric_settings(SCORES)
    assert ("tabu", "length") in numeric_settings(SEARCHES)
    assert ("annealing", "initial_temperature") in numeric_settings(SEARCHES)
    assert ("dirichlet", "ess") in numeric_settings(ESTIMATORS)
