r"""Our own network format: JSON with exact numbers, and everything a Network holds.

::

    {
      "format": "bestdag network",
      "version": 1,
      "name": "garden",
      "properties": ["author = somebody"],
      "variables": [
        {
          "name": "heat",
          "states": ["low", "high"],
          "cuts": [21.5],
          "parents": [],
          "table": [[0.75, 0.25]]
        },
        {
          "name": "wet",
          "states": ["no", "yes"],
          "properties": ["position = (7, 9)"],
          "parents": ["heat"],
          "table": [[0.9, 0.1], [0.5, 0.5]]
        }
      ]
    }

A table has one row per configuration of the parents, the last parent running fastest. One with
very many configurations may list some of them, by the numbers of the parents' states counted from
0, with a row for each, and has one row for all others::

    "parents": ["age", "dose"],
    "default": [0.5, 0.5],
    "configurations": [[3, 17], [40, 2]],
    "table": [[0.9, 0.1], [0.25, 0.75]]

Numbers are
written in the shortest form that gives the same double back, so what is read is equal to what was
written, bit for bit. ``cuts`` and the ``properties`` of a variable may be absent. A key that is not
listed here, a key that comes twice and a later version are refused: nothing is dropped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

import numpy as np

from bestdag.data.schema import Variable
from bestdag.errors import BestdagError, DataError, FormatError, unknown_name
from bestdag.network.building import table_of_all_rows
from bestdag.network.network import Network
from bestdag.network.scanner import decoded
from bestdag.network.table import ConditionalTable

__all__ = ["FORMAT", "HOLDS_DEFAULT_ROWS", "VERSION", "looks_like", "parse", "render"]

HOLDS_DEFAULT_ROWS = True

FORMAT = "bestdag network"
VERSION = 1

_FILE_KEYS = ("format", "version", "name", "properties", "variables")
_VARIABLE_KEYS = (
    "name",
    "states",
    "cuts",
    "properties",
    "parents",
    "default",
    "configurations",
    "table",
)
_KINDS = {str: "text", list: "a list", dict: "an object", float: "a number"}


def parse(data: bytes, source: str = "<json>") -> Network:
    """Read a network from the bytes of a JSON file.

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
        What is wrong and where: line and column, or the variable and its key.

    Examples
    --------
    >>> parse(b'{"format": "bestdag network", "version": 9}', "x.json")
    Traceback (most recent call last):
    ...
    bestdag.errors.FormatError: x.json: version 9 of the format is newer than the newest known
    here, 1; use a newer bestdag
    """
    content = _loaded(decoded(data, source), source)
    try:
        return _network(content)
    except BestdagError as error:
        raise FormatError(f"{source}: {error}") from None


def looks_like(text: str) -> bool:
    """Whether the beginning of a text is that of a network in JSON, which says so itself."""
    return text.startswith("{") and FORMAT in text


def render(network: Network) -> bytes:
    """Write a network as the bytes of a JSON file.

    Examples
    --------
    >>> coin = ConditionalTable(Variable("coin", ("heads", "tails")), (), [0.75, 0.25])
    >>> print(render(Network([coin], name="toss")).decode())
    {
    "format": "bestdag network",
    "version": 1,
    "name": "toss",
    "properties": [],
    "variables": [
    {
     "name": "coin",
     "states": ["heads", "tails"],
     "parents": [],
     "table": [
      [0.75, 0.25]
     ]
    }
    ]
    }
    <BLANKLINE>
    """
    return "".join(_lines(network)).encode("ascii")


def _lines(network: Network) -> Iterator[str]:
    yield f'{{\n"format": {_written(FORMAT)},\n"version": {VERSION},\n'
    yield f'"name": {_written(network.name)},\n'
    yield f'"properties": {_written(network.properties)},\n"variables": [\n'
    for number, table in enumerate(network.tables):
        yield ",\n{\n" if number else "{\n"
        yield from _variable_lines(table, network.properties_of(table.child.name))
        yield "}"
    yield "\n]\n}\n"


def _variable_lines(table: ConditionalTable, properties: tuple[str, ...]) -> Iterator[str]:
    child = table.child
    yield f' "name": {_written(child.name)},\n "states": {_written(child.states)},\n'
    if child.cuts is not None:
        yield f' "cuts": {_written([float(cut) for cut in child.cuts])},\n'
    if properties:
        yield f' "properties": {_written(properties)},\n'
    yield f' "parents": {_written([parent.name for parent in table.parents])},\n'
    rows = table.rows if table.sparse is None else table.sparse.rows[:-1]
    if table.sparse is not None:
        yield f' "default": {json.dumps(table.sparse.default.tolist())},\n "configurations": [\n'
        yield ",\n".join(f"  {codes}" for codes in table.sparse.configurations.tolist())
        yield "\n ],\n"
    yield ' "table": [\n'
    yield ",\n".join(f"  {json.dumps(row)}" for row in rows.tolist())
    yield "\n ]\n"


def _written(value: Any) -> str:
    text = json.dumps(value)
    # JSON has one way to write two halves of a surrogate pair, and it means the whole.
    if "\\ud" in text and json.loads(text) != (list(value) if isinstance(value, tuple) else value):
        raise DataError(f"save: JSON cannot keep this text apart from another: {value!r:.60}")
    return text


def _loaded(text: str, source: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise FormatError(
            f"{source}:{error.lineno}:{error.colno}: not valid JSON: {error.msg[:1].lower()}"
            f"{error.msg[1:]}"
        ) from None
    except RecursionError:
        raise FormatError(f"{source}: lists or objects are nested too deep") from None
    except FormatError as error:
        raise FormatError(f"{source}: {error}") from None
    except ValueError as error:  # a whole number of thousands of digits
        raise FormatError(f"{source}: a number cannot be read: {error}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise FormatError(f"key {twice!r} comes twice in one object")
    return made


def _refuse_constant(text: str) -> float:
    raise FormatError(f"{text} is not a number of JSON")


def _network(content: Any) -> Network:
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        came = content.get("format") if isinstance(content, dict) else content
        raise FormatError(f'not a network: "format" must be "{FORMAT}", got {_shown(came)}')
    version = content.get("version")
    if type(version) is not int or version < 1:
        raise FormatError(f'"version" must be a whole number >= 1, got {_shown(version)}')
    if version > VERSION:
        raise FormatError(
            f"version {version} of the format is newer than the newest known here, {VERSION}; "
            "use a newer bestdag"
        )
    _check_keys(content, _FILE_KEYS, "the file")
    entries = _get(content, "variables", list, "the file")
    variables: dict[str, Variable] = {}
    notes: dict[str, list[str]] = {}
    states: dict[tuple[str, ...], tuple[str, ...]] = {}  # variables share them
    for number, entry in enumerate(entries):
        place = f"variables[{number}]"
        if not isinstance(entry, dict):
            raise FormatError(f"{place} must be an object, got {_shown(entry)}")
        variable = _variable(entry, place, states)
        if variable.name in variables:
            raise FormatError(f"{place}: a second variable is called {variable.name!r}")
        variables[variable.name] = variable
        texts = _list(entry, "properties", str, place, needed=False)
        if texts:
            notes[variable.name] = texts
    tables = []
    for number, variable in enumerate(variables.values()):
        tables.append(_table(entries[number], variable, variables))
        entries[number] = None  # given back
    return Network(
        tables,
        name=_get(content, "name", str, "the file"),
        properties=_list(content, "properties", str, "the file"),
        variable_properties=notes,
    )


def _variable(
    entry: Mapping[str, Any], place: str, shared: dict[tuple[str, ...], tuple[str, ...]]
) -> Variable:
    name = _get(entry, "name", str, place)
    place += f" {name!r:.60}"
    _check_keys(entry, _VARIABLE_KEYS, place)
    cuts = None
    if "cuts" in entry:
        cuts = tuple(_number(cut, f"{place}: cuts") for cut in _list(entry, "cuts", float, place))
    states = tuple(_list(entry, "states", str, place))
    return Variable(name, shared.setdefault(states, states), cuts)


def _table(
    entry: Mapping[str, Any], child: Variable, variables: Mapping[str, Variable]
) -> ConditionalTable:
    place = f"variable {child.name!r}"
    parents = []
    for name in _list(entry, "parents", str, place):
        if name not in variables:
            raise unknown_name("parent", name, variables, who=place)
        parents.append(variables[name])
    shape = [parent.arity for parent in parents]
    rows = _list(entry, "table", list, place)
    if "default" in entry or "configurations" in entry:
        return _sparse_table(entry, child, parents, rows, place)
    n_rows = prod(shape)
    if len(rows) != n_rows:
        raise FormatError(f"{place}: table must have {n_rows:,} rows, got {len(rows):,}")
    numbers = [_row(row, child.arity, f"{place}: row {i} of table") for i, row in enumerate(rows)]
    return table_of_all_rows(child, parents, np.array(numbers))


def _sparse_table(
    entry: Mapping[str, Any], child: Variable, parents: list[Variable], rows: list[Any], place: str
) -> ConditionalTable:
    listed = _list(entry, "configurations", list, place)
    if len(listed) != len(rows):
        raise FormatError(
            f"{place}: table must have one row for each of the {len(listed):,} configurations, "
            f"got {len(rows):,}"
        )
    for number, codes in enumerate(listed):
        where = f"{place}: configurations[{number}]"
        if len(codes) != len(parents) or not all(type(code) is int for code in codes):
            raise FormatError(
                f"{where} must have {len(parents)} whole numbers, got {_shown(codes)}"
            )
    default = _row(_list(entry, "default", float, place), child.arity, f"{place}: default")
    numbers = [_row(row, child.arity, f"{place}: row {i} of table") for i, row in enumerate(rows)]
    return ConditionalTable.of_rows(child, parents, listed, numbers, default)


def _row(row: list[Any], arity: int, place: str) -> list[float]:
    if len(row) != arity:
        raise FormatError(f"{place} must have {arity} numbers, got {len(row)}")
    return [_number(value, place) for value in row]


def _number(value: Any, place: str) -> float:
    if type(value) is float:
        return value
    if type(value) is not int:
        raise FormatError(f"{place} must hold numbers, got {_shown(value)}")
    try:
        return float(value)
    except OverflowError:
        raise FormatError(f"{place}: a number is too large: {_shown(value)}") from None


def _get(content: Mapping[str, Any], key: str, kind: type, place: str) -> Any:
    if key not in content:
        raise FormatError(f'{place}: the key "{key}" is missing')
    value = content[key]
    if not isinstance(value, kind):
        raise FormatError(f'{place}: "{key}" must be {_KINDS[kind]}, got {_shown(value)}')
    return value


def _list(
    content: Mapping[str, Any], key: str, kind: type, place: str, *, needed: bool = True
) -> list[Any]:
    """Return a list of texts, lists or numbers (which are checked one by one)."""
    if not needed and key not in content:
        return []
    listed: list[Any] = _get(content, key, list, place)
    for number, value in enumerate(listed):
        if kind is not float and not isinstance(value, kind):
            raise FormatError(
                f"{place}: {key}[{number}] must be {_KINDS[kind]}, got {_shown(value)}"
            )
    return listed


def _check_keys(content: Mapping[str, Any], known: tuple[str, ...], place: str) -> None:
    for key in content:
        if key not in known:
            raise unknown_name("key", key, known, who=place)


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
