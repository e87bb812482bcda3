"""`bestdag query`: distributions of variables of a network, given evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bestdag.cli.evidence import EVIDENCE_OPTIONS, Evidence, load_evidence
from bestdag.cli.options import COMMON, THREADS, options_of, with_options
from bestdag.cli.output import print_json, print_table, says_formats, working
from bestdag.network.network import Network

if TYPE_CHECKING:
    from bestdag.inference.distribution import Distribution

__all__ = ["command"]

# States that a line shows of a distribution.
_SHOWN = 6


@click.command("query")
@click.argument("network")
@click.argument("targets", nargs=-1)
@with_options(
    EVIDENCE_OPTIONS, options_of(Network.query, "method", "samples", "seed"), THREADS, COMMON
)
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
    known = load_evidence(network, given, likelihood, done)
    net = known.network
    is_exact = settings["method"] == "exact"
    with working("computing probabilities" if is_exact else "sampling", quiet=quiet):
        settings["likelihood"] = known.likelihood
        if targets:
            answer = net.query(list(targets), known.given, **settings)
            marginals = None
        else:
            marginals = net.marginals(known.given, **settings)
        evidence = known.probability_of_evidence(is_asked=is_exact)
    if marginals is not None:
        _print_marginals(marginals, known, evidence, as_json=as_json)
    elif as_json:
        print_json({**_target(answer, known), **_errors(answer), **evidence})
    else:
        click.echo(str(answer))
        _say_evidence(known, evidence)


def _target(answer: Distribution, known: Evidence) -> dict[str, Any]:
    if len(answer.variables) == 1:
        return {
            "target": answer.names[0],
            **known.as_json,
            "distribution": answer.to_dict(),
        }
    return {
        "targets": list(answer.names),
        **known.as_json,
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
    known: Evidence,
    evidence: dict[str, float | None],
    *,
    as_json: bool,
) -> None:
    if as_json:
        sampled = {name: _errors(d) for name, d in marginals.items() if not d.is_exact}
        print_json(
            {
                **known.as_json,
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
    condition_words = f" given {condition_text(condition)}" if condition else ""
    print_table(["variable", "distribution" + condition_words], rows, left=2)
    _say_evidence(known, evidence)


def _say_evidence(known: Evidence, evidence: dict[str, float | None]) -> None:
    probability = evidence["probability_of_evidence"]
    if (known.given or known.likelihood) and probability is not None:
        log = evidence["log_probability_of_evidence"]
        click.echo(f"probability of the evidence: {probability:.6g} (log {log:.6f})")
