"""`bestdag learn`: the best structure for a table, or for a file of local scores."""

from __future__ import annotations

import copy
import csv
import io
import shlex
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from bestdag.cli.choices import (
    CHECKPOINT_OPTIONS,
    EM_OPTIONS,
    KNOWLEDGE_OPTIONS,
    NEAR_OPTIMAL_OPTIONS,
    PARAMETERS,
    SCORE_OPTIONS,
    SEARCH_OPTIONS,
    SUPPORT,
    choose_checkpoint,
    choose_knowledge,
    choose_near_optimal,
    choose_parameters,
    choose_score,
    choose_search,
    choose_structure_prior,
    choose_treatment,
    default_prior,
    network_output,
    score_option,
    search_option,
    shown_prior,
    within_skeleton,
)
from bestdag.cli.entry import INTERRUPTED
from bestdag.cli.learning_table import (
    Cutting,
    LearningTable,
    accepted_instead,
    class_of_intervals,
    read_for_learning,
    table_options,
)
from bestdag.cli.next_commands import next_commands, verify_command
from bestdag.cli.options import (
    COMMON,
    DATA_OPTIONS,
    MAX_PARENTS,
    ROWS_OPTIONS,
    THREADS,
    missing_option,
    refuse_given,
    table_settings,
    time_limit_option,
    with_options,
)
from bestdag.cli.output import (
    print_line,
    require_folder,
    require_network_output,
    require_new_file,
    require_own_names,
    working,
    write_fitted,
)
from bestdag.cli.structures import print_next, print_structure
from bestdag.incomplete import TREATMENTS, Treatment
from bestdag.registry import settings_among
from bestdag.scores import SCORES

if TYPE_CHECKING:
    from bestdag.averaging.arc_probabilities import ArcProbabilities
    from bestdag.checkpoint import Checkpoint
    from bestdag.data.dataset import Dataset
    from bestdag.learned import Result
    from bestdag.report.summary import TableRead
    from bestdag.search.arc_weights import ArcWeights
    from bestdag.search.steps import Search

__all__ = ["command", "tan", "tree"]

_MISSING = missing_option(
    TREATMENTS.keys,
    "stop and recommend a strategy, drop their rows, treat them as a state, structural EM, "
    "or score each family on the rows that have it",
)


@click.command("learn")
@click.argument("data", required=False)
@click.option(
    "--from-scores", metavar="FILE", help="File of local scores (.jkl, .scores), instead of DATA."
)
@search_option("auto")
@with_options(SEARCH_OPTIONS)
@click.option(
    "--bound",
    is_flag=True,
    help="Bound how much higher the best score may be, for any search; takes a quarter of the time "
    "limit.",
)
@with_options(NEAR_OPTIMAL_OPTIONS)
@click.option("--seed", type=click.IntRange(0), default=0, help="Seed of random searches.")
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
@with_options(
    CHECKPOINT_OPTIONS,
    score_option(),
    SCORE_OPTIONS,
    MAX_PARENTS,
    SUPPORT,
    time_limit_option(),
    KNOWLEDGE_OPTIONS,
    network_output(),
    PARAMETERS,
    click.option(
        "--edge-weights",
        metavar="FILE",
        help="CSV file to write, with the weight of every possible arc; of the searches tree and "
        "tan.",
    ),
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
    click.option(
        "--certificate",
        metavar="FILE",
        help="Certificate to write (.json or .json.gz): all that 'bestdag verify' needs to check "
        "the proof.",
    ),
    click.option(
        "--certificate-of",
        type=click.IntRange(1),
        metavar="K",
        help="With --certificate, certify the best network with at most K parents per node.  "
        "[default: the most that is proved]",
    ),
    table_options(_MISSING),
    EM_OPTIONS,
    THREADS,
    click.option(
        "--ladder",
        is_flag=True,
        help="Print what is proved for at most 1, 2, 3, ... parents per node.",
    ),
    click.option("-v", "--verbose", is_flag=True, help="Print details of the search."),
    COMMON,
)
def command(
    data: str | None,
    from_scores: str | None,
    search: str,
    cluster: str | None,
    require_optimal: bool,
    **options: Any,
) -> None:
    """Learn the best-scoring network structure for the table DATA, with proof where possible.

    DATA is CSV, TSV, Parquet, JSON lines or Excel, or - for CSV from standard input; a pattern
    ('rows/*.parquet') or a folder whose files form one table; or, with --sql, a query. Or give a
    file of local scores with --from-scores. Rows that do not fit within --memory-limit stay on
    disk. Scores are natural logarithms; higher is better. On Ctrl-C or at the time limit, the best
    structure so far is printed, and what is proved. -o writes the network with parameters fitted
    to DATA. Tables written by `bestdag discretize` keep their cut points, and so does the network.
    """
    if (data is None) == (from_scores is None):
        raise click.UsageError("give either DATA or --from-scores FILE")
    if data is not None and data.lower().removesuffix(".gz").endswith((".jkl", ".scores")):
        raise click.UsageError(f"{data!r} holds local scores, not rows: give it by --from-scores")
    if from_scores is not None:
        _refuse_without_data()
    target = class_of_intervals(search, options, data)
    with ExitStack() as stack:
        client = None
        if cluster is not None:
            from bestdag.cluster.session import joined

            client = stack.enter_context(joined(cluster, threads=options["threads"]))
        _learn_and_print(
            choose_search(search, options),
            data,
            options,
            from_scores=from_scores,
            target=target,
            require_optimal=require_optimal,
            client=client,
        )


def _alias(name: str, summary: str, *, needs_target: bool = False) -> click.Command:
    """Return `learn` with another search as its default; its --forest is a flag."""
    made = copy.copy(command)
    made.name, made.params = name, [copy.copy(parameter) for parameter in command.params]
    made.help = f"{summary}\n\nThe same as `bestdag learn --search {name}`, with its options."
    for place, parameter in enumerate(made.params):
        if parameter.name == "search":
            parameter.default = name
        elif parameter.name == "forest" and isinstance(parameter, click.Option):
            made.params[place] = click.Option(
                parameter.opts, is_flag=True, default=None, help=parameter.help
            )
        elif parameter.name == "target":
            parameter.required = needs_target
    return made


tan = _alias(
    "tan",
    "Learn the best tree-augmented naive Bayes network (TAN) for the table DATA. The class is a "
    "parent of every other variable, and these form a tree among themselves.",
    needs_target=True,
)
tree = _alias(
    "tree",
    "Learn the best tree for the table DATA: Chow-Liu for any score. Every variable but the root "
    "has one parent.",
)


def _refuse_without_data() -> None:
    """Refuse options that have no meaning with a file of local scores."""
    names = {"name", "structure_prior", "kappa", "support", "cluster"}
    names |= {
        "cut_points",
        "discretize",
        "bins",
        *settings_among(SCORES),
        *DATA_OPTIONS,
        *ROWS_OPTIONS,
    }
    refuse_given(names, "--from-scores already has its scores")


def _learn_and_print(
    search: Search,
    data: str | None,
    options: dict[str, Any],
    *,
    from_scores: str | None,
    target: str | None,
    require_optimal: bool,
    client: Any,
) -> None:
    """Learn, print the structure, and write what was asked for.

    `target` is the class, if there is one; `client` is that of a cluster.
    """
    from bestdag.data.sources.files import table_name
    from bestdag.errors import ClusterError
    from bestdag.learning import learn
    from bestdag.scores.table import ScoreTable
    from bestdag.search.bound import shared_with_bound
    from bestdag.workers import Workers

    output, as_json, threads = options["output"], options["as_json"], options["threads"]
    is_said = not (as_json or options["quiet"])
    checkpoint = _check_files(data, from_scores, search.name, options)
    score_name, one = choose_score(options["name"], options)
    treatment = choose_treatment(options)
    estimator = None
    if output is not None:
        estimator = choose_parameters(one.score, options["parameters"])
    prior = choose_structure_prior(options) or default_prior()
    limits = {key: options[key] for key in ("max_parents", "support", "time_limit")}
    knowledge, near_optimal = choose_knowledge(options), choose_near_optimal(options, search)
    cutting = Cutting.of(options, target)
    reading = {**table_settings(options), "missing": treatment.reads_as}
    table: LearningTable | None = None
    lost: ClusterError | None = None
    with (
        accepted_instead(data, one.score, treatment.name, cutting, reading),
        working(f"learning from {data or from_scores}", quiet=options["quiet"]),
    ):
        if data is not None:
            table = read_for_learning(data, one.score, cutting, reading, client)
        rows = None if table is None else table.dataset
        if options["bound"] and rows is not None:
            _refuse_bound(treatment, rows)
        known, tested = within_skeleton(knowledge, rows, options)
        limit = limits["time_limit"]
        if tested and limit is not None:
            limit = max(limit - tested, 1e-3)
        seconds, seconds_for_bound = limit, None
        if options["bound"]:
            seconds, seconds_for_bound = shared_with_bound(limit)
        try:
            result = learn(
                ScoreTable.load(from_scores or "") if rows is None else rows,
                None if from_scores else one.score,
                structure_prior=None if from_scores else prior,
                search=search,
                missing=treatment,
                knowledge=known,
                max_parents=limits["max_parents"],
                support=limits["support"],
                near_optimal=near_optimal,
                time_limit=seconds,
                seed=options["seed"],
                workers=Workers(threads=threads, cluster=client),
                checkpoint=checkpoint,
            )
            if options["bound"]:
                result = result.bounded(seconds_for_bound, threads=threads)
            if tested:
                result = replace(result, seconds=result.seconds + tested)
        except ClusterError as error:
            if error.best is None:
                raise
            result, lost = error.best, error
    weights = options["edge_weights"]
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
            "seed": options["seed"],
            **({} if from_scores else {"missing": treatment.name, **shown_prior(prior)}),
            **({} if estimator is None else {"parameters": estimator.name}),
            **({} if table is None else table.settings()),
        },
        threads=threads,
        as_json=as_json,
        is_verbose=options["verbose"],
        with_ladder=options["ladder"],
    )
    if lost is not None:
        raise lost
    if estimator is not None and result.dataset is not None:
        # After the structure is shown: tables that do not fit into memory do not lose it.
        network = result.fit(estimator, threads=threads).with_name(table_name(data))
        write_fitted(output, network, estimator, is_said=is_said)
    is_certified = _write_certificate(result, data or from_scores, options, is_said=is_said)
    if options["report"] is not None:
        probabilities = None
        if not result.was_interrupted:  # else the user waits for the end
            probabilities = _arc_probabilities(options["bootstrap"], result, knowledge, options)
        from bestdag.report.summary import TableRead

        read = TableRead(data or "", tuple(reading.get("drop") or ()))
        _write_report(options["report"], result, probabilities, threads, read, is_said=is_said)
    if not as_json:
        wide = table is not None and bool(table.wide_numbers())
        context = click.get_current_context()
        print_next(next_commands(result, data, context, output=output, wide=wide))
    if result.was_interrupted:
        raise click.exceptions.Exit(INTERRUPTED)
    if not is_certified:
        raise click.exceptions.Exit(1)
    listed = result.structures
    if require_optimal and not (result.is_proved and (listed is None or listed.is_complete)):
        raise click.exceptions.Exit(1)


def _refuse_bound(treatment: Treatment, rows: Dataset) -> None:
    """Refuse, before any work, a bound on a score of expected counts."""
    if treatment.has_expected_counts and rows.has_missing:
        raise click.UsageError(
            "structural EM ends in a local optimum, which cannot be bounded; leave out --bound"
        )


# Searches that score every single arc.
_WITH_WEIGHTS = ("tree", "tan")


def _check_files(
    data: str | None, from_scores: str | None, search: str, options: dict[str, Any]
) -> Checkpoint | None:
    """Refuse, before any work, files that could not be written at its end.

    Returns the file that the run is kept in.
    """
    output, weights, report = options["output"], options["edge_weights"], options["report"]
    require_own_names(
        {"DATA": data, "--from-scores": from_scores},
        {
            "--edge-weights": weights,
            "-o": output,
            "--report": report,
            "--certificate": options["certificate"],
            "--checkpoint": options["checkpoint"],
        },
    )
    _check_certificate(options)
    others = any(path is not None for path in (output, weights, report, options["certificate"]))
    checkpoint = choose_checkpoint(options, others=others)
    if output is not None:
        if from_scores is not None:
            raise click.UsageError(
                "-o needs DATA: a file of local scores has no rows to fit parameters to"
            )
        require_network_output(output, force=options["force"])
    elif options["parameters"] is not None:
        raise click.UsageError("--parameters is for the network written by -o FILE")
    elif options["force"] and not others and checkpoint is None:
        raise click.UsageError(
            "--force is for the files written by -o FILE, --report FILE, --certificate FILE and "
            "--checkpoint FILE"
        )
    if options["bootstrap"] is not None and (report is None or from_scores is not None):
        needed = "--report FILE" if report is None else "DATA, which a file of local scores is not"
        raise click.UsageError(f"--bootstrap needs {needed}")
    if options["bootstrap"] is not None and options["missing"] in ("em", "available"):
        raise click.UsageError(
            "--bootstrap needs rows without missing values; pass --missing drop or state, or leave "
            "it out"
        )
    if weights is not None and search not in _WITH_WEIGHTS:
        raise click.UsageError(f"--edge-weights is for the searches tree and tan, got {search}")
    if weights == "-":
        raise click.UsageError("--edge-weights needs a file; standard output has the structure")
    if weights is not None:
        require_new_file(weights, force=options["force"])
    if report is not None:
        _check_report(report, force=options["force"])
    return checkpoint


def _check_report(path: str, *, force: bool) -> None:
    """Refuse, before any work, a report that could not be written at its end."""
    from bestdag.report.page import require_html

    if path == "-":
        raise click.UsageError("--report needs a file; standard output has the structure")
    require_new_file(path, force=force)
    require_html(path, who="--report")
    require_folder(path)


def _check_certificate(options: dict[str, Any]) -> None:
    """Refuse, before any work, a certificate that could not be written at its end."""
    from bestdag.certificate.file import require_name

    path = options["certificate"]
    if path is None:
        if options["certificate_of"] is not None:
            raise click.UsageError("--certificate-of is for the file written by --certificate FILE")
        return
    if path == "-":
        raise click.UsageError("--certificate needs a file; standard output has the structure")
    require_new_file(path, force=options["force"])
    require_name("--certificate", path)
    require_folder(path)


def _write_certificate(
    result: Result, source: str | None, options: dict[str, Any], *, is_said: bool
) -> bool:
    """Write what proves the answer, if that was asked for; False where nothing is proved."""
    from bestdag.errors import InvalidParameterError

    path = options["certificate"]
    if path is None:
        return True
    try:
        with working("writing the certificate", quiet=not is_said):
            certificate = result.certificate(options["certificate_of"])
            certificate.save(path)
    except InvalidParameterError as error:
        click.echo(f"bestdag: {error.on_command_line}", err=True)
        return False
    if is_said:
        check = verify_command(path, source or "", click.get_current_context())
        print_line(f"{path}: certifies that {certificate.claim()}; check it by: {check}")
    return True


def _arc_probabilities(
    replicates: int | None, result: Result, knowledge: Any, options: dict[str, Any]
) -> ArcProbabilities | None:
    """Resample and learn again, if that was asked for."""
    if replicates is None or result.dataset is None or result.scored_by is None:
        return None
    from bestdag.averaging.bootstrap import bootstrap

    with working("bootstrap resampling", quiet=options["quiet"]):
        return bootstrap(
            result.dataset,
            result.scored_by,
            replicates=replicates,
            max_parents=options["max_parents"],
            support=options["support"],
            knowledge=knowledge,
            structure_prior=result.structure_prior,
            workers=options["threads"],
        )


def _write_report(
    path: str,
    result: Result,
    probabilities: ArcProbabilities | None,
    threads: int | None,
    read: TableRead,
    *,
    is_said: bool,
) -> None:
    from bestdag.report.page import write_report

    command = shlex.join(("bestdag", *click.get_current_context().obj))
    with working("writing the report", quiet=not is_said):
        write_report(
            result, path, command=command, threads=threads, probabilities=probabilities, read=read
        )
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
