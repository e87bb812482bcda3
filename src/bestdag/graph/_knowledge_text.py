"""Knowledge as short lines of text; the grammar stands in `Knowledge.parse`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from bestdag.errors import FormatError, unknown_name
from bestdag.graph._statements import OPERATORS, bare_name, brief

__all__ = ["parse_lines"]

_FIELD_OF = {sign: field for field, sign in OPERATORS.items()}
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<sign>!~>|~>|->|<-|!>|--|!-|<)
      | (?P<mark>[,|:])
      | (?P<json>"(?:[^"\\]|\\.)*")
      | (?P<literal>'[^']*')
      | (?P<bare>"""
    + bare_name.pattern
    + r"))",
    re.VERBOSE,
)
_KEYS = ("tiers", "within_tiers", "total_order", "roots", "leaves", "max_parents")
_NEEDED = (
    "a statement is like A -> B, A !> B, A -- B, A !- B, A < B, A ~> B, A !~> B, "
    "roots: A, B, max_parents: 3 or tiers: A B | C"
)

# (what it is: "name", "sign" or "mark"; its text; whether it came without quotes)
_Token = tuple[str, str, bool]


def parse_lines(lines: Iterable[str]) -> dict[str, Any]:
    """Return the keyword arguments of Knowledge that the lines say."""
    found: dict[str, Any] = {}
    if isinstance(lines, str):
        lines = [lines]
    for line in lines:
        if not isinstance(line, str):
            raise FormatError(f"Knowledge: a statement must be text, got {brief(line)}")
        tokens = _tokens(line)
        if ("mark", ":", True) in tokens:
            _read_keyword(line, tokens, found)
        else:
            _read_relations(line, tokens, found)
    return found


def _tokens(line: str) -> list[_Token]:
    tokens: list[_Token] = []
    end = len(line.rstrip())
    at = 0
    while at < end:
        match = _TOKEN.match(line, at, end)
        if match is None:
            rest = line[at:end].strip()
            hint = "; a quote is not closed" if rest[0] in "\"'" else ""
            raise _error(
                line, f"the part {brief(rest)} is not clear{hint}; quote names with odd characters"
            )
        at = match.end()
        kind, text = str(match.lastgroup), match[str(match.lastgroup)]
        if kind == "json":
            try:
                text = json.loads(text, strict=False)
            except ValueError:
                raise _error(line, f"{brief(text)} has an escape that JSON does not know") from None
        elif kind == "literal":
            text = text[1:-1]
        is_name = kind not in ("sign", "mark")
        tokens.append(("name" if is_name else kind, text, kind not in ("json", "literal")))
    return tokens


def _read_relations(line: str, tokens: list[_Token], found: dict[str, Any]) -> None:
    """Read A -> B, or a chain of such."""
    kinds = [kind for kind, _, _ in tokens]
    wanted = ["sign" if i % 2 else "name" for i in range(len(tokens))]
    if len(tokens) < 3 or kinds != wanted or kinds[-1] != "name":
        raise _error(line, _NEEDED)
    for i in range(0, len(tokens) - 2, 2):
        one, sign, other = (text for _, text, _ in tokens[i : i + 3])
        if sign == "<-":
            one, sign, other = other, "->", one
        found.setdefault(_FIELD_OF[sign], []).append((one, other))


def _read_keyword(line: str, tokens: list[_Token], found: dict[str, Any]) -> None:
    """Read a keyword, a colon and what follows."""
    colon = tokens.index(("mark", ":", True))
    kind, key, is_bare = tokens[0]
    if kind != "name" or not is_bare:
        raise _error(line, _NEEDED + "; a name with a colon needs quotes")
    if key not in _KEYS:
        raise unknown_name("keyword", key, _KEYS, who=f"Knowledge: cannot read {brief(line)}")
    head, tail = tokens[1:colon], tokens[colon + 1 :]
    if key == "max_parents":
        limit = _whole_number(line, tail)
        if head:
            limits = found.setdefault("max_parents_of", {})
            for name in _names(line, head):
                limits[name] = min(limit, limits.get(name, limit))
        else:
            found[key] = min(limit, found.get(key, limit))
        return
    if head:
        raise _error(line, f"{key} is followed by a colon")
    if key in ("roots", "leaves"):
        found.setdefault(key, []).extend(_names(line, tail))
        return
    if key in found:
        raise _error(line, f"{key} is said twice")
    if key == "tiers":
        found[key] = [_names(line, tier) for tier in _split(tail)]
    elif key == "total_order":
        found[key] = _names(line, tail)
    else:
        found[key] = _yes_or_no(line, tail)


def _split(tokens: list[_Token]) -> list[list[_Token]]:
    groups: list[list[_Token]] = [[]]
    for token in tokens:
        if token == ("mark", "|", True):
            groups.append([])
        else:
            groups[-1].append(token)
    return groups


def _names(line: str, tokens: list[_Token]) -> list[str]:
    """Return names that stand side by side or with single commas between them."""
    names = []
    after_comma = True
    for kind, text, _ in tokens:
        if kind == "name":
            names.append(text)
        elif text != "," or after_comma:
            raise _error(line, f"a name is needed where {text!r} stands")
        after_comma = kind != "name"
    if after_comma:
        raise _error(line, "a name is missing")
    return names


def _whole_number(line: str, tokens: list[_Token]) -> int:
    text = tokens[0][1] if len(tokens) == 1 else ""
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise _error(line, "max_parents needs a whole number, as in max_parents: 3")
    return int(text)


def _yes_or_no(line: str, tokens: list[_Token]) -> bool:
    text = tokens[0][1].lower() if len(tokens) == 1 else ""
    if text not in ("yes", "no", "true", "false"):
        raise _error(line, "within_tiers needs yes or no")
    return text in ("yes", "true")


def _error(line: str, what: str) -> FormatError:
    return FormatError(f"Knowledge: cannot read {brief(line)}: {what}")
