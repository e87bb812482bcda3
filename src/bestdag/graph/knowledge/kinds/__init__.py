"""The kinds of statement, each in the file of its notion, and the one list that names them."""

from __future__ import annotations

from bestdag.graph.knowledge.kinds.ancestors import Ancestors, NonAncestors
from bestdag.graph.knowledge.kinds.arcs import (
    ForbiddenArcs,
    ForbiddenEdges,
    RequiredArcs,
    RequiredEdges,
)
from bestdag.graph.knowledge.kinds.base import Pair, Statement
from bestdag.graph.knowledge.kinds.max_parents import MaxParents, MaxParentsOf
from bestdag.graph.knowledge.kinds.order import Order, TotalOrder
from bestdag.graph.knowledge.kinds.roots_and_leaves import Leaves, Roots
from bestdag.graph.knowledge.kinds.skeleton import Skeleton
from bestdag.graph.knowledge.kinds.tiers import Tiers, WithinTiers

__all__ = ["KINDS", "Ancestors", "NonAncestors", "Pair", "RequiredEdges", "Statement"]

# One line each, in the order that statements are written in.
KINDS: list[type[Statement]] = [
    RequiredArcs,
    ForbiddenArcs,
    RequiredEdges,
    ForbiddenEdges,
    Skeleton,
    Tiers,
    WithinTiers,
    Order,
    TotalOrder,
    Ancestors,
    NonAncestors,
    Roots,
    Leaves,
    MaxParents,
    MaxParentsOf,
]
