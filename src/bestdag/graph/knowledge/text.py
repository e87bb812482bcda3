"""Knowledge as short lines of text; the grammar stands in `Knowledge.parse`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bestdag.errors import FormatError, unknown_name
from bestdag.graph.knowledge.kinds import KINDS, Pair, Statement
from bestdag.graph.knowledge.words import Line
from bestdag.wording import shown_value

__all__ = ["parse_lines"]


def parse_lines(lines: Iterable[str]) -> dict[str, Any]:
    """Return the keyword arguments of Knowledge that the lines say."""
    pairs = [kind for kind in KINDS if issubclass(kind, Pair)]
    signs = {kind.sign: (kind.field, 1) for kind in pairs}
    signs |= {kind.turned_sign: (kind.field, -1) for kind in pairs if kind.turned_sign}
    found: dict[str, Any] = {}
    for text in [lines] if isinstance(lines, str) else lines:
        if not isinstance(text, str):
            raise FormatError(f"Knowledge: a statement must be text, got {shown_value(text)}")
        line = Line(text, signs)
        if line.tail is not None:
            _read_keyword(line, found)
            continue
        for one, sign, other in _relations(line):
            field, direction = signs[sign]
            found.setdefault(field, []).append((one, other)[::direction])
    return found


def _relations(line: Line) -> Iterable[tuple[str, str, str]]:
    """Return the relations of A -> B, or of a chain of such."""
    n = len(line.words)
    wanted = ["sign" if i % 2 else "name" for i in range(n)]
    if n < 3 or n % 2 == 0 or [kind for kind, _, _ in line.words] != wanted:
        raise line.error(_needed())
    texts = [text for _, text, _ in line.words]
    return zip(texts[:-2:2], texts[1::2], texts[2::2], strict=True)


def _read_keyword(line: Line, found: dict[str, Any]) -> None:
    """Read a keyword, a colon and what follows; lines about one thing add up."""
    kind = _kind_of(line)
    value = kind.read(line)
    if kind.field in found:
        if kind.is_single:
            raise line.error(f"{kind.field} is said twice")
        value = kind.join(found[kind.field], value)
    found[kind.field] = value


def _kind_of(line: Line) -> type[Statement]:
    what, keyword, is_bare = line.words[0]
    if what != "name" or not is_bare:
        raise line.error(_needed() + "; a name with a colon needs quotes")
    kinds = [kind for kind in KINDS if kind.keyword == keyword]
    if not kinds:
        known = dict.fromkeys(kind.keyword for kind in KINDS if kind.keyword)
        who = f"Knowledge: cannot read {shown_value(line.text)}"
        raise unknown_name("keyword", keyword, known, who=who)
    for kind in kinds:
        if kind.has_head == bool(line.head):
            return kind
    raise line.error(f"{keyword} is followed by a colon")


def _needed() -> str:
    *forms, last = (kind.form for kind in KINDS)
    return f"a statement is like {', '.join(forms)} or {last}"
