"""Probabilities of arcs as pictures: a heat map, and a graph with wide and narrow arcs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bestdag.errors import import_optional
from bestdag.evaluation.drawing import layered_places, write_names
from bestdag.graph.dag import Dag

if TYPE_CHECKING:
    from bestdag.averaging.arc_probabilities import ArcProbabilities

__all__ = ["plot_graph", "plot_heat_map"]

_MOST_NAMES = 60  # more cannot be read
_WIDEST = 4.0  # points, of an arc that is certain


def plot_heat_map(found: ArcProbabilities, ax: Any = None) -> Any:
    """Draw the matrix: parents from above to below, children from left to right."""
    if ax is None:
        ax = import_optional("matplotlib.pyplot", who="plot", extra="plot").subplots()[1]
    image = ax.imshow(found.matrix, vmin=0.0, vmax=1.0, cmap="viridis")
    ax.figure.colorbar(image, ax=ax, label="probability of the arc")
    if len(found.names) <= _MOST_NAMES:
        places = range(len(found.names))
        ax.set_xticks(places, found.names, rotation=90, parse_math=False)
        ax.set_yticks(places, found.names, parse_math=False)
    ax.set(xlabel="child", ylabel="parent", title=found.method)
    return ax


def plot_graph(found: ArcProbabilities, ax: Any, threshold: float) -> Any:
    """Draw the edges above the threshold, as wide as they are probable.

    An edge whose directions are about equally probable has a head at both ends.
    """
    if ax is None:
        ax = import_optional("matplotlib.pyplot", who="plot", extra="plot").subplots()[1]
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
