"""With an oracle the PC algorithm finds the class of the true graph, whatever the settings."""

import numpy as np
import pytest

from bestdag import Dag, Network, Oracle, Pdag, pc
from bestdag.graph.separation import d_separated
from tests.shared_data import shared_file

NETWORKS = (
    "alarm.bif", "asia.bif", "barley.bif.gz", "cancer.bif", "child.bif", "earthquake.bif",
    "hailfinder.bif", "insurance.bif", "mildew.bif.gz", "munin1.bif", "sachs.bif", "survey.bif",
    "water.bif",
)  # fmt: skip


def random_dag(rng, n_nodes, share):
    names = [f"v{i}" for i in range(n_nodes)]
    order = rng.permutation(n_nodes)
    arcs = [
        (names[order[i]], names[order[j]])
        for i in range(n_nodes)
        for j in range(i + 1, n_nodes)
        if rng.random() < share
    ]
    return Dag(names, arcs)


def random_dags(n_dags, seed):
    rng = np.random.default_rng(seed)
    for _ in range(n_dags):
        n_nodes = int(rng.integers(1, 11))
        yield random_dag(rng, n_nodes, rng.uniform(0.1, 0.6))


def test_native_d_separation_agrees_with_the_definition():
    rng = np.random.default_rng(5)
    for dag in random_dags(100, seed=4):
        result = pc(oracle=dag)
        for test in result.tests:
            assert test.is_independent == d_separated(dag, test.one, test.other, test.given)
        names = list(dag.nodes)
        if len(names) > 2:
            one, other, *rest = rng.permutation(names).tolist()
            given = rest[: int(rng.integers(len(rest) + 1))]
            assert Oracle(dag).is_independent(one, other, given) == d_separated(
                dag, one, other, given
            )


def test_finds_the_class_of_two_thousand_random_graphs():
    for dag in random_dags(2000, seed=1):
        result = pc(oracle=dag)
        assert result.pdag == dag.cpdag()
        assert result.dag.cpdag() == result.pdag
        assert not result.conflicts
        assert result.status == "complete"


@pytest.mark.parametrize("stable", [True, False])
@pytest.mark.parametrize("necessary_path", [True, False])
@pytest.mark.parametrize("rule", ["standard", "conservative", "majority"])
def test_finds_the_class_with_every_setting(stable, necessary_path, rule):
    for dag in random_dags(100, seed=2):
        result = pc(
            oracle=dag, stable=stable, necessary_path=necessary_path, v_structures=rule, repair=True
        )
        assert result.pdag == dag.cpdag()
        assert not result.conflicts
        for (one, other), given in result.sepsets.items():
            assert d_separated(dag, one, other, given)


def renamed(dag, names):
    """Return the graph with other names, and its nodes listed in another order."""
    to = dict(zip(dag.nodes, names, strict=True))
    return Dag(sorted(names), [(to[a], to[b]) for a, b in dag.arcs])


@pytest.mark.parametrize("stable", [True, False])
def test_no_order_of_the_nodes_matters(stable):
    rng = np.random.default_rng(3)
    for dag in random_dags(50, seed=3):
        for _ in range(20):
            other = renamed(dag, rng.permutation(dag.nodes).tolist())
            order = rng.permutation(other.nodes).tolist()
            assert pc(oracle=other, stable=stable, order=order).pdag == other.cpdag()


@pytest.mark.parametrize("name", NETWORKS)
def test_finds_the_class_of_benchmark_networks(name):
    dag = Network.load(shared_file(f"networks/{name}")).dag
    result = pc(oracle=dag, keep_tests=False)
    assert result.pdag == dag.cpdag()
    assert result.dag.cpdag() == result.pdag
    assert not result.conflicts


@pytest.mark.slow
def test_finds_the_class_of_andes():
    dag = Network.load(shared_file("networks/andes.bif")).dag
    assert pc(oracle=dag, keep_tests=False).pdag == dag.cpdag()


def test_a_hub_with_nineteen_neighbours():
    names = [f"v{i:02d}" for i in range(20)]
    dag = Dag(names, [(names[0], child) for child in names[1:]])
    result = pc(oracle=dag, keep_tests=False)
    assert result.pdag == dag.cpdag()
    # The hub asks about every set of the 18 others for each neighbour: 19 x 2^18, and the leaves
    # ask until their links are gone.
    assert result.n_tests > 19 * 2**18


def test_any_number_of_threads_gives_the_same():
    for dag in random_dags(30, seed=6):
        one, four = (pc(oracle=dag, threads=threads) for threads in (1, 4))
        assert one.to_dict(trace=True) | {"seconds": 0} == four.to_dict(trace=True) | {"seconds": 0}


def test_graphs_of_one_node_and_without_nodes():
    assert pc(oracle=Dag(["A"])).pdag == Pdag(["A"])
    empty = pc(oracle=Dag([]))
    assert empty.pdag == Pdag([])
    assert empty.n_tests == 0


def test_errors_of_an_oracle_of_your_own_come_through():
    class Broken:
        nodes = ("A", "B", "C")

        def is_independent(self, one, other, given):
            raise RuntimeError("no idea")

    with pytest.raises(RuntimeError, match="no idea"):
        pc(oracle=Broken())
