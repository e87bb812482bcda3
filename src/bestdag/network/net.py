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
comments, which our reader restores (`exact_names`). Numbers are in the shortest form that gives
the same double.

References
----------
.. [1] HUGIN API Reference Manual, "The NET language".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from bestdag.network.building import Builder, Declared, all_rows, dense_table
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
from bestdag.network.scanner import BLANKS, Scanner, Syntax, Token, decoded, read_numbers
from bestdag.network.table import ConditionalTable

__all__ = ["Parser", "looks_like", "parse", "render", "written"]

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
        yield f"  % {note_text(NAME, [network.name])}\n"
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
        return f"  % {note_text(PROPERTY, [text])}\n"
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


_SYNTAX = Syntax("{}()|;=,", "%", is_strict=False)
_COMMENT = re.compile(r"%[^\n]*")
_SIGNS = str.maketrans("()", "  ")
# What this library has no value for, and what to do about it.
_REFUSED = {
    "decision": "decisions have no probabilities; make it a chance node, or remove it",
    "utility": "utilities have no probabilities; remove it",
    "function": "functions have no table; remove it",
    "continuous": "every variable must be discrete; discretize it",
    "instance": "instances of classes are not expanded; save the network as one flat class",
}
_REFUSED_FIELDS = {
    "model_data": "a table made by an expression; save the network with its tables",
    "model_nodes": "a table made by an expression; save the network with its tables",
}


class Parser:
    """Reads one NET text."""

    def __init__(self, text: str, source: str) -> None:
        self._scanner = Scanner(text, source, _SYNTAX)
        self._builder = Builder(self._scanner.fail, "potential")

    def network(self) -> Network:
        """Read ``net { ... }`` or ``class NAME { ... }`` and all that belongs to it."""
        scanner, builder = self._scanner, self._builder
        wanted = "'net', 'class' or 'node'"
        has_frame = False
        while scanner.peek().kind != "end":
            token = scanner.peek()
            if token.kind != "word":
                scanner.unexpected(wanted)
            if token.text in ("net", "class") and not has_frame and builder.is_empty:
                scanner.take()
                has_frame = True
                self._frame(is_class=token.text == "class")
            else:
                self._item("'node' or 'potential'" if has_frame else wanted)
        if builder.is_empty:
            scanner.unexpected("'node'" if has_frame else wanted)
        return builder.network()

    def _frame(self, *, is_class: bool) -> None:
        scanner = self._scanner
        if is_class:
            self._builder.name = scanner.expect_name("the name of a class").text
        scanner.expect("{")
        scanner.comments()
        notes: list[Note] = []
        while scanner.peek().kind != "}":
            token = scanner.expect_name("a field or '}'")
            if scanner.peek().kind == "=":
                self._network_field(token, notes)
            elif is_class:
                notes += scanner.comments() if self._builder.is_empty else []
                self._item("'node' or 'potential'", token)
            else:
                scanner.unexpected("'='")
        scanner.expect("}")
        notes += scanner.comments() if self._builder.is_empty else []
        notes.sort(key=lambda note: note[1])
        own, self._builder.properties = sorted_notes(scanner.fail, notes, "the network")
        if NAME in own:
            self._builder.name = restored(scanner.fail, NAME, *own[NAME])[0]

    def _network_field(self, token: Token, notes: list[Note]) -> None:
        if token.text == "name":
            self._scanner.expect("=")
            self._builder.name = self._scanner.expect_name("the name of the network").text
            self._scanner.expect(";")
        else:
            notes.append((self._field(token), token.position))

    def _item(self, wanted: str, taken: Token | None = None) -> None:
        scanner = self._scanner
        token = taken or scanner.take()
        if token.text == "discrete" and token.kind == "word":
            token = scanner.expect_word("node")
        if token.kind == "word" and token.text in _REFUSED:
            name = scanner.take()
            if name.text == "node":
                name = scanner.peek()
            remedy = _REFUSED[token.text]
            scanner.fail(token.position, f"{token.text} node {name.shown}: {remedy}")
        if token.kind != "word" or token.text not in ("node", "potential"):
            scanner.fail(token.position, f"expected {wanted}, got {token.shown}")
        if token.text == "node":
            self._node()
        else:
            self._potential()

    # node NAME { states = ("no" "yes"); FIELD = VALUE; }

    def _node(self) -> None:
        scanner = self._scanner
        name = scanner.expect_name("the name of a node")
        self._builder.require_new(name.text, name.position)
        scanner.expect("{")
        scanner.comments()
        states: list[str] | None = None
        notes: list[Note] = []
        while scanner.peek().kind != "}":
            field = scanner.expect_name("a field or '}'")
            if field.text != "states":
                notes.append((self._field(field), field.position))
                continue
            if states is not None:
                scanner.fail(field.position, f"node {name.text!r} has two lists of states")
            scanner.expect("=")
            scanner.expect("(")
            states = [state.text for state in scanner.take_names(")", "a state")]
            scanner.expect(";")
        if states is None:
            scanner.unexpected(f"the states of {name.text!r}")
        scanner.expect("}")
        notes = sorted(notes + scanner.comments(), key=lambda note: note[1])
        self._builder.declare(name.text, states, notes, name.position)

    def _field(self, name: Token) -> str:
        """Read ``= VALUE;`` and return the field as a property."""
        return f"{name.text} = {self._value().strip(BLANKS)}"

    def _value(self) -> str:
        scanner = self._scanner
        scanner.expect("=")
        match = _SYNTAX.statement.match(scanner.text, scanner.position)
        if match is None:
            scanner.fail(len(scanner.text), "expected ';' after a field, got the end of the file")
        scanner.jump(match.end())
        return match[1]

    # potential ( CHILD | PARENT ... ) { data = ((NUMBER ...) ...); }

    def _potential(self) -> None:
        scanner, builder = self._scanner, self._builder
        scanner.expect("(")
        token = scanner.expect_name("the name of a node")
        child = builder.child(token.text, token.position)
        parents: list[Token] = []
        if scanner.accept("|"):
            parents = scanner.take_names(")", "the name of a parent")
        elif scanner.peek().is_name:
            scanner.unexpected("'|' or ')' (a potential has one child)")
        else:
            scanner.expect(")")
        known = builder.parents(token.text, [(p.text, p.position) for p in parents])
        scanner.expect("{")
        numbers: npt.NDArray[np.float64] | None = None
        position = token.position
        while scanner.peek().kind != "}":
            field = scanner.expect_name("a field or '}'")
            if field.text in _REFUSED_FIELDS:
                remedy = _REFUSED_FIELDS[field.text]
                scanner.fail(field.position, f"potential of {token.text!r}: {remedy}")
            if field.text != "data":
                child.note(self._field(field))
                continue
            if numbers is not None:
                scanner.fail(field.position, f"values of {token.text!r} are given twice")
            scanner.expect("=")
            position = scanner.peek().position
            scanner.jump(field.position + len(field.text))
            numbers = self._data(child, known)
        scanner.expect("}")
        if numbers is None:
            scanner.fail(token.position, f"potential of {token.text!r} has no data")
        table = dense_table(scanner.fail, child.variable, known, numbers, position)
        builder.place(child, table, token.position)

    def _data(self, child: Declared, parents: list[Declared]) -> npt.NDArray[np.float64]:
        value = self._value()
        start = self._scanner.position - len(value) - 1
        if "%" in value:
            value = _COMMENT.sub(lambda match: " " * len(match[0]), value)

        def fail(place: int, message: str) -> NoReturn:
            self._scanner.fail(start + place, message)

        numbers = read_numbers(value.translate(_SIGNS), fail)
        shape = [each.variable.arity for each in (*parents, child)]
        problem = _wrong_group(value, shape)
        if problem is not None and len(numbers) == prod(shape):
            fail(*problem)
        return numbers


def _wrong_group(text: str, shape: list[int]) -> tuple[int, str] | None:
    """Find a pair of parentheses that does not stand around one block of the table."""
    signs = np.frombuffer(text.encode("ascii", "replace"), dtype=np.uint8)
    is_sign = (signs == ord("(")) | (signs == ord(")"))
    is_gap = is_sign | (signs <= ord(" "))
    starts = np.flatnonzero(~is_gap & np.concatenate(([True], is_gap[:-1])))
    # More parentheses than could stand around so many numbers are not looked at.
    places = np.flatnonzero(is_sign)[: 2 * (len(shape) + 2) * (len(starts) + 1)]
    counts = np.searchsorted(starts, places).tolist()  # numbers before each parenthesis
    sizes = {prod(shape[axis:]) for axis in range(len(shape) + 1)}
    opened: list[int] = []
    was_closed = False
    for place, count in zip(places.tolist(), counts, strict=True):
        if text[place] == "(":
            if len(opened) > len(shape) or was_closed:
                return place, "expected ';', got '('" if was_closed else "too many '(' here"
            opened.append(count)
            continue
        if not opened:
            return place, "unexpected ')'"
        first = opened.pop()
        size = count - first
        if size not in sizes or first % size:
            return place, f"a group of {size:,} numbers ends here that is no block of the table"
        was_closed = not opened
    if opened or not was_closed:
        return len(text), "expected ')', got ';'" if opened else "expected '(' before the numbers"
    return None
