"""`bestdag explain`: the most probable explanations of what is known."""

from __future__ import annotations

import click

from bestdag.cli.findings import finding_options, load_findings
from bestdag.cli.network_output import says_formats
from bestdag.cli.options import common_options
from bestdag.cli.output import print_json, print_table, working

__all__ = ["command"]


@click.command("explain")
@click.argument("network")
@finding_options
@click.option(
    "-n", "n_best", type=int, default=1, show_default=True, help="Number of explanations."
)
@click.option(
    "--variable",
    "variables",
    multiple=True,
    metavar="NAME",
    help="Variable to explain, summing over the others; may be repeated.  [default: all variables]",
)
@common_options
@says_formats
def command(
    network: str,
    given: tuple[str, ...],
    likelihood: tuple[str, ...],
    done: tuple[str, ...],
    n_best: int,
    variables: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> None:
    """Find the most probable states of the variables of NETWORK (FORMATS), given evidence."""
    found = load_findings(network, given, likelihood, done)
    with working("explaining", quiet=quiet):
        listed = found.network.most_probable(
            list(variables) or None, found.given, likelihood=found.likelihood, n=n_best
        )
        evidence = found.probability_of_evidence()
    if as_json:
        print_json(
            {
                **found.as_json,
                "explanations": [
                    {
                        "states": each.states,
                        "probability": each.probability,
                        "log_probability": each.log_probability,
                    }
                    for each in listed
                ],
                **evidence,
            }
        )
        return
    names = list(listed[0].states)
    print_table(
        ["variable", *(f"explanation {i + 1}" for i in range(len(listed)))],
        [
            *([name, *(each.states[name] for each in listed)] for name in names),
            ["probability given the evidence", *(f"{each.probability:.6g}" for each in listed)],
            ["log probability", *(f"{each.log_probability:.6f}" for each in listed)],
        ],
        left=1 + len(listed),
    )
