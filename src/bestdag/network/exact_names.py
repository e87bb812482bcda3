"""Exact names and texts beside what a format can hold, and how they are restored."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

from bestdag.data.schema import Variable
from bestdag.errors import DataError
from bestdag.network.network import Network
from bestdag.network.scanner import quoted, unquoted

__all__ = [
    "CUTS",
    "NAME",
    "PROPERTY",
    "SIGNS",
    "STATES",
    "Fail",
    "Note",
    "Rule",
    "Written",
    "distinct",
    "is_plain_property",
    "note_text",
    "own_notes",
    "property_note",
    "restored",
    "restored_property",
    "restored_variable",
    "sorted_notes",
]

# Words for signs that a plain name cannot hold.
SIGNS = (("<=", "le_"), (">=", "ge_"), ("<", "lt_"), (">", "gt_"))


def distinct(
    names: Sequence[str], is_plain: Callable[[str], bool], made_of: Callable[[str], str]
) -> list[str]:
    """Return different plain names for different names; plain ones stay as they are."""
    used = {name for name in names if is_plain(name)}
    counts: dict[str, int] = {}
    made = []
    for name in names:
        if is_plain(name):
            made.append(name)
            continue
        base = plain = made_of(name)
        while plain in used:
            counts[base] = counts.get(base, 1) + 1
            plain = f"{base}_{counts[base]}"
        used.add(plain)
        made.append(plain)
    return made


@dataclass(frozen=True)
class Rule:
    """What a format takes for a name: a pattern, less its own words and what none may hold.

    Examples
    --------
    >>> rule = Rule("[A-Za-z][A-Za-z0-9_]*", frozenset(["node"]))
    >>> rule.names(["smoke", "wet grass", "wet_grass", "<=51.5", "5", "node", ""])
    ['smoke', 'wet_grass_2', 'wet_grass', 'le_51_5', 'x5', 'node_', 'x']
    """

    pattern: str
    reserved: frozenset[str] = frozenset()
    avoided: str | None = None

    def allows(self, name: str) -> bool:
        """Whether a name can be written as it is."""
        if self.avoided is not None and self.avoided in name.lower():
            return False
        return re.fullmatch(self.pattern, name) is not None and name.lower() not in self.reserved

    def names(self, names: Sequence[str]) -> list[str]:
        """Return different names that the format takes; those it takes stay as they are."""
        return distinct(names, self.allows, self._made)

    def _made(self, name: str) -> str:
        for sign, word in SIGNS:
            name = name.replace(sign, word)
        made = re.sub("[^A-Za-z0-9]+", "_", name).rstrip("_")
        if self.avoided is not None:
            made = re.sub(self.avoided, self.avoided[0], made, flags=re.IGNORECASE)
        if self.allows(made):
            return made
        return f"{made}_" if self.allows(f"{made}_") else f"x{made}"


@dataclass(frozen=True)
class Written:
    """The names and states of a network as they stand in a file, by the names in the network."""

    names: dict[str, str]
    states: dict[str, list[str]]

    @classmethod
    def by(cls, network: Network, names: Rule, states: Rule) -> Written:
        """Choose the names by the rules of a format."""
        return cls(
            dict(zip(network.names, names.names(network.names), strict=True)),
            {v.name: states.names(v.states) for v in network.variables},
        )

    def renamed(self) -> dict[str, str]:
        """Return the variables that have another name in the file, and that name."""
        return {name: own for name, own in self.names.items() if name != own}

    def renamed_states(self, network: Network) -> dict[str, dict[str, str]]:
        """Return the states that have another name in the file, by variable."""
        renamed: dict[str, dict[str, str]] = {}
        for variable in network.variables:
            pairs = zip(variable.states, self.states[variable.name], strict=True)
            changed = {state: own for state, own in pairs if state != own}
            if changed:
                renamed[variable.name] = changed
        return renamed


CUTS, NAME, PROPERTY, STATES = (
    f"bestdag-{what} =" for what in ("cuts", "name", "property", "states")
)
_PLAIN_PROPERTY = re.compile(r'[A-Za-z_][A-Za-z0-9_-]* *=[^";\\]*')
# What programs look for with patterns anywhere in a line, and what is not ASCII.
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


def note_text(key: str, texts: Iterable[str]) -> str:
    r"""Write what keeps some texts.

    Examples
    --------
    >>> print(note_text(STATES, ["<=51.5", "f(x)"]))
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


def property_note(text: str) -> str:
    """Return a property as it is written: itself, or what keeps it."""
    return text if is_plain_property(text) else note_text(PROPERTY, [text])


def own_notes(variable: Variable, name: str, states: Sequence[str]) -> Iterator[str]:
    """Return what keeps the name, states and cut points of a variable written as these."""
    if name != variable.name:
        yield note_text(NAME, [variable.name])
    if tuple(states) != variable.states:
        yield note_text(STATES, variable.states)
    if variable.cuts is not None:
        yield f"{CUTS} {', '.join(repr(float(cut)) for cut in variable.cuts)}".rstrip()


# Reading


def restored(fail: Fail, key: str, text: str, position: Any) -> list[str]:
    """Read back what `note_text` wrote; `position` is where it stands."""

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
    """Return a property as it was before `property_note`."""
    if not text.startswith(PROPERTY):
        return text
    texts = restored(fail, PROPERTY, text, position)
    if len(texts) != 1:
        fail(position, f"expected one text, got {len(texts)}")
    return texts[0]


def sorted_notes(fail: Fail, notes: Iterable[Note], who: str) -> tuple[dict[str, Note], list[str]]:
    """Separate our own notes on a variable from its properties."""
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
    """Return the variable with the name, states and cut points that the notes have.

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
