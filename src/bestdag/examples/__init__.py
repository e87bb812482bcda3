"""A small network, a table drawn from it, and a table of patients, to try things on."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from bestdag.errors import require_known

__all__ = ["EXAMPLES", "example"]

EXAMPLES = ("asia.bif", "asia.csv", "heart.csv")


def example(name: str) -> Path:
    """Return the path of a bundled example.

    Examples
    --------
    >>> example("asia.bif").name
    'asia.bif'
    """
    return Path(str(files("bestdag.examples") / require_known("example", name, EXAMPLES)))
