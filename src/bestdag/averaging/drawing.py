"""Probabilities of arcs as a graph with wide and narrow arcs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bestdag.evaluation.drawing import layered_places, write_names
from bestdag.graph.dag import Dag
from bestdag.plots.axes import axes_for

if TYPE_CHECKING:
    from bestdag.averaging.arc_probabilities import ArcProbabilities

__all__ = ["plot_graph"]

_WIDEST = 4.0  # points, of an arc that is certain


def plot_graph(found: ArcProbabilities, ax: Any, threshold: float) -> Any:
    """Draw the edges above the threshold, as wide as they are probable.

    An edge whose directions are about equally probable has a head at both ends.
    """
    ax = axes_for(ax, "plot")
    dag = found.averaged(threshold)
    assert isinstance(dag, Dag)
    places = layered_places(dag, dag.arcs)
    for parent, child in dag.arcs:
        probability = found.edge(parent, child)
        share = found[parent, child] / (found[parent, child] + found[child, parent])
        style = "->" if share > 0.75 else "<-" if share < 0.25 else "<->"
        is_level = places[parent][1] == places[child][1]
        ax.annotate(
            "",
            xy=places[child],
            xytext=places[parent],
            arrowprops={
                "arrowstyle": style,
                "linewidth": _WIDEST * probability,
                "alpha": 0.3 + 0.7 * probability,
                "shrinkA": 12,
                "shrinkB": 12,
                "connectionstyle": "arc3,rad=0.3" if is_level else "arc3",
            },
        )
    write_names(ax, places)
    ax.set_title(f"{found.method}: edges above {threshold:g}")
    return ax
