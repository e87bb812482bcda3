"""`bestdag convert`: a network from one file format to another."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from bestdag.cli.options import FORCE, JSON, MEMORY, with_options
from bestdag.cli.output import (
    print_json,
    print_line,
    require_folder,
    require_new_file,
    require_own_names,
)
from bestdag.network.formats import FORMATS, ONLY_WRITTEN
from bestdag.wording import count_of

if TYPE_CHECKING:
    pass

__all__ = ["command"]

_READ = ", ".join(FORMATS)
_WRITTEN = ", ".join((*FORMATS, *ONLY_WRITTEN))
# More names than this are counted, not listed.
_MAX_SHOWN = 5


def _says_suffixes(function: Any) -> Any:
    function.__doc__ = (function.__doc__ or "").replace("READ", _READ).replace("WRITTEN", _WRITTEN)
    return function


@click.command("convert")
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@with_options(FORCE, JSON, MEMORY)
@_says_suffixes
def command(source: str, target: str, force: bool, as_json: bool) -> None:
    """Convert the network IN to OUT, in the format of its suffix.

    IN is one of READ (also .gz), or - for standard input; without a known suffix, the content tells
    the format. OUT is one of WRITTEN (also .gz). All but .dot, which holds the graph only, are read
    back exactly. Names that a format does not allow are replaced and reported; the original names
    are kept in the file.
    """
    from bestdag.files import format_suffix
    from bestdag.network.formats import format_for_writing, parse_network
    from bestdag.network.network import Network

    if target == "-":
        raise click.UsageError(f"OUT needs a file whose name says its format: {_WRITTEN}")
    require_new_file(target, force=force)
    require_own_names({"IN": source}, {"OUT": target})
    form = format_for_writing(target)
    require_folder(target)
    if source == "-":
        network = parse_network(sys.stdin.buffer.read(), "<stdin>")
    else:
        network = Network.load(source)
    network.save(target)
    has_tables = format_suffix(target) not in ONLY_WRITTEN
    written = getattr(form, "written", None)
    renamed = None if written is None else written(network)
    names = {} if renamed is None else renamed.renamed()
    states = {} if renamed is None else renamed.renamed_states(network)
    if as_json:
        print_json(
            {
                "from": source,
                "file": target,
                "format": format_suffix(target),
                "variables": list(network.names),
                "arcs": len(network.dag.arcs),
                "parameters": network.n_parameters if has_tables else 0,
                "renamed": {"variables": names, "states": states},
            }
        )
        return
    parts = [count_of(len(network.names), "variable"), count_of(len(network.dag.arcs), "arc")]
    parts.append(count_of(network.n_parameters, "parameter") if has_tables else "no tables")
    click.echo(f"{target}: {', '.join(parts)}")
    for line in _said(names, states):
        print_line(line)


def _said(names: dict[str, str], states: dict[str, dict[str, str]]) -> list[str]:
    """Say what was renamed, in a few lines."""
    own_states = [pair for own in states.values() for pair in own.items()]
    lines = []
    for kind, listed in (("variables", list(names.items())), ("states", own_states)):
        shown = [f"{name!r} -> {own}" for name, own in listed[:_MAX_SHOWN]]
        if len(listed) > _MAX_SHOWN:
            shown.append("...")
        if shown:
            lines.append(f"{kind} renamed in the file ({len(listed):,}): {', '.join(shown)}")
    return [*lines, "bestdag reads the original names back from it"] if lines else []
