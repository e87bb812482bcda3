"""`bestdag learn`: the best structure for a table, or for a file of local scores."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from bestdag.cli.checkpoint_options import checkpoint_options
from bestdag.cli.learning_table import class_of_intervals
from bestdag.cli.options import DATA_OPTIONS
from bestdag.cli.rows_options import ROWS_OPTIONS
from bestdag.cli.search_options import choose_search, search_options
from bestdag.cli.structure import learn_structure, structure_options
from bestdag.cli.structures_output import near_best_options
from bestdag.registry import settings_of
from bestdag.scores import SCORES
from bestdag.search import SEARCHES

__all__ = ["command"]


@click.command("learn")
@click.argument("data", required=False)
@click.option(
    "--from-scores", metavar="FILE", help="File of local scores (.jkl, .scores), instead of DATA."
)
@click.option(
    "--search",
    default="auto",
    show_default=True,
    metavar="NAME",
    help=f"One of {', '.join(SEARCHES)}.",
)
@search_options
@click.option(
    "--bound",
    is_flag=True,
    help="Bound how much higher the best score may be, for any search; takes a quarter of the time "
    "limit.",
)
@near_best_options
@click.option("--seed", type=click.IntRange(0), default=0, help="Seed of random searches.")
@click.option(
    "--start", metavar="NETWORK", help="Network file whose structure the search starts from."
)
@click.option(
    "--skeleton",
    metavar="NAME",
    help="pc: allow arcs only along the links that its independence tests leave.",
)
@click.option("--alpha", type=float, help="Significance level of --skeleton.  [default: 0.05]")
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Let the workers of a Dask cluster hold the rows and count: tcp://HOST:8786, or local for "
    "processes of this machine. They read Parquet themselves, where all see the file. Needs "
    "'bestdag[cluster]'.",
)
@click.option(
    "--require-optimal", is_flag=True, help="Exit with code 1 unless the network is proved best."
)
@checkpoint_options
@structure_options
def command(
    data: str | None,
    from_scores: str | None,
    search: str,
    bound: bool,
    k_best: int | None,
    per_class: bool | None,
    all_optimal: bool,
    collect_within: float | None,
    seed: int,
    start: str | None,
    skeleton: str | None,
    alpha: float | None,
    cluster: str | None,
    require_optimal: bool,
    **options: Any,
) -> None:
    """Learn the best-scoring network structure for the table DATA, with proof where possible.

    DATA is CSV, TSV, Parquet, JSON lines or Excel, or - for CSV from standard input; a pattern
    ('rows/*.parquet') or a folder whose files form one table; or, with --sql, a query. Or give a
    file of local scores with --from-scores. Rows that do not fit within --memory-limit stay on
    disk. Scores are natural logarithms; higher is better. On Ctrl-C or at the time limit, the best
    structure so far is printed, and how much higher the best score may be. -o writes the network
    with parameters fitted to DATA. Tables written by `bestdag discretize` keep their cut points,
    and so does the network.
    """
    from bestdag.network.network import Network

    if (data is None) == (from_scores is None):
        raise click.UsageError("give either DATA or --from-scores FILE")
    if data is not None and data.lower().removesuffix(".gz").endswith((".jkl", ".scores")):
        raise click.UsageError(f"{data!r} holds local scores, not rows: give it by --from-scores")
    if from_scores is not None:
        _refuse_without_data()
    target = class_of_intervals(search, options, data)
    learn_structure(
        choose_search(search, options),
        data,
        options,
        from_scores=from_scores,
        target=target,
        require_optimal=require_optimal,
        bound=bound,
        k_best=k_best,
        per_class=per_class,
        all_optimal=all_optimal,
        collect_within=collect_within,
        seed=seed,
        start=None if start is None else Network.load(start).dag,
        skeleton=skeleton,
        alpha=alpha,
        cluster=cluster,
    )


def _refuse_without_data() -> None:
    """Refuse options that have no meaning with a file of local scores."""
    of_scores = {one.name for score in SCORES.values() for one in settings_of(score)}
    needs_data = {
        "name",
        "structure_prior",
        "kappa",
        "support",
        "cluster",
        "cut_points",
        "discretize",
        "bins",
        *of_scores,
        *DATA_OPTIONS,
        *ROWS_OPTIONS,
    }
    context = click.get_current_context()
    for parameter in context.command.params:
        given = context.get_parameter_source(str(parameter.name))
        if parameter.name in needs_data and given is ParameterSource.COMMANDLINE:
            raise click.UsageError(
                f"--from-scores already has its scores: leave out {parameter.opts[0]}"
            )
