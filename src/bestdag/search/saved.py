"""A result as plain values, for a file that answers at once, and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from bestdag.errors import BestdagError
from bestdag.graph.dag import Dag
from bestdag.search.arc_weights import ArcWeights
from bestdag.search.result import BoundSource, Limits, SearchResult, Step
from bestdag.search.structures import Structure, Structures
from bestdag.search.ties import tie_width

__all__ = ["ProofOfAnswer", "plain", "result_from"]

# What a result is made of, beside mappings, texts, numbers and arrays.
_KINDS = {
    kind.__name__: kind
    for kind in (SearchResult, Limits, BoundSource, Step, ArcWeights, Structures, Structure)
}
_LEFT_OUT = ("certificates",)  # proofs are found once more


@dataclass(frozen=True, slots=True, eq=False)
class ProofOfAnswer:
    """The proof of an answer that was read from a file, which has none: it is found once more."""

    score: float
    again: Callable[[], SearchResult]

    def verify(self) -> None:
        """Solve again, check that proof, and compare the scores."""
        found = self.again()
        found.verify()
        if abs(found.score - self.score) > tie_width(self.score) + found.resolution:
            raise BestdagError(
                f"verify: the file says {self.score!r}, and the best is {found.score!r}"
            )


def plain(value: Any) -> Any:
    """Return a result, or a part of one, as mappings, lists, texts, numbers and arrays."""
    if isinstance(value, Dag):
        return {"is": "Dag", "nodes": value.nodes, "arcs": value.arcs}
    if isinstance(value, frozenset):
        return {"is": "frozenset", "items": sorted(value)}
    if is_dataclass(value) and not isinstance(value, type):
        names = [f.name for f in fields(value) if f.name not in _LEFT_OUT]
        return {
            "is": type(value).__name__,
            **{name: plain(getattr(value, name)) for name in names},
        }
    if isinstance(value, Step):
        return {"is": "Step", **value._asdict()}
    if isinstance(value, dict):
        return {"is": "dict", "items": [[key, plain(one)] for key, one in value.items()]}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value


def result_from(state: Any, again: Callable[[], SearchResult] | None = None) -> SearchResult:
    """Make the result of its plain values; `again` finds it once more, to check a proof."""
    result = _made(state)
    assert isinstance(result, SearchResult)
    if again is None:
        return result
    return replace(result, certificates=(ProofOfAnswer(result.score, again),))


def _made(state: Any) -> Any:
    if isinstance(state, list | tuple):
        return tuple(map(_made, state))
    if not isinstance(state, dict):
        return state
    values = {name: _made(one) for name, one in state.items() if name != "is"}
    match state["is"]:
        case "Dag":
            return Dag(values["nodes"], values["arcs"])
        case "frozenset":
            return frozenset(values["items"])
        case "dict":
            return dict(values["items"])
        case kind:
            return _KINDS[kind](**values)
