"""From distinct values to codes: states, limits, missing values, weights, and what is said of them.

Every source ends here and every sink begins here, in three steps. `plan` decides from the distinct
values of columns what their states are. `encode_rows` translates rows into a sink and counts them.
`resolve_missing` says from these counts what becomes of missing values. Only the second step needs
rows: on a cluster each worker does it for its own, and the first and last are done once.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.data.checks import as_weights, code_type, wrong_weight
from bestdag.data.discretization.cuts import labelled_variable
from bestdag.data.labels import is_absent, is_broken, label_all, sorted_states
from bestdag.data.missing import MissingStrategy, MissingValues, recoding
from bestdag.data.schema import Variable
from bestdag.data.settings import ABSENT, ReadOptions
from bestdag.data.sources.base import Batch, RawColumn, weight_error
from bestdag.data.warnings import (
    RefusedColumnError,
    count_marks,
    fixed_names,
    total_by_mark,
    warn_of_empty_text,
    warn_of_states,
)
from bestdag.errors import DataError, unknown_name
from bestdag.wording import arg, by_reader

__all__ = [
    "Encoded",
    "Plan",
    "Resolved",
    "Sink",
    "Tally",
    "WeightColumn",
    "coded_column",
    "encode",
    "encode_rows",
    "labels_of",
    "plan",
    "resolve_missing",
    "translated",
    "warn_of_resolved",
    "whole_weights",
]

_Array = npt.NDArray[Any]
_BLOCK = 1 << 18


class Sink(Protocol):
    """Where columns of codes and weights go: memory, a folder, the workers of a cluster.

    The order of calls is `begin`, any number of `append`, then `recode` for columns whose codes
    change with the strategy for missing values, and `make_weights_whole` if no weight has a
    fraction.
    """

    def begin(self, n_rows: int, types: Sequence[npt.DTypeLike], has_weights: bool) -> None:
        """Prepare for columns of these types and `n_rows` rows; 0 where that is not known yet."""
        ...

    def append(self, columns: Sequence[_Array], weights: _Array | None) -> None:
        """Add rows: codes for each column, which the sink may keep; weights are float64."""
        ...

    def recode(self, column: int, table: _Array) -> None:
        """Replace each code c of a column, in all rows so far, by ``table[c]``."""
        ...

    def make_weights_whole(self) -> None:
        """Keep the weights as int64."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What the values of columns become: variables, and for each the codes of its positions.

    The last of these codes is that of a missing value. It travels to workers without columns.
    """

    variables: tuple[Variable, ...]
    tables: tuple[_Array, ...]
    missing: MissingStrategy

    @property
    def arities(self) -> list[int]:
        """Number of states of each column."""
        return [variable.arity for variable in self.variables]


@dataclass(frozen=True, slots=True)
class WeightColumn:
    """The column of row weights: its name, and what it has in a row, for messages."""

    name: str
    cell: Callable[[int], Any]


@dataclass(slots=True, eq=False)
class Tally:
    """What was counted while rows were encoded; tallies of parts of a table add up.

    `seen` are numbers of values by column and code, of all rows, and `left` those of the rows that
    went into the sink; `n_seen` and `n_left` are their rows, and `n_held` those that the sink has,
    where equal ones may be one.
    """

    seen: list[_Array]
    left: list[_Array]
    n_seen: int = 0
    n_left: int = 0
    n_held: int = 0
    total_weight: float = 0.0
    left_weight: float = 0.0
    has_whole_weights: bool = True

    @classmethod
    def of(cls, plan: Plan) -> Tally:
        """Return a tally of no rows."""
        seen = [np.zeros(arity + 1, np.int64) for arity in plan.arities]
        left = [np.zeros_like(one) for one in seen] if plan.missing.drops_rows else seen
        return cls(seen, left)

    def add(self, other: Tally) -> None:
        """Add the counts of other rows."""
        is_one = self.left is self.seen
        for mine, theirs in zip(self.seen, other.seen, strict=True):
            mine += theirs
        if not is_one:
            for mine, theirs in zip(self.left, other.left, strict=True):
                mine += theirs
        self.n_seen += other.n_seen
        self.n_left += other.n_left
        self.n_held += other.n_held
        self.total_weight += other.total_weight
        self.left_weight += other.left_weight
        self.has_whole_weights = self.has_whole_weights and other.has_whole_weights


@dataclass(frozen=True, slots=True, eq=False)
class Resolved:
    """What becomes of missing values: variables, tables for codes that change, counts by code."""

    variables: tuple[Variable, ...]
    tables: dict[int, _Array]
    counts: tuple[_Array, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """What was encoded: variables, the rows of the source and the rows kept, values by code."""

    variables: tuple[Variable, ...]
    n_source: int
    n_rows: int
    counts: tuple[_Array, ...]
    is_collapsed: bool = False

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


def encode(
    columns: Sequence[RawColumn],
    batches: Callable[[], Generator[Batch, None, None]],
    n_source: int,
    options: ReadOptions,
    sink: Sink,
    *,
    has_weights: bool = False,
    weight: WeightColumn | None = None,
    is_collapsed: bool = False,
    cuts_are_chosen: bool = False,
) -> Encoded:
    """Encode rows into a sink, or refuse with one line that says what is wrong.

    Parameters
    ----------
    columns : list of RawColumn
        With all distinct values; codes come in the batches.
    batches : callable
        Returns the rows, once the states are known.
    n_source : int
        Rows of the source.
    weight : WeightColumn, optional
        Where the weights in the batches are from, if from a column.
    cuts_are_chosen : bool, default False
        Columns of decimals are warned of, unless it was chosen which ones are cut.
    """
    who = f"read: {options.source}"
    if not columns:
        raise DataError(f"{who} has no columns to read")
    if n_source == 0:
        raise DataError(f"{who} has no rows")
    chosen = plan(columns, options, n_source)
    sink.begin(
        0 if is_collapsed else n_source,  # how many are different is not known yet
        [table.dtype for table in chosen.tables],
        has_weights or is_collapsed,
    )
    known = None if is_collapsed else _known_counts(columns, chosen)
    with closing(batches()) as rows:  # later passes open the source again
        tally = encode_rows(chosen, rows, sink, options, weight, known)
    if tally.n_seen != n_source:
        raise DataError(f"{who} changed while it was read; read a copy of it")
    if whole_weights(tally, options) if has_weights else is_collapsed:
        sink.make_weights_whole()
    warn_of_empty_text(columns, chosen.variables, options)
    resolved = resolve_missing(columns, chosen, tally, options)
    if has_weights and tally.left_weight == 0:
        raise DataError(f"{who}: the rows without missing values have no weight")
    for number, table in resolved.tables.items():
        sink.recode(number, table)
    warn_of_resolved(columns, resolved, options, cuts_are_chosen=cuts_are_chosen)
    return Encoded(resolved.variables, n_source, tally.n_held, resolved.counts, is_collapsed)


def plan(columns: Sequence[RawColumn], options: ReadOptions, n_rows: int) -> Plan:
    """Decide what the states of columns are; refuse those with too many distinct values or none."""
    labels = [labels_of(column, options) for column in columns]
    limits = options.limits({column.name: column.declared for column in columns})
    limits.refuse(
        {c.name: len(set(t) - options.absent) for c, t in zip(columns, labels, strict=True)},
        (),
        dict(zip((c.name for c in columns), labels, strict=True)).__getitem__,
    )
    pairs = [_coding(c, texts, options, n_rows) for c, texts in zip(columns, labels, strict=True)]
    return Plan(tuple(v for v, _ in pairs), tuple(t for _, t in pairs), options.missing)


def encode_rows(
    plan: Plan,
    batches: Iterable[Batch],
    sink: Sink,
    options: ReadOptions,
    weight: WeightColumn | None = None,
    known: list[_Array] | None = None,
) -> Tally:
    """Translate rows into a sink, except where the strategy for missing values drops them.

    `known` are the counts of values by column and code, where the source has counted them.
    """
    tally = Tally.of(plan)
    start = 0
    for batch in batches:
        for i, table in enumerate(plan.tables):  # in place of what is not needed any more
            batch.codes[i] = translated(table, batch.codes[i])
        codes, n_equal, weights = batch.codes, batch.n_equal, batch.weights
        n_rows = len(codes[0])
        if weights is not None:
            _require_weights(weights, start, options, weight)
            tally.total_weight += float(weights.sum())
            tally.has_whole_weights &= bool(np.all(weights == np.floor(weights)))
        elif n_equal is not None:
            weights = n_equal.astype(np.float64)
        start += n_rows
        if known is None:
            _count(tally.seen, codes, n_equal)
        tally.n_seen += n_rows if n_equal is None else int(n_equal.sum())
        if plan.missing.drops_rows:
            complete = np.ones(n_rows, np.bool_)
            for column, arity in zip(codes, plan.arities, strict=True):
                complete &= column != arity
            if not complete.all():
                codes = [column[complete] for column in codes]
                n_equal = None if n_equal is None else n_equal[complete]
                weights = None if weights is None else weights[complete]
            _count(tally.left, codes, n_equal)
            tally.n_left += len(codes[0]) if n_equal is None else int(n_equal.sum())
        if weights is not None:
            tally.left_weight += float(weights.sum())
        tally.n_held += len(codes[0])
        sink.append(codes, weights)
    for counts, others in zip(tally.seen, known or (), strict=False):
        counts += others
    if not plan.missing.drops_rows:
        tally.n_left = tally.n_seen
    return tally


def resolve_missing(
    columns: Sequence[RawColumn], plan: Plan, tally: Tally, options: ReadOptions
) -> Resolved:
    """Do what was asked about missing values, from the counts alone."""
    variables, strategy = plan.variables, plan.missing
    pairs = list(zip(variables, tally.seen, strict=True))
    missing = {v.name: int(counts[v.arity]) for v, counts in pairs if counts[v.arity]}
    if not missing:
        return Resolved(variables, {}, tuple(tally.seen))
    fixed = fixed_names(columns, variables) | options.states.keys()
    by_name = {v.name: counts for v, counts in pairs}
    marks = count_marks(variables, lambda v, code: int(by_name[v.name][code]), fixed)
    strategy.check(
        MissingValues(missing, tally.n_seen, tally.n_left, total_by_mark(marks)), options
    )
    made, tables, counted = [], {}, []
    for i, (old, shown) in enumerate(zip(variables, tally.left, strict=True)):
        new = strategy.variable(old, shown, old.name in fixed, options)
        table = recoding(old, new, old.name in missing, strategy)
        if table is not None:
            tables[i] = table
            shown = np.bincount(table, shown, max(len(table), new.arity + 1)).astype(np.int64)
        elif new is not old:  # a state for what had its code already
            shown = np.append(shown, 0)
        made.append(new)
        counted.append(shown)
    return Resolved(tuple(made), tables, tuple(counted))


def warn_of_resolved(
    columns: Sequence[RawColumn],
    resolved: Resolved,
    options: ReadOptions,
    *,
    cuts_are_chosen: bool = False,
) -> None:
    """Warn of states that are worth a look, by their counts."""
    by_name = {v.name: c for v, c in zip(resolved.variables, resolved.counts, strict=True)}
    warn_of_states(
        columns,
        resolved.variables,
        lambda variable, code: int(by_name[variable.name][code]),
        options,
        cuts_are_chosen=cuts_are_chosen,
    )


def whole_weights(tally: Tally, options: ReadOptions) -> bool:
    """Whether all weights are whole numbers; refuse a sum that is zero or too large."""
    kind = np.array([tally.total_weight, 0.0 if tally.has_whole_weights else 0.5])
    return as_weights(kind, who=f"read: {options.source}").dtype == np.int64


def coded_column(column: RawColumn, options: ReadOptions) -> tuple[Variable, _Array]:
    """Return what one whole column would become, which stays as it is."""
    chosen = plan([column], options, len(column.codes))
    return chosen.variables[0], translated(chosen.tables[0], column.codes, is_ours=False)


def labels_of(column: RawColumn, options: ReadOptions) -> list[str]:
    """Return the texts of the distinct values; `ABSENT` where there is no value."""
    who = f"read: {options.source}: column {column.name!r}"
    present = [value for value in column.values if not is_absent(value)]
    texts = label_all(present)
    if texts is None:
        example = next(value for value in present if label_all([value]) is None)
        raise DataError(
            f"{who} holds {type(example).__name__} values; "
            f"text, numbers, booleans or dates are needed"
        )
    if any("\0" in text for text in texts):
        raise DataError(f"{who} has a value with a NUL character, which no file format keeps")
    broken = next((text for text in texts if not text.isascii() and is_broken(text)), None)
    if broken is not None:
        raise DataError(f"{who} has a value that is not valid text: {broken!r}")
    if len(present) == len(column.values):
        return texts
    labels = iter(texts)
    return [ABSENT if is_absent(value) else next(labels) for value in column.values]


def _coding(
    column: RawColumn, texts: list[str], options: ReadOptions, n_rows: int
) -> tuple[Variable, _Array]:
    """Return the variable of a column, and the codes of its distinct values; the last for none."""
    absent = options.absent
    seen = [text for text in texts if text not in absent]
    intervals = _intervals(column, seen, options)
    states = _states(column, seen, options, n_rows) if intervals is None else intervals.states
    place = {state: code for code, state in enumerate(states)}
    table = np.full(len(texts) + 1, len(states), dtype=code_type(len(states)))
    for code, text in enumerate(texts):
        if text in place:
            table[code] = place[text]
        elif text not in absent:
            raise unknown_name(
                f"value in column {column.name!r}:", text, states, who=f"read: {options.source}"
            )
    variable = Variable(column.name, states) if intervals is None else intervals
    if column.variable is not None and column.variable.states == states:
        variable = column.variable
    return variable, table


def _intervals(column: RawColumn, seen: list[str], options: ReadOptions) -> Variable | None:
    """Return the variable with cut points whose intervals a column holds, as `discretize` wrote it.

    States that were declared stay as they were declared.
    """
    if column.name in options.states or column.declared is not None:
        return None
    if not any(text == "all" or text.startswith("<=") for text in seen):
        return None
    return labelled_variable(column.name, set(seen))


def _states(
    column: RawColumn, seen: list[str], options: ReadOptions, n_rows: int
) -> tuple[str, ...]:
    if column.name in options.states:
        return options.states[column.name]
    if column.declared is not None:
        declared = tuple(
            s for s in dict.fromkeys(column.declared) if s not in options.missing_values
        )
        if declared:
            return declared
    if seen and column.has_fixed_states:
        return ("False", "True")
    if not seen:
        raise RefusedColumnError(
            f"read: {options.source}: column {column.name!r} has no values, all {n_rows:,} values "
            f"are missing; leave it out with {arg('drop')}"
            f"{by_reader(', or declare its states', '')}"
        )
    return sorted_states(seen)


def translated(table: _Array, codes: _Array, *, is_ours: bool = True) -> _Array:
    """Return the entries of a table at codes; past the end is the last. Ours are overwritten."""
    if codes.dtype == table.dtype:
        whole = np.full(np.iinfo(table.dtype).max + 1, table[-1])
        whole[: len(table)] = table
        out = codes if is_ours and codes.flags.writeable else codes.copy()
        if out.flags.c_contiguous:
            _core.recode(out, whole)
            return out
    out = np.empty(len(codes), dtype=table.dtype)
    # Block by block: numpy indexes through 64-bit copies, eight times the size of the codes.
    for start in range(0, len(codes), _BLOCK):
        out[start : start + _BLOCK] = table.take(codes[start : start + _BLOCK], mode="clip")
    return out


def _known_counts(columns: Sequence[RawColumn], plan: Plan) -> list[_Array] | None:
    """Return the counts by code, where the source has counted all distinct values."""
    counts = []
    for column, table, arity in zip(columns, plan.tables, plan.arities, strict=True):
        if column.counts is None:
            return None
        counts.append(np.bincount(table, column.counts, arity + 1).astype(np.int64))
    return counts


def _count(counts: Sequence[_Array], codes: Sequence[_Array], n_equal: _Array | None) -> None:
    """Add values by code."""
    for total, column in zip(counts, codes, strict=True):
        for start in range(0, len(column), _BLOCK):
            rows = slice(start, start + _BLOCK)
            heavy = None if n_equal is None else n_equal[rows]
            # Sums of numbers of rows are exact in float64.
            total += np.bincount(column[rows], heavy, len(total)).astype(np.int64, copy=False)


def _require_weights(
    weights: _Array, start: int, options: ReadOptions, column: WeightColumn | None
) -> None:
    """Refuse the first weight that is none, with its row."""
    row = wrong_weight(weights)
    if row is None:
        return
    if column is not None and np.isnan(weights[row]):
        raise weight_error(options.source, column.name, column.cell(start + row), start + row)
    raise DataError(
        f"read: {options.source}: weights must be finite numbers >= 0, got {weights[row]} in row "
        f"{start + row + 1:,}"
    )
