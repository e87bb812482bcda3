r"""The Bayesian Interchange Format (BIF), the format of the benchmark collections.

What is read::

    network asia { property author = somebody; }
    variable smoke { type discrete [ 2 ] { no, yes }; property any text; }
    variable lung { type discrete [ 2 ] { no, yes }; }
    probability ( smoke ) { table 0.5, 0.5; }
    probability ( lung | smoke ) { (no) 0.99, 0.01; (yes) 0.9, 0.1; }

Also ``default`` rows, ``table`` for a variable with parents (all numbers, the last parent fastest
and the child slowest), blanks for commas, ``//`` and ``/* */`` comments, and names in quotes.
Numbers are kept to the last bit and never rescaled. A variable is declared before it is used.

What is written has the layout of the published files and reads back equal: numbers in the shortest
form that gives the same double; names as plain words that other programs read, with properties
that keep those that are none (`bif_names`, `kept`). The cut
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
from collections.abc import Iterator, Mapping

import numpy as np

from bestdag.data.schema import Variable
from bestdag.inference.sparse_table import SparseTable
from bestdag.network.bif_names import plain_name, plain_names
from bestdag.network.bif_parser import Parser
from bestdag.network.kept import kept_property, own_notes
from bestdag.network.network import Network
from bestdag.network.scanner import quoted
from bestdag.network.table import ConditionalTable
from bestdag.network.text import decoded
from bestdag.network.words import Written

__all__ = ["HOLDS_DEFAULT_ROWS", "looks_like", "parse", "render", "written"]

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
    return f"  property {kept_property(text)};\n"


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
