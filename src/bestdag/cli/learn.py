"""`bestdag learn`: the best structure for a table, or for a file of local scores."""

from __future__ import annotations

from typing import Any

import click

from bestdag.cli.options import common_options, data_options, read_settings, threads_option
from bestdag.cli.output import print_json, print_table, working
from bestdag.cli.score_options import choose_scores, choose_structure_prior, score_options

__all__ = ["command"]


@click.command("learn")
@click.argument("data", required=False)
@click.option("--from-scores", metavar="FILE", help="Local scores (.jkl, .scores) instead of data.")
@click.option("--score", "name", default="bdeu", show_default=True, help="The score.")
@score_options
@click.option("--search", default="auto", show_default=True, help="The search: auto or exact.")
@click.option("--engine", help="Engine of the exact search: auto, dp or bnc.")
@click.option("--max-parents", type=click.IntRange(0), help="At most so many parents.")
@click.option("--time-limit", type=float, metavar="SECONDS", help="Stop after so long.")
@click.option("--knowledge", "file", metavar="FILE", help="What you know, as TOML or JSON.")
@click.option(
    "--know",
    "statements",
    multiple=True,
    metavar="STATEMENT",
    help="A statement such as 'A -> B', 'A !> B' or 'tiers: A B | C'; may be repeated.",
)
@click.option(
    "--require-optimal", is_flag=True, help="Exit with code 1 unless the optimum is proved."
)
@data_options()
@threads_option
@common_options
def command(
    data: str | None,
    from_scores: str | None,
    name: str,
    search: str,
    engine: str | None,
    max_parents: int | None,
    time_limit: float | None,
    file: str | None,
    statements: tuple[str, ...],
    require_optimal: bool,
    threads: int | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Learn the best-scoring structure for the table DATA, and say whether that is proven.

    DATA is a CSV, TSV, Parquet or JSON-lines file, or - for CSV from standard input; or give a
    file of local scores with --from-scores. Scores are natural logarithms; higher is better.
    Ctrl-C and the time limit give the best structure so far and how far from optimal it may be.
    """
    from bestdag.data.readers import read
    from bestdag.graph.knowledge import Knowledge
    from bestdag.scores.scorer import Scorer
    from bestdag.scores.table import ScoreTable
    from bestdag.search import make_search
    from bestdag.search.base import Problem

    if (data is None) == (from_scores is None):
        raise click.UsageError("give either DATA or --from-scores FILE")
    chosen = choose_scores((name,), options)
    ((score_name, one),) = chosen.items()
    prior = choose_structure_prior(options)
    settings = {} if engine is None else {"engine": engine}
    chosen_search = make_search(search, **settings)
    knowledge = Knowledge() if file is None else Knowledge.load(file)
    knowledge = knowledge | Knowledge.parse(statements)
    reading = read_settings(options)
    with working(f"learning from {data or from_scores}", quiet=quiet):
        if from_scores is not None:
            scores: Scorer | ScoreTable = ScoreTable.load(from_scores)
        else:
            scores = Scorer(read(data, **reading), one.score, prior, threads=threads)
        problem = Problem(
            scores,
            knowledge=knowledge,
            max_parents=max_parents,
            time_limit=time_limit,
            threads=threads,
        )
        found = chosen_search.run(problem)
    if as_json:
        print_json(
            {
                "search": found.search,
                "engine": found.engine,
                "score_name": None if from_scores else score_name,
                "status": found.status,
                "score": found.score,
                "bound": found.bound,
                "gap": found.gap,
                "seconds": found.seconds,
                "variables": list(found.dag.nodes),
                "arcs": [list(arc) for arc in found.dag.arcs],
                "settings": {
                    **({} if from_scores else one.settings),
                    **found.settings,
                    "max_parents": max_parents,
                    "time_limit": time_limit,
                    "resolution": found.resolution,
                },
            }
        )
    else:
        _print(found, from_scores or f"{score_name} on {data}")
    if found.status == "interrupted":
        raise click.exceptions.Exit(130)
    if require_optimal and not found.is_proved:
        raise click.exceptions.Exit(1)


def _print(found: Any, what: str) -> None:
    how = found.search if found.engine is None else f"{found.search}, {found.engine}"
    click.echo(f"{what}: {found.status} ({how}, {found.seconds:.2f} s)")
    line = f"score {found.score:.6f}, natural logarithm"
    if not found.is_proved:
        line += (
            "; no bound on the best score"
            if found.gap is None
            else f"; the best score is at most {found.gap:.6f} higher"
        )
    click.echo(line)
    print_table(
        ["variable", "parents"],
        [[node, " ".join(found.dag.parents(node))] for node in found.dag.nodes],
        left=2,
    )
