"""`bestdag posterior`: the posterior probability of each arc."""

from __future__ import annotations

from typing import Any

import click

from bestdag.averaging.posterior import posterior
from bestdag.cli.arcs import ARC_OPTIONS, check_arc_files, finish_arcs
from bestdag.cli.choices import (
    SUPPORT,
    choose_knowledge,
    choose_score,
    choose_structure_prior,
    score_option,
)
from bestdag.cli.learning_table import read_table
from bestdag.cli.options import options_of, time_limit_option, with_options
from bestdag.cli.output import working

__all__ = ["command"]

_OWN = ("method", "ancestors", "samples", "weighting", "chains", "steps", "burn_in", "seed")
_TAKEN = (*_OWN, "max_parents", "support", "time_limit")


@click.command("posterior")
@click.argument("data")
@with_options(
    options_of(posterior, prior="--dag-prior"),
    options_of(posterior, *_OWN),
    time_limit_option(
        "Time limit, e.g. 30s, 5m: chains end with what was drawn; exact sums that would take "
        "longer are refused."
    ),
    SUPPORT,
    click.option(
        "--max-parents",
        type=click.IntRange(0),
        help="Maximum number of parents per node.  [default: no limit for up to 20 variables, "
        "else few, and printed]",
    ),
    score_option("bdeu"),
    ARC_OPTIONS,
)
def command(data: str, name: str, **options: Any) -> None:
    """Compute the posterior probability of each arc given the table DATA.

    Exact for up to 16 variables (sums over all DAGs), or about 25 with --dag-prior order; beyond
    that structures are sampled, with more variables by Markov chains, whose R-hat and effective
    sample sizes are reported. On Ctrl-C or at the time limit, the samples so far are used. The
    score must be a log marginal likelihood: a BD or NML score, or BIC as its approximation.
    """
    true, checkpoint = check_arc_files(data, options)
    _, one = choose_score(name, options)
    structure_prior = choose_structure_prior(options)
    knowledge = choose_knowledge(options)
    table = read_table(data, options, one.score)
    with working(f"summing over structures of {data}", quiet=options["quiet"]):
        result = posterior(
            table.dataset,
            one.score,
            knowledge=knowledge,
            structure_prior=structure_prior,
            prior=options["dag_prior"],
            **{name: options[name] for name in _TAKEN},
            workers=options["threads"],
            checkpoint=checkpoint,
        )
    finish_arcs(result, data, table, one.score, true, options)
