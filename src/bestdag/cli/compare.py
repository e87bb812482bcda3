"""`bestdag compare`: learned structures beside the true one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bestdag.cli.options import FORCE, JSON, MEMORY, with_options
from bestdag.cli.output import (
    print_json,
    print_table,
    require_folder,
    require_new_file,
    require_own_names,
    says_formats,
)

if TYPE_CHECKING:
    from bestdag.evaluation.structures import StructureComparison

__all__ = ["command"]

_FORMATS = (".svg", ".png", ".dot")


@click.command("compare")
@click.argument("true", metavar="TRUE")
@click.argument("learned", metavar="LEARNED...", nargs=-1, required=True)
@with_options(
    click.option(
        "--draw",
        metavar="FILE",
        help="Draw both structures in one picture (.svg, .png, or .dot for Graphviz); of one "
        "LEARNED.",
    ),
    FORCE,
    JSON,
    MEMORY,
)
@says_formats
def command(
    true: str, learned: tuple[str, ...], draw: str | None, force: bool, as_json: bool
) -> None:
    """Compare the structures of networks (FORMATS files) with that of TRUE.

    SHD counts the pairs of nodes that are linked differently, between DAGs and between CPDAGs;
    mismatches are edges of exactly one of the two moral graphs. Precision is the share of learned
    arcs that are true, recall the share of true arcs that are learned.
    """
    from bestdag.evaluation.structures import compare
    from bestdag.network.network import Network

    if draw is not None:
        _check_drawing(draw, true, learned, force)
    elif force:
        raise click.UsageError("--force is for the picture drawn by --draw FILE")
    truth = Network.load(true)
    comparisons = {path: compare(truth, Network.load(path)) for path in dict.fromkeys(learned)}
    if draw is not None:
        _write_drawing(draw, comparisons[learned[0]])
    if as_json:
        made = [comparisons[path].to_dict() for path in learned]
        print_json(made[0] if len(made) == 1 else made)
        return
    _print_numbers(comparisons)
    if len(comparisons) == 1:
        _print_differences(next(iter(comparisons.values())))


def _print_numbers(comparisons: dict[str, StructureComparison]) -> None:
    header = ["learned", "SHD", "SHD of classes", "moral mismatches"]
    header += ["skeleton F1", "arcs precision", "arcs recall", "arcs F1", "v-structures F1"]
    rows = []
    for path, one in comparisons.items():
        shares = [one.skeleton.f1, one.arcs.precision, one.arcs.recall, one.arcs.f1]
        shares.append(one.v_structures.f1)
        numbers = [one.shd_dag, one.shd_cpdag, one.moral_mismatches]
        rows.append([path, *map(str, numbers), *(f"{share:.3f}" for share in shares)])
    print_table(header, rows)


def _print_differences(one: StructureComparison) -> None:
    rows = [list(row) for row in one.rows()]
    if rows:
        click.echo()
        print_table(["nodes", "true", "learned"], rows, left=3)


def _check_drawing(draw: str, true: str, learned: tuple[str, ...], force: bool) -> None:
    """Refuse, before any work, a picture that could not be written at its end."""
    from bestdag.errors import import_optional

    if len(learned) > 1:
        raise click.UsageError("--draw is for one LEARNED, got several; draw one at a time")
    if draw == "-" or not draw.lower().endswith(_FORMATS):
        raise click.UsageError(f"--draw needs a file that ends in {', '.join(_FORMATS)}")
    require_new_file(draw, force=force)
    require_own_names({"TRUE": true, "LEARNED": learned[0]}, {"--draw": draw})
    require_folder(draw)
    if draw.lower().endswith(".png"):
        import_optional("resvg_py", who="--draw", extra="draw")


def _write_drawing(path: str, one: StructureComparison) -> None:
    from bestdag.files import write_file

    if path.lower().endswith(".dot"):
        write_file(path, one.to_dot().encode())
    else:
        one.plot().save(path)
