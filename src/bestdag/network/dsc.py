r"""The DSC format of Microsoft's belief network tools, which bnlearn reads and writes.

What is read::

    belief network "asia"
    node smoke { name: "Does she smoke?"; type: discrete [ 2 ] = { "no", "yes" }; }
    node lung { type: discrete [ 2 ] = { "no", "yes" }; }
    probability ( smoke ) { 0.5, 0.5; }
    probability ( lung | smoke ) { (0) : 0.99, 0.01; (1) : 0.9, 0.1; }

A configuration lists the numbers of the parents' states, counted from 0. Also read: all numbers of
a table in one row, the last parent fastest; a row ``default : 0.5, 0.5;`` for all other
configurations; a ``properties { ... }`` block; comments ``//`` and ``/* */``. Other items of a node
become its properties.

What is written: names as identifiers, states in quotes, every row of every table. What is not
taken there, cut points and properties stand in comments, which our reader restores (`exact_names`).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from bestdag.network.bif_block import Block
from bestdag.network.building import Builder, all_rows
from bestdag.network.exact_names import (
    NAME,
    PROPERTY,
    Note,
    Rule,
    Written,
    note_text,
    own_notes,
    restored,
    sorted_notes,
)
from bestdag.network.network import Network
from bestdag.network.scanner import BLANKS, Scanner, Syntax, decoded
from bestdag.network.table import ConditionalTable

__all__ = ["looks_like", "parse", "render", "written"]

_SYNTAX = Syntax("{}()[],;:|=", is_strict=False)
_RESERVED = (
    "belief network node probability type discrete name position default properties array of"
)
# bnlearn looks for this word wherever it stands in a line.
_AVOIDED = "probability"
_NAMES = Rule("[A-Za-z_][A-Za-z0-9_]*", frozenset(_RESERVED.split()), _AVOIDED)
_STATES = Rule(r"(?:[A-Za-z0-9_.<>=+-]|/(?![/*]))+", avoided=_AVOIDED)


def parse(data: bytes, source: str = "<dsc>") -> Network:
    """Read a network from the bytes of a DSC file.

    Examples
    --------
    >>> parse(b'belief network "x" node a { type : continuous; }', "x.dsc")
    Traceback (most recent call last):
    ...
    bestdag.errors.FormatError: x.dsc:1:36: expected 'discrete', got 'continuous'
    """
    return _Parser(decoded(data, source), source).network()


def looks_like(text: str) -> bool:
    """Whether the beginning of a text is that of a DSC file."""
    return re.match(r"belief\s+network\b", text) is not None


def written(network: Network) -> Written:
    """Return the names and states as they stand in a file."""
    return Written.by(network, _NAMES, _STATES)


def render(network: Network) -> bytes:
    """Write a network as the bytes of a DSC file."""
    return "".join(_lines(network)).encode("utf-8")


def _lines(network: Network) -> Iterator[str]:
    is_plain = _STATES.allows(network.name)
    yield f'belief network "{network.name if is_plain else "unknown"}"\n'
    if not is_plain:
        yield f"// {note_text(NAME, [network.name])}\n"
    yield from map(_property, network.properties)
    made = written(network)
    for variable in network.variables:
        name, states = made.names[variable.name], made.states[variable.name]
        yield f"node {name} {{\n"
        quoted = ", ".join(f'"{state}"' for state in states)
        yield f"  type : discrete [ {len(states)} ] = {{ {quoted} }};\n"
        for text in own_notes(variable, name, states):
            yield f"  // {text}\n"
        for text in network.properties_of(variable.name):
            yield f"  {_property(text)}"
        yield "}\n"
    for table in network.tables:
        yield from _probability(table, made.names)


def _property(text: str) -> str:
    return f"// {note_text(PROPERTY, [text])}\n"


def _probability(table: ConditionalTable, names: dict[str, str]) -> Iterator[str]:
    child = names[table.child.name]
    if not table.parents:
        yield f"probability ( {child} ) {{\n  {_numbers(table.values.tolist())};\n}}\n"
        return
    parents = ", ".join(names[parent.name] for parent in table.parents)
    yield f"probability ( {child} | {parents} ) {{\n"
    codes = itertools.product(*(map(str, range(parent.arity)) for parent in table.parents))
    for configuration, row in zip(codes, all_rows(table).tolist(), strict=True):
        yield f"  ({', '.join(configuration)}) : {_numbers(row)};\n"
    yield "}\n"


def _numbers(values: list[float]) -> str:
    return ", ".join(map(repr, values))


class _Parser:
    """Reads one DSC text."""

    def __init__(self, text: str, source: str) -> None:
        self._scanner = Scanner(text, source, _SYNTAX)
        self._builder = Builder(self._scanner.fail, "probability block")

    def network(self) -> Network:
        scanner, builder = self._scanner, self._builder
        scanner.expect_word("belief")
        scanner.expect_word("network")
        builder.name = scanner.take().text if scanner.peek().kind == "string" else "unknown"
        notes: list[Note] = []
        if scanner.peek().kind == "word" and scanner.peek().text == "properties":
            scanner.take()
            notes = self._items()
        scanner.peek()
        notes = sorted(notes + scanner.comments(), key=lambda note: note[1])
        own, builder.properties = sorted_notes(scanner.fail, notes, "the network")
        if NAME in own:
            builder.name = restored(scanner.fail, NAME, *own[NAME])[0]
        while scanner.peek().kind != "end":
            if scanner.expect_word("node", "probability").text == "node":
                self._node()
            else:
                self._probability()
        if builder.is_empty:
            scanner.unexpected("'node'")
        return builder.network()

    def _items(self) -> list[Note]:
        """Read ``{ TEXT; ... }``."""
        self._scanner.expect("{")
        notes = []
        while self._scanner.peek().kind != "}":
            position = self._scanner.peek().position
            notes.append((self._statement(), position))
        self._scanner.expect("}")
        return notes

    def _statement(self) -> str:
        scanner = self._scanner
        match = _SYNTAX.statement.match(scanner.text, scanner.position)
        if match is None:
            scanner.fail(len(scanner.text), "expected ';' after an item, got the end of the file")
        scanner.jump(match.end())
        return match[1].strip(BLANKS)

    # node NAME { type : discrete [ K ] = { "STATE", ... }; ITEM : VALUE; }

    def _node(self) -> None:
        scanner = self._scanner
        name = scanner.expect_name("the name of a node")
        self._builder.require_new(name.text, name.position)
        scanner.expect("{")
        scanner.comments()
        states: list[str] | None = None
        notes: list[Note] = []
        while scanner.peek().kind != "}":
            item = scanner.expect_name("an item or '}'")
            if not scanner.accept("="):
                scanner.expect(":")
            if item.text != "type":
                notes.append((f"{item.text} = {self._statement()}", item.position))
                continue
            if states is not None:
                scanner.fail(item.position, f"node {name.text!r} has two types")
            states = scanner.take_states(f"node {name.text!r}", "=")
        if states is None:
            scanner.unexpected("'type'")
        scanner.expect("}")
        notes = sorted(notes + scanner.comments(), key=lambda note: note[1])
        numbers = [str(code) for code in range(len(states))]
        self._builder.declare(name.text, states, notes, name.position, numbers)

    # probability ( CHILD | PARENT, ... ) { (CODE, ...) : NUMBER, ...; }

    def _probability(self) -> None:
        scanner, builder = self._scanner, self._builder
        scanner.expect("(")
        token = scanner.expect_name("the name of a node")
        child = builder.child(token.text, token.position)
        parents = scanner.take_names(")", "the name of a parent") if scanner.accept("|") else None
        if parents is None:
            scanner.expect(")")
        known = builder.parents(token.text, [(p.text, p.position) for p in parents or ()])
        scanner.expect("{")
        block = Block(scanner, child.variable, known)
        while scanner.peek().kind != "}":
            start = scanner.peek()
            if start.kind == "(":
                block.read_entry()
            elif start.kind == "word" and start.text == "default":
                scanner.take()
                if not scanner.accept("="):
                    scanner.expect(":")
                block.read_whole("default", start.position)
            else:
                block.read_rows(start.position)
        scanner.expect("}")
        builder.place(child, block.table(token.position), token.position)
