"""The field's text format for local scores (``.jkl``, ``.scores``).

The first line is the number of variables; then come, for each variable, a line
``name n_sets`` and as many lines ``score n_parents parent ...``.
"""

from __future__ import annotations

import os

from bestdag.errors import FormatError
from bestdag.files import read_file, shown_path, write_file
from bestdag.scores.table import ScoreTable

__all__ = ["read_jkl", "write_jkl"]


def read_jkl(path: str | os.PathLike[str]) -> ScoreTable:
    """Read a file of local scores."""
    lines = [line.split() for line in read_file(path).decode().splitlines()]
    try:
        at = 1
        sets = {}
        for _ in range(int(lines[0][0])):
            child, count = lines[at]
            block = lines[at + 1 : at + 1 + int(count)]
            sets[child] = [(float(words[0]), words[2:]) for words in block]
            at += 1 + int(count)
    except (IndexError, ValueError) as error:
        raise FormatError(f"{shown_path(path)}: not a file of local scores: {error}") from None
    return ScoreTable.from_lists(list(sets), sets)


def write_jkl(table: ScoreTable, path: str | os.PathLike[str]) -> None:
    """Write a file of local scores."""
    lines = [str(table.n_variables)]
    for i, name in enumerate(table.names):
        sets = table.child(i)
        lines.append(f"{name} {len(sets)}")
        for score, parents in sets:
            words = [repr(score), str(len(parents)), *(table.names[p] for p in parents)]
            lines.append(" ".join(words))
    write_file(path, ("\n".join(lines) + "\n").encode())
