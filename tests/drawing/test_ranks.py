"""Layers of nodes: no cycle is left, parents above children, links as short as can be together."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from bestdag import Dag, random_dag
from bestdag.drawing.ranks import directed, ranks

pairs = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20)


def connected(seed):
    """Draw a connected graph whose links lead from smaller numbers to larger ones."""
    rng = random.Random(seed)
    n = rng.randint(2, 25)
    links = {(rng.randrange(k), k) for k in range(1, n)}
    links |= {tuple(sorted(rng.sample(range(n), 2))) for _ in range(rng.randrange(2 * n))}
    order = rng.sample(range(n), n)
    return n, sorted((order[a], order[b]) for a, b in links)


@given(pairs, pairs)
def test_no_directed_cycle_is_left_and_links_keep_their_ends(one, other):
    links = list({frozenset(p): p for p in one if p[0] != p[1]}.values())
    taken = {frozenset(p) for p in links}
    free = {frozenset(p): p for p in other if p[0] != p[1] and frozenset(p) not in taken}
    made = directed(8, links, list(free.values()))
    assert [set(pair) for pair in made] == [set(pair) for pair in (*links, *free.values())]
    Dag([str(k) for k in range(8)], [(str(a), str(b)) for a, b in made])  # refuses cycles


def test_without_cycles_every_link_keeps_its_direction():
    dag = random_dag(30, "order", arc_probability=0.2, seed=1)
    number = {name: k for k, name in enumerate(sorted(dag.nodes))}
    links = [(number[a], number[b]) for a, b in dag.arcs]
    assert directed(30, links[5:], links[:5])[: len(links) - 5] == links[5:]


@pytest.mark.parametrize("seed", range(40))
def test_all_links_together_are_as_short_as_a_linear_program_makes_them(seed):
    n, links = connected(seed)
    found = ranks(n, links, [1.0] * n)
    spans = [found[b] - found[a] for a, b in links]
    assert min(found) == 0
    assert min(spans) >= 1
    rows = np.zeros((len(links), n))
    for k, (a, b) in enumerate(links):
        rows[k, a], rows[k, b] = 1.0, -1.0
    best = linprog(-rows.sum(axis=0), A_ub=rows, b_ub=-np.ones(len(links)), bounds=(None, None))
    assert sum(spans) == pytest.approx(best.fun)


def test_a_node_with_a_choice_goes_where_there_is_room():
    links = [(0, 1), (1, 2), (2, 3), (0, 4), (4, 3), (1, 5)]
    assert ranks(6, links, [1.0] * 6)[4] == 1
    assert ranks(6, links, [1.0, 9.0, 1.0, 1.0, 1.0, 1.0])[4] == 2
