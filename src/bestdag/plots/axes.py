"""Where a figure is drawn, and what all figures share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bestdag.errors import import_optional

__all__ = ["axes_for", "name_sides"]

# Names are written at the sides up to this number of them; more cannot be read.
_MOST_NAMES = 60


def axes_for(ax: Any, who: str) -> Any:
    """Return the axes that were given, or new ones; says how to install matplotlib."""
    if ax is not None:
        return ax
    return import_optional("matplotlib.pyplot", who=who, extra="plot").subplots()[1]


def name_sides(ax: Any, names: Sequence[str]) -> None:
    """Write the names below and beside a square of cells; a `$` in a name is a `$`."""
    if len(names) > _MOST_NAMES:
        return
    places = range(len(names))
    ax.set_xticks(places, names, rotation=90, parse_math=False)
    ax.set_yticks(places, names, parse_math=False)
