"""Sections, paragraphs and tables in HTML, all text escaped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from bestdag.drawing.picture import Picture
from bestdag.drawing.text import escaped

__all__ = ["details", "drawn", "legend", "paragraph", "section", "table"]

_EMPTY = '<svg class="bestdag" viewBox="0 0 1 1" style="display:none"></svg>'


def section(anchor: str, title: str, *parts: str) -> str:
    """Write a section of the page, folded; its parts are HTML already."""
    return f'<section id="{anchor}">{details(f"<h2>{escaped(title)}</h2>", *parts)}</section>'


def details(summary: str, *parts: str) -> str:
    """Write what opens when its summary is clicked; all is HTML already."""
    return f"<details><summary>{summary}</summary>{''.join(parts)}</details>"


def drawn(draw: Callable[[], Picture]) -> tuple[str, str]:
    """Return a picture and its legend as HTML; where it cannot be drawn, the page says so.

    A page with all its numbers is worth more than none, whatever is wrong with the picture.
    """
    try:
        picture = draw()
    except Exception as error:
        says = f"The graph could not be drawn ({type(error).__name__}: {error})."
        return f"{_EMPTY}{paragraph(f'{says:.300} The rest of this page is complete.')}", ""
    return picture.svg, legend(picture.key)


def legend(key: Iterable[tuple[str, str]]) -> str:
    """Write what lines mean, of one size whatever the size of the graph."""
    items = "".join(f"<li>{sample}{escaped(text)}</li>" for sample, text in key)
    return f'<ul class="legend">{items}</ul>' if items else ""


def paragraph(text: str) -> str:
    """Write a paragraph of plain text."""
    return f"<p>{escaped(text)}</p>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> str:
    """Write a table, its first `left` columns as text and the others as numbers."""

    def cells(row: Sequence[str], tag: str) -> str:
        kinds = [' class="n"' if k >= left else "" for k in range(len(row))]
        return "".join(
            f"<{tag}{kind}>{escaped(cell)}</{tag}>" for kind, cell in zip(kinds, row, strict=True)
        )

    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    return (
        f'<div class="wide"><table><thead><tr>{cells(head, "th")}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
