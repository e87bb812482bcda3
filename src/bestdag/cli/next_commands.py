"""What to do with what was learned: commands that work when they are pasted."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bestdag.files import format_suffix
from bestdag.registry import settings_among

if TYPE_CHECKING:
    from bestdag.learned import Result

__all__ = ["next_commands", "verify_command", "without"]

# Options of `learn` about files that are there already, and what belongs to them.
_FILES = (
    *("--output", "--force", "--report", "--bootstrap", "--edge-weights", "--parameters"),
    *("--require-optimal", "--verbose", "--ladder", "--certificate", "--certificate-of"),
)
# Of one run: how it searches, for how long, and where it is kept.
_RUN = (
    *("--search", "--seed", "--time-limit", "--checkpoint", "--checkpoint-every", "--resume"),
    "--target",
)


def next_commands(
    result: Result,
    data: str | None,
    context: click.Context,
    *,
    output: str | None,
    wide: bool = False,
) -> list[str]:
    """Return up to three commands; the context is that of the command that gave the result.

    They keep every option that says what the table is. Files that they would write are not there
    yet, so that nothing is refused or replaced. `wide` says that numbers with many distinct values
    were taken as categories.
    """
    if data is None or data == "-" or result.dataset is None:
        return []
    if any(one.kind == "nothing to learn" for one in result.advice):
        return []
    options = _given(context)
    commands = []
    if wide:
        words = [word for _, own in options for word in own]
        name = str(context.info_name)
        commands.append(shlex.join(("bestdag", name, _file(data), *words, "--discretize")))
    if output is None:
        commands.append(_written(data, options, context))
    elif format_suffix(output) in (".json", ".bif"):
        families = result.dag.families
        most = max(families, key=lambda name: (len(families[name]), name))
        dash = ["--"] if most.startswith("-") else []
        commands.append(shlex.join(("bestdag", "query", _file(output), *dash, most)))
        picture = _new_file(output, ".svg")
        commands.append(shlex.join(("bestdag", "draw", _file(output), "-o", picture)))
    if not result.dataset.has_missing:
        commands.append(_again(data, options, context))
    return commands[:3]


def verify_command(certificate: str, source: str, context: click.Context) -> str:
    """Return the command that checks a certificate, with every option that says what the table is.

    The source is a table or a file of local scores.
    """
    from bestdag.cli.verify import command as verify

    options = _given(context)
    left_out = {"--time-limit", "--threads", "--memory-limit", "--json", "--quiet"}
    if "--discretize" not in [flag for flag, _ in options]:
        left_out.add("--target")  # of a search
    known = {flag for parameter in verify.params for flag in parameter.opts} - left_out
    words = [word for flag, own in options if flag in known for word in own]
    return shlex.join(("bestdag", "verify", _file(certificate), _file(source), *words))


def _written(data: str, options: _Given, context: click.Context) -> str:
    """Learn again, and write the network and its report."""
    words = [word for flag, own in options if flag not in _FILES for word in own]
    flags = [flag for flag, _ in options]
    if "--checkpoint" in flags and "--resume" not in flags:
        words.append("--resume")  # the file has the answer
    stem = "query" if "--sql" in flags else data
    words += ["-o", _new_file(stem, ".json")]
    words += ["--report", _new_file(stem, ".html")]
    return shlex.join(("bestdag", str(context.info_name), _file(data), *words))


def _again(data: str, options: _Given, context: click.Context) -> str:
    """Estimate how sure each arc is, from the same table by the same score."""
    from bestdag.cli.bootstrap import command as bootstrap
    from bestdag.scores import SCORES
    from bestdag.search import SEARCHES

    known = {flag: parameter for parameter in bootstrap.params for flag in parameter.opts}
    of_searches = settings_among(SEARCHES).keys() - settings_among(SCORES).keys()
    left_out = {*_FILES, *_RUN}
    if context.params.get("discretize") and context.params.get("bins") is None:
        left_out.remove("--target")  # of the intervals
        of_searches.discard("target")
    words: list[str] = []
    for flag, own in options:
        if flag == "--missing":
            ways = known[flag].type
            # Of a table that has none, other ways to treat missing values say nothing.
            if not isinstance(ways, click.Choice) or own[1] not in ways.choices:
                continue
        if flag in known and flag not in left_out and known[flag].name not in of_searches:
            words += own
    return shlex.join(("bestdag", "bootstrap", _file(data), *words))


def _file(path: str) -> str:
    """Return a file as an argument that is not taken for an option."""
    return f"./{path}" if path.startswith("-") else path


# Of each option in the order it was given: its long name, and its words.
_Given = list[tuple[str, list[str]]]


def _given(context: click.Context) -> _Given:
    """Return the options of the command line, as click reads them."""
    words = list(context.obj)
    parser = context.command.make_parser(context)
    values, _, order = parser.parse_args(words[1:])
    options: _Given = []
    taken: dict[str, int] = {}
    for parameter in order:
        if not isinstance(parameter, click.Option) or parameter.name is None:
            continue
        flag = parameter.opts[-1]
        value: Any = values[parameter.name]
        if parameter.multiple:
            place = taken.get(parameter.name, 0)
            taken[parameter.name] = place + 1
            options.append((flag, [flag, str(value[place])]))
        elif parameter.name in taken:
            continue  # given twice: the last one counts
        elif parameter.is_flag:
            taken[parameter.name] = 1
            is_off = parameter.secondary_opts and not value
            options.append((flag, [parameter.secondary_opts[-1] if is_off else flag]))
        else:
            taken[parameter.name] = 1
            options.append((flag, [flag, str(value)]))
    return options


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


def without(words: tuple[str, ...], *names: str) -> list[str]:
    """Leave out options with their values."""
    rest: list[str] = []
    is_value = False
    for word in words:
        if is_value:
            is_value = False
        elif word in names:
            is_value = True
        elif word.partition("=")[0] not in names:
            rest.append(word)
    return rest
