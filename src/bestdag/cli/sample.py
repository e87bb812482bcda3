"""`bestdag sample`: rows drawn from a network."""

from __future__ import annotations

import click

from bestdag.cli.options import (
    FORCE,
    MEMORY,
    QUIET,
    THREADS,
    csv_output,
    options_of,
    with_options,
)
from bestdag.cli.output import require_new_file, says_formats, standard_output, working
from bestdag.network.network import Network

__all__ = ["command"]


@click.command("sample")
@click.argument("network")
@with_options(
    options_of(Network.sample, n="-n"),
    options_of(Network.sample, "seed"),
    csv_output("; a folder with --part-rows"),
    click.option(
        "--part-rows",
        type=click.IntRange(1),
        metavar="M",
        help="Write Parquet files of M rows each into the folder -o; together they are one sample.",
    ),
    FORCE,
    QUIET,
    THREADS,
    MEMORY,
)
@says_formats
def command(
    network: str,
    n: int,
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
    if part_rows is not None:
        if output == "-":
            raise click.UsageError("--part-rows needs a folder, -o DIR")
        from bestdag.network.sample_parts import write_sample_parts

        net = Network.load(network)
        with working(f"drawing {n:,} rows", quiet=quiet):
            write_sample_parts(
                net,
                n,
                output,
                part_rows=part_rows,
                seed=seed,
                force=force,
                threads=threads,
            )
        return
    require_new_file(output, force=force)
    net = Network.load(network)
    with working(f"drawing {n:,} rows", quiet=quiet):
        table = net.sample(n, seed=seed, threads=threads)
        if output != "-":
            table.to_csv(output)
    if output == "-":
        with standard_output() as stream:
            table.to_csv(stream)
