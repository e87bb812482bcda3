r"""The NET format of HUGIN (5.7, and 6 where it has no instances).

What is read::

    net { name = "asia"; node_size = (80 40); }
    node smoke { states = ("no" "yes"); label = "Does she smoke?"; }
    discrete node lung { states = ("no" "yes"); }
    potential ( smoke ) { data = (0.5 0.5); }
    potential ( lung | smoke ) { data = ((0.99 0.01) (0.9 0.1)); }  % the last parent runs fastest

In the later dialect ``class NAME { ... }`` stands around all this. Fields that are not named here
become properties. ``%`` begins a comment. Parentheses within ``data`` may be left out but for the
outer pair. Decisions, utilities, continuous nodes, functions, tables made by expressions and
instances of classes are refused by name.

What is written: names as identifiers, states in quotes and without blanks, at which pgmpy parts
them. What is not taken there, cut points and properties that are no field of the format stand in
comments, which our reader restores (`kept`). Numbers are in the shortest form that gives the same
double.

References
----------
.. [1] HUGIN API Reference Manual, "The NET language".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bestdag.network.building import all_rows
from bestdag.network.kept import NAME, PROPERTY, kept, own_notes
from bestdag.network.net_parser import Parser
from bestdag.network.network import Network
from bestdag.network.table import ConditionalTable
from bestdag.network.text import decoded
from bestdag.network.words import Rule, Written

__all__ = ["looks_like", "parse", "render", "written"]

_RESERVED = (
    "net class node potential states data label position name discrete continuous decision utility "
    "function instance probability normal_form"
)
_NAMES = Rule("[A-Za-z_][A-Za-z0-9_]*", frozenset(_RESERVED.split()))
_STATES = Rule(r"(?:[A-Za-z0-9_.<>=+-]|/(?![/*]))+")
_FIELD = re.compile(r'([A-Za-z_][A-Za-z0-9_]*) = (?:"[^"\\%]*"|\([-0-9. ]*\))')
_OWN_FIELDS = ("name", "states", "data")
_BEGINNING = re.compile(
    r"(?:net\s*\{|class\s+\w+\s*\{|(?:(?:discrete|continuous)\s+)?node\s+\S+\s*\{)"
)


def parse(data: bytes, source: str = "<net>") -> Network:
    """Read a network from the bytes of a NET file.

    Examples
    --------
    >>> parse(b'net {} node a { states = ("x" "y"); } potential (a) { data = (1); }', "x.net")
    Traceback (most recent call last):
    ...
    bestdag.errors.FormatError: x.net:1:62: values of 'a': 2 numbers needed here, got 1
    """
    return Parser(decoded(data, source), source).network()


def looks_like(text: str) -> bool:
    """Whether the beginning of a text is that of a NET file."""
    return _BEGINNING.match(text) is not None


def written(network: Network) -> Written:
    """Return the names and states as they stand in a file."""
    return Written.by(network, _NAMES, _STATES)


def render(network: Network) -> bytes:
    """Write a network as the bytes of a NET file."""
    return "".join(_lines(network)).encode("utf-8")


def _lines(network: Network) -> Iterator[str]:
    yield "net\n{\n"
    if _STATES.allows(network.name):
        yield f'  name = "{network.name}";\n'
    else:
        yield f"  % {kept(NAME, [network.name])}\n"
    yield from map(_property, network.properties)
    yield "}\n"
    made = written(network)
    for variable in network.variables:
        name, states = made.names[variable.name], made.states[variable.name]
        yield f"node {name}\n{{\n"
        quoted = " ".join(f'"{state}"' for state in states)
        yield f"  states = ({quoted});\n"
        for text in own_notes(variable, name, states):
            yield f"  % {text}\n"
        yield from map(_property, network.properties_of(variable.name))
        yield "}\n"
    for table in network.tables:
        yield from _potential(table, made.names)


def _property(text: str) -> str:
    field = _FIELD.fullmatch(text)
    if field is None or field[1] in _OWN_FIELDS or not (text.isascii() and text.isprintable()):
        return f"  % {kept(PROPERTY, [text])}\n"
    return f"  {text};\n"


def _potential(table: ConditionalTable, names: dict[str, str]) -> Iterator[str]:
    family = names[table.child.name]
    if table.parents:
        family += " | " + " ".join(names[parent.name] for parent in table.parents)
    yield f"potential ( {family} )\n{{\n  data ="
    sizes = []  # of the groups that parentheses stand around, in rows
    n_rows = 1
    for parent in reversed(table.parents):
        n_rows *= parent.arity
        sizes.append(n_rows)
    for number, row in enumerate(all_rows(table).tolist()):
        n_opened = n_closed = 1
        for size in sizes:
            n_opened += number % size == 0
            n_closed += (number + 1) % size == 0
        yield f"\n    {'(' * n_opened}{' '.join(map(repr, row))}{')' * n_closed}"
    yield ";\n}\n"
