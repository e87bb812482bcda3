"""JSON lines: one object per line, through DuckDB."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bestdag.data.sources.connection import described, one_line, run_sql, sql_text, sql_texts
from bestdag.data.sources.csv import check_bytes, open_bytes
from bestdag.data.sources.duckdb import MAX_TOGETHER, DuckTable, Field, json_value
from bestdag.errors import DataError

__all__ = ["explain_json_failure", "json_table"]

_MAX_OBJECT_SIZE = 16 << 20


def json_table(con: Any, paths: Sequence[Path], sql_paths: Sequence[str], source: str) -> DuckTable:
    """Describe files of JSON objects: columns are the keys that any line has."""
    for path in paths:
        check_bytes(path, source if len(paths) == 1 else f"{str(path)!r}")
    compression = "gzip" if paths[0].suffix.lower() == ".gz" else "uncompressed"
    origin = (
        f"read_ndjson_objects({sql_texts(sql_paths)}, compression = '{compression}', "
        f"maximum_object_size = {_MAX_OBJECT_SIZE}, hive_partitioning = false)"
    )
    kinds = "count(*), count(*) FILTER (json_type(json) <> 'OBJECT')"
    n_rows, n_other = run_sql(con, f"SELECT {kinds} FROM {origin}")[0]
    if n_other:
        raise explain_json_failure(paths, source, ValueError("a line is not an object"))
    if n_rows == 0:
        raise DataError(f"read: {source} has no rows")
    first = run_sql(con, f"SELECT json_keys(json) FROM {origin} LIMIT 1")[0][0]
    keys = f"SELECT unnest(json_keys(json)) AS k FROM {origin}"
    other_keys = run_sql(con, f"SELECT list(DISTINCT k) FROM ({keys})")[0][0] or []
    names = list(dict.fromkeys([*first, *sorted(other_keys)]))
    pointers = [sql_text(_pointer(name)) for name in names]
    cells = [f"(json->{pointer})::VARCHAR" for pointer in pointers]
    if len(names) > MAX_TOGETHER:  # DuckDB would parse each line once per column
        origin = f"(SELECT json_extract(json, [{', '.join(pointers)}]) AS cells FROM {origin})"
        cells = [f"cells[{i}]::VARCHAR" for i in range(1, len(names) + 1)]
    fields = [Field(name, cell, json_value) for name, cell in zip(names, cells, strict=True)]
    return DuckTable(described(con, origin), fields, source, con, origin)


def explain_json_failure(paths: Sequence[Path], source: str, error: BaseException) -> DataError:
    """Find, with Python's json module, the first line that is not an object."""
    for path in paths:
        reason = _first_wrong_line(path, source if len(paths) == 1 else f"{str(path)!r}")
        if reason is not None:
            return reason
    return DataError(f"read: {source} cannot be read as JSON lines: {one_line(error)}")


def _first_wrong_line(path: Path, source: str) -> DataError | None:
    with open_bytes(path) as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except json.JSONDecodeError as wrong:
                return DataError(f"read: {source} is not JSON in line {number:,}: {wrong.msg}")
            if not isinstance(value, dict):
                return DataError(
                    f"read: {source}: an object {{...}} per line is needed, "
                    f"got {type(value).__name__} in line {number:,}"
                )
    return None


def _pointer(key: str) -> str:
    return "/" + key.replace("~", "~0").replace("/", "~1")
