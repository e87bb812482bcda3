"""From raw columns to codes: what is learned from training data and applied to any."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bestdag.data.checks import code_type
from bestdag.data.dataset import Dataset
from bestdag.data.discretization import METHODS
from bestdag.data.discretization.base import Method
from bestdag.data.discretization.cuts import apply_cuts, cut_between, cut_variable
from bestdag.data.labels import is_absent
from bestdag.data.schema import DEFAULT_MAX_STATES, MAX_ARITY, Variable
from bestdag.errors import DataError, InvalidParameterError, require_count
from bestdag.registry import make

__all__ = ["CodedTable", "Coding", "Column", "Target"]

Codes = npt.NDArray[Any]

# A whole-number column whose values span less than this is counted in an array.
_MAX_SPAN = 1 << 20
# Whole numbers up to here are exact as floats; beyond, those that round to one float are equal.
_MAX_EXACT = 1 << 53


class Column(Protocol):
    """A column as it was seen in training."""

    @property
    def variable(self) -> Variable:
        """Its name and states."""
        ...

    def codes(self, raw: npt.NDArray[Any], *, ignore_unknown: bool) -> Codes:
        """Return the codes of a raw column; the code of a missing cell is the arity."""
        ...


@dataclass(frozen=True, slots=True)
class Target:
    """The classes of the training rows: what they are, codes, and row weights."""

    variable: Variable
    codes: Codes
    weights: npt.NDArray[Any] | None = None


@dataclass(frozen=True, slots=True)
class CodedTable:
    """Training rows as codes, and what was learned about their columns."""

    columns: tuple[Column, ...]
    target: Variable
    dataset: Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class Coding:
    """How raw columns become discrete ones.

    Numbers become intervals: those of `method`, or one around each value where the values are few
    and whole. Text, truth values and declared categories keep their values as states.

    Parameters
    ----------
    method : {"fayyad_irani", "quantile", "uniform"} or Method, default "fayyad_irani"
        Where numbers are cut.
    bins : int, optional
        How many intervals, for the methods that are told.
    max_values : int, default 20
        A number column with at most so many different values, all whole, keeps them as states; a
        number that was not seen in training counts as the nearest one.
    max_states : int, default 50
        Most different values of a text column; declared values are no surprise, however many.
    """

    method: str | Method = "fayyad_irani"
    bins: int | None = None
    max_values: int = 20
    max_states: int = DEFAULT_MAX_STATES

    def __post_init__(self) -> None:
        require_count("classifier", "max_values", self.max_values)
        require_count("classifier", "max_states", self.max_states, minimum=1)
        self.make_method()

    def make_method(self) -> Method:
        """Return the method with its settings."""
        settings = {} if self.bins is None else {"bins": self.bins}
        if not isinstance(self.method, str):
            if not hasattr(self.method, "cuts") or isinstance(self.method, type):
                raise InvalidParameterError(
                    f"classifier: method must be one of {', '.join(METHODS)} or have cuts(values), "
                    f"got {self.method!r:.60}"
                )
            if settings:
                raise InvalidParameterError(
                    f"classifier: {self.method!r} has its settings already, got bins too"
                )
            return self.method
        method: Method = make("method", self.method, METHODS, {}, settings)
        return method

    def code(
        self,
        columns: Mapping[str, npt.NDArray[Any]],
        target: Target,
        declared: Mapping[str, tuple[Any, ...]] | None = None,
    ) -> CodedTable:
        """Learn every column from training rows, and give their codes.

        `declared` has the values of columns that are known to have these and no others.
        """
        if not columns:
            raise DataError("classifier: at least one attribute beside the class is needed")
        if target.variable.name in columns:
            raise DataError(
                f"classifier: the class {target.variable.name!r} is among the attributes"
            )
        known = declared or {}
        learned = [self._learn(name, raw, target, known.get(name)) for name, raw in columns.items()]
        codes = [
            column.codes(raw, ignore_unknown=False)
            for column, raw in zip(learned, columns.values(), strict=True)
        ]
        variables = [*(column.variable for column in learned), target.variable]
        dataset = Dataset(variables, [*codes, target.codes], target.weights)
        return CodedTable(tuple(learned), target.variable, dataset)

    def _learn(
        self, name: str, raw: npt.NDArray[Any], target: Target, states: tuple[Any, ...] | None
    ) -> Column:
        if states is not None:
            return _Values.of(name, states)
        if raw.dtype.kind in "iuf":
            _require_complete(name, np.isnan(raw) if raw.dtype.kind == "f" else None)
            values = _few_whole_numbers(raw, self.max_values)
            if values is not None:
                return _Intervals(_each_its_own(name, values))
            return _Intervals(cut_variable(name, self._cuts(raw, target).tolist()))
        if raw.dtype.kind == "b":
            return _Values.of(name, (False, True))
        seen = dict.fromkeys(_listed(raw))
        _require_complete(name, np.array([is_absent(value) for value in seen]))
        if len(seen) > self.max_states:
            what = f"column {name!r}: has {len(seen):,} different values in the training data"
            raise DataError(
                f"{what}, more than max_states={self.max_states:,}; leave it out, declare its "
                "categories, make it a number column if it holds numbers, or raise max_states"
            ).with_option(
                f"{what}, more than --max-states {self.max_states}; leave it out with --drop, or "
                "raise --max-states"
            )
        return _Values.of(name, tuple(sorted(seen, key=_sorting)))

    def _cuts(self, raw: npt.NDArray[Any], target: Target) -> npt.NDArray[np.float64]:
        method = self.make_method()
        values = np.asarray(raw, np.float64)
        if not method.needs_target:
            return method.cuts(values, weights=target.weights)
        return method.cuts(
            values,
            weights=target.weights,
            target_codes=target.codes,
            n_classes=target.variable.arity,
        )


@dataclass(frozen=True, slots=True)
class _Intervals:
    """A number column as intervals; values beyond all seen are in the outer ones."""

    variable: Variable

    def codes(self, raw: npt.NDArray[Any], *, ignore_unknown: bool) -> Codes:
        try:
            numbers = np.asarray(raw, np.float64)
        except (TypeError, ValueError):
            raise DataError(
                f"column {self.variable.name!r}: was a number column in training, got "
                f"{next(v for v in raw.tolist() if not _is_number(v) and not is_absent(v))!r:.60}"
            ) from None
        return apply_cuts(numbers, self.variable.cuts or ())


@dataclass(frozen=True, slots=True)
class _Values:
    """A column of text or truth values, or of declared ones: each value is a state."""

    variable: Variable
    places: Mapping[Hashable, int]

    @classmethod
    def of(cls, name: str, values: tuple[Any, ...]) -> _Values:
        labels: dict[str, int] = {}
        places: dict[Hashable, int] = {}
        for value in values:  # 1 and "1" are one state, as they look alike
            places[_key(value)] = labels.setdefault(_label(value), len(labels))
        if len(labels) > MAX_ARITY:
            raise DataError(
                f"column {name!r}: at most {MAX_ARITY:,} different values are possible, got "
                f"{len(labels):,}; leave it out"
            )
        return cls(Variable(name, tuple(labels)), places)

    def codes(self, raw: npt.NDArray[Any], *, ignore_unknown: bool) -> Codes:
        arity = self.variable.arity
        values = _listed(raw)
        lookup = {v: arity if is_absent(v) else self._place(v) for v in dict.fromkeys(values)}
        places = np.fromiter((lookup[v] for v in values), np.int64, len(values))
        if not ignore_unknown and (places < 0).any():
            row = int(np.argmax(places < 0))
            what = (
                f"column {self.variable.name!r}: value {values[row]!r:.60} in row {row:,} "
                "(counted from 0) was not seen in training; known are "
                f"{_listing(self.variable.states)}; leave the row out"
            )
            raise DataError(f"{what}, or pass handle_unknown='ignore'").with_option(
                f"{what}, or pass --ignore-unknown"
            )
        return np.where(places < 0, arity, places).astype(code_type(arity))

    def _place(self, value: Any) -> int:
        place = self.places.get(_key(value))
        if place is None and _label(value) in self.variable.states:
            place = self.variable.states.index(_label(value))
        return -1 if place is None else place


def _each_its_own(name: str, values: list[int]) -> Variable:
    """Return a variable with an interval around each value: numbers between go to the nearest."""
    cuts = [cut_between(low, high) for low, high in itertools.pairwise(values)]
    return Variable(name, tuple(map(str, values)), tuple(cuts))


def _few_whole_numbers(raw: npt.NDArray[Any], limit: int) -> list[int] | None:
    """Return the different values in order if there are at most `limit`, all whole."""
    if len(raw) == 0 or not np.isfinite(raw).all():
        return None
    low, high = int(raw.min()), int(raw.max())
    if high - low >= _MAX_SPAN or max(-low, high) > _MAX_EXACT:
        values = np.unique(raw.astype(np.float64))
        whole = len(values) <= limit and bool((values == np.floor(values)).all())
        return [int(v) for v in values] if whole else None
    if raw.dtype.kind == "f" and not (raw == np.floor(raw)).all():
        return None
    offsets = raw.astype(np.int64) - low
    present = np.zeros(high - low + 1, bool)
    present[offsets] = True
    places = np.flatnonzero(present)
    return (places + low).tolist() if len(places) <= limit else None


def _require_complete(name: str, is_missing: npt.NDArray[np.bool_] | None) -> None:
    if is_missing is not None and is_missing.any():
        raise DataError(
            f"column {name!r}: has missing values in the training data, which must be complete; "
            "leave out those rows, or give missing cells a value of their own"
        )


def _listed(raw: npt.NDArray[Any]) -> list[Any]:
    """Return the values with True and False as texts: as keys they would equal 1 and 0."""
    return [str(v) if v is True or v is False else v for v in raw.tolist()]


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _key(value: Any) -> Hashable:
    """Return what a value is found by: whole numbers by their value, others as text."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return int(value)
    return str(value)


def _label(value: Any) -> str:
    return str(_key(value))


def _sorting(value: Any) -> tuple[int, float, str]:
    """Numbers by size and before text, so that states come in an order people expect."""
    if isinstance(value, int | float | np.integer | np.floating):
        return 0, float(value), ""
    return 1, 0.0, str(value)


def _listing(states: tuple[str, ...]) -> str:
    shown = ", ".join(map(repr, states[:8]))
    return shown if len(states) <= 8 else f"{shown} and {len(states) - 8} more"
