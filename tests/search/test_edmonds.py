"""Maximum spanning trees and branchings on dense matrices: brute force, networkx, ties."""

import itertools

import networkx as nx
import numpy as np
import pytest

from bestdag import _core

NONE = -np.inf


def branching(weights, root_weights=None, *, spanning):
    n = len(weights)
    parents = np.empty(n, np.int32)
    roots = np.zeros(n) if root_weights is None else np.asarray(root_weights, float)
    found = _core.maximum_branching(np.ascontiguousarray(weights), roots, spanning, parents)
    return parents.tolist() if found else None


def spanning_tree(weights, root=0):
    parents = np.empty(len(weights), np.int32)
    _core.maximum_spanning_tree(np.ascontiguousarray(weights), root, parents)
    return parents.tolist()


def total(weights, parents):
    return sum(weights[p, c] for c, p in enumerate(parents) if p >= 0)


def n_roots(parents):
    return sum(p < 0 for p in parents)


def is_acyclic(parents):
    for start in range(len(parents)):
        node, steps = start, 0
        while node >= 0 and steps <= len(parents):
            node, steps = parents[node], steps + 1
        if node >= 0:
            return False
    return True


def every_branching(n):
    """All acyclic choices of one parent or none; (n + 1)^(n - 1) of them."""
    choices = [[-1, *(p for p in range(n) if p != c)] for c in range(n)]
    return [chosen for chosen in itertools.product(*choices) if is_acyclic(chosen)]


EVERY = {n: every_branching(n) for n in range(1, 6)}


def random_weights(rng, n, kind):
    if kind == "real":
        return rng.normal(size=(n, n))
    weights = rng.integers(-3, 4, (n, n)).astype(float)
    if kind == "gaps":
        weights[rng.random((n, n)) < 0.4] = NONE
    return weights


def test_every_branching_is_listed():
    assert [len(EVERY[n]) for n in range(1, 6)] == [(n + 1) ** (n - 1) for n in range(1, 6)]


@pytest.mark.parametrize("kind", ["real", "ties", "gaps"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_is_the_best_of_all_branchings(kind, n):
    rng = np.random.default_rng(n)
    for _ in range(25):
        weights = random_weights(rng, n, kind)
        roots = rng.integers(-2, 3, n).astype(float)
        roots[rng.random(n) < 0.2] = NONE

        def value(parents, weights=weights, roots=roots):
            alone = sum(roots[c] for c, p in enumerate(parents) if p < 0)
            return total(weights, parents) + alone

        allowed = [parents for parents in EVERY[n] if value(parents) > NONE]
        spanning = branching(weights, roots, spanning=True)
        free = branching(weights, roots, spanning=False)
        if not allowed:
            assert spanning is None
            assert free is None
            continue
        assert is_acyclic(spanning)
        assert is_acyclic(free)
        fewest = min(map(n_roots, allowed))
        best = max(value(p) for p in allowed if n_roots(p) == fewest)
        assert n_roots(spanning) == fewest
        assert value(spanning) == pytest.approx(best, abs=1e-12)
        best = max(map(value, allowed))
        assert value(free) == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_ties_go_to_the_first_root_and_to_fewer_arcs(n):
    rng = np.random.default_rng(n)
    for _ in range(40):
        weights = rng.integers(-1, 2, (n, n)).astype(float)
        trees = [p for p in EVERY[n] if n_roots(p) == 1]
        best = max(total(weights, p) for p in trees)
        first = min(p.index(-1) for p in trees if total(weights, p) == best)
        assert branching(weights, spanning=True).index(-1) == first
        best = max(total(weights, p) for p in EVERY[n])
        most = max(n_roots(p) for p in EVERY[n] if total(weights, p) == best)
        assert n_roots(branching(weights, spanning=False)) == most


def as_networkx(weights):
    graph = nx.DiGraph()
    n = len(weights)
    graph.add_nodes_from(range(n))
    graph.add_weighted_edges_from(
        (i, j, weights[i, j]) for i in range(n) for j in range(n) if i != j and weights[i, j] > NONE
    )
    return graph


@pytest.mark.parametrize("block", range(10))
def test_agrees_with_networkx_on_1000_dense_digraphs(block):
    rng = np.random.default_rng(100 + block)
    for k in range(100):
        n = int(rng.integers(2, 13))
        weights = random_weights(rng, n, ("real", "ties")[k % 2])
        graph = as_networkx(weights)
        found = branching(weights, spanning=True)
        expected = nx.maximum_spanning_arborescence(graph).size("weight")
        assert n_roots(found) == 1
        assert is_acyclic(found)
        assert total(weights, found) == pytest.approx(expected, abs=1e-9)
        found = branching(weights, spanning=False)
        expected = nx.maximum_branching(graph).size("weight")
        assert is_acyclic(found)
        assert total(weights, found) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("kind", ["real", "ties", "gaps"])
def test_spanning_tree_agrees_with_networkx(kind):
    rng = np.random.default_rng(5)
    for _ in range(100):
        n = int(rng.integers(1, 15))
        weights = random_weights(rng, n, kind)
        weights = np.triu(weights, 1) + np.triu(weights, 1).T
        graph = as_networkx(weights).to_undirected()
        expected = nx.maximum_spanning_tree(graph)
        root = int(rng.integers(n))
        found = spanning_tree(weights, root)
        assert is_acyclic(found)
        assert found[root] == -1
        assert n_roots(found) == nx.number_connected_components(graph)
        assert total(weights, found) == pytest.approx(expected.size("weight"), abs=1e-9)


def test_edges_of_a_spanning_tree_do_not_depend_on_the_root():
    rng = np.random.default_rng(6)
    for _ in range(50):
        weights = rng.integers(0, 3, (7, 7)).astype(float)
        weights += weights.T
        edges = {
            frozenset(
                frozenset((c, p)) for c, p in enumerate(spanning_tree(weights, root)) if p >= 0
            )
            for root in range(7)
        }
        assert len(edges) == 1


def test_nested_cycles_are_opened_in_the_right_place():
    # Best entering arcs: 1 -> 0, 0 -> 1, then 2 -> {0, 1}, {0, 1} -> 2, then 3. By hand: the tree
    # from 3 is 3 -> 2 (1), 2 -> 1 (8), 1 -> 0 (10): 19.
    weights = np.full((4, 4), NONE)
    weights[1, 0], weights[0, 1] = 10, 10
    weights[2, 1], weights[0, 2] = 8, 9
    weights[3, 2] = 1
    assert branching(weights, [NONE, NONE, NONE, 0], spanning=True) == [1, 2, 3, -1]


def test_nothing_to_choose_from():
    assert branching(np.zeros((1, 1)), spanning=True) == [-1]
    assert branching(np.zeros((1, 1)), [NONE], spanning=True) is None
    weights = np.full((2, 2), 1.0)
    assert branching(weights, [NONE, NONE], spanning=False) is None


def test_wrong_shapes_are_refused():
    with pytest.raises(ValueError, match="one row and one column"):
        _core.maximum_branching(np.zeros((2, 3)), np.zeros(2), True, np.zeros(2, np.int32))
    with pytest.raises(ValueError, match="root weight"):
        _core.maximum_branching(np.zeros((2, 2)), np.zeros(3), True, np.zeros(2, np.int32))
    with pytest.raises(ValueError, match="not a node"):
        _core.maximum_spanning_tree(np.zeros((2, 2)), 2, np.zeros(2, np.int32))
