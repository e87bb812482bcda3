"""What the answers contradict, and what was done about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from bestdag.graph._names import show

__all__ = ["Conflict", "ConflictKind", "hidden_cause"]

ConflictKind = Literal[
    "v-structures", "ambiguous triple", "uncertain region", "no direction", "knowledge"
]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Answers that no graph agrees with.

    Attributes
    ----------
    kind : str
        "v-structures": two of them need a link in opposite directions, or together a cycle;
        "ambiguous triple": the separating sets do not agree about a node between two others;
        "uncertain region": removing one link depends on links that were removed as well;
        "no direction": no direction of a link agrees with the rules;
        "knowledge": the answers contradict a statement of the user.
    variables : tuple of str
    text : str
        What the conflict is.
    resolution : str
        What was done.
    """

    kind: ConflictKind
    variables: tuple[str, ...]
    text: str
    resolution: str

    def is_about(self, one: str, other: str) -> bool:
        """Whether the link between the two is concerned."""
        if self.kind != "uncertain region":
            return {one, other} <= set(self.variables)
        pairs = (f"{show(a)} - {show(b)} given " for a, b in ((one, other), (other, one)))
        return any(pair in self.text for pair in pairs)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return {
            "kind": self.kind,
            "variables": list(self.variables),
            "text": self.text,
            "resolution": self.resolution,
        }

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}; {self.resolution}"


def hidden_cause(one: str, other: str) -> str:
    """Say which hidden variable would explain a link that needs both directions (Figure 7.11)."""
    first, second = sorted((one, other))
    return f"a hidden common cause of {first} and {second} would explain it"
