"""`bestdag sample`: rows drawn from a network."""

from __future__ import annotations

import io
import sys

import click

from bestdag.cli.network_output import says_formats
from bestdag.cli.options import memory_option, threads_option
from bestdag.cli.output import require_new_file, working

__all__ = ["command"]


@click.command("sample")
@click.argument("network")
@click.option("-n", "n_rows", type=int, required=True, help="Number of rows.")
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="Random seed; the same seed gives the same rows.",
)
@click.option(
    "-o",
    "--output",
    default="-",
    show_default=True,
    metavar="FILE",
    help="CSV file (.csv, .tsv; also .gz), or - for standard output; a folder with --part-rows.",
)
@click.option(
    "--part-rows",
    type=click.IntRange(1),
    metavar="M",
    help="Write Parquet files of M rows each into the folder -o; together they are one sample.",
)
@click.option("--force", is_flag=True, help="Replace an existing file, or the parts in a folder.")
@click.option("--quiet", is_flag=True, help="No progress.")
@threads_option
@memory_option
@says_formats
def command(
    network: str,
    n_rows: int,
    seed: int,
    output: str,
    part_rows: int | None,
    force: bool,
    quiet: bool,
    threads: int | None,
) -> None:
    """Sample rows from NETWORK (a FORMATS file) and write them as CSV or Parquet parts.

    The rows depend only on the network and the seed; a shorter sample is the start of a longer one.
    """
    from bestdag.network.network import Network

    if part_rows is not None:
        if output == "-":
            raise click.UsageError("--part-rows needs a folder, -o DIR")
        _write_parts(network, n_rows, output, part_rows, seed, force, quiet, threads)
        return
    require_new_file(output, force=force)
    net = Network.load(network)
    with working(f"drawing {n_rows:,} rows", quiet=quiet):
        table = net.sample(n_rows, seed=seed, threads=threads)
        if output != "-":
            table.to_csv(output)
    if output == "-":
        # CSV is UTF-8 whatever the terminal speaks.
        stream = io.TextIOWrapper(sys.stdout.buffer, "utf-8", newline="")
        try:
            table.to_csv(stream)
        finally:
            stream.detach()


def _write_parts(
    network: str,
    n_rows: int,
    folder: str,
    part_rows: int,
    seed: int,
    force: bool,
    quiet: bool,
    threads: int | None,
) -> None:
    from bestdag.network.network import Network
    from bestdag.network.sample_parts import write_sample_parts

    net = Network.load(network)
    with working(f"drawing {n_rows:,} rows", quiet=quiet) as told:
        write_sample_parts(
            net,
            n_rows,
            folder,
            part_rows=part_rows,
            seed=seed,
            force=force,
            threads=threads,
            progress=told,
        )
