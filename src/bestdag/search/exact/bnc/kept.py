"""The open tree of branch and cut as plain values: nodes with their proofs, cuts, programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from bestdag.search.exact.bnc.certificate import Certificate, Multipliers, Node
from bestdag.search.exact.bnc.lanes import Lane, OpenNode, Way
from bestdag.search.exact.bnc.relaxation import Cut

if TYPE_CHECKING:
    from bestdag.search.exact.bnc.tree import SearchTree

__all__ = ["certificate_from", "certificate_state", "restore", "state_of"]

_PLAIN = ("root_bound", "bound", "_earlier_pivots")


def state_of(tree: SearchTree) -> dict[str, Any]:
    """Return where a search is, between two rounds or within the root."""
    return {
        **{name: getattr(tree, name) for name in _PLAIN},
        "processed": tree.processed - tree._is_inside,  # the root is worked on again
        "choice": tree.choice,
        "cuts": _cuts(tree.relaxation.cuts),
        "nodes": _nodes(tree.nodes),
        "heap": [_open(node) for node in tree._heap],
        "lanes": [
            {
                "program": lane.master.state(),
                "node": None if lane.node is None else _open(lane.node),
            }
            for lane in tree._lanes
        ],
        "arcs": tree._brancher.state(),
    }


def restore(tree: SearchTree, state: dict[str, Any]) -> None:
    """Let a tree that was not begun go on from a state."""
    for name in _PLAIN:
        setattr(tree, name, state[name])
    tree.processed = state["processed"]
    tree.choice = state["choice"]
    for cut in _cuts_from(state["cuts"]):
        tree._separator.number(cut)
    tree.nodes = _nodes_from(state["nodes"])
    n_sets = len(tree.sets)
    tree._heap = [_open_from(node, n_sets) for node in state["heap"]]
    tree._lanes = []
    for lane in state["lanes"]:
        node = None if lane["node"] is None else _open_from(lane["node"], n_sets)
        master = tree._new_master()
        master.load(lane["program"])
        tree._lanes.append(Lane(master, node))
    tree._brancher.restore(state["arcs"])


def certificate_state(certificate: Certificate) -> dict[str, Any]:
    """Return a finished proof."""
    return {
        "parents": certificate.parents,
        "score": certificate.score,
        "resolution": certificate.resolution,
        "bound": certificate.bound,
        "exponent": certificate.exponent,
        "cuts": _cuts(certificate.cuts),
        "nodes": _nodes(certificate.nodes),
    }


def certificate_from(state: dict[str, Any]) -> Certificate:
    """Make the proof of its state; it is not checked here."""
    own = {"parents": tuple(state["parents"]), "cuts": tuple(_cuts_from(state["cuts"]))}
    return Certificate(**{**state, **own, "nodes": tuple(_nodes_from(state["nodes"]))})


def _open(node: OpenNode) -> dict[str, Any]:
    return {
        "bound": node.bound,
        "number": node.number,
        "allowed": np.packbits(node.allowed),
        "required": node.required,
        "best": node.best,
        "cuts": node.cuts,
        "way": asdict(node.way),
    }


def _open_from(state: dict[str, Any], n_sets: int) -> OpenNode:
    return OpenNode(
        state["bound"],
        state["number"],
        np.unpackbits(state["allowed"], count=n_sets).astype(bool),
        tuple((parent, child) for parent, child in state["required"]),
        state["best"],
        tuple(state["cuts"]),
        Way(**state["way"]),
    )


def _cuts(cuts: Sequence[Cut]) -> list[Any]:
    return [(cut.terms, cut.equations, cut.halved) for cut in cuts]


def _cuts_from(state: Sequence[Any]) -> list[Cut]:
    return [
        Cut(tuple((tuple(members), k) for members, k in terms), tuple(equations), halved)
        for terms, equations, halved in state
    ]


def _nodes(nodes: Sequence[Node]) -> list[Any]:
    return [
        ([(record.cuts, record.values) for record in node.records], node.arc, node.children)
        for node in nodes
    ]


def _nodes_from(state: Sequence[Any]) -> list[Node]:
    return [
        Node(
            [Multipliers(tuple(cuts), tuple(values)) for cuts, values in records],
            None if arc is None else (arc[0], arc[1]),
            None if children is None else (children[0], children[1]),
        )
        for records, arc, children in state
    ]
