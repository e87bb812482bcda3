r"""The format of the UAI inference competitions: numbers, no names.

What is read::

    BAYES
    3            number of variables, then of the states of each
    2 2 3
    3            number of tables, then the variables of each, the child last
    1 0
    2 0 1
    3 0 1 2
    2 0.5 0.5    the numbers of each table, how many and then which: the last variable fastest
    4 0.99 0.01 0.9 0.1
    12 ...

Variables and states are called ``0``, ``1``, ``2`` ... . ``#`` begins a comment, and so does
``c`` at the beginning of a line (UAI 2016). A ``MARKOV`` file is refused: its functions are no
distributions. pyAgrum writes tables with the first parent running fastest and the name behind each
list of variables: that is recognised, and read as it means it.

What is written begins with just that, so that every solver reads it; names, states, cut points and
properties stand in comments behind the last table, which our reader restores (`kept`). A tab
behind ``BAYES`` says that they follow, so that a file that was cut off is not mistaken for a whole
one.

References
----------
.. [1] UAI 2008 evaluation of probabilistic inference systems, "The file format".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bestdag.network.building import all_rows
from bestdag.network.kept import NAME, PROPERTY, kept, own_notes
from bestdag.network.network import Network
from bestdag.network.text import decoded
from bestdag.network.uai_parser import END, MARK, NODE, Parser
from bestdag.network.words import Written

__all__ = ["looks_like", "parse", "render", "written"]


def parse(data: bytes, source: str = "<uai>") -> Network:
    """Read a network from the bytes of a UAI file.

    Examples
    --------
    >>> parse(b"BAYES 1 2 1 1 0 2 0.25 0.75").tables[0].values
    array([0.25, 0.75])
    >>> parse(b"MARKOV 1 2 1 1 0 2 0.25 0.75", "x.uai")
    Traceback (most recent call last):
    ...
    bestdag.errors.FormatError: x.uai:1:1: expected 'BAYES', got 'MARKOV'; the functions of a
    Markov network are no conditional distributions
    """
    return Parser(decoded(data, source), source).network()


def looks_like(text: str) -> bool:
    """Whether the beginning of a text is that of a UAI file."""
    return re.match(r"(BAYES|MARKOV)\s", text) is not None


def written(network: Network) -> Written:
    """Return the names and states as they stand in a file: their numbers."""
    return Written(
        {name: str(number) for number, name in enumerate(network.names)},
        {v.name: [str(code) for code in range(v.arity)] for v in network.variables},
    )


def render(network: Network) -> bytes:
    """Write a network as the bytes of a UAI file."""
    return "".join(_lines(network)).encode("utf-8")


def _lines(network: Network) -> Iterator[str]:
    made = written(network)
    yield f"{MARK}\n{len(network.tables)}\n"
    yield f"{' '.join(str(v.arity) for v in network.variables)}\n{len(network.tables)}\n"
    for table in network.tables:
        family = [made.names[v.name] for v in (*table.parents, table.child)]
        yield f"{len(family)} {' '.join(family)}\n"
    for table in network.tables:
        yield f"\n{table.n_configurations * table.child.arity}\n"
        for row in all_rows(table).tolist():
            yield f" {' '.join(map(repr, row))}\n"
    yield f"\n# {kept(NAME, [network.name])}\n"
    for text in network.properties:
        yield f"# {kept(PROPERTY, [text])}\n"
    for variable in network.variables:
        yield f"# {NODE} {made.names[variable.name]}\n"
        notes = own_notes(variable, made.names[variable.name], made.states[variable.name])
        for text in notes:
            yield f"# {text}\n"
        for text in network.properties_of(variable.name):
            yield f"# {kept(PROPERTY, [text])}\n"
    yield f"# {END}\n"
