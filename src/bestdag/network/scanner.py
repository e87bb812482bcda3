r"""The words of the text formats (BIF, DSC, NET): scanning, quoting and positions.

A name is a bare word or a quoted string. A bare word is any run of characters without white
space, control characters, ``"`` and the punctuation of the format; it may hold ``/`` but not start
a comment. A quoted string stands between ``"`` and may hold anything, with the escapes ``\"  \\
\n  \r  \t`` and ``\uXXXX``. A `Syntax` says what is punctuation and what a comment looks like.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from bestdag.errors import FormatError

__all__ = [
    "BIF",
    "BLANKS",
    "NUMBER",
    "Scanner",
    "Syntax",
    "Token",
    "decoded",
    "format_error",
    "is_bare",
    "quoted",
    "read_numbers",
    "unquoted",
]


def decoded(data: bytes, source: str) -> str:
    r"""Decode UTF-8, with or without a byte order mark, or say where it is not.

    Examples
    --------
    >>> decoded(b"\xef\xbb\xbfnetwork", "x.bif")
    'network'
    >>> decoded(b"a\nb\xff", "x.bif")
    Traceback (most recent call last):
    ...
    bestdag.errors.FormatError: x.bif:2:2: expected UTF-8 text, got the byte 0xff
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        begin = data.rfind(b"\n", 0, error.start) + 1
        column = len(data[begin : error.start].decode("utf-8")) + 1
        message = f"expected UTF-8 text, got the byte 0x{data[error.start]:02x}"
        raise format_error(source, line, column, message) from None
    return text.removeprefix("\ufeff")


def format_error(source: str, line: int, column: int, message: str) -> FormatError:
    """Return the error for a place in a file; a name quoted in it may not break its line."""
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in message)
    return FormatError(f"{source}:{line}:{column}: {shown}")


NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_PLAIN = re.compile(r"[-+0-9.eE \t\r\n\f\v]*+")
_WORD = re.compile(r"[^ \t\r\n\f\v]+")


def read_numbers(
    text: str, fail: Callable[[int, str], NoReturn], wanted: str = "a number"
) -> npt.NDArray[np.float64]:
    r"""Read numbers with blanks between them; `fail` gets the place of a word that is none.

    Examples
    --------
    >>> read_numbers(" 0.1 2e-1\n.7 ", print).tolist()
    [0.1, 0.2, 0.7]
    """
    made = _in_bulk(text)
    if made is not None:
        return made
    for word in _WORD.finditer(text):
        if NUMBER.fullmatch(word[0]) is None:
            shown = word[0] if len(word[0]) <= 40 else word[0][:37] + "..."
            fail(word.start(), f"expected {wanted}, got {shown!r}")
    return np.array([float(word[0]) for word in _WORD.finditer(text)], dtype=np.float64)


def _in_bulk(text: str) -> npt.NDArray[np.float64] | None:
    """Read plain numbers; None where something else may be among them."""
    # Only such text: the reader of arrays also takes nan and stops at what it does not know.
    if not _PLAIN.fullmatch(text):
        return None
    is_blank = np.frombuffer(text.encode("ascii"), dtype=np.uint8) <= ord(" ")
    n_words = int((is_blank[:-1] & ~is_blank[1:]).sum()) + int(not is_blank[:1].all())
    if n_words == 0:
        return np.empty(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            made = np.fromstring(text, dtype=np.float64, sep=" ")
        except (DeprecationWarning, ValueError):
            return None
    # It reads 1-2 as two numbers.
    return made if len(made) == n_words else None


_QUOTED = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
# All up to the semicolon, where a quoted string may hold semicolons.
_PROPERTY = re.compile(rf'([^";]*+(?:{_QUOTED}[^";]*+)*+);', re.DOTALL)
_ARITY = re.compile(r"[0-9]{1,9}")
_WHOLE_QUOTED = re.compile(_QUOTED, re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {'"': '"', "\\": "\\", "n": "\n", "r": "\r", "t": "\t"}
# Characters that break lines or files: controls, line separators, byte order mark, surrogates.
_UNSAFE = re.compile(r'["\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
BLANKS = " \t\r\n\f\v"
# Notes that our writers put into comments, in formats that have no better place.
_OWN = re.compile(r"(?://|%|#)[ ]?(bestdag-[a-z]+ =[^\r\n]*)")


@dataclass(frozen=True)
class Syntax:
    """What is punctuation in a format, how a comment begins, and whether escapes are checked."""

    punctuation: str
    line_comment: str = "//"
    is_strict: bool = True
    bare: re.Pattern[str] = field(init=False)
    blank: re.Pattern[str] = field(init=False)
    token: re.Pattern[str] = field(init=False)
    # All up to the semicolon, where strings and comments may hold semicolons.
    statement: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        signs = re.escape(self.punctuation)
        if self.line_comment == "//":
            bare = rf'(?:[^\x00-\x20\x7f{signs}"/]|/(?![/*]))+'
            comment, other = r"//[^\n]*|/\*.*?\*/", r"/"
        else:
            bare = rf'[^\x00-\x20\x7f{signs}"{self.line_comment}]+'
            comment, other = rf"{self.line_comment}[^\n]*", self.line_comment
        patterns = {
            "bare": bare,
            "blank": rf"(?:[ \t\r\n\f\v]+|{comment})*+",
            "token": rf"({bare})|({_QUOTED})|[{signs}]",
            "statement": rf'((?:[^";{other}]++|{_QUOTED}|{comment}|/(?![/*]))*+);',
        }
        for name, pattern in patterns.items():
            object.__setattr__(self, name, re.compile(pattern, re.DOTALL))


BIF = Syntax("{}()[],;|")


class Token(NamedTuple):
    """A piece of the file: its kind, its text (names without quotes) and where it begins."""

    kind: str  # "word", "string", a punctuation character, or "end"
    text: str
    position: int

    @property
    def is_name(self) -> bool:
        """Whether it can name something."""
        return self.kind in ("word", "string")

    @property
    def shown(self) -> str:
        """What to call it in a message."""
        if self.kind == "end":
            return "the end of the file"
        text = self.text if len(self.text) <= 40 else self.text[:37] + "..."
        return repr(text)


class Scanner:
    """Walks through a text token by token; every error says line and column."""

    def __init__(self, text: str, source: str, syntax: Syntax = BIF) -> None:
        self.text = text
        self.source = source
        self.syntax = syntax
        self.position = 0  # behind the last token taken
        self._ahead: tuple[Token, int] | None = None
        self._comments: list[tuple[str, int]] = []

    def fail(self, position: int, message: str) -> NoReturn:
        """Raise the error for something at a position."""
        line = self.text.count("\n", 0, position) + 1
        column = position - self.text.rfind("\n", 0, position)
        raise format_error(self.source, line, column, message)

    def peek(self) -> Token:
        """Look at the next token without taking it."""
        if self._ahead is None:
            self._ahead = self._scan()
        return self._ahead[0]

    def take(self) -> Token:
        """Take the next token."""
        token = self.peek()
        assert self._ahead is not None
        self.position = self._ahead[1]
        self._ahead = None
        return token

    def jump(self, position: int) -> None:
        """Go on behind text that was read in bulk."""
        self.position = position
        self._ahead = None

    def comments(self) -> list[tuple[str, int]]:
        """Return the notes of our writer in the comments passed since the last call, and where."""
        comments, self._comments = self._comments, []
        return comments

    def accept(self, kind: str) -> bool:
        """Take the next token if it is this punctuation."""
        if self.peek().kind != kind:
            return False
        self.take()
        return True

    def expect(self, kind: str) -> Token:
        """Take this punctuation, or fail."""
        if self.peek().kind != kind:
            self.unexpected(repr(kind))
        return self.take()

    def expect_word(self, *words: str) -> Token:
        """Take one of these bare words, or fail."""
        token = self.peek()
        if token.kind != "word" or token.text not in words:
            self.unexpected(" or ".join(map(repr, words)))
        return self.take()

    def expect_name(self, what: str) -> Token:
        """Take a bare or quoted name, or fail."""
        if not self.peek().is_name:
            self.unexpected(what)
        return self.take()

    def take_names(self, close: str, what: str) -> list[Token]:
        """Take names up to the closing character; commas between them may be left out."""
        names: list[Token] = []
        if self.accept(close):
            return names
        while True:
            names.append(self.expect_name(what))
            if self.accept(close):
                return names
            if not self.accept(",") and not self.peek().is_name:
                self.unexpected(f"',' or {close!r}")

    def take_states(self, owner: str, before_list: str = "") -> list[str]:
        """Take ``discrete [ K ] { STATE, ... };``, with a character before the list if given."""
        self.expect_word("discrete")
        self.expect("[")
        count = self.expect_name("the number of states")
        if not _ARITY.fullmatch(count.text):
            self.fail(count.position, f"expected the number of states, got {count.shown}")
        for character in ("]", *before_list, "{"):
            self.expect(character)
        states = [state.text for state in self.take_names("}", "a state")]
        self.expect(";")
        if len(states) != int(count.text):
            self.fail(
                count.position,
                f"{owner} announces {int(count.text)} states, {len(states)} are listed",
            )
        return states

    def take_property(self) -> tuple[str, bool]:
        """Take the rest of a property up to its semicolon, and say whether it was one string."""
        match = _PROPERTY.match(self.text, self.position)
        if match is None:
            self.fail(len(self.text), "expected ';' after a property, got the end of the file")
        self.jump(match.end())
        text = match[1].strip(BLANKS)
        if _WHOLE_QUOTED.fullmatch(text):
            return self.unquoted(text, self.text.index('"', match.start())), True
        return text, False

    def unexpected(self, wanted: str) -> NoReturn:
        """Raise the error for a next token that is not what must come here."""
        token = self.peek()
        self.fail(token.position, f"expected {wanted}, got {token.shown}")

    def _scan(self) -> tuple[Token, int]:
        blank = self.syntax.blank.match(self.text, self.position)
        assert blank is not None
        start = blank.end()
        if start - self.position > len("bestdag-") and self.syntax is not BIF:
            own = _OWN.finditer(self.text, self.position, start)
            self._comments += [(each[1].rstrip(), each.start()) for each in own]
        match = self.syntax.token.match(self.text, start)
        if match is not None:
            if match[1] is not None:
                return Token("word", match[1], start), match.end()
            if match[2] is not None:
                return Token("string", self.unquoted(match[2], start), start), match.end()
            return Token(match[0], match[0], start), match.end()
        if start == len(self.text):
            return Token("end", "", start), start
        if self.text.startswith("/*", start) and self.syntax.line_comment == "//":
            self.fail(start, "expected '*/' to close this comment, got the end of the file")
        if self.text[start] == '"':
            self.fail(start, "expected '\"' to close this string, got the end of the file")
        return self.fail(start, f"unexpected character {self.text[start]!r}")

    def unquoted(self, literal: str, position: int) -> str:
        """Return what a quoted string says; it begins at a position."""
        return unquoted(literal, position, self.fail, is_strict=self.syntax.is_strict)


def unquoted(
    literal: str,
    position: int,
    fail: Callable[[int, str], NoReturn],
    *,
    is_strict: bool = True,
) -> str:
    """Return what a quoted string says; an unknown escape is an error or stays as it is."""

    def plain(match: re.Match[str]) -> str:
        code = match[1]
        if len(code) == 5:
            return chr(int(code[1:], 16))
        if code not in _ESCAPED and is_strict:
            fail(
                position + 1 + match.start(),
                f"unknown escape {match[0]!r} in a string; write a backslash as '\\\\'",
            )
        return _ESCAPED.get(code, match[0])

    inner = literal[1:-1]
    return _ESCAPE.sub(plain, inner) if "\\" in inner else inner


def is_bare(name: str) -> bool:
    """Whether a name reads back as itself without quotes."""
    return BIF.bare.fullmatch(name) is not None


def quoted(text: str) -> str:
    r"""Write any text as a quoted string.

    Examples
    --------
    >>> print(quoted('say "hi"'))
    "say \"hi\""
    """
    return '"' + _UNSAFE.sub(lambda m: _SHORT.get(m[0], f"\\u{ord(m[0]):04x}"), text) + '"'
