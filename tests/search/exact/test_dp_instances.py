"""Engine dp reaches the known optima of published score files."""

import tomllib

import pytest

from bestdag.scores.table import ScoreTable
from bestdag.search.exact.dp.engine import solve_dp
from tests.shared_data import shared_file

_QUICK = [
    "autos.BIC.k7",
    "gob_asia_10000.k3",
    "hailfinder100.BDeu.k3",  # 56 variables, at most 10 in a component
    "letter.BIC.k5",
    "mildew1000.BDeu.k3",  # 35 variables, 23 in a component
    "parkinsons.BIC.k8",
    "slim_child-5000",
    "slim_sachs-5000",
    "slim_water-5000",  # 32 variables, 24 in a component
    "wine.BIC",
    "zoo.BDeu.k6",
]
_SLOW = ["flag.BIC.k8", "insurance1000.BDeu.k3", "steel.BIC.k6", "water1000.BIC.k6"]


def _check(name):
    index = tomllib.loads(shared_file("scores/index.toml").read_text())
    (instance,) = (i for i in index["instance"] if i["name"] == name)
    result = solve_dp(ScoreTable.load(shared_file("scores/" + instance["file"])))
    assert result.status == "optimum proved"
    # The optimum is printed with six decimals, and the scores in the file are taken as they are.
    assert result.score == pytest.approx(instance["optimum"], abs=1e-6 + result.resolution, rel=0)


@pytest.mark.parametrize("name", _QUICK)
def test_known_optimum(name):
    _check(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", _SLOW)
def test_known_optimum_of_more_variables(name):
    _check(name)
