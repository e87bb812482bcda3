"""`bestdag tree`: the best tree for a table, by any score."""

from __future__ import annotations

from typing import Any

import click

from bestdag.cli.structure import learn_structure, structure_options, weights_option
from bestdag.search.trees import ChowLiu

__all__ = ["command"]


@click.command("tree")
@click.argument("data")
@click.option("--root", metavar="NAME", help="Root of the tree.  [default: the best]")
@click.option("--forest", is_flag=True, help="Keep only arcs that increase the score.")
@weights_option
@structure_options
def command(data: str, root: str | None, forest: bool, **options: Any) -> None:
    """Learn the best tree for the table DATA: Chow-Liu for any score.

    DATA is CSV, TSV, Parquet, JSON lines or Excel, or - for CSV from standard input. Every
    variable but the root has one parent. The weight of an arc is its gain in log score. -o writes
    the network with parameters fitted to DATA.
    """
    learn_structure(ChowLiu(root=root, forest=forest), data, options)
