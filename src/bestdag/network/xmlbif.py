r"""XMLBIF 0.3, the interchange format in XML, which Weka, JavaBayes and others share.

What is read::

    <BIF VERSION="0.3"><NETWORK><NAME>asia</NAME>
    <VARIABLE TYPE="nature"><NAME>smoke</NAME>
      <OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME><PROPERTY>position = (7, 9)</PROPERTY></VARIABLE>
    <VARIABLE TYPE="nature"> ... </VARIABLE>
    <DEFINITION><FOR>smoke</FOR><TABLE>0.5 0.5</TABLE></DEFINITION>
    <DEFINITION><FOR>lung</FOR><GIVEN>smoke</GIVEN><TABLE>0.99 0.01 0.9 0.1</TABLE></DEFINITION>
    </NETWORK></BIF>

In a table the states of the variable run fastest, then those of the last parent. The standard
document type is read over; entities are refused, as are variables that are no ``nature``.

What is written has the names that BIF files have, and properties that keep the others
(`exact_names`).

References
----------
.. [1] Cozman (1998). "The Interchange Format for Bayesian Networks", XMLBIF version 0.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from bestdag.network.bif import written
from bestdag.network.building import Builder, all_rows, dense_table
from bestdag.network.exact_names import (
    NAME,
    PROPERTY,
    Note,
    note_text,
    own_notes,
    property_note,
    restored,
    sorted_notes,
)
from bestdag.network.network import Network
from bestdag.network.scanner import read_numbers
from bestdag.network.table import ConditionalTable
from bestdag.network.xml_reader import Place, XmlReader, escaped, root_of

__all__ = ["looks_like", "parse", "render", "written"]

_NETWORK = "BIF/NETWORK"
_VARIABLE, _DEFINITION = f"{_NETWORK}/VARIABLE", f"{_NETWORK}/DEFINITION"
_KNOWN = {
    "BIF",
    *(f"{_NETWORK}{tag}" for tag in ("", "/NAME", "/PROPERTY")),
    *(f"{_VARIABLE}{tag}" for tag in ("", "/NAME", "/OUTCOME", "/PROPERTY")),
    *(f"{_DEFINITION}{tag}" for tag in ("", "/FOR", "/GIVEN", "/TABLE", "/PROPERTY")),
}


def parse(data: bytes, source: str = "<xmlbif>") -> Network:
    """Read a network from the bytes of an XMLBIF file.

    Examples
    --------
    >>> parse(b"<BIF><NETWORK><NAME>x</NAME></NETWORK></BIF>", "x.xmlbif")
    Traceback (most recent call last):
    ...
    bestdag.errors.FormatError: x.xmlbif:1:45: expected a VARIABLE, got the end of the file
    """
    reader = XmlReader(source)
    collected = _Collected(reader)
    return collected.network(reader.read(data, collected))


def looks_like(text: str) -> bool:
    """Whether the beginning of a text is that of an XMLBIF file."""
    return root_of(text) == "BIF"


def render(network: Network) -> bytes:
    """Write a network as the bytes of an XMLBIF file."""
    return "".join(_lines(network)).encode("utf-8")


def _lines(network: Network) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<BIF VERSION="0.3">\n<NETWORK>\n'
    is_plain = network.name.isascii() and network.name.isprintable() and network.name.strip() != ""
    if is_plain and network.name == network.name.strip():
        yield f"<NAME>{escaped(network.name)}</NAME>\n"
    else:
        yield f"<NAME>unknown</NAME>\n{_property(note_text(NAME, [network.name]))}"
    for text in network.properties:
        yield _property(property_note(text))
    made = written(network)
    for variable in network.variables:
        name, states = made.names[variable.name], made.states[variable.name]
        yield f'<VARIABLE TYPE="nature">\n{_element("NAME", name)}'
        for state in states:
            yield _element("OUTCOME", state)
        for text in own_notes(variable, name, states):
            yield _property(text)
        for text in network.properties_of(variable.name):
            yield _property(property_note(text))
        yield "</VARIABLE>\n"
    for table in network.tables:
        yield from _definition(table, made.names)
    yield "</NETWORK>\n</BIF>\n"


def _element(tag: str, text: str) -> str:
    return f"  <{tag}>{escaped(text)}</{tag}>\n"


def _property(text: str) -> str:
    # pgmpy parts a property at every sign of equality.
    if text.count("=") > 1 and not text.startswith("bestdag-"):
        text = note_text(PROPERTY, [text])
    key, _, value = text.partition("=")
    value = value.replace("=", "\\u003d")
    return _element("PROPERTY", f"{key}={value}")


def _definition(table: ConditionalTable, names: Mapping[str, str]) -> Iterator[str]:
    yield f"<DEFINITION>\n{_element('FOR', names[table.child.name])}"
    for parent in table.parents:
        yield _element("GIVEN", names[parent.name])
    yield "  <TABLE>\n"
    for row in all_rows(table).tolist():
        yield f"    {' '.join(map(repr, row))}\n"
    yield "  </TABLE>\n</DEFINITION>\n"


class _Collected:
    """What was read, element by element."""

    def __init__(self, reader: XmlReader) -> None:
        self._fail = reader.fail
        self._builder = Builder(reader.fail, "DEFINITION")
        self._notes: list[Note] = []  # of the network
        self._texts: dict[str, list[tuple[str, Place]]] = {}  # of one variable or definition
        self._numbers: npt.NDArray[np.float64] | None = None
        self._definitions: list[_Definition] = []

    def start(self, path: str, attributes: Mapping[str, str], place: Place) -> None:
        if path not in _KNOWN:
            known = sorted(tag.rpartition("/")[2] for tag in _KNOWN if _is_in(tag, path))
            wanted = ", ".join(f"<{tag}>" for tag in known) or "text"
            self._fail(place, f"expected {wanted}, got <{path.rpartition('/')[2][:40]}>")
        if path in (_VARIABLE, _DEFINITION):
            self._texts, self._numbers = {}, None
        if path == _VARIABLE and attributes.get("TYPE", "nature") != "nature":
            self._fail(
                place,
                f"a variable of TYPE {attributes['TYPE']!r:.40}; only chance variables have "
                "probabilities ('nature'): remove it",
            )

    def end(self, path: str, text: str, place: Place) -> None:
        block, _, tag = path.rpartition("/")
        if path == _VARIABLE:
            self._variable(place)
        elif path == _DEFINITION:
            self._definition(place)
        elif path == f"{_NETWORK}/NAME":
            self._builder.name = text.strip()
        elif path == f"{_NETWORK}/PROPERTY":
            self._notes.append((text.strip(), place))
        elif tag == "TABLE":
            if self._numbers is not None:
                self._fail(place, "a second <TABLE> in one <DEFINITION>")
            self._numbers = read_numbers(text, lambda _, message: self._fail(place, message))
        elif block in (_VARIABLE, _DEFINITION):
            self._texts.setdefault(tag, []).append((text.strip(), place))

    def _one(self, tag: str, place: Place) -> str:
        texts = self._texts.get(tag, [])
        if len(texts) != 1:
            self._fail(texts[1][1] if texts else place, f"one <{tag}> is needed, got {len(texts)}")
        return texts[0][0]

    def _variable(self, place: Place) -> None:
        name = self._one("NAME", place)
        states = [text for text, _ in self._texts.get("OUTCOME", [])]
        self._builder.declare(name, states, self._texts.get("PROPERTY", []), place)

    def _definition(self, place: Place) -> None:
        child = self._one("FOR", place)
        if self._numbers is None:
            self._fail(place, f"the definition of {child!r} has no <TABLE>")
        parents, notes = self._texts.get("GIVEN", []), self._texts.get("PROPERTY", [])
        definition = (child, parents, notes, self._numbers, place)
        if self._builder.knows([child, *(name for name, _ in parents)]):
            self._place(definition)
        else:
            self._definitions.append(definition)

    def _place(self, definition: _Definition) -> None:
        name, parent_names, notes, numbers, place = definition
        builder = self._builder
        child = builder.child(name, place)
        parents = builder.parents(name, parent_names)
        for text in sorted_notes(self._fail, notes, name)[1]:
            child.note(text)
        table = dense_table(self._fail, child.variable, parents, numbers, place)
        builder.place(child, table, place)

    def network(self, end: Place) -> Network:
        """Put the tables together; definitions ahead of their variables come last."""
        builder = self._builder
        if builder.is_empty:
            self._fail(end, "expected a VARIABLE, got the end of the file")
        own, builder.properties = sorted_notes(self._fail, self._notes, "the network")
        if NAME in own:
            builder.name = restored(self._fail, NAME, *own[NAME])[0]
        for definition in self._definitions:
            self._place(definition)
        return builder.network()


_Definition = tuple[str, list[tuple[str, Place]], list[Note], npt.NDArray[np.float64], Place]


def _is_in(path: str, other: str) -> bool:
    return path.rpartition("/")[0] == other.rpartition("/")[0]
