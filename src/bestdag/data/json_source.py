"""JSON lines: one object per line, through DuckDB."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bestdag.data.csv_source import check_bytes, open_bytes
from bestdag.data.duck import DuckTable, Field, interruptible, one_line, sql_text
from bestdag.data.duck_types import json_value
from bestdag.errors import DataError

__all__ = ["explain_json_failure", "json_table"]

_MAX_OBJECT_SIZE = 16 << 20


def json_table(con: Any, path: Path, sql_path: str, source: str) -> DuckTable:
    """Describe a file of JSON objects: columns are the keys that any line has."""
    check_bytes(path, source)
    compression = "gzip" if path.suffix.lower() == ".gz" else "uncompressed"
    relation = con.sql(
        f"FROM read_ndjson_objects({sql_text(sql_path)}, compression = '{compression}', "
        f"maximum_object_size = {_MAX_OBJECT_SIZE}, hive_partitioning = false)"
    )
    kinds = relation.aggregate("count(*), count(*) FILTER (json_type(json) <> 'OBJECT')")
    n_rows, n_other = interruptible(kinds.fetchall, con)[0]
    if n_other:
        raise explain_json_failure(path, source, ValueError("a line is not an object"))
    if n_rows == 0:
        raise DataError(f"read: {source} has no rows")
    first = relation.limit(1).project("json_keys(json)").fetchall()[0][0]
    listed = relation.project("unnest(json_keys(json)) AS k").aggregate("list(DISTINCT k)")
    found = interruptible(listed.fetchall, con)[0][0] or []
    names = list(dict.fromkeys([*first, *sorted(found)]))
    fields = [
        Field(name, f"(json->{sql_text(_pointer(name))})::VARCHAR", json_value) for name in names
    ]
    return DuckTable(relation, fields, con)


def explain_json_failure(path: Path, source: str, error: BaseException) -> DataError:
    """Find, with Python's json module, the first line that is not an object."""
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
    return DataError(f"read: {source} cannot be read as JSON lines: {one_line(error)}")


def _pointer(key: str) -> str:
    return "/" + key.replace("~", "~0").replace("/", "~1")
