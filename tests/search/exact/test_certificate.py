"""Certificates: what is proved is accepted, what is not is refused with the reason."""

from __future__ import annotations

import copy
import pickle
import random
from dataclasses import replace

import pytest

from bestdag.errors import CertificateError
from bestdag.scores.table import ScoreTable
from bestdag.search.exact.bnc.certificate import Certificate, Multipliers, Node, verify
from bestdag.search.exact.bnc.engine import solve_bnc
from bestdag.search.exact.bnc.relaxation import Cut
from tests.search.exact.brute_force import random_table


def pair_table() -> ScoreTable:
    """a and b want each other: one of them has to give way, a for 1, b for 2."""
    return ScoreTable.from_lists(
        ["a", "b"], {"a": [(-1.0, []), (0.0, ["b"])], "b": [(-2.0, []), (0.0, ["a"])]}
    )


def pair_proof(**changes) -> Certificate:
    """By hand: the cluster {a, b} with multiplier 1 proves a cost of 1.

    Reduced costs: a alone 1 - 1 = 0, a <- b 0; b alone 2 - 1 = 1, b <- a 0. Bound 1 + 0 + 0.
    """
    proof = Certificate(
        parents=(1, 0),
        score=-1.0,
        resolution=0.0,
        bound=-1.0,
        exponent=0,
        cuts=(Cut((((0, 1), 1),)),),
        nodes=(Node([Multipliers((0,), (1,))]),),
    )
    return replace(proof, **changes)


def test_a_proof_made_by_hand():
    assert verify(pair_table(), pair_proof())


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"nodes": (Node(),)}, r"leaf 0 proves a cost of 0 nats, 1 are needed"),
        ({"nodes": (Node([Multipliers((0,), (-1,))]),)}, "multipliers must be >= 0"),
        ({"nodes": (Node([Multipliers((0,), (3,))]),)}, "leaf 0 proves"),
        ({"nodes": (Node([Multipliers((1,), (1,))]),)}, "a cut that is not there"),
        ({"nodes": ()}, "node 0 is missing"),
        ({"nodes": (Node(arc=(0, 1), children=(1, 1)), Node())}, "leaf 1 proves"),
        ({"nodes": (Node(arc=(0, 1), children=(0, 1)), Node())}, "missing or met twice|leaf 1"),
        ({"cuts": (Cut((((0, 1), 3),)),)}, "not a valid cut"),
        ({"cuts": (Cut((((0, 0), 2),)),)}, "not a valid cut"),
        ({"cuts": (Cut((((0, 5), 1),)),)}, "not a valid cut"),
        ({"cuts": (Cut((((0, 1), 1), ((0, 1), 1))),)}, "not a valid cut"),
        ({"cuts": (Cut((((0, 1), 1),), (0,)),)}, "not a valid cut"),
        ({"cuts": (Cut((((0, 1), 1),), (0, 0), True),)}, "not a valid cut"),
        ({"parents": (0, 0)}, "not the incumbent's score"),
        ({"parents": (0, 0), "score": 0.0, "bound": 0.0}, "incumbent has a cycle"),
        ({"parents": (1,)}, "one set per child"),
        ({"parents": (1, 2)}, "no set number 2"),
        ({"score": -1.5}, "not the incumbent's score"),
        ({"bound": -1.5}, "bound is too small"),
        ({"resolution": -1.0}, "resolution or bound"),
        ({"resolution": float("nan")}, "resolution or bound"),
        ({"parents": (0, 1), "score": -2.0, "bound": -2.0}, "leaf 0 proves"),
    ],
)
def test_refuses_what_is_not_proved(changes, reason):
    with pytest.raises(CertificateError, match=reason):
        verify(pair_table(), pair_proof(**changes))


def hard_table() -> ScoreTable:
    return random_table(random.Random(77), 8, keep=0.35, scale=1.0)


def hard_proof() -> tuple[ScoreTable, Certificate]:
    table = hard_table()
    certificate = solve_bnc(table, threads=1, deadline=None).proofs[0]
    assert isinstance(certificate, Certificate)
    assert verify(table, certificate)
    return table, certificate


def test_every_leaf_is_needed():
    table, certificate = hard_proof()
    leaves = [i for i, node in enumerate(certificate.nodes) if node.children is None]
    refused = 0
    for leaf in leaves:
        nodes = list(copy.deepcopy(certificate.nodes))
        nodes[leaf] = Node()
        try:
            verify(table, replace(certificate, nodes=tuple(nodes)))
        except CertificateError:
            refused += 1
    assert refused > 0
    everywhere = tuple(Node([], node.arc, node.children) for node in certificate.nodes)
    with pytest.raises(CertificateError, match="leaf"):
        verify(table, replace(certificate, nodes=everywhere))


def test_multipliers_that_were_changed_are_refused():
    table, certificate = hard_proof()
    nodes = tuple(
        Node(
            [Multipliers(r.cuts, tuple(v // 2 for v in r.values)) for r in node.records],
            node.arc,
            node.children,
        )
        for node in certificate.nodes
    )
    with pytest.raises(CertificateError, match="leaf"):
        verify(table, replace(certificate, nodes=nodes))


def test_a_proof_does_not_fit_a_table_with_a_better_network():
    table, certificate = hard_proof()
    chosen = certificate.parents[0]
    lists = {
        name: [
            # The first child's other sets all gain a thousand nats.
            (score + (1000.0 if v == 0 and k != chosen else 0.0), [table.names[m] for m in members])
            for k, (score, members) in enumerate(table.child(v))
        ]
        for v, name in enumerate(table.names)
    }
    with pytest.raises(CertificateError):
        verify(ScoreTable.from_lists(table.names, lists), certificate)


def test_only_cuts_that_are_used_are_kept_and_it_pickles():
    _, certificate = hard_proof()
    used = {c for node in certificate.nodes for r in node.records for c in r.cuts}
    assert used == set(range(len(certificate.cuts)))
    assert all(v > 0 for node in certificate.nodes for r in node.records for v in r.values)
    assert pickle.loads(pickle.dumps(certificate)) == certificate
