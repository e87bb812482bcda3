"""`bestdag explain`: the most probable explanations of the evidence."""

from __future__ import annotations

import click

from bestdag.cli.evidence import EVIDENCE_OPTIONS, load_evidence
from bestdag.cli.options import COMMON, options_of, with_options
from bestdag.cli.output import print_json, print_table, says_formats, working
from bestdag.network.network import Network

__all__ = ["command"]


@click.command("explain")
@click.argument("network")
@with_options(
    EVIDENCE_OPTIONS,
    options_of(Network.most_probable, n="-n"),
    click.option(
        "--variable",
        "variables",
        multiple=True,
        metavar="NAME",
        help="Variable to explain, summing over the others; may be repeated.  [default: all "
        "variables]",
    ),
    COMMON,
)
@says_formats
def command(
    network: str,
    given: tuple[str, ...],
    likelihood: tuple[str, ...],
    done: tuple[str, ...],
    n: int,
    variables: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> None:
    """Find the most probable states of the variables of NETWORK (FORMATS), given evidence."""
    known = load_evidence(network, given, likelihood, done)
    with working("explaining", quiet=quiet):
        listed = known.network.most_probable(
            list(variables) or None, known.given, likelihood=known.likelihood, n=n
        )
        evidence = known.probability_of_evidence()
    if as_json:
        print_json(
            {
                **known.as_json,
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
