"""`bestdag bootstrap`: how often each arc is learned from rows drawn again."""

from __future__ import annotations

from typing import Any

import click

from bestdag.cli.arc_output import arc_options, check_arc_files, finish_arcs
from bestdag.cli.durations import time_limit_option
from bestdag.cli.learning_table import class_of_intervals, read_table
from bestdag.cli.output import working
from bestdag.cli.score_options import (
    choose_score,
    choose_structure_prior,
    default_prior,
    score_option,
)
from bestdag.cli.search_options import (
    choose_knowledge,
    choose_search,
    search_options,
    support_option,
)
from bestdag.search import SEARCHES

__all__ = ["command"]


@click.command("bootstrap")
@click.argument("data")
@click.option(
    "--search",
    default="hill_climb",
    show_default=True,
    metavar="NAME",
    help=f"One of {', '.join(SEARCHES)}. auto takes a second per replicate, or --budget.",
)
@search_options
@click.option(
    "--replicates", type=int, default=200, show_default=True, help="Number of bootstrap resamples."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the resampling.")
@support_option
@click.option("--max-parents", type=click.IntRange(0), help="Maximum number of parents per node.")
@time_limit_option("Time limit of each search, e.g. 30s, 5m.")
@score_option
@arc_options
def command(
    data: str,
    name: str,
    search: str,
    replicates: int,
    seed: int,
    max_parents: int | None,
    support: float,
    time_limit: float | None,
    **options: Any,
) -> None:
    """Estimate confidence in each arc: how often it is learned from bootstrap resamples of DATA.

    An arc whose direction the data do not determine counts half in each direction. --discretize
    bins once, using all rows of DATA. The threshold of the averaged network is that of Scutari and
    Nagarajan (2013). The result does not depend on the number of threads, unless a time limit ends
    searches.
    """
    from bestdag.averaging.bootstrap import bootstrap
    from bestdag.search import search_for_fit, search_name

    true, kept = check_arc_files(data, options)
    _, one = choose_score(name, options)
    prior = choose_structure_prior(options) or default_prior()
    target = class_of_intervals(search, options, data)
    is_plain_auto = search_name(search) == "auto" and options.get("budget") is None
    chosen = choose_search(search, options)
    knowledge = choose_knowledge(options)
    table = read_table(data, options, one.score, target=target)
    with working(f"bootstrap resampling of {data}", quiet=options["quiet"]) as told:
        found = bootstrap(
            table.dataset,
            one.score,
            search=search_for_fit("auto") if is_plain_auto else chosen,
            replicates=replicates,
            max_parents=max_parents,
            support=support,
            knowledge=knowledge,
            structure_prior=prior,
            time_limit=time_limit,
            seed=seed,
            threads=options["threads"],
            progress=told,
            **kept,
        )
    finish_arcs(found, data, table, one.score, true, options)
