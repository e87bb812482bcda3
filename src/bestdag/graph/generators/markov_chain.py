"""Random connected DAGs within limits, by a Markov chain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.errors import InvalidParameterError, bad_setting, require_count
from bestdag.registry import setting
from bestdag.wording import arg

__all__ = ["MarkovChain"]

_MAX_NODES = 3_000
_STEPS_PER_PAIR = 10
_LEAST_STEPS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkovChain:
    """Connected DAGs within limits, uniformly in the limit of many steps.

    Parameters
    ----------
    max_degree : int, optional
        At most so many neighbours of a node, parents and children together.
    max_parents : int, optional
        Maximum number of parents per node.
    max_width : int, optional
        At most so large an induced width (treewidth) of the moral graph, which bounds the cost of
        exact answers.
    steps : int, optional
        Steps of the chain from where all nodes stand in one line; 10 n^2 unless given, at
        least 1,000.

    Notes
    -----
    Each step adds or removes an arc, or, where the graph is a tree, joins a node with what hangs
    on it elsewhere. Both have the same probability there and back. The tree moves are needed:
    adding and removing alone does not lead from every tree to every other one (with two nodes, one
    parent at most, width 1, or degree 2).

    The width is decided exactly: what cannot be eliminated at no cost is searched. A graph for
    which a thousand sets of eliminated nodes do not decide is left aside: none in 100,000 steps
    with 100 nodes and a limit of 4, 15 in 25,000 steps with 50 nodes and a limit of 6.

    References
    ----------
    .. [1] Ide and Cozman (2002). "Random generation of Bayesian networks." SBIA.
    .. [2] Ide, Cozman and Ramos (2004). "Generating random Bayesian networks with constraints on
       induced width." ECAI.

    Examples
    --------
    >>> MarkovChain(max_degree=2).arcs(4, seed=1).tolist()
    [[0, 1], [1, 3], [3, 2]]
    """

    name: ClassVar[str] = "markov_chain"

    max_degree: int | None = setting(None, "Maximum number of neighbors per node.")
    max_parents: int | None = setting(None, "Maximum number of parents per node.")
    max_width: int | None = setting(None, "Maximum induced width of the moral graph.")
    steps: int | None = setting(
        None, "Number of steps of the chain.  [default: 10 times the square of the number of nodes]"
    )

    def __post_init__(self) -> None:
        for what, minimum in (("max_degree", 1), ("max_parents", 1), ("max_width", 1)):
            if getattr(self, what) is not None:
                require_count(self.name, what, getattr(self, what), minimum=minimum)
        if self.steps is not None:
            require_count(self.name, "steps", self.steps)

    def arcs(self, n: int, seed: int) -> npt.NDArray[np.int64]:
        """Draw a connected DAG over the nodes 0 to n - 1."""
        if n > _MAX_NODES:
            raise InvalidParameterError(
                f"{self.name}: {arg('n')}: a chain is for at most {_MAX_NODES:,} nodes, got {n:,}; "
                f"use {arg('generator', 'order')}"
            )
        if n > 2 and self.max_degree == 1:
            raise bad_setting(self.name, "max_degree", "at least 2 for connected graphs", 1)
        # All nodes are numbered at random at the end: the start of the chain leaves no trace.
        numbers = np.random.default_rng(seed).permutation(n)
        key = np.random.SeedSequence(seed).generate_state(2, np.uint64).astype(np.uint64)
        degree, parents, width = (
            None if limit is None else min(limit, n)
            for limit in (self.max_degree, self.max_parents, self.max_width)
        )
        chain = _core.GraphChain(n, degree, parents, width, key)
        chain.run(max(_LEAST_STEPS, _STEPS_PER_PAIR * n * n) if self.steps is None else self.steps)
        arcs: npt.NDArray[np.int32] = np.asarray(chain.arcs())
        return numbers[arcs].astype(np.int64)
