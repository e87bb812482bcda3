"""The field's text format for local scores (``.jkl``, ``.scores``).

The first line is the number of variables; then come, for each variable, a line
``name n_sets`` and as many lines ``score n_parents parent ...``. Words are separated by blanks,
so a name is one word; it may look like a number. Empty lines are skipped, and lines that begin
with ``#`` or ``META`` may come before the first number.
"""

from __future__ import annotations

import os

import numpy as np

from bestdag import _core
from bestdag.errors import FormatError
from bestdag.files import read_file, shown_path, write_file
from bestdag.graph._names import show
from bestdag.scores.table import ScoreTable

__all__ = ["read_jkl", "write_jkl"]


def read_jkl(path: str | os.PathLike[str]) -> ScoreTable:
    """Read a file of local scores, compressed when its name ends in ``.gz``.

    Raises
    ------
    FileError
        A file that cannot be read.
    FormatError
        A file that does not follow the format or is cut short; the message says line and column.
    """
    text = read_file(path)
    try:
        text.isascii() or text.decode()
        names, arrays = _core.parse_jkl(text, threads=1)
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        raise FormatError(f"{shown_path(path)}: line {line}: text is not UTF-8") from None
    except _core.JklError as error:
        raise FormatError(f"{shown_path(path)}: {error}") from None
    return ScoreTable.from_arrays(names, *arrays)


def write_jkl(table: ScoreTable, path: str | os.PathLike[str]) -> None:
    """Write a file of local scores, complete or not at all.

    Scores are written with as few digits as give the same numbers when read.

    Raises
    ------
    FormatError
        A name the format cannot hold: an empty one, or one with a blank.
    FileError
        When the file cannot be written; what was there before is untouched.
    """
    for name in table.names:
        if len(name.split()) != 1 or not _is_encodable(name):
            raise FormatError(
                f"{shown_path(path)}: a name in a file of local scores is one word, "
                f"got {show(name)}; rename the variable"
            )
    children = [table.child(i) for i in range(table.n_variables)]
    counts = [len(sets) for sets in children]
    sizes = np.concatenate([np.diff(sets.offsets) for sets in children])
    text = _core.format_jkl(
        list(table.names),
        np.concatenate(([0], np.cumsum(counts))),
        np.concatenate([sets.scores for sets in children]),
        np.concatenate(([0], np.cumsum(sizes))),
        np.concatenate([sets.members for sets in children]),
    )
    write_file(path, text)


def _is_encodable(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
