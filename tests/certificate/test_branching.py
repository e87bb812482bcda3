"""Prices of groups of variables: they prove a maximum branching to be one."""

import itertools
import math
import random

import pytest

from bestdag import ScoreTable
from bestdag.certificate.branching import branching_certificate
from bestdag.errors import CertificateError
from bestdag.search.exact.bnc.certificate import verify
from tests.search.exact.brute_force import is_acyclic


def table_of(rng, n, *, ties=False, required=()):
    """All sets of at most one parent, some missing; who is required has no others."""
    names = [f"v{i}" for i in range(n)]
    lists = {}
    for child in names:
        parents = [[], *([p] for p in names if p != child and rng.random() < 0.8)]
        if child in required:
            parents = parents[1:] or parents
        scores = [rng.randint(-3, 3) if ties else rng.uniform(-1e3, 1e3) for _ in parents]
        lists[child] = list(zip(map(float, scores), parents, strict=True))
    return ScoreTable.from_lists(names, lists)


def best_choice(table):
    """The best acyclic choice, by trying all."""
    n = table.n_variables
    best, chosen = -math.inf, None
    for choice in itertools.product(*(range(len(table.child(v))) for v in range(n))):
        parents = [frozenset(table.child(v).parents(k)) for v, k in enumerate(choice)]
        if is_acyclic(parents):
            score = math.fsum(float(table.child(v).scores[k]) for v, k in enumerate(choice))
            if score > best:
                best, chosen = score, choice
    return best, chosen


@pytest.mark.parametrize("seed", range(40))
def test_the_best_branching_is_proved_to_the_last_digits(seed):
    rng = random.Random(seed)
    table = table_of(rng, 2 + seed % 5, ties=seed % 3 == 0, required=["v0"] * (seed % 2))
    best, chosen = best_choice(table)
    proof = branching_certificate(table, chosen)
    assert verify(table, proof)
    assert proof.score == pytest.approx(best, abs=1e-9)
    assert proof.resolution <= 1e-11


@pytest.mark.parametrize("seed", range(20))
def test_a_worse_branching_is_proved_as_far_as_it_is_true(seed):
    rng = random.Random(1000 + seed)
    table = table_of(rng, 4)
    best, _ = best_choice(table)
    last = [len(table.child(v)) - 1 for v in range(4)]
    empty = [next(k for k in range(last[v] + 1) if not table.child(v).parents(k)) for v in range(4)]
    proof = branching_certificate(table, empty)
    assert verify(table, proof)
    assert proof.score + proof.resolution == pytest.approx(best, abs=1e-9)


def test_by_hand():
    """Three variables round a cycle, each gains 2 by its parent, one gives way for 1.

    Alone they score -2, or -1 for the one that gives way. The group pays 1 to be entered.
    """
    table = ScoreTable.from_lists(
        ["a", "b", "c"],
        {
            "a": [(-1.0, []), (0.0, ["c"])],
            "b": [(-2.0, []), (0.0, ["a"])],
            "c": [(-2.0, []), (0.0, ["b"])],
        },
    )
    proof = branching_certificate(table, (1, 0, 0))
    assert (proof.score, proof.resolution) == (-1.0, 0.0)
    assert [cut.terms for cut in proof.cuts] == [(((0, 1, 2), 1),)]
    assert proof.nodes[0].records[0].values[0] * 2.0**proof.exponent == 1.0
    assert verify(table, proof)


def test_without_its_prices_it_proves_nothing():
    table = table_of(random.Random(5), 6)
    _, chosen = best_choice(table)
    proof = branching_certificate(table, chosen)
    assert proof.cuts
    proof.nodes[0].records.clear()
    with pytest.raises(CertificateError, match="leaf 0 proves"):
        verify(table, proof)


def test_nothing_to_gain():
    table = ScoreTable.from_lists(["a", "b"], {"a": [(-1.0, [])], "b": [(-1.0, [])]})
    assert verify(table, branching_certificate(table, (0, 0)))
