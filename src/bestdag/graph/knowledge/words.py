"""Knowledge as text: how names are written, and the words a line is made of."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from itertools import pairwise

from bestdag.errors import FormatError
from bestdag.wording import shown_value

__all__ = ["Line", "Word", "in_quotes"]

# (what it is: "name", "sign" or "mark"; its text; whether it came without quotes)
Word = tuple[str, str, bool]

# A name that needs no quotes: no space, none of the signs of the grammar.
_BARE = r"""(?:(?!->|--)[^\s,|:;"'<>!~])+"""
_NAME = rf"""(?P<json>"(?:[^"\\]|\\.)*")|(?P<literal>'[^']*')|(?P<bare>{_BARE})"""


def in_quotes(name: str) -> str:
    """Write a name: as it is, or as a JSON string where it must be quoted."""
    if re.fullmatch(_BARE, name) and name.isprintable() and not name.startswith("-"):
        return name
    return json.dumps(name, ensure_ascii=not name.isprintable())


@cache
def _pattern(signs: tuple[str, ...]) -> re.Pattern[str]:
    sign = "|".join(map(re.escape, sorted(signs, key=len, reverse=True)))
    return re.compile(rf"\s*(?:(?P<sign>{sign})|(?P<mark>[,|:])|{_NAME})")


class Line:
    """A line of text, split into names, signs, and the marks ``, | :``.

    `head` is what stands between a keyword and its colon, `tail` what follows; without a colon
    `tail` is None.
    """

    def __init__(self, text: str, signs: Iterable[str]) -> None:
        self.text = text
        self.words = list(self._split(signs))
        colon = self.words.index(_COLON) if _COLON in self.words else None
        self.head = self.words[1:colon]
        self.tail = None if colon is None else self.words[colon + 1 :]

    def _split(self, signs: Iterable[str]) -> Iterable[Word]:
        pattern = _pattern(tuple(signs))
        at, end = 0, len(self.text.rstrip())
        while at < end:
            match = pattern.match(self.text, at, end)
            if match is None:
                rest = self.text[at:end].strip()
                hint = "; a quote is not closed" if rest[0] in "\"'" else ""
                what = f"cannot parse {shown_value(rest)}{hint}"
                known = ", ".join(sorted(signs))
                raise self.error(
                    f"{what}; the signs are {known}, as in a -> b; quote names with odd characters"
                )
            kind, at = str(match.lastgroup), match.end()
            text = match[kind]
            if kind == "json":
                try:
                    text = json.loads(text, strict=False)
                except ValueError:
                    what = f"{shown_value(text)} has an escape that JSON does not know"
                    raise self.error(what) from None
            elif kind == "literal":
                text = text[1:-1]
            is_name = kind not in ("sign", "mark")
            yield "name" if is_name else kind, text, kind not in ("json", "literal")

    def error(self, what: str) -> FormatError:
        """Build the error that says what is wrong with the line."""
        return FormatError(f"Knowledge: cannot read {shown_value(self.text)}: {what}")

    def names(self, words: list[Word] | None = None) -> list[str]:
        """Return names side by side or with single commas between them, by default the tail."""
        names = []
        after_comma = True
        for kind, text, _ in (self.tail or []) if words is None else words:
            if kind == "name":
                names.append(text)
            elif text != "," or after_comma:
                raise self.error(f"a name is needed where {text!r} stands")
            after_comma = kind != "name"
        if after_comma:
            raise self.error("a name is missing")
        return names

    def groups_of_names(self) -> list[list[str]]:
        """Return the names of the tail, in groups with a bar between them."""
        tail = self.tail or []
        bars = [i for i, word in enumerate(tail) if word == ("mark", "|", True)]
        return [self.names(tail[i + 1 : j]) for i, j in pairwise([-1, *bars, len(tail)])]

    def only_word(self) -> str:
        """Return the one word of the tail, or no text where there are more or none."""
        return self.tail[0][1] if self.tail and len(self.tail) == 1 else ""


_COLON: Word = ("mark", ":", True)
