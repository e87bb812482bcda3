"""What every method of discretization is."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["Method"]


class Method(Protocol):
    """A method of discretization: settings, and a function from numbers to cut points.

    An object with these three members may be passed as ``method=`` of `discretize`.

    Attributes
    ----------
    name : str
    needs_target : bool
        Whether `cuts` looks at the classes of the rows.
    """

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
        """Return ascending cut points of numbers in any order.

        Parameters
        ----------
        values : array of float64
            NaN marks a missing value, and is ignored.
        weights : array, optional
            How often each row counts; rows of weight 0 are ignored.
        target_codes : array of int, optional
            The class of each row, 0 ... n_classes - 1, or n_classes where it is missing. Only a
            method that `needs_target` gets it, and `n_classes`.

        Returns
        -------
        array of float64
            Value x is in interval number (how many cuts are < x).
        """
        ...
