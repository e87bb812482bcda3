"""Counts from the workers that hold the rows."""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestdag.cluster.packed import PackedCounts
from bestdag.cluster.part import add_counts, count_parts
from bestdag.cluster.placed import PlacedParts
from bestdag.cluster.waiting import awaited
from bestdag.counts.blocks import whole_scale
from bestdag.counts.provider import FamilyArrays, ObservedCounts, RowsIn, too_many_cells
from bestdag.data.schema import Variable
from bestdag.errors import ClusterError, RowsLostError
from bestdag.machine import memory_left

if TYPE_CHECKING:
    from distributed import Future

    from bestdag.cluster.rows import ClusterRows

__all__ = ["ClusterCounts"]

# So many counts are added by one task, and here where they are small: that saves a round trip.
_FAN_IN, _SMALL_BYTES = 8, 1 << 20
# Bytes of one answer, at most, whatever memory there is; and the share of what is left.
_MOST_BYTES, _SHARE = 1 << 30, 1 / 8
# Families that travel with each task; more are put on the cluster once.
_FEW_BYTES = 1 << 15


class ClusterCounts:
    """Counts of families over the rows of a `ClusterRows`; a `CountProvider`.

    Each call sends one task to each worker that holds rows, and tasks that add their answers, a
    few at a time. A worker that is lost is made up for by the scheduler: its parts are loaded
    again elsewhere, and counted there.
    """

    def __init__(self, rows: ClusterRows, placed: PlacedParts) -> None:
        self.variables: tuple[Variable, ...] = tuple(sorted(rows.variables, key=lambda v: v.name))
        self.n_rows = rows.n_rows
        self.total_weight = rows.total_weight
        self.has_real_weights = rows.has_real_weights
        self.rows_in: RowsIn = "cluster"
        self.passes = 0
        self.workers = rows.n_workers
        self.seconds_waited = 0.0
        self.bytes_received = 0
        self._rows = rows
        self._placed = placed
        self._client = placed.client
        self._kept: list[Future] = []
        held, arities = rows.held
        self._arities = np.array(arities, np.int64)
        place = {variable.name: i for i, variable in enumerate(held)}
        self._numbers = np.array([place[v.name] for v in self.variables], np.int32)
        self._scale = 1.0
        if self.has_real_weights:
            self._scale = whole_scale(rows.total_weight)
            if rows.counted_weight is None:
                alone = np.zeros(1, np.int32), np.zeros(2, np.int64), np.zeros(0, np.int32)
                counts = self._counted(alone, math.inf).counts
                rows.counted_weight = int(counts.sum()) / self._scale
            self.total_weight = rows.counted_weight

    def count(self, families: FamilyArrays, *, max_cells: float) -> list[ObservedCounts]:
        """Count families, in one pass over the rows unless the answer would be too large."""
        children, offsets, parents = families
        held = self._numbers[children], offsets, self._numbers[parents]
        found: list[ObservedCounts] = []
        for some in self._batches(held):
            total = self._counted(some, max_cells)
            if self.has_real_weights:
                total = replace(total, counts=total.counts / self._scale)
            found += total.unpacked(some, self._arities)
        return found

    def _counted(self, families: FamilyArrays, max_cells: float) -> PackedCounts:
        if self._rows.lost is not None:
            raise self._rows.lost
        begun = time.monotonic()
        self.passes += 1
        try:
            answers = awaited(
                self._client, lambda: self._asked(families, max_cells), self._rows.name
            )
        except RowsLostError as error:
            self._rows.lost = error
            raise
        self.seconds_waited += time.monotonic() - begun
        total = add_counts(answers, families, self._arities)
        if isinstance(total, ClusterError):
            raise total
        assert total is not None  # there are rows
        self.bytes_received += sum(one.n_bytes for one in answers if one is not None)
        cells = total.n_observed * self._arities[families[0]]
        if len(cells) and cells.max() > max_cells:
            raise too_many_cells()
        return total

    def _asked(self, families: FamilyArrays, max_cells: float) -> list[Future]:
        """Send the tasks of one batch, and return what is left to add here."""
        batch = uuid.uuid4().hex[:12]
        given: Any = families
        if sum(array.nbytes for array in families) > _FEW_BYTES:
            given = self._client.submit(_same, families, key=f"families-{batch}")
        level = self._counting(given, max_cells, batch)
        is_small = self._worst_bytes(families).sum() < _SMALL_BYTES
        most, height = _FAN_IN if is_small else 1, 0
        while len(level) > most:
            height += 1
            some = [level[i : i + _FAN_IN] for i in range(0, len(level), _FAN_IN)]
            shared = [given] * len(some), [self._arities] * len(some)
            keys = [(f"add-{batch}-{height}", i) for i in range(len(some))]
            level = self._client.map(add_counts, some, *shared, key=keys, pure=False)
        # To release the answers before is a message too, which this one must not wait for.
        self._kept = level if is_small else []
        return level

    def _counting(
        self, families: FamilyArrays | Future, max_cells: float, batch: str
    ) -> list[Future]:
        places = self._placed.by_worker()
        keys = [(f"count-{batch}", i) for i in range(len(places))]
        shared = families, self._arities, self._scale, max_cells
        if isinstance(families, tuple):
            # All in one message, since Dask lets the next one wait for some milliseconds. A task
            # goes to who holds its parts: nothing else draws it anywhere.
            parts = [parts for _, parts in places]
            repeated = [[one] * len(places) for one in shared]
            found: list[Future] = self._client.map(
                count_parts, parts, *repeated, key=keys, pure=False
            )
            return found
        return [
            self._client.submit(
                count_parts,
                parts,
                *shared,
                key=key,
                workers=None if address is None else [address],
                allow_other_workers=address is not None,
            )
            for key, (address, parts) in zip(keys, places, strict=True)
        ]

    def _batches(self, families: FamilyArrays) -> Iterator[FamilyArrays]:
        """Divide families so that the answer for each batch fits, at the worst."""
        children, offsets, parents = families
        if not len(children):
            return
        room = max(1 << 20, min(_MOST_BYTES, _SHARE * memory_left()))
        sizes = self._worst_bytes(families)
        group = np.floor_divide(np.cumsum(sizes) - sizes / 2, room)
        edges = np.flatnonzero(np.diff(group, prepend=-1.0, append=np.inf))
        for first, last in zip(edges.tolist(), edges[1:].tolist(), strict=False):
            start, end = offsets[first], offsets[last]
            yield children[first:last], offsets[first : last + 1] - start, parents[start:end]

    def _worst_bytes(self, families: FamilyArrays) -> npt.NDArray[np.float64]:
        children, offsets, parents = families
        logs = np.concatenate([[0.0], np.cumsum(np.log(self._arities[parents]))])
        n_configurations = np.exp(np.minimum(logs[offsets[1:]] - logs[offsets[:-1]], 600))
        observed = np.minimum(n_configurations, self.n_rows)
        each = 8.0 * self._arities[children] + 2.0 * np.diff(offsets)
        return np.asarray(observed * each, np.float64)


def _same(families: FamilyArrays) -> FamilyArrays:
    return families
