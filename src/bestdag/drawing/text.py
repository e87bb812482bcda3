"""Names in a picture: how wide they are, how long they may be, and safe inside XML."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from html import escape

__all__ = ["FONT_SIZE", "all_escaped", "escaped", "shortened", "text_width"]

FONT_SIZE = 13.0
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Longer names are cut in a box; a tooltip has all of them.
_MOST_SIGNS = 32

# Widths in DejaVu Sans, the widest of the usual fonts, as parts of its size.
_NARROW, _WIDE = "iIjlft.,:;'|!()[] ", "mwMW@%"
_NARROW_WIDTH, _SMALL_WIDTH, _CAPITAL_WIDTH, _WIDE_WIDTH, _FULL_WIDTH = 0.42, 0.64, 0.75, 1.0, 1.05


def text_width(text: str, size: float = FONT_SIZE) -> float:
    """Say how wide a text is at most, without knowing the font.

    Examples
    --------
    >>> text_width("ill") < text_width("dog") < text_width("MMM")
    True
    """
    return size * sum(map(_width, text))


def _width(sign: str) -> float:
    if unicodedata.combining(sign):
        return 0.0
    if unicodedata.east_asian_width(sign) in "WF":
        return _FULL_WIDTH
    if sign in _NARROW:
        return _NARROW_WIDTH
    if sign in _WIDE:
        return _WIDE_WIDTH
    return _CAPITAL_WIDTH if not sign.isascii() or sign.isupper() else _SMALL_WIDTH


def shortened(name: str) -> str:
    """Return what a box shows of a name.

    Examples
    --------
    >>> shortened("smoke"), len(shortened("x" * 100))
    ('smoke', 32)
    """
    line = " ".join(name.split()) or "\u00a0"
    return line if len(line) <= _MOST_SIGNS else line[: _MOST_SIGNS - 1] + "\N{HORIZONTAL ELLIPSIS}"


def escaped(text: str) -> str:
    r"""Return text for XML and HTML: marks escaped, signs that XML does not have replaced.

    Examples
    --------
    >>> escaped('<script> "&"'), escaped("a\x00b")
    ('&lt;script&gt; &quot;&amp;&quot;', 'a\ufffdb')
    """
    return escape(_NOT_XML.sub("\ufffd", text))


def all_escaped(texts: Iterable[str]) -> list[str]:
    """Return many texts for XML and HTML, as `escaped`."""
    return list(map(escaped, texts))
