"""`bestdag posterior`: the posterior probability of each arc."""

from __future__ import annotations

from typing import Any

import click

from bestdag.cli.arc_output import arc_options, check_arc_files, finish_arcs
from bestdag.cli.durations import time_limit_option
from bestdag.cli.learning_table import read_table
from bestdag.cli.output import working
from bestdag.cli.score_options import choose_score, choose_structure_prior, score_option_by
from bestdag.cli.search_options import choose_knowledge, support_option

__all__ = ["command"]


@click.command("posterior")
@click.argument("data")
@click.option(
    "--dag-prior",
    "dag_prior",
    type=click.Choice(["uniform", "order"]),
    default="uniform",
    show_default=True,
    help="Prior over structures: uniform over DAGs, or over orders of the variables (a DAG "
    "counts once per compatible order).",
)
@click.option(
    "--method",
    type=click.Choice(["auto", "exact", "sampling", "chains"]),
    default="auto",
    show_default=True,
    help="Sums over all structures, independent draws, or Markov chains; auto chooses by the "
    "number of variables and says so.",
)
@click.option("--ancestors", is_flag=True, help="Also report probabilities of directed paths.")
@click.option(
    "--samples",
    type=int,
    help="Number of structures to sample, per chain.  [default: 10,000 by sampling, 1,000 "
    "by chains]",
)
@click.option(
    "--weighting",
    type=click.Choice(["auto", "distinct", "extensions"]),
    default="auto",
    show_default=True,
    help="Of draws, for the uniform prior: distinct structures by P(G, D), or each by one over "
    "its number of orders.",
)
@click.option("--chains", type=int, default=4, show_default=True, help="Number of Markov chains.")
@click.option(
    "--steps",
    type=int,
    help="Number of steps per chain.  [default: 20,000, then more until the chains agree, "
    "up to 500,000]",
)
@click.option(
    "--burn-in",
    type=int,
    help="Steps to discard at the start of each chain.  [default: a fifth of --steps]",
)
@time_limit_option(
    "Time limit, e.g. 30s, 5m: chains end with what was drawn; exact sums that would take longer "
    "are refused."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of samples and chains.")
@support_option
@click.option(
    "--max-parents",
    type=click.IntRange(0),
    help="Maximum number of parents per node.  [default: no limit for up to 20 variables, "
    "else few, and printed]",
)
@score_option_by("bdeu")
@arc_options
def command(
    data: str,
    name: str,
    dag_prior: str,
    method: str,
    ancestors: bool,
    samples: int | None,
    weighting: str,
    chains: int,
    steps: int | None,
    burn_in: int | None,
    time_limit: float | None,
    seed: int,
    max_parents: int | None,
    support: float,
    **options: Any,
) -> None:
    """Compute the posterior probability of each arc given the table DATA.

    Exact for up to 16 variables (sums over all DAGs), or about 25 with --dag-prior order; beyond
    that structures are sampled, with more variables by Markov chains, whose R-hat and effective
    sample sizes are reported. On Ctrl-C or at the time limit, the samples so far are used. The
    score must be a log marginal likelihood: a BD or NML score, or BIC as its approximation.
    """
    from bestdag.averaging.posterior import posterior

    true, kept = check_arc_files(data, options)
    _, one = choose_score(name, options)
    structure_prior = choose_structure_prior(options)
    knowledge = choose_knowledge(options)
    table = read_table(data, options, one.score)
    with working(f"summing over structures of {data}", quiet=options["quiet"]) as told:
        found = posterior(
            table.dataset,
            one.score,
            prior=dag_prior,
            method=method,
            max_parents=max_parents,
            support=support,
            knowledge=knowledge,
            structure_prior=structure_prior,
            ancestors=ancestors,
            samples=samples,
            weighting=weighting,
            chains=chains,
            steps=steps,
            burn_in=burn_in,
            time_limit=time_limit,
            seed=seed,
            threads=options["threads"],
            progress=told,
            **kept,
        )
    finish_arcs(found, data, table, one.score, true, options)
