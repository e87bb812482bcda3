"""How the types of DuckDB columns become values: typed relations and Parquet files."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from bestdag.data.duck import DuckTable, Field
from bestdag.data.duck_connection import (
    described,
    hive_sql,
    one_line,
    run_sql,
    sql_name,
    sql_text,
    sql_texts,
)
from bestdag.errors import DataError

__all__ = ["explain_parquet_failure", "json_value", "parquet_table", "typed_fields"]

_INTEGERS = {
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "BIGNUM", "VARINT"),
}
_PLAIN = {"DATE", "TIME", "UUID", "INTERVAL", "TIMESTAMP WITH TIME ZONE", "TIME WITH TIME ZONE"}
_TIMES = {"TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"}


def typed_fields(relation: Any, names: Sequence[str]) -> list[Field]:
    """Describe the columns of a relation by their types."""
    fields = []
    for name, column, kind in zip(names, relation.columns, relation.types, strict=True):
        sql = sql_name(column)
        base = str(kind).upper().partition("(")[0].strip()
        if base == "VARCHAR":
            fields.append(Field(name, sql))
        elif base == "ENUM":
            states = tuple(dict(kind.children)["values"])
            fields.append(Field(name, f"{sql}::VARCHAR", declared=states))
        elif base == "BOOLEAN":
            fields.append(Field(name, f"{sql}::VARCHAR", lambda key: key == "true"))
        elif base in _INTEGERS:
            fields.append(Field(name, f"{sql}::VARCHAR", int, native=sql))
        elif base in ("FLOAT", "DOUBLE"):
            kind_of = np.float32 if base == "FLOAT" else float
            fields.append(Field(name, f"{sql}::VARCHAR", kind_of, native=sql))
        elif base == "DECIMAL":
            fields.append(Field(name, f"{sql}::VARCHAR", Decimal))
        elif base in _TIMES:
            fields.append(Field(name, f"{sql}::VARCHAR", _moment))
        elif base in _PLAIN:
            fields.append(Field(name, f"{sql}::VARCHAR"))
        elif base in ("NULL", '"NULL"'):
            fields.append(Field(name, "NULL::VARCHAR"))
        else:
            problem = f"holds {kind} values; text, numbers, booleans or dates are needed"
            fields.append(Field(name, "NULL::VARCHAR", problem=problem))
    return fields


def parquet_table(con: Any, sql_paths: Sequence[str], keys: Sequence[str] = ()) -> DuckTable:
    """Describe Parquet files, by the names they give their columns.

    `keys` are those of the folders that the files lie in.
    """
    origin = f"read_parquet({sql_texts(sql_paths)}, {hive_sql(keys)})"
    relation = described(con, origin)
    rows = run_sql(
        con,
        f"SELECT name, num_children FROM parquet_schema({sql_text(sql_paths[0])}) "
        f"WHERE file_name = (SELECT min(file_name) FROM parquet_schema({sql_text(sql_paths[0])}))",
    )
    # The schema lists a tree in preorder; DuckDB renames columns that differ by case only.
    names, inner = [], 0
    for name, n_children in rows[1:]:
        if inner == 0:
            names.append(name)
        else:
            inner -= 1
        inner += n_children or 0
    names += [key for key in keys if key not in names]
    return DuckTable(relation, typed_fields(relation, names), con, origin, by_column=True)


def explain_parquet_failure(paths: Sequence[Path], source: str, error: BaseException) -> DataError:
    """Say whether a file is no Parquet at all, or a damaged one."""
    for path in paths:
        with path.open("rb") as file:
            magic = file.read(4)
        if magic != b"PAR1":
            who = source if len(paths) == 1 else f"{str(path)!r}"
            return DataError(f"read: {who} is not a Parquet file")
    detail = one_line(error)
    if len(paths) == 1:
        detail = detail.replace(os.path.abspath(paths[0]), str(paths[0]))
    return DataError(f"read: {source} cannot be read as Parquet; is it complete? ({detail})")


def json_value(key: str) -> Any:
    """Read the text of one JSON value; null is a missing value."""
    return json.loads(key)


def _moment(key: str) -> Any:
    try:
        return datetime.fromisoformat(key)
    except ValueError:  # nanoseconds, years beyond 9999
        return key.replace(" ", "T")
