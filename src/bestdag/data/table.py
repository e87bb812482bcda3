"""A source with the settings it is read with: the chosen columns, and the weights of the rows."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.data.checks import as_numbers
from bestdag.data.encoder import Encoded, Sink, WeightColumn, encode
from bestdag.data.settings import Choice
from bestdag.data.sources import open_source
from bestdag.data.sources.base import LEAST_ROWS, Batch, Limits, Numbers, RawColumn, Source
from bestdag.errors import DataError

__all__ = ["Table", "open_table"]


class Table:
    """The columns of a source that were chosen: what `read`, `discretize` and classifiers work on.

    Attributes
    ----------
    names : list of str
        The columns, in order; the one with the weights is not among them.
    """

    def __init__(self, source: Source, choice: Choice) -> None:
        self.names = choice.variables(source.names)
        self.choice = choice
        self.options = choice.options
        self.source = source
        weights = choice.weights
        self._weight = weights if isinstance(weights, str) else None
        source.choose(self.names, self._weight)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.source.n_rows

    @property
    def in_memory(self) -> bool:
        """Whether the source gives whole columns only."""
        return self.source.in_memory

    def weights(self) -> npt.NDArray[np.float64] | None:
        """How often each row counts: as a column says, an array that was given, or a Dataset."""
        who = f"read: {self.options.source}"
        if self._weight is not None:
            return self.source.weights(self._weight)
        weights = self.choice.weight_array(self.n_rows)
        if weights is None:
            weights = self.source.own_weights
        return None if weights is None else as_numbers(weights, who=who)

    def weight_column(self) -> WeightColumn | None:
        """Return where the weights are from, if from a column."""
        name = self._weight
        return None if name is None else WeightColumn(name, partial(self.source.cell, name))

    def has_declared_states(self, name: str) -> bool:
        """Whether the source itself says what the states of a column are."""
        return self.source.declared(name) is not None

    def numbers(self, name: str) -> Numbers:
        """One column as numbers."""
        return self.source.numbers(name, self.options.missing_values)

    def discrete(self, names: Sequence[str]) -> list[RawColumn]:
        """Whole columns as positions in their distinct values."""
        if not names:
            return []
        return self.source.columns(names, self._limits(names))

    @property
    def has_own_weights(self) -> bool:
        """Whether weights came as an array, one for each row."""
        return self.choice.weights is not None and self._weight is None

    def may_collapse(self) -> bool:
        """Whether a sample promises that few rows are different; weights may be a column."""
        if self.has_own_weights:
            return False
        if self.n_rows < LEAST_ROWS:
            return False
        return self.source.has_few_different_rows(self.names, self._weight)

    def encode_into(self, sink: Sink, *, collapse: bool | None) -> Encoded:
        """Encode all rows into a sink; None lets a sample decide whether equal ones are combined.

        The source must not be in memory.
        """
        columns = self.source.distinct(self.names, self._limits(self.names))
        weights = self.choice.weight_array(self.n_rows)
        if weights is not None:
            weights = as_numbers(weights, who=f"read: {self.options.source}")
            if collapse:
                raise DataError(
                    f"read: {self.options.source}: identical rows are combined by a column of "
                    f"weights, got an array; leave out collapse"
                )
        is_collapsed = self.may_collapse() if collapse is None else collapse

        def batches() -> Generator[Batch, None, None]:
            rows = self.source.batches(columns, self._weight, collapse=is_collapsed)
            return rows if weights is None else _weighed(rows, weights)

        return encode(
            columns,
            batches,
            self.n_rows,
            self.options,
            sink,
            has_weights=weights is not None or self._weight is not None,
            weight=self.weight_column(),
            is_collapsed=is_collapsed,
        )

    def _limits(self, names: Sequence[str]) -> Limits:
        return self.options.limits({name: self.source.declared(name) for name in names})


@contextmanager
def open_table(source: Any, choice: Choice) -> Iterator[Table]:
    """Open a table for as long as the block lasts; what goes wrong in it is said in one line."""
    with open_source(
        source,
        title=choice.options.source,
        columns=choice.columns,
        separator=choice.separator,
        sheet=choice.sheet,
        encoding=choice.encoding,
    ) as opened:
        yield Table(opened, choice)


def _weighed(
    batches: Generator[Batch, None, None], weights: npt.NDArray[np.float64]
) -> Generator[Batch, None, None]:
    """Give rows the weights that came as an array."""
    start = 0
    try:
        for batch in batches:
            n_rows = len(batch.codes[0])
            batch.weights = weights[start : start + n_rows]
            start += n_rows
            yield batch
    finally:
        batches.close()
