"""What the user knows about a graph.

knowledge         `Knowledge`, the user's value, and what may be given for one
kinds             a class per kind of statement: checks, reads, writes, looks at a graph, says what
                  follows; `KINDS` lists them
words, text       the words of a line; lines of text, TOML and JSON
implications      the vocabulary of what follows
node_knowledge    what follows from all statements, the fewest that clash, and the arrays that
                  searches see
"""

from bestdag.graph.knowledge.knowledge import Knowledge
from bestdag.graph.knowledge.node_knowledge import NodeKnowledge

__all__ = ["Knowledge", "NodeKnowledge"]
