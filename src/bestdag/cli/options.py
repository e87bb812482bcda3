"""Options of commands: how they are made, and those about tables, files and the machine.

An option of a library function has the type and the default of its signature and the first
sentence of its docstring (`options_of`); one of a score, a search or an estimator is made of the
setting that its class declares (`settings_options`). Groups are tuples; `with_options` adds them.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, get_args, get_origin

import click

from bestdag.machine import memory_limit
from bestdag.registry import Setting, canonical, settings_among, settings_of
from bestdag.wording import as_option

if TYPE_CHECKING:
    from bestdag.data.readers import Rows

__all__ = [
    "COMMON",
    "DATA_OPTIONS",
    "DURATION",
    "FORCE",
    "IGNORE_EXTRA",
    "JSON",
    "MAX_PARENTS",
    "MAX_VALUES",
    "MEMORY",
    "QUIET",
    "ROWS_OPTIONS",
    "THREADS",
    "Option",
    "csv_output",
    "data_options",
    "made_of_text",
    "missing_choices",
    "missing_option",
    "option",
    "options_of",
    "output_option",
    "parse_choice",
    "read_settings",
    "refuse_given",
    "refused_option",
    "say_collapsed",
    "settings_of_read",
    "settings_options",
    "shown_settings",
    "strategies_of_read",
    "table_settings",
    "taken_settings",
    "time_limit_option",
    "with_options",
]

_Function = TypeVar("_Function", bound=Callable[..., Any])
Option = Callable[[Any], Any]

# --------------------------------------------------------------------------- making options


def option(*flags: str, help: str, **settings: Any) -> Option:  # noqa: A002 (as in click)
    """Return an option of click that shows its default, if it has one."""
    default = settings.get("default")
    if default is not None and default is not False and default != ():
        settings.setdefault("show_default", True)
    return click.option(*flags, help=help, **settings)


def with_options(*groups: Option | Iterable[Option]) -> Callable[[_Function], _Function]:
    """Add options, and groups of them, in the order they are named."""
    flat: list[Option] = []
    for group in groups:
        flat += [group] if callable(group) else group

    def decorate(function: _Function) -> _Function:
        for one in reversed(flat):
            function = one(function)
        return function

    return decorate


_SECONDS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "min": 60.0, "s": 1.0, "ms": 1e-3}
_PART = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(d|h|min|ms|m|s)", re.IGNORECASE)


class _Duration(click.types.FloatParamType):
    """Seconds: a number, or such as 30s, 5m, 2h or 1h30m."""

    name = "duration"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        text = str(value)
        try:
            return float(text)
        except ValueError:
            pass
        parts = list(_PART.finditer(text))
        units = [_SECONDS[part[2].lower()] for part in parts]
        is_whole = "".join(part[0] for part in parts) == text.rstrip()
        if not parts or not is_whole or units != sorted(set(units), reverse=True):
            self.fail(
                f"{value!r} is not a duration; give seconds, or such as 30s, 5m, 2h or 1h30m",
                param,
                ctx,
            )
        return sum(float(part[1]) * unit for part, unit in zip(parts, units, strict=True))


DURATION = _Duration()


class _Names(click.ParamType[Any]):
    name = "names"

    def convert(self, value: Any, *_: Any) -> tuple[str, ...]:
        return tuple(part.strip() for part in value.split(","))


def time_limit_option(text: str = "Time limit, e.g. 30s, 5m.") -> Option:
    """Return the option --time-limit."""
    return click.option("--time-limit", type=DURATION, metavar="TIME", help=text)


def refused_option(flag: str, why: str, *, is_flag: bool = False) -> Option:
    """Return an option that other commands have, and that is answered here with why not."""

    def refuse(_context: click.Context, _option: click.Parameter, value: Any) -> None:
        if value not in (None, False):
            raise click.UsageError(f"{why}; leave out {flag.partition('/')[0]}")

    return click.option(flag, is_flag=is_flag, hidden=True, expose_value=False, callback=refuse)


def refuse_given(names: Iterable[str], why: str) -> None:
    """Refuse parameters of the command that runs, if they were given on the command line."""
    context, refused = click.get_current_context(), set(names)
    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        if parameter.name in refused and source is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{why}: leave out {parameter.opts[0]}")


# ------------------------------------------------- options of functions and of listed classes


def options_of(function: Callable[..., Any], *names: str, **flags: str) -> tuple[Option, ...]:
    """Return an option for each of these parameters of a library function.

    Its type and default are those of the signature, its help is the first sentence of the
    docstring. `flags` says what a parameter is called on the command line, where that is not its
    name with dashes; its value then has that name, too.
    """
    parameters = inspect.signature(function).parameters
    texts = _texts(inspect.getdoc(function) or "")
    made = []
    for name in (*names, *flags):
        parameter = parameters[name]
        settings: dict[str, Any] = {"help": texts.get(name, "")}
        kind = _signature_type(str(parameter.annotation))
        if kind is bool:
            settings["is_flag"] = True
        elif parameter.default is inspect.Parameter.empty:
            settings |= {"type": kind, "required": True}
        elif parameter.default is None:
            settings["type"] = kind
        else:
            settings |= {"type": kind, "default": parameter.default}
        made.append(option(flags.get(name, as_option(name)), **settings))
    return tuple(made)


# An entry of the section Parameters in a docstring: names, type; then its indented text.
_ENTRY = re.compile(r"^(\w+(?:, \w+)*)(?: :[^\n]*)?\n((?:    [^\n]*\n|\n)+)", re.MULTILINE)


def _texts(docstring: str) -> dict[str, str]:
    """Return the first sentence about each parameter, as the command line says it.

    Examples
    --------
    >>> from bestdag.averaging.posterior import posterior
    >>> _texts(inspect.getdoc(posterior))["burn_in"]
    'Steps to discard at the start of each chain (a fifth of --steps unless given).'
    """
    _, _, rest = docstring.partition("\nParameters\n----------\n")
    section = re.split(r"\n\w+\n-{3,}\n", f"{rest}\n")[0] + "\n"
    texts = {}
    for entry in _ENTRY.finditer(section):
        sentence = re.split(r"(?<=\.)\s+(?=[A-Z\"`])", " ".join(entry[2].split()))[0]
        sentence = re.sub(r"`(\w+)`", lambda name: as_option(name[1]), sentence)
        texts.update(dict.fromkeys(entry[1].split(", "), sentence.replace('"', "")))
    return texts


def _signature_type(annotation: str) -> Any:
    kind = annotation.replace(" | None", "")
    if kind.startswith("Literal["):
        return click.Choice(re.findall(r"[\"'](\w+)[\"']", kind))
    return {"int": int, "float": float, "bool": bool, "str": str}[kind]


def settings_options(
    listed: Mapping[str, Any], *, but: Sequence[str] = (), prefix: str = ""
) -> tuple[Option, ...]:
    """Return an option for each setting of the classes of a list, but those named.

    `prefix` is what their names begin with on the command line.
    """
    return tuple(
        click.option(
            as_option(prefix + name),
            prefix + name,
            type=_click_type(owners[0]),
            metavar=_metavar(owners[0]),
            help=_help(owners),
        )
        for name, owners in settings_among(listed).items()
        if name not in but
    )


def taken_settings(
    listed: Mapping[str, Any], options: dict[str, Any], chosen: Iterable[str], what: str
) -> dict[str, Any]:
    """Take the settings that were given out of `options`; each must belong to something chosen."""
    by_name = settings_among(listed)
    values = {name: options.pop(name, None) for name in by_name}
    settings = {name: value for name, value in values.items() if value is not None}
    chosen = list(chosen)
    for name in settings if all(key in listed for key in chosen) else ():
        owners = [one.owner for one in by_name[name]]
        if not {*owners} & {*chosen}:
            last = owners[-1] if len(owners) == 1 else f"{', '.join(owners[:-1])} and {owners[-1]}"
            raise click.UsageError(
                f"{as_option(name)} does not belong to the {what} {', '.join(chosen)}, but to "
                f"{last}"
            )
    return settings


def made_of_text(entry: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that belong to a class, with files loaded."""
    return {
        one.name: settings[one.name] if one.load is None else _load(one.load, settings[one.name])
        for one in settings_of(entry)
        if one.name in settings
    }


def shown_settings(made: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return all settings of what was made that are not None; files by their names."""
    values = {
        one.name: settings.get(one.name, getattr(made, one.name)) for one in settings_of(made)
    }
    return {name: values[name] for name in sorted(values) if values[name] is not None}


def parse_choice(text: str, listed: Mapping[str, Any], what: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the settings of a text such as "dirichlet,ess=10".

    Examples
    --------
    >>> from bestdag.parameters import ESTIMATORS
    >>> parse_choice("dirichlet,ess=10", ESTIMATORS, "parameters")
    ('dirichlet', {'ess': 10.0})
    """
    name, *rest = (part.strip() for part in text.split(","))
    name = canonical(name, listed)
    by_name = settings_among(listed)
    kinds = {key: _click_type(owners[-1]) for key, owners in by_name.items()}
    settings: dict[str, Any] = {}
    for part in rest:
        key, sign, value = part.partition("=")
        if not sign:
            raise click.UsageError(
                f"'{part}' must be a setting and its value, as in dirichlet,ess=10"
            )
        key, value = canonical(key.strip(), kinds), value.strip()
        settings[key] = kinds[key].convert(value, None, None) if key in kinds else value
        if name in listed and name not in [one.owner for one in by_name.get(key, ())]:
            raise click.UsageError(f"{key} does not belong to the {what} {name}")
    return name, made_of_text(listed[name], settings) if name in listed else settings


def _click_type(one: Setting) -> click.ParamType[Any]:
    kinds = [kind for kind in get_args(one.kind) or (one.kind,) if kind is not NoneType]
    if one.is_duration:
        return DURATION
    if one.load is not None:
        return click.STRING
    literal = next((kind for kind in (one.kind, *kinds) if get_origin(kind) is Literal), None)
    if literal is not None:
        return click.Choice(list(get_args(literal)))
    if any(get_origin(kind) is Sequence for kind in kinds):
        return _Names()
    kind: click.ParamType[Any] = click.types.convert_type(kinds[0])
    return kind


def _metavar(one: Setting) -> str | None:
    if one.load is not None:
        return "START" if one.load in ("start", "structure") else "FILE"
    return "NAMES" if isinstance(_click_type(one), _Names) else None


def _help(owners: Sequence[Setting]) -> str:
    """Say whose setting it is, what it does, and its default."""
    texts: dict[str, list[str]] = {}
    for one in owners:
        has_default = one.default is not None and "[default" not in one.help
        default = f"  [default: {_shown(one.default)}]"
        texts.setdefault(one.help + (default if has_default else ""), []).append(one.owner)
    return "  ".join(f"{', '.join(names)}: {text}" for text, names in texts.items())


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else f"{value}"


def _load(kind: str, text: str) -> Any:
    """Load what a setting is on the command line: a network, tables, or where to begin."""
    if kind == "tables":
        from bestdag.scores.bd import PseudoCounts

        return PseudoCounts.load(text)
    if kind == "start" and text in ("available", "uniform", "random"):
        return text
    if kind == "structure" and text in ("empty", "random", "tree"):
        return text
    from bestdag.network.network import Network

    network = Network.load(text)
    return network.dag if kind == "structure" else network


# --------------------------------------------------------------- the machine, and what is printed


def _limit_memory(context: click.Context, _option: click.Parameter, size: str | None) -> None:
    """Let the limit hold until the command ends."""
    context.with_resource(memory_limit(size))


MEMORY = click.option(
    "--memory-limit",
    metavar="SIZE",
    expose_value=False,
    callback=_limit_memory,
    help="Memory limit, e.g. 2GB.  [default: 80 % of free memory]",
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
QUIET = click.option("--quiet", is_flag=True, help="Show no progress.")
COMMON = (MEMORY, JSON, QUIET)
THREADS = click.option(
    "--threads", type=click.IntRange(1), help="Number of threads.  [default: all processors]"
)
IGNORE_EXTRA = click.option(
    "--ignore-extra", is_flag=True, help="Ignore columns that are not in the network."
)
FORCE = click.option("--force", is_flag=True, help="Replace an existing file.")
MAX_PARENTS = click.option(
    "--max-parents", type=click.IntRange(0), help="Maximum number of parents per node."
)


def output_option(what: str) -> Option:
    """Return the option -o, which must be given."""
    return click.option("-o", "--output", required=True, metavar="FILE", help=what)


def csv_output(more: str = "") -> Option:
    """Return the option -o for CSV, on standard output unless it is given."""
    text = f"CSV file (.csv, .tsv; also .gz), or - for standard output{more}."
    return option("-o", "--output", default="-", metavar="FILE", help=text)


# ------------------------------------------------------------------------------------- tables

# What a shell can write for a tab and a blank.
_SIGNS = {"tab": "\t", "\\t": "\t", "space": " "}


class _Strategies(click.Choice[str]):
    """Missing-data strategies; one of `learn` that is not among them is refused in words.

    The list is asked for when it is needed: its module loads what reads tables.
    """

    def __init__(self, listed: Callable[[], Iterable[str]]) -> None:
        self._listed = listed
        super().__init__(())

    @property
    def choices(self) -> tuple[str, ...]:
        """The names on the list."""
        return tuple(self._listed())

    @choices.setter
    def choices(self, _: Iterable[str]) -> None:
        """Leave them to the list."""

    def convert(self, value: Any, *rest: Any) -> str:
        if value in ("em", "available") and value not in self.choices:
            self.fail(
                f"{value!r} is for learning one structure; pass drop or state, or fill in the "
                f"values first: bestdag learn DATA --missing em -o net.json, then bestdag impute "
                f"DATA net.json -o FILE",
                *rest,
            )
        return super().convert(value, *rest)


def strategies_of_read() -> list[str]:
    """Return the missing-data strategies of `read`."""
    from bestdag.data.missing import STRATEGIES

    return list(STRATEGIES)


def _strategies_without_gaps() -> list[str]:
    return [name for name in strategies_of_read() if name != "keep"]


def missing_option(
    strategies: Callable[[], Iterable[str]], text: str, *, default: str = "error"
) -> Option:
    """Return the option --missing with the missing-data strategies of a list."""
    return option(
        "--missing",
        type=_Strategies(strategies),
        default=default,
        help=f"Missing values: {text}.",
    )


def missing_choices() -> Sequence[str]:
    """Return what --missing of the command that runs may be."""
    for parameter in click.get_current_context().command.params:
        if parameter.name == "missing" and isinstance(parameter.type, click.Choice):
            return parameter.type.choices
    return ()


# Settings of `read`, by name; commands take those that mean something to them.
DATA_OPTIONS: dict[str, Option] = {
    "missing": missing_option(
        _strategies_without_gaps, "stop, drop their rows, or treat them as a state"
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
        callback=lambda _context, _option, sign: _SIGNS.get(sign, sign),
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
    "max_states": option(
        "--max-states",
        type=click.IntRange(1),
        default=50,  # DEFAULT_MAX_STATES, without loading it
        help="Refuse a column with more distinct values than this.",
    ),
}
MAX_VALUES = option(
    "--max-values",
    type=click.IntRange(0),
    default=20,  # DEFAULT_MAX_VALUES, without loading it
    help="Do not bin integer columns with at most this many distinct values.",
)
ROWS_OPTIONS: dict[str, Option] = {
    "rows_in": option(
        "--rows-in",
        type=click.Choice(["auto", "memory", "disk"]),
        default="auto",
        help="Where to keep the rows: in memory if they fit within the limit, else on disk.",
    ),
    "cache": click.option(
        "--cache",
        metavar="DIR",
        help="Folder for the encoded rows on disk, reused while DATA is unchanged.",
    ),
    "collapse": click.option(
        "--collapse/--no-collapse",
        default=None,
        help="Combine identical rows into one row with a weight.  [default: if a sample suggests "
        "that at most an eighth of the rows remain]",
    ),
}
# What the table of a command is called there.
_TABLES = ("data", "file", "train")
_SQL = click.option(
    "--sql",
    is_flag=True,
    help="DATA is an SQL query: --sql \"SELECT * FROM 'rows.parquet'\".",
)


def data_options(*, but: Sequence[str] = ()) -> Callable[[_Function], _Function]:
    """Add settings of `read`, all but those named, and the way to give a query."""

    def decorate(function: _Function) -> _Function:
        @functools.wraps(function)
        def call(*arguments: Any, sql: bool, **values: Any) -> Any:
            for name in _TABLES if sql else ():
                if values.get(name) is not None:
                    values[name] = _query(values[name])
            return function(*arguments, **values)

        chosen = [one for name, one in DATA_OPTIONS.items() if name not in but]
        return cast(_Function, with_options(chosen, _SQL)(call))

    return decorate


def _query(text: str) -> str:
    from bestdag.data.sources.connection import SqlText

    return SqlText(text)


def read_settings(options: dict[str, Any]) -> dict[str, Any]:
    """Take the settings of `read` out of a command's options."""
    settings = {name: options.pop(name) for name in DATA_OPTIONS if name in options}
    settings["missing_values"] = ("", *settings.get("missing_values", ()))
    return settings


def table_settings(options: dict[str, Any]) -> dict[str, Any]:
    """Take what was said about reading a table, and where its rows are, out of the options."""
    rows = {name: options.pop(name) for name in ROWS_OPTIONS if name in options}
    return {**read_settings(options), **rows}


def settings_of_read(
    settings: dict[str, Any], flag: str, does: str = "bins numeric columns in memory, row by row"
) -> dict[str, Any]:
    """Return the settings of `read` alone; numbers are cut in memory, or a flag does otherwise."""
    if settings.get("rows_in") == "disk" or settings.get("cache") or settings.get("collapse"):
        raise click.UsageError(f"{flag} {does}; leave out --rows-in disk, --cache and --collapse")
    return {name: value for name, value in settings.items() if name not in ROWS_OPTIONS}


def say_collapsed(data: str, rows: Rows, *, quiet: bool) -> None:
    """Say how far putting equal rows together went, if that was done."""
    if not quiet:
        for note in rows.notes:
            click.echo(f"{data}: {note}", err=True)
