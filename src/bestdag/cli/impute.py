"""`bestdag impute`: the missing values of a table, filled in by a network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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
    option,
    options_of,
    output_option,
    read_settings,
    with_options,
)
from bestdag.cli.output import print_json, require_new_file, says_formats, working
from bestdag.network.network import Network
from bestdag.wording import count_of

__all__ = ["command"]


@click.command("impute")
@click.argument("data")
@click.argument("network")
@with_options(
    output_option("CSV file to write (.csv, .tsv; also .gz)."),
    FORCE,
    option(
        "--method",
        type=click.Choice(["most_probable", "draw"]),
        default="most_probable",
        help="Impute the jointly most probable states, or random draws.",
    ),
    click.option(
        "-n",
        "n_imputations",
        type=click.IntRange(1, 10_000),
        help="Number of imputations by --method draw, in files FILE-1, FILE-2, ...",
    ),
    options_of(Network.impute, "seed"),
    IGNORE_EXTRA,
    network_table_options(instead="missing values are filled in, those of every row"),
    THREADS,
    COMMON,
)
@says_formats
def command(
    data: str,
    network: str,
    output: str,
    force: bool,
    method: Any,
    n_imputations: int | None,
    seed: int,
    ignore_extra: bool,
    threads: int | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Fill in the missing values of the table DATA with NETWORK (a FORMATS file).

    The missing values of a row are filled in jointly, given its observed values. Variables of the
    network without a column in DATA get one. Row weights become a column named weight.
    """
    data, network = table_and_network(data, network)
    files = _files(output, n_imputations)
    for file in files:
        require_new_file(file, force=force)
    net = Network.load(network)
    with working(f"reading {data}", quiet=quiet):
        rows = read_for_network(
            data,
            net.variables,
            ignore_extra=ignore_extra,
            may_lack=True,
            missing="keep",
            **read_settings(options),
        )
        table = rows.dataset
    lacking = len(net.names) - table.n_variables
    n_missing = sum(table.missing_counts.values()) + lacking * table.n_rows
    with working("filling in", quiet=quiet):
        if n_imputations is None:
            filled = [net.impute(table, method, seed=seed, threads=threads)]
        else:
            filled = net.impute(table, method, n=n_imputations, seed=seed, threads=threads)
        for file, complete in zip(files, filled, strict=True):
            complete.to_csv(file)
    if as_json:
        print_json(
            {
                "files": files,
                "method": method,
                "seed": seed if method == "draw" else None,
                "rows": table.n_rows,
                "cells": n_missing,
                "cut": list(rows.cut),
            }
        )
    elif not quiet:
        say_cut(rows.cut, network)
        click.echo(
            f"{', '.join(files)}: {count_of(table.n_rows, 'row')}, "
            f"{count_of(n_missing, 'missing value')} filled in ({method})"
        )


def _files(output: str, n: int | None) -> list[str]:
    """Return the files to write: the one named, or one for each imputation."""
    if n is None:
        return [output]
    path = Path(output)
    stem, dot, ending = path.name.partition(".")
    return [str(path.with_name(f"{stem}-{i}{dot}{ending}")) for i in range(1, max(n, 1) + 1)]
