"""What the commands that learn a structure share: options, the run, and what is printed."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bestdag.cli.checkpoint_options import checkpoint_settings
from bestdag.cli.durations import time_limit_option
from bestdag.cli.em_options import choose_treatment, em_options
from bestdag.cli.interrupts import INTERRUPTED
from bestdag.cli.learning_table import (
    Cutting,
    LearningTable,
    accepted_instead,
    read_for_learning,
    table_options,
    wide_numbers,
)
from bestdag.cli.network_output import (
    choose_parameters,
    network_output,
    parameters_option,
    require_folder,
    require_network_output,
    write_fitted,
)
from bestdag.cli.next_commands import next_commands
from bestdag.cli.options import (
    common_options,
    missing_option,
    threads_option,
)
from bestdag.cli.output import require_new_file, require_own_names, working
from bestdag.cli.rows_options import table_settings
from bestdag.cli.score_options import (
    choose_score,
    choose_structure_prior,
    default_prior,
    score_option,
    score_options,
    shown_prior,
)
from bestdag.cli.search_options import choose_knowledge, knowledge_options, support_option
from bestdag.cli.structure_output import print_next, print_structure
from bestdag.incomplete import TREATMENTS

if TYPE_CHECKING:
    from bestdag.averaging.arc_probabilities import ArcProbabilities
    from bestdag.learned import Result
    from bestdag.report.summary import TableRead
    from bestdag.search.arc_weights import ArcWeights
    from bestdag.search.steps import Search

__all__ = ["learn_structure", "structure_options", "weights_option"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_OPTIONS = (
    score_option,
    score_options,
    click.option(
        "--max-parents", type=click.IntRange(0), help="Maximum number of parents per node."
    ),
    support_option,
    time_limit_option(),
    knowledge_options,
    network_output(required=False),
    parameters_option,
    click.option(
        "--report",
        metavar="FILE",
        help="HTML report to write: graph, probabilities, scores, and how to reproduce them.",
    ),
    click.option(
        "--bootstrap",
        type=click.IntRange(1),
        metavar="N",
        help="With --report, also estimate confidence in each arc by N bootstrap resamples (hill "
        "climbing).",
    ),
    table_options(
        missing_option(
            list(TREATMENTS),
            "stop and recommend a strategy, drop their rows, treat them as a state, structural EM, "
            "or score each family on the rows that have it",
        )
    ),
    em_options,
    threads_option,
    click.option("-v", "--verbose", is_flag=True, help="Print details of the search."),
    common_options,
)


weights_option = click.option(
    "--edge-weights",
    metavar="FILE",
    help="CSV file to write, with the weight of every possible arc.",
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
    target: str | None = None,
    require_optimal: bool = False,
    cluster: str | None = None,
    **more: Any,
) -> None:
    """Learn, print the structure, and write what was asked for.

    `target` is the class, if there is one; `cluster` says which machines hold the rows, if not
    this one alone; `more` are further arguments of `learn`.
    """
    with ExitStack() as stack:
        if cluster is not None:
            from bestdag.cluster.session import joined

            more["cluster"] = stack.enter_context(joined(cluster, threads=options["threads"]))
        _learn_structure(search, data, options, from_scores, target, require_optimal, **more)


def _learn_structure(
    search: Search,
    data: str | None,
    options: dict[str, Any],
    from_scores: str | None,
    target: str | None,
    require_optimal: bool,
    **more: Any,
) -> None:
    from bestdag.data.endings import table_name
    from bestdag.errors import ClusterError
    from bestdag.learning import learn
    from bestdag.scores.table import ScoreTable

    output, as_json, threads = options["output"], options["as_json"], options["threads"]
    kept = _check_files(data, from_scores, options)
    score_name, one = choose_score(options["name"], options)
    treatment = choose_treatment(options)
    estimator = None
    if output is not None:
        estimator = choose_parameters(one.score, options["parameters"])
    prior = choose_structure_prior(options) or default_prior()
    limits = {key: options[key] for key in ("max_parents", "support", "time_limit")}
    knowledge = choose_knowledge(options)
    cutting = Cutting.of(options, target)
    reading = {**table_settings(options), "missing": treatment.reads_as}
    table: LearningTable | None = None
    lost: ClusterError | None = None
    with (
        accepted_instead(data, one.score, treatment.name, cutting, reading),
        working(f"learning from {data or from_scores}", quiet=options["quiet"]) as told,
    ):
        if data is not None:
            table = read_for_learning(data, one.score, cutting, reading, more.get("cluster"))
        try:
            result = learn(
                ScoreTable.load(from_scores or "") if table is None else table.dataset,
                None if from_scores else one.score,
                structure_prior=None if from_scores else prior,
                search=search,
                missing=treatment,
                knowledge=knowledge,
                threads=threads,
                progress=told,
                **limits,
                **kept,
                **more,
            )
        except ClusterError as error:
            if error.best is None:
                raise
            result, lost = error.best, error
    weights = options.get("edge_weights")  # of the commands whose searches have weights
    if weights is not None and result.weights is not None:
        _write_weights(weights, result.weights)
    print_structure(
        result,
        data=data,
        table=table,
        score_name=None if from_scores else score_name,
        score_settings={} if from_scores else one.settings,
        settings={
            **limits,
            **({"seed": more["seed"]} if "seed" in more else {}),
            **({} if from_scores else {"missing": treatment.name, **shown_prior(prior)}),
            **({} if estimator is None else {"parameters": estimator.name}),
            **({} if table is None else table.settings()),
        },
        threads=threads,
        as_json=as_json,
        is_verbose=options["verbose"],
    )
    if lost is not None:
        raise lost
    if estimator is not None and result.dataset is not None:
        # After the structure is shown: tables that do not fit into memory do not lose it.
        is_said = not (as_json or options["quiet"])
        network = result.fit(estimator, threads=threads).with_name(table_name(data))
        write_fitted(output, network, estimator, is_said=is_said)
    if options["report"] is not None:
        sure = None
        if not result.was_interrupted:  # else somebody waits for the end
            sure = _arc_probabilities(options["bootstrap"], result, knowledge, options)
        said = not (as_json or options["quiet"])
        from bestdag.report.summary import TableRead

        read = TableRead(data or "", tuple(reading.get("drop") or ()))
        _write_report(options["report"], result, sure, threads, read, is_said=said)
    if not as_json:
        wide = table is not None and bool(wide_numbers(table))
        context = click.get_current_context()
        print_next(next_commands(result, data, context, output=output, wide=wide))
    if result.was_interrupted:
        raise click.exceptions.Exit(INTERRUPTED)
    listed = result.structures
    if require_optimal and not (result.is_proved and (listed is None or listed.is_complete)):
        raise click.exceptions.Exit(1)


def _check_files(
    data: str | None, from_scores: str | None, options: dict[str, Any]
) -> dict[str, Any]:
    """Refuse, before any work, files that could not be written at its end.

    Returns the arguments of `learn` about the file that the run is kept in.
    """
    output, weights, report = options["output"], options.get("edge_weights"), options["report"]
    require_own_names(
        {"DATA": data, "--from-scores": from_scores},
        {
            "--edge-weights": weights,
            "-o": output,
            "--report": report,
            "--checkpoint": options.get("checkpoint"),
        },
    )
    kept = {}
    if "checkpoint" in options:  # of the commands that may take long
        others = any(path is not None for path in (output, weights, report))
        kept = checkpoint_settings(options, others=others)
    if output is not None:
        if from_scores is not None:
            raise click.UsageError(
                "-o needs DATA: a file of local scores has no rows to fit parameters to"
            )
        require_network_output(output, force=options["force"])
    elif options["parameters"] is not None:
        raise click.UsageError("--parameters is for the network written by -o FILE")
    elif options["force"] and weights is None and report is None and not kept.get("checkpoint"):
        more = ", --report FILE and --checkpoint FILE" if kept else " and --report FILE"
        raise click.UsageError(f"--force is for the files written by -o FILE{more}")
    if options["bootstrap"] is not None and (report is None or from_scores is not None):
        needed = "--report FILE" if report is None else "DATA, which a file of local scores is not"
        raise click.UsageError(f"--bootstrap needs {needed}")
    if options["bootstrap"] is not None and options["missing"] in ("em", "available"):
        raise click.UsageError(
            "--bootstrap needs rows without missing values; pass --missing drop or state, or leave "
            "it out"
        )
    if weights == "-":
        raise click.UsageError("--edge-weights needs a file; standard output has the structure")
    if weights is not None:
        require_new_file(weights, force=options["force"])
    if report is not None:
        _check_report(report, force=options["force"])
    return kept


def _check_report(path: str, *, force: bool) -> None:
    """Refuse, before any work, a report that could not be written at its end."""
    from bestdag.report.page import require_html

    if path == "-":
        raise click.UsageError("--report needs a file; standard output has the structure")
    require_new_file(path, force=force)
    require_html(path, who="--report")
    require_folder(path)


def _arc_probabilities(
    replicates: int | None, result: Result, knowledge: Any, options: dict[str, Any]
) -> ArcProbabilities | None:
    """Resample and learn again, if that was asked for."""
    if replicates is None or result.dataset is None or result.scored_by is None:
        return None
    from bestdag.averaging.bootstrap import bootstrap

    with working("bootstrap resampling", quiet=options["quiet"]) as told:
        return bootstrap(
            result.dataset,
            result.scored_by,
            replicates=replicates,
            max_parents=options["max_parents"],
            support=options["support"],
            knowledge=knowledge,
            structure_prior=result.structure_prior,
            threads=options["threads"],
            progress=told,
        )


def _write_report(
    path: str,
    result: Result,
    sure: ArcProbabilities | None,
    threads: int | None,
    read: TableRead,
    *,
    is_said: bool,
) -> None:
    from bestdag.report.page import write_report

    command = shlex.join(("bestdag", *click.get_current_context().obj))
    with working("writing the report", quiet=not is_said):
        write_report(result, path, command=command, threads=threads, probabilities=sure, read=read)
    if is_said:
        short = ""
        if result.was_interrupted:
            more = " and --bootstrap" if click.get_current_context().params["bootstrap"] else ""
            short = f", without other scores{more} because of Ctrl-C"
        click.echo(f"{path}: the report{short}; open it in a browser")


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
