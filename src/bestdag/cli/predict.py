"""`bestdag predict`: one variable of a network, for the rows of a table."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TextIO

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
    THREADS,
    csv_output,
    options_of,
    read_settings,
    with_options,
)
from bestdag.cli.output import (
    first_of,
    print_json,
    require_new_file,
    require_own_names,
    says_formats,
    standard_output,
    working,
)
from bestdag.network.network import Network
from bestdag.wording import count_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from bestdag.data.schema import Variable

__all__ = ["command"]

# Rows that are turned into text together.
_BLOCK = 1 << 16


@click.command("predict")
@click.argument("network")
@click.argument("data")
@with_options(
    click.option("--target", required=True, metavar="NAME", help="Variable to predict."),
    csv_output(),
    FORCE,
    options_of(Network.predict_proba, "impossible"),
    network_table_options(instead="missing values are summed over, and every row is answered"),
    THREADS,
    COMMON,
)
@says_formats
def command(
    network: str,
    data: str,
    target: str,
    output: str,
    force: bool,
    impossible: Any,
    threads: int | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Predict the variable --target of NETWORK (a FORMATS file) for the rows of DATA.

    DATA is CSV, TSV, Parquet, JSON lines or Excel, or - for CSV from standard input; it may come
    first. The most probable state of each row and the probabilities of all states are written as
    CSV. Missing values and variables without a column are summed over; the target's column and
    columns that are not in the network are ignored. Numeric columns are binned at the network's cut
    points.
    """
    from bestdag.errors import unknown_name
    from bestdag.files import format_suffix

    data, network = table_and_network(data, network)
    require_own_names({"NETWORK": network, "DATA": data}, {"-o": output})
    require_new_file(output, force=force)
    if output != "-" and format_suffix(output) not in (".csv", ".tsv"):
        raise unknown_name("table format", format_suffix(output), [".csv", ".tsv"], who=output)
    net = Network.load(network)
    variable = net.variable(target)
    known = [v for v in net.variables if v.name != target] or list(net.variables)
    with working(f"predicting {target}", quiet=quiet):
        rows = read_for_network(
            data,
            known,
            ignore_extra=True,
            missing="keep",
            may_lack=True,
            beside=(target,),
            **read_settings(options),
        )
        table = rows.dataset
        shares = net.predict_proba(target, table, impossible=impossible, threads=threads)
        labels = net.predict(target, table, impossible=impossible, threads=threads).tolist()
        if output != "-":
            _write_file(output, variable, labels, shares)
    columns = set(table.names)
    summed_over = [v.name for v in known if v.name not in columns]
    if as_json:
        to_file = output != "-"
        print_json(
            {
                "target": target,
                "states": list(variable.states),
                "rows": table.n_rows,
                "cut": list(rows.cut),
                "summed_over": summed_over,
                "file": output if to_file else None,
                "predicted": None if to_file else labels,
                "probabilities": None if to_file else shares.tolist(),
            }
        )
        return
    is_piped = output == "-"
    if not quiet:
        say_cut(rows.cut, network, err=is_piped)
        if summed_over:
            click.echo(f"no column, summed over: {first_of(summed_over)}", err=is_piped)
    if is_piped:
        with standard_output() as stream:
            _write(stream, ",", variable, labels, shares)
    elif not quiet:
        click.echo(f"{output}: {target} of {count_of(table.n_rows, 'row')}")


def _write_file(
    path: str, variable: Variable, labels: Sequence[str], shares: npt.NDArray[np.float64]
) -> None:
    from bestdag.files import format_suffix, writing

    with writing(path) as file:
        stream = io.TextIOWrapper(file, "utf-8", newline="")
        _write(stream, "\t" if format_suffix(path) == ".tsv" else ",", variable, labels, shares)
        stream.detach()  # flushed, and left open for `writing`


def _write(
    stream: TextIO,
    separator: str,
    variable: Variable,
    labels: Sequence[str],
    shares: npt.NDArray[np.float64],
) -> None:
    writer = csv.writer(stream, delimiter=separator, lineterminator="\n")
    writer.writerow([variable.name, *(f"P({variable.name}={s})" for s in variable.states)])
    for first in range(0, len(labels), _BLOCK):
        block = shares[first : first + _BLOCK].tolist()
        writer.writerows([label, *row] for label, row in zip(labels[first:], block, strict=False))
