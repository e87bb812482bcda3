"""One drawing of two structures: by Graphviz, or in layers by matplotlib."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from bestdag.errors import import_optional
from bestdag.graph.dag import Dag
from bestdag.graph.pdag import Pdag

if TYPE_CHECKING:
    from bestdag.evaluation.structures import StructureComparison

__all__ = ["comparison_dot", "layered_places", "plot_comparison", "write_names"]

# Rounds of sorting each layer by the places of the neighbours.
_N_ROUNDS = 8


class _Line(NamedTuple):
    """What is drawn between two nodes."""

    start: str
    end: str
    is_directed: bool
    kind: str


# Kind of line: colour, style in DOT, style in matplotlib, what the legend says.
_STYLES = {
    "both": ("black", "solid", "-", "in both"),
    "removed": ("red", "dashed", "--", "missing"),
    "added": ("blue", "solid", "-", "added"),
    "turned": ("orange", "solid", "-", "other direction"),
    "within": ("orange", "dotted", ":", "other direction, same class"),
}


def _lines(compared: StructureComparison) -> Iterator[_Line]:
    kinds: dict[frozenset[str], str] = {}
    for kind, pairs in (
        ("added", compared.added),
        ("removed", compared.removed),
        ("turned", (*compared.reversed, *compared.directed, *compared.undirected)),
        ("within", compared.within_class),
    ):
        kinds.update({frozenset(pair): kind for pair in pairs})
    for graph in (compared.learned, compared.true):
        edges = graph.edges if isinstance(graph, Pdag) else ()
        for pairs, is_directed in ((graph.arcs, True), (edges, False)):
            for start, end in pairs:
                kind = kinds.get(frozenset((start, end)), "both")
                if (kind == "removed") == (graph is compared.true) or compared.learned is graph:
                    yield _Line(start, end, is_directed, kind)


def comparison_dot(compared: StructureComparison) -> str:
    """Return both structures in Graphviz's DOT language."""

    def quoted(name: str) -> str:
        text = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{text}"'

    lines = ["digraph {", *(f"  {quoted(node)};" for node in compared.true.nodes)]
    for line in _lines(compared):
        colour, style, _, _ = _STYLES[line.kind]
        direction = "" if line.is_directed else ", dir=none"
        lines.append(
            f"  {quoted(line.start)} -> {quoted(line.end)} "
            f"[color={colour}, style={style}{direction}];"
        )
    return "\n".join([*lines, "}", ""])


def plot_comparison(compared: StructureComparison, ax: Any = None) -> Any:
    """Draw both structures in one picture."""
    if ax is None:
        ax = import_optional("matplotlib.pyplot", who="plot", extra="plot").subplots()[1]
    lines = list(_lines(compared))
    places = layered_places(compared.true, [(line.start, line.end) for line in lines])
    for line in lines:
        colour, _, style, _ = _STYLES[line.kind]
        # Nodes of one layer may lie on the straight line between two others.
        is_level = places[line.start][1] == places[line.end][1]
        ax.annotate(
            "",
            xy=places[line.end],
            xytext=places[line.start],
            arrowprops={
                "arrowstyle": "->" if line.is_directed else "-",
                "color": colour,
                "linestyle": style,
                "shrinkA": 12,
                "shrinkB": 12,
                "connectionstyle": "arc3,rad=0.3" if is_level else "arc3",
            },
        )
    write_names(ax, places)
    for kind in [kind for kind in _STYLES if any(line.kind == kind for line in lines)]:
        colour, _, style, label = _STYLES[kind]
        ax.plot([], [], color=colour, linestyle=style, label=label)
    if lines:
        ax.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize="small")
    shd = compared.shd_cpdag if compared.shd_dag is None else compared.shd_dag
    ax.set_title(f"SHD {shd}")
    return ax


def write_names(ax: Any, places: Mapping[str, tuple[float, float]]) -> None:
    """Write the names of the nodes at their places, and make room for them."""
    for name, (x, y) in places.items():
        ax.text(
            x,
            y,
            name,
            ha="center",
            va="center",
            parse_math=False,
            bbox={"boxstyle": "round", "facecolor": "white", "edgecolor": "grey"},
        )
    xs, ys = zip(*places.values(), strict=True) if places else ((0.0,), (0.0,))
    ax.set(xlim=(min(xs) - 1, max(xs) + 1), ylim=(min(ys) - 0.7, max(ys) + 0.7))
    ax.set_axis_off()


def layered_places(
    true: Dag | Pdag, pairs: Iterable[tuple[str, str]]
) -> Mapping[str, tuple[float, float]]:
    """Put parents above children, by the longest path, and those of a pair near each other.

    The layers are those of the structure, or of one of its directions.
    """
    dag = (
        true
        if isinstance(true, Dag)
        else Dag._trusted(true.nodes, {node: true.parents(node) for node in true.nodes})
    )
    layer: dict[str, int] = {}
    for node in dag.topological_order():
        layer[node] = 1 + max((layer[parent] for parent in dag.parents(node)), default=-1)
    rows: list[list[str]] = [[] for _ in range(1 + max(layer.values(), default=-1))]
    for node in sorted(layer):
        rows[layer[node]].append(node)
    near: dict[str, list[str]] = {node: [] for node in layer}
    for one, other in pairs:
        near[one].append(other)
        near[other].append(one)
    at = {node: k - (len(row) - 1) / 2 for row in rows for k, node in enumerate(row)}
    for _ in range(_N_ROUNDS):
        for row in rows:
            middle = {
                node: sum(at[other] for other in near[node]) / len(near[node])
                if near[node]
                else at[node]
                for node in row
            }
            row.sort(key=lambda node: (middle[node], node))
            at.update({node: k - (len(row) - 1) / 2 for k, node in enumerate(row)})
    return {node: (2.0 * at[node], -1.0 * layer[node]) for node in sorted(layer)}
