"""A picture of a graph: shown by notebooks, saved as SVG or PNG."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from typing import Any

from bestdag.drawing.layout import lay_out
from bestdag.drawing.svg import Line, key_of, svg_of
from bestdag.errors import bad_setting, import_optional, require_known, require_positive
from bestdag.files import format_suffix, shown_path, write_file
from bestdag.wording import count_of

__all__ = ["PICTURE_FORMATS", "Picture", "draw"]

PICTURE_FORMATS = (".svg", ".png")
# More take gigabytes.
_MOST_PIXELS = 100_000_000


class Picture:
    """A drawn graph; notebooks show it.

    Attributes
    ----------
    svg : str
        The picture as SVG: one element, names as text, nothing fetched from elsewhere. The same
        graph gives the same text.
    title : str
        What it shows.
    key : tuple of (str, str)
        What its lines mean, each with a sample as SVG, for a page that has its own key.

    Examples
    --------
    >>> from bestdag import Dag
    >>> picture = Dag(["rain", "wet"], [("rain", "wet")]).plot()
    >>> picture
    <Picture: 2 nodes, 1 arc>
    >>> picture.svg.startswith("<svg"), ">rain</text>" in picture.svg
    (True, True)
    """

    __slots__ = ("key", "svg", "title")

    def __init__(self, svg: str, title: str, key: tuple[tuple[str, str], ...] = ()) -> None:
        self.svg = svg
        self.title = title
        self.key = key

    def png(self, *, scale: float = 2.0) -> bytes:
        """Return the picture as PNG on white ground; needs the extra ``draw``.

        Parameters
        ----------
        scale : float, default 2
            Pixels for each unit of the SVG.

        Raises
        ------
        MissingPackageError
            Without the package that draws SVG.
        """
        require_positive("png", "scale", scale)
        sides = [
            float(side) * scale for side in re.findall(r'(?:width|height)="([\d.]+)"', self.svg)[:2]
        ]
        if min(sides) < 1 or sides[0] * sides[1] > _MOST_PIXELS:
            needed = f"such that the picture has 1 to {_MOST_PIXELS:,} pixels"
            raise bad_setting("png", "scale", needed, scale)
        library: Any = import_optional("resvg_py", who="png", extra="draw")
        made = library.svg_to_bytes(svg_string=self.svg, background="#ffffff", zoom=scale)
        return bytes(made)

    def save(self, path: str | os.PathLike[str], *, scale: float = 2.0) -> None:
        """Write the picture, complete or not at all.

        Parameters
        ----------
        path : path
            The suffix says how: ``.svg`` (also ``.svg.gz``) or ``.png``.
        scale : float, default 2
            Of PNG, as in `png`.

        Raises
        ------
        UnknownNameError
            If the name has another suffix.
        WriteError
            If the file cannot be written.
        """
        suffix = format_suffix(path)
        require_known("picture format", suffix, PICTURE_FORMATS, who=f"save: {shown_path(path)}")
        require_positive("save", "scale", scale)
        write_file(path, self.svg.encode() if suffix == ".svg" else self.png(scale=scale))

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Picture: {self.title}>"


def draw(
    nodes: Collection[str], lines: Sequence[Line], *, remark: str = "", key: bool = True
) -> Picture:
    """Draw a graph in layers, starts of arcs above their ends.

    Parameters
    ----------
    nodes : collection of str
    lines : sequence of Line
        At most one between two nodes.
    remark : str, optional
        A line of the key.
    key : bool, default True
        Whether the picture shows it.
    """
    arcs = [(line.start, line.end) for line in lines if line.is_directed]
    edges = [(line.start, line.end) for line in lines if not line.is_directed]
    counts = [count_of(len(nodes), "node"), count_of(len(arcs), "arc")]
    title = ", ".join([*counts, *([count_of(len(edges), "edge")] if edges else [])])
    layout = lay_out(nodes, arcs, edges)
    svg = svg_of(layout, lines, title=title, remark=remark, has_key=key)
    return Picture(svg, title, tuple(key_of(lines, remark)))
