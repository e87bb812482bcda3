"""What the user knows about a graph; `kinds` lists the kinds of statement."""

from bestdag.graph.knowledge.knowledge import Knowledge
from bestdag.graph.knowledge.node_knowledge import NodeKnowledge

__all__ = ["Knowledge", "NodeKnowledge"]
