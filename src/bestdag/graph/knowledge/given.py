"""What callers may give for knowledge: a `Knowledge`, statements, or nothing."""

from __future__ import annotations

from collections.abc import Sequence

from bestdag.errors import InvalidParameterError
from bestdag.graph.knowledge.knowledge import Knowledge

__all__ = ["known_as", "require_knowledge"]

_NOTHING = Knowledge()


def known_as(knowledge: Knowledge | Sequence[str] | None) -> Knowledge | None:
    """Take statements for what they say; anything else is for `require_knowledge` to refuse."""
    if isinstance(knowledge, str):
        return Knowledge.parse([knowledge])
    if isinstance(knowledge, list | tuple) and all(isinstance(line, str) for line in knowledge):
        return Knowledge.parse(knowledge)
    return knowledge  # type: ignore[return-value]


def require_knowledge(who: str, knowledge: Knowledge | None) -> Knowledge:
    """Return knowledge, of nothing where None is given, or refuse something else."""
    if knowledge is None:
        return _NOTHING
    if not isinstance(knowledge, Knowledge):
        raise InvalidParameterError(
            f"{who}: knowledge must be a Knowledge, got {knowledge!r:.60}; "
            "Knowledge.parse makes one of statements such as 'A -> B'"
        )
    return knowledge
