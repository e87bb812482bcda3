"""What the commands `tree` and `tan` share: options, the run, the file of weights."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bestdag.cli.interrupts import INTERRUPTED
from bestdag.cli.network_output import (
    network_output,
    parameters_option,
    require_network_output,
    write_fitted,
)
from bestdag.cli.options import common_options, data_options, read_settings, threads_option
from bestdag.cli.output import require_new_file, require_own_names, working
from bestdag.cli.score_options import choose_scores, choose_structure_prior, score_options
from bestdag.cli.search_options import choose_knowledge, knowledge_options
from bestdag.cli.structure_output import print_structure

if TYPE_CHECKING:
    from bestdag.search.base import Search
    from bestdag.search.edge_weights import EdgeWeights

__all__ = ["run_tree_command", "tree_options"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--forest", is_flag=True, help="Keep only arcs that raise the score."),
    click.option("--score", "name", default="bdeu", show_default=True, help="The score."),
    score_options,
    click.option("--max-parents", type=click.IntRange(0), help="At most so many parents."),
    click.option("--time-limit", type=float, metavar="SECONDS", help="Stop after so long."),
    knowledge_options,
    click.option("--edge-weights", metavar="FILE", help="Write the weight of every arc as CSV."),
    network_output(required=False),
    parameters_option,
    data_options(),
    threads_option,
    common_options,
)


def tree_options(function: _Function) -> _Function:
    """Add the options of the commands that learn trees."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def run_tree_command(search: Search, data: str, options: dict[str, Any]) -> None:
    """Learn with a search that gives weights of arcs, and print the structure."""
    from bestdag.data.readers import read
    from bestdag.parameters import choose_estimator
    from bestdag.scores.scorer import Scorer
    from bestdag.search.base import Problem

    weights_file, output = options["edge_weights"], options["output"]
    parameters = options["parameters"]
    require_own_names({"DATA": data}, {"--edge-weights": weights_file, "-o": output})
    if output is not None:
        require_network_output(output, force=options["force"])
    elif parameters is not None:
        raise click.UsageError("--parameters is for the network written by -o FILE")
    if weights_file is not None:
        if weights_file == "-":
            raise click.UsageError("--edge-weights needs a file; standard output has the structure")
        require_new_file(weights_file, force=options["force"])
    ((score_name, chosen),) = choose_scores((options["name"],), options).items()
    estimator = None
    if output is not None:
        estimator = choose_estimator(chosen.score, parameters, {})
    prior = choose_structure_prior(options)
    limits = {key: options[key] for key in ("max_parents", "time_limit")}
    knowledge, threads = choose_knowledge(options), options["threads"]
    with working(f"learning from {data}", quiet=options["quiet"]):
        scorer = Scorer(read(data, **read_settings(options)), chosen.score, prior, threads=threads)
        problem = Problem(scorer, knowledge=knowledge, threads=threads, **limits)
        found = problem.solve(search)
    if weights_file is not None and found.weights is not None:
        _write_weights(weights_file, found.weights)
    print_structure(
        found,
        what=f"{score_name} on {data}",
        score_name=score_name,
        settings={
            **chosen.settings,
            **limits,
            **({} if estimator is None else {"parameters": estimator.name}),
        },
        as_json=options["as_json"],
    )
    if output is not None and estimator is not None:
        is_said = not (options["as_json"] or options["quiet"])
        write_fitted(output, found.dag, scorer.dataset, estimator, threads=threads, is_said=is_said)
    if found.status == "interrupted":
        raise click.exceptions.Exit(INTERRUPTED)


def _write_weights(path: str, weights: EdgeWeights) -> None:
    from bestdag.files import write_file

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["parent", "child", "weight"])
    for parent, row in zip(weights.names, weights.matrix.tolist(), strict=True):
        for child, weight in zip(weights.names, row, strict=True):
            if parent != child:
                writer.writerow([parent, child, weight])
    write_file(path, text.getvalue().encode())
