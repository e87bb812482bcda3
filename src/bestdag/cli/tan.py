"""`bestdag tan`: the best tree-augmented naive Bayes network for a table, by any score."""

from __future__ import annotations

from typing import Any

import click

from bestdag.cli.tree_command import run_tree_command, tree_options

__all__ = ["command"]


@click.command("tan")
@click.argument("data")
@click.option("--target", required=True, metavar="NAME", help="The class.")
@click.option("--root", metavar="NAME", help="The attribute with no parent but the class.")
@tree_options
def command(data: str, target: str, root: str | None, forest: bool, **options: Any) -> None:
    """Learn the best tree-augmented naive Bayes network (TAN) for the table DATA.

    DATA is CSV, TSV, Parquet, JSON lines or Excel, or - for CSV from standard input. The class
    is a parent of every other variable, and these form a tree among themselves. The weight of
    an arc is what it adds to the score given the class, a natural logarithm. -o writes the
    network, its parameters fitted to DATA.
    """
    from bestdag.search.tan import TAN

    run_tree_command(TAN(target=target, root=root, forest=forest), data, options)
