"""Reading onto a cluster: who sees the files, which states there are, then the codes, in parts."""

from __future__ import annotations

import glob
import os
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestdag.cluster.part import Part, PartFacts, unchanged
from bestdag.cluster.rows import ClusterRows
from bestdag.cluster.session import (
    Machine,
    awaited,
    machines,
    same_everywhere,
    within_worker_memory,
)
from bestdag.data.dataset import Dataset
from bestdag.data.encoder import (
    Plan,
    Tally,
    WeightColumn,
    encode_rows,
    plan,
    resolve_missing,
    translated,
    warn_of_resolved,
    whole_weights,
)
from bestdag.data.readers import read
from bestdag.data.settings import Choice, ReadOptions, choose
from bestdag.data.sources.base import Limits, RawColumn
from bestdag.data.sources.connection import (
    connection,
    plain_path,
    run_sql,
    sql_text,
    temporary_folder,
)
from bestdag.data.sources.duckdb import DuckSource
from bestdag.data.sources.files import PARQUET
from bestdag.data.sources.parquet import explain_parquet_failure, parquet_table
from bestdag.data.warnings import warn_of_empty_text
from bestdag.errors import BestdagError, DataError, InvalidParameterError, NotEnoughMemoryError
from bestdag.machine import readable_size
from bestdag.wording import count_of

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = [
    "FileFacts",
    "PartSink",
    "Piece",
    "Workers",
    "divided",
    "file_facts",
    "is_parquet",
    "load_part",
    "look",
    "read_on",
    "spread",
    "values_of",
]

# A worker has so many parts, so that those of a lost one go to several others; smaller ones than
# this are not worth it. Row numbers are 32 bits wide inside the kernels.
_PARTS_EACH, _LEAST_ROWS, _MOST_ROWS = 4, 1 << 16, 1 << 30
# Of a worker's memory, for its rows.
_SHARE = 0.7
# A part with so many distinct values in a column is refused before all parts are known.
_SURELY_MORE, _SLACK = 2, 100


def read_on(client: Client, source: Any, **settings: Any) -> ClusterRows:
    """Read a table onto the workers of a cluster.

    Parameters
    ----------
    client : distributed.Client
    source : path, list of paths, or anything `read` takes
        Parquet files, or a pattern of names, that all workers see are read by the workers.
        Anything else is read here and sent to them.
    **settings
        Those of `read`.

    Raises
    ------
    ClusterError
        Before anything is read, when a worker does not see the files, sees others, or has another
        version of bestdag.
    """
    if not is_parquet(source):
        return spread(client, source if isinstance(source, Dataset) else read(source, **settings))
    paths = [source] if isinstance(source, str | os.PathLike) else list(source)
    sources = [os.path.abspath(os.fspath(one)) for one in paths]
    name = repr(os.fspath(paths[0])) + ("" if len(paths) == 1 else f" and {len(paths) - 1} more")
    choice = choose(paths[0], **settings)
    if choice.weights is not None and not isinstance(choice.weights, str):
        raise InvalidParameterError(
            "read: weights of rows on a cluster must be a column, got an array; give its name"
        )
    workers = machines(client)
    files: list[FileFacts] = same_everywhere(client, name, look, sources)
    _require_alike(files, name)
    return _Reading(client, workers, files, choice, name).run()


class Workers:
    """The workers of a cluster as a place for rows: they read Parquet files themselves."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def reads(self, source: Any) -> bool:
        """Whether the workers read a source themselves."""
        return is_parquet(source)

    def read(self, source: Any, **settings: Any) -> ClusterRows:
        """Read a table onto them; the settings are those of `read`."""
        return read_on(self._client, source, **settings)


def spread(client: Client, dataset: Dataset) -> ClusterRows:
    """Send the rows of a data set to the workers of a cluster, in parts, unless they are there."""
    if isinstance(dataset, ClusterRows):
        return dataset
    workers = machines(client)
    variables = sorted(dataset.variables, key=lambda v: v.name)
    n_parts = _n_parts(dataset.n_rows, len(workers))
    edges = np.linspace(0, dataset.n_rows, n_parts + 1).astype(np.int64).tolist()
    weights = dataset.weights
    parts = []
    for first, last in pairwise(edges):
        own = None if weights is None else weights[first:last].astype(np.float64)
        columns = [dataset.codes(v.name)[first:last] for v in variables]
        if own is not None:
            columns, own = [column[own > 0] for column in columns], own[own > 0]
        parts.append(Part([np.ascontiguousarray(column) for column in columns], own))
    _require_room(workers, sum(part.__sizeof__() for part in parts), "the table")
    token = uuid.uuid4().hex[:12]
    futures = [
        # As a task, not scattered: then the scheduler can do it again for a lost worker.
        client.submit(
            unchanged, part, key=f"rows-{token}-{i}", workers=[place], allow_other_workers=True
        )
        for i, (part, place) in enumerate(zip(parts, _placed(workers, n_parts), strict=True))
    ]
    arities = np.array([v.arity for v in variables], np.int64)
    return ClusterRows(
        client,
        dataset.variables,
        futures,
        [part.facts(arities) for part in parts],
        name="the table",
        n_workers=len(workers),
        missing=dataset.missing_counts,
    )


class _Reading:
    """Parquet files on their way to the workers."""

    def __init__(
        self,
        client: Client,
        workers: Sequence[Machine],
        files: Sequence[FileFacts],
        choice: Choice,
        name: str,
    ) -> None:
        self._client = client
        self._workers = workers
        self._name = name
        self._options = choice.options
        self._columns = choice.variables(files[0].columns)
        self._order = sorted(range(len(self._columns)), key=lambda i: self._columns[i])
        self._weight = choice.weights if isinstance(choice.weights, str) else None
        n_rows = sum(file.n_rows for file in files)
        if not n_rows:
            raise DataError(f"read: {choice.options.source} has no rows")
        self._n_rows = n_rows
        self._pieces = divided(files, _n_parts(n_rows, len(workers)))
        self._places = _placed(workers, len(self._pieces))
        self._token = uuid.uuid4().hex[:12]

    def run(self) -> ClusterRows:
        columns = self._distinct()
        chosen = plan(columns, self._options, self._n_rows)
        n_bytes = self._n_rows * sum(table.itemsize for table in chosen.tables)
        n_bytes += 0 if self._weight is None else 16 * self._n_rows
        _require_room(machines(self._client), n_bytes, self._name)  # what they have left by now
        keys = [columns[i].keys for i in self._order]
        in_parts = Plan(
            tuple(chosen.variables[i] for i in self._order),
            tuple(chosen.tables[i] for i in self._order),
            chosen.missing,
        )
        parts = self._submitted("rows", load_part, self._pieces, keys, in_parts, self._weight)
        arities = np.array(in_parts.arities, np.int64)
        each = [arities] * len(parts)
        facts = awaited(
            self._client,
            lambda: self._client.map(Part.facts, parts, each, pure=False),
            self._name,
        )
        tally = self._added(in_parts, facts)
        if self._weight is not None:
            whole_weights(tally, self._options)
        warn_of_empty_text(columns, chosen.variables, self._options)
        resolved = resolve_missing(columns, chosen, tally, self._options)
        if resolved.tables:
            place = {i: place for place, i in enumerate(self._order)}
            tables = {place[i]: table for i, table in resolved.tables.items()}
            parts = self._submitted("recoded", Part.recoded, parts, tables)
        warn_of_resolved(columns, resolved, self._options)
        pairs = zip(resolved.variables, resolved.counts, strict=True)
        return ClusterRows(
            self._client,
            resolved.variables,
            parts,
            facts,
            name=self._name,
            n_workers=len(self._workers),
            missing={v.name: int(c[v.arity]) for v, c in pairs if c[v.arity]},
        )

    def _distinct(self) -> list[RawColumn]:
        """Ask all parts for their values, and put them together."""

        def ask() -> list[Future]:
            return [
                self._client.submit(
                    values_of, pieces, self._columns, self._options, key=f"values-{self._token}-{i}"
                )
                for i, pieces in enumerate(self._pieces)
            ]

        answers: list[list[RawColumn]] = awaited(self._client, ask, self._name)
        return [_joined(columns) for columns in zip(*answers, strict=True)]

    def _submitted(self, what: str, work: Any, each: Sequence[Any], *shared: Any) -> list[Future]:
        """Let each part be worked on where its rows are to be."""
        if work is load_part:
            shared = *shared, self._options
        return [
            self._client.submit(
                work,
                one,
                *shared,
                key=f"{what}-{self._token}-{i}",
                workers=[place],
                allow_other_workers=True,
            )
            for i, (one, place) in enumerate(zip(each, self._places, strict=True))
        ]

    def _added(self, in_parts: Plan, facts: Sequence[PartFacts]) -> Tally:
        """Add the tallies of all parts, and put their columns in the order of the table."""
        total = Tally.of(in_parts)
        for one in facts:
            assert one.tally is not None
            total.add(one.tally)
        seen, left = list(total.seen), list(total.left)
        for place, i in enumerate(self._order):
            seen[i], left[i] = total.seen[place], total.left[place]
        return replace(total, seen=seen, left=left)


def _joined(parts: Sequence[RawColumn]) -> RawColumn:
    """Put the distinct values of all parts of a column together."""
    by_key = {k: v for part in parts for k, v in zip(part.keys, part.values, strict=True)}
    keys = sorted(by_key, key=str)
    declared = next((part.declared for part in parts if part.declared is not None), None)
    values = [by_key[key] for key in keys]
    return RawColumn(parts[0].name, values, declared=declared, keys=keys)


def _require_alike(files: Sequence[FileFacts], name: str) -> None:
    if not files:
        raise DataError(f"read: there is no file {name}")
    for file in files:
        if set(file.columns) != set(files[0].columns):
            raise DataError(
                f"read: files must have the same columns, {files[0].path!r} and {file.path!r} "
                "differ"
            )


def _require_room(workers: Sequence[Machine], n_bytes: float, name: str) -> None:
    """Refuse rows that the workers cannot hold."""
    if any(machine.memory is None for machine in workers):
        return
    room = _SHARE * min(machine.memory or 0.0 for machine in workers) * len(workers)
    if n_bytes > room:
        have = (
            f"{count_of(len(workers), 'worker')} {'has' if len(workers) == 1 else 'have'} room for"
        )
        raise NotEnoughMemoryError(
            f"cluster: the codes of {name} take {readable_size(n_bytes)}, and {have} "
            f"{readable_size(room)}; start more of them, or give them more memory"
        )


def _n_parts(n_rows: int, n_workers: int) -> int:
    each = max(1, min(_PARTS_EACH, n_rows // (n_workers * _LEAST_ROWS)))
    return max(min(n_rows, n_workers * each), -(-n_rows // _MOST_ROWS))


def _placed(workers: Sequence[Machine], n_parts: int) -> list[str]:
    """Give neighbouring parts to the same worker."""
    return [workers[i * len(workers) // n_parts].address for i in range(n_parts)]


# Run by workers


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What a machine sees of one file; equal where two see the same."""

    path: str
    n_bytes: int
    group_rows: tuple[int, ...]  # of each row group
    columns: tuple[str, ...]

    @property
    def n_rows(self) -> int:
        """Rows in it."""
        return sum(self.group_rows)


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows of one file, from the first up to before the last."""

    path: str
    first: int
    last: int

    @property
    def n_rows(self) -> int:
        """How many there are."""
        return self.last - self.first


def is_parquet(source: Any) -> bool:
    """Whether a source is a Parquet file, a pattern of such, or a list of them."""
    if isinstance(source, list | tuple):
        return bool(source) and all(is_parquet(one) for one in source)
    return isinstance(source, str | os.PathLike) and os.fspath(source).lower().endswith(PARQUET)


def look(sources: Sequence[str]) -> list[FileFacts] | BestdagError:
    """Say what this machine sees of some files, or patterns of names; or what is wrong."""
    paths: list[str] = []
    for source in sources:
        has_pattern = not os.path.exists(source) and glob.has_magic(source)
        paths += sorted(glob.glob(source)) if has_pattern else [source]
    try:
        return [file_facts(path) for path in paths]
    except BestdagError as error:
        return error


def file_facts(path: str) -> FileFacts:
    """Say what this machine sees of a Parquet file."""
    try:
        n_bytes = os.stat(path).st_size
    except FileNotFoundError:
        raise DataError(f"read: there is no file {path!r}") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DataError(f"read: cannot open {path!r}: {reason}") from None
    with _opened(path) as (con, sql_path):
        table = parquet_table(con, [sql_path], repr(path))
        groups = run_sql(
            con,
            "SELECT DISTINCT row_group_id, row_group_num_rows FROM "
            f"parquet_metadata({sql_text(sql_path)}) ORDER BY 1",
        )
        names = tuple(field.name for field in table.fields)
    return FileFacts(path, n_bytes, tuple(int(n) for _, n in groups), names)


def divided(files: Sequence[FileFacts], n_parts: int) -> list[list[Piece]]:
    """Divide the rows into parts of about equal size, whole row groups where there are enough.

    Examples
    --------
    >>> files = [FileFacts("a", 1, (10, 10), ()), FileFacts("b", 1, (20,), ())]
    >>> [[(p.path, p.first, p.last) for p in part] for part in divided(files, 2)]
    [[('a', 0, 20)], [('b', 0, 20)]]
    """
    total = sum(file.n_rows for file in files)
    n_parts = max(1, min(n_parts, total))
    n_groups = sum(len(file.group_rows) for file in files)
    most = -(-total // n_parts) if n_groups < 4 * n_parts else total
    parts: list[list[Piece]] = [[] for _ in range(n_parts)]
    seen = 0
    for file in files:
        first = 0
        for n_rows in file.group_rows:
            for start in range(first, first + n_rows, most):
                piece = Piece(file.path, start, min(start + most, first + n_rows))
                # By its middle, so that what is left over does not gather in the last part.
                place = (2 * seen + piece.n_rows) * n_parts // (2 * total)
                _append(parts[place], piece)
                seen += piece.n_rows
            first += n_rows
    return [part for part in parts if part]


def _append(part: list[Piece], piece: Piece) -> None:
    last = part[-1] if part else None
    if last is not None and last.path == piece.path and last.last == piece.first:
        part[-1] = replace(last, last=piece.last)
    else:
        part.append(piece)


@within_worker_memory()
def values_of(
    pieces: Sequence[Piece], names: Sequence[str], options: ReadOptions
) -> list[RawColumn]:
    """Return the distinct values of columns in some rows."""
    by_piece: list[list[RawColumn]] = []
    for piece in pieces:
        with _rows(piece) as source:
            source.choose(names, None)
            exact = options.limits({name: source.declared(name) for name in names})
            by_piece.append(source.distinct(names, _loose(exact)))
    return [_joined(columns) for columns in zip(*by_piece, strict=True)]


def _loose(limits: Limits) -> Limits:
    """Return limits for a part, which shows less than the table: all parts are counted later."""
    most = {name: _SURELY_MORE * n + _SLACK for name, n in limits.most.items()}

    def refuse(counts: Mapping[str, int], estimated: Collection[str], examples: Any) -> None:
        wide = {name: n for name, n in counts.items() if n > most[name]}
        limits.refuse(wide, estimated, examples)

    return Limits(most, limits.missing_values, refuse)


@within_worker_memory()
def load_part(
    pieces: Sequence[Piece],
    keys: Sequence[Sequence[Any]],
    plan: Plan,
    weight: str | None,
    options: ReadOptions,
) -> Part:
    """Load rows as codes; those of weight 0 are left out."""
    sink, tally = PartSink(), Tally.of(plan)
    sink.begin(0, [table.dtype for table in plan.tables], weight is not None)
    columns = [RawColumn(v.name, (), keys=k) for v, k in zip(plan.variables, keys, strict=True)]
    for piece in pieces:
        with _rows(piece) as source:
            own = None if weight is None else WeightColumn(weight, partial(source.cell, weight))
            rows = source.batches(columns, weight, collapse=False)
            tally.add(encode_rows(plan, rows, sink, options, own))
    return sink.part(tally)


class PartSink:
    """The sink of a worker."""

    def __init__(self) -> None:
        self._columns: list[list[npt.NDArray[Any]]] = []
        self._weights: list[npt.NDArray[Any]] = []

    def begin(self, n_rows: int, types: Sequence[npt.DTypeLike], has_weights: bool) -> None:
        """Begin with no rows."""
        self._columns = [[np.empty(0, kind)] for kind in types]
        self._weights = [np.empty(0)] if has_weights else []

    def append(self, columns: Sequence[npt.NDArray[Any]], weights: npt.NDArray[Any] | None) -> None:
        """Keep rows that have a weight."""
        if weights is not None:
            counted = weights > 0
            columns = [column[counted] for column in columns]
            self._weights.append(weights[counted])
        for part, column in zip(self._columns, columns, strict=True):
            part.append(column)

    def recode(self, column: int, table: npt.NDArray[Any]) -> None:
        """Replace codes."""
        self._columns[column] = [translated(table, codes) for codes in self._columns[column]]

    def make_weights_whole(self) -> None:
        """Leave weights as they are: they are scaled where they are counted."""

    def part(self, tally: Tally) -> Part:
        """Return the rows as a part."""
        columns = []
        for arrays in self._columns:
            columns.append(np.concatenate(arrays))
            arrays.clear()
        return Part(columns, np.concatenate(self._weights) if self._weights else None, tally)


@contextmanager
def _rows(piece: Piece) -> Iterator[DuckSource]:
    """Open some rows of a file."""
    with _opened(piece.path) as (con, sql_path):
        table = parquet_table(con, [sql_path], repr(piece.path))
        origin = (
            f"(SELECT * EXCLUDE (file_row_number) FROM read_parquet({sql_text(sql_path)}, "
            f"hive_partitioning = false, file_row_number = true) "
            f"WHERE file_row_number >= {piece.first} AND file_row_number < {piece.last})"
        )
        with ExitStack() as stack:
            yield DuckSource(replace(table, origin=origin), stack)


@contextmanager
def _opened(path: str) -> Iterator[tuple[Any, str]]:
    import duckdb

    with temporary_folder() as folder, connection() as con:
        try:
            yield con, plain_path(Path(path), folder)
        except duckdb.Error as error:
            raise explain_parquet_failure([Path(path)], repr(path), error) from None
