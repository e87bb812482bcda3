"""What exact search knows of a table: the one record of engines, components and statements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bestdag.search.result import Status

__all__ = ["Solution"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """One parent set per child, without a cycle, and what is proven about the choice.

    Attributes
    ----------
    chosen : tuple of int
        For child number i, the position of its chosen set in ``table.child(i)``.
    score : float
        Sum of the chosen sets' scores, rounded once (`math.fsum`).
    bound : float
        No acyclic choice scores more than this and `resolution` together; at least `score`, and
        equal to it only when the optimum is proved.
    status : {"optimum proved", "step limit", "time limit", "interrupted"}
        How the work ended.
    resolution : float
        What the arithmetic can hide, in nats; 0 when a proof is exact up to the rounding of double
        precision.
    engines : tuple of str
        Who did it.
    proofs : tuple
        What a check of the bound needs; their classes depend on the engine.
    n_nodes : int
        Size of the search: nodes of the tree, or subsets of the dynamic program.
    seconds : float
    was_interrupted : bool
        Whether Ctrl-C came; it does not lose what was proved by then, but nothing more should be
        begun.
    notes : tuple of str
        What the user should know about how it was done.
    """

    chosen: tuple[int, ...]
    score: float
    bound: float
    status: Status
    resolution: float = 0.0
    engines: tuple[str, ...] = ()
    proofs: tuple[Any, ...] = ()
    n_nodes: int = 0
    seconds: float = 0.0
    was_interrupted: bool = False
    notes: tuple[str, ...] = ()

    @property
    def is_proved(self) -> bool:
        """Whether no acyclic choice scores more than ``score + resolution``."""
        return self.status == "optimum proved"

    @property
    def gap(self) -> float:
        """``bound - score``, in nats."""
        return self.bound - self.score
