"""What every method of discretization is."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["Method"]


class Method(Protocol):
    """Settings, and a function from the numbers of one column to its cut points."""

    name: ClassVar[str]
    needs_target: ClassVar[bool]

    def cuts(
        self,
        values: npt.NDArray[np.float64],
        *,
        weights: npt.NDArray[Any] | None = None,
        target_codes: npt.NDArray[Any] | None = None,
        n_classes: int = 0,
    ) -> npt.NDArray[np.float64]:
        """Ascending cut points of numbers in any order; NaN and rows of weight 0 are ignored.

        A method that needs no target is not given one.
        """
        ...
