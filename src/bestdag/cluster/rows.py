"""A data set whose rows are on the workers of a cluster, and their counts."""

from __future__ import annotations

import copy
import hashlib
import html
import math
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from bestdag.cluster.part import PackedCounts, PartFacts, add_counts, count_parts, unchanged
from bestdag.cluster.session import awaited
from bestdag.counts.blocks import whole_scale
from bestdag.counts.provider import (
    FamilyArrays,
    ObservedCounts,
    RowsIn,
    flat_groups,
    too_many_cells,
)
from bestdag.data.dataset import Dataset
from bestdag.data.schema import Variable
from bestdag.errors import ClusterError, RowsLostError
from bestdag.machine import memory_left

if TYPE_CHECKING:
    from distributed import Client, Future


__all__ = ["ClusterCounts", "ClusterRows", "PlacedParts"]

_MOST_CELLS = 1e8  # of two or three columns


class ClusterRows(Dataset):
    """A data set whose rows are on the workers of a Dask cluster, in parts.

    It can be counted, and so scored and learned from; what needs single rows is refused. Made by
    `read_on` and `spread`.

    Attributes
    ----------
    n_parts : int
    n_workers : int
        Workers that the parts were given to.
    counted_weight : float or None
        The number of cases as the counts add up to it, where weights are real and it is known.
    lost : RowsLostError or None
        How the rows were lost, once they are.
    """

    __slots__ = (
        *("_facts", "_held", "_n_rows", "_placed", "_total"),
        *("counted_weight", "lost", "n_workers", "name"),
    )

    def __init__(
        self,
        client: Client,
        variables: Iterable[Variable],
        parts: list[Future],
        facts: list[PartFacts],
        *,
        name: str,
        n_workers: int,
        missing: Mapping[str, int],
    ) -> None:
        self._columns = {}
        self._weights = None
        self._digest = None
        self._choose(variables, missing)
        # What the parts hold, of which this may be a choice.
        self._held = self._variables, dict(missing)
        self._placed = PlacedParts(client, parts)
        self._facts = facts
        self._n_rows = sum(one.n_rows for one in facts)
        total = sum(one.total_weight for one in facts)
        has_whole = all(one.has_whole_weights for one in facts)
        self._total: int | float = int(total) if has_whole else total
        self.counted_weight: float | None = None
        self.n_workers = n_workers
        self.name = name
        self.lost: RowsLostError | None = None

    def _choose(self, variables: Iterable[Variable], missing: Mapping[str, int]) -> None:
        self._variables = tuple(variables)
        self._names = tuple(variable.name for variable in self._variables)
        self._arities = MappingProxyType({v.name: v.arity for v in self._variables})
        self._missing = {name: n for name, n in missing.items() if name in self._arities}

    @property
    def rows_in(self) -> RowsIn:
        """Where the rows are."""
        return "cluster"

    def count_provider(self, threads: int | None = None) -> ClusterCounts:
        """Return the counting of families over these rows; each worker uses all its threads."""
        return ClusterCounts(self, self._placed)

    def fingerprint(self) -> str:
        """Return a digest of what two counts of each column say: rows themselves are far away."""
        variables = tuple(sorted(self.variables, key=lambda v: v.name))
        n = len(variables)
        others = [{(i - 1) % n, (i - n // 2) % n} - {i} for i in range(n)]
        families = np.arange(n, dtype=np.int32), *flat_groups(list(map(sorted, others)))
        digest = hashlib.blake2b(repr((variables, self.n_rows)).encode("utf-8", "surrogatepass"))
        for configurations, table in self.count_provider().count(families, max_cells=_MOST_CELLS):
            digest.update(configurations.tobytes())
            digest.update(table.tobytes())
        return f"cluster {digest.hexdigest()[:16]}"

    @property
    def held(self) -> tuple[tuple[Variable, ...], list[int]]:
        """The columns of the parts, in name order, and their numbers of states.

        A missing value is one more state where there are some.
        """
        variables, missing = self._held
        in_order = tuple(sorted(variables, key=lambda v: v.name))
        return in_order, [v.arity + (v.name in missing) for v in in_order]

    @property
    def n_rows(self) -> int:
        """Number of rows on all workers."""
        return self._n_rows

    @property
    def n_complete(self) -> int:
        """Number of rows without a missing value."""
        return sum(one.n_complete for one in self._facts) if self.has_missing else self._n_rows

    @property
    def n_parts(self) -> int:
        """Parts that the rows are in."""
        return len(self._placed.parts)

    @property
    def total_weight(self) -> int | float:
        """The number N of cases."""
        return self._total

    @property
    def has_real_weights(self) -> bool:
        """Whether some rows count a fraction of once."""
        return isinstance(self._total, float)

    def codes(self, name: str) -> NoReturn:
        """Refuse: rows stay where they are."""
        self._require(name)
        raise self._refusal()

    @property
    def weights(self) -> None:
        """None: what rows weigh is on the workers too, and in the counts."""
        return None

    def select(self, columns: str | Iterable[str] | None = None, rows: Any = None) -> ClusterRows:
        """Take some columns; all rows stay where they are."""
        if rows is not None:
            raise self._refusal()
        names = [columns] if isinstance(columns, str) else list(columns or self._names)
        chosen = copy.copy(self)
        chosen._choose([self.variable(name) for name in names], self.missing_counts)
        return chosen

    def with_states(self, states: Any) -> NoReturn:
        """Refuse: states are agreed when the rows are read."""
        raise self._refusal()

    def _refusal(self) -> ClusterError:
        return ClusterError(
            f"cluster: the rows of {self.name} are on {self.n_workers} workers and cannot be had "
            "one by one; read the table here for what needs rows"
        )

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __copy__(self) -> ClusterRows:
        other = ClusterRows.__new__(ClusterRows)
        for place in (*Dataset.__slots__, *ClusterRows.__slots__):
            setattr(other, place, getattr(self, place))
        return other

    def __getstate__(self) -> NoReturn:
        raise self._refusal()

    def __repr__(self) -> str:
        return (
            f"<ClusterRows {self.name}: {self.n_rows:,} rows, {self.n_variables} variables, "
            f"{self.n_parts} parts on {self.n_workers} workers>"
        )

    def __str__(self) -> str:
        return repr(self)  # there are no first rows to show

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>"


# How long the scheduler's answer, which worker holds which part, is taken as still true.
_SECONDS_KNOWN = 1.0


class PlacedParts:
    """The parts of a table, and the workers that hold them."""

    def __init__(self, client: Client, parts: list[Future]) -> None:
        self.client = client
        self.parts = parts
        self._groups: list[tuple[str | None, list[Future]]] = []
        self._known_until = -math.inf

    def by_worker(self) -> list[tuple[str | None, list[Future]]]:
        """Return each worker with its parts, and each part that no worker has yet alone."""
        now = time.monotonic()
        if now > self._known_until:
            who_has = self.client.who_has(self.parts)
            held: dict[str, list[Future]] = {}
            lost: list[tuple[str | None, list[Future]]] = []
            for part in self.parts:
                holders = sorted(who_has.get(part.key, ()))
                if holders:
                    held.setdefault(holders[0], []).append(part)
                else:
                    lost.append((None, [part]))
            self._groups = [*sorted(held.items()), *lost]
            self._known_until = now if lost else now + _SECONDS_KNOWN
        return self._groups


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
        self._last_answers: list[Future] = []
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
        counted: list[ObservedCounts] = []
        for some in self._batches(held):
            total = self._counted(some, max_cells)
            if self.has_real_weights:
                total = replace(total, counts=total.counts / self._scale)
            counted += total.unpacked(some, self._arities)
        return counted

    def _counted(self, families: FamilyArrays, max_cells: float) -> PackedCounts:
        if self._rows.lost is not None:
            raise self._rows.lost
        begun = time.monotonic()
        self.passes += 1
        try:
            answers = awaited(
                self._client, lambda: self._submitted(families, max_cells), self._rows.name
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

    def _submitted(self, families: FamilyArrays, max_cells: float) -> list[Future]:
        """Send the tasks of one batch, and return what is left to add here."""
        batch = uuid.uuid4().hex[:12]
        payload: Any = families
        if sum(array.nbytes for array in families) > _FEW_BYTES:
            payload = self._client.submit(unchanged, families, key=f"families-{batch}")
        level = self._counting(payload, max_cells, batch)
        is_small = self._worst_bytes(families).sum() < _SMALL_BYTES
        most, height = _FAN_IN if is_small else 1, 0
        while len(level) > most:
            height += 1
            some = [level[i : i + _FAN_IN] for i in range(0, len(level), _FAN_IN)]
            shared = [payload] * len(some), [self._arities] * len(some)
            keys = [(f"add-{batch}-{height}", i) for i in range(len(some))]
            level = self._client.map(add_counts, some, *shared, key=keys, pure=False)
        # To release the answers before is a message too, which this one must not wait for.
        self._last_answers = level if is_small else []
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
            futures: list[Future] = self._client.map(
                count_parts, parts, *repeated, key=keys, pure=False
            )
            return futures
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
