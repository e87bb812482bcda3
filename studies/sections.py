"""What a summary is made of: tables, and figures by matplotlib, in Markdown and in HTML."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from io import StringIO
from math import floor, log10
from typing import Any

__all__ = ["Figure", "Line", "Section", "Table", "in_digits", "line_chart", "scatter_chart"]

# Okabe and Ito's colours, which most colour-blind people can tell apart.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")
# Text stays text, and the same figure gives the same file.
_SETTINGS: Any = {"svg.fonttype": "none", "svg.hashsalt": "bestdag", "font.size": 9}


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts under a heading, and a remark on it."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    def markdown(self) -> str:
        """Write it as Markdown."""
        lines = [f"### {self.title}", ""]
        if self.note:
            lines += [self.note, ""]
        lines += [_line(self.header), "|" + "---|" * len(self.header)]
        return "\n".join([*lines, *map(_line, self.rows), ""])

    def html(self) -> str:
        """Write it as HTML."""
        head = "".join(f"<th>{escape(cell)}</th>" for cell in self.header)
        body = "\n".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self.rows
        )
        note = f"<p>{escape(self.note)}</p>" if self.note else ""
        return (
            f"<h3>{escape(self.title)}</h3>\n{note}<table>\n"
            f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table>"
        )


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture in SVG, which is written beside the summary as NAME.svg."""

    name: str
    title: str
    svg: str
    note: str = ""

    def markdown(self) -> str:
        """Write a reference to its file as Markdown."""
        note = f"{self.note}\n\n" if self.note else ""
        return f"### {self.title}\n\n{note}![{self.title}]({self.name}.svg)\n"

    def html(self) -> str:
        """Write it into HTML."""
        note = f"<figcaption>{escape(self.note)}</figcaption>" if self.note else ""
        picture = f"data:image/svg+xml;base64,{b64encode(self.svg.encode()).decode()}"
        shown = f'<img src="{picture}" alt="{escape(self.title)}">'
        return f"<h3>{escape(self.title)}</h3>\n<figure>{shown}{note}</figure>"


Section = Table | Figure


def in_digits(value: float, digits: int) -> str:
    """Write a number with so many significant digits, never with an exponent."""
    if value == 0:
        return "0"
    rounded = float(f"{value:.{digits}g}")
    decimals = max(0, digits - 1 - floor(log10(abs(rounded))))
    text = f"{rounded:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if decimals else text


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


@dataclass(frozen=True, slots=True)
class Line:
    """One line: a name, points, and where given the ends of a bar at each of them."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


def line_chart(
    lines: Sequence[Line],
    *,
    x: str,
    y: str,
    log_x: bool = False,
    log_y: bool = False,
    names: Sequence[str] | None = None,
) -> str:
    """Draw lines over one pair of axes; with names, the places 0, 1, ... of x are called so."""
    from matplotlib.transforms import ScaledTranslation

    axes = _axes(x, y)
    inches = axes.figure.dpi_scale_trans
    for number, line in enumerate(lines):
        colour = _COLOURS[number % len(_COLOURS)]
        style = {"label": line.name, "color": colour, "marker": "o", "markersize": 3}
        axes.plot(line.x, line.y, **style)
        if line.low is not None and line.high is not None:
            # Bars at one place stand beside each other, two points apart.
            aside = ScaledTranslation((number - len(lines) / 2) / 36, 0, inches)
            bars = {"color": colour, "alpha": 0.6, "transform": axes.transData + aside}
            axes.vlines(line.x, line.low, line.high, **bars)
    if log_x:
        axes.set_xscale("log")
    if log_y:
        axes.set_yscale("log")
    if names is not None:
        axes.set_xticks(range(len(names)), names, rotation=20, ha="right", parse_math=False)
    legend = axes.figure.legend(loc="outside right upper", frameon=False)
    for text in legend.get_texts():
        text.set_parse_math(False)
    return _svg(axes)


def scatter_chart(
    points: Sequence[tuple[str, float, float, float, float]], *, x: str, y: str
) -> str:
    """Draw named points (x, y and the half lengths of their bars) and the diagonal."""
    axes = _axes(x, y)
    names, at_x, at_y, half_x, half_y = zip(*points, strict=True)
    axes.errorbar(at_x, at_y, half_y, half_x, fmt="o", markersize=3, color=_COLOURS[0])
    axes.axline((min(at_x), min(at_x)), slope=1, color=_COLOURS[-1], linewidth=0.8)
    for name, *place in zip(names, at_x, at_y, strict=True):
        axes.annotate(name, place, (3, -8), textcoords="offset points", fontsize=5)
    return _svg(axes)


def _axes(x: str, y: str) -> Any:
    from matplotlib.figure import Figure as Canvas  # not pyplot, which keeps what is drawn

    axes = Canvas(figsize=(6.4, 4), layout="constrained").subplots()
    axes.set(xlabel=x, ylabel=y)
    axes.grid(axis="y", color="#dddddd")
    return axes


def _svg(axes: Any) -> str:
    from matplotlib import rc_context

    file = StringIO()
    with rc_context(_SETTINGS):
        axes.figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    svg = file.getvalue()
    return svg[svg.index("<svg") :]
