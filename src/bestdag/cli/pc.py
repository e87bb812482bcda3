"""`bestdag pc`: a structure from tests of independence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from bestdag.cli.choices import KNOWLEDGE_OPTIONS, choose_knowledge
from bestdag.cli.entry import INTERRUPTED
from bestdag.cli.learning_table import read_table, table_options
from bestdag.cli.options import (
    COMMON,
    DATA_OPTIONS,
    ROWS_OPTIONS,
    THREADS,
    option,
    refuse_given,
    settings_options,
    taken_settings,
    time_limit_option,
    with_options,
)
from bestdag.cli.output import print_json, print_table, working
from bestdag.constraint.settings import PC
from bestdag.independence import ALIASES, TESTS, make_test
from bestdag.registry import canonical, settings_among, settings_of

if TYPE_CHECKING:
    from bestdag.constraint.result import PCResult
    from bestdag.independence import IndependenceTest

__all__ = ["command"]

_LISTED: Mapping[str, Any] = {PC.name: PC, **TESTS}


@click.command("pc")
@click.argument("data", required=False)
@with_options(
    click.option(
        "--oracle",
        metavar="NETWORK",
        help="Network file: test d-separation in it, instead of DATA.",
    ),
    option(
        "--test",
        "test_name",
        default="g2",
        metavar="NAME",
        help=f"One of {', '.join(TESTS)}.",
    ),
    click.option(
        "--stable/--as-printed",
        default=None,
        help="Remove links at the end of a level (independent of the order of columns), or at "
        "once.  [default: stable]",
    ),
    settings_options(_LISTED, but=["stable"]),
    KNOWLEDGE_OPTIONS,
    click.option(
        "--explain", nargs=2, metavar="A B", help="Explain why two variables are linked or not."
    ),
    click.option(
        "--trace", is_flag=True, help="List every test with its statistics, and every step."
    ),
    time_limit_option(),
    table_options(),
    THREADS,
    COMMON,
)
def command(
    data: str | None,
    oracle: str | None,
    test_name: str,
    explain: tuple[str, str] | None,
    trace: bool,
    time_limit: float | None,
    threads: int | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Learn a structure from the table DATA by independence tests: the PC algorithm.

    DATA is CSV, TSV, Parquet, JSON lines or Excel, or - for CSV from standard input. Two
    variables stay linked unless a test finds them independent given some of their neighbors;
    v-structures and what they imply give directions. There is no score; `bestdag learn --skeleton
    pc` finds the best-scoring structure along these links. Contradictory test results are listed.
    """
    from bestdag.constraint.pc import pc
    from bestdag.network.network import Network

    if (data is None) == (oracle is None):
        raise click.UsageError("give either DATA or --oracle NETWORK")
    test, settings = _chosen(test_name, options)
    if oracle is not None:
        _refuse_without_data()
    knowledge = choose_knowledge(options)
    table = None if data is None else read_table(data, {**options, "quiet": quiet})
    with working(f"testing {data or oracle}", quiet=quiet):
        result = pc(
            None if table is None else table.dataset,
            oracle=None if oracle is None else Network.load(oracle).dag,
            test=test,
            knowledge=knowledge,
            keep_tests=trace,
            time_limit=time_limit,
            threads=threads,
            **settings,
        )
    if table is not None and table.cut:
        settings = {**result.settings, **table.settings()}
        result = replace(result, notes=(table.cut_in_words(), *result.notes), settings=settings)
    if explain is not None:
        _print_explanation(result, explain, as_json=as_json)
    elif as_json:
        print_json(result.to_dict(trace=trace))
    else:
        _print(result, data or str(oracle), trace=trace)
    if result.status == "interrupted":
        raise click.exceptions.Exit(INTERRUPTED)


def _chosen(name: str, options: dict[str, Any]) -> tuple[IndependenceTest, dict[str, Any]]:
    """Make the test asked for, and take the settings of the algorithm."""
    key = canonical(name, [*TESTS, *ALIASES])
    key = ALIASES.get(key, key)
    settings = taken_settings({PC.name: PC}, options, [PC.name], "algorithm")
    of_test = taken_settings(TESTS, options, [key], "test")
    own = {one.name for one in settings_of(TESTS[key])} if key in TESTS else set()
    shared = {name: value for name, value in settings.items() if name in own}
    return make_test(key, **shared, **of_test), settings


def _refuse_without_data() -> None:
    """Refuse options that mean nothing where a network answers."""
    needs_data = {"test_name", "alpha", *settings_among(TESTS), *DATA_OPTIONS, *ROWS_OPTIONS}
    needs_data = (needs_data | {"discretize", "bins", "cut_points"}) - {"seed"}
    refuse_given(needs_data, "--oracle answers without tests on data")


def _print_explanation(result: PCResult, pair: tuple[str, str], *, as_json: bool) -> None:
    text = result.explain(*pair)
    if as_json:
        test = result.separation(*pair)
        print_json(
            {
                "pair": list(pair),
                "linked": pair[1] in result.skeleton.adjacent(pair[0]),
                "test": None if test is None else test.to_dict(),
                "text": text,
            }
        )
    else:
        click.echo(text)


def _print(result: PCResult, what: str, *, trace: bool) -> None:
    click.echo(f"pc ({result.test}) on {what}: {result.summary()} ({result.seconds:.2f} s)")
    for note in result.notes:
        click.echo(note)
    if trace:
        _print_trace(result)
    print_table(
        ["condition", "questions", "tests", "removed"],
        [[str(size), *(f"{n:,}" for n in numbers)] for size, *numbers in result.levels],
    )
    for conflict in result.conflicts:
        click.echo(f"conflict: {conflict}")
    rows = [["->", *arc] for arc in result.pdag.arcs] + [["-", *edge] for edge in result.pdag.edges]
    if rows:
        print_table(["", "from", "to"], rows, left=3)


def _print_trace(result: PCResult) -> None:
    has_numbers = result.first_phase.has_numbers
    header = ["test", "answer"] + (["statistic", "df", "p-value"] if has_numbers else [])
    rows = []
    for test in result.tests:
        row = [test.question, "independent" if test.is_independent else "dependent"]
        if has_numbers and test.log_p_value is not None:
            from bestdag.independence.base import shown_p

            row += [f"{test.statistic:.6g}", f"{test.df:g}", shown_p(test.log_p_value)]
        rows.append(row)
    print_table(header, rows, left=2)
    print_table(
        ["rule", "arc", "because"],
        [[step.rule, " -> ".join(step.arc), step.because] for step in result.steps],
        left=3,
    )
