"""Codes in a folder of columns: written with ordinary writes, then mapped read-only.

A full disk is an error of a write; under a mapping it would kill the process. A folder counts
only with its manifest, which is written last, before the folder gets its name.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import importlib
import json
import os
import secrets
import shutil
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TextIO

import numpy as np
import numpy.typing as npt

from bestdag.data.dataset import Dataset
from bestdag.data.schema import Variable
from bestdag.data.settings import Choice, choose, require_collapse
from bestdag.data.sources.connection import sql_source, temporary_folder
from bestdag.data.sources.files import local_files
from bestdag.data.table import Table, open_table
from bestdag.data.warnings import warn
from bestdag.errors import DataError, DataWarning, InvalidParameterError, WriteError, require_count
from bestdag.files import shown_path, temporary, try_lock
from bestdag.machine import memory_limit as limited_memory
from bestdag.machine import readable_size, require_memory
from bestdag.wording import arg, by_reader

if TYPE_CHECKING:
    from bestdag.counts.provider import CountProvider

__all__ = ["ColumnFolder", "Scan", "build_folder", "opened", "scan", "scanned"]

_Array = npt.NDArray[Any]


_MANIFEST = "manifest.json"
_LOCK = "lock"
_FORMAT = 1
_WEIGHTS = "weights"
_BLOCK = 1 << 20  # rows that are rewritten, compared or looked through at a time


class ColumnFolder:
    """The sink that writes a file for each column."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._types: list[np.dtype[Any]] = []
        self._weights: np.dtype[Any] | None = None

    def begin(self, n_rows: int, types: Sequence[npt.DTypeLike], has_weights: bool) -> None:
        """Refuse more bytes than the disk has free, and begin with no rows."""
        self._types = [np.dtype(kind) for kind in types]
        self._weights = np.dtype(np.float64) if has_weights else None
        n_bytes = n_rows * (sum(kind.itemsize for kind in self._types) + 8 * has_weights)
        free = shutil.disk_usage(self.path).free
        if n_bytes > free:
            raise _too_little_room(
                os.path.dirname(self.path),
                f"{readable_size(n_bytes)} are needed, {readable_size(free)} are free",
            )

    def append(self, columns: Sequence[_Array], weights: _Array | None) -> None:
        """Write rows at the ends of the files."""
        for number, column in enumerate(columns):
            self._append(str(number), column)
        if weights is not None:
            self._append(_WEIGHTS, weights)

    def recode(self, column: int, table: _Array) -> None:
        """Replace each code of a column by the entry of a table."""
        self._rewrite(str(column), self._types[column], lambda block: table[block])
        self._types[column] = table.dtype

    def make_weights_whole(self) -> None:
        """Keep the weights as int64."""
        self._rewrite(_WEIGHTS, np.dtype(np.float64), lambda block: block.astype(np.int64))
        self._weights = np.dtype(np.int64)

    def finish(self, variables: Sequence[Variable], n_rows: int, about: Mapping[str, Any]) -> None:
        """Write the manifest, after all else is on the disk."""
        manifest = {
            "format": _FORMAT,
            "n_rows": n_rows,
            "variables": [[v.name, v.states, v.cuts] for v in variables],
            "types": [kind.name for kind in self._types],
            "weights": None if self._weights is None else self._weights.name,
            **about,
        }
        with _explained(self.path):
            for name in os.listdir(self.path):
                with open(os.path.join(self.path, name), "rb") as file:
                    os.fsync(file.fileno())
            with open(os.path.join(self.path, _MANIFEST), "x", encoding="utf-8") as out:
                json.dump(manifest, out)
                out.flush()
                os.fsync(out.fileno())

    def _append(self, name: str, rows: _Array) -> None:
        # Opened for each write, because there may be more columns than files may be open.
        with _explained(self.path), open(os.path.join(self.path, name), "ab", buffering=0) as file:
            _write(file, np.ascontiguousarray(rows))

    def _rewrite(self, name: str, kind: np.dtype[Any], change: Any) -> None:
        old, new = os.path.join(self.path, name), os.path.join(self.path, f"{name}.new")
        with _explained(self.path), open(old, "rb") as rows, open(new, "xb", buffering=0) as file:
            while len(block := np.fromfile(rows, kind, _BLOCK)):
                _write(file, change(block))
        os.replace(new, old)


@contextmanager
def build_folder(parent: str, name: str) -> Iterator[ColumnFolder]:
    """Make a folder that gets its name at the end of the block, if it has a manifest then.

    Until then it is called ``.NAME.*.tmp`` and locked; what a killed run left behind is no longer
    locked, and removed by the next one.
    """
    with _explained(parent):
        os.makedirs(parent, exist_ok=True)
    _remove_abandoned(parent, f".{name}.")
    path = os.path.join(parent, f".{name}.{secrets.token_hex(6)}.tmp")
    with temporary(path):
        with _explained(parent):
            os.mkdir(path, 0o700)
            lock = open(os.path.join(path, _LOCK), "xb")  # noqa: SIM115 - open until the end
        with lock:
            try_lock(lock)
            yield ColumnFolder(path)
        if os.path.exists(os.path.join(path, _MANIFEST)):
            with _explained(parent):
                os.unlink(os.path.join(path, _LOCK))
                _take_name(path, os.path.join(parent, name))


def _take_name(path: str, target: str) -> None:
    """Rename a folder; one that has the name already goes, those who have it open keep it."""
    old = f"{path}.old"
    with temporary(old):
        with contextlib.suppress(FileNotFoundError):
            os.rename(target, old)
        os.rename(path, target)


def read_manifest(folder: str | Path) -> dict[str, Any] | None:
    """Return what a complete folder says of itself; None where there is none, or parts lack."""
    try:
        with open(os.path.join(folder, _MANIFEST), encoding="utf-8") as file:
            manifest: dict[str, Any] = json.load(file)
        if manifest["format"] != _FORMAT:
            return None
        sizes = {str(i): np.dtype(kind).itemsize for i, kind in enumerate(manifest["types"])}
        if manifest["weights"] is not None:
            sizes[_WEIGHTS] = np.dtype(manifest["weights"]).itemsize
        for name, size in sizes.items():
            if os.path.getsize(os.path.join(folder, name)) != size * manifest["n_rows"]:
                return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return manifest


def mapped(
    folder: str | Path, manifest: Mapping[str, Any]
) -> tuple[list[Variable], list[_Array], _Array | None]:
    """Map the columns of a folder; they stay when it is removed."""
    variables = [
        Variable(name, tuple(states), None if cuts is None else tuple(cuts))
        for name, states, cuts in manifest["variables"]
    ]
    columns = [_map(folder, str(i), kind) for i, kind in enumerate(manifest["types"])]
    weights = manifest["weights"]
    return variables, columns, None if weights is None else _map(folder, _WEIGHTS, weights)


def _map(folder: str | Path, name: str, kind: str) -> _Array:
    return np.memmap(os.path.join(folder, name), np.dtype(kind), "r").view(np.ndarray)


def _write(file: Any, rows: _Array) -> None:
    left = rows.data.cast("B")
    while left:
        left = left[file.write(left) :]


def _remove_abandoned(parent: str, start: str) -> None:
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if entry.name.startswith(start) and entry.name.endswith((".tmp", ".old")):
                with (
                    contextlib.suppress(OSError),
                    open(os.path.join(entry.path, _LOCK), "rb") as lock,
                ):
                    if not try_lock(lock):
                        continue
                    shutil.rmtree(entry.path, ignore_errors=True)


@contextmanager
def _explained(folder: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise _too_little_room(os.path.dirname(folder), "no space is left") from None
        reason = (error.strerror or str(error)).lower()
        raise WriteError(f"scan: {shown_path(folder)}: cannot be written: {reason}") from None


def _too_little_room(folder: str, why: str) -> WriteError:
    return WriteError(
        f"scan: {shown_path(folder)}: {why}; name a folder on a larger disk with {arg('cache')}"
    )


class Scan(Dataset):
    """A table of discrete data whose codes lie on disk; what `bestdag.scan` returns.

    What works on a Dataset works on it, within the memory limit. `codes` gives a mapped array,
    whose pages the system loads and drops as it needs. Choosing columns or a range of rows stays on
    disk; other choices of rows are copied to memory, if they fit. Exports and EM are refused, since
    they need all rows at once, and so is pickling: another process scans again, with the same
    cache.

    Attributes
    ----------
    n_source : int or None
        Rows of the source, where equal ones were put together.
    notes : tuple of str
        How far putting equal rows together went, if that was done.

    Examples
    --------
    >>> from bestdag.examples import example
    >>> rows = scan(example("asia.csv"))
    >>> rows.select(rows=slice(0, 100)).rows_in, rows.select(rows=[0, 5, 7]).rows_in
    ('disk', 'memory')
    """

    __slots__ = ("_block_rows", "_folder", "n_source", "notes")

    _block_rows: int | None
    _folder: Path | None
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
        """Return what counts families in blocks of rows, by `threads` threads."""
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
        """Remove the folder with the codes; tables that are open stay readable.

        Only a folder that ``scan(cache=...)`` made is left to be removed: others are gone with the
        scan.
        """
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def in_memory(self, who: str) -> NoReturn:
        """Refuse, in the name of `who`: the rows stay on disk."""
        raise InvalidParameterError(
            f"{who}: the rows of a scan stay on disk; "
            f"{by_reader('read the table with read', 'pass --rows-in memory')}"
        )

    # Cells

    def missing(self, name: str) -> npt.NDArray[np.bool_]:
        """Return a boolean mask of the missing values of one column: a byte per row, in memory."""
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
            n_rows = len(range(*where.indices(self.n_rows)))
            if n_rows:
                return self._view(chosen, where, is_whole=n_rows == self.n_rows)
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
        return Scan._mapped(
            variables,
            columns,
            weights,
            missing=missing,
            notes=self.notes,
            n_source=self.n_source,
            folder=self._folder,
            block_rows=self._block_rows,
        )

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
    fewer = by_reader("take a range of rows with select(rows=slice(...))", "use --collapse")
    require_memory(
        "scan",
        what,
        n_bytes,
        f"raise {by_reader('the memory limit', '--memory-limit')}, or {fewer}",
    )


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


def scan(
    source: Any,
    *,
    query: str | None = None,
    cache: str | os.PathLike[str] | None = None,
    collapse: bool | None = False,
    block_rows: int | None = None,
    states: Mapping[str, Sequence[str]] | None = None,
    missing: str = "error",
    missing_values: Iterable[str] = ("",),
    max_states: int = 50,
    weights: str | npt.ArrayLike | None = None,
    columns: str | Iterable[str] | None = None,
    drop: str | Iterable[str] | None = None,
    allow_few_rows: bool = False,
    separator: str | None = None,
    sheet: str | None = None,
    encoding: str | None = None,
) -> Scan:
    """Read a table of discrete data whose codes stay on disk.

    Parameters
    ----------
    source : path, pattern, folder, address, sql(...), or DuckDB connection or relation
        A file that `read` takes; a pattern such as ``"rows/*.parquet"`` or a folder, whose files
        are one table, in the order of their names (``key=value`` folders are columns); the
        address of Parquet files in an object store that DuckDB reads; a query
        (``sql("SELECT ...")``); a DuckDB relation, or a connection with a `query` or a single
        table.
    query : str, optional
        What to ask a DuckDB connection.
    cache : path, optional
        A folder to keep the codes in. They are used again while source and settings are the same:
        size, time and a checksum of a sample of every file; results of queries and files in
        object stores are encoded anew. Without it they lie in a temporary file that is gone with
        the scan.
    collapse : bool or None, default False
        Put equal rows together, as one row with a weight; None does so where a sample promises
        at most an eighth of the rows.
    block_rows : int, optional
        Rows that are counted at a time; chosen by the memory limit unless given.
    states, missing, missing_values, max_states, weights, columns, drop, allow_few_rows, separator
    sheet, encoding
        As for `read`.

    Returns
    -------
    Scan
        Equal to the Dataset that `read` gives.

    Raises
    ------
    DataError, UnknownNameError
        As for `read`.
    WriteError
        If the disk has too little room; nothing is left behind.

    Examples
    --------
    >>> from bestdag.data.readers import read
    >>> from bestdag.examples import example
    >>> rows = scan(example("asia.csv"))
    >>> rows.rows_in, rows == read(example("asia.csv"))
    ('disk', True)
    """
    choice = choose(
        sql_source(source, query),
        states=states,
        missing=missing,
        missing_values=missing_values,
        max_states=max_states,
        weights=weights,
        columns=columns,
        drop=drop,
        allow_few_rows=allow_few_rows,
        separator=separator,
        sheet=sheet,
        encoding=encoding,
    )
    if block_rows is not None:
        require_count("scan", "block_rows", block_rows, minimum=1)
    require_collapse("scan", collapse)
    with limited_memory(None):
        return scanned(
            sql_source(source, query), choice, cache=cache, collapse=collapse, block_rows=block_rows
        )


def scanned(
    source: Any,
    choice: Choice,
    *,
    cache: str | os.PathLike[str] | None = None,
    collapse: bool | None = False,
    block_rows: int | None = None,
) -> Scan:
    """Do what `scan` does, with settings that are checked, within the limits that hold."""
    if cache is None:
        with temporary_folder() as parent:
            _encode(source, choice, collapse, parent, "rows", stamp=None)
            return opened(os.path.join(parent, "rows"), block_rows, keeps=False)
    parent = os.fspath(cache)
    if not parent:
        raise InvalidParameterError(f"scan: {arg('cache')} must name a folder, got an empty name")
    files = local_files(source)
    if files is None:  # its content may have changed since the last scan
        with temporary_folder() as inner:
            name = "rows-" + os.path.basename(inner)
            _encode(source, choice, collapse, parent, name, stamp=None)
            place = os.path.join(parent, name)
            try:
                return opened(place, block_rows, keeps=False)
            finally:
                shutil.rmtree(place, ignore_errors=True)
    name = "rows-" + reading_key(os.fspath(source), choice, collapse)
    place, stamp = os.path.join(parent, name), stamp_of(files)
    manifest = read_manifest(place)
    if manifest is not None and manifest["stamp"] == stamp:
        for said in manifest["warnings"]:
            warn(by_reader(*said))
    else:
        _encode(source, choice, collapse, parent, name, stamp=stamp)
    return opened(place, block_rows, keeps=True)


def _encode(
    source: Any,
    choice: Choice,
    collapse: bool | None,
    parent: str,
    name: str,
    *,
    stamp: list[list[Any]] | None,
) -> None:
    with build_folder(parent, name) as folder, open_table(source, choice) as table:
        if table.in_memory:
            raise InvalidParameterError(
                f"scan: {choice.options.source} is in memory already; use read"
            )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", DataWarning)
            _encode_into(folder, table, choice, collapse, stamp, caught)
    for one in caught:
        if isinstance(one.message, DataWarning):
            warn(by_reader(str(one.message), one.message.on_command_line))


def _encode_into(
    folder: ColumnFolder,
    table: Table,
    choice: Choice,
    collapse: bool | None,
    stamp: list[list[Any]] | None,
    caught: Sequence[warnings.WarningMessage],
) -> None:
    encoded = table.encode_into(folder, collapse=collapse)
    said = [
        [str(one.message), one.message.on_command_line]
        for one in caught
        if isinstance(one.message, DataWarning)
    ]
    about = {
        "stamp": stamp,
        "warnings": said,
        "notes": encoded.notes,
        "n_source": encoded.n_source if encoded.is_collapsed else None,
        # Where equal rows are together, the cells of the rows held are fewer than those counted.
        "missing": None if encoded.is_collapsed else encoded.missing_counts,
    }
    folder.finish(encoded.variables, encoded.n_rows, about)


def opened(place: str, block_rows: int | None, *, keeps: bool) -> Scan:
    """Open a folder that is finished."""
    manifest = read_manifest(place)
    assert manifest is not None
    return Scan._mapped(
        *mapped(place, manifest),
        missing=manifest["missing"],
        notes=tuple(manifest["notes"]),
        n_source=manifest["n_source"],
        folder=Path(place) if keeps else None,
        block_rows=block_rows,
    )


# Bytes of a file that are looked at: in its beginning, its middle and its end.
_SAMPLE = 1 << 16


def stamp_of(files: Sequence[str]) -> list[list[Any]]:
    """Return what would be another if a file were another."""
    return [[os.path.abspath(path), *_stamp(path)] for path in files]


def _stamp(path: str) -> tuple[int, int, str]:
    status = os.stat(path)
    digest = hashlib.blake2b(digest_size=16)
    with open(path, "rb") as file:
        for start in sorted({0, max(0, status.st_size // 2), max(0, status.st_size - _SAMPLE)}):
            file.seek(start)
            digest.update(file.read(_SAMPLE))
    return status.st_size, status.st_mtime_ns, digest.hexdigest()


def reading_key(source: str, choice: Choice, collapse: bool | None) -> str:
    """Return a name for a source and the settings it is read with."""
    options, weights = choice.options, choice.weights
    weight_key = (
        weights if isinstance(weights, str) or weights is None else np.asarray(weights).tobytes()
    )
    what = (
        os.path.abspath(source),
        sorted(options.states.items()),
        options.missing,
        sorted(options.missing_values),
        options.max_states,
        options.allow_few_rows,
        choice.columns,
        choice.drop,
        choice.owner,
        choice.may_lack,
        choice.separator,
        choice.sheet,
        choice.encoding,
        collapse,
        weight_key,
    )
    return hashlib.blake2b(repr(what).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
