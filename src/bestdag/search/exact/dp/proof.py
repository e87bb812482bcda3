"""What the engine ``dp`` leaves behind as proof."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["DpCertificate", "SubsetProof"]


@dataclass(frozen=True, slots=True)
class SubsetProof:
    """What the dynamic program did for one component.

    Attributes
    ----------
    variables : tuple of int
        Numbers in the table.
    cell_bytes : int
        4 or 8; 0 when every child gets its best set and there was nothing to search.
    unit : float
        One unit of the whole-number costs that decided, in nats.
    limit : float
        Where costs were clipped, in units.
    value : float
        The least cost of all acyclic choices, in units.
    resolution : float
        What rounding can hide, in nats: at most n + 1 units; 0 when there was nothing to search.
    visited : int
        Subsets whose value was computed, over all runs; 2^n when all were in memory at once and
        nothing was known about the order.
    """

    variables: tuple[int, ...]
    cell_bytes: int
    unit: float
    limit: float
    value: float
    resolution: float
    visited: int = 0

    @property
    def is_fine(self) -> bool:
        """Whether the units are those of cells of 8 bytes, or were not needed."""
        return self.cell_bytes != 4 or self.limit >= 2.0**32


@dataclass(frozen=True, slots=True)
class DpCertificate:
    """The proof in brief: which cells, units and values each component was solved with."""

    components: tuple[SubsetProof, ...]

    @property
    def resolution(self) -> float:
        """What rounding can hide, in nats: the sum over the components."""
        return math.fsum(component.resolution for component in self.components)
