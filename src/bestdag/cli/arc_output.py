"""What the commands that say how sure each arc is share: options, and what is printed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bestdag.cli.checkpoint_options import checkpoint_options, checkpoint_settings
from bestdag.cli.interrupts import INTERRUPTED
from bestdag.cli.learning_table import LearningTable, table_options
from bestdag.cli.network_output import (
    choose_parameters,
    network_output,
    parameters_option,
    require_network_output,
    write_fitted,
)
from bestdag.cli.options import common_options, threads_option
from bestdag.cli.output import (
    mark_shown,
    print_json,
    print_line,
    print_table,
    require_own_names,
)
from bestdag.cli.score_options import score_options
from bestdag.cli.search_options import knowledge_options
from bestdag.graph.dag import Dag
from bestdag.wording import count_of

if TYPE_CHECKING:
    from bestdag.averaging.arc_probabilities import ArcProbabilities
    from bestdag.network.network import Network
    from bestdag.scores.base import Score

__all__ = ["arc_options", "check_arc_files", "finish_arcs"]

_Function = TypeVar("_Function", bound=Callable[..., Any])
_LEAST_SHOWN = 5e-4
_OPTIONS = (
    score_options,
    knowledge_options,
    click.option(
        "--threshold",
        type=click.FloatRange(0, 1),
        help="Probability above which an edge is in the averaged network.  [default: "
        "estimated, and printed]",
    ),
    click.option("--truth", metavar="NETWORK", help="True network, to compare with."),
    checkpoint_options,
    network_output(required=False, what="the averaged network with fitted parameters"),
    parameters_option,
    table_options(),
    threads_option,
    common_options,
)


def arc_options(function: _Function) -> _Function:
    """Add the options that all commands have which say how sure each arc is."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def check_arc_files(data: str, options: dict[str, Any]) -> tuple[Network | None, dict[str, Any]]:
    """Refuse, before any work, files that could not be written at its end.

    Returns the network of --truth, and the arguments about the file that the run is kept in.
    """
    from bestdag.network.network import Network

    output = options["output"]
    require_own_names(
        {"DATA": data, "--truth": options["truth"]},
        {"-o": output, "--checkpoint": options["checkpoint"]},
    )
    kept = checkpoint_settings(options, others=output is not None)
    if output is not None:
        require_network_output(output, force=options["force"])
    elif options["parameters"] is not None:
        raise click.UsageError("--parameters is for the network written by -o FILE")
    elif options["force"] and kept["checkpoint"] is None:
        raise click.UsageError(
            "--force is for the network written by -o FILE and --checkpoint FILE"
        )
    return None if options["truth"] is None else Network.load(options["truth"]), kept


def finish_arcs(
    found: ArcProbabilities,
    data: str,
    table: LearningTable,
    score: Score,
    true: Network | None,
    options: dict[str, Any],
) -> None:
    """Print the probabilities and write the averaged network, if that was asked for."""
    if table.cut:
        found = replace(
            found,
            notes=(f"{table.cut_in_words()}, using all rows", *found.notes),
            settings={**found.settings, **table.settings()},
        )
    threshold = found.threshold if options["threshold"] is None else options["threshold"]
    compared = None if true is None else found.compare(true)
    dag = found.averaged(threshold)
    assert isinstance(dag, Dag)
    mark_shown()
    if options["as_json"]:
        made = found.to_dict()
        made["threshold"] = threshold
        made["arcs"] = [list(arc) for arc in dag.arcs]
        if compared is not None:
            made["truth"] = compared.to_dict()
        print_json(made)
    else:
        _print(found, data, threshold, len(dag.arcs))
        if compared is not None:
            print_line(str(compared))
    if options["output"] is not None:
        estimator = choose_parameters(score, options["parameters"])
        is_said = not (options["as_json"] or options["quiet"])
        from bestdag.data.sources.files import table_name
        from bestdag.network.fitting import fit_network

        network = fit_network(dag, table.dataset, estimator, threads=options["threads"])
        network = network.with_name(table_name(data))
        write_fitted(options["output"], network, estimator, is_said=is_said)
    if found.status == "interrupted":
        raise click.exceptions.Exit(INTERRUPTED)


def _print(found: ArcProbabilities, data: str, threshold: float, n_arcs: int) -> None:
    by, prior = found.settings["score"], found.settings.get("structure_prior")
    by = by if prior is None else f"{by} with {prior}"
    print_line(f"{found.method} on {data}: {by} ({found.seconds:.2f} s)")
    for note in found.notes:
        print_line(note)
    if found.diagnostics is not None:
        print_line(str(found.diagnostics))
    shown = [one for one in found.edges() if one.probability >= _LEAST_SHOWN]
    header = ["arc", "", "edge", "direction"]
    has_paths = found.ancestors is not None
    rows = []
    for one in shown:
        row = [f"{one.parent} -> {one.child}", "*" if one.probability > threshold else ""]
        row += [f"{one.probability:.4f}", f"{one.direction:.4f}"]
        if has_paths:
            row.append(f"{found.ancestor(one.parent, one.child):.4f}")
        rows.append(row)
    print_table(header + (["path"] if has_paths else []), rows, left=2)
    print_line(f"* in the averaged network: {count_of(n_arcs, 'edge')} above {threshold:.4g}")
