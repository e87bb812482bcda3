"""Log losses of the same held-out rows after growing samples."""

import json

import numpy as np
import pytest

from bestdag import Network, learn, learning_curve, read
from bestdag.errors import DataError, InvalidParameterError
from bestdag.examples import example

DATA = read(example("asia.csv"))


def test_values_are_those_of_learning_by_hand():
    found = learning_curve(DATA, ["bic", "bdeu"], "exact", sizes=[400, 100], repeats=2, seed=5)
    assert found.sizes == (100, 400)
    assert found.n_held_out == 500
    order = np.random.default_rng([5, 1]).permutation(2000)  # the second repeat
    held_out = DATA.select(rows=np.sort(order[:500]))
    rows = DATA.select(rows=np.sort(order[500:900]))
    network = learn(rows, "bdeu", search="exact").fit()
    assert found.log_losses["bdeu"][1, 1] == pytest.approx(network.log_loss(held_out), abs=1e-12)


def test_more_rows_come_nearer_to_the_network_that_the_rows_were_drawn_from():
    found = learning_curve(DATA, "bic", "exact", sizes=[30, 1500], repeats=1)
    order = np.random.default_rng([0, 0]).permutation(2000)
    truth = Network.load(example("asia.bif"))
    best = truth.log_loss(DATA.select(rows=np.sort(order[:500])))
    few, many = found.log_losses["bic"][0]
    assert few > many > best - 0.05
    assert many - best < 0.1


def test_sizes_double_until_nothing_is_left():
    found = learning_curve(DATA.select(rows=np.arange(400)), "bic", "hill_climb", repeats=1)
    assert found.sizes == (20, 40, 80, 160, 300)


def test_it_does_not_depend_on_threads_and_goes_to_json():
    one, two = (
        learning_curve(DATA, "bic", "exact", sizes=[50], repeats=2, workers=n) for n in (1, 2)
    )
    assert json.dumps(one.to_dict()) == json.dumps(two.to_dict())


def test_what_it_cannot_do_is_refused():
    with pytest.raises(InvalidParameterError, match="sizes of 1 to 1,500 rows are needed"):
        learning_curve(DATA, sizes=[1501])
    with pytest.raises(InvalidParameterError, match="held_out must be a number > 0 and < 1"):
        learning_curve(DATA, held_out=1.0)
    with pytest.raises(DataError, match="complete rows without weights"):
        learning_curve(read({"a": ["x", "y", None]}, missing="keep"))
