"""A result as plain values, for a file that answers at once, and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from bestdag.errors import BestdagError
from bestdag.graph.dag import Dag
from bestdag.search.arc_weights import ArcWeights
from bestdag.search.limits import Limits
from bestdag.search.result import SearchResult, Step
from bestdag.search.structures import Structure, Structures
from bestdag.search.ties import tie_width

__all__ = ["ProofOfAnswer", "result_from", "state_of"]

# What has a form of its own; everything else is plain already.
_OWN = ("dag", "trace", "weights", "structures", "certificates", "notes", "settings", "limits")


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


def state_of(found: SearchResult) -> dict[str, Any]:
    """Return a result as mappings, lists, texts, numbers and arrays; proofs stay behind."""
    state = {f.name: getattr(found, f.name) for f in fields(SearchResult) if f.name not in _OWN}
    weights, listed = found.weights, found.structures
    return {
        **state,
        "dag": {"nodes": found.dag.nodes, "arcs": found.dag.arcs},
        "settings": dict(found.settings),
        "notes": found.notes,
        "limits": {
            **{f.name: getattr(found.limits, f.name) for f in fields(Limits) if f.name != "exempt"},
            "exempt": [(child, sorted(parents)) for child, parents in found.limits.exempt],
        },
        "trace": found.trace,
        "weights": weights
        and {"names": weights.names, "matrix": weights.matrix, "given": weights.given},
        "structures": listed
        and {
            **{f.name: getattr(listed, f.name) for f in fields(Structures) if f.name != "items"},
            "names": listed.items[0].names if listed.items else (),
            "items": [(item.score, item.parents) for item in listed.items],
        },
    }


def result_from(
    state: dict[str, Any], again: Callable[[], SearchResult] | None = None
) -> SearchResult:
    """Make the result of its state; `again` finds it once more, for those who check a proof."""
    plain = {name: value for name, value in state.items() if name not in _OWN}
    weights, listed = state["weights"], state["structures"]
    return SearchResult(
        **plain,
        dag=Dag(state["dag"]["nodes"], map(tuple, state["dag"]["arcs"])),
        settings={name: _tuples(value) for name, value in state["settings"].items()},
        notes=tuple(state["notes"]),
        limits=_limits(state["limits"]),
        trace=tuple(Step(*step) for step in state["trace"]),
        weights=weights
        and ArcWeights(tuple(weights["names"]), weights["matrix"], tuple(weights["given"])),
        structures=listed and _structures(listed),
        certificates=() if again is None else (ProofOfAnswer(state["score"], again),),
    )


def _limits(state: dict[str, Any]) -> Limits:
    exempt = tuple((child, frozenset(parents)) for child, parents in state["exempt"])
    return Limits(**{**state, "exempt": exempt})


def _structures(state: dict[str, Any]) -> Structures:
    names = tuple(state["names"])
    items = tuple(Structure(score, names, _tuples(parents)) for score, parents in state["items"])
    rest = {name: value for name, value in state.items() if name not in ("items", "names")}
    return Structures(**{**rest, "notes": tuple(rest["notes"])}, items=items)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
