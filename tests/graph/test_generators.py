"""Random DAGs: limits, seeds, and frequencies against all DAGs of a few nodes."""

import random
from collections import Counter
from functools import cache
from itertools import combinations, permutations

import numpy as np
import pytest
from scipy.special import chdtrc

from bestdag import Dag, InvalidParameterError, UnknownNameError, _core, random_dag
from bestdag.graph.enumeration import all_dags, n_dags
from bestdag.graph.generators import GENERATORS, MarkovChain, OrderBased, UniformDags, node_names
from bestdag.graph.generators.uniform import layer_sizes

LIMITS = [
    {},
    {"max_degree": 2},
    {"max_parents": 1},
    {"max_parents": 2, "max_degree": 3},
    {"max_width": 1},
    {"max_width": 2},
    {"max_parents": 1, "max_degree": 2},
    {"max_width": 2, "max_degree": 2},
]


@cache
def treewidth(graph):
    """Return the least width over all orders of elimination."""
    best = len(graph.nodes)
    for order in permutations(graph.nodes):
        joined = {node: set(graph.adjacent(node)) for node in graph.nodes}
        width = 0
        for node in order:
            around = joined.pop(node)
            width = max(width, len(around))
            for one in around:
                joined[one] |= around - {one}
                joined[one].discard(node)
        best = min(best, width)
    return best


def is_connected(dag):
    reached, waiting = {dag.nodes[0]}, [dag.nodes[0]]
    while waiting:
        for other in dag.adjacent(waiting.pop()):
            if other not in reached:
                reached.add(other)
                waiting.append(other)
    return len(reached) == len(dag.nodes)


NONE = 10**9


def is_within(dag, max_degree=NONE, max_parents=NONE, max_width=NONE):
    return (
        is_connected(dag)
        and all(len(dag.adjacent(node)) <= max_degree for node in dag.nodes)
        and all(len(dag.parents(node)) <= max_parents for node in dag.nodes)
        and (max_width == NONE or treewidth(dag.moral_graph()) <= max_width)
    )


def constrained(n, limits):
    """List all connected DAGs over numbered nodes that obey limits, as sets of arcs."""
    names = node_names(n)
    number = {name: k for k, name in enumerate(names)}
    return {
        frozenset((number[p], number[c]) for p, c in dag.arcs)
        for dag in all_dags(names)
        if is_within(dag, **limits)
    }


def visited(n, limits, samples, thin, seed=1):
    """Follow one chain and count where it is after every `thin` steps."""
    names = ("max_degree", "max_parents", "max_width")
    key = np.array([seed, 2], np.uint64)
    chain = _core.GraphChain(n, *(limits.get(name) for name in names), key)
    found = Counter()
    for _ in range(samples):
        chain.run(thin)
        found[frozenset(map(tuple, chain.arcs().tolist()))] += 1
    return found


def is_uniform(counts, n_states):
    expected = sum(counts.values()) / n_states
    statistic = sum((count - expected) ** 2 / expected for count in counts.values())
    statistic += (n_states - len(counts)) * expected
    return n_states == 1 or chdtrc(n_states - 1, statistic) > 1e-4


@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("n", [2, 3, 4])
def test_the_chain_is_uniform_over_all_connected_dags_within_limits(n, limits):
    every = constrained(n, limits)
    found = visited(n, limits, 40 * len(every) + 200, 300)
    assert found.keys() <= every
    assert found.keys() == every
    assert is_uniform(found, len(every))


@pytest.mark.parametrize(
    "limits",
    [LIMITS[1], *(pytest.param(one, marks=pytest.mark.slow) for one in LIMITS[2:])],
    ids=str,
)
def test_the_chain_reaches_every_dag_over_five_nodes(limits):
    every = constrained(5, limits)
    found = visited(5, limits, 12 * len(every), 60)
    assert found.keys() <= every
    # Twelve visits on average: one in 160,000 is missed by chance.
    assert len(every - found.keys()) <= 2 + len(every) / 10_000


def test_adding_and_removing_alone_would_not():
    """Why trees are moved: no arc of a tree can be removed, and with degree 2 few can be added."""
    path = {(0, 1), (1, 2), (2, 3)}
    nodes = range(4)

    def neighbours(arcs):
        for i, j in permutations(nodes, 2):
            new = arcs ^ {(i, j)}
            dag_arcs = [(str(p), str(c)) for p, c in new]
            if (j, i) in arcs:
                continue
            try:
                dag = Dag(map(str, nodes), dag_arcs)
            except ValueError:
                continue
            if is_within(dag, max_degree=2):
                yield new

    reached, waiting = {frozenset(path)}, [frozenset(path)]
    while waiting:
        for new in neighbours(waiting.pop()):
            if new not in reached:
                reached.add(new)
                waiting.append(new)
    assert len(reached) < len(constrained(4, {"max_degree": 2}))


@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_larger_graphs_obey_their_limits(limits):
    for seed in range(3):
        dag = random_dag(7, seed=seed, **limits)
        assert is_within(dag, **limits)
    wide = random_dag(60, seed=3, **limits)
    assert is_within(wide, **{k: v for k, v in limits.items() if k != "max_width"})


def test_widths_are_decided_exactly():
    for seed in range(8):
        for width in (2, 3, 4):
            assert treewidth(random_dag(7, max_width=width, seed=seed).moral_graph()) <= width
    # With a limit of 4 all but the graphs of 6 and more joined nodes are allowed.
    dense = Counter(treewidth(random_dag(6, max_width=4, seed=s).moral_graph()) for s in range(30))
    assert dense[4] > dense[2]


def test_no_steps_leave_the_chain_of_arcs():
    dag = random_dag(6, steps=0)
    assert len(dag.arcs) == 5
    assert max(len(dag.children(node)) for node in dag.nodes) == 1


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_uniform_dags_are_uniform(n):
    every = {dag.arcs for dag in all_dags(node_names(n))}
    found = Counter(random_dag(n, "uniform", seed=s).arcs for s in range(20 * len(every) + 50))
    assert found.keys() <= every
    assert is_uniform(found, len(every))


def test_roots_are_as_many_as_in_all_dags():
    by_roots = Counter(
        sum(not dag.parents(node) for node in dag.nodes) for dag in all_dags(list("abcd"))
    )
    for exact in (True, False):
        drawn = Counter(layer_sizes(4, random.Random(s), exact=exact)[0] for s in range(4000))
        assert drawn.keys() == by_roots.keys()
        for roots, count in by_roots.items():
            expected = 4000 * count / n_dags(4)
            assert abs(drawn[roots] - expected) < 6 * expected**0.5 + 12


def test_layers_of_rounded_numbers_are_those_of_exact_ones():
    exact, rounded = (
        Counter(tuple(layer_sizes(4, random.Random(s), exact=exact)) for s in range(4000))
        for exact in (True, False)
    )
    assert exact.keys() == rounded.keys()
    assert all(abs(exact[key] - rounded[key]) < 6 * exact[key] ** 0.5 + 12 for key in exact)


def test_large_uniform_dags_have_half_of_all_arcs():
    dag = random_dag(120, "uniform", seed=1)
    n_pairs = 120 * 119 / 2
    assert 0.45 * n_pairs < len(dag.arcs) < 0.55 * n_pairs
    assert dag == Dag(dag.nodes, dag.arcs)  # checked: no cycle


def test_arcs_over_an_order_are_drawn_for_themselves():
    n, p = 3, 0.3
    found = Counter(random_dag(n, "order", arc_probability=p, seed=s).arcs for s in range(4000))
    share = {}
    for order in permutations(node_names(n)):
        pairs = list(combinations(order, 2))
        for bits in range(8):
            arcs = tuple(sorted(pair for k, pair in enumerate(pairs) if bits >> k & 1))
            weight = p ** len(arcs) * (1 - p) ** (3 - len(arcs)) / 6
            share[arcs] = share.get(arcs, 0) + weight
    assert found.keys() == share.keys()
    statistic = sum((found[a] - 4000 * w) ** 2 / (4000 * w) for a, w in share.items())
    assert chdtrc(len(share) - 1, statistic) > 1e-4


def test_sets_of_arcs_of_one_size_have_the_same_probability():
    found = Counter()
    for seed in range(3000):
        dag = random_dag(4, "order", n_arcs=2, seed=seed)
        found[frozenset(frozenset(arc) for arc in dag.arcs)] += 1
    assert all(len(key) == 2 for key in found)
    assert is_uniform(found, 15)


def test_all_pairs_and_none():
    assert len(random_dag(30, "order", arc_probability=1).arcs) == 435
    assert len(random_dag(30, "order", n_arcs=435).arcs) == 435
    assert random_dag(30, "order", arc_probability=0).arcs == ()
    assert random_dag(1, "order").arcs == random_dag(1).arcs == random_dag(1, "uniform").arcs == ()


def test_parents_over_a_limit_are_left_out():
    dag = random_dag(50, "order", arc_probability=0.5, max_parents=3, seed=2)
    assert max(len(dag.parents(node)) for node in dag.nodes) == 3
    free = random_dag(50, "order", arc_probability=0.5, seed=2)
    assert set(dag.arcs) < set(free.arcs)
    assert {n for n in dag.nodes if len(dag.parents(n)) < 3} == {
        n for n in free.nodes if len(free.parents(n)) < 3
    }


def test_many_nodes():
    dag = random_dag(10_000, "order", max_parents=5)
    assert 18_000 < len(dag.arcs) < 22_000
    assert dag == Dag(dag.nodes, dag.arcs)


@pytest.mark.parametrize("name", GENERATORS)
def test_seeds(name):
    one, same, other = (random_dag(12, name, seed=s) for s in (1, 1, 2))
    assert one == same
    assert one != other
    assert one.nodes == node_names(12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: random_dag(0), "random: n must be a whole number >= 1, got 0"),
        (lambda: random_dag(3, seed=-1), "random: seed must be a whole number >= 0"),
        (lambda: random_dag(5, max_degree=1), "max_degree must be at least 2 for connected"),
        (lambda: MarkovChain(max_parents=0), "max_parents must be a whole number >= 1"),
        (lambda: random_dag(3001), "at most 3,000 nodes, got 3,001; use generator=.order."),
        (lambda: random_dag(1001, "uniform"), "use generator=.order."),
        (lambda: OrderBased(arc_probability=2), "arc_probability must be a number between 0 and 1"),
        (lambda: OrderBased(n_arcs=3, max_parents=2), "n_arcs must be given alone"),
        (lambda: random_dag(4, "order", n_arcs=7), "4 nodes have at most 6 arcs, got 7"),
    ],
)
def test_refusals(make, message):
    with pytest.raises(InvalidParameterError, match=message):
        make()


def test_unknown_names():
    with pytest.raises(UnknownNameError, match="did you mean 'uniform'"):
        random_dag(3, "unifrom")
    with pytest.raises(UnknownNameError, match="unknown setting 'n_arcs'"):
        random_dag(3, n_arcs=2)
    assert UniformDags() == UniformDags()
