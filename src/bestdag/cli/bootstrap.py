"""`bestdag bootstrap`: how often each arc is learned from bootstrap resamples."""

from __future__ import annotations

from typing import Any

import click

from bestdag.averaging.bootstrap import bootstrap
from bestdag.cli.arcs import ARC_OPTIONS, check_arc_files, finish_arcs
from bestdag.cli.choices import (
    SEARCH_OPTIONS,
    SUPPORT,
    choose_knowledge,
    choose_score,
    choose_search,
    choose_structure_prior,
    default_prior,
    score_option,
    search_option,
)
from bestdag.cli.learning_table import class_of_intervals, read_table
from bestdag.cli.options import MAX_PARENTS, options_of, time_limit_option, with_options
from bestdag.cli.output import working

__all__ = ["command"]

_TAKEN = ("replicates", "seed", "max_parents", "support", "time_limit")


@click.command("bootstrap")
@click.argument("data")
@with_options(
    search_option("hill_climb", " auto takes a second per replicate, or --budget."),
    SEARCH_OPTIONS,
    options_of(bootstrap, "replicates", "seed"),
    SUPPORT,
    MAX_PARENTS,
    time_limit_option("Time limit of each search, e.g. 30s, 5m."),
    score_option(),
    ARC_OPTIONS,
)
def command(data: str, name: str, search: str, **options: Any) -> None:
    """Estimate confidence in each arc: how often it is learned from bootstrap resamples of DATA.

    An arc whose direction the data do not determine counts half in each direction. --discretize
    bins once, using all rows of DATA. The threshold of the averaged network is that of Scutari and
    Nagarajan (2013). The result does not depend on the number of threads, unless a time limit ends
    searches.
    """
    from bestdag.search import search_for_fit, search_name

    true, checkpoint = check_arc_files(data, options)
    _, one = choose_score(name, options)
    prior = choose_structure_prior(options) or default_prior()
    target = class_of_intervals(search, options, data)
    is_plain_auto = search_name(search) == "auto" and options.get("budget") is None
    chosen = choose_search(search, options)
    knowledge = choose_knowledge(options)
    table = read_table(data, options, one.score, target=target)
    with working(f"bootstrap resampling of {data}", quiet=options["quiet"]):
        result = bootstrap(
            table.dataset,
            one.score,
            search=search_for_fit("auto") if is_plain_auto else chosen,
            knowledge=knowledge,
            structure_prior=prior,
            **{name: options[name] for name in _TAKEN},
            workers=options["threads"],
            checkpoint=checkpoint,
        )
    finish_arcs(result, data, table, one.score, true, options)
