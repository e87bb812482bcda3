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
@click.option("--seed", type=int, default=0, show_default=True, help="Seed; same seed, same rows.")
@click.option(
    "-o",
    "--output",
    default="-",
    show_default=True,
    metavar="FILE",
    help="CSV file (.csv, .tsv; also .gz), or - for standard output.",
)
@click.option("--force", is_flag=True, help="Replace an existing file.")
@click.option("--quiet", is_flag=True, help="No progress.")
@threads_option
@memory_option
@says_formats
def command(
    network: str, n_rows: int, seed: int, output: str, force: bool, quiet: bool, threads: int | None
) -> None:
    """Draw rows from NETWORK (a FORMATS file) and write them as CSV.

    The rows depend on the network and the seed only, and a short sample is the beginning of a
    long one.
    """
    from bestdag.network.network import Network

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
