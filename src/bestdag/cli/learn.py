"""`bestdag learn`: the best structure for a table, or for a file of local scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from bestdag.cli.interrupts import INTERRUPTED
from bestdag.cli.network_data import read_at_cut_points, read_for_network, say_cut
from bestdag.cli.network_output import (
    network_output,
    parameters_option,
    require_network_output,
    write_fitted,
)
from bestdag.cli.options import common_options, data_options, read_settings, threads_option
from bestdag.cli.output import working
from bestdag.cli.score_options import choose_scores, choose_structure_prior, score_options
from bestdag.cli.search_options import (
    choose_knowledge,
    choose_search,
    knowledge_options,
    search_options,
)
from bestdag.cli.structure_output import print_structure

if TYPE_CHECKING:
    from bestdag.data.dataset import Dataset

__all__ = ["command"]


@click.command("learn")
@click.argument("data", required=False)
@click.option("--from-scores", metavar="FILE", help="Local scores (.jkl, .scores) instead of data.")
@click.option("--score", "name", default="bdeu", show_default=True, help="The score.")
@score_options
@click.option(
    "--search",
    default="auto",
    show_default=True,
    metavar="NAME",
    help="One of auto, exact, hill_climb, tabu, annealing, k2, order, ges, tree, tan, naive_bayes.",
)
@search_options
@click.option("--max-parents", type=click.IntRange(0), help="At most so many parents.")
@click.option("--time-limit", type=float, metavar="SECONDS", help="Stop after so long.")
@click.option(
    "--bound",
    is_flag=True,
    help="Say how far below the best the structure may be, for any search; takes a quarter of the "
    "time limit.",
)
@click.option("--seed", type=click.IntRange(0), default=0, help="For searches that draw at random.")
@click.option("--start", metavar="NETWORK", help="Network file: begin with its structure.")
@knowledge_options
@click.option(
    "--require-optimal", is_flag=True, help="Exit with code 1 unless the optimum is proved."
)
@network_output(required=False)
@parameters_option
@click.option(
    "--cut-points",
    metavar="FILE",
    help="Cut points of number columns, a file that discretize --save-cut-points wrote.",
)
@data_options()
@threads_option
@common_options
def command(
    data: str | None,
    from_scores: str | None,
    name: str,
    search: str,
    max_parents: int | None,
    time_limit: float | None,
    bound: bool,
    seed: int,
    start: str | None,
    require_optimal: bool,
    output: str | None,
    force: bool,
    parameters: str | None,
    cut_points: str | None,
    threads: int | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Learn the best-scoring structure for the table DATA, and say whether that is proven.

    DATA is CSV, TSV, Parquet, JSON lines or Excel, or - for CSV from standard input; or give a
    file of local scores with --from-scores. Scores are natural logarithms; higher is better.
    Ctrl-C and the time limit give the best structure so far and how far from optimal it may be.
    -o writes the network, its parameters fitted to DATA. A table that `bestdag discretize` wrote
    keeps its cut points, and so does the network.
    """
    from bestdag.network.network import Network
    from bestdag.parameters import choose_estimator
    from bestdag.scores.scorer import Scorer
    from bestdag.scores.table import ScoreTable
    from bestdag.search.base import Problem

    if (data is None) == (from_scores is None):
        raise click.UsageError("give either DATA or --from-scores FILE")
    if from_scores is not None:
        _refuse_without_data()
    _check_output(output, from_scores, parameters, force=force)
    chosen = choose_scores((name,), options)
    ((score_name, one),) = chosen.items()
    estimator = None
    if output is not None:
        estimator = choose_estimator(one.score, parameters, {})
    prior = choose_structure_prior(options)
    chosen_search = choose_search(search, options)
    knowledge = choose_knowledge(options)
    first = None if start is None else Network.load(start).dag
    reading = read_settings(options)
    cut: list[str] = []
    with working(f"learning from {data or from_scores}", quiet=quiet):
        if from_scores is not None:
            scores: Scorer | ScoreTable = ScoreTable.load(from_scores)
        else:
            assert data is not None
            table, cut = _read(data, one.score, cut_points, reading)
            scores = Scorer(table, one.score, prior, threads=threads)
        problem = Problem(
            scores,
            knowledge=knowledge,
            max_parents=max_parents,
            time_limit=time_limit,
            threads=threads,
            seed=seed,
            start=first,
        )
        if bound:
            from bestdag.search.bound import solve_with_bound

            found = solve_with_bound(problem, chosen_search)
        else:
            found = problem.solve(chosen_search)
    if not as_json:
        say_cut(cut, cut_points or "the prior network")
    print_structure(
        found,
        what=from_scores or f"{score_name} on {data}",
        score_name=None if from_scores else score_name,
        settings={
            **({} if from_scores else one.settings),
            "max_parents": max_parents,
            "time_limit": time_limit,
            "seed": seed,
            **({} if estimator is None else {"parameters": estimator.name}),
            **({"cut": cut} if cut else {}),
        },
        as_json=as_json,
    )
    if estimator is not None and output is not None and isinstance(scores, Scorer):
        # After the structure is shown: tables that do not fit into memory do not lose it.
        is_said = not (as_json or quiet)
        write_fitted(output, found.dag, scores.dataset, estimator, threads=threads, is_said=is_said)
    if found.status == "interrupted":
        raise click.exceptions.Exit(INTERRUPTED)
    if require_optimal and not found.is_proved:
        raise click.exceptions.Exit(1)


# What has no meaning for a file of local scores.
_NEEDS_DATA = {
    *("name", "ess", "epsilon", "confidence", "pseudo_count", "regret", "prior"),
    *(
        "structure_prior",
        "kappa",
        "cut_points",
        "missing",
        "missing_values",
        "allow_few_rows",
        "weights",
        "drop",
        "max_states",
        "separator",
        "sheet",
    ),
}


def _refuse_without_data() -> None:
    """Refuse options that would be ignored with a file of local scores."""
    context = click.get_current_context()
    for parameter in context.command.params:
        given = context.get_parameter_source(str(parameter.name))
        if parameter.name in _NEEDS_DATA and given is ParameterSource.COMMANDLINE:
            raise click.UsageError(
                f"--from-scores has its scores already: leave out {parameter.opts[0]}"
            )


def _read(
    data: str, score: Any, cut_points: str | None, reading: dict[str, Any]
) -> tuple[Dataset, list[str]]:
    """Read the table; a score with a prior network says what the states are.

    Also return the names of the columns whose numbers were cut.
    """
    from bestdag.data.readers import read

    variables = getattr(getattr(score, "prior", None), "variables", None)
    if variables is None:
        if cut_points is not None:
            return read_at_cut_points(data, cut_points, **reading)
        return read(data, **reading), []
    if cut_points is not None:
        raise click.UsageError("--cut-points leaves nothing to --prior, whose states are used")
    return read_for_network(data, variables, owner="the prior network", **reading)


def _check_output(
    output: str | None, from_scores: str | None, parameters: str | None, *, force: bool
) -> None:
    if output is None:
        if parameters is not None or force:
            flag = "--force" if parameters is None else "--parameters"
            raise click.UsageError(f"{flag} is for the network written by -o FILE")
        return
    if from_scores is not None:
        raise click.UsageError(
            "-o needs DATA: a file of local scores has no rows to fit parameters to"
        )
    require_network_output(output, force=force)
