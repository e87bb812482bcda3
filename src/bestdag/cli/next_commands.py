"""What to do with what was learned: commands that work when they are pasted."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from bestdag.files import format_suffix

if TYPE_CHECKING:
    from bestdag.learned import Result

__all__ = ["next_commands"]


def next_commands(
    result: Result,
    data: str | None,
    given: tuple[str, ...],
    *,
    output: str | None,
    report: str | None,
    is_cut: bool,
) -> list[str]:
    """Return up to three commands; `given` is the command line that gave the result.

    Files that they would write are not there yet, so that nothing is refused or replaced.
    """
    if data is None or data == "-" or result.dataset is None:
        return []
    found = []
    if output is None:
        more = ["-o", _new_file(data, ".json")]
        if report is None:
            more += ["--report", _new_file(data, ".html")]
        found.append(shlex.join(("bestdag", *_without(given, *_FILES), *more)))
    elif format_suffix(output) in (".json", ".bif"):
        most = max(result.dag.nodes, key=lambda name: (len(result.dag.parents(name)), name))
        found.append(shlex.join(("bestdag", "query", output, "--", most)))
        found.append(shlex.join(("bestdag", "draw", output, "-o", _new_file(output, ".svg"))))
    if not result.is_proved and result.status == "time limit":
        limit = max(10, round(4 * result.seconds))
        kept = _without(given, *_FILES, "--time-limit")
        found.append(shlex.join(("bestdag", *kept, "--time-limit", str(limit))))
    can_be_cut = not is_cut or ("--target" not in given and any(w in given for w in _CUTTING))
    if not result.dataset.has_missing and can_be_cut and len(found) < 3:
        found.append(shlex.join(("bestdag", "bootstrap", data, *_reading(given))))
    return found[:3]


def _new_file(path: str, suffix: str) -> str:
    """Return the name of a file in this folder, like that of another, that is not there yet."""
    here = Path(Path(path).name)
    while here.suffix:
        here = here.with_suffix("")
    number = 1
    while True:
        name = here.with_name(here.name + ("" if number == 1 else f"-{number}") + suffix)
        if not name.exists():
            return str(name)
        number += 1


# Options of `learn` that say how the table is read, which `bootstrap` has too.
_READING = (
    *("--score", "--ess", "--missing-value", "--weights", "--drop", "--separator", "--sheet"),
    *("--max-states", "--max-parents", "--know", "--knowledge", "--bins", "--cut-points"),
)
_CUTTING = ("--discretize", "--bins", "--cut-points")


def _reading(given: tuple[str, ...]) -> list[str]:
    """Return those of the options given that `bootstrap` takes."""
    found: list[str] = []
    for place, word in enumerate(given):
        name, sign, _ = word.partition("=")
        if name == "--discretize":
            found.append(word)
        elif name in _READING:
            found += [word] if sign else given[place : place + 2]
    return found


_FILES = ("-o", "--output", "--report", "--edge-weights", "--parameters")


def _without(given: tuple[str, ...], *names: str) -> list[str]:
    """Leave out options with their values, and --force."""
    found: list[str] = []
    is_value = False
    for word in given:
        if is_value:
            is_value = False
        elif word in names:
            is_value = True
        elif word != "--force" and word.partition("=")[0] not in names:
            found.append(word)
    return found
