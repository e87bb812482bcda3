"""What the commands that say how sure each arc is share: options, and what is printed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from bestdag.cli.choices import (
    CHECKPOINT_OPTIONS,
    KNOWLEDGE_OPTIONS,
    PARAMETERS,
    SCORE_OPTIONS,
    choose_checkpoint,
    choose_parameters,
    network_output,
)
from bestdag.cli.entry import INTERRUPTED
from bestdag.cli.learning_table import LearningTable, table_options
from bestdag.cli.options import COMMON, THREADS
from bestdag.cli.output import (
    mark_shown,
    print_json,
    print_line,
    print_table,
    require_network_output,
    require_own_names,
    write_fitted,
)
from bestdag.graph.dag import Dag
from bestdag.wording import count_of

if TYPE_CHECKING:
    from bestdag.averaging.arc_probabilities import ArcProbabilities
    from bestdag.checkpoint import Checkpoint
    from bestdag.network.network import Network
    from bestdag.scores.base import Score

__all__ = ["ARC_OPTIONS", "check_arc_files", "finish_arcs"]

_LEAST_SHOWN = 5e-4
ARC_OPTIONS = (
    *SCORE_OPTIONS,
    *KNOWLEDGE_OPTIONS,
    click.option(
        "--threshold",
        type=click.FloatRange(0, 1),
        help="Probability above which an edge is in the averaged network.  [default: "
        "estimated, and printed]",
    ),
    click.option("--truth", metavar="NETWORK", help="True network, to compare with."),
    *CHECKPOINT_OPTIONS,
    *network_output("the averaged network with fitted parameters"),
    PARAMETERS,
    table_options(),
    THREADS,
    *COMMON,
)


def check_arc_files(data: str, options: dict[str, Any]) -> tuple[Network | None, Checkpoint | None]:
    """Refuse, before any work, files that could not be written at its end.

    Returns the network of --truth, and the file that the run is kept in.
    """
    from bestdag.network.network import Network

    output = options["output"]
    require_own_names(
        {"DATA": data, "--truth": options["truth"]},
        {"-o": output, "--checkpoint": options["checkpoint"]},
    )
    checkpoint = choose_checkpoint(options, others=output is not None)
    if output is not None:
        require_network_output(output, force=options["force"])
    elif options["parameters"] is not None:
        raise click.UsageError("--parameters is for the network written by -o FILE")
    elif options["force"] and checkpoint is None:
        raise click.UsageError(
            "--force is for the network written by -o FILE and --checkpoint FILE"
        )
    return None if options["truth"] is None else Network.load(options["truth"]), checkpoint


def finish_arcs(
    result: ArcProbabilities,
    data: str,
    table: LearningTable,
    score: Score,
    true: Network | None,
    options: dict[str, Any],
) -> None:
    """Print the probabilities and write the averaged network, if that was asked for."""
    if table.cut:
        result = replace(
            result,
            notes=(f"{table.cut_in_words()}, using all rows", *result.notes),
            settings={**result.settings, **table.settings()},
        )
    threshold = result.threshold if options["threshold"] is None else options["threshold"]
    compared = None if true is None else result.compare(true)
    dag = result.averaged(threshold)
    assert isinstance(dag, Dag)
    mark_shown()
    if options["as_json"]:
        made = result.to_dict()
        made["threshold"] = threshold
        made["arcs"] = [list(arc) for arc in dag.arcs]
        if compared is not None:
            made["truth"] = compared.to_dict()
        print_json(made)
    else:
        _print(result, data, threshold, len(dag.arcs))
        if compared is not None:
            print_line(str(compared))
    if options["output"] is not None:
        estimator = choose_parameters(score, options["parameters"])
        from bestdag.data.sources.files import table_name
        from bestdag.network.fitting import fit_network

        is_said = not (options["as_json"] or options["quiet"])
        network = fit_network(dag, table.dataset, estimator, threads=options["threads"])
        network = network.with_name(table_name(data))
        write_fitted(options["output"], network, estimator, is_said=is_said)
    if result.status == "interrupted":
        raise click.exceptions.Exit(INTERRUPTED)


def _print(result: ArcProbabilities, data: str, threshold: float, n_arcs: int) -> None:
    by, prior = result.settings["score"], result.settings.get("structure_prior")
    by = by if prior is None else f"{by} with {prior}"
    print_line(f"{result.method} on {data}: {by} ({result.seconds:.2f} s)")
    for note in result.notes:
        print_line(note)
    if result.diagnostics is not None:
        print_line(str(result.diagnostics))
    shown = [one for one in result.edges() if one.probability >= _LEAST_SHOWN]
    header = ["arc", "", "edge", "direction"]
    has_paths = result.ancestors is not None
    rows = []
    for one in shown:
        row = [f"{one.parent} -> {one.child}", "*" if one.probability > threshold else ""]
        row += [f"{one.probability:.4f}", f"{one.direction:.4f}"]
        if has_paths:
            row.append(f"{result.ancestor(one.parent, one.child):.4f}")
        rows.append(row)
    print_table(header + (["path"] if has_paths else []), rows, left=2)
    print_line(f"* in the averaged network: {count_of(n_arcs, 'edge')} above {threshold:.4g}")
