"""Which columns of a table are read."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestdag.data.encode import ReadOptions
from bestdag.data.labels import is_broken
from bestdag.errors import DataError, InvalidParameterError, unknown_name
from bestdag.wording import either, first_names

if TYPE_CHECKING:
    from bestdag.data.discretization.cutter import Cutter

__all__ = ["Choice", "text_list"]


class Choice:
    """Which columns are variables, how numbers are cut, and where the weights are."""

    def __init__(
        self,
        columns: str | Iterable[str] | None,
        drop: str | Iterable[str] | None,
        weights: str | npt.ArrayLike | None,
        options: ReadOptions,
        *,
        owner: str | None = None,
        cutter: Cutter | None = None,
        may_lack: bool = False,
        separator: str | None = None,
        sheet: str | None = None,
    ) -> None:
        self.separator = separator  # of CSV, if it is not what the ending says
        self.sheet = sheet  # of a workbook, if there are several
        self.owner = owner  # whose variables must be all there are
        self.may_lack = may_lack  # whether some of the columns need not be there
        self.cutter = cutter
        self.columns = None if columns is None else text_list("columns", columns)
        self.drop = [] if drop is None else text_list("drop", drop)
        self.weights = weights
        self.options = options

    def of_plain_csv(self) -> Choice:
        """Return the same choice for CSV that was written with commas."""
        other = copy.copy(self)
        other.separator, other.sheet = ",", None
        return other

    def variables(self, names: Sequence[Any]) -> list[str]:
        """Check the names of a table and choose among them."""
        _require_good_names(names, self.options.source)
        who = f"read: {self.options.source}"
        known = set(names)
        wanted = names if self.columns is None else self.columns
        asked = [*(self.columns or ()), *self.options.states]
        if self.may_lack:
            wanted, asked = [name for name in wanted if name in known], []
            if not wanted:
                shown = first_names(self.columns or [])
                raise DataError(f"{who} has none of the columns {shown}")
        asked += self.drop
        if isinstance(self.weights, str):
            asked.append(self.weights)
        for name in asked:
            if name not in known:
                raise unknown_name("column", name, names, who=who)
        out = {*self.drop, self.weights} if isinstance(self.weights, str) else set(self.drop)
        chosen = [n for n in wanted if n not in out]
        extra = [n for n in names if n not in out and n not in chosen]
        if self.owner is not None and extra:
            it = either(len(extra), "it", "them")
            what = (
                f"{who}: {either(len(extra), 'column', 'columns')} {first_names(extra)} "
                f"{either(len(extra), 'is', 'are')} not in {self.owner}"
            )
            way = "pass --ignore-extra"
            if self.owner != "the network":  # the commands that take one have --drop
                way = f"leave {it} out with --drop"
            raise DataError(f"{what}; drop {it}").with_option(f"{what}; {way}")
        if len(set(chosen)) != len(chosen):
            twice = next(name for name in chosen if chosen.count(name) > 1)
            raise DataError(f"{who}: columns= lists {twice!r} twice")
        if not chosen:
            raise DataError(f"{who} has no columns to read")
        return chosen

    def given_weights(self, n_rows: int) -> npt.NDArray[Any] | None:
        """Return the weights that came as an array."""
        if self.weights is None or isinstance(self.weights, str):
            return None
        given = np.asarray(self.weights)
        if given.shape != (n_rows,):
            raise DataError(
                f"read: {self.options.source}: {n_rows:,} rows need as many weights, "
                f"got an array of shape {given.shape}"
            )
        return given


def text_list(what: str, given: str | Iterable[str], kind: str = "names") -> list[str]:
    """Check a setting that is one text or several."""
    if isinstance(given, str):
        return [given]
    listed = list(given) if isinstance(given, Iterable) else [given]
    if not isinstance(given, Iterable) or any(not isinstance(text, str) for text in listed):
        wrong = next(text for text in listed if not isinstance(text, str))
        raise InvalidParameterError(f"read: {what} must be a list of {kind}, got {wrong!r:.60}")
    return listed


def _require_good_names(names: Sequence[Any], source: str) -> None:
    seen: set[str] = set()
    for place, name in enumerate(names, start=1):
        if not isinstance(name, str):
            raise DataError(
                f"read: {source}: column names must be text, got {name!r} for column {place}; "
                f"rename the columns"
            )
        if not name:
            raise DataError(
                f"read: {source}: column {place} has no name; is it a row index written by mistake?"
            )
        if not name.isascii() and is_broken(name):
            raise DataError(
                f"read: {source}: the name of column {place} is not valid text: {name!r}"
            )
        if "\0" in name:
            raise DataError(f"read: {source}: the name of column {place} has a NUL character")
        if name in seen:
            raise DataError(f"read: {source}: two columns are called {name!r}; rename one")
        seen.add(name)
