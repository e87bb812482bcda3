"""The grammar of BIF: from text to a Network, with line and column in every error.

Each rule of the grammar is one method; what stands inside a probability block is read by `Block`.
"""

from __future__ import annotations

from bestdag.network.bif_block import Block
from bestdag.network.building import Builder
from bestdag.network.kept import Note, kept_property, restored_property
from bestdag.network.network import Network
from bestdag.network.scanner import Scanner, Token

__all__ = ["Parser"]


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
    """Return a property; one that was a string means its text, whatever that looks like."""
    return kept_property(text) if is_string else text
