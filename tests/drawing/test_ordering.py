"""The order within layers: crossings are counted rightly, and there are few of them."""

import itertools
import random

import pytest

from bestdag.drawing.ordering import count_crossings, ordered


def layered(seed, n_layers=4, size=5, n_pieces=20):
    rng = random.Random(seed)
    layers = [[size * k + j for j in range(size)] for k in range(n_layers)]
    pieces = set()
    for _ in range(n_pieces):
        k = rng.randrange(n_layers - 1)
        pieces.add((rng.choice(layers[k]), rng.choice(layers[k + 1])))
    for layer in layers:
        rng.shuffle(layer)
    return layers, sorted(pieces)


def crossings(layers, pieces):
    place = {thing: k for layer in layers for k, thing in enumerate(layer)}
    level = {thing: k for k, layer in enumerate(layers) for thing in layer}
    return sum(
        level[a] == level[c] and (place[a] - place[c]) * (place[b] - place[d]) < 0
        for (a, b), (c, d) in itertools.combinations(pieces, 2)
    )


@pytest.mark.parametrize("seed", range(20))
def test_counts_pairs_of_pieces_that_cross(seed):
    layers, pieces = layered(seed)
    assert count_crossings(layers, pieces) == crossings(layers, pieces)


@pytest.mark.parametrize("seed", range(20))
def test_finds_the_fewest_crossings_of_two_small_layers(seed):
    layers, pieces = layered(seed, 2, 4, 9)
    orders = itertools.product(*(itertools.permutations(layer) for layer in layers))
    best = min(crossings(order, pieces) for order in orders)
    found = ordered(layers, pieces)
    assert [sorted(layer) for layer in found] == [sorted(layer) for layer in layers]
    assert crossings(found, pieces) == best


@pytest.mark.parametrize("seed", range(5))
def test_trees_have_no_crossing(seed):
    rng = random.Random(seed)
    layers, pieces, n = [[0]], [], 1
    for _ in range(5):
        layer = list(range(n, n + 2 * len(layers[-1])))
        pieces += [(rng.choice(layers[-1]), thing) for thing in layer]
        n += len(layer)
        layers.append(rng.sample(layer, len(layer)))
    assert count_crossings(ordered(layers, pieces), pieces) == 0


def test_with_very_many_pieces_layers_are_sorted_all_the_same():
    layers = [list(range(200)), list(range(200, 400))]
    pieces = [(a, b) for a in layers[0] for b in layers[1] if (a < 100) == (b >= 300)]
    pieces += [(0, 200)]
    found = ordered(layers, pieces)
    assert len(pieces) > 20_000
    assert all((found[0][k] < 100) == (found[1][k] >= 300) for k in range(1, 199))
