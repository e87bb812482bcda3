"""One drawing of two structures: as a picture, or for Graphviz."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bestdag.drawing.picture import Picture, draw
from bestdag.drawing.svg import Kind, Line
from bestdag.graph.pdag import Pdag

if TYPE_CHECKING:
    from bestdag.evaluation.structures import StructureComparison

__all__ = ["comparison_dot", "comparison_picture"]

# Kind of line: colour and style in DOT.
_STYLES = {
    "both": ("black", "solid"),
    "removed": ("red", "dashed"),
    "added": ("blue", "solid"),
    "turned": ("orange", "solid"),
    "within": ("orange", "dotted"),
}


def _lines(compared: StructureComparison) -> Iterator[Line]:
    kinds: dict[frozenset[str], Kind] = {}
    differences: tuple[tuple[Kind, tuple[tuple[str, str], ...]], ...] = (
        ("added", compared.added),
        ("removed", compared.removed),
        ("turned", (*compared.reversed, *compared.directed, *compared.undirected)),
        ("within", compared.within_class),
    )
    for kind, pairs in differences:
        kinds.update({frozenset(pair): kind for pair in pairs})
    for graph in (compared.learned, compared.true):
        edges = graph.edges if isinstance(graph, Pdag) else ()
        for pairs, is_directed in ((graph.arcs, True), (edges, False)):
            for start, end in pairs:
                kind = kinds.get(frozenset((start, end)), "both")
                if (kind == "removed") == (graph is compared.true) or compared.learned is graph:
                    yield Line(start, end, kind, is_directed=is_directed)


def comparison_picture(compared: StructureComparison) -> Picture:
    """Draw both structures in one picture."""
    shd = compared.shd_cpdag if compared.shd_dag is None else compared.shd_dag
    return draw(compared.true.nodes, list(_lines(compared)), remark=f"SHD {shd}")


def comparison_dot(compared: StructureComparison) -> str:
    """Return both structures in Graphviz's DOT language."""

    def quoted(name: str) -> str:
        text = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{text}"'

    lines = ["digraph {", *(f"  {quoted(node)};" for node in compared.true.nodes)]
    for line in _lines(compared):
        colour, style = _STYLES[line.kind]
        direction = "" if line.is_directed else ", dir=none"
        lines.append(
            f"  {quoted(line.start)} -> {quoted(line.end)} "
            f"[color={colour}, style={style}{direction}];"
        )
    return "\n".join([*lines, "}", ""])
