"""`bestdag score-table`: candidate parent sets and their scores, as a file."""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING, Any

import click

from bestdag.cli.choices import (
    SCORE_OPTIONS,
    SUPPORT,
    choose_score,
    choose_structure_prior,
    default_prior,
    score_option,
    shown_prior,
)
from bestdag.cli.learning_table import read_table, table_options
from bestdag.cli.options import (
    COMMON,
    FORCE,
    MAX_PARENTS,
    THREADS,
    output_option,
    time_limit_option,
    with_options,
)
from bestdag.cli.output import print_json, require_new_file, working
from bestdag.errors import DataWarning

if TYPE_CHECKING:
    from bestdag.scores.table import ScoreTable

__all__ = ["command"]


@click.command("score-table")
@click.argument("data")
@with_options(
    output_option("File of local scores (.jkl or .scores; also .gz), or - for standard output."),
    score_option(),
    SCORE_OPTIONS,
    SUPPORT,
    MAX_PARENTS,
    click.option(
        "--no-prune",
        is_flag=True,
        help="Also write sets that score no more than one of their subsets.",
    ),
    time_limit_option("Time limit, e.g. 30s, 5m; then the table may be incomplete."),
    FORCE,
    table_options(),
    THREADS,
    COMMON,
)
def command(
    data: str,
    output: str,
    name: str,
    max_parents: int | None,
    support: float,
    no_prune: bool,
    time_limit: float | None,
    force: bool,
    threads: int | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Write the local scores of all parent sets that a best network for DATA may need.

    DATA is CSV, TSV, Parquet, JSON lines or Excel, or - for CSV from standard input. The file
    lists, for each variable, its parent sets with their scores (natural logarithms, higher is
    better); programs for exact structure learning read it. Sets that score no more than one of
    their subsets are left out.
    """
    from bestdag.scores.jkl import format_jkl
    from bestdag.scores.parent_sets.build import build_score_table
    from bestdag.scores.scorer import Scorer

    if as_json and output == "-":
        raise click.UsageError("--json and -o - both want standard output; give -o a file")
    require_new_file(output, force=force)
    _, chosen = choose_score(name, options)
    prior = choose_structure_prior(options) or default_prior()
    read = read_table(data, {**options, "quiet": quiet}, chosen.score)
    dataset = read.dataset
    started = time.monotonic()
    with working("scoring", quiet=quiet):
        table = build_score_table(
            Scorer(dataset, chosen.score, prior, support=support, threads=threads),
            max_parents=max_parents,
            prune=not no_prune,
            time_limit=time_limit,
        )
    seconds = time.monotonic() - started
    if not table.complete:
        warnings.warn(
            "the time limit ended the scoring: the table is incomplete, and a network that is "
            "best for it need not be best for the data",
            DataWarning,
            stacklevel=1,
        )
    if output == "-":
        click.echo(format_jkl(table), nl=False)
        return
    table.save(output)
    if as_json:
        print_json(
            {
                "file": output,
                "score_name": chosen.score.name,
                "settings": {
                    **chosen.settings,
                    **shown_prior(prior),
                    "max_parents": max_parents,
                    "support": support,
                    **read.settings(),
                },
                "rows": dataset.total_weight,
                "base": "e",
                "variables": list(table.names),
                "parent_sets": table.n_sets,
                "scored": table.n_scored,
                "largest": _largest(table),
                "pruned": not no_prune,
                "complete": table.complete,
                "seconds": seconds,
            }
        )
    elif not quiet:
        if read.cut:
            click.echo(read.cut_in_words())
        click.echo(
            f"{output}: {table.n_sets:,} parent sets of {table.n_variables:,} variables, at most "
            f"{_largest(table)} parents; {table.n_scored:,} families scored by {chosen.score!r} on "
            f"{dataset.total_weight:,} rows in {seconds:.2f} s; natural logarithms"
        )


def _largest(table: ScoreTable) -> int:
    return max(len(parents) for i in range(table.n_variables) for _, parents in table.child(i))
