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
properties stand in comments behind the last table, which our reader restores (`exact_names`). A tab
behind ``BAYES`` says that they follow, so that a file that was cut off is not mistaken for a whole
one.

References
----------
.. [1] UAI 2008 evaluation of probabilistic inference systems, "The file format".
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator, Mapping
from math import prod
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from bestdag.data.schema import MAX_ARITY
from bestdag.errors import DataWarning, unknown_name
from bestdag.files import read_file, shown_path, write_file
from bestdag.machine import require_memory
from bestdag.network.building import Builder, all_rows, dense_table
from bestdag.network.exact_names import (
    NAME,
    PROPERTY,
    Note,
    Written,
    note_text,
    own_notes,
    restored,
    sorted_notes,
)
from bestdag.network.network import Network
from bestdag.network.scanner import Scanner, Syntax, decoded, read_numbers
from bestdag.wording import count_of

__all__ = [
    "END",
    "MARK",
    "NODE",
    "Parser",
    "Words",
    "looks_like",
    "parse",
    "read_evidence",
    "render",
    "write_evidence",
    "written",
]


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
    yield f"\n# {note_text(NAME, [network.name])}\n"
    for text in network.properties:
        yield f"# {note_text(PROPERTY, [text])}\n"
    for variable in network.variables:
        yield f"# {NODE} {made.names[variable.name]}\n"
        notes = own_notes(variable, made.names[variable.name], made.states[variable.name])
        for text in notes:
            yield f"# {text}\n"
        for text in network.properties_of(variable.name):
            yield f"# {note_text(PROPERTY, [text])}\n"
    yield f"# {END}\n"


# What a variable takes while it is read, however few bytes the file has for it.
_BYTES_PER_VARIABLE = 600

_SYNTAX = Syntax(";", "#", is_strict=False)
MARK = "BAYES\t"  # of our files, which end with END
NODE, END = "bestdag-variable", "bestdag-end"

# Behind a sign, as our files have them; or a line that begins with the letter (UAI 2016).
_COMMENT = re.compile(r"#[^\n]*|^c(?:[ \t\r][^\n]*)?$", re.MULTILINE)
_OWN = re.compile(r"# (bestdag-[a-z]+)( =)?[ \t]*([^\r\n]*)")
_WHOLE = re.compile(r"[0-9]{1,18}")
# How pyAgrum ends each list of variables.
_NAMED = re.compile(r"^[0-9]+(?: [0-9]+)*+   # ([^\r\n]*)$", re.MULTILINE)


class Words:
    """Walks through words with blanks between them; comments are blank."""

    def __init__(self, text: str, source: str) -> None:
        self._text = _COMMENT.sub(lambda match: " " * len(match[0]), text)
        self._scanner = Scanner(self._text, source, _SYNTAX)  # it has the same lines
        signs = np.frombuffer(self._text.encode("ascii", "replace"), dtype=np.uint8)
        is_word = np.concatenate(([False], signs > ord(" "), [False]))
        kind = np.int32 if len(text) < 2**31 else np.int64
        self._starts = np.flatnonzero(is_word[1:] & ~is_word[:-1]).astype(kind)
        self._ends = np.flatnonzero(is_word[:-1] & ~is_word[1:]).astype(kind)
        self._taken = 0

    @property
    def n_left(self) -> int:
        """How many words follow."""
        return len(self._starts) - self._taken

    @property
    def n_taken(self) -> int:
        """How many words were taken: the number of the next one, from 0."""
        return self._taken

    def place_of(self, word: int) -> int:
        """Where a word begins, by its number."""
        return int(self._starts[word])

    def give_up(self) -> None:
        """Forget where words are; places can still be named in errors."""
        self._starts = self._ends = np.empty(0, np.int32)
        self._taken = 0

    def go_to(self, word: int) -> None:
        """Go back to a word, by its number."""
        self._taken = word

    def skip(self, count: int) -> None:
        """Pass over so many numbers, which are read later."""
        if count > self.n_left:
            self.fail(
                len(self._text),
                f"expected {count_of(count - self.n_left, 'more number')}, got the end of the file",
            )
        self._taken += count

    @property
    def position(self) -> int:
        """Where the next word begins, or the text ends."""
        return int(self._starts[self._taken]) if self.n_left else len(self._text)

    def fail(self, position: int, message: str) -> NoReturn:
        """Raise the error for something at a position."""
        self._scanner.fail(position, message)

    def take(self, wanted: str) -> tuple[str, int]:
        """Take the next word and where it begins."""
        if not self.n_left:
            self.fail(self.position, f"expected {wanted}, got the end of the file")
        start, end = int(self._starts[self._taken]), int(self._ends[self._taken])
        self._taken += 1
        return self._text[start:end], start

    def count(self, wanted: str, most: int | None = None) -> tuple[int, int]:
        """Take the next word as a whole number and where it begins."""
        word, position = self.take(wanted)
        if not _WHOLE.fullmatch(word) or (most is not None and int(word) > most):
            limit = "" if most is None else f" of at most {most:,}"
            shown = word if len(word) <= 40 else word[:37] + "..."
            self.fail(position, f"expected {wanted}{limit}, got {shown!r}")
        return int(word), position

    def numbers(self, count: int) -> npt.NDArray[np.float64]:
        """Take so many words as numbers; at least one."""
        start = self.position
        self.skip(count)
        end = int(self._ends[self._taken - 1])
        return read_numbers(self._text[start:end], lambda at, said: self.fail(start + at, said))


class Parser:
    """Reads one UAI text."""

    def __init__(self, text: str, source: str) -> None:
        self._text = text
        self._words = Words(text, source)
        self._is_ours = text.lstrip().startswith(MARK)
        self._builder = Builder(self._words.fail, "table")
        self._arities: npt.NDArray[np.uint16] = np.empty(0, np.uint16)
        self._first = 0

    def network(self) -> Network:
        """Read the preamble, the tables and what our writer keeps behind them."""
        words, builder = self._words, self._builder
        kind, position = words.take("'BAYES'")
        if kind != "BAYES":
            hint = "; the functions of a Markov network are no conditional distributions"
            shown = kind if len(kind) <= 40 else kind[:37] + "..."
            words.fail(
                position, f"expected 'BAYES', got {shown!r}{hint if kind == 'MARKOV' else ''}"
            )
        n_variables, place = words.count("the number of variables")
        if n_variables == 0:
            words.fail(place, "at least one variable is needed, got none")
        most = min(n_variables, words.n_left)  # a file may announce more than it has
        what = f"a network of {count_of(most, 'variable')}"
        require_memory("uai", what, _BYTES_PER_VARIABLE * most, "use a smaller network")
        self._first = words.n_taken  # the word that says how many states the first variable has
        self._arities = np.empty(most, np.uint16)
        for number in range(n_variables):
            self._arities[number] = words.count("a number of states", MAX_ARITY)[0]
        if not self._arities.all():
            place = words.place_of(self._first + int(np.argmin(self._arities)))
            words.fail(place, "a variable has at least one state, got 0")
        n_tables, place = words.count("the number of tables")
        if n_tables != n_variables:
            words.fail(
                place, f"{n_variables:,} tables are needed, one per variable, got {n_tables}"
            )
        # Where tables stand, as numbers of words: a file has millions of them.
        families = np.empty(n_tables, np.int64)
        most = 0
        for number in range(n_tables):
            families[number] = words.n_taken
            most = max(most, len(self._family(n_variables)))
        tables = np.empty(n_tables, np.int64)
        place = words.n_taken
        for number in range(n_tables):
            tables[number] = place
            words.go_to(int(families[number]))
            family = self._family(n_variables)
            words.go_to(place)
            self._pass_numbers(family)
            place = words.n_taken
        if words.n_left:
            words.fail(words.position, "expected the end of the file behind the last table")
        named = [] if self._is_ours else [m.span(1) for m in _NAMED.finditer(self._text)]
        is_first_fastest = len(named) == n_tables
        network, notes = self._notes(n_variables)
        if is_first_fastest:
            for word, (start, end) in zip(families, named, strict=True):
                words.go_to(int(word))
                own = self._family(n_variables)[-1]
                notes[own] = [(note_text(NAME, [self._text[start:end]]), start)]
        self._declare(network, notes)
        if is_first_fastest and most > 2:
            warnings.warn(
                "this UAI file looks like one by pyAgrum, which writes tables with the first "
                "parent running fastest, not the last: read as pyAgrum means it",
                DataWarning,
                stacklevel=2,
            )
        for word, table in zip(families, tables, strict=True):
            self._place(int(word), int(table), is_first_fastest)
        words.give_up()
        del families, tables
        return builder.network()

    def _family(self, n_variables: int) -> list[int]:
        """Read ``2 0 1``: how many variables, and which."""
        words = self._words
        size, place = words.count("how many variables a table has")
        if not 1 <= size <= n_variables:
            words.fail(place, f"a table has 1 to {n_variables:,} variables, got {size:,}")
        return [words.count("the number of a variable", n_variables - 1)[0] for _ in range(size)]

    def _pass_numbers(self, family: list[int]) -> None:
        words = self._words
        size, place = words.count("how many numbers a table has")
        needed = prod(self._arities[family].tolist())
        if size != needed:
            words.fail(
                place, f"the table of variable {family[-1]} has {needed:,} numbers, got {size:,}"
            )
        words.skip(size)

    def _declare(self, network: list[Note], notes: dict[int, list[Note]]) -> None:
        own, self._builder.properties = sorted_notes(self._words.fail, network, "the network")
        if NAME in own:
            self._builder.name = restored(self._words.fail, NAME, *own[NAME])[0]
        labels: dict[int, list[str]] = {}
        for number, arity in enumerate(map(int, self._arities)):
            states = labels.setdefault(arity, [str(code) for code in range(arity)])
            position = self._words.place_of(self._first + number)
            self._builder.declare(str(number), states, notes.pop(number, ()), position)

    def _notes(self, n_variables: int) -> tuple[list[Note], dict[int, list[Note]]]:
        """Return the notes of our writer on the network, and on each variable."""
        fail = self._words.fail
        network: list[Note] = []
        notes: dict[int, list[Note]] = {}
        if not self._is_ours:
            return network, notes
        if not self._text.rstrip().endswith(f"\n# {END}"):
            fail(
                len(self._text),
                f"expected the line '# {END}', got the end of the file; names and states are "
                "lost (delete the tab behind BAYES to read the numbers alone)",
            )
        current = network
        for match in _OWN.finditer(self._text):
            if match[1] == NODE:
                if not _WHOLE.fullmatch(match[3]) or int(match[3]) >= n_variables:
                    fail(match.start(), f"expected the number of a variable, got {match[3]!r:.40}")
                current = notes.setdefault(int(match[3]), [])
            elif match[1] != END:
                current.append((f"{match[1]} = {match[3]}".rstrip(), match.start()))
        return network, notes

    def _place(self, word: int, table: int, is_first_fastest: bool) -> None:
        """Make the table whose variables and whose numbers stand at these words."""
        builder, words = self._builder, self._words
        words.go_to(word)
        *parents, number = self._family(len(self._arities))
        places = [words.place_of(word + 1 + k) for k in range(len(parents) + 1)]
        child = builder.child(str(number), places[-1])
        known = builder.parents(str(number), zip(map(str, parents), places, strict=False))
        words.go_to(table)
        size, _ = words.count("how many numbers a table has")
        made = dense_table(
            builder.fail,
            child.variable,
            known,
            words.numbers(size),
            places[-1],
            is_first_fastest=is_first_fastest,
        )
        builder.place(child, made, places[-1])


def read_evidence(path: str | os.PathLike[str], network: Network) -> dict[str, str]:
    r"""Read the evidence in a UAI evidence file, for a network whose variables it numbers.

    Parameters
    ----------
    path : path-like
        ``2  0 1  5 0`` says that two variables are known: number 0 has its state number 1, and
        number 5 its state 0. The older form, with a ``1`` (one sample) before, is read too.
    network : Network
        The one that the numbers are about; they count its variables from 0, in order.

    Returns
    -------
    dict of name to state
        Evidence for `Network.query` and its neighbours.

    Raises
    ------
    FormatError
        ``path:line:column: expected ..., got ...``.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from bestdag.examples import example
    >>> asia = Network.load(example("asia.bif"))
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "asia.uai.evid")
    ...     write_evidence(path, asia, {"smoke": "yes"})
    ...     path.read_text(), read_evidence(path, asia)
    ('1 2 1\n', {'smoke': 'yes'})
    """
    source = shown_path(path)
    words = Words(decoded(read_file(path), source), source)
    count, place = words.count("the number of evidence variables")
    if words.n_left != 2 * count and count <= 1 and words.n_left % 2 == 1:
        if count == 0:
            words.fail(place, "no samples of evidence")
        count, place = words.count("the number of evidence variables")
    if words.n_left != 2 * count:
        words.fail(
            place,
            f"{count:,} values of evidence are two numbers each, {2 * count:,} in all, "
            f"got {words.n_left:,}",
        )
    evidence: dict[str, str] = {}
    variables = network.variables
    for _ in range(count):
        number, place = words.count("the number of a variable", len(variables) - 1)
        variable = variables[number]
        if variable.name in evidence:
            words.fail(place, f"variable {number} has two states as evidence")
        code, _ = words.count(f"the number of a state of variable {number}", variable.arity - 1)
        evidence[variable.name] = variable.states[code]
    return evidence


def write_evidence(
    path: str | os.PathLike[str], network: Network, evidence: Mapping[str, str]
) -> None:
    """Write evidence as a UAI evidence file, complete or not at all; `read_evidence` reads it.

    Parameters
    ----------
    path : path-like
        By custom the name of the network's file with ``.evid`` behind.
    network : Network
        Whose variables are numbered.
    evidence : mapping of name to state
        What `Network.query` takes as `given`.

    Raises
    ------
    UnknownNameError
        A name or a state that the network does not have.
    """
    numbers = {name: number for number, name in enumerate(network.names)}
    words = [str(len(evidence))]
    for name, state in evidence.items():
        if name not in numbers:
            raise unknown_name("variable", name, numbers, who="write_evidence")
        words.append(f"{numbers[name]} {network.variables[numbers[name]].code(state)}")
    write_file(path, (" ".join(words) + "\n").encode("ascii"))
