"""Pictures of graphs: what the lines mean."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import sqrt
from typing import TYPE_CHECKING, Protocol

from bestdag.drawing.picture import Picture, draw
from bestdag.drawing.svg import Line

if TYPE_CHECKING:
    from bestdag.graph.dag import Dag
    from bestdag.graph.pdag import Pdag

__all__ = ["notebook_svg", "plot_dag", "plot_pdag"]

_PLAIN_WIDTH, _LEAST_WIDTH, _MOST_WIDTH = 1.5, 0.8, 6.0
# A notebook shows larger graphs as text.
_MOST_SHOWN = 300


def plot_dag(
    dag: Dag,
    losses: Mapping[tuple[str, str], float] | None = None,
    *,
    probabilities: Mapping[tuple[str, str], float] | None = None,
    compelled: Collection[tuple[str, str]] | None = None,
    key: bool = True,
) -> Picture:
    """Draw a Dag; arcs that all equivalent structures share look different from the others.

    Parameters
    ----------
    dag : Dag
    losses : mapping of (parent, child) to float, optional
        The score lost without each arc, in nats: the area of a line's end grows with it.
    probabilities : mapping of (parent, child) to float, optional
        How probable each arc is, in either direction: instead of the losses.
    compelled : collection of (parent, child), optional
        Arcs that cannot be turned; those of the CPDAG unless given.
    key : bool, default True
        Whether it says below what the lines mean.
    """
    if compelled is None:
        compelled = set(dag.cpdag().arcs)
    most = max([0.0, *(losses or {}).values()])
    lines = [
        Line(
            parent,
            child,
            "compelled" if (parent, child) in compelled else "reversible",
            *_strength(parent, child, losses, probabilities, most),
        )
        for parent, child in dag.arcs
    ]
    remark = _remark(losses) if probabilities is None else "wider: more probable"
    return draw(dag.nodes, lines, remark=remark if lines else "", key=key)


def _strength(
    parent: str,
    child: str,
    losses: Mapping[tuple[str, str], float] | None,
    probabilities: Mapping[tuple[str, str], float] | None,
    most: float,
) -> tuple[float, str]:
    """Return how wide an arc is, and what its tooltip says."""
    notes, share = [], None
    if losses is not None:
        loss = losses[parent, child]
        share = sqrt(max(0.0, loss) / most) if most > 0 else 0.0
        notes.append(f"log score drops by {loss:.6g} without it")
    if probabilities is not None:
        share = probabilities[parent, child]
        notes.append(f"probability {share:.3g}")
    width = _PLAIN_WIDTH if share is None else _LEAST_WIDTH + (_MOST_WIDTH - _LEAST_WIDTH) * share
    return width, "; ".join(notes)


def _remark(losses: Mapping[tuple[str, str], float] | None) -> str:
    if not losses:
        return ""
    least, most = min(losses.values()), max(losses.values())
    return f"wider: stronger (log score drops by {least:.4g} to {most:.4g} without the arc)"


def plot_pdag(graph: Pdag) -> Picture:
    """Draw a Pdag: edges are lines without a head."""
    lines = [Line(parent, child) for parent, child in graph.arcs]
    lines += [Line(one, other, "edge", is_directed=False) for one, other in graph.edges]
    return draw(graph.nodes, lines)


class _Drawable(Protocol):
    def plot(self) -> Picture: ...


def notebook_svg(drawable: _Drawable, n_nodes: int) -> str | None:
    """Return the picture for a notebook; None where text serves better."""
    return None if n_nodes > _MOST_SHOWN else drawable.plot().svg
