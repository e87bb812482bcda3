"""`bestdag query`: distributions of variables of a network, given what is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bestdag.cli.findings import Findings, finding_options, load_findings
from bestdag.cli.network_output import says_formats
from bestdag.cli.options import common_options, threads_option
from bestdag.cli.output import print_json, print_table, working

if TYPE_CHECKING:
    from bestdag.inference.distribution import Distribution

__all__ = ["command"]

# States that a line shows of a distribution.
_SHOWN = 6


@click.command("query")
@click.argument("network")
@click.argument("targets", nargs=-1)
@finding_options
@click.option(
    "--method",
    type=click.Choice(["exact", "sampling"]),
    default="exact",
    show_default=True,
    help="Exact inference, or estimates by likelihood weighting.",
)
@click.option(
    "--samples",
    type=int,
    default=100_000,
    show_default=True,
    help="Number of samples of --method sampling.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the samples.")
@threads_option
@common_options
@says_formats
def command(
    network: str,
    targets: tuple[str, ...],
    given: tuple[str, ...],
    likelihood: tuple[str, ...],
    done: tuple[str, ...],
    as_json: bool,
    quiet: bool,
    **settings: Any,
) -> None:
    """Compute the distribution of TARGETS in NETWORK (FORMATS), given evidence.

    For several targets it is their joint distribution; without targets, the marginal distribution
    of every variable.
    """
    found = load_findings(network, given, likelihood, done)
    net = found.network
    is_exact = settings["method"] == "exact"
    with working("computing probabilities" if is_exact else "sampling", quiet=quiet):
        settings["likelihood"] = found.likelihood
        if targets:
            answer = net.query(list(targets), found.given, **settings)
            marginals = None
        else:
            marginals = net.marginals(found.given, **settings)
        evidence = found.probability_of_evidence(is_asked=is_exact)
    if marginals is not None:
        _print_marginals(marginals, found, evidence, as_json=as_json)
    elif as_json:
        print_json({**_target(answer, found), **_errors(answer), **evidence})
    else:
        click.echo(str(answer))
        _say_evidence(found, evidence)


def _target(answer: Distribution, found: Findings) -> dict[str, Any]:
    if len(answer.variables) == 1:
        return {
            "target": answer.names[0],
            **found.as_json,
            "distribution": answer.to_dict(),
        }
    return {
        "targets": list(answer.names),
        **found.as_json,
        "distribution": [
            {"states": dict(zip(answer.names, states, strict=True)), "probability": p}
            for states, p in answer.to_dict().items()
        ],
    }


def _errors(answer: Distribution) -> dict[str, Any]:
    """Return what a sampled answer says beside its numbers, in the order of these."""
    if answer.standard_errors is None:
        return {}
    return {
        "standard_errors": answer.standard_errors.reshape(-1).tolist(),
        "effective_sample_size": answer.effective_sample_size,
    }


def _print_marginals(
    marginals: dict[str, Distribution],
    found: Findings,
    evidence: dict[str, float | None],
    *,
    as_json: bool,
) -> None:
    if as_json:
        sampled = {name: _errors(d) for name, d in marginals.items() if not d.is_exact}
        print_json(
            {
                **found.as_json,
                "marginals": {name: d.to_dict() for name, d in marginals.items()},
                **({"sampling": sampled} if sampled else {}),
                **evidence,
            }
        )
        return
    from bestdag.inference.distribution import condition_text

    rows = []
    for name, distribution in marginals.items():
        shares = list(distribution.to_dict().items())
        shown = ", ".join(f"{state} {p:.6g}" for state, p in shares[:_SHOWN])
        rows.append([name, shown + (", ..." if len(shares) > _SHOWN else "")])
    condition = next(iter(marginals.values())).condition
    given = f" given {condition_text(condition)}" if condition else ""
    print_table(["variable", "distribution" + given], rows, left=2)
    _say_evidence(found, evidence)


def _say_evidence(found: Findings, evidence: dict[str, float | None]) -> None:
    probability = evidence["probability_of_evidence"]
    if (found.given or found.likelihood) and probability is not None:
        log = evidence["log_probability_of_evidence"]
        click.echo(f"probability of the evidence: {probability:.6g} (log {log:.6f})")
