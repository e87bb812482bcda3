r"""What our writers keep beside what other programs read, and how it is restored.

Every format has a place where any text can stand: a property, a user property or a comment. A name
or state that the format does not take as it is, the cut points of a variable made from numbers and
properties of any other shape than ``word = value`` are kept there::

    bestdag-name = "two words"
    bestdag-states = "<=51.5", ">51.5"
    bestdag-cuts = 51.5
    bestdag-property = "any text; at all"

Characters that mean something in one of the formats are escaped as ``\uXXXX``: other programs look
for them even in strings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, Protocol

from bestdag.data.schema import Variable
from bestdag.errors import DataError
from bestdag.network.scanner import quoted, unquoted

__all__ = [
    "CUTS",
    "NAME",
    "PROPERTY",
    "STATES",
    "Fail",
    "Note",
    "is_plain_property",
    "kept",
    "kept_property",
    "own_notes",
    "restored",
    "restored_property",
    "restored_variable",
    "sorted_notes",
]

CUTS, NAME, PROPERTY, STATES = (
    f"bestdag-{what} =" for what in ("cuts", "name", "property", "states")
)
_PLAIN_PROPERTY = re.compile(r'[A-Za-z_][A-Za-z0-9_-]* *=[^";\\]*')
# What programs look for with patterns, whatever stands around it, and what is not ASCII.
_MEANING = re.compile(r"[;(){}\[\]|\x7f-\uffff]")
_BLANKS = re.compile(r"\s*+")
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)

# A property or comment and where it stands: an offset in a text, line and column in XML.
Note = tuple[str, Any]


class Fail(Protocol):
    """Raises the error for a place in a file."""

    def __call__(self, position: Any, message: str, /) -> NoReturn:
        """Raise it."""


# Writing


def kept(key: str, texts: Iterable[str]) -> str:
    r"""Write what keeps some texts.

    Examples
    --------
    >>> print(kept(STATES, ["<=51.5", "f(x)"]))
    bestdag-states = "<=51.5", "f\u0028x\u0029"
    """
    strings = (_MEANING.sub(lambda m: f"\\u{ord(m[0]):04x}", quoted(text)) for text in texts)
    return f"{key} {', '.join(strings)}"


def is_plain_property(text: str) -> bool:
    """Whether a property can be written as it is, for every program and for our own reader."""
    return (
        _PLAIN_PROPERTY.fullmatch(text) is not None
        and text == text.strip()
        and text.isascii()
        and text.isprintable()
        and not text.startswith("bestdag-")
    )


def kept_property(text: str) -> str:
    """Return a property as it is written: itself, or what keeps it."""
    return text if is_plain_property(text) else kept(PROPERTY, [text])


def own_notes(variable: Variable, name: str, states: Sequence[str]) -> Iterator[str]:
    """Return what keeps the name, states and cut points of a variable written as these."""
    if name != variable.name:
        yield kept(NAME, [variable.name])
    if tuple(states) != variable.states:
        yield kept(STATES, variable.states)
    if variable.cuts is not None:
        yield f"{CUTS} {', '.join(repr(float(cut)) for cut in variable.cuts)}".rstrip()


# Reading


def restored(fail: Fail, key: str, text: str, position: Any) -> list[str]:
    """Read back what `kept` wrote; `position` is where it stands."""

    def fail_here(_: int, message: str) -> NoReturn:
        fail(position, message)

    texts = []
    place = len(key)
    while True:
        place = _blanks_end(text, place)
        string = _STRING.match(text, place)
        if string is None:
            rest = text[place : place + 40]
            fail(position, f"expected texts in quotes after {key!r}, got {rest!r}")
        texts.append(unquoted(string[0], 0, fail_here))
        place = _blanks_end(text, string.end())
        if place == len(text):
            return texts
        if text[place] != ",":
            fail(position, f"expected ',' between texts, got {text[place : place + 40]!r}")
        place += 1


def _blanks_end(text: str, place: int) -> int:
    match = _BLANKS.match(text, place)
    assert match is not None
    return match.end()


def restored_property(fail: Fail, text: str, position: Any) -> str:
    """Return a property as it was before `kept_property`."""
    if not text.startswith(PROPERTY):
        return text
    texts = restored(fail, PROPERTY, text, position)
    if len(texts) != 1:
        fail(position, f"expected one text, got {len(texts)}")
    return texts[0]


def sorted_notes(fail: Fail, notes: Iterable[Note], who: str) -> tuple[dict[str, Note], list[str]]:
    """Part what is kept of a variable from its properties."""
    own: dict[str, Note] = {}
    properties = []
    for text, position in notes:
        key = next((key for key in (CUTS, NAME, STATES) if text.startswith(key)), None)
        if key is None:
            properties.append(restored_property(fail, text, position))
        elif key in own:
            what = key.removesuffix(" =")
            fail(position, f"the property {what} of {who!r} is given twice")
        else:
            own[key] = text, position
    return own, properties


def restored_variable(
    fail: Fail, name: str, states: Sequence[str], own: Mapping[str, Note], position: Any
) -> Variable:
    """Return the variable with the name, states and cut points that are kept beside it.

    Variables with the same states share the tuple, if `states` is one.
    """
    names, labels = [name], states
    if NAME in own:
        names = restored(fail, NAME, *own[NAME])
        if len(names) != 1:
            fail(own[NAME][1], f"expected one name, got {len(names)}")
    if STATES in own:
        labels = restored(fail, STATES, *own[STATES])
        if len(labels) != len(states):
            fail(
                own[STATES][1],
                f"variable {name!r} has {len(states)} states, the property has {len(labels)}",
            )
    try:
        if len(set(states)) < len(states):
            Variable(name, tuple(states))  # says which
        cuts = _cuts(fail, *own[CUTS]) if CUTS in own else None
        return Variable(names[0], tuple(labels), cuts)
    except DataError as error:
        fail(position, str(error))


def _cuts(fail: Fail, text: str, position: Any) -> tuple[float, ...]:
    try:
        return tuple(float(cut) for cut in text[len(CUTS) :].split(",") if cut.strip())
    except ValueError:
        fail(position, f"expected cut points, got {text!r:.60}")
