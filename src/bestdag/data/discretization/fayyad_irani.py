r"""Cut points that tell the classes of a target apart, with a description length to stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.data.discretization.cuts import counted_numbers, cut_between
from bestdag.data.schema import MAX_ARITY
from bestdag.errors import InvalidParameterError

__all__ = ["FayyadIrani", "cut_points"]


def cut_points(
    values: npt.ArrayLike,
    target_codes: npt.ArrayLike,
    n_classes: int,
    weights: npt.ArrayLike | None = None,
) -> npt.NDArray[np.float64]:
    r"""Cut points of one column by recursive entropy splits with the MDL criterion.

    A set S of N cases with k classes is split at the cut T of least class entropy if

    .. math::

        \mathrm{Gain}(T; S) > \frac{\log_2(N - 1)}{N} + \frac{\log_2(3^k - 2)
        - [k\,\mathrm{Ent}(S) - k_1\,\mathrm{Ent}(S_1) - k_2\,\mathrm{Ent}(S_2)]}{N},

    and each part then in the same way. A cut lies between two neighbouring values, at their
    midpoint (see `cut_between`): equal values are never separated.

    Parameters
    ----------
    values : array of float
        The column; NaN is missing, infinite values count as the greatest finite ones.
    target_codes : array of int
        The class of each row, 0 ... n_classes - 1; the code `n_classes` is a missing class.
    n_classes : int
        How many classes there are, at most 65,535.
    weights : array of numbers, optional
        How often each row counts, at least 0. N is the sum of the weights; where it is below 2
        the term log2(N - 1) is taken as 0.

    Returns
    -------
    array of float64
        Ascending; empty when no cut is accepted.

    Raises
    ------
    InvalidParameterError
        If a code is not one of 0 ... n_classes, or there is not one for each value.

    Notes
    -----
    Rows with a missing value, a missing class or weight 0 are ignored. The order of the rows
    does not matter, and equally good cuts go to the lowest. Sorting takes O(m log m), each level
    of splits O(m).

    References
    ----------
    .. [1] Fayyad and Irani (1993). "Multi-interval discretization of continuous-valued
       attributes for classification learning." IJCAI, section 3.

    Examples
    --------
    >>> cut_points([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [0, 0, 0, 1, 1, 1], 2)
    array([3.5])
    >>> cut_points([1.0, 2.0, 3.0, 4.0], [0, 1, 0, 1], 2)
    array([], dtype=float64)
    """
    if n_classes > MAX_ARITY:
        raise InvalidParameterError(
            f"fayyad_irani: at most {MAX_ARITY:,} classes are possible, got {n_classes:,}"
        )
    codes = _checked(target_codes, n_classes, np.shape(values))
    heavy = None if weights is None else np.asarray(weights)
    numbers, counted = counted_numbers(values, heavy)
    classes = codes[counted]
    known = classes < n_classes
    if not known.all():
        numbers, classes = numbers[known], classes[known]
    heavy = None if heavy is None else heavy[counted][known].astype(np.float64)
    if heavy is None or np.array_equal(heavy, np.floor(heavy)):
        order = np.argsort(numbers)  # sums of whole weights are the same in any order
    else:
        order = np.lexsort((heavy, classes, numbers))
    numbers = numbers[order]
    rows = _core.entropy_cuts(
        numbers,
        classes.astype(np.uint16)[order],
        np.empty(0) if heavy is None else heavy[order],
        n_classes,
    )
    return np.array([cut_between(float(numbers[row - 1]), float(numbers[row])) for row in rows])


def _checked(
    target_codes: npt.ArrayLike, n_classes: int, shape: tuple[int, ...]
) -> npt.NDArray[Any]:
    codes = np.asarray(target_codes)
    if codes.shape != shape:
        raise InvalidParameterError(
            f"fayyad_irani: target_codes must have the shape {shape} of the values, "
            f"got {codes.shape}"
        )
    if len(codes) == 0:
        return codes.astype(np.uint16)
    wrong = (codes < 0) | (codes > n_classes) if codes.dtype.kind in "iu" else None
    if wrong is None or wrong.any():
        came = codes.dtype if wrong is None else codes[np.argmax(wrong)]
        raise InvalidParameterError(
            f"fayyad_irani: target_codes must be whole numbers from 0 to n_classes={n_classes:,}, "
            f"got {came}"
        )
    return codes


@dataclass(frozen=True, slots=True, kw_only=True)
class FayyadIrani:
    """Recursive entropy splits with the MDL criterion: see `cut_points`.

    It cuts where the classes of the target change, and only as often as the data justify, so it
    needs no number of intervals; a column that says nothing about the target gets no cut. Each
    column is cut by itself: numbers that tell the classes apart only together stay uncut.

    References
    ----------
    .. [1] Fayyad and Irani (1993). "Multi-interval discretization of continuous-valued
       attributes for classification learning." IJCAI.

    Examples
    --------
    >>> values, classes = np.array([1.0, 2.0, 3.0, 7.0, 8.0, 9.0]), np.array([0, 0, 0, 1, 1, 1])
    >>> FayyadIrani().cuts(values, target_codes=classes, n_classes=2)
    array([5.])
    """

    name: ClassVar[str] = "fayyad_irani"
    needs_target: ClassVar[bool] = True

    def cuts(
        self,
        values: npt.NDArray[np.float64],
        *,
        weights: npt.NDArray[Any] | None = None,
        target_codes: npt.NDArray[Any] | None = None,
        n_classes: int = 0,
    ) -> npt.NDArray[np.float64]:
        """Return cut points where the classes change; see `cut_points`."""
        assert target_codes is not None
        return cut_points(values, target_codes, n_classes, weights)
