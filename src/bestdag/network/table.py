"""One conditional probability table: the distribution of a variable given its parents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.data.schema import Variable
from bestdag.errors import DataError
from bestdag.inference.sparse_table import SparseTable
from bestdag.machine import require_memory
from bestdag.tabular import Table, Tabular
from bestdag.wording import count_of

__all__ = [
    "MAX_AXES",
    "MAX_DENSE_ROWS",
    "SUM_TOLERANCE",
    "ConditionalTable",
    "checked_parents",
    "checked_rows",
    "configuration_text",
    "wrong_row",
]

# Published networks carry rounded numbers: their rows miss 1 by up to 3e-7.
SUM_TOLERANCE = 1e-6


def checked_parents(child: Variable, parents: Iterable[Variable]) -> tuple[Variable, ...]:
    """Return the parents of a table, none of them twice."""
    listed = tuple(parents)
    names = [child.name]
    for parent in listed:
        if parent.name in names:
            raise DataError(f"table of {child.name!r}: {parent.name!r} is listed twice")
        names.append(parent.name)
    return listed


def checked_rows(
    child: Variable,
    parents: tuple[Variable, ...],
    configurations: npt.ArrayLike,
    rows: npt.ArrayLike,
    default: npt.ArrayLike,
) -> SparseTable:
    """Check and sort the rows of `ConditionalTable.of_rows`.

    Rows that equal the default are left out, so one content is one list.
    """
    who = f"table of {child.name!r}"
    try:
        codes = np.array(configurations, dtype=np.int64).reshape(-1, len(parents))
        numbers = np.array(rows, dtype=np.float64).reshape(-1, child.arity)
        other = np.array(default, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DataError(
            f"{who}: configurations of {count_of(len(parents), 'parent')} and rows of "
            f"{count_of(child.arity, 'number')} are needed"
        ) from None
    if not parents or len(codes) != len(numbers) or other.shape != (child.arity,):
        raise DataError(
            f"{who}: one row of {child.arity} numbers per configuration and one for all others "
            f"are needed, got {len(numbers):,} rows for {len(codes):,} configurations and "
            f"{other.shape} for the others"
        )
    arities = np.array([parent.arity for parent in parents])
    outside = (codes < 0) | (codes >= arities)
    if outside.any():
        row, axis = np.argwhere(outside)[0].tolist()
        raise DataError(
            f"{who}: codes of {parents[axis].name!r} are 0 to {arities[axis] - 1}, "
            f"got {codes[row, axis]}"
        )
    order = np.lexsort(codes.T[::-1])
    codes, numbers = codes[order].astype(np.uint16), numbers[order]
    twice = (codes[1:] == codes[:-1]).all(axis=1)
    if twice.any():
        raise DataError(
            f"{who}: values{_text_of(parents, codes[int(np.argmax(twice))])} are given twice"
        )
    wrong = wrong_row(np.vstack([numbers, other]))
    if wrong is not None:
        is_listed = wrong[0] < len(codes)
        place = _text_of(parents, codes[wrong[0]]) if is_listed else " for all others"
        raise DataError(f"{who}: values{place} {wrong[1]}")
    own = (numbers.view(np.uint64) != other.view(np.uint64)).any(axis=1)
    return SparseTable(arities.tolist(), codes[own], np.vstack([numbers[own], other]))


def _text_of(parents: Sequence[Variable], codes: npt.NDArray[np.uint16]) -> str:
    number = 0
    for parent, code in zip(parents, codes.tolist(), strict=True):
        number = number * parent.arity + code
    return configuration_text(parents, number)


def wrong_row(rows: npt.NDArray[np.float64]) -> tuple[int, str] | None:
    """Find the first row that is no distribution: its number and what is wrong with it."""
    with np.errstate(over="ignore", invalid="ignore"):
        sums = rows.sum(axis=1)
        off = np.abs(sums - 1.0)
    bad = ~(off <= SUM_TOLERANCE) | ~(rows >= 0).all(axis=1)
    if not bad.any():
        return None
    row = int(np.argmax(bad))
    values = rows[row]
    for value in values[~np.isfinite(values)].tolist():
        return row, f"must be finite numbers, got {value}"
    for value in values[values < 0].tolist():
        return row, f"must be at least 0, got {value}"
    shown = ", ".join(map(repr, values[:6].tolist())) + (", ..." if len(values) > 6 else "")
    return row, f"must sum to 1, got {sums[row]:.10g} ({shown})"


def configuration_text(parents: Sequence[Variable], number: int) -> str:
    """Write a configuration for an error message: ' for a=x, b=y', or nothing.

    Examples
    --------
    >>> two = Variable("a", ("no", "yes")), Variable("b", ("x", "y", "z"))
    >>> configuration_text(two, 5), configuration_text((), 0)
    (' for a=yes, b=z', '')
    """
    parts: list[str] = []
    for parent in reversed(parents):
        number, code = divmod(number, parent.arity)
        pair = (parent.name, parent.states[code])
        parts.append("=".join(text if text.isprintable() else repr(text) for text in pair))
    return " for " + ", ".join(reversed(parts)) if parts else ""


# A table with at most so many configurations always has a row for each of them.
MAX_DENSE_ROWS = 10_000
# An array has no more axes than this (numpy 1 or 2); a table has one per parent and one more.
MAX_AXES = 64 if int(np.__version__.partition(".")[0]) >= 2 else 32

# Tables of so few numbers are often equal, and then share one array.
_FEW, _MOST_SHARED = 4, 4096

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class ConditionalTable(Tabular):
    r"""The distribution of one variable in each configuration of its parents.

    Numbers stay as they came, to the last bit: rows that sum to 0.9999999 are not rescaled.

    Parameters
    ----------
    child : Variable
        Whose distribution it is.
    parents : tuple of Variable
        In the order of the axes of `values`; empty for a variable without parents.
    values : array of float64, shape (\*parent arities, child arity)
        Probabilities: finite, at least 0, and each row (last axis) sums to 1 within 1e-6. The
        array is copied and read-only.

    Raises
    ------
    DataError
        When the shape or a value is wrong; the message names the configuration.

    Notes
    -----
    `of_rows` makes a table from the configurations that have a row of their own and one row for
    all others. With more than 10,000 configurations, of which at most half are listed, such a
    table stays a list: `sparse` holds it, and its size does not grow with the product of the
    parents' arities. Every other table is dense, unless it has more parents than an array axes.

    Examples
    --------
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> table = ConditionalTable(wet, (rain,), [[0.9, 0.1], [0.0, 1.0]])
    >>> table.row(rain="yes")
    array([0., 1.])
    >>> print(table)
    P(wet | rain)
      rain   no  yes
      no    0.9  0.1
      yes     0    1
    >>> ConditionalTable(wet, (rain,), [[0.9, 0.1], [0.3, 0.6]])
    Traceback (most recent call last):
    ...
    bestdag.errors.DataError: table of 'wet': values for rain=yes must sum to 1, got 0.9 (0.3, 0.6)
    """

    child: Variable
    parents: tuple[Variable, ...]
    sparse: SparseTable | None
    _dense: _Floats | None

    def __init__(self, child: Variable, parents: Iterable[Variable], values: npt.ArrayLike) -> None:
        listed = checked_parents(child, parents)
        who = f"table of {child.name!r}"
        try:
            made = np.array(values, dtype=np.float64, order="C")
        except (TypeError, ValueError):
            raise DataError(f"{who}: values must be an array of numbers") from None
        shape = (*(parent.arity for parent in listed), child.arity)
        if made.shape != shape:
            raise DataError(f"{who}: values must have the shape {shape}, got {made.shape}")
        wrong = wrong_row(made.reshape(-1, child.arity))
        if wrong is not None:
            raise DataError(f"{who}: values{configuration_text(listed, wrong[0])} {wrong[1]}")
        self._set(child, listed, made, None)

    @classmethod
    def of_rows(
        cls,
        child: Variable,
        parents: Iterable[Variable],
        configurations: npt.ArrayLike,
        rows: npt.ArrayLike,
        default: npt.ArrayLike,
    ) -> ConditionalTable:
        """Make a table from some configurations and one row for all others.

        Parameters
        ----------
        child, parents
            As for any table; at least one parent.
        configurations : array of int, shape (m, number of parents)
            Codes of the parents' states, in any order, none twice.
        rows : array of float64, shape (m, child arity)
            The distribution in each of these.
        default : array of float64, shape (child arity,)
            The distribution in every other configuration.

        Raises
        ------
        DataError
            No parent, a shape that does not fit, a code out of range, a configuration listed twice,
            or a row that is no distribution.

        Examples
        --------
        >>> day, wet = Variable("day", tuple(map(str, range(365)))), Variable("wet", ("no", "yes"))
        >>> hour = Variable("hour", tuple(map(str, range(48))))
        >>> table = ConditionalTable.of_rows(wet, (day, hour), [[9, 1]], [[0.9, 0.1]], [0.5, 0.5])
        >>> table
        <ConditionalTable: wet | day, hour, 17,520 parameters, 1 row and one for all others>
        >>> table.row(day="9", hour="1"), table.row(day="9", hour="2")
        (array([0.9, 0.1]), array([0.5, 0.5]))
        """
        listed = checked_parents(child, parents)
        made = checked_rows(child, listed, configurations, rows, default)
        q = prod(made.parent_arities)
        table = cls.__new__(cls)
        if (q > MAX_DENSE_ROWS and 2 * made.n_listed <= q) or len(listed) >= MAX_AXES:
            made.rows.flags.writeable = False
            made.configurations.flags.writeable = False
            table._set(child, listed, None, made)
        else:
            table._set(child, listed, _expanded(made), None)
        return table

    def _set(
        self,
        child: Variable,
        parents: tuple[Variable, ...],
        dense: _Floats | None,
        sparse: SparseTable | None,
    ) -> None:
        if dense is not None and dense.size <= _FEW:
            dense = _shared(dense.tobytes(), dense.shape)
        elif dense is not None:
            dense.flags.writeable = False
        for name, value in zip(self.__slots__, (child, parents, sparse, dense), strict=True):
            object.__setattr__(self, name, value)

    @property
    def n_configurations(self) -> int:
        """Number of configurations of the parents; 1 without parents."""
        return prod(parent.arity for parent in self.parents)

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: configurations times (arity - 1)."""
        return self.n_configurations * (self.child.arity - 1)

    @property
    def values(self) -> _Floats:
        r"""All probabilities, of shape (\*parent arities, child arity).

        A sparse table is written out each time, if that fits in memory.
        """
        if self._dense is not None:
            return self._dense
        assert self.sparse is not None
        who = f"table of {self.child.name!r}"
        if len(self.parents) >= MAX_AXES:
            raise DataError(
                f"{who}: an array can have {MAX_AXES - 1} parents, the table has "
                f"{len(self.parents)}; use its sparse rows"
            )
        n_bytes = min(16 * self.n_configurations * self.child.arity, 1 << 100)
        require_memory(who, "writing out all rows", n_bytes, "use its sparse rows")
        made = _expanded(self.sparse)
        made.flags.writeable = False
        return made

    @property
    def rows(self) -> _Floats:
        """All rows, one per configuration, the last parent running fastest."""
        return self.values.reshape(-1, self.child.arity)

    @property
    def nbytes(self) -> int:
        """Bytes of the numbers in memory."""
        held = self._dense if self.sparse is None else self.sparse
        assert held is not None
        return held.nbytes

    def row(self, /, **states: str) -> _Floats:
        """Return the distribution in one configuration of the parents, each as parent=state.

        Raises
        ------
        DataError
            A parent without a state, or a name that is no parent.
        UnknownNameError
            A state that the parent does not have.
        """
        names = tuple(parent.name for parent in self.parents)
        if set(states) != set(names):
            raise DataError(
                f"table of {self.child.name!r}: a state is needed for each of "
                f"{', '.join(names) or 'no parents'}, got {', '.join(states) or 'none'}"
            )
        return self._at(tuple(parent.code(states[parent.name]) for parent in self.parents))

    def reordered(self, child: Variable, parents: Iterable[Variable]) -> ConditionalTable:
        """Return the same numbers with the parents in another order, found by name.

        The variables may have other cut points.
        """
        listed = tuple(parents)
        place = {parent.name: axis for axis, parent in enumerate(self.parents)}
        axes = [place[parent.name] for parent in listed]
        if self._dense is not None:
            return ConditionalTable(child, listed, self._dense.transpose([*axes, len(axes)]))
        assert self.sparse is not None
        return ConditionalTable.of_rows(
            child,
            listed,
            self.sparse.configurations[:, axes],
            self.sparse.rows[:-1],
            self.sparse.default,
        )

    def _at(self, codes: tuple[int, ...]) -> _Floats:
        if self._dense is not None:
            row: _Floats = self._dense[codes]
            return row
        assert self.sparse is not None
        (position,) = self.sparse.find(np.array([codes], dtype=np.uint16)).tolist()
        return np.asarray(self.sparse.rows[position])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConditionalTable):
            return NotImplemented
        if self.child != other.child or self.parents != other.parents:
            return False
        if self._dense is not None and other._dense is not None:
            return self._dense.tobytes() == other._dense.tobytes()
        if self.sparse is not None and other.sparse is not None:
            # Rows equal to that of all others are not listed, so one content is one list.
            return (
                self.sparse.configurations.tobytes() == other.sparse.configurations.tobytes()
                and self.sparse.rows.tobytes() == other.sparse.rows.tobytes()
            )
        dense, sparse = (self, other) if self.sparse is None else (other, self)
        assert dense._dense is not None
        assert sparse.sparse is not None
        return _is_same(dense._dense, sparse.sparse)

    def __hash__(self) -> int:
        if self._dense is not None and self.n_configurations <= MAX_DENSE_ROWS:
            return hash((self.child, self.parents, self._dense.tobytes()))
        # The same for equal tables, dense or sparse.
        ends = [tuple(0 for _ in self.parents), tuple(p.arity - 1 for p in self.parents)]
        return hash((self.child, self.parents, *(self._at(codes).tobytes() for codes in ends)))

    def __reduce__(self) -> tuple[Any, ...]:  # a plain pickle would make the array writable
        if self.sparse is None:
            return ConditionalTable, (self.child, self.parents, self._dense)
        listed = self.sparse
        parts = (listed.configurations, listed.rows[:-1], listed.default)
        return ConditionalTable.of_rows, (self.child, self.parents, *parts)

    def _table(self) -> Table:
        from bestdag.network.display import conditional_table

        return conditional_table(self)

    def __str__(self) -> str:
        from bestdag.network.display import table_text

        return table_text(self)

    def __repr__(self) -> str:
        condition = (
            " | " + ", ".join(parent.name for parent in self.parents) if self.parents else ""
        )
        size = ""
        if self.sparse is not None:
            size = f", {count_of(self.sparse.n_listed, 'row')} and one for all others"
        return (
            f"<ConditionalTable: {self.child.name}{condition}, "
            f"{count_of(self.n_parameters, 'parameter')}{size}>"
        )


@lru_cache(maxsize=_MOST_SHARED)
def _shared(content: bytes, shape: tuple[int, ...]) -> _Floats:
    """Return the one read-only array with these numbers."""
    return np.frombuffer(content).reshape(shape)


def _expanded(table: SparseTable) -> _Floats:
    values = np.empty((*table.parent_arities, table.arity))
    values[...] = table.default
    values[tuple(table.configurations.T)] = table.rows[:-1]
    return values


def _is_same(dense: _Floats, sparse: SparseTable) -> bool:
    """Whether a dense array holds what a sparse table says, bit for bit."""
    flat = dense.reshape(-1, sparse.arity).view(np.uint64)
    number = np.ravel_multi_index(tuple(sparse.configurations.T), sparse.parent_arities)
    listed, default = sparse.rows[:-1].view(np.uint64), sparse.default.view(np.uint64)
    # Listed rows differ from the default, so counting tells whether all others equal it.
    n_other = int((flat != default).any(axis=1).sum())
    return n_other == sparse.n_listed and np.array_equal(flat[number], listed)
