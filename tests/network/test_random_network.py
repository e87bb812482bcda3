"""Random networks: arities, parameters, seeds."""

import numpy as np
import pytest

from bestdag import Dag, InvalidParameterError, Network, NotEnoughMemoryError, random_network
from bestdag.network.random_network import dirichlet_rows


def test_seeds_and_files(tmp_path):
    one = random_network(20, max_degree=4, seed=3)
    assert one == random_network(20, max_degree=4, seed=3)
    assert one != random_network(20, max_degree=4, seed=4)
    one.save(tmp_path / "net.bif")
    assert Network.load(tmp_path / "net.bif") == one


def test_arities_are_drawn_from_their_range():
    net = random_network(300, "order", max_parents=2, arities=(2, 4))
    counts = [list(net.arities.values()).count(size) for size in (2, 3, 4)]
    assert sum(counts) == 300
    assert min(counts) > 70
    assert set(random_network(9, arities=3).arities.values()) == {3}


def test_a_structure_can_be_given():
    dag = Dag(list("abc"), [("a", "c"), ("b", "c")])
    net = random_network(dag, arities=3, seed=1)
    assert net.dag == dag
    assert net.table("c").values.shape == (3, 3, 3)


@pytest.mark.parametrize("count", [0.01, 0.5, 1.0, 5.0])
@pytest.mark.parametrize("r", [2, 3])
def test_rows_have_the_moments_of_the_dirichlet_distribution(count, r):
    n = 40_000
    rows = dirichlet_rows(np.random.default_rng(1), count, (n, r))
    np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-12)
    variance = (1 / r) * (1 - 1 / r) / (r * count + 1)
    error = 5 * np.sqrt(variance / n)
    assert np.all(np.abs(rows.mean(axis=0) - 1 / r) < error)
    np.testing.assert_allclose(rows.var(axis=0), variance, rtol=0.05)


def test_tiny_counts_do_not_underflow():
    rows = dirichlet_rows(np.random.default_rng(1), 1e-9, (1000, 4))
    assert np.all(np.isfinite(rows))
    assert np.all(rows.max(axis=1) > 0.999)


def test_the_two_schemes_of_silander_roos_and_myllymaki():
    """BDeu's assumption makes rows of tables with many cells nearly certain; Dir(1/2) does not."""
    dag = Dag(list("abcde"), [(p, "e") for p in "abcd"])
    as_bdeu = [random_network(dag, ess=1, seed=s).table("e").rows.max() for s in range(20)]
    assert np.median(as_bdeu) > 0.999
    spread = np.concatenate(
        [random_network(dag, pseudo_count=0.5, seed=s).table("e").rows[:, 0] for s in range(200)]
    )
    # Dir(1/2, 1/2) is the arcsine distribution: a third of it below 1/4.
    assert np.mean(spread < 0.25) == pytest.approx(1 / 3, abs=0.04)
    root = np.concatenate(
        [random_network(dag, ess=1, seed=s).table("a").rows[:, 0] for s in range(1500)]
    )
    assert np.mean(root < 0.25) == pytest.approx(1 / 3, abs=0.06)  # 1 / (r q) is 1/2 there


def test_the_structure_does_not_depend_on_the_parameters():
    one, other = (random_network(15, seed=2, pseudo_count=c) for c in (0.5, 2.0))
    assert one.dag == other.dag


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ess": 1, "pseudo_count": 1}, "give one of ess and pseudo_count"),
        ({"ess": 0}, "ess must be a finite number > 0"),
        ({"pseudo_count": -1}, "pseudo_count must be a finite number > 0"),
        ({"arities": 0}, "arities must be a number of states"),
        ({"arities": (3, 2)}, "arities must be a number of states"),
        ({"arities": "2"}, "arities must be a number of states"),
    ],
)
def test_refusals(settings, message):
    with pytest.raises(InvalidParameterError, match=message):
        random_network(3, **settings)


def test_tables_that_do_not_fit_are_refused_with_a_forecast():
    with pytest.raises(NotEnoughMemoryError, match="bound the number of parents with max_parents"):
        random_network(Dag.from_parents({"x": [f"p{i}" for i in range(60)]}))
    with pytest.raises(InvalidParameterError, match="max_parents must be at most"):
        random_network(Dag.from_parents({"x": [f"p{i}" for i in range(200)]}))
