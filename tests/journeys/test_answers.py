"""What every answer has, whichever way the table came: its data, its network, a report."""

import re

import numpy as np
import pytest

import bestdag as bd
from bestdag.search import SEARCHES
from tests.journeys.ways_in import DATA, WAYS_IN


@pytest.mark.parametrize("way", WAYS_IN)
def test_an_answer_has_its_data_its_network_and_a_report(way, folder, tmp_path):
    result = bd.learn(WAYS_IN[way](folder), "bic")
    assert result.dataset == DATA
    assert result.network.variables == DATA.variables
    assert result.network.dag == result.dag
    assert result.scorer().total(result.dag) == pytest.approx(result.score, rel=1e-12)
    assert result.arc_losses().keys() == set(result.dag.arcs)
    result.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert all(name in re.sub(r"<[^>]*>", " ", page) for name in DATA.names)
    assert "<svg" in page


def noise(seed, n_rows, arities):
    rng = np.random.default_rng(seed)
    return {f"x{i}": rng.integers(0, arity, n_rows) for i, arity in enumerate(arities)}


# They give arcs whatever the data say, or want to be told an order.
NOT_FREE = {"tree", "tan", "naive_bayes", "k2"}


@pytest.mark.parametrize("search", [name for name in SEARCHES if name not in NOT_FREE])
@pytest.mark.parametrize("n_rows", [500, 5000])
def test_noise_ends_with_no_arcs(search, n_rows):
    for seed in range(3):
        result = bd.learn(noise(seed, n_rows, [2, 3, 2, 4, 2, 3]), search=search, seed=seed)
        assert result.dag.arcs == (), (search, seed)
        assert result.network.n_parameters == 1 + 2 + 1 + 3 + 1 + 2
