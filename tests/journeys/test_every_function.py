"""Every way in, into every function that takes data: the answer is that for the Dataset."""

import inspect
import pydoc
import re
import warnings
from pathlib import Path

import pandas as pd
import pytest

import bestdag as bd
from bestdag.classification.uncut import read_uncut
from bestdag.errors import InvalidParameterError
from tests.journeys.ways_in import CODES, DATA, IN_MEMORY, SCANNED, TABLE, WAYS_IN

DAG = bd.Dag(["rain", "size", "wet"], [("rain", "wet")])
NETWORK = bd.fit_network(DAG, DATA)
COMPILED = NETWORK.compile()
SAMPLED = bd.posterior(DATA, method="sampling", samples=20)
CERTIFICATE = bd.learn(DATA).certificate()
AVERAGED = bd.average_networks(SAMPLED, DATA)


def _learned(result):
    return result.dag, result.score, result.status, result.dataset


def _uncut(table):
    # Numbers that are kept as states have cut points; declared states have none.
    states = {name: table.dataset.variable(name).states for name in table.names}
    return states, {name: table.dataset.codes(name).tolist() for name in table.names}


# Each function that takes data, and what of its answer is compared. After a blank: another way
# through the function.
ANSWERS = {
    "read": lambda data: bd.read(data),
    "discretize": lambda data: bd.discretize(data, method="quantile"),
    "learn": lambda data: _learned(bd.learn(data)),
    "learn network": lambda data: bd.learn(data, "bic").fit(),
    "learn em": lambda data: _learned(bd.learn(data, missing="em")),
    "pc_skeleton": lambda data: bd.pc_skeleton(data),
    "bootstrap": lambda data: bd.bootstrap(data, "bic", replicates=3).edges(),
    "posterior": lambda data: bd.posterior(data).edges(),
    "pc": lambda data: bd.pc(data).pdag,
    "cross_validate": lambda data: bd.cross_validate(data, ["bic"], "exact", k=2).best.log_loss,
    "learning_curve": lambda data: str(bd.learning_curve(data, "bic", "exact", sizes=[20])),
    "saturation": lambda data: str(bd.saturation(data, search="exact", sizes=[40, 80])),
    "ess_grid": lambda data: [p.dag for p in bd.ess_grid(data, [1, 10]).points],
    "ess_grid test": lambda data: [
        p.test_log_loss for p in bd.ess_grid(DATA, [1], test=data).points
    ],
    "Scorer": lambda data: bd.Scorer(data, "bdeu").total(DAG),
    "Scorer available": lambda data: bd.Scorer(data, "bic", missing="available").total(DAG),
    "sensitivity": lambda data: bd.sensitivity(DAG, data),
    "independence_test": lambda data: bd.independence_test(data, "rain", "wet"),
    "conditional_mutual_information": lambda data: bd.conditional_mutual_information(
        data, "rain", "wet"
    ),
    "distance_score": lambda data: bd.distance_score(DAG, data),
    "verify": lambda data: bd.verify(CERTIFICATE, data).checked,
    "fit_network": lambda data: bd.fit_network(DAG, data),
    "fit_network again": lambda data: bd.fit_network(NETWORK, data),
    "classification.uncut.read_uncut": lambda data: _uncut(read_uncut(data, target="wet")),
    "run_em": lambda data: bd.run_em(DAG, data).network,
    "expected_scorer": lambda data: bd.expected_scorer(NETWORK, data).total(DAG),
    "observed_score": lambda data: bd.observed_score(DAG, data).score,
    "average_networks": lambda data: bd.average_networks(SAMPLED, data).networks,
    "evaluate_network": lambda data: bd.evaluate_network(NETWORK, data),
    "Network.log_probability": lambda data: NETWORK.log_probability(data).tolist(),
    "Network.log_loss": lambda data: NETWORK.log_loss(data),
    "Network.predict": lambda data: NETWORK.predict("wet", data).tolist(),
    "Network.predict_proba": lambda data: NETWORK.predict_proba("wet", data).tolist(),
    "Network.predict_log_proba": lambda data: NETWORK.predict_log_proba("wet", data).tolist(),
    "Network.impute": lambda data: NETWORK.impute(data),
    "CompiledNetwork.log_probability": lambda data: COMPILED.log_probability(data).tolist(),
    "CompiledNetwork.posteriors": lambda data: [
        table.tolist() for table in COMPILED.posteriors(data, ["wet"]).values()
    ],
    "AveragedNetwork.log_probability": lambda data: AVERAGED.log_probability(data).tolist(),
    "AveragedNetwork.log_loss": lambda data: AVERAGED.log_loss(data),
    "AveragedNetwork.predict": lambda data: AVERAGED.predict("wet", data).tolist(),
    "AveragedNetwork.predict_proba": lambda data: AVERAGED.predict_proba("wet", data).tolist(),
}
# What has tests of its own below; scikit-learn calls a table X.
APART = {"scan"}
FRAMES = [
    *("pandas", "pandas with an index", "pandas categorical", "pandas nullable"),
    *("polars", "polars categorical", "arrow", "arrow dictionaries"),
]
# Parameters of any type that are no tables.
NO_TABLE = {"ax", "best", "cluster", "con", "limits", "rows", "said", "settings", "start", "true"}
# Some ways in share a road after their first line: every road goes through every function, every
# way in through the functions that all others begin with.
SHARED_ROAD = {
    *("rows.txt", "rows.tsv", "rows.tsv.gz", "rows.ndjson.gz", "path as text", "pattern"),
    *("sql on a connection", "dict of arrays", "polars categorical", "records", "arrow batch"),
    *("rows.zip", "rows.jsonl", "parts", "connection"),
}
JOURNEYS = [
    (name, way)
    for name in ANSWERS
    for way in WAYS_IN
    if way not in SHARED_ROAD or name in ("read", "learn", "discretize")
]


@pytest.fixture(scope="module")
def expected():
    answers = {}

    def of(name):
        if name not in answers:
            answers[name] = ANSWERS[name](DATA)
        return answers[name]

    return of


@pytest.mark.parametrize(("name", "way"), JOURNEYS)
def test_every_way_in_gives_the_answer_of_the_dataset(name, way, folder, expected):
    assert ANSWERS[name](WAYS_IN[way](folder)) == expected(name)


@pytest.mark.parametrize("way", SCANNED)
def test_scan_takes_whatever_is_not_in_memory(way, folder):
    assert bd.scan(SCANNED[way](folder)) == DATA


@pytest.mark.parametrize("way", IN_MEMORY)
def test_scan_refuses_what_is_in_memory_and_says_what_reads_it(way, folder):
    with pytest.raises(InvalidParameterError, match="use read"):
        bd.scan(IN_MEMORY[way](folder))


@pytest.mark.parametrize("way", FRAMES)
def test_scikit_learn_takes_every_frame(way, folder):
    sklearn = pytest.importorskip("bestdag.sklearn")

    def predicted(data):
        fitted = sklearn.TANClassifier().fit(data, TABLE["rain"])
        return fitted.predict(data).tolist(), fitted.predict_proba(data).tolist()

    assert predicted(WAYS_IN[way](folder)) == predicted(pd.DataFrame(TABLE))


@pytest.mark.parametrize("name", ["read", "learn", "bootstrap", "pc", "discretize", "Scorer"])
def test_a_plain_array_is_a_table_whose_columns_are_numbered(name):
    take = {
        "bootstrap": lambda data: bd.bootstrap(data, "bic", replicates=3).edges(),
        "Scorer": lambda data: bd.Scorer(data, "bic").total(bd.Dag(["0", "1", "2"], [("0", "2")])),
    }.get(name, ANSWERS[name])
    named = {str(i): CODES[:, i] for i in range(3)}
    assert take(CODES) == take(named) == take(pd.DataFrame(CODES)) == take(bd.read(named))


def _takes_data(function):
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(p.annotation in ("Any", "Any | None") and p.name not in NO_TABLE for p in parameters)


def _documented():
    """List what has a place in the reference, though it is not in `bestdag` itself."""
    api = (Path(__file__).parents[2] / "docs/api.md").read_text()
    return re.findall(r"^\.\. auto(?:class|function):: bestdag\.(\w+\.\S+)$", api, re.M)


def _public_functions():
    for name in [*bd.__all__, *_documented()]:
        thing = pydoc.locate(f"bestdag.{name}")
        yield name, thing.__init__ if isinstance(thing, type) else thing
        if isinstance(thing, type):
            yield from (
                (f"{name}.{method}", function)
                for method, function in inspect.getmembers(thing, callable)
                if method[0] != "_"
            )


def test_no_public_function_with_data_is_left_out():
    taking = {
        name
        for name, function in _public_functions()
        if _takes_data(function) and not name.startswith("sklearn.")
    }
    assert taking == {name.partition(" ")[0] for name in ANSWERS} | APART


def test_no_way_in_makes_a_warning(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert all(bd.read(take(folder)) == DATA for take in WAYS_IN.values())
