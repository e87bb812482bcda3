"""Options that choose scores, their settings and a structure prior; shared by commands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from bestdag.scores.base import Score
    from bestdag.scores.prior import EdgeDifferencePrior

__all__ = ["ChosenScore", "choose_scores", "choose_structure_prior", "score_options"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

# Settings of scores: option, type, help. The name of the option is that of the setting.
_SETTINGS: tuple[tuple[str, Any, str], ...] = (
    ("ess", float, "Equivalent sample size of BDe, BDeu, Min- and Max-BDeu.  [default: 1]"),
    ("epsilon", float, "Contamination of Min- and Max-BDeu.  [default: 0.5]"),
    ("confidence", float, "Confidence level of MIT.  [default: 0.99]"),
    ("pseudo-count", float, "Pseudo-count of BD and BDq.  [default: 0.5]"),
    ("regret", click.Choice(["exact", "szpankowski"]), "Regret of qNML.  [default: exact]"),
    ("prior", str, "Network file: prior network of BDe.  [default: uniform]"),
)


@dataclass(frozen=True, slots=True)
class ChosenScore:
    """A score and its settings as they are shown: files by their names."""

    score: Score
    settings: dict[str, Any]


def score_options(function: _Function) -> _Function:
    """Add the settings of scores and the structure prior."""
    function = click.option(
        "--kappa", type=float, help="Weight of an arc's difference from the structure prior."
    )(function)
    function = click.option(
        "--structure-prior",
        metavar="NETWORK",
        help="Network file: add kappa to the power of the differences from its arcs.",
    )(function)
    for name, kind, text in reversed(_SETTINGS):
        function = click.option(f"--{name}", type=kind, help=text)(function)
    return function


def choose_scores(names: tuple[str, ...], options: dict[str, Any]) -> dict[str, ChosenScore]:
    """Make the scores asked for; takes their settings out of `options`.

    A setting must belong to one of the scores. 'all' means every score.
    """
    from bestdag.network.network import Network
    from bestdag.registry import canonical
    from bestdag.scores import ALIASES, SCORES, make_score

    given: dict[str, Any] = {}
    for name, _, _ in _SETTINGS:
        key = name.replace("-", "_")
        value = options.pop(key, None)
        if value is not None:
            given[key] = value
    made = dict(given)
    if "prior" in given:
        made["prior"] = Network.load(given["prior"])
    wanted = [canonical(name, [*SCORES, *ALIASES, "all"]) for name in names]
    if "all" in wanted:
        wanted = [name for name in wanted if name != "all"] + list(SCORES)
    unused = set(given)
    chosen: dict[str, ChosenScore] = {}
    for name in wanted:
        key = ALIASES.get(name, name)
        known = {field.name for field in fields(SCORES[key])} if key in SCORES else set()
        unused -= known
        score = make_score(name, **{s: value for s, value in made.items() if s in known})
        shown = {s: given.get(s, getattr(score, s)) for s in sorted(known)}
        chosen[key] = ChosenScore(score, {s: v for s, v in shown.items() if v is not None})
    if unused:
        flag = sorted(unused)[0].replace("_", "-")
        raise click.UsageError(f"--{flag} belongs to none of the scores {', '.join(chosen)}")
    return chosen


def choose_structure_prior(options: dict[str, Any]) -> EdgeDifferencePrior | None:
    """Make the structure prior asked for; takes its settings out of `options`."""
    from bestdag.network.network import Network
    from bestdag.scores.prior import EdgeDifferencePrior

    file, kappa = options.pop("structure_prior"), options.pop("kappa")
    if (file is None) != (kappa is None):
        raise click.UsageError("--structure-prior and --kappa are given together or not at all")
    return None if file is None else EdgeDifferencePrior(Network.load(file), kappa=kappa)
