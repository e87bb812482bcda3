"""Ways to learn from a table with missing values, each in its own file, and the list of them."""

from __future__ import annotations

from typing import Any

from bestdag.errors import InvalidParameterError
from bestdag.incomplete.base import Treatment as Treatment
from bestdag.registry import listed, make

# The list: one line for each way, in the order that help and docs show.
# isort: off
from bestdag.incomplete.complete import Refuse as Refuse
from bestdag.incomplete.complete import DropRows as DropRows
from bestdag.incomplete.complete import MissingState as MissingState
from bestdag.incomplete.em import StructuralEM as StructuralEM
from bestdag.incomplete.available import Available as Available
# isort: on

TREATMENTS: dict[str, Any] = listed(globals(), __name__)


def make_treatment(missing: Treatment | str) -> Treatment:
    """Make a way to treat missing values from its name; one that is made already stays as it is.

    Examples
    --------
    >>> make_treatment("drop")
    DropRows()
    """
    if isinstance(missing, str):
        made: Treatment = make("way to treat missing values", missing, TREATMENTS, {}, {})
        return made
    if isinstance(missing, type) or not isinstance(missing, Treatment):
        known = ", ".join(map(repr, TREATMENTS))
        raise InvalidParameterError(f"learn: missing must be one of {known}, got {missing!r:.60}")
    return missing
