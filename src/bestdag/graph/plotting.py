"""Pictures of graphs: what the lines mean."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import TYPE_CHECKING, Protocol

from bestdag.drawing.picture import Picture, draw
from bestdag.drawing.svg import Line
from bestdag.errors import MissingPackageError

if TYPE_CHECKING:
    from bestdag.graph.dag import Dag
    from bestdag.graph.pdag import Pdag

__all__ = ["notebook_svg", "plot_dag", "plot_pdag"]

_PLAIN_WIDTH, _LEAST_WIDTH, _MOST_WIDTH = 1.5, 0.8, 6.0
# A notebook shows larger graphs as text.
_MOST_SHOWN = 300


def plot_dag(dag: Dag, losses: Mapping[tuple[str, str], float] | None = None) -> Picture:
    """Draw a Dag: arcs that all equivalent structures share, and others, are told apart.

    Parameters
    ----------
    dag : Dag
    losses : mapping of (parent, child) to float, optional
        The score lost without each arc, in nats: the area of a line's end grows with it.
    """
    compelled = set(dag.cpdag().arcs)
    most = max([0.0, *(losses or {}).values()])
    lines = [
        Line(
            parent,
            child,
            "compelled" if (parent, child) in compelled else "reversible",
            *(() if losses is None else _strength(losses[parent, child], most)),
        )
        for parent, child in dag.arcs
    ]
    return draw(dag.nodes, lines, remark=_remark(losses))


def _strength(loss: float, most: float) -> tuple[float, str]:
    """Return how wide an arc is, and what its tooltip says."""
    share = sqrt(max(0.0, loss) / most) if most > 0 else 0.0
    width = _LEAST_WIDTH + (_MOST_WIDTH - _LEAST_WIDTH) * share
    return width, f"the score is {loss:.6g} nats lower without it"


def _remark(losses: Mapping[tuple[str, str], float] | None) -> str:
    if not losses:
        return ""
    least, most = min(losses.values()), max(losses.values())
    return f"the wider, the more score is lost without the arc: {least:.4g} to {most:.4g} nats"


def plot_pdag(graph: Pdag) -> Picture:
    """Draw a Pdag: edges are lines without a head."""
    lines = [Line(parent, child) for parent, child in graph.arcs]
    lines += [Line(one, other, "edge") for one, other in graph.edges]
    return draw(graph.nodes, lines)


class _Drawable(Protocol):
    def plot(self) -> Picture: ...


def notebook_svg(drawable: _Drawable, n_nodes: int) -> str | None:
    """Return the picture for a notebook; None where text serves better or nothing can draw."""
    if n_nodes > _MOST_SHOWN:
        return None
    try:
        return drawable.plot().svg
    except MissingPackageError:
        return None
