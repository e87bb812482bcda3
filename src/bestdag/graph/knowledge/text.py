"""Knowledge as lines of text and as files: TOML and JSON in, JSON out."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterable
from typing import Any

from bestdag.errors import BestdagError, FormatError, unknown_name
from bestdag.files import format_suffix, read_file, shown_path
from bestdag.graph.knowledge.kinds import KINDS, Pair, Statement
from bestdag.graph.knowledge.words import Line
from bestdag.wording import shown_value

__all__ = ["parse_lines", "read_knowledge", "to_json"]


def parse_lines(lines: Iterable[str]) -> dict[str, Any]:
    """Return the keyword arguments of Knowledge that the lines say."""
    pairs = [kind for kind in KINDS if issubclass(kind, Pair)]
    signs = {kind.sign: (kind.field, 1) for kind in pairs}
    signs |= {kind.turned_sign: (kind.field, -1) for kind in pairs if kind.turned_sign}
    values: dict[str, Any] = {}
    for text in [lines] if isinstance(lines, str) else lines:
        if not isinstance(text, str):
            raise FormatError(f"Knowledge: a statement must be text, got {shown_value(text)}")
        line = Line(text, signs)
        if line.tail is not None:
            _read_keyword(line, values)
            continue
        for one, sign, other in _relations(line):
            field, direction = signs[sign]
            values.setdefault(field, []).append((one, other)[::direction])
    return values


def _relations(line: Line) -> Iterable[tuple[str, str, str]]:
    """Return the relations of A -> B, or of a chain of such."""
    n = len(line.words)
    wanted = ["sign" if i % 2 else "name" for i in range(n)]
    if n < 3 or n % 2 == 0 or [kind for kind, _, _ in line.words] != wanted:
        raise line.error(_needed())
    texts = [text for _, text, _ in line.words]
    return zip(texts[:-2:2], texts[1::2], texts[2::2], strict=True)


def _read_keyword(line: Line, values: dict[str, Any]) -> None:
    """Read a keyword, a colon and what follows; lines about one thing add up."""
    kind = _kind_of(line)
    value = kind.read(line)
    if kind.field in values:
        if kind.is_single:
            raise line.error(f"{kind.field} is said twice")
        value = kind.join(values[kind.field], value)
    values[kind.field] = value


def _kind_of(line: Line) -> type[Statement]:
    what, keyword, is_bare = line.words[0]
    if what != "name" or not is_bare:
        raise line.error(_needed() + "; a name with a colon needs quotes")
    kinds = [kind for kind in KINDS if kind.keyword == keyword]
    if not kinds:
        known = dict.fromkeys(kind.keyword for kind in KINDS if kind.keyword)
        who = f"Knowledge: cannot read {shown_value(line.text)}"
        raise unknown_name("keyword", keyword, known, who=who)
    for kind in kinds:
        if kind.has_head == bool(line.head):
            return kind
    raise line.error(f"{keyword} is followed by a colon")


def _needed() -> str:
    *forms, last = (kind.form for kind in KINDS)
    return f"a statement is like {', '.join(forms)} or {last}"


_SUFFIXES = (".toml", ".json")


def read_knowledge(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the keyword arguments of Knowledge that a file says, each checked by itself."""
    suffix, shown = format_suffix(path), shown_path(path)
    if suffix not in _SUFFIXES:
        raise unknown_name("file format", suffix, _SUFFIXES, who=f"Knowledge.load: {shown}")
    try:
        text = read_file(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"{shown}: is not UTF-8 text at byte {error.start:,}") from None
    values = _parse(suffix, text, shown)
    kinds = {kind.field: kind for kind in KINDS}
    for key, value in values.items():
        if key not in kinds:
            raise unknown_name("key", key, kinds, who=_place(shown, suffix, text, key))
        try:
            kinds[key].check(value)
        except BestdagError as error:
            where = _place(shown, suffix, text, key)
            raise type(error)(f"{where}: {str(error).removeprefix('Knowledge: ')}") from None
    return values


def to_json(values: dict[str, Any]) -> bytes:
    """Write the file, a key per line."""
    lines = [f"  {json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in values.items()]
    text = "{\n" + ",\n".join(lines) + "\n}\n" if lines else "{}\n"
    try:
        return text.encode()
    except UnicodeEncodeError:  # half a surrogate pair in a name: only an escape can say it
        return (json.dumps(values) + "\n").encode()


def _parse(suffix: str, text: str, shown: str) -> dict[str, Any]:
    try:
        if suffix == ".toml":
            return tomllib.loads(text)
        values = json.loads(text, object_pairs_hook=_without_repetition)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno:,}, column {error.colno:,}"
        raise FormatError(f"{shown}: is not JSON at {where}: {error.msg}") from None
    except tomllib.TOMLDecodeError as error:  # the message ends in the line and column
        raise FormatError(f"{shown}: is not TOML: {error}") from None
    except RecursionError:
        raise FormatError(f"{shown}: is nested too deeply") from None
    except ValueError as error:  # a key that comes twice, a number of thousands of digits
        raise FormatError(f"{shown}: {error}") from None
    if not isinstance(values, dict):
        raise FormatError(f"{shown}: must hold an object {{...}}, got {type(values).__name__}")
    return values


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        if key in values:
            raise ValueError(f"key {key!r} comes twice")
        values[key] = value
    return values


def _place(shown: str, suffix: str, text: str, key: str) -> str:
    """Name the file and the line where a key stands, as far as that can be seen."""
    word = re.escape(key)
    quoted = re.escape(json.dumps(key, ensure_ascii=False))
    if suffix == ".json":
        pattern = rf"{quoted}\s*:"
    else:
        pattern = rf"^[ \t]*\[{{0,2}}[ \t]*(?:{word}|{quoted}|'{word}')[ \t]*[=.\]]"
    match = re.search(pattern, text, re.MULTILINE)
    return f"{shown}: line {text.count(chr(10), 0, match.start()) + 1:,}" if match else shown
