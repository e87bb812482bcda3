r"""XDSL, the format of GeNIe and SMILE.

What is read::

    <smile version="1.0" id="asia"><nodes>
    <cpt id="smoke"><state id="no"/><state id="yes"/><probabilities>0.5 0.5</probabilities></cpt>
    <cpt id="lung"><state id="no"/><state id="yes"/><parents>smoke</parents>
      <probabilities>0.99 0.01 0.9 0.1</probabilities></cpt>
    <deterministic id="either"><state id="no"/><state id="yes"/><parents>tub lung</parents>
      <resultingstates>no yes yes yes</resultingstates></deterministic>
    </nodes></smile>

The states of a node run fastest, then those of the last parent. A ``deterministic`` node becomes a
table of zeros and ones. User properties become properties. Equations, decisions, utilities,
noisy-MAX nodes and temporal networks are refused by name; layout (``extensions``), costs and
comments are read over. pyAgrum writes its tables with the first parent running fastest, and its
name into the file: these are read as it means them.

What is written: identifiers for names and states, parents before children; user properties keep
other names, the order of the variables, cut points and other properties (`kept`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from bestdag.network.building import all_rows
from bestdag.network.kept import CUTS, NAME, PROPERTY, STATES, is_plain_property, kept, own_notes
from bestdag.network.network import Network
from bestdag.network.table import ConditionalTable
from bestdag.network.words import Rule, Written
from bestdag.network.xdsl_parser import ORDER, Collected
from bestdag.network.xml_reader import XmlReader, escaped, root_of

__all__ = ["looks_like", "parse", "render", "written"]

_NAMES = Rule("[A-Za-z][A-Za-z0-9_]*")
_PROPERTY = re.compile("([A-Za-z][A-Za-z0-9_]*) = (.+)")
_OWN = {NAME: "bestdag_name", STATES: "bestdag_states", CUTS: "bestdag_cuts"}


def parse(data: bytes, source: str = "<xdsl>") -> Network:
    """Read a network from the bytes of an XDSL file.

    Examples
    --------
    >>> parse(b'<smile id="x"><nodes><equation id="e"/></nodes></smile>', "x.xdsl")
    Traceback (most recent call last):
    ...
    bestdag.errors.FormatError: x.xdsl:1:22: node 'e' is an equation, which has no table of
    probabilities; discretize it in GeNIe (its type becomes 'Chance - General')
    """
    reader = XmlReader(source)
    collected = Collected(reader)
    return collected.network(reader.read(data, collected))


def looks_like(text: str) -> bool:
    """Whether the beginning of a text is that of an XDSL file."""
    return root_of(text) == "smile"


def written(network: Network) -> Written:
    """Return the names and states as they stand in a file."""
    return Written.by(network, _NAMES, _NAMES)


def render(network: Network) -> bytes:
    """Write a network as the bytes of an XDSL file."""
    return "".join(_lines(network)).encode("utf-8")


def _lines(network: Network) -> Iterator[str]:
    (name,) = _NAMES.names([network.name])
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n<smile version="1.0" id="{name}">\n'
    if name != network.name:
        yield _kept(2, "bestdag_name", kept(NAME, [network.name]))
    order = network.dag.topological_order()
    if order != network.names:
        place = {name: number for number, name in enumerate(order)}
        numbers = ", ".join(str(place[name]) for name in network.names)
        yield f'  <property id="{ORDER}">{numbers}</property>\n'
    yield from _properties(2, network.properties)
    yield "  <nodes>\n"
    made = written(network)
    for name in order:
        yield from _node(network.table(name), made, network.properties_of(name))
    yield "  </nodes>\n</smile>\n"


def _node(table: ConditionalTable, made: Written, properties: tuple[str, ...]) -> Iterator[str]:
    child = table.child
    name, states = made.names[child.name], made.states[child.name]
    yield f'    <cpt id="{name}">\n'
    for state in states:
        yield f'      <state id="{state}" />\n'
    if table.parents:
        parents = " ".join(made.names[parent.name] for parent in table.parents)
        yield f"      <parents>{parents}</parents>\n"
    numbers = " ".join(map(repr, np.ravel(all_rows(table)).tolist()))
    yield f"      <probabilities>{numbers}</probabilities>\n"
    for text in own_notes(child, name, states):
        key = next(key for key in _OWN if text.startswith(key))
        yield _kept(6, _OWN[key], text)
    yield from _properties(6, properties)
    yield "    </cpt>\n"


def _properties(indent: int, texts: tuple[str, ...]) -> Iterator[str]:
    used: set[str] = set()
    for number, text in enumerate(texts):
        plain = _PROPERTY.fullmatch(text)
        if plain is None or not is_plain_property(text) or not _is_free(plain[1], plain[2], used):
            yield _kept(indent, f"bestdag_property_{number}", kept(PROPERTY, [text]))
            continue
        used.add(plain[1])
        yield f'{" " * indent}<property id="{plain[1]}">{escaped(plain[2])}</property>\n'


def _is_free(key: str, value: str, used: set[str]) -> bool:
    return key not in used and not key.startswith("bestdag_") and value == value.strip()


def _kept(indent: int, key: str, text: str) -> str:
    value = text.partition("= ")[2]
    return f'{" " * indent}<property id="{key}">{escaped(value)}</property>\n'
