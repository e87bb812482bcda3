"""What the commands that learn a structure share: options, the run, and what is printed."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bestdag.cli.interrupts import INTERRUPTED
from bestdag.cli.network_data import read_at_cut_points, read_for_network, say_cut
from bestdag.cli.network_output import (
    choose_parameters,
    network_output,
    parameters_option,
    require_folder,
    require_network_output,
    write_fitted,
)
from bestdag.cli.options import (
    DATA_OPTIONS,
    common_options,
    data_options,
    missing_option,
    read_settings,
    threads_option,
)
from bestdag.cli.output import require_new_file, require_own_names, working
from bestdag.cli.score_options import (
    choose_scores,
    choose_structure_prior,
    score_option,
    score_options,
)
from bestdag.cli.search_options import choose_knowledge, knowledge_options
from bestdag.cli.structure_output import print_structure
from bestdag.incomplete import TREATMENTS, StructuralEM, Treatment, make_treatment

if TYPE_CHECKING:
    from bestdag.data.dataset import Dataset
    from bestdag.learned import Result
    from bestdag.search.arc_weights import ArcWeights
    from bestdag.search.problem import Search

__all__ = ["learn_structure", "structure_options", "weights_option"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_OPTIONS = (
    score_option,
    score_options,
    click.option("--max-parents", type=click.IntRange(0), help="At most so many parents."),
    click.option("--time-limit", type=float, metavar="SECONDS", help="Stop after so long."),
    knowledge_options,
    network_output(required=False),
    parameters_option,
    click.option(
        "--report",
        metavar="FILE",
        help="HTML file to write: the graph, its probabilities, scores, and how to repeat it.",
    ),
    click.option(
        "--cut-points",
        metavar="FILE",
        help="Cut points of number columns, a file that discretize --save-cut-points wrote.",
    ),
    missing_option(
        list(TREATMENTS),
        "refuse them and say what suits, drop their rows, make them a state, structural EM, score "
        "each family over the rows that show it",
    ),
    click.option(
        "--em-restarts",
        type=click.IntRange(0),
        metavar="N",
        help="With --missing em, further runs from random changes of the best structure.",
    ),
    data_options(*(name for name in DATA_OPTIONS if name != "missing")),
    threads_option,
    common_options,
)


weights_option = click.option(
    "--edge-weights", metavar="FILE", help="Write the weight of every arc as CSV."
)


def structure_options(function: _Function) -> _Function:
    """Add the options that all commands have which learn a structure."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def learn_structure(
    search: Search,
    data: str | None,
    options: dict[str, Any],
    *,
    from_scores: str | None = None,
    require_optimal: bool = False,
    **more: Any,
) -> None:
    """Learn, print the structure, and write what was asked for.

    `more` are further arguments of `learn`.
    """
    from bestdag.learning import learn
    from bestdag.scores.table import ScoreTable

    output, as_json, threads = options["output"], options["as_json"], options["threads"]
    _check_files(data, from_scores, options)
    ((score_name, one),) = choose_scores((options["name"],), options).items()
    treatment = _choose_treatment(options["missing"], options["em_restarts"])
    estimator = None
    if output is not None:
        estimator = choose_parameters(one.score, options["parameters"])
    prior = choose_structure_prior(options)
    limits = {key: options[key] for key in ("max_parents", "time_limit")}
    knowledge = choose_knowledge(options)
    cut: list[str] = []
    with working(f"learning from {data or from_scores}", quiet=options["quiet"]) as told:
        table: Dataset | ScoreTable
        if from_scores is not None:
            table = ScoreTable.load(from_scores)
        else:
            assert data is not None
            reading = {**read_settings(options), "missing": treatment.reads_as}
            table, cut = _read(data, one.score, options["cut_points"], reading)
        result = learn(
            table,
            None if from_scores else one.score,
            structure_prior=prior,
            search=search,
            missing=treatment,
            knowledge=knowledge,
            threads=threads,
            progress=told,
            **limits,
            **more,
        )
    weights = options.get("edge_weights")  # of the commands whose searches have weights
    if weights is not None and result.weights is not None:
        _write_weights(weights, result.weights)
    if not as_json:
        say_cut(cut, options["cut_points"] or "the prior network")
    print_structure(
        result,
        what=from_scores or f"{score_name} on {data}",
        score_name=None if from_scores else score_name,
        settings={
            **({} if from_scores else one.settings),
            **limits,
            **({"seed": more["seed"]} if "seed" in more else {}),
            **({} if from_scores else {"missing": treatment.name}),
            **({} if estimator is None else {"parameters": estimator.name}),
            **({"cut": cut} if cut else {}),
        },
        as_json=as_json,
    )
    if estimator is not None and result.dataset is not None:
        # After the structure is shown: tables that do not fit into memory do not lose it.
        is_said = not (as_json or options["quiet"])
        network = result.fit(estimator, threads=threads)
        write_fitted(output, network, estimator, is_said=is_said)
    if options["report"] is not None:
        _write_report(options["report"], result, threads, is_said=not (as_json or options["quiet"]))
    listed = result.structures
    if result.status == "interrupted" or (listed and listed.status == "interrupted"):
        raise click.exceptions.Exit(INTERRUPTED)
    if require_optimal and not (result.is_proved and (listed is None or listed.is_complete)):
        raise click.exceptions.Exit(1)


def _check_files(data: str | None, from_scores: str | None, options: dict[str, Any]) -> None:
    """Refuse, before any work, files that could not be written at its end."""
    output, weights, report = options["output"], options.get("edge_weights"), options["report"]
    require_own_names(
        {"DATA": data, "--from-scores": from_scores},
        {"--edge-weights": weights, "-o": output, "--report": report},
    )
    if output is not None:
        if from_scores is not None:
            raise click.UsageError(
                "-o needs DATA: a file of local scores has no rows to fit parameters to"
            )
        require_network_output(output, force=options["force"])
    elif options["parameters"] is not None:
        raise click.UsageError("--parameters is for the network written by -o FILE")
    elif options["force"] and weights is None and report is None:
        raise click.UsageError("--force is for the files written by -o FILE and --report FILE")
    if weights == "-":
        raise click.UsageError("--edge-weights needs a file; standard output has the structure")
    if weights is not None:
        require_new_file(weights, force=options["force"])
    if report is not None:
        _check_report(report, force=options["force"])


def _check_report(path: str, *, force: bool) -> None:
    """Refuse, before any work, a report that could not be written at its end."""
    from bestdag.errors import import_optional

    if path == "-":
        raise click.UsageError("--report needs a file; standard output has the structure")
    require_new_file(path, force=force)
    require_folder(path)
    import_optional("fast_sugiyama", who="--report", extra="draw")


def _write_report(path: str, result: Result, threads: int | None, *, is_said: bool) -> None:
    from bestdag.report.page import write_report

    command = shlex.join(("bestdag", *click.get_current_context().obj))
    write_report(result, path, command=command, threads=threads)
    if is_said:
        click.echo(f"{path}: the report; open it in a browser")


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


def _write_weights(path: str, weights: ArcWeights) -> None:
    from bestdag.files import write_file

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["parent", "child", "weight"])
    for parent, row in zip(weights.names, weights.matrix.tolist(), strict=True):
        for child, weight in zip(weights.names, row, strict=True):
            if parent != child:
                writer.writerow([parent, child, weight])
    write_file(path, text.getvalue().encode())


def _choose_treatment(name: str, restarts: int | None) -> Treatment:
    """Make the way to treat missing cells that was asked for."""
    treatment = make_treatment(name)
    if restarts is None:
        return treatment
    if not isinstance(treatment, StructuralEM):
        raise click.UsageError("--em-restarts is for --missing em; leave it out")
    return replace(treatment, restarts=restarts)
