"""What a generator of random DAGs is."""

from __future__ import annotations

from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["Generator"]


class Generator(Protocol):
    """Draws random DAGs over numbered nodes; its fields are its settings."""

    name: ClassVar[str]

    def arcs(self, n: int, seed: int) -> npt.NDArray[np.int64]:
        """Draw a DAG over the nodes 0 to n - 1: one row (parent, child) for each arc."""
        ...
