"""The grammar of BIF: from text to a Network, with line and column in every error.

Each rule of the grammar is one method; what stands inside a probability block is read by `Block`.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Mapping

from bestdag.data.schema import Variable
from bestdag.errors import CycleError, DataError
from bestdag.graph.dag import Dag
from bestdag.network.bif_block import Block, Declared
from bestdag.network.bif_names import CUTS, NAME, PROPERTY, STATES, restored
from bestdag.network.bif_syntax import Scanner, Token
from bestdag.network.network import Network
from bestdag.network.table import ConditionalTable

__all__ = ["Parser"]

_ARITY = re.compile(r"[0-9]{1,9}")


class Parser:
    """Reads one BIF text."""

    def __init__(self, text: str, source: str) -> None:
        self._scanner = Scanner(text, source)
        self._declared: dict[str, Declared] = {}  # by the names in the file
        self._names: set[str] = set()  # those that properties restore
        self._blocks: list[tuple[str, int]] = []  # children of the probability blocks, in order

    def network(self) -> Network:
        """Read ``network NAME { ... }`` and all blocks behind it."""
        scanner = self._scanner
        scanner.expect_word("network")
        name = scanner.take().text if scanner.peek().is_name else ""
        properties: list[str] = []
        scanner.expect("{")
        while not scanner.accept("}"):
            self._expect_item("property", "'}'")
            position = scanner.peek().position
            properties.append(self._property_text(*scanner.take_property(), position))
        while scanner.peek().kind != "end":
            if scanner.expect_word("variable", "probability").text == "variable":
                self._variable()
            else:
                self._probability()
        return self._assembled(name, properties)

    def _assembled(self, name: str, properties: list[str]) -> Network:
        if not self._declared:
            self._scanner.unexpected("'variable'")
        tables = []
        for declared in self._declared.values():
            if declared.table is None:
                shown = repr(declared.variable.name)
                self._scanner.fail(
                    declared.position, f"variable {shown} has no probability block in this file"
                )
            tables.append(declared.table)
        notes = {each.variable.name: each.properties for each in self._declared.values()}
        try:
            return Network(tables, name=name, properties=properties, variable_properties=notes)
        except CycleError as error:
            return self._scanner.fail(self._closing_block(tables), str(error))

    def _closing_block(self, tables: list[ConditionalTable]) -> int:
        """Where the first block stands that closes a cycle with the blocks before it."""
        parents = {table.child.name: [p.name for p in table.parents] for table in tables}

        def has_cycle(n_blocks: int) -> bool:
            arcs = [(p, child) for child, _ in self._blocks[:n_blocks] for p in parents[child]]
            try:
                Dag(parents, arcs)
            except CycleError:
                return True
            return False

        first = bisect.bisect_left(range(len(self._blocks)), True, key=has_cycle)
        return self._blocks[first - 1][1]

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
        if name.text in self._declared:
            scanner.fail(name.position, f"variable {name.text!r} is declared twice")
        scanner.expect("{")
        states: list[str] | None = None
        properties: list[str] = []
        own: dict[str, tuple[str, int]] = {}  # what our writer kept, and where
        while scanner.peek().kind != "}":
            position = scanner.peek().position
            if self._expect_item("type", "property", "'}'") == "type":
                if states is not None:
                    scanner.fail(position, f"variable {name.text!r} has two types")
                states = self._states(name.text)
                continue
            text, is_string = scanner.take_property()
            key = next((k for k in (CUTS, NAME, STATES) if text.startswith(k)), None)
            if key is None or is_string:
                properties.append(self._property_text(text, is_string, position))
                continue
            if key in own:
                what = key.removesuffix(" =")
                scanner.fail(position, f"the property {what} of {name.text!r} is given twice")
            own[key] = text, position
        if states is None:
            scanner.unexpected("'type'")
        scanner.expect("}")
        variable = self._restored(name, states, own)
        if variable.name in self._names:
            scanner.fail(name.position, f"variable {variable.name!r} is declared twice")
        self._names.add(variable.name)
        self._declared[name.text] = Declared(variable, tuple(states), name.position, properties)

    def _restored(
        self, name: Token, states: list[str], own: Mapping[str, tuple[str, int]]
    ) -> Variable:
        """Return the variable with the name, states and cut points that properties keep."""
        scanner = self._scanner
        names, labels = [name.text], states
        if NAME in own:
            names = restored(scanner, NAME, *own[NAME])
            if len(names) != 1:
                scanner.fail(own[NAME][1], f"expected one name, got {len(names)}")
        if STATES in own:
            labels = restored(scanner, STATES, *own[STATES])
            if len(labels) != len(states):
                scanner.fail(
                    own[STATES][1],
                    f"variable {name.text!r} has {len(states)} states, the property has "
                    f"{len(labels)}",
                )
        try:
            if len(set(states)) < len(states):
                Variable(name.text, tuple(states))  # says which
            cuts = self._cuts(*own[CUTS]) if CUTS in own else None
            return Variable(names[0], tuple(labels), cuts)
        except DataError as error:
            return scanner.fail(name.position, str(error))

    def _property_text(self, text: str, is_string: bool, position: int) -> str:
        if is_string or not text.startswith(PROPERTY):
            return text
        texts = restored(self._scanner, PROPERTY, text, position)
        if len(texts) != 1:
            self._scanner.fail(position, f"expected one text, got {len(texts)}")
        return texts[0]

    def _states(self, name: str) -> list[str]:
        scanner = self._scanner
        scanner.expect_word("discrete")
        scanner.expect("[")
        count = scanner.expect_name("the number of states")
        if not _ARITY.fullmatch(count.text):
            scanner.fail(count.position, f"expected the number of states, got {count.shown}")
        scanner.expect("]")
        scanner.expect("{")
        states = scanner.take_names("}", "a state")
        scanner.expect(";")
        if len(states) != int(count.text):
            scanner.fail(
                count.position,
                f"variable {name!r} announces {int(count.text)} states, {len(states)} are listed",
            )
        return [state.text for state in states]

    def _cuts(self, text: str, position: int) -> tuple[float, ...]:
        try:
            return tuple(float(cut) for cut in text[len(CUTS) :].split(",") if cut)
        except ValueError:
            return self._scanner.fail(position, f"expected cut points, got {text!r}")

    # probability ( CHILD | PARENT, ... ) { (STATE, ...) NUMBER, ...; default ...; table ...; }

    def _probability(self) -> None:
        scanner = self._scanner
        scanner.expect("(")
        token = scanner.expect_name("the name of a variable")
        child = self._known(token)
        if child.table is not None:
            scanner.fail(token.position, f"variable {token.text!r} has two probability blocks")
        parents = [] if scanner.peek().kind == ")" else self._parents()
        if not parents:
            scanner.expect(")")
        scanner.expect("{")
        known = [self._known(parent) for parent in parents]
        seen = {token.text}
        for parent in parents:
            if parent.text in seen:
                scanner.fail(parent.position, f"{parent.text!r} is listed twice in one block")
            seen.add(parent.text)
        block = Block(scanner, child.variable, known)
        while scanner.peek().kind != "}":
            if scanner.peek().kind == "(":
                block.read_entry()
                continue
            position = scanner.peek().position
            item = self._expect_item("table", "default", "property", "'(' or '}'")
            if item == "property":
                child.properties.append(self._property_text(*scanner.take_property(), position))
            else:
                block.read_whole(item, position)
        scanner.expect("}")
        child.table = block.table(token.position)
        self._blocks.append((child.variable.name, token.position))

    def _parents(self) -> list[Token]:
        if not self._scanner.accept("|"):
            self._scanner.accept(",")
        if not self._scanner.peek().is_name:
            self._scanner.unexpected("the name of a parent")
        return self._scanner.take_names(")", "the name of a parent")

    def _known(self, token: Token) -> Declared:
        if token.text not in self._declared:
            self._scanner.fail(
                token.position, f"variable {token.text!r} is not declared above this line"
            )
        return self._declared[token.text]
