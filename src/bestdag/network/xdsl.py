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
other names, the order of the variables, cut points and other properties (`exact_names`).
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bestdag.errors import DataWarning, unknown_name
from bestdag.machine import require_memory
from bestdag.network.building import Builder, Declared, all_rows, dense_table
from bestdag.network.exact_names import (
    CUTS,
    NAME,
    PROPERTY,
    STATES,
    Note,
    Rule,
    Written,
    is_plain_property,
    note_text,
    own_notes,
    restored,
    sorted_notes,
)
from bestdag.network.network import Network
from bestdag.network.scanner import read_numbers
from bestdag.network.table import ConditionalTable
from bestdag.network.xml_reader import Place, XmlReader, escaped, root_of

__all__ = ["ORDER", "Collected", "looks_like", "parse", "render", "written"]

_NAMES = Rule("[A-Za-z][A-Za-z0-9_]*")
_PROPERTY = re.compile("([A-Za-z][A-Za-z0-9_]*) = (.+)")
_OWN_KEYS = {NAME: "bestdag_name", STATES: "bestdag_states", CUTS: "bestdag_cuts"}


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
        yield _note(2, "bestdag_name", note_text(NAME, [network.name]))
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
        key = next(key for key in _OWN_KEYS if text.startswith(key))
        yield _note(6, _OWN_KEYS[key], text)
    yield from _properties(6, properties)
    yield "    </cpt>\n"


def _properties(indent: int, texts: tuple[str, ...]) -> Iterator[str]:
    used: set[str] = set()
    for number, text in enumerate(texts):
        plain = _PROPERTY.fullmatch(text)
        if plain is None or not is_plain_property(text) or not _is_free(plain[1], plain[2], used):
            yield _note(indent, f"bestdag_property_{number}", note_text(PROPERTY, [text]))
            continue
        used.add(plain[1])
        yield f'{" " * indent}<property id="{plain[1]}">{escaped(plain[2])}</property>\n'


def _is_free(key: str, value: str, used: set[str]) -> bool:
    return key not in used and not key.startswith("bestdag_") and value == value.strip()


def _note(indent: int, key: str, text: str) -> str:
    value = text.partition("= ")[2]
    return f'{" " * indent}<property id="{key}">{escaped(value)}</property>\n'


ORDER = "bestdag_order"

_NODES = "smile/nodes"
_OWN_PROPERTY = re.compile(r"bestdag_(name|states|cuts|property)(?:_[0-9]+)?")
_GENERAL = "(its type becomes 'Chance - General')"
# What this library has no value for, and what to do about it.
_REFUSED = {
    "equation": f"an equation, which has no table of probabilities; discretize it in GeNIe "
    f"{_GENERAL}",
    "noisymax": f"a noisy-MAX node; change its type in GeNIe {_GENERAL}",
    "noisyadder": f"a noisy-adder node; change its type in GeNIe {_GENERAL}",
    "decision": "a decision, which has no probabilities; remove it",
    "utility": "a utility, which has no probabilities; remove it",
    "mau": "a utility, which has no probabilities; remove it",
    "demorgan": f"a DeMorgan gate; change its type in GeNIe {_GENERAL}",
}


@dataclass(slots=True)
class _Node:
    """A node as it was read; what it has none of takes no room."""

    name: str
    place: Place
    is_deterministic: bool
    states: tuple[str, ...] = ()
    parents: list[tuple[str, Place]] | None = None
    numbers: npt.NDArray[np.float64] | None = None
    results: list[str] | None = None
    notes: list[Note] | None = None


class Collected:
    """What was read, element by element."""

    def __init__(self, reader: XmlReader) -> None:
        self._fail = reader.fail
        self._builder = Builder(reader.fail, "node")
        self._notes: list[Note] = []  # of the network
        self._order: tuple[str, Place] | None = None
        self._nodes: list[_Node] = []
        self._states: list[str] = []  # of the last node
        self._listed: dict[tuple[str, ...], tuple[str, ...]] = {}  # nodes share their lists
        self._property = ""
        self._is_first_fastest = False

    # Elements

    def start(self, path: str, attributes: Mapping[str, str], place: Place) -> None:
        """Begin an element."""
        block, _, tag = path.rpartition("/")
        if not block:
            if tag != "smile":
                self._fail(place, f"expected <smile>, got <{tag[:40]}>")
            self._builder.name = attributes.get("id", "unknown")
        elif path == "smile/dynamic":
            self._fail(place, "a temporal network; unroll it in GeNIe and save the result")
        elif path == "smile/extensions/genie":
            self._is_first_fastest = attributes.get("app", "").startswith("aGrUM")
        elif block == _NODES:
            self._start_node(tag, attributes, place)
        elif tag == "state" and self._is_in_node(block):
            self._states.append(self._id(tag, attributes, place))
        elif tag == "property":
            self._property = attributes.get("id", "")

    def end(self, path: str, text: str, place: Place) -> None:
        """End an element."""
        block, _, tag = path.rpartition("/")
        if tag == "property" and block == "smile":
            if self._property == ORDER:
                self._order = text, place
            else:
                self._notes.append((self._note(text), place))
        elif self._is_in_node(path):
            states = tuple(self._states)
            self._nodes[-1].states = self._listed.setdefault(states, states)
            self._states = []
        elif self._is_in_node(block):
            self._end_of_node_part(tag, text, place)

    def _is_in_node(self, block: str) -> bool:
        return block in (f"{_NODES}/cpt", f"{_NODES}/deterministic")

    def _id(self, tag: str, attributes: Mapping[str, str], place: Place) -> str:
        if "id" not in attributes:
            self._fail(place, f"<{tag[:40]}> needs an id")
        return attributes["id"]

    def _start_node(self, tag: str, attributes: Mapping[str, str], place: Place) -> None:
        name = self._id(tag, attributes, place)
        if tag not in ("cpt", "deterministic"):
            remedy = _REFUSED.get(tag, f"a node of type <{tag[:40]}>, which is not known here")
            self._fail(place, f"node {name!r:.60} is {remedy}")
        if attributes.get("dynamic", "none") not in ("none", "false"):
            self._fail(place, f"node {name!r:.60} is temporal; unroll the network in GeNIe")
        self._nodes.append(_Node(name, place, tag == "deterministic"))

    def _end_of_node_part(self, tag: str, text: str, place: Place) -> None:
        node = self._nodes[-1]
        if tag == "parents":
            node.parents = node.parents or []
            node.parents += [(name, place) for name in text.split()]
        elif tag == "property":
            node.notes = node.notes or []
            node.notes.append((self._note(text), place))
        elif tag in ("probabilities", "resultingstates"):
            if node.numbers is not None or node.results is not None:
                self._fail(place, f"node {node.name!r} has two tables")
            if tag == "probabilities":
                node.numbers = read_numbers(text, lambda _, message: self._fail(place, message))
            else:
                node.results = text.split()

    def _note(self, text: str) -> str:
        own = _OWN_PROPERTY.fullmatch(self._property)
        key = f"bestdag-{own[1]}" if own else self._property
        return f"{key} = {text.strip()}".strip()

    # The network

    def network(self, end: Place) -> Network:
        """Put the nodes together."""
        builder = self._builder
        if not self._nodes:
            self._fail(end, "expected a <cpt>, got the end of the file")
        own, builder.properties = sorted_notes(self._fail, self._notes, "the network")
        if NAME in own:
            builder.name = restored(self._fail, NAME, *own[NAME])[0]
        for node in self._nodes:
            builder.declare(node.name, node.states, node.notes or (), node.place)
        if self._is_first_fastest and any(len(node.parents or ()) > 1 for node in self._nodes):
            warnings.warn(
                "this XDSL file is by pyAgrum, which writes tables with the first parent running "
                "fastest, not the last as GeNIe does: read as pyAgrum means it",
                DataWarning,
                stacklevel=2,
            )
        order = self._order_of_variables()
        nodes = self._nodes[::-1]
        self._nodes.clear()
        while nodes:  # what is a table is given back
            self._place(nodes.pop())
        return builder.network(order)

    def _place(self, node: _Node) -> None:
        child = self._builder.child(node.name, node.place)
        parents = self._builder.parents(node.name, node.parents or ())
        numbers = node.numbers
        if node.results is not None:
            numbers = self._zeros_and_ones(node, child, node.results)
        if numbers is None:
            self._fail(node.place, f"node {node.name!r} has no <probabilities>")
        table = dense_table(
            self._fail,
            child.variable,
            parents,
            numbers,
            node.place,
            is_first_fastest=self._is_first_fastest,
        )
        self._builder.place(child, table, node.place)

    def _zeros_and_ones(
        self, node: _Node, child: Declared, results: list[str]
    ) -> npt.NDArray[np.float64]:
        n_numbers = len(results) * child.variable.arity
        who = f"table of {node.name!r}"
        require_memory(who, f"{n_numbers:,} numbers", 24 * n_numbers, "use a smaller network")
        numbers = np.zeros((len(results), child.variable.arity))
        for row, state in enumerate(results):
            if state not in child.states.codes:
                kind = f"state of {node.name!r}"
                self._fail(node.place, str(unknown_name(kind, state, child.states.written)))
            numbers[row, child.states.codes[state]] = 1.0
        return numbers.reshape(-1)

    def _order_of_variables(self) -> list[int] | None:
        if self._order is None:
            return None
        text, place = self._order
        numbers = [int(word) if word.isdecimal() and len(word) < 10 else -1
                   for word in text.replace(",", " ").split()]  # fmt: skip
        if sorted(numbers) != list(range(len(self._nodes))):
            self._fail(place, f"{ORDER} must list the numbers of the nodes, each once")
        return numbers
