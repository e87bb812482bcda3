"""Scores named on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from bestdag.scores.base import Score

__all__ = ["chosen_scores", "score_settings"]


def chosen_scores(names: Sequence[str], settings: dict[str, Any]) -> dict[str, Score]:
    """Make the scores asked for; a setting must belong to one of them."""
    from bestdag.scores import ALIASES, SCORES, make_score

    wanted = [name.lower() for name in names]
    if "all" in wanted:
        wanted = [name for name in wanted if name != "all"] + list(SCORES)
    given = {name: value for name, value in settings.items() if value is not None}
    unused = set(given)
    chosen: dict[str, Score] = {}
    for name in wanted:
        key = ALIASES.get(name, name)
        known = {field.name for field in fields(SCORES[key])} if key in SCORES else set()
        unused -= known
        own = {setting: value for setting, value in given.items() if setting in known}
        chosen[key] = make_score(name, **own)
    if unused:
        flag = sorted(unused)[0].replace("_", "-")
        raise click.UsageError(f"--{flag} belongs to none of the scores {', '.join(chosen)}")
    return chosen


def score_settings(score: Score) -> dict[str, Any]:
    """Return a score's settings by name."""
    return {field.name: getattr(score, field.name) for field in fields(score)}  # type: ignore[arg-type]
