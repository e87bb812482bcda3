"""`bestdag draw`: a picture of a network."""

from __future__ import annotations

import click

from bestdag.cli.options import FORCE, JSON, MEMORY, option, output_option, with_options
from bestdag.cli.output import (
    print_json,
    require_folder,
    require_new_file,
    require_own_names,
    says_formats,
)
from bestdag.drawing.picture import PICTURE_FORMATS

__all__ = ["command"]


@click.command("draw")
@click.argument("network")
@with_options(
    output_option("Picture to write: .svg or .png."),
    option("--scale", type=float, default=2.0, help="PNG pixels per SVG unit."),
    FORCE,
    JSON,
    MEMORY,
)
@says_formats
def command(network: str, output: str, scale: float, force: bool, as_json: bool) -> None:
    """Draw the structure of NETWORK (a FORMATS file) in layers, parents above children.

    Solid arcs have the same direction in all equivalent structures; dashed arcs are reversible.
    The same network gives the same file.
    """
    from bestdag.errors import require_known
    from bestdag.files import format_suffix, shown_path
    from bestdag.network.network import Network

    if output == "-":
        raise click.UsageError("-o needs a file whose name says its format: .svg or .png")
    require_new_file(output, force=force)
    require_own_names({"NETWORK": network}, {"-o": output})
    suffix = format_suffix(output)
    require_known("picture format", suffix, PICTURE_FORMATS, who=f"draw: {shown_path(output)}")
    require_folder(output)
    dag = Network.load(network).dag
    picture = dag.plot()
    picture.save(output, scale=scale)
    if as_json:
        compelled = len(dag.cpdag().arcs)
        print_json(
            {
                "file": output,
                "format": suffix,
                "variables": list(dag.nodes),
                "arcs": len(dag.arcs),
                "compelled": compelled,
                "reversible": len(dag.arcs) - compelled,
            }
        )
        return
    click.echo(f"{output}: {picture.title}")
