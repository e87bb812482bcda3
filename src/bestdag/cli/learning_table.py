"""The table that a structure is learned from: how it is read and cut, and what is accepted."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bestdag.cli.network_data import read_at_cut_points, read_for_network
from bestdag.cli.next_commands import without
from bestdag.cli.options import (
    DATA_OPTIONS,
    ROWS_OPTIONS,
    data_options,
    missing_choices,
    say_collapsed,
    settings_of_read,
    table_settings,
    with_options,
)
from bestdag.cli.output import working
from bestdag.registry import settings_of
from bestdag.search import SEARCHES, search_name
from bestdag.wording import count_of, shell_word

if TYPE_CHECKING:
    from bestdag.data.dataset import Dataset
    from bestdag.data.readers import Rows
    from bestdag.scores.base import Score

__all__ = [
    "Cutting",
    "LearningTable",
    "accepted_instead",
    "class_of_intervals",
    "read_for_learning",
    "read_table",
    "table_options",
    "what_was_read",
]

_Function = TypeVar("_Function", bound=Callable[..., Any])

# Rows are dropped, unless told so, where this share of them is left.
_LEAST_SHARE = 1 / 3

_CUTTING = (
    click.option(
        "--discretize",
        is_flag=True,
        help="Bin numeric columns with decimals or more than 20 distinct values: into "
        "quantiles or, "
        "with --target, where the classes differ (Fayyad and Irani).",
    ),
    click.option(
        "--bins",
        type=click.IntRange(2),
        help="Number of quantiles to bin into.  [default: 5]",
    ),
    click.option(
        "--cut-points",
        metavar="FILE",
        help="File of cut points, written by discretize --save-cut-points.",
    ),
)


def table_options(
    missing: Callable[[Any], Any] = DATA_OPTIONS["missing"], *, but: Sequence[str] = ()
) -> Callable[[_Function], _Function]:
    """Add all that a command may be told about the table it reads.

    Where numeric columns are cut, what missing values mean (by an option of the command's own, if
    it has one), the settings of `read` but those named, and where rows are.
    """
    of_read = data_options(but=("missing", *but))
    return with_options(_CUTTING, missing, of_read, ROWS_OPTIONS.values())


def class_of_intervals(search: str, options: dict[str, Any], data: str | None) -> str | None:
    """Return the class; where it is that of the intervals alone, the search does not get it."""
    target: str | None = options["target"]
    if target is None or _has_class(search):
        return target
    if not options["discretize"] or options["bins"] is not None:
        file, column = shlex.quote(data or "DATA"), shlex.quote(target)
        raise click.UsageError(
            f"--target {column}: the search {search} learns how all columns depend on each other, "
            f"whichever is to be predicted; for a classifier of {column}: bestdag classify {file} "
            f"--target {column}, for a network with it as the class: --search tan"
        )
    options["target"] = None
    return target


def _has_class(search: str) -> bool:
    entry = SEARCHES.get(search_name(search))
    return entry is not None and "target" in {one.name for one in settings_of(entry)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cutting:
    """What was asked for about numeric columns."""

    discretize: bool = False
    bins: int | None = None
    target: str | None = None
    cut_points: str | None = None

    @classmethod
    def of(cls, options: dict[str, Any], target: str | None) -> Cutting:
        """Take it out of the options of a command; `target` is the class, if there is one."""
        discretize, bins = options.pop("discretize"), options.pop("bins")
        cut_points = options.pop("cut_points")
        if (discretize or bins is not None) and cut_points is not None:
            flag = "--discretize" if discretize else "--bins"
            raise click.UsageError(f"--cut-points already sets the bins; leave out {flag}")
        return cls(
            discretize=discretize or bins is not None,
            bins=bins,
            target=target if bins is None else None,
            cut_points=cut_points,
        )

    @property
    def is_asked(self) -> bool:
        """Whether any column is to be cut."""
        return self.discretize or self.cut_points is not None

    @property
    def method(self) -> dict[str, Any]:
        """Return the settings of `discretize`."""
        if self.target is not None:
            return {"method": "fayyad_irani", "target": self.target}
        return {"method": "quantile", "bins": self.bins or 5}

    def in_words(self) -> str:
        """Say how columns are cut."""
        if self.target is not None:
            return f"where the classes of {self.target} differ (Fayyad and Irani)"
        return f"into up to {self.bins or 5} quantiles"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LearningTable:
    """A table that was read, and whose cut points its numbers were cut at, if any were given."""

    rows: Rows
    cutting: Cutting
    cut_points_of: str | None = None

    @property
    def dataset(self) -> Dataset:
        """The table."""
        return self.rows.dataset

    @property
    def cut(self) -> list[str]:
        """The columns whose numbers were cut."""
        return list(self.rows.cut)

    def cut_in_words(self) -> str:
        """Say which columns were cut, and where."""
        if self.cut_points_of is None:
            return f"numeric columns binned {self.cutting.in_words()}: {_listed(self.cut)}"
        return f"numeric columns binned at the cut points of {self.cut_points_of}: " + _listed(
            self.cut
        )

    def wide_numbers(self) -> list[str]:
        """Name numeric columns every distinct number of which was taken as a category."""
        from bestdag.data.warnings import wide_numbers

        return wide_numbers(self.dataset.variables)

    def settings(self) -> dict[str, Any]:
        """Return what the output says about cutting, in JSON."""
        return {
            **({"cut": self.cut} if self.cut else {}),
            **({"discretize": self.cutting.method} if self.cutting.discretize else {}),
        }


def read_table(
    data: str,
    options: dict[str, Any],
    score: Score | None = None,
    *,
    target: str | None = None,
) -> LearningTable:
    """Read the table of a command that has `table_options`; takes them out of its options."""
    cutting = Cutting.of(options, target)
    reading = table_settings(options)
    with (
        accepted_instead(data, score, reading["missing"], cutting, reading),
        working(f"reading {data}", quiet=options["quiet"]),
    ):
        table = read_for_learning(data, score, cutting, reading)
    say_collapsed(data, table.rows, quiet=options["quiet"])
    return table


def read_for_learning(
    data: str,
    score: Score | None,
    cutting: Cutting,
    reading: dict[str, Any],
    client: Any = None,
) -> LearningTable:
    """Read the table, cut as asked; a score with a prior network says what the states are.

    With the client of a cluster, its machines read what they can.
    """
    from bestdag.data.readers import Rows, read_rows

    variables = getattr(getattr(score, "prior", None), "variables", None)
    if variables is not None:
        if cutting.is_asked:
            flag = "--discretize" if cutting.discretize else "--cut-points"
            raise click.UsageError(f"{flag} cannot be used with --prior, which sets the states")
        rows = read_for_network(data, variables, owner="the prior network", **reading)
        return LearningTable(rows=rows, cutting=cutting, cut_points_of="the prior network")
    if cutting.cut_points is not None:
        reading = settings_of_read(reading, "--cut-points")
        rows = read_at_cut_points(data, cutting.cut_points, **reading)
        return LearningTable(rows=rows, cutting=cutting, cut_points_of=cutting.cut_points)
    if cutting.discretize:
        from bestdag.data.discretize import discretize

        reading = settings_of_read(reading, "--discretize")
        table = discretize(data, **cutting.method, **reading)
        cut = tuple(variable.name for variable in table.variables if variable.cuts is not None)
        return LearningTable(rows=Rows(table, cut=cut), cutting=cutting)
    if client is not None:
        from bestdag.cluster.reading import Workers

        place = Workers(client)
        if place.reads(data):
            reading = settings_of_read(reading, "--cluster", "keeps rows on workers")
            reading["rows_in"] = place
    return LearningTable(rows=read_rows(data, **reading), cutting=cutting)


@contextmanager
def accepted_instead(
    data: str | None, score: Score | None, treatment: str, cutting: Cutting, reading: dict[str, Any]
) -> Iterator[None]:
    """Let a refusal of the table in the block end with a command that is not refused.

    `treatment` is the name of what is done about missing values.
    """
    from bestdag.errors import DataError

    try:
        yield
    except DataError as error:
        if data is not None and data != "-":
            proposed = _proposed(data, score, treatment, cutting, reading)
            if proposed is not None:
                command, why = proposed
                said = getattr(error, "plainly", None) or error.on_command_line
                error.on_command_line = f"{said}{why}. Try: {' '.join(map(shell_word, command))}"
        raise


def _proposed(
    data: str, score: Score | None, treatment: str, cutting: Cutting, reading: dict[str, Any]
) -> tuple[list[str], str] | None:
    """Return a command by which the table would be read, and why columns are left out."""
    from bestdag.data.describe import advice_on
    from bestdag.data.missing import complete_rows
    from bestdag.data.warnings import rewritten
    from bestdag.errors import BestdagError
    from bestdag.incomplete.complete import suited

    names = ("missing_values", "weights", "drop", "separator", "sheet", "encoding")
    read_as = {name: reading[name] for name in names if name in reading}
    try:
        advice = advice_on(data, max_states=reading.get("max_states", 50), **read_as)
    except BestdagError:
        return None
    if advice is None:
        return None
    words = click.get_current_context().obj
    more = [word for mark in advice.missing_values for word in ("--missing-value", mark)]
    more += [word for name in advice.drop for word in ("--drop", name)]
    if advice.written:
        columns = {name: one.sql(name) for name, one in advice.written.items()}
        query = rewritten(data, columns, read_as.get("separator"), read_as.get("encoding"))
        if query is None or data not in words:
            return None
        words = tuple(query if word == data else word for word in words)
        words = (words[0], "--sql", *without(words[1:], "--separator", "--encoding"))
    if (advice.cut or advice.written) and not cutting.discretize:
        if cutting.cut_points is not None:
            return None
        more.append("--discretize")
    if advice.left.has_missing and treatment in ("error", "drop"):
        share = float(complete_rows(advice.left).mean())
        if treatment == "error" or share < _LEAST_SHARE:
            if score is not None and "em" in missing_choices():
                more += ["--missing", suited(share, score)]
            else:
                more += ["--missing", "drop" if share >= _LEAST_SHARE else "state"]
    if not more:
        return None
    reasons = ", ".join(f"{name!r} ({reason})" for name, reason in advice.drop.items())
    return ["bestdag", *words, *more], f"; leave out {reasons}" if reasons else ""


def what_was_read(data: str, table: LearningTable) -> Iterator[str]:
    """Say what was read, in lines for people."""
    dataset = table.dataset
    arities = sorted({variable.arity for variable in dataset.variables})
    states = f"{arities[0]}" if len(arities) == 1 else f"{arities[0]} to {arities[-1]}"
    weight = "" if dataset.weights is None else f" (total weight {dataset.total_weight:,})"
    holes = dataset.missing_counts
    cells = "no missing values"
    if holes:
        share = sum(holes.values()) / (dataset.n_rows * dataset.n_variables)
        cells = (
            f"{count_of(sum(holes.values()), 'missing value')} ({share:.1%}) in "
            f"{count_of(len(holes), 'column')}"
        )
    yield (
        f"{data}: {count_of(dataset.n_rows, 'row')}{weight}, "
        f"{count_of(dataset.n_variables, 'column')} of {states} "
        f"{'state' if arities == [1] else 'states'}; {cells}"
    )
    yield from table.rows.notes
    if table.cut:
        yield table.cut_in_words()
    numbers = table.wide_numbers()
    if numbers:
        names = _listed(numbers)
        yield f"every distinct number treated as a category: {names}; --discretize bins them"


def _listed(names: list[str]) -> str:
    return ", ".join(names[:10]) + (f" and {len(names) - 10:,} more" if names[10:] else "")
