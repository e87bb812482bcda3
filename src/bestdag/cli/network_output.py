"""The option that writes a network, shared by commands, and what is checked before the work."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bestdag.cli.output import require_new_file
from bestdag.cli.settings import parse_choice
from bestdag.network.formats import FORMATS
from bestdag.parameters import DEFAULT_ESTIMATOR, ESTIMATORS, OF_SCORE, choose_estimator
from bestdag.registry import canonical
from bestdag.wording import count_of

if TYPE_CHECKING:
    from bestdag.network.network import Network
    from bestdag.parameters.base import Estimator
    from bestdag.scores.base import Score

__all__ = [
    "choose_parameters",
    "network_output",
    "parameters_option",
    "require_folder",
    "require_network_output",
    "says_formats",
    "write_fitted",
]

_Function = TypeVar("_Function", bound=Callable[..., Any])
*_FIRST, _LAST = FORMATS
_SUFFIXES = f"{', '.join(_FIRST)} or {_LAST}"

parameters_option = click.option(
    "--parameters",
    metavar="NAME",
    help=f"How to estimate the parameters: {', '.join(ESTIMATORS)}, with settings as in "
    "dirichlet,ess=10; or 'score': as the score implies.  "
    f"[default: {DEFAULT_ESTIMATOR}]",
)


def choose_parameters(score: Score, text: str | None) -> Estimator:
    """Make the estimator that was asked for, or fsNML; "score" is the one that belongs to it."""
    if text is None or canonical(text, [OF_SCORE]) == OF_SCORE:
        return choose_estimator(score, text, {})
    name, settings = parse_choice(text, ESTIMATORS, "parameters")
    return choose_estimator(score, name, settings)


def says_formats(function: _Function) -> _Function:
    """Write the network formats into the help of a command, where it says FORMATS."""
    function.__doc__ = (function.__doc__ or "").replace("FORMATS", _SUFFIXES)
    return function


def network_output(
    *, required: bool, what: str = "with fitted parameters"
) -> Callable[[_Function], _Function]:
    """Add -o and --force."""

    def decorate(function: _Function) -> _Function:
        function = click.option("--force", is_flag=True, help="Replace an existing file.")(function)
        return click.option(
            "-o",
            "--output",
            required=required,
            metavar="FILE",
            help=f"Network file to write, {what} ({_SUFFIXES}; also .gz).",
        )(function)

    return decorate


def require_network_output(path: str, *, force: bool) -> None:
    """Refuse, before any work, a file that could not be written at its end."""
    from bestdag.errors import unknown_name
    from bestdag.files import format_suffix, shown_path

    require_new_file(path, force=force)
    if path == "-":
        raise click.UsageError(f"-o needs a file whose name says its format: {_SUFFIXES}")
    if format_suffix(path) not in FORMATS:
        raise unknown_name(
            "network format", format_suffix(path), FORMATS, who=f"save: {shown_path(path)}"
        )
    require_folder(path)


def require_folder(path: str) -> None:
    """Refuse, before any work, a file in a folder that is not there."""
    from pathlib import Path

    from bestdag.files import shown_path

    if not Path(path).parent.is_dir():
        raise click.UsageError(f"the folder of {shown_path(path)} does not exist")


def _in_words(estimator: Estimator) -> str:
    """Return the name of an estimator as the field writes it."""
    names = {"mle": "maximum likelihood", "dirichlet": "Dirichlet", "fsnml": "fsNML", "em": "EM"}
    return names.get(estimator.name, estimator.name)


def write_fitted(path: str, network: Network, estimator: Estimator, *, is_said: bool) -> None:
    """Write a network whose parameters were fitted, and say so for people."""
    network.save(path)
    if is_said:
        click.echo(
            f"{path}: {count_of(network.n_parameters, 'parameter')} ({_in_words(estimator)} "
            "estimate)"
        )
