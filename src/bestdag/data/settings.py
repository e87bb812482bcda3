"""The settings of `read`, checked: which columns are variables, and what their values mean."""

from __future__ import annotations

import codecs
import os
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.data.labels import is_broken
from bestdag.data.missing import STRATEGIES, MissingStrategy
from bestdag.data.schema import DEFAULT_MAX_STATES, MAX_ARITY, Variable
from bestdag.data.sources.base import Limits
from bestdag.data.sources.connection import SqlQuery, SqlText, looks_like_sql
from bestdag.data.warnings import refuse_many
from bestdag.errors import (
    DataError,
    DataWarning,
    InvalidParameterError,
    bad_setting,
    caller_level,
    nearest_name,
    require_choice,
    require_count,
    unknown_name,
)
from bestdag.wording import arg, by_reader, either, first_names

__all__ = [
    "ABSENT",
    "SEPARATORS",
    "Choice",
    "NamelessColumnError",
    "ReadOptions",
    "check_unknown_columns",
    "choose",
    "require_collapse",
    "text_list",
]

SEPARATORS = (",", ";", "\t", "|", " ")


# The text of a null or NaN: one that no table can contain, because NUL characters are refused.
ABSENT = "\0"


class NamelessColumnError(DataError):
    """A column has no name, as the row index that pandas writes."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """The settings of `read` that say what a cell means, checked, with the source's name.

    `path`, `separator` and `encoding` are for proposals that read the same file in another way.
    """

    source: str
    states: Mapping[str, tuple[str, ...]]
    missing: MissingStrategy
    missing_values: frozenset[str]
    max_states: int
    allow_few_rows: bool = False
    path: str | None = None
    separator: str | None = None
    encoding: str | None = None

    @property
    def absent(self) -> frozenset[str]:
        """The texts of cells that have no state."""
        return self.missing_values | {ABSENT}

    def limit(self, name: str, declared: Sequence[str] | None = None) -> int:
        """Most distinct values a column may have: states that were declared are no surprise."""
        known = self.states.get(name, declared)
        return MAX_ARITY if known is not None else min(self.max_states, MAX_ARITY)

    def limits(self, declared: Mapping[str, Sequence[str] | None]) -> Limits:
        """Return the limits of columns, some of whose states the source declares."""
        most = {name: self.limit(name, states) for name, states in declared.items()}

        def refuse(
            counts: Mapping[str, int],
            estimated: Collection[str],
            examples: Callable[[str], Iterable[str]],
        ) -> None:
            refuse_many(counts, most, self, estimated=estimated, examples=examples)

        return Limits(most, self.missing_values, refuse)


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """Which columns are variables, where the weights are, and what cells mean.

    With an `owner` its variables must be all there are. With `may_lack` some of the columns need
    not be there, and others that are look like a slip unless they are `beside`. `separator` is
    that of CSV, if it is not what the ending says, and `sheet` that of a workbook, if there are
    several; `encoding` is that of text which is not UTF-8.
    """

    options: ReadOptions
    columns: Sequence[str] | None
    drop: Sequence[str]
    weights: str | npt.ArrayLike | None
    owner: str | None
    may_lack: bool
    separator: str | None
    sheet: str | None
    encoding: str | None
    beside: tuple[str, ...] = ()

    def variables(self, names: Sequence[Any]) -> list[str]:
        """Check the names of a table and choose among them."""
        _require_good_names(names, self.drop, self.options.source)
        who = f"read: {self.options.source}"
        known = set(names)
        wanted = names if self.columns is None else self.columns
        required = [*(self.columns or ()), *self.options.states]
        out = {*self.drop, self.weights} if isinstance(self.weights, str) else set(self.drop)
        if self.may_lack:
            unasked = [n for n in names if n not in {*out, *wanted, *self.beside}]
            lacking = [name for name in wanted if name not in known]
            check_unknown_columns(who, unasked, lacking, are_ignored=self.owner is None)
            wanted, required = [name for name in wanted if name in known], []
            if not wanted:
                shown = first_names(self.columns or [])
                raise DataError(f"{who} has none of the columns {shown}")
        required += self.drop
        if isinstance(self.weights, str):
            required.append(self.weights)
        for name in required:
            if name not in known:
                raise unknown_name("column", name, names, who=who)
        chosen = [n for n in wanted if n not in out]
        extra = [n for n in names if n not in out and n not in chosen]
        if self.owner is not None and extra:
            it = either(len(extra), "it", "them")
            how = f"leave {it} out with {arg('drop')}"
            if self.owner == "the network":  # the commands that take one have that option
                how = by_reader(how, "pass --ignore-extra")
            raise DataError(
                f"{who}: {either(len(extra), 'column', 'columns')} {first_names(extra)} "
                f"{either(len(extra), 'is', 'are')} not in {self.owner}; {how}"
            )
        if len(set(chosen)) != len(chosen):
            twice = next(name for name in chosen if chosen.count(name) > 1)
            raise DataError(f"{who}: columns= lists {twice!r} twice")
        if not chosen:
            raise DataError(f"{who} has no columns to read")
        return chosen

    def weight_array(self, n_rows: int) -> npt.NDArray[Any] | None:
        """Return the weights that came as an array."""
        if self.weights is None or isinstance(self.weights, str):
            return None
        weights = np.asarray(self.weights)
        if weights.shape != (n_rows,):
            raise DataError(
                f"read: {self.options.source}: {n_rows:,} rows need as many weights, "
                f"got an array of shape {weights.shape}"
            )
        return weights


def choose(
    source: Any,
    *,
    states: Mapping[str, Sequence[str]] | None = None,
    missing: str = "error",
    missing_values: Iterable[str] = ("",),
    max_states: int = DEFAULT_MAX_STATES,
    weights: str | npt.ArrayLike | None = None,
    columns: str | Iterable[str] | None = None,
    drop: str | Iterable[str] | None = None,
    allow_few_rows: bool = False,
    separator: str | None = None,
    sheet: str | None = None,
    encoding: str | None = None,
    owner: str | None = None,
    may_lack: bool = False,
    beside: Iterable[str] = (),
) -> Choice:
    """Check the settings of `read`, and those of `Choice`."""
    if type(source) is str and looks_like_sql(source):
        raise DataError(
            f"read: there is no file {_describe(source)}; if it is a query, "
            f"{by_reader('give it as sql(...)', 'pass --sql')}"
        )
    if separator is not None:
        require_choice("read", "separator", separator, SEPARATORS)
    marks = frozenset(text_list("missing_values", missing_values, "texts"))
    require_choice("read", "missing", missing, list(STRATEGIES))
    options = ReadOptions(
        source=_describe(source),
        states=check_states(states, marks),
        missing=STRATEGIES[missing],
        missing_values=marks,
        max_states=require_count("read", "max_states", max_states, minimum=1),
        allow_few_rows=bool(allow_few_rows),
        path=os.fsdecode(source) if isinstance(source, str | os.PathLike) else None,
        separator=separator,
        encoding=encoding,
    )
    return Choice(
        options,
        None if columns is None else text_list("columns", columns),
        [] if drop is None else text_list("drop", drop),
        weights,
        owner,
        may_lack,
        separator,
        sheet,
        None if encoding is None else checked_encoding(encoding),
        tuple(beside),
    )


def checked_encoding(name: object) -> str | None:
    """Return how Python calls an encoding; None for UTF-8, which is what text is anyway."""
    try:
        codec = codecs.lookup(name) if isinstance(name, str) else None
    except (LookupError, ValueError):
        codec = None
    if codec is None or not getattr(codec, "_is_text_encoding", True):
        raise bad_setting("read", "encoding", "an encoding such as latin-1 or cp1252", name)
    return None if codec.name == "utf-8" else codec.name


def require_collapse(who: str, collapse: object) -> None:
    """Refuse what is neither yes, no nor None."""
    if collapse is not None and not isinstance(collapse, bool):
        raise bad_setting(who, "collapse", "True, False or None", collapse)


def text_list(what: str, value: str | Iterable[str], kind: str = "names") -> list[str]:
    """Check a setting that is one text or several; whole numbers stand for their text."""
    if isinstance(value, str):
        return [value]
    values: list[Any] = list(value) if isinstance(value, Iterable) else [value]
    listed = [str(one) if type(one) is int else one for one in values]
    for one in listed:
        if not isinstance(one, str):
            raise InvalidParameterError(f"read: {what} must be a list of {kind}, got {one!r:.60}")
    return listed


def _require_good_names(names: Sequence[Any], drop: Sequence[str], source: str) -> None:
    """Refuse names that cannot be those of variables; columns that are dropped may have any."""
    seen: set[str] = set()
    for place, name in enumerate(names, start=1):
        if isinstance(name, str) and name in drop:
            continue
        if not isinstance(name, str):
            raise DataError(
                f"read: {source}: column names must be text, got {name!r} for column {place}; "
                f"rename the columns"
            )
        if not name:
            raise NamelessColumnError(
                f"read: {source}: column {place} has no name; if it is a row index, leave it out "
                f"with {arg('drop', '')}"
            )
        if not name.isascii() and is_broken(name):
            raise DataError(
                f"read: {source}: the name of column {place} is not valid text: {name!r}"
            )
        if "\0" in name:
            raise DataError(f"read: {source}: the name of column {place} has a NUL character")
        if name in seen:
            raise DataError(
                f"read: {source}: two columns are called {name!r}; rename one, or put a line "
                f"with names on top if the first line is data"
            )
        seen.add(name)


def _describe(source: Any) -> str:
    if isinstance(source, SqlText):
        source = SqlQuery(source)
    if isinstance(source, str | os.PathLike):
        text = os.fsdecode(source)
        return "standard input" if text == "-" else repr(text)
    if isinstance(source, SqlQuery):
        return str(source)
    return f"the {type(source).__name__}"


_LEAST_LETTERS = 4  # in shorter names another letter makes another name


def check_unknown_columns(
    who: str, extra: Sequence[str], lacking: Sequence[str], *, are_ignored: bool = True
) -> None:
    """Refuse a column whose name is nearly that of a variable without one; warn of the others.

    A variable without a column is summed over, which is right where it is not known, and wrong
    where its column was only renamed. Where every variable has its column, others are no slip and
    nothing is said of them. Nothing is where they are not ignored: the caller then refuses them.

    Examples
    --------
    >>> check_unknown_columns("predict", ["Smoke"], ["smoke", "tub"])
    Traceback (most recent call last):
    ...
    bestdag.errors.DataError: predict: column 'Smoke' is not in the network, which has a variable \
'smoke'; rename the column, or remove it
    """
    if not extra or not lacking:
        return
    hints = []
    for name in extra:
        near = nearest_name(name, lacking)
        if near is None:
            continue
        if _is_same_but_for_a_slip(name, near):
            raise DataError(
                f"{who}: column {name!r} is not in the network, which has a variable {near!r}; "
                "rename the column, or remove it"
            )
        hints.append(f"did you mean {near!r} by {name!r}?")
    if not are_ignored:
        return
    columns = f"{either(len(extra), 'column', 'columns')} {first_names(extra)}"
    warnings.warn(
        f"{who}: {columns} {either(len(extra), 'is', 'are')} not in the network and ignored; "
        f"{either(len(lacking), 'variable', 'variables')} without a column: {first_names(lacking)}"
        + (f" ({' '.join(hints[:3])})" if hints else ""),
        DataWarning,
        stacklevel=caller_level(),
    )


def _is_same_but_for_a_slip(one: str, other: str) -> bool:
    """Whether two names differ in case, blanks and punctuation, or in a letter; digits count."""
    a, b = ("".join(filter(str.isalnum, name.casefold())) for name in (one, other))
    if a == b:
        return True
    if [sign for sign in a if sign.isdigit()] != [sign for sign in b if sign.isdigit()]:
        return False
    return min(len(a), len(b)) >= _LEAST_LETTERS and _differs_by_one_letter(a, b)


def _differs_by_one_letter(a: str, b: str) -> bool:
    """Whether one letter was left out, added, replaced, or changed places with the next."""
    if len(a) > len(b):
        a, b = b, a
    k = next((k for k, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(a))
    if len(a) < len(b):
        return a[k:] == b[k + 1 :]
    is_swapped = a[k : k + 2] == b[k : k + 2][::-1] and a[k + 2 :] == b[k + 2 :]
    return a[k + 1 :] == b[k + 1 :] or is_swapped


def check_states(
    states: Mapping[str, Sequence[str]] | None, missing_values: frozenset[str]
) -> dict[str, tuple[str, ...]]:
    """Check `states=`: text, all different, none of them a missing value."""
    if states is not None and not isinstance(states, Mapping):
        raise InvalidParameterError(
            f"read: states must map column names to lists of texts, got {states!r:.60}"
        )
    for name, listed in (states or {}).items():
        if isinstance(listed, str) or not isinstance(listed, Iterable):
            raise InvalidParameterError(
                f"read: states of {name!r} must be a list of texts, got {listed!r}"
            )
    checked = {name: Variable(name, tuple(s)).states for name, s in (states or {}).items()}
    for name, listed in checked.items():
        both = [state for state in listed if state in missing_values]
        if both:
            by = f"{arg('missing_values')} calls missing"
            if not both[0]:  # what no option names
                by = by_reader(by, "as a value means missing")
            raise InvalidParameterError(f"read: states of {name!r} contain {both[0]!r}, which {by}")
    return checked
