"""Sections, paragraphs and tables in HTML, all text escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bestdag.drawing.text import escaped

__all__ = ["paragraph", "section", "table"]


def section(anchor: str, title: str, *parts: str) -> str:
    """Write a section of the page; its parts are HTML already."""
    return f'<section id="{anchor}"><h2>{escaped(title)}</h2>{"".join(parts)}</section>'


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
