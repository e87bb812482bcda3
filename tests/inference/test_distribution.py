"""Distributions as values: names and states in, numbers, text and HTML out."""

import math
import pickle

import numpy as np
import pytest

from bestdag import Distribution, Variable
from bestdag.errors import DataError, UnknownNameError

LUNG = Variable("lung", ("no", "yes"))
AGE = Variable("age", ("young", "middle", "old"))


def two():
    return Distribution([LUNG, AGE], np.array([[0.1, 0.2, 0.3], [0.05, 0.15, 0.2]]))


def test_states_are_looked_up_by_name():
    found = two()
    assert found["yes", "old"] == 0.2
    assert found[{"age": "old", "lung": "yes"}] == 0.2
    assert found.names == ("lung", "age")
    assert found.shape == (2, 3)
    assert found.to_dict()["no", "middle"] == 0.2
    assert np.asarray(found).shape == (2, 3)


@pytest.mark.parametrize(
    ("states", "error", "said"),
    [
        (("yes", "odl"), UnknownNameError, r"did you mean 'old'\?"),
        ("yes", DataError, "a state is needed for each of lung, age, got 1"),
        ({"lung": "yes", "ag": "old"}, UnknownNameError, r"did you mean 'age'\?"),
        ({"lung": "yes"}, DataError, "got 1"),
    ],
)
def test_what_is_not_there_is_refused(states, error, said):
    with pytest.raises(error, match=said):
        two()[states]


def test_sums_and_measures():
    found = two()
    assert found.marginal("age").to_dict() == pytest.approx(
        {"young": 0.15, "middle": 0.35, "old": 0.5}
    )
    assert found.marginal("age", "lung").values == pytest.approx(found.values.T)
    assert found.most_probable() == ("no", "old")
    assert found.marginal("lung").most_probable() == "no"
    p = found.values.reshape(-1)
    assert found.entropy() == pytest.approx(-sum(x * math.log(x) for x in p))
    assert Distribution([LUNG], np.array([0.0, 1.0])).entropy() == 0
    assert math.copysign(1, Distribution([LUNG], np.array([0.0, 1.0])).entropy()) == 1


def test_it_is_readable():
    assert str(two()).splitlines() == [
        "P(lung, age)",
        "  lung  age",
        "  no    young   0.1   ##",
        "  no    middle  0.2   ####",
        "  no    old     0.3   ######",
        "  yes   young   0.05  #",
        "  yes   middle  0.15  ###",
        "  yes   old     0.2   ####",
    ]
    sampled = Distribution(
        [LUNG],
        np.array([0.25, 0.75]),
        standard_errors=np.array([0.01, 0.01]),
        effective_sample_size=1234.5,
    )
    assert "± 0.01" in str(sampled)
    assert "effective sample size 1,23" in str(sampled)
    assert not sampled.is_exact
    with pytest.raises(DataError, match="ask for them by query"):
        sampled.marginal("lung")


def test_html_escapes_and_draws_bars():
    evil = Variable("<b>", ("<script>", "y\n"))
    page = Distribution([evil], np.array([0.5, 0.5]))._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert page.count("width:75px") == 2


def test_long_ones_are_cut():
    many = Variable("many", tuple(map(str, range(100))))
    assert "... and 60 more configurations" in str(Distribution([many], np.full(100, 0.01)))


def test_pandas():
    pytest.importorskip("pandas")
    series = two().to_pandas()
    assert series["yes", "old"] == 0.2
    assert list(series.index.names) == ["lung", "age"]
    assert two().marginal("age").to_pandas()["old"] == 0.5


def test_it_pickles_and_compares():
    again = pickle.loads(pickle.dumps(two()))
    assert again == two()
    assert again != two().marginal("age", "lung")


def test_a_long_condition_is_cut_and_pickled_in_full():
    known = [f"v{i}=yes" for i in range(10)]
    lung = Distribution([Variable("lung", ("no", "yes"))], np.array([0.9, 0.1]), condition=known)
    title = str(pickle.loads(pickle.dumps(lung))).splitlines()[0]
    assert title == "P(lung | " + ", ".join(known[:8]) + ", and 2 more)"
    assert lung.marginal("lung").condition == tuple(known)
