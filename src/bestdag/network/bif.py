r"""The Bayesian Interchange Format (BIF), the format of the benchmark collections.

What is read::

    network asia { property author = somebody; }
    variable smoke { type discrete [ 2 ] { no, yes }; property any text; }
    variable lung { type discrete [ 2 ] { no, yes }; }
    probability ( smoke ) { table 0.5, 0.5; }
    probability ( lung | smoke ) { (no) 0.99, 0.01; (yes) 0.9, 0.1; }

Also ``default`` rows, ``table`` for a variable with parents (all numbers, the last parent fastest
and the child slowest), blanks for commas, ``//`` and ``/* */`` comments, and names in quotes.
Numbers are read to the last bit and never rescaled. A variable is declared before it is used.

What is written has the layout of the published files and reads back equal: numbers in the shortest
form that gives the same double; names as plain words that other programs read, with properties
for names that are no plain words (`plain_name`, `exact_names`). The cut
points of a variable made from numbers become the property ``bestdag-cuts = 1.5, 2.5``. A property
of a probability block becomes one of its variable. A sparse table, which has more than 10,000
configurations, is written as the rows it lists and a ``default`` row; every other one in full.

References
----------
.. [1] Cozman (1998). "The Interchange Format for Bayesian Networks", version 0.15.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from bestdag.data.schema import Variable
from bestdag.inference.sparse_table import SparseTable
from bestdag.network.bif_block import Block
from bestdag.network.building import Builder
from bestdag.network.exact_names import (
    SIGNS,
    Note,
    Written,
    distinct,
    own_notes,
    property_note,
    restored_property,
)
from bestdag.network.network import Network
from bestdag.network.scanner import Scanner, Token, decoded, quoted
from bestdag.network.table import ConditionalTable

__all__ = [
    "HOLDS_DEFAULT_ROWS",
    "Parser",
    "looks_like",
    "parse",
    "plain_name",
    "plain_names",
    "render",
    "written",
]

HOLDS_DEFAULT_ROWS = True


def parse(data: bytes, source: str = "<bif>") -> Network:
    """Read a network from the bytes of a BIF file.

    Parameters
    ----------
    data : bytes
        UTF-8, with or without a byte order mark.
    source : str
        What to call the file in messages.

    Returns
    -------
    Network

    Raises
    ------
    FormatError
        ``source:line:column: expected ..., got ...``.

    Examples
    --------
    >>> parse(b"network x {} variable a { type discrete [ 2 ] { no yes }; }", "x.bif")
    Traceback (most recent call last):
    ...
    bestdag.errors.FormatError: x.bif:1:23: variable 'a' has no probability block in this file
    """
    return Parser(decoded(data, source), source).network()


def render(network: Network) -> bytes:
    """Write a network as the bytes of a BIF file.

    Examples
    --------
    >>> coin = ConditionalTable(Variable("coin", ("heads", "on edge")), (), [0.75, 0.25])
    >>> print(render(Network([coin], name="toss")).decode())
    network toss {
    }
    variable coin {
      type discrete [ 2 ] { heads, on_edge };
      property bestdag-states = "heads", "on edge";
    }
    probability ( coin ) {
      table 0.75, 0.25;
    }
    <BLANKLINE>
    """
    return "".join(_lines(network)).encode("utf-8")


def written(network: Network) -> Written:
    """Return the names and states as they stand in a file."""
    return Written(
        dict(zip(network.names, plain_names(network.names), strict=True)),
        {v.name: plain_names(v.states, is_state=True) for v in network.variables},
    )


def looks_like(text: str) -> bool:
    """Whether the beginning of a text is that of a BIF file."""
    return re.match(r"network\b(?!\s*=)", text) is not None


def _lines(network: Network) -> Iterator[str]:
    name = plain_name(network.name)
    yield f"network {name if name == network.name else quoted(network.name)} {{\n"
    yield from map(_property, network.properties)
    yield "}\n"
    made = written(network)
    for variable in network.variables:
        properties = network.properties_of(variable.name)
        name, states = made.names[variable.name], made.states[variable.name]
        yield from _variable(variable, name, states, properties)
    for table in network.tables:
        yield from _probability(table, made.names, made.states)


def _variable(
    variable: Variable, name: str, states: list[str], properties: tuple[str, ...]
) -> Iterator[str]:
    yield f"variable {name} {{\n"
    yield f"  type discrete [ {variable.arity} ] {{ {', '.join(states)} }};\n"
    for text in own_notes(variable, name, states):
        yield f"  property {text};\n"
    yield from map(_property, properties)
    yield "}\n"


def _property(text: str) -> str:
    return f"  property {property_note(text)};\n"


def _probability(
    table: ConditionalTable, names: Mapping[str, str], written: Mapping[str, list[str]]
) -> Iterator[str]:
    child = names[table.child.name]
    if not table.parents:
        yield f"probability ( {child} ) {{\n  table {_numbers(table.values.tolist())};\n}}\n"
        return
    parents = ", ".join(names[parent.name] for parent in table.parents)
    yield f"probability ( {child} | {parents} ) {{\n"
    states = [written[parent.name] for parent in table.parents]
    if table.sparse is not None:
        yield f"  default {_numbers(table.sparse.default.tolist())};\n"
        yield from _listed_rows(table.sparse, states)
        yield "}\n"
        return
    # The first parent runs fastest, as in the published files.
    n_parents = len(table.parents)
    turned = table.values.transpose(*range(n_parents)[::-1], n_parents)
    rows = turned.reshape(-1, table.child.arity).tolist()
    for configuration, row in zip(itertools.product(*states[::-1]), rows, strict=True):
        yield f"  ({', '.join(configuration[::-1])}) {_numbers(row)};\n"
    yield "}\n"


def _listed_rows(table: SparseTable, states: list[list[str]]) -> Iterator[str]:
    order = np.lexsort(table.configurations.T)  # the last key counts first
    codes, rows = table.configurations[order], table.rows[:-1][order]
    for configuration, row in zip(codes.tolist(), rows.tolist(), strict=True):
        names = [own[code] for own, code in zip(states, configuration, strict=True)]
        yield f"  ({', '.join(names)}) {_numbers(row)};\n"


def _numbers(values: list[float]) -> str:
    return ", ".join(map(repr, values))


_KEYWORDS = frozenset(
    ("default", "discrete", "network", "probability", "property", "table", "type", "variable")
)
# 1e5 would be a number, 5x is none.
_WORD = re.compile(r"(?:[A-Za-z_]|[0-9]+(?![eE])[A-Za-z_])[A-Za-z0-9_.-]*")
_WHOLE = re.compile(r"-?[0-9]+")
_OTHER = re.compile(r"[^A-Za-z0-9_.-]+")


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
    for sign, word in SIGNS:
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
    return distinct(
        names,
        lambda name: _is_plain(name, is_state),
        lambda name: plain_name(name, is_state=is_state),
    )


def _is_plain(name: str, is_state: bool) -> bool:
    if is_state and _WHOLE.fullmatch(name):
        return True
    return _WORD.fullmatch(name) is not None and name not in _KEYWORDS


class Parser:
    """Reads one BIF text."""

    def __init__(self, text: str, source: str) -> None:
        self._scanner = Scanner(text, source)
        self._builder = Builder(self._scanner.fail, "probability block")

    def network(self) -> Network:
        """Read ``network NAME { ... }`` and all blocks behind it."""
        scanner = self._scanner
        scanner.expect_word("network")
        builder = self._builder
        builder.name = scanner.take().text if scanner.peek().is_name else ""
        scanner.expect("{")
        while not scanner.accept("}"):
            self._expect_item("property", "'}'")
            position = scanner.peek().position
            text = _property_text(*scanner.take_property())
            builder.properties.append(restored_property(scanner.fail, text, position))
        while scanner.peek().kind != "end":
            if scanner.expect_word("variable", "probability").text == "variable":
                self._variable()
            else:
                self._probability()
        if builder.is_empty:
            scanner.unexpected("'variable'")
        return builder.network()

    def _expect_item(self, *wanted: str) -> str:
        """Take the word that opens an item of a block; `wanted` ends with how to close it."""
        token = self._scanner.peek()
        if token.kind != "word" or token.text not in wanted[:-1]:
            self._scanner.unexpected(", ".join(map(repr, wanted[:-1])) + f" or {wanted[-1]}")
        return self._scanner.take().text

    # variable NAME { type discrete [ K ] { STATE, ... }; property ...; }

    def _variable(self) -> None:
        scanner = self._scanner
        name = scanner.expect_name("the name of a variable")
        self._builder.require_new(name.text, name.position)
        scanner.expect("{")
        states: list[str] | None = None
        notes: list[Note] = []
        while scanner.peek().kind != "}":
            position = scanner.peek().position
            if self._expect_item("type", "property", "'}'") == "type":
                if states is not None:
                    scanner.fail(position, f"variable {name.text!r} has two types")
                states = scanner.take_states(f"variable {name.text!r}")
                continue
            notes.append((_property_text(*scanner.take_property()), position))
        if states is None:
            scanner.unexpected("'type'")
        scanner.expect("}")
        self._builder.declare(name.text, states, notes, name.position)

    # probability ( CHILD | PARENT, ... ) { (STATE, ...) NUMBER, ...; default ...; table ...; }

    def _probability(self) -> None:
        scanner = self._scanner
        scanner.expect("(")
        token = scanner.expect_name("the name of a variable")
        child = self._builder.child(token.text, token.position)
        parents = [] if scanner.peek().kind == ")" else self._parents()
        if not parents:
            scanner.expect(")")
        scanner.expect("{")
        known = self._builder.parents(token.text, [(p.text, p.position) for p in parents])
        block = Block(scanner, child.variable, known)
        while scanner.peek().kind != "}":
            if scanner.peek().kind == "(":
                block.read_entry()
                continue
            position = scanner.peek().position
            item = self._expect_item("table", "default", "property", "'(' or '}'")
            if item == "property":
                text = _property_text(*scanner.take_property())
                child.note(restored_property(scanner.fail, text, position))
            else:
                block.read_whole(item, position)
        scanner.expect("}")
        self._builder.place(child, block.table(token.position), token.position)

    def _parents(self) -> list[Token]:
        if not self._scanner.accept("|"):
            self._scanner.accept(",")
        if not self._scanner.peek().is_name:
            self._scanner.unexpected("the name of a parent")
        return self._scanner.take_names(")", "the name of a parent")


def _property_text(text: str, is_string: bool) -> str:
    """Return a property; one that was a string means its text, even if it looks like a note."""
    return property_note(text) if is_string else text
