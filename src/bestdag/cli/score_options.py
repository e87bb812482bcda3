"""Options that choose scores, their settings and a structure prior; shared by commands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from bestdag.cli.settings import made_of_text, settings_options, shown_settings, taken_settings
from bestdag.registry import canonical
from bestdag.scores import ALIASES, DEFAULT_PRIOR, DEFAULT_SCORE, SCORES, make_score
from bestdag.wording import either

if TYPE_CHECKING:
    from bestdag.scores.base import Score
    from bestdag.scores.prior import ArcDifferencePrior

__all__ = [
    "ChosenScore",
    "choose_score",
    "choose_scores",
    "choose_structure_prior",
    "default_prior",
    "score_option",
    "score_option_by",
    "score_options",
    "shown_prior",
]

_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class ChosenScore:
    """A score and its settings as they are shown: files by their names."""

    score: Score
    settings: dict[str, Any]


def score_option_by(default: str) -> Callable[[_Function], _Function]:
    """Choose one score, this one unless another is given."""
    return click.option(
        "--score",
        "name",
        default=default,
        show_default=True,
        metavar="NAME",
        help=f"One of {', '.join(SCORES)}.",
    )


score_option = score_option_by(DEFAULT_SCORE)


def score_options(function: _Function) -> _Function:
    """Add the settings of scores and the structure prior."""
    function = click.option(
        "--kappa",
        type=float,
        help="Prior weight of each arc that differs from the network of --structure-prior.",
    )(function)
    function = click.option(
        "--structure-prior",
        metavar="NAME",
        help="sparse (about one parent per variable), uniform, or a network file (kappa to the "
        "power of the number of arcs that differ).  [default: sparse if no --score is given]",
    )(function)
    return settings_options(SCORES)(function)


def choose_scores(names: tuple[str, ...], options: dict[str, Any]) -> dict[str, ChosenScore]:
    """Make the scores asked for; takes their settings out of `options`.

    A setting must belong to one of the scores. 'all' means every score.
    """
    wanted = [canonical(name, [*SCORES, *ALIASES, "all"]) for name in names]
    if "all" in wanted:
        wanted = [name for name in wanted if name != "all"] + list(SCORES)
    keys = [ALIASES.get(name, name) for name in wanted]
    given = taken_settings(SCORES, options, keys, either(len(keys), "score", "scores"))
    chosen: dict[str, ChosenScore] = {}
    for key in keys:
        score = make_score(key, **(made_of_text(SCORES[key], given) if key in SCORES else {}))
        chosen[key] = ChosenScore(score, shown_settings(score, given))
    return chosen


def choose_score(name: str, options: dict[str, Any]) -> tuple[str, ChosenScore]:
    """Make the one score asked for; takes its settings out of `options`."""
    chosen = choose_scores((name,), options)
    if len(chosen) != 1:
        raise click.UsageError(
            "--score: give one score; bestdag score and bestdag evaluate compare several"
        )
    return next(iter(chosen.items()))


def choose_structure_prior(options: dict[str, Any]) -> ArcDifferencePrior | str | None:
    """Return the structure prior asked for, or its name; takes its settings out of `options`.

    Where no score is named, the default of `learn` is its own.
    """
    from bestdag.network.network import Network
    from bestdag.scores.prior import SPARSE, UNIFORM, ArcDifferencePrior

    given, kappa = options.pop("structure_prior"), options.pop("kappa")
    name = None if given is None else canonical(given, [SPARSE, UNIFORM])
    if name in (SPARSE, UNIFORM):
        if kappa is not None:
            raise click.UsageError("--kappa goes with a network file as --structure-prior")
        return name
    if (given is None) != (kappa is None):
        raise click.UsageError(
            "--structure-prior is sparse, uniform, or a network file together with --kappa"
        )
    return None if given is None else ArcDifferencePrior(Network.load(given), kappa=kappa)


def shown_prior(prior: ArcDifferencePrior | str | None) -> dict[str, Any]:
    """Return the setting that says which prior there was."""
    if prior is None:
        return {}
    if isinstance(prior, str):
        return {"structure_prior": prior}
    return {"structure_prior": "network", "kappa": prior.kappa}


def default_prior() -> str | None:
    """Return the prior that goes with a score that nobody named; None where one was."""
    source = click.get_current_context().get_parameter_source("name")
    return DEFAULT_PRIOR if source is ParameterSource.DEFAULT else None
