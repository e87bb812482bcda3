"""`bestdag random`: a random network."""

from __future__ import annotations

from typing import Any

import click

from bestdag.cli.options import (
    COMMON,
    FORCE,
    option,
    options_of,
    output_option,
    settings_options,
    shown_settings,
    taken_settings,
    with_options,
)
from bestdag.cli.output import FORMAT_NAMES, print_json, require_network_output, working
from bestdag.graph.generators import GENERATORS
from bestdag.network.random_network import random_network
from bestdag.registry import canonical
from bestdag.wording import count_of

__all__ = ["command"]


class _Arities(click.ParamType[Any]):
    name = "arities"

    def convert(self, value: Any, *_: Any) -> tuple[int, int]:
        first, last = (*str(value).split("-", 1), "")[:2]
        try:
            return int(first), int(last or first)
        except ValueError:
            self.fail(f"'{value}' must be a number of states, or two of them as in 2-4")


@click.command("random")
@with_options(
    click.option("-n", "n", type=int, required=True, help="Number of variables."),
    option(
        "--generator",
        metavar="NAME",
        default="markov_chain",
        help=f"One of {', '.join(GENERATORS)}. markov_chain: uniform over connected DAGs within "
        "limits; order: each arc of a random order independently, for thousands of nodes; "
        "uniform: uniform over all DAGs.",
    ),
    settings_options(GENERATORS),
    option(
        "--arities",
        type=_Arities(),
        default="2",
        metavar="R",
        help="Number of states of every variable, or a range such as 2-4.",
    ),
    options_of(random_network, "ess", "pseudo_count", "seed"),
    output_option(f"Network file to write, with its parameters ({FORMAT_NAMES}; also .gz)."),
    FORCE,
    COMMON,
)
def command(
    n: int,
    generator: str,
    arities: tuple[int, int],
    ess: float | None,
    pseudo_count: float | None,
    seed: int,
    output: str,
    force: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Generate a random network of N variables and write it to a file.

    --generator draws the structure; the rows of the tables come from a Dirichlet distribution.
    """
    from bestdag.graph.generators import make_generator

    require_network_output(output, force=force)
    name = canonical(generator, GENERATORS)
    made = make_generator(name, **taken_settings(GENERATORS, options, [name], "generator"))
    with working(f"drawing {count_of(n, 'variable')}", quiet=quiet):
        network = random_network(
            n, made, arities=arities, ess=ess, pseudo_count=pseudo_count, seed=seed
        )
        network.save(output)
    if as_json:
        print_json(
            {
                "file": output,
                "generator": name,
                "variables": list(network.names),
                "arcs": [list(arc) for arc in network.dag.arcs],
                "parameters": network.n_parameters,
                "settings": {
                    "seed": seed,
                    "arities": list(arities),
                    **{
                        key: value
                        for key, value in (("ess", ess), ("pseudo_count", pseudo_count))
                        if value is not None
                    },
                    **shown_settings(made, {}),
                },
            }
        )
        return
    click.echo(
        f"{output}: {count_of(n, 'variable')}, {count_of(len(network.dag.arcs), 'arc')}, "
        f"{count_of(network.n_parameters, 'parameter')} ({name}, seed {seed})"
    )
