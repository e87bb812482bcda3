"""A table encoded as it streams by: states first, then codes, to wherever they are kept.

What `encode.build` does with columns in memory is done here without holding them: cells are
counted on the way, and what the counts say about missing values is settled at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bestdag.data.checks import code_type
from bestdag.data.code_batches import Batch, code_batches
from bestdag.data.dataset import Dataset
from bestdag.data.encode import ReadOptions, checked_labels, coding
from bestdag.data.raw import RawColumn
from bestdag.data.scanned_table import ScannedTable
from bestdag.data.schema import Variable
from bestdag.data.settle import (
    fixed_names,
    refuse_missing,
    require_rows_left,
    warn_of_empty_text,
    warn_of_states,
    with_missing_state,
)
from bestdag.data.suspects import marks_among, total_by_mark
from bestdag.data.weight_checks import WeightChecks
from bestdag.errors import DataError

__all__ = ["MemorySink", "Sink", "Streamed", "encode_stream", "read_collapsed"]

_Array = npt.NDArray[Any]


class Sink(Protocol):
    """Where columns of codes and weights go."""

    def begin(self, n_rows: int, types: Sequence[npt.DTypeLike], has_weights: bool) -> None:
        """Prepare for so many rows; 0 where nobody knows how many they will be."""
        ...

    def append(self, columns: Sequence[_Array], weights: _Array | None) -> None:
        """Add rows; weights are float64."""
        ...

    def recode(self, column: int, table: _Array) -> None:
        """Replace each code of a column by the entry of a table."""
        ...

    def make_weights_whole(self) -> None:
        """Keep the weights as int64."""
        ...


@dataclass(frozen=True, slots=True)
class Streamed:
    """What was encoded: variables, the rows of the source and the rows kept, cells by code."""

    variables: tuple[Variable, ...]
    n_source: int
    n_rows: int
    counts: tuple[_Array, ...]
    is_collapsed: bool

    @property
    def missing_counts(self) -> dict[str, int]:
        """Number of missing values of each column that has some."""
        pairs = zip(self.variables, self.counts, strict=True)
        return {v.name: int(c[v.arity]) for v, c in pairs if len(c) > v.arity and c[v.arity]}

    @property
    def notes(self) -> tuple[str, ...]:
        """How far putting equal rows together went."""
        if not self.is_collapsed:
            return ()
        return (f"identical rows combined: {self.n_source:,} rows, {self.n_rows:,} distinct",)


@dataclass(slots=True, eq=False)
class _Tally:
    """Cells by column and code, of all rows or of those without missing values."""

    arities: Sequence[int]
    n_rows: int = 0
    counts: list[_Array] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.counts = [np.zeros(arity + 1, np.int64) for arity in self.arities]

    def add(self, columns: Sequence[_Array], n_equal: _Array | None) -> None:
        self.n_rows += len(columns[0]) if n_equal is None else int(n_equal.sum())
        for counts, codes in zip(self.counts, columns, strict=True):
            # Sums of numbers of rows are exact in float64.
            counts += np.bincount(codes, n_equal, len(counts)).astype(np.int64, copy=False)


def encode_stream(
    table: ScannedTable, options: ReadOptions, sink: Sink, *, collapse: bool | None
) -> Streamed:
    """Encode a table into a sink; None lets a sample decide whether equal rows are put together.

    Refusals and warnings are those of `encode.build`.
    """
    duck, fields, weight = table.scanned()
    n_source, keys = duck.distinct_texts(fields, options)
    given = table.given_weights(n_source)
    columns = [
        RawColumn(
            f.name, [f.value(key) for key in k], np.broadcast_to(np.uint8(0), n_source), f.declared
        )
        for f, k in zip(fields, keys, strict=True)
    ]
    labels = checked_labels(columns, options)
    codings = [coding(c, texts, options) for c, texts in zip(columns, labels, strict=True)]
    if given is not None and collapse:
        raise DataError(
            f"read: {options.source}: identical rows are combined by a column of weights, got an "
            f"array; leave out collapse"
        )
    if collapse is None:
        collapse = table.may_collapse()
    has_weights = weight is not None or given is not None
    checks = WeightChecks(duck, weight, options) if has_weights else None
    most = 0 if collapse else n_source  # how many are different, nobody knows
    sink.begin(most, [codes.dtype for _, codes in codings], has_weights or collapse)
    variables = [variable for variable, _ in codings]
    seen, kept = _Tally([v.arity for v in variables]), _Tally([v.arity for v in variables])
    n_rows = start = 0
    has_weight = False
    batches = code_batches(duck, fields, keys, weight, options, collapse=collapse)
    with closing(batches):  # whatever comes next asks DuckDB again
        for batch in batches:
            coded = [t.take(c, mode="clip") for (_, t), c in zip(codings, batch.codes, strict=True)]
            weights = _weights(batch, given, start, len(coded[0]))
            if checks is not None and weights is not None and not checks.add(weights, start):
                break
            start += len(coded[0])
            seen.add(coded, batch.n_equal)
            if options.missing == "drop":
                whole = _complete(coded, variables)
                coded = [codes[whole] for codes in coded]
                n_equal = None if batch.n_equal is None else batch.n_equal[whole]
                weights = None if weights is None else weights[whole]
                kept.add(coded, n_equal)
            n_rows += len(coded[0])
            has_weight = has_weight or weights is None or bool((weights > 0).any())
            sink.append(coded, weights)
    if checks is not None:
        checks.refuse_wrong()
    if seen.n_rows != n_source:
        raise DataError(f"read: {options.source} changed while it was read; read a copy of it")
    if (checks is None and collapse) or (checks is not None and checks.are_whole()):
        sink.make_weights_whole()
    warn_of_empty_text(columns, variables, options)
    settled, counts = _settle(columns, variables, seen, kept, options, sink)
    if not has_weight:
        raise DataError(f"read: {options.source}: the rows without missing values have no weight")
    by_name = {v.name: c for v, c in zip(settled, counts, strict=True)}
    warn_of_states(columns, settled, lambda v, code: int(by_name[v.name][code]), options)
    return Streamed(tuple(settled), n_source, n_rows, tuple(counts), collapse)


def _weights(batch: Batch, given: _Array | None, start: int, n: int) -> _Array | None:
    if given is not None:
        return np.asarray(given[start : start + n], np.float64)
    if batch.weights is not None or batch.n_equal is None:
        return batch.weights
    return batch.n_equal.astype(np.float64)


def _complete(coded: Sequence[_Array], variables: Sequence[Variable]) -> npt.NDArray[np.bool_]:
    complete = np.ones(len(coded[0]), np.bool_)
    for codes, variable in zip(coded, variables, strict=True):
        complete &= codes != variable.arity
    return complete


def _settle(
    columns: Sequence[RawColumn],
    variables: Sequence[Variable],
    seen: _Tally,
    kept: _Tally,
    options: ReadOptions,
    sink: Sink,
) -> tuple[list[Variable], list[_Array]]:
    """Do what was asked about missing values; return the variables and the cells by code."""
    pairs = list(zip(variables, seen.counts, strict=True))
    holes = {v.name: int(counts[v.arity]) for v, counts in pairs if counts[v.arity]}
    if not holes or options.missing == "keep":
        return list(variables), seen.counts
    if options.missing == "error":
        by_name = {v.name: counts for v, counts in pairs}
        known = fixed_names(columns, variables) | options.states.keys()
        marked = marks_among(variables, lambda v, code: int(by_name[v.name][code]), known)
        raise refuse_missing(holes, total_by_mark(marked), options)
    made: list[Variable] = []
    counted: list[_Array] = []
    if options.missing == "drop":
        require_rows_left(seen.n_rows, kept.n_rows, holes, options)
    fixed = fixed_names(columns, variables) | options.states.keys()
    for i, variable in enumerate(variables):
        if options.missing == "drop":
            fresh, table = _as_seen(variable, kept.counts[i], variable.name in fixed)
            before = kept.counts[i]
        else:
            is_named = variable.name in holes
            fresh = with_missing_state(variable, options) if is_named else variable
            last = fresh.arity - 1 if is_named else fresh.arity
            table = np.minimum(np.arange(variable.arity + 1), last)
            before = seen.counts[i]
        kind = code_type(fresh.arity)
        if kind is not code_type(variable.arity) or (table != np.arange(len(table))).any():
            sink.recode(i, table.astype(kind))
        counted.append(
            np.bincount(table, before, max(len(table), fresh.arity + 1)).astype(np.int64)
        )
        made.append(fresh)
    return made, counted


def _as_seen(variable: Variable, counts: _Array, is_fixed: bool) -> tuple[Variable, _Array]:
    """Leave out states that no row shows any more, unless they were declared."""
    table = np.arange(variable.arity + 1)
    shown = np.flatnonzero(counts[: variable.arity])
    if is_fixed or len(shown) == variable.arity:
        return variable, table
    fresh = Variable(variable.name, tuple(variable.states[code] for code in shown))
    table[:] = len(shown)
    table[shown] = np.arange(len(shown))
    return fresh, table


class MemorySink:
    """Columns in memory."""

    def __init__(self) -> None:
        self._parts: list[list[_Array]] = []
        self._weights: list[_Array] = []
        self.columns: list[_Array] = []

    def begin(self, n_rows: int, types: Sequence[npt.DTypeLike], has_weights: bool) -> None:
        """Begin with no rows."""
        self._parts = [[] for _ in types]

    def append(self, columns: Sequence[_Array], weights: _Array | None) -> None:
        """Keep rows."""
        for part, column in zip(self._parts, columns, strict=True):
            part.append(column)
        if weights is not None:
            self._weights.append(weights)

    def recode(self, column: int, table: _Array) -> None:
        """Replace codes."""
        self._parts[column] = [table[codes] for codes in self._parts[column]]

    def make_weights_whole(self) -> None:
        """Keep the weights as int64."""
        self._weights = [weights.astype(np.int64) for weights in self._weights]

    def dataset(self, streamed: Streamed) -> Dataset:
        """Return what was kept."""
        columns = [np.concatenate(part) for part in self._parts]
        weights = np.concatenate(self._weights) if self._weights else None
        return Dataset._adopt(streamed.variables, columns, weights)


def read_collapsed(table: ScannedTable, options: ReadOptions) -> tuple[Dataset, Streamed]:
    """Read a table into memory with equal rows put together, and say how far that went."""
    sink = MemorySink()
    found = encode_stream(table, options, sink, collapse=True)
    return sink.dataset(found), found
