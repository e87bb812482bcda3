"""Options for evidence about a network and for interventions in it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from math import exp
from typing import TYPE_CHECKING, Any

import click

from bestdag.errors import NotEnoughMemoryError, unknown_name

if TYPE_CHECKING:
    from bestdag.network.network import Network

__all__ = ["EVIDENCE_OPTIONS", "Evidence", "load_evidence"]

EVIDENCE_OPTIONS = (
    click.option(
        "--given",
        multiple=True,
        metavar="NAME=STATE",
        help="Evidence: the observed state of a variable; may be repeated.",
    ),
    click.option(
        "--likelihood",
        multiple=True,
        metavar="NAME=NUMBERS",
        help="Likelihood evidence: the probability of the observation in each state of a "
        "variable, as in xray=0.9,0.2; only ratios matter. May be repeated.",
    ),
    click.option(
        "--do",
        "done",
        multiple=True,
        metavar="NAME=STATE",
        help="Intervention do(NAME = STATE); may be repeated.",
    ),
)


class Evidence:
    """A network after interventions, and the evidence in it."""

    def __init__(
        self,
        network: Network,
        given: dict[str, str],
        likelihood: dict[str, list[float]],
        done: dict[str, str],
    ) -> None:
        self.network = network.do(done) if done else network
        self.given = given
        self.likelihood = likelihood
        self.done = done

    @property
    def as_json(self) -> dict[str, Any]:
        """The evidence for JSON; likelihoods and interventions only where there are some."""
        values: dict[str, Any] = {"given": self.given}
        if self.likelihood:
            values["likelihood"] = self.likelihood
        if self.done:
            values["do"] = self.done
        return values

    def probability_of_evidence(self, *, is_asked: bool = True) -> dict[str, float | None]:
        """Return the probability of the evidence, for JSON; null where it is too large a sum."""
        log = None
        if is_asked:
            with suppress(NotEnoughMemoryError):
                log = self.network.probability(self.given, likelihood=self.likelihood, log=True)
        return {
            "probability_of_evidence": None if log is None else exp(log),
            "log_probability_of_evidence": log,
        }


def load_evidence(
    network: str, given: Sequence[str], likelihood: Sequence[str], done: Sequence[str]
) -> Evidence:
    """Read a network and the evidence of the options."""
    from bestdag.network.network import Network

    net = Network.load(network)
    known, made = dict(_pairs(net, given, "--given")), dict(_pairs(net, done, "--do"))
    for name in known.keys() & made.keys():
        if known[name] != made[name]:
            raise click.UsageError(
                f"--given {name}={known[name]} and --do {name}={made[name]} contradict each other; "
                "leave one of them out"
            )
    numbers = {name: _numbers(name, text) for name, text in _pairs(net, likelihood, "--likelihood")}
    return Evidence(net, known, numbers, made)


def _pairs(network: Network, texts: Sequence[str], option: str) -> list[tuple[str, str]]:
    pairs: dict[str, str] = {}
    for text in texts:
        name, value = _split(network, text, option)
        if name in pairs:
            raise click.UsageError(f"{option} names {name!r} twice")
        pairs[name] = value
    return list(pairs.items())


def _split(network: Network, text: str, option: str) -> tuple[str, str]:
    """Split at the first = behind the name of a variable; names and states may have some."""
    places = [i for i, sign in enumerate(text) if sign == "="]
    if not places:
        needed = "NAME=NUMBERS" if option == "--likelihood" else "NAME=STATE"
        raise click.UsageError(f"{option} needs {needed}, got {text!r}")
    known = network.arities
    for place in places:
        if text[:place] in known:
            return text[:place], text[place + 1 :]
    raise unknown_name("variable", text[: places[0]], known, who=option)


def _numbers(name: str, text: str) -> list[float]:
    try:
        return [float(number) for number in text.split(",")]
    except ValueError:
        raise click.UsageError(
            f"--likelihood {name} needs numbers separated by commas, got {text!r}"
        ) from None
