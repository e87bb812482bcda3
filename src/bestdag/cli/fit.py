"""`bestdag fit`: the parameters of a network's structure, from a table."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from bestdag.cli.network_data import (
    network_table_options,
    read_for_network,
    say_cut,
    table_and_network,
)
from bestdag.cli.options import (
    COMMON,
    FORCE,
    IGNORE_EXTRA,
    THREADS,
    made_of_text,
    option,
    output_option,
    say_collapsed,
    settings_options,
    shown_settings,
    table_settings,
    taken_settings,
    with_options,
)
from bestdag.cli.output import (
    FORMAT_NAMES,
    print_json,
    require_network_output,
    says_formats,
    working,
)
from bestdag.data.missing import complete_rows, missing_in_words
from bestdag.errors import DataError, unknown_name
from bestdag.parameters import DEFAULT_ESTIMATOR, EM, ESTIMATORS, make_estimator
from bestdag.registry import canonical
from bestdag.wording import count_of

if TYPE_CHECKING:
    from bestdag.parameters.base import Estimator

__all__ = ["command"]


@click.command("fit")
@click.argument("data")
@click.argument("network")
@with_options(
    option(
        "--parameters",
        "name",
        default=DEFAULT_ESTIMATOR,
        metavar="NAME",
        help=f"One of {', '.join(ESTIMATORS)}.",
    ),
    settings_options(ESTIMATORS),
    output_option(f"Network file to write, with fitted parameters ({FORMAT_NAMES}; also .gz)."),
    FORCE,
    IGNORE_EXTRA,
    network_table_options(
        click.option(
            "--missing",
            type=click.Choice(["error", "drop"]),
            help="Missing values: stop, or drop their rows.  [default: error; --parameters em "
            "keeps them]",
        )
    ),
    THREADS,
    COMMON,
)
@says_formats
def command(
    data: str,
    network: str,
    name: str,
    output: str,
    force: bool,
    ignore_extra: bool,
    threads: int | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Fit the parameters of NETWORK (a FORMATS file) to the table DATA and write the network.

    DATA is CSV, TSV, Parquet, JSON lines or Excel, or - for CSV from standard input. Its columns
    must be the network's nodes, and states are those of the network; numeric columns are
    binned at the network's cut points. The parameters of NETWORK are replaced; its structure,
    states, cut points, name and properties are kept.

    --parameters em uses rows with missing values; DATA may then lack variables of the network.
    Without --ess and --prior it maximizes the likelihood of the observed values.
    """
    from bestdag.network.fitting import fit_network, run_em
    from bestdag.network.network import Network

    data, network = table_and_network(data, network)
    require_network_output(output, force=force)
    estimator, settings = _choose(name, options)
    net = Network.load(network)
    keeps = isinstance(estimator, EM) and options["missing"] is None
    options["missing"] = options["missing"] or ("keep" if keeps else "error")
    is_refusing = options["missing"] == "error"
    if is_refusing:  # in words that know about this command
        options["missing"] = "keep"
    with working(f"reading {data}", quiet=quiet):
        rows = read_for_network(
            data,
            net.variables,
            ignore_extra=ignore_extra,
            may_lack=keeps,
            **table_settings(options),
        )
    table = rows.dataset
    say_collapsed(data, rows, quiet=quiet)
    if is_refusing and table.has_missing:
        n_left = int(complete_rows(table).sum())
        raise DataError(
            f"fit: {missing_in_words(table)}, and {n_left:,} of {table.n_rows:,} rows are "
            "complete; pass --parameters em to fit to all rows, or --missing drop to leave those "
            "out"
        )
    how: dict[str, Any] = {}
    with working("fitting", quiet=quiet):
        if isinstance(estimator, EM):
            run = run_em(net, table, estimator, threads=threads)
            fitted = run.network
            how = {
                "log_likelihood": run.log_likelihood,
                "iterations": run.iterations,
                "converged": run.converged,
                "starts": [asdict(start) for start in run.starts],
            }
        else:
            fitted = fit_network(net, table, estimator, threads=threads)
        fitted.save(output)
    if as_json:
        print_json(
            {
                "file": output,
                "parameters": estimator.name,
                "settings": settings,
                "rows": table.total_weight,
                "cut": list(rows.cut),
                "variables": list(fitted.names),
                "arcs": [list(arc) for arc in fitted.dag.arcs],
                "n_parameters": fitted.n_parameters,
                **how,
            }
        )
    elif not quiet:
        say_cut(rows.cut, network)
        shown = ", ".join(f"{setting}={value}" for setting, value in settings.items())
        click.echo(
            f"{output}: {count_of(len(fitted.names), 'variable')}, "
            f"{count_of(len(fitted.dag.arcs), 'arc')}, "
            f"{count_of(fitted.n_parameters, 'parameter')}; "
            f"{estimator.name}({shown}) on {count_of(table.total_weight, 'row')}"
        )
        if how:
            click.echo(
                f"log-likelihood {how['log_likelihood']:.6f}, "
                f"{'converged' if how['converged'] else 'not converged'} after "
                f"{count_of(how['iterations'], 'iteration')}"
            )


def _choose(name: str, options: dict[str, Any]) -> tuple[Estimator, dict[str, Any]]:
    """Make the estimator asked for, of settings taken out of `options`; and these as shown."""
    name = canonical(name, ESTIMATORS)
    chosen = taken_settings(ESTIMATORS, options, [name], "parameters")
    if name not in ESTIMATORS:
        raise unknown_name("estimator", name, ESTIMATORS)
    estimator = make_estimator(name, **made_of_text(ESTIMATORS[name], chosen))
    return estimator, shown_settings(estimator, chosen)
