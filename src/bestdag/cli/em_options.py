"""The options of structural EM, for the commands that learn a structure."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import click

from bestdag.incomplete import StructuralEM, Treatment, make_treatment

__all__ = ["choose_treatment", "em_options"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

# Setting of `StructuralEM`: its option, the least whole number (None where any number is taken),
# and the help.
_SETTINGS: dict[str, tuple[str, int | None, str]] = {
    "restarts": (
        "--em-restarts",
        0,
        "number of further runs from random changes of the best structure.",
    ),
    "max_rounds": (
        "--em-max-rounds",
        1,
        "maximum number of rounds (structure, then parameters) per run.",
    ),
    "max_iterations": ("--em-max-iterations", 1, "maximum number of EM iterations per round."),
    "tolerance": (
        "--em-tolerance",
        None,
        "relative change of the log-likelihood at which EM has converged.",
    ),
    "max_cells": (
        "--em-max-cells",
        1,
        "maximum number of joint states of missing values to sum exactly.",
    ),
    "draws": ("--em-draws", 1, "number of draws for each group of missing values with more."),
}


def _finite(_context: click.Context, _option: click.Parameter, value: float | None) -> float | None:
    if value is not None and not math.isfinite(value):
        raise click.BadParameter(f"must be a finite number >= 0, got {value}")
    return value


def em_options(function: _Function) -> _Function:
    """Add an option for each setting of structural EM: ``--em-restarts`` and so on."""
    settings = {field: StructuralEM.__dataclass_fields__[field].default for field in _SETTINGS}
    for name, (flag, least, help_text) in reversed(_SETTINGS.items()):
        kind = click.FloatRange(0) if least is None else click.IntRange(least)
        option = click.option(
            flag,
            type=kind,
            metavar="X" if least is None else "N",
            callback=_finite if least is None else None,
            help=f"With --missing em, {help_text}  [default: {settings[name]:,}]",
        )
        function = option(function)
    return function


def choose_treatment(options: dict[str, Any]) -> Treatment:
    """Make the way to treat missing values that was asked for."""
    treatment = make_treatment(options["missing"])
    given = {name: options[f"em_{name}"] for name in _SETTINGS}
    given = {name: value for name, value in given.items() if value is not None}
    if not given:
        return treatment
    if not isinstance(treatment, StructuralEM):
        option = _SETTINGS[next(iter(given))][0]
        raise click.UsageError(f"{option} is for --missing em; leave it out")
    return replace(treatment, **given)
