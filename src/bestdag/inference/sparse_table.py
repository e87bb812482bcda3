"""A conditional table that lists some parent configurations and has one row for all others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from bestdag import _core

__all__ = ["SparseTable"]

_Floats = npt.NDArray[np.float64]
_Codes = npt.NDArray[np.uint16]
_Positions = npt.NDArray[np.intp]


class SparseTable:
    """Numbers for the listed configurations of the parents, and one row for all others.

    Its size grows with the list, never with the product of the parents' arities.

    Parameters
    ----------
    parent_arities : sequence of int
        At least one.
    configurations : array of uint16, shape (m, number of parents)
        The listed configurations, as codes: ascending, the first parent slowest, none twice.
    rows : array of float64, shape (m + 1, arity)
        A row for each of them, and last the row of all others.

    Examples
    --------
    >>> table = SparseTable((40, 50), [[3, 7], [3, 9]], [[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])
    >>> table.find(np.array([[3, 9], [4, 9]], np.uint16)).tolist()
    [1, 2]
    """

    __slots__ = ("_finder", "configurations", "parent_arities", "rows")

    def __init__(
        self, parent_arities: Sequence[int], configurations: npt.ArrayLike, rows: npt.ArrayLike
    ) -> None:
        self.parent_arities = tuple(parent_arities)
        self.configurations: _Codes = np.ascontiguousarray(configurations, dtype=np.uint16)
        self.rows: _Floats = np.ascontiguousarray(rows, dtype=np.float64)
        self._finder: _core.RowFinder | None = None

    @property
    def arity(self) -> int:
        """Number of states of the child."""
        return int(self.rows.shape[1])

    @property
    def n_listed(self) -> int:
        """Number of listed configurations."""
        return len(self.configurations)

    @property
    def default(self) -> _Floats:
        """The row of all configurations that are not listed."""
        row: _Floats = self.rows[-1]
        return row

    @property
    def nbytes(self) -> int:
        """Bytes of the list and of the rows."""
        return self.configurations.nbytes + self.rows.nbytes

    @property
    def finder(self) -> _core.RowFinder:
        """What finds configurations in the list; made at the first use."""
        if self._finder is None:
            self._finder = _finder(self.configurations, self.parent_arities)
        return self._finder

    def find(self, codes: _Codes) -> _Positions:
        """Return which row of `rows` belongs to each configuration, given as a row of codes."""
        return _positions_of(self.finder, codes)

    def with_rows(self, rows: _Floats) -> SparseTable:
        """Return the same configurations with other numbers."""
        made = SparseTable(self.parent_arities, self.configurations, rows)
        made._finder = self._finder
        return made

    def at_rows(self, fixed: Mapping[int, _Positions]) -> _Floats:
        """Return the table at the codes of many rows, dense over what these leave open.

        Parameters
        ----------
        fixed : mapping of axis to array of int
            The codes of some axes, one per row: axes are the parents in order, then the child.

        Returns
        -------
        array of float64
            One axis for the rows (of length 1 when nothing is fixed), then those of the open
            variables that have more than one state.
        """
        child = len(self.parent_arities)
        n_rows = len(next(iter(fixed.values()))) if fixed else 1
        # A variable of one state tells nothing apart.
        wide = [axis for axis, arity in enumerate(self.parent_arities) if arity > 1]
        known = [axis for axis in wide if axis in fixed]
        free = [axis for axis in wide if axis not in fixed]
        shape = [self.parent_arities[axis] for axis in free]
        rows, listed = self.matches({axis: fixed[axis] for axis in known}, n_rows)
        place = (rows, *(self.configurations[listed, axis] for axis in free))
        if child in fixed:
            states = fixed[child]
            out = np.empty((n_rows, *shape))
            out[:] = self.default[states].reshape(-1, *(1 for _ in free))
            out[place] = self.rows[listed, states[rows]]
            return out
        out = np.empty((n_rows, *shape, self.arity))
        out[:] = self.default
        out[place] = self.rows[listed]
        return out if self.arity > 1 else out[..., 0]

    def matches(
        self, known: Mapping[int, _Positions], n_rows: int
    ) -> tuple[_Positions, _Positions]:
        """Return all pairs of a row and a listed configuration that agree where codes are known."""
        if not known or not self.n_listed:
            every = np.arange(self.n_listed, dtype=np.intp)
            return np.repeat(np.arange(n_rows, dtype=np.intp), self.n_listed), np.tile(
                every, n_rows
            )
        axes = list(known)
        groups, group_of = np.unique(self.configurations[:, axes], axis=0, return_inverse=True)
        group_of = group_of.reshape(-1)
        finder = _finder(groups, [self.parent_arities[axis] for axis in axes])
        codes = np.stack([known[axis] for axis in axes], axis=1).astype(np.uint16)
        group = _positions_of(finder, codes)
        members = np.argsort(group_of, kind="stable")
        sizes = np.bincount(group_of, minlength=len(groups))
        sizes = np.append(sizes, 0)  # of the group of rows that agree with no configuration
        starts = np.cumsum(sizes) - sizes
        here = sizes[group]
        rows = np.repeat(np.arange(n_rows, dtype=np.intp), here)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(here) - here, here)
        return rows, members[starts[group[rows]] + within]


def _finder(configurations: _Codes, arities: Sequence[int]) -> _core.RowFinder:
    listed = np.ascontiguousarray(configurations, dtype=np.uint16)
    return _core.RowFinder(listed, np.array(arities, dtype=np.uint32))


def _positions_of(finder: _core.RowFinder, codes: _Codes) -> _Positions:
    out = np.empty(len(codes), dtype=np.uint64)
    finder.find(np.ascontiguousarray(codes, dtype=np.uint16), out)
    return out.astype(np.intp)
