"""XML by expat, element by element: nothing is expanded or fetched, and no tree is built.

Declarations of entities are refused (no expansion bombs, no external entities); a document type
with elements and attributes, as the standard ones have, is read over. Elements nest to a limit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NoReturn, Protocol
from xml.parsers import expat

from bestdag.network.scanner import format_error

__all__ = ["Handler", "Place", "XmlReader", "escaped", "root_of"]

MAX_DEPTH = 32

Place = tuple[int, int]  # line and column, both from 1

_ROOT = re.compile(r"<([A-Za-z_][\w.-]*)")
_MEANING = re.compile(r'[&<>"\x00-\x1f]')
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}


class Handler(Protocol):
    """What is called for each element; `path` is that of its tags, from the root, with slashes."""

    def start(self, path: str, attributes: Mapping[str, str], place: Place) -> None:
        """Begin an element."""

    def end(self, path: str, text: str, place: Place) -> None:
        """End an element; `text` is what stands in it, `place` where it began."""


class XmlReader:
    """Reads one XML file.

    Parameters
    ----------
    source : str
        What to call the file in messages.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._parser = expat.ParserCreate()
        self._handler: Handler | None = None
        self._paths: list[str] = [""]
        self._open: list[tuple[Place, list[str]]] = []

    def fail(self, place: Place, message: str) -> NoReturn:
        """Raise the error for a place."""
        raise format_error(self._source, *place, message)

    def read(self, data: bytes, handler: Handler) -> Place:
        """Call the handler for every element, and return where the file ends."""
        parser = self._parser
        self._handler = handler
        parser.buffer_text = True
        parser.specified_attributes = True  # not the ones that a document type adds
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.EntityDeclHandler = self._entity
        parser.SkippedEntityHandler = self._skipped
        try:
            parser.Parse(data, True)
        except expat.ExpatError as error:
            self.fail((error.lineno, error.offset + 1), f"not valid XML: {_reason(error)}")
        except (LookupError, ValueError) as error:
            if type(error) not in (LookupError, ValueError, UnicodeDecodeError):
                raise
            self.fail(self._place(), f"not valid XML: {error}")
        return self._place()

    def _place(self) -> Place:
        return self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        assert self._handler is not None
        place = self._place()
        if len(self._open) == MAX_DEPTH:
            self.fail(place, f"elements are nested deeper than {MAX_DEPTH}")
        if self._open:
            around = self._open[-1][1]
            if any(not text.isspace() for text in around):
                self.fail(place, f"element <{tag[:40]}> among text")
            around.clear()  # the blanks between elements
        path = f"{self._paths[-1]}/{tag}" if self._open else tag
        self._paths.append(path)
        self._open.append((place, []))
        self._handler.start(path, attributes, place)

    def _end(self, _tag: str) -> None:
        assert self._handler is not None
        place, texts = self._open.pop()
        self._handler.end(self._paths.pop(), "".join(texts), place)

    def _text(self, text: str) -> None:
        self._open[-1][1].append(text)

    def _entity(self, name: str, *_: Any) -> None:
        self.fail(self._place(), f"entity {name!r} is declared, and entities are not expanded here")

    def _skipped(self, name: str, *_: Any) -> None:
        self.fail(self._place(), f"entity {name!r} is used, and entities are not expanded here")


def _reason(error: expat.ExpatError) -> str:
    return expat.ErrorString(error.code) or "unknown error"


def root_of(text: str) -> str:
    """Return the tag of the first element in the beginning of a text, or nothing.

    Examples
    --------
    >>> root_of('<?xml version="1.0"?><!-- a <b> --><BIF VERSION="0.3">')
    'BIF'
    """
    if not text.startswith("<"):
        return ""
    bare = re.sub(r"<!--.*?-->|<\?.*?\?>", "", text, flags=re.DOTALL)
    root = _ROOT.search(bare)
    return root[1] if root else ""


def escaped(text: str) -> str:
    """Write text that stands in an element or an attribute.

    Examples
    --------
    >>> escaped('a < "b"')
    'a &lt; &quot;b&quot;'
    """
    return _MEANING.sub(lambda match: _ENTITIES.get(match[0], f"&#{ord(match[0])};"), text)
