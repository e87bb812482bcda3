r"""Names in a BIF file that the common programs read, and properties that keep the original ones.

A plain name is a word of ASCII letters, digits and ``_ . -`` that does not begin like a number, is
no number (a state may be a whole one) and no keyword: pyAgrum, which has the strictest grammar,
takes nothing else for a name. Any other name is written as a plain one made from it, ``<=51.5`` as
``le_51.5`` and ``two words`` as ``two_words``, and a property keeps the text as it was::

    variable two_words {
      type discrete [ 2 ] { le_51.5, gt_51.5 };
      property bestdag-name = "two words";
      property bestdag-states = "<=51.5", ">51.5";
    }

Our reader restores it. Property texts of any other shape than ``word = value`` become
``bestdag-property = "..."``. Characters that mean something in BIF are escaped as ``\uXXXX`` there:
other programs look for them even in strings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from bestdag.network.bif_syntax import Scanner, quoted

__all__ = [
    "CUTS",
    "NAME",
    "PROPERTY",
    "STATES",
    "is_plain_property",
    "kept",
    "plain_name",
    "plain_names",
    "restored",
]

# The properties that keep what the grammar of others has no place for.
CUTS, NAME, PROPERTY, STATES = (
    f"bestdag-{what} =" for what in ("cuts", "name", "property", "states")
)

_KEYWORDS = frozenset(
    ("default", "discrete", "network", "probability", "property", "table", "type", "variable")
)
# 1e5 would be a number, 5x is none.
_WORD = re.compile(r"(?:[A-Za-z_]|[0-9]+(?![eE])[A-Za-z_])[A-Za-z0-9_.-]*")
_WHOLE = re.compile(r"-?[0-9]+")
_SIGNS = (("<=", "le_"), (">=", "ge_"), ("<", "lt_"), (">", "gt_"))
_OTHER = re.compile(r"[^A-Za-z0-9_.-]+")
_PLAIN_PROPERTY = re.compile(r'[A-Za-z_][A-Za-z0-9_-]* *=[^";\\]*')
# What programs look for with patterns, whatever stands around it, and what is not ASCII.
_MEANING = re.compile(r"[;(){}\[\]|\x7f-\uffff]")
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)


def plain_name(name: str, *, is_state: bool = False) -> str:
    """Return a name itself if it is plain, else a plain one made from it.

    Examples
    --------
    >>> [plain_name(name) for name in ("smoke", "wet grass", "<=51.5", "51.5 to 60", "default")]
    ['smoke', 'wet_grass', 'le_51.5', '_51.5_to_60', 'default_']
    >>> plain_name("5"), plain_name("5", is_state=True)
    ('_5', '5')
    """
    if _is_plain(name, is_state):
        return name
    made = name
    for sign, word in _SIGNS:
        made = made.replace(sign, word)
    made = _OTHER.sub("_", made)
    if _is_plain(made, is_state):
        return made
    return f"{made}_" if made in _KEYWORDS else f"_{made}"


def plain_names(names: Sequence[str], *, is_state: bool = False) -> list[str]:
    """Return different plain names for different names; plain ones stay as they are.

    Examples
    --------
    >>> plain_names(["a b", "a_b", "a/b"])
    ['a_b_2', 'a_b', 'a_b_3']
    """
    used = {name for name in names if _is_plain(name, is_state)}
    counts: dict[str, int] = {}
    made = []
    for name in names:
        if _is_plain(name, is_state):
            made.append(name)
            continue
        base = plain = plain_name(name, is_state=is_state)
        while plain in used:
            counts[base] = counts.get(base, 1) + 1
            plain = f"{base}_{counts[base]}"
        used.add(plain)
        made.append(plain)
    return made


def is_plain_property(text: str) -> bool:
    """Whether a property can be written as it is, for every program and for our own reader."""
    return (
        _PLAIN_PROPERTY.fullmatch(text) is not None
        and text == text.strip()
        and text.isascii()
        and text.isprintable()
        and not text.startswith("bestdag-")
    )


def kept(key: str, texts: Iterable[str]) -> str:
    r"""Write the property that keeps some texts.

    Examples
    --------
    >>> print(kept(STATES, ["<=51.5", "f(x)"]))
    bestdag-states = "<=51.5", "f\u0028x\u0029"
    """
    strings = (_MEANING.sub(lambda m: f"\\u{ord(m[0]):04x}", quoted(text)) for text in texts)
    return f"{key} {', '.join(strings)}"


def restored(scanner: Scanner, key: str, text: str, position: int) -> list[str]:
    """Read back what `kept` wrote; `position` is where the property stands."""
    texts = []
    rest = text[len(key) :].strip()
    while True:
        string = _STRING.match(rest)
        if string is None:
            scanner.fail(position, f"expected texts in quotes after {key!r}, got {rest[:40]!r}")
        texts.append(scanner.unquoted(string[0], position))
        rest = rest[string.end() :].lstrip()
        if not rest:
            return texts
        if not rest.startswith(","):
            scanner.fail(position, f"expected ',' between texts, got {rest[:40]!r}")
        rest = rest[1:].lstrip()


def _is_plain(name: str, is_state: bool) -> bool:
    if is_state and _WHOLE.fullmatch(name):
        return True
    return _WORD.fullmatch(name) is not None and name not in _KEYWORDS
