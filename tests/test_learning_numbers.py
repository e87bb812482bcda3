"""`learn` from a table of numbers: cut as it is read."""

import numpy as np
import pytest

from bestdag import discretize, learn, read
from bestdag.data.discretization.quantile import Quantile
from bestdag.data.discretization.uniform import Uniform
from bestdag.errors import DataError, InvalidParameterError, UnknownNameError
from bestdag.examples import example
from bestdag.scores.parent_sets.build import build_score_table
from bestdag.scores.scorer import Scorer

_RNG = np.random.default_rng(3)
_DOSE = _RNG.normal(10, 3, 200).round(2)
TABLE = {"dose": _DOSE, "ill": np.where(_DOSE + _RNG.normal(0, 2, 200) > 10, "yes", "no")}


@pytest.mark.parametrize(
    ("given", "settings"),
    [
        (True, {}),
        ("quantile", {}),
        ("Quantile", {}),
        (3, {"bins": 3}),
        (Quantile(bins=4), {"bins": 4}),
        ("uniform", {"method": "uniform"}),
        (Uniform(bins=2), {"method": "uniform", "bins": 2}),
    ],
)
def test_learns_from_what_discretize_makes(given, settings):
    result = learn(TABLE, "bic", discretize=given)
    assert result.dataset == discretize(TABLE, **settings)
    assert result.fit().variable("dose").cuts == result.dataset.variable("dose").cuts
    assert result.asked["discretize"] == given


@pytest.mark.filterwarnings("ignore:.*dropped 1 of 200 rows:bestdag.DataWarning")
def test_missing_cells_are_treated_as_without_it():
    table = {**TABLE, "ill": [None, *TABLE["ill"][1:]]}
    with pytest.raises(DataError, match="1 missing value"):
        learn(table, "bic", discretize=True)
    assert learn(table, "bic", discretize=True, missing="drop").dataset.n_rows == 199
    assert learn(table, "bic", discretize=True, missing="em").dataset.n_rows == 200


@pytest.mark.parametrize("given", [None, False])
def test_numbers_are_refused_or_states_unless_asked(given):
    with pytest.raises(DataError, match="dose"):
        learn(TABLE, "bic", discretize=given)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ("fayyad_irani", InvalidParameterError, r"needs a class; give learn\(discretize\("),
        ("quantil", UnknownNameError, "did you mean 'quantile'"),
        (1, InvalidParameterError, "bins must be a whole number >= 2, got 1"),
        (-2, InvalidParameterError, "bins must be a whole number >= 2, got -2"),
        (2.5, InvalidParameterError, "method must be one of"),
        (Quantile, InvalidParameterError, "method must be one of"),
    ],
)
def test_what_is_no_way_to_cut_is_refused(given, error, message):
    with pytest.raises(error, match=message):
        learn(TABLE, "bic", discretize=given)


def test_what_has_its_states_already_is_refused():
    with pytest.raises(InvalidParameterError, match="a Dataset has its states already"):
        learn(discretize(TABLE), "bic", discretize=True)
    table = build_score_table(Scorer(read(example("asia.csv")), "bic"), max_parents=1)
    with pytest.raises(InvalidParameterError, match="leave out discretize"):
        learn(table, discretize="quantile")
