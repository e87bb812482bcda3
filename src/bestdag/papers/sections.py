"""What a summary is made of: tables and figures, in Markdown and in HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import floor, log10

__all__ = ["Figure", "Section", "Table", "in_digits"]


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
        return f"<h3>{escape(self.title)}</h3>\n<figure>{self.svg}{note}</figure>"


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
