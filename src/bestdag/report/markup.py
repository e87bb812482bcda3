"""Sections, paragraphs and tables in HTML, all text escaped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from bestdag.drawing.picture import Picture
from bestdag.drawing.text import all_escaped, escaped

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
    pairs = list(key)
    texts = all_escaped([text for _, text in pairs])
    items = "".join([f"<li>{pair[0]}{text}</li>" for pair, text in zip(pairs, texts, strict=True)])
    return f'<ul class="legend">{items}</ul>' if items else ""


def paragraph(text: str) -> str:
    """Write a paragraph of plain text."""
    return f"<p>{escaped(text)}</p>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> str:
    """Write a table, its first `left` columns as text and the others as numbers."""
    lines = [head, *rows]
    texts = iter(all_escaped([cell for line in lines for cell in line]))
    kinds = [""] * left + [' class="n"'] * max(0, len(head) - left)
    html: list[str] = []
    for line in lines:
        tag = "td" if html else "th"
        cells = zip(kinds, islice(texts, len(line)), strict=True)
        html.append("".join([f"<{tag}{kind}>{text}</{tag}>" for kind, text in cells]))
    body = "".join([f"<tr>{cells}</tr>" for cells in html[1:]])
    return (
        f'<div class="wide"><table><thead><tr>{html[0]}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
