"""SVG of a layout: boxes with names as text, arcs as curves, a key, no scripts, nothing fetched.

Colours are middle tones that stand on light and dark ground; they are attributes, so that a page
around the picture can change them in its style sheet by the classes `node`, `arc`, `key` and the
kinds of lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bestdag.drawing.layout import Layout, Point
from bestdag.drawing.text import FONT_SIZE, escaped, shortened, text_width

__all__ = ["Kind", "Line", "key_of", "svg_of"]

Kind = Literal["compelled", "reversible", "edge", "both", "removed", "added", "turned", "within"]

_FONT = "Helvetica, Arial, 'DejaVu Sans', sans-serif"
_ARC_COLOUR, _TURNED = "#4d6b8a", "#b0762f"
_DASHES, _DOTS = ' stroke-dasharray="6 4"', ' stroke-dasharray="2 4"'
# Of each kind of line: colour, dashes, and what the key says. The last five are those of two
# structures in one picture.
_KINDS: dict[Kind, tuple[str, str, str]] = {
    "compelled": (_ARC_COLOUR, "", "direction determined"),
    "reversible": (_TURNED, _DASHES, "direction not determined by the data"),
    "edge": (_ARC_COLOUR, "", "no direction"),
    "both": ("#6b7785", "", "in both"),
    "removed": ("#c0392b", _DASHES, "missing"),
    "added": ("#2f6fde", "", "added"),
    "turned": (_TURNED, "", "other direction"),
    "within": (_TURNED, _DOTS, "other direction, same class"),
}
_KEY_LINE, _KEY_SAMPLE, _KEY_SIZE = 20.0, 34.0, 11.5


@dataclass(frozen=True, slots=True)
class Line:
    """What joins two nodes.

    Attributes
    ----------
    start, end : str
    kind : "compelled", "reversible" or "edge"
        An arc that points the same way in all equivalent structures, one that does not, a link
        without direction; of two structures "both", "removed", "added", "turned" or "within".
    width : float
    note : str
        Said by the tooltip, after the names.
    is_directed : bool
        Whether it has a head.
    """

    start: str
    end: str
    kind: Kind = "compelled"
    width: float = 1.5
    note: str = ""
    is_directed: bool = True


def svg_of(
    layout: Layout,
    lines: Sequence[Line],
    *,
    title: str,
    remark: str = "",
    has_key: bool = True,
) -> str:
    """Write a picture; the same content gives the same text.

    Parameters
    ----------
    layout : Layout
    lines : sequence of Line
        Each along a route of the layout.
    title : str
        What the picture shows, for those who do not see it.
    remark : str, optional
        A line of the key, about widths say.
    has_key : bool, default True
        Whether it says below what the lines mean.
    """
    number = {name: k for k, name in enumerate(layout.boxes)}
    key = _key(lines, remark, top=layout.height) if has_key else []
    width = max([layout.width, *(right for _, right in key)])
    layout = layout.widened(width)
    height = layout.height + _KEY_LINE * len(key) + (8.0 if key else 0.0)
    size = f'width="{_n(width)}" height="{_n(height)}" viewBox="0 0 {_n(width)} {_n(height)}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="bestdag" {size} role="img" '
            f'font-family="{_FONT}" font-size="{_n(FONT_SIZE)}">',
            f"<title>{escaped(title)}</title>",
            '<g class="arcs">',
            *(_arc(line, layout, number) for line in sorted(lines, key=_by_names)),
            '</g><g class="nodes">',
            *(_node(name, layout, number) for name in layout.boxes),
            "</g>",
            *(['<g class="key">', *(text for text, _ in key), "</g>"] if key else []),
            "</svg>\n",
        ]
    )


def key_of(lines: Sequence[Line], remark: str = "") -> list[tuple[str, str]]:
    """Return what lines mean, each with a sample of it as SVG; empty where all are alike."""
    middle = _KEY_LINE / 2
    route = ((0.0, middle), (_KEY_SAMPLE, middle))
    size = f'width="{_n(_KEY_SAMPLE)}" height="{_n(_KEY_LINE)}"'
    return [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="key" {size} aria-hidden="true">'
            f'<g class="{kind}">{_drawn(route, kind, 1.5, has_head, flat=True)}</g></svg>'
            if kind
            else "",
            text,
        )
        for kind, has_head, text in _entries(lines, remark)
    ]


def _by_names(line: Line) -> tuple[str, str]:
    return line.start, line.end


def _n(value: float) -> str:
    """Write a length: a tenth of a point is enough."""
    text = f"{value:.1f}"
    return "0" if text == "-0.0" else text.removesuffix(".0")


def _node(name: str, layout: Layout, number: dict[str, int]) -> str:
    box = layout.boxes[name]
    shown = shortened(name)
    tip = "" if shown == name else f"<title>{escaped(name)}</title>"
    return (
        f'<g class="node" data-node="{number[name]}">{tip}'
        f'<rect x="{_n(box.x - box.width / 2)}" y="{_n(box.y - box.height / 2)}" '
        f'width="{_n(box.width)}" height="{_n(box.height)}" rx="7" fill="#f6f9fc" '
        f'stroke="{_ARC_COLOUR}" stroke-width="1.2"/>'
        f'<text x="{_n(box.x)}" y="{_n(box.y + 0.35 * FONT_SIZE)}" text-anchor="middle" '
        f'fill="#16202b">{escaped(shown)}</text></g>'
    )


def _arc(line: Line, layout: Layout, number: dict[str, int]) -> str:
    route = layout.routes[line.start, line.end]
    sign = "\N{RIGHTWARDS ARROW}" if line.is_directed else "\N{EM DASH}"
    tip = f"{line.start} {sign} {line.end}" + (f": {line.note}" if line.note else "")
    return (
        f'<g class="arc {line.kind}" data-start="{number[line.start]}" '
        f'data-end="{number[line.end]}"><title>{escaped(tip)}</title>'
        f"{_drawn(route, line.kind, line.width, line.is_directed)}</g>"
    )


def _drawn(
    route: tuple[Point, ...], kind: Kind, width: float, has_head: bool, *, flat: bool = False
) -> str:
    """Draw a line and its head; `flat` for a sample that runs from left to right."""
    colour, dashes, _ = _KINDS[kind]
    (x, y), (from_x, from_y) = route[-1], route[-2]
    length = 6.0 + 1.6 * width if has_head else 0.0
    half = 3.0 + 0.8 * width
    if flat:
        stop, path = (x - length, y), f"M{_n(from_x)} {_n(from_y)}H{_n(x - length)}"
        corners = f"M{_n(x)} {_n(y)}L{_n(stop[0])} {_n(y - half)}V{_n(y + half)}Z"
    else:
        back = -length if y > from_y else length
        path = _path((*route[:-1], (x, y + back)))
        corners = f"M{_n(x)} {_n(y)}L{_n(x - half)} {_n(y + back)}H{_n(x + half)}Z"
    head = f'<path class="head" d="{corners}" fill="{colour}"/>' if has_head else ""
    return (
        f'<path class="line" d="{path}" fill="none" stroke="{colour}" '
        f'stroke-width="{_n(width)}"{dashes}/>{head}'
    )


def _path(route: tuple[Point, ...]) -> str:
    """Curves that begin and end upright, and straight pieces between them, in turn."""
    x, y = route[0]
    parts = [f"M{_n(x)} {_n(y)}"]
    for k, (to_x, to_y) in enumerate(route[1:]):
        if k % 2 == 0:
            middle = _n((y + to_y) / 2)
            parts.append(f"C{_n(x)} {middle} {_n(to_x)} {middle} {_n(to_x)} {_n(to_y)}")
        else:
            parts.append(f"V{_n(to_y)}")
        x, y = to_x, to_y
    return "".join(parts)


def _entries(lines: Sequence[Line], remark: str) -> list[tuple[Kind | None, bool, str]]:
    """Return the kinds there are, whether they have heads, and what they mean."""
    heads = {kind: [line.is_directed for line in lines if line.kind == kind] for kind in _KINDS}
    entries: list[tuple[Kind | None, bool, str]] = [
        (kind, any(heads[kind]), meaning) for kind, (*_, meaning) in _KINDS.items() if heads[kind]
    ]
    if [kind for kind, *_ in entries] == ["edge"]:
        entries = []
    return entries + ([(None, False, remark)] if remark else [])


def _key(lines: Sequence[Line], remark: str, *, top: float) -> list[tuple[str, float]]:
    """Write the lines of the key, each with where it ends; none where all lines are alike."""
    written = []
    for k, (kind, has_head, text) in enumerate(_entries(lines, remark)):
        y, left = top + _KEY_LINE * (k + 0.5), 12.0
        sample = ""
        if kind:
            route = ((left, y), (left + _KEY_SAMPLE, y))
            sample = f'<g class="{kind}">{_drawn(route, kind, 1.5, has_head, flat=True)}</g>'
            left += _KEY_SAMPLE + 8.0
        written.append(
            (
                f'{sample}<text x="{_n(left)}" y="{_n(y + 0.35 * _KEY_SIZE)}" '
                f'font-size="{_n(_KEY_SIZE)}" fill="#6b7785">{escaped(text)}</text>',
                left + text_width(text, _KEY_SIZE) + 12.0,
            )
        )
    return written
