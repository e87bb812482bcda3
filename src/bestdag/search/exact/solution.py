"""What every engine of exact search returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["EngineResult", "Status"]

Status = Literal["optimum proved", "step limit", "time limit", "interrupted"]


@dataclass(frozen=True)
class EngineResult:
    """One parent set per child, and what is proven about it.

    Attributes
    ----------
    parents : list of int
        For child number i, the position of its chosen set in ``table.child(i)``.
    score : float
        Sum of the chosen sets' scores, rounded once (`math.fsum`).
    bound : float
        Proven upper bound of every acyclic choice, at least `score`; equal to `score` only when
        the optimum is proved within `resolution`.
    proved : bool
        Whether no acyclic choice scores more than ``score + resolution``.
    status : {"optimum proved", "step limit", "time limit", "interrupted"}
        How the engine ended; the first exactly when `proved`.
    resolution : float
        What the engine's arithmetic can hide, in nats; 0 when a proof is exact up to the rounding
        of double precision.
    certificate : object or None
        What a check of the bound needs; its class depends on the engine.
    nodes : int
        Size of the search: nodes of the tree, or subsets of the dynamic program.
    seconds : float
        Time the engine took.
    was_interrupted : bool
        Whether Ctrl-C came; it does not lose what was proved by then, but nothing more should be
        begun.
    """

    parents: list[int]
    score: float
    bound: float
    proved: bool
    status: Status
    resolution: float
    certificate: object | None
    nodes: int
    seconds: float
    was_interrupted: bool = False

    @property
    def gap(self) -> float:
        """``bound - score``, in nats."""
        return self.bound - self.score
