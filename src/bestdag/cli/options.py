"""Options that several commands share."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import click

from bestdag.machine import memory_limit

__all__ = [
    "DATA_OPTIONS",
    "common_options",
    "data_options",
    "max_values_option",
    "memory_option",
    "missing_choices",
    "missing_option",
    "read_settings",
    "refused_option",
    "threads_option",
]

_Function = TypeVar("_Function", bound=Callable[..., Any])

# What a shell can write for a tab and a blank.
_SIGNS = {"tab": "\t", "\\t": "\t", "space": " "}


class _Ways(click.Choice[str]):
    """Ways to treat missing values; one of `learn` that is not among them is refused in words."""

    def convert(self, value: Any, *rest: Any) -> str:
        if value in ("em", "available") and value not in self.choices:
            self.fail(
                f"{value!r} is for learning one structure; pass drop or state, or fill in the "
                f"cells first: bestdag learn DATA --missing em -o net.json, then bestdag impute "
                f"DATA net.json -o FILE",
                *rest,
            )
        return super().convert(value, *rest)


def missing_option(
    ways: Sequence[str], text: str, *, default: str = "error"
) -> Callable[[Any], Any]:
    """Return the option --missing with these ways to treat missing values."""
    return click.option(
        "--missing",
        type=_Ways(ways),
        default=default,
        show_default=True,
        help=f"Missing values: {text}.",
    )


# Settings of `read`, by name; commands take those that mean something to them.
DATA_OPTIONS: dict[str, Callable[[Any], Any]] = {
    "missing": missing_option(
        ["error", "drop", "state"], "stop, drop their rows, or treat them as a state"
    ),
    "missing_values": click.option(
        "--missing-value",
        "missing_values",
        multiple=True,
        metavar="TEXT",
        help="Text that marks a missing value, besides empty cells; may be repeated.",
    ),
    "allow_few_rows": click.option(
        "--allow-few-rows",
        is_flag=True,
        help="Allow --missing drop to leave less than a third of the rows.",
    ),
    "weights": click.option("--weights", metavar="COLUMN", help="Column of row weights or counts."),
    "drop": click.option(
        "--drop", multiple=True, metavar="COLUMN", help="Leave a column out; may be repeated."
    ),
    "separator": click.option(
        "--separator",
        metavar="SIGN",
        callback=lambda _context, _option, given: _SIGNS.get(given, given),
        help="Column separator of CSV: ',', ';', tab, '|' or space.  [default: commas; tabs in "
        ".tsv]",
    ),
    "sheet": click.option(
        "--sheet", metavar="NAME", help="Sheet of an Excel file.  [default: the one with data]"
    ),
    "encoding": click.option(
        "--encoding",
        metavar="NAME",
        help="Encoding of a CSV file, such as latin-1 or cp1252.  [default: UTF-8]",
    ),
    "max_states": click.option(
        "--max-states",
        type=click.IntRange(1),
        default=50,  # DEFAULT_MAX_STATES, without loading it
        show_default=True,
        help="Refuse a column with more distinct values than this.",
    ),
}
# Those that say how a source is read, whatever is done with it.
_SOURCE = ("separator", "sheet", "encoding")
max_values_option = click.option(
    "--max-values",
    type=click.IntRange(0),
    default=20,  # DEFAULT_MAX_VALUES, without loading it
    show_default=True,
    help="Do not bin integer columns with at most this many distinct values.",
)


def _limit_memory(context: click.Context, _option: click.Parameter, given: str | None) -> None:
    """Let the limit hold until the command ends."""
    context.with_resource(memory_limit(given))


memory_option = click.option(
    "--memory-limit",
    metavar="SIZE",
    expose_value=False,
    callback=_limit_memory,
    help="Memory limit, e.g. 2GB.  [default: 80 % of free memory]",
)
_COMMON = (
    memory_option,
    click.option("--json", "as_json", is_flag=True, help="Print JSON."),
    click.option("--quiet", is_flag=True, help="Show no progress."),
)

threads_option = click.option(
    "--threads", type=click.IntRange(1), help="Number of threads.  [default: all processors]"
)


# What the table of a command is called there.
_TABLES = ("data", "file", "train")
_sql_option = click.option(
    "--sql",
    is_flag=True,
    help="DATA is an SQL query: --sql \"SELECT * FROM 'rows.parquet'\".",
)


def data_options(*, but: Sequence[str] = ()) -> Callable[[_Function], _Function]:
    """Add settings of `read`, all but those named, and the way to give a query."""

    def decorate(function: _Function) -> _Function:
        @functools.wraps(function)
        def call(*arguments: Any, sql: bool, **options: Any) -> Any:
            for name in _TABLES if sql else ():
                if options.get(name) is not None:
                    options[name] = _query(options[name])
            return function(*arguments, **options)

        decorated: Any = call
        chosen = [option for name, option in DATA_OPTIONS.items() if name not in but]
        for option in (_sql_option, *reversed(chosen)):
            decorated = option(decorated)
        return cast(_Function, decorated)

    return decorate


def refused_option(flag: str, why: str, *, is_flag: bool = False) -> Callable[[Any], Any]:
    """Return an option that other commands have, and that is answered here with why not."""

    def refuse(_context: click.Context, _option: click.Parameter, given: Any) -> None:
        if given not in (None, False):
            raise click.UsageError(f"{why}; leave out {flag.partition('/')[0]}")

    return click.option(flag, is_flag=is_flag, hidden=True, expose_value=False, callback=refuse)


def missing_choices() -> Sequence[str]:
    """Return what --missing of the command that runs may be."""
    for parameter in click.get_current_context().command.params:
        if parameter.name == "missing" and isinstance(parameter.type, click.Choice):
            return parameter.type.choices
    return ()


def _query(text: str) -> str:
    from bestdag.data.sources.connection import SqlText

    return SqlText(text)


def common_options(function: _Function) -> _Function:
    """Add --memory-limit, --json and --quiet."""
    for option in reversed(_COMMON):
        function = option(function)
    return function


def read_settings(options: dict[str, Any]) -> dict[str, Any]:
    """Take the settings of `read` out of a command's options."""
    settings = {name: options.pop(name) for name in DATA_OPTIONS if name in options}
    settings["missing_values"] = ("", *settings.get("missing_values", ()))
    return settings
