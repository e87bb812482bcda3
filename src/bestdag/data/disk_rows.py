"""`Scan`: a Dataset whose columns are mapped files."""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TextIO

import numpy as np
import numpy.typing as npt

from bestdag.data.dataset import Dataset
from bestdag.data.schema import Variable
from bestdag.errors import DataError, InvalidParameterError
from bestdag.machine import require_memory

if TYPE_CHECKING:
    from bestdag.counts.provider import CountProvider

__all__ = ["Scan"]

_Array = npt.NDArray[Any]
# Rows that are compared, or looked through, at a time.
_BLOCK = 1 << 20


class Scan(Dataset):
    """A table of discrete data whose codes lie on disk; what `bestdag.scan` returns.

    What works on a Dataset works on it, within the memory limit. `codes` gives a mapped array,
    whose pages the system loads and drops as it needs. Choosing columns or a range of rows stays on
    disk; other choices of rows are copied to memory, if they fit. Exports and EM are refused.

    Attributes
    ----------
    memory_limit : float or str or None
        What reading was allowed to take.
    n_source : int or None
        Rows of the source, where equal ones were put together.
    notes : tuple of str
        How far putting equal rows together went, if that was done.
    """

    __slots__ = ("_block_rows", "_folder", "memory_limit", "n_source", "notes")

    _block_rows: int | None
    _folder: Path | None
    memory_limit: float | str | None
    n_source: int | None
    notes: tuple[str, ...]

    @classmethod
    def _mapped(
        cls,
        variables: Iterable[Variable],
        columns: Iterable[_Array],
        weights: _Array | None,
        *,
        missing: Mapping[str, int] | None,
        notes: tuple[str, ...],
        n_source: int | None,
        folder: Path | None,
        block_rows: int | None,
    ) -> Scan:
        made = cls.__new__(cls)
        made._fill(tuple(variables), list(columns), weights)
        made._missing = None if missing is None else dict(missing)
        made.notes = notes
        made.n_source = n_source
        made.memory_limit = None
        made._folder = folder
        made._block_rows = block_rows
        return made

    @property
    def rows_in(self) -> Literal["disk"]:
        """Where the rows are."""
        return "disk"

    @property
    def folder(self) -> Path | None:
        """The folder with the codes; None where it is gone with the scan."""
        return self._folder

    @property
    def block_rows(self) -> int | None:
        """Rows that are counted at a time; None leaves it to the memory limit."""
        return self._block_rows

    def count_provider(self, threads: int) -> CountProvider:
        """Return who counts the families of these rows."""
        blocks = importlib.import_module("bestdag.counts.blocks")  # by name: a stage above
        ordered = tuple(sorted(self.variables, key=lambda variable: variable.name))
        columns = [self.codes(variable.name) for variable in ordered]
        provider: CountProvider = blocks.BlockCounts(
            ordered,
            columns,
            self.weights,
            self._block_rows,
            threads,
            missing=tuple(self.missing_counts),
        )
        return provider

    def remove_cache(self) -> None:
        """Remove the folder with the codes; what is open stays readable."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def in_memory(self, who: str) -> NoReturn:
        """Refuse."""
        raise InvalidParameterError(
            f"{who}: the rows of a scan stay on disk; read the table with read"
        ).with_option(f"{who}: the rows stay on disk; pass --rows-in memory")

    # Cells

    def missing(self, name: str) -> npt.NDArray[np.bool_]:
        """Which cells of a column are missing: one byte per row, in memory."""
        self._require(name)
        _require_memory(f"a byte for each of {self.n_rows:,} rows", self.n_rows)
        return super().missing(name)

    # Parts

    def select(
        self, columns: str | Iterable[str] | None = None, rows: Any | None = None
    ) -> Dataset:
        """Take some columns, some rows, or both: on disk, if the rows are all or a range."""
        names = [columns] if isinstance(columns, str) else columns
        chosen = self.variables if names is None else tuple(self.variable(n) for n in names)
        is_range = rows is None or (isinstance(rows, slice) and rows.step in (None, 1))
        if is_range and chosen:
            where = slice(None) if rows is None else rows
            found = len(range(*where.indices(self.n_rows)))
            if found:
                return self._view(chosen, where, is_whole=found == self.n_rows)
        if rows is not None:
            n_most = self.n_rows if isinstance(rows, slice) else len(rows)
            self._require_room(f"choosing among {self.n_rows:,} rows", n_most)
        return super().select(None if names is None else list(names), rows)

    def _view(self, variables: Sequence[Variable], where: slice, *, is_whole: bool) -> Scan:
        columns = [self.codes(v.name)[where] for v in variables]
        if is_whole:
            missing = {v.name: n for v in variables if (n := self.missing_counts.get(v.name))}
        else:
            pairs = zip(variables, columns, strict=True)
            counted = {v.name: _count(column, v.arity) for v, column in pairs}
            missing = {name: n for name, n in counted.items() if n}
        weights = None if self.weights is None else self.weights[where]
        if weights is not None and not _has_weight(weights):
            raise DataError("select: the rows chosen have no weight")
        found = Scan._mapped(
            variables,
            columns,
            weights,
            missing=missing,
            notes=self.notes,
            n_source=self.n_source,
            folder=self._folder,
            block_rows=self._block_rows,
        )
        found.memory_limit = self.memory_limit
        return found

    def split(self, fraction: float, *, seed: int = 0) -> tuple[Dataset, Dataset]:
        """Divide the rows at random, as `Dataset.split` does, if they fit into memory."""
        self._require_room(f"dividing {self.n_rows:,} rows at random", self.n_rows, more=17)
        return super().split(fraction, seed=seed)

    def with_states(self, states: Mapping[str, Sequence[str]]) -> Dataset:
        """Declare other states, as `Dataset.with_states` does, if the rows fit into memory."""
        self._require_room(f"other codes for {self.n_rows:,} rows", self.n_rows)
        return super().with_states(states)

    def _require_room(self, what: str, n_rows: int, more: int = 0) -> None:
        n_bytes = sum(self.codes(name).itemsize for name in self.names) + more
        n_bytes += 0 if self.weights is None else 8
        _require_memory(what, float(n_rows) * n_bytes)

    # Out

    def to_pandas(self, *, weights: str = "weight") -> NoReturn:
        """Refuse: a frame would hold all rows."""
        raise _no_export("to_pandas")

    def to_polars(self, *, weights: str = "weight") -> NoReturn:
        """Refuse: a frame would hold all rows."""
        raise _no_export("to_polars")

    def to_arrow(self, *, weights: str = "weight") -> NoReturn:
        """Refuse: a table would hold all rows."""
        raise _no_export("to_arrow")

    def to_csv(self, path: str | Path | TextIO, *, weights: str = "weight") -> NoReturn:
        """Refuse: the file that was scanned has the rows."""
        raise _no_export("to_csv")

    # As a Python value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dataset):
            return NotImplemented
        if self is other:
            return True
        if self.variables != other.variables or self.n_rows != other.n_rows:
            return False
        if (self.weights is None) != (other.weights is None):
            return False
        mine = [self.codes(name) for name in self.names]
        theirs: list[_Array] = [other.codes(name) for name in self.names]
        if self.weights is not None and other.weights is not None:
            mine, theirs = [*mine, self.weights], [*theirs, other.weights]  # type: ignore[list-item]
        return all(_are_equal(*pair) for pair in zip(mine, theirs, strict=True))

    __hash__ = Dataset.__hash__

    def __reduce__(self) -> NoReturn:
        raise InvalidParameterError(
            "scan: rows on disk are not sent to another process; scan there, with the same cache="
        )

    def __repr__(self) -> str:
        return f"Scan{super().__repr__().removeprefix('Dataset')}"


def _require_memory(what: str, n_bytes: float) -> None:
    remedy = "raise the memory limit, or take a range of rows with select(rows=slice(...))"
    require_memory("scan", what, n_bytes, remedy, option="raise --memory-limit, or use --collapse")


def _no_export(what: str) -> InvalidParameterError:
    return InvalidParameterError(
        f"{what}: the rows of a scan stay on disk; read the table with read to export it"
    )


def _are_equal(one: _Array, other: _Array) -> bool:
    starts = range(0, len(one), _BLOCK)
    return all(np.array_equal(one[i : i + _BLOCK], other[i : i + _BLOCK]) for i in starts)


def _count(codes: _Array, code: int) -> int:
    starts = range(0, len(codes), _BLOCK)
    return sum(int(np.count_nonzero(codes[i : i + _BLOCK] == code)) for i in starts)


def _has_weight(weights: _Array) -> bool:
    starts = range(0, len(weights), _BLOCK)
    return any(bool((weights[i : i + _BLOCK] > 0).any()) for i in starts)
