"""`bestdag fit`: the parameters of a network's structure, from a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click

from bestdag.cli.network_data import read_for_network, say_cut
from bestdag.cli.network_output import network_output, require_network_output
from bestdag.cli.options import common_options, data_options, read_settings, threads_option
from bestdag.cli.output import count, print_json, working

if TYPE_CHECKING:
    from bestdag.parameters.base import Estimator

__all__ = ["command"]

# Settings of estimators: option, type, help. The name of the option is that of the setting.
_SETTINGS: tuple[tuple[str, Any, str], ...] = (
    ("ess", float, "Equivalent sample size of dirichlet.  [default: 1]"),
    ("pseudo-count", float, "One pseudo-count of dirichlet for every cell."),
    ("prior", str, "Network file: prior network of dirichlet."),
)


def _estimator_options(function: Callable[..., None]) -> Callable[..., None]:
    for name, kind, text in reversed(_SETTINGS):
        function = click.option(f"--{name}", type=kind, help=text)(function)
    return function


@click.command("fit")
@click.argument("data")
@click.argument("network")
@click.option(
    "--parameters",
    "name",
    default="dirichlet",
    show_default=True,
    metavar="NAME",
    help="One of mle, dirichlet, fsnml.",
)
@_estimator_options
@network_output(required=True)
@click.option("--ignore-extra", is_flag=True, help="Ignore columns the network does not have.")
@click.option(
    "--missing",
    type=click.Choice(["error", "drop"]),
    default="error",
    show_default=True,
    help="Missing cells: refuse them, or drop their rows.",
)
@data_options("missing_values", "allow_few_rows", "weights", "separator", "sheet")
@threads_option
@common_options
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
    """Fit the parameters of NETWORK (a .bif or .json file) to the table DATA and write the network.

    DATA is CSV, TSV, Parquet, JSON lines or Excel, or - for CSV from standard input. Its columns
    must be the network's nodes, and states are those of the network; numbers are cut where the
    network has cut points. The parameters of NETWORK do not matter; its structure, states, cut
    points, name and properties are kept.
    """
    from bestdag.network.fitting import fit_network
    from bestdag.network.network import Network

    require_network_output(output, force=force)
    estimator, settings = _choose(name, options)
    net = Network.load(network)
    with working(f"reading {data}", quiet=quiet):
        table, cut = read_for_network(
            data, net.variables, ignore_extra=ignore_extra, **read_settings(options)
        )
    with working("fitting", quiet=quiet):
        fitted = fit_network(net, table, estimator, threads=threads)
        fitted.save(output)
    if as_json:
        print_json(
            {
                "file": output,
                "parameters": estimator.name,
                "settings": settings,
                "rows": table.total_weight,
                "cut": cut,
                "variables": list(fitted.names),
                "arcs": [list(arc) for arc in fitted.dag.arcs],
                "n_parameters": fitted.n_parameters,
            }
        )
    elif not quiet:
        say_cut(cut, network)
        shown = ", ".join(f"{setting}={value}" for setting, value in settings.items())
        click.echo(
            f"{output}: {count(len(fitted.names), 'variable')}, "
            f"{count(len(fitted.dag.arcs), 'arc')}, {count(fitted.n_parameters, 'parameter')}; "
            f"{estimator.name}({shown}) on {count(table.total_weight, 'row')}"
        )


def _choose(name: str, options: dict[str, Any]) -> tuple[Estimator, dict[str, Any]]:
    """Make the estimator asked for, of settings taken out of `options`; and these as shown."""
    from bestdag.network.network import Network
    from bestdag.parameters import ESTIMATORS, make_estimator
    from bestdag.registry import canonical

    name = canonical(name, ESTIMATORS)
    given = {option: options.pop(option.replace("-", "_")) for option, _, _ in _SETTINGS}
    given = {option: value for option, value in given.items() if value is not None}
    settings = {option.replace("-", "_"): value for option, value in given.items()}
    known = [field.name for field in fields(ESTIMATORS[name])] if name in ESTIMATORS else []
    for option, setting in zip(given, settings, strict=True):
        if name in ESTIMATORS and setting not in known:
            raise click.UsageError(f"--{option} does not belong to the parameters {name}")
    made = dict(settings)
    if "prior" in made:
        made["prior"] = Network.load(made["prior"])
    estimator = make_estimator(name, **made)
    shown = {s: settings.get(s, getattr(estimator, s)) for s in known}
    return estimator, {s: value for s, value in shown.items() if value is not None}
