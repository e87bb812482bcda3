"""`bestdag tan`: the best tree-augmented naive Bayes network for a table, by any score."""

from __future__ import annotations

from typing import Any

import click

from bestdag.cli.structure import learn_structure, structure_options, weights_option
from bestdag.search.trees import TAN

__all__ = ["command"]


@click.command("tan")
@click.argument("data")
@click.option("--target", required=True, metavar="NAME", help="The class.")
@click.option("--root", metavar="NAME", help="Attribute whose only parent is the class.")
@click.option("--forest", is_flag=True, help="Keep only arcs that increase the score.")
@weights_option
@structure_options
def command(data: str, target: str, root: str | None, forest: bool, **options: Any) -> None:
    """Learn the best tree-augmented naive Bayes network (TAN) for the table DATA.

    DATA is CSV, TSV, Parquet, JSON lines or Excel, or - for CSV from standard input. The class
    is a parent of every other variable, and these form a tree among themselves. The weight of an
    arc is the gain in log score given the class. -o writes the network with parameters fitted to
    DATA.
    """
    learn_structure(TAN(target=target, root=root, forest=forest), data, options, target=target)
