"""One small table, and every way in which a user may hand it over.

A new way in is one line in `FILES`, `HELD_ELSEWHERE` or `IN_MEMORY`: every journey takes it.
"""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

import bestdag as bd

N = 80
_draw = np.random.default_rng(7)
_RAIN = _draw.choice(["no", "yes"], N).tolist()
_WET = [r if _draw.random() < 0.8 else "no" for r in _RAIN]
TABLE = {"rain": _RAIN, "size": _draw.integers(1, 4, N).tolist(), "wet": _WET}
DATA = bd.read(TABLE)
CODES = np.array([[TABLE["size"][i], i % 2, int(w == "yes")] for i, w in enumerate(_WET)])


def _text(separator: str) -> bytes:
    rows = [list(TABLE), *zip(*TABLE.values(), strict=True)]
    return "".join(separator.join(map(str, row)) + "\n" for row in rows).encode()


def _zipped(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("rows.csv", _text(","))


def _parts(folder: Path) -> None:
    folder.mkdir()
    pq.write_table(pa.table(TABLE).slice(0, 50), folder / "a.parquet")
    pq.write_table(pa.table(TABLE).slice(50), folder / "b.parquet")


def _rows() -> list[dict[str, object]]:
    return [dict(zip(TABLE, row, strict=True)) for row in zip(*TABLE.values(), strict=True)]


_JSON = "\n".join(map(json.dumps, _rows())).encode()

# Name of the file, and how it is written there.
FILES = {
    "rows.csv": lambda path: path.write_bytes(_text(",")),
    "rows.csv.gz": lambda path: path.write_bytes(gzip.compress(_text(","))),
    "rows.zip": _zipped,
    "rows.txt": lambda path: path.write_bytes(_text(",")),
    "rows.tsv": lambda path: path.write_bytes(_text("\t")),
    "rows.tsv.gz": lambda path: path.write_bytes(gzip.compress(_text("\t"))),
    "rows.jsonl": lambda path: path.write_bytes(_JSON),
    "rows.ndjson.gz": lambda path: path.write_bytes(gzip.compress(_JSON)),
    "rows.parquet": lambda path: pq.write_table(pa.table(TABLE), path),
    "rows.xlsx": lambda path: pd.DataFrame(TABLE).to_excel(path, index=False),
    "parts": _parts,
}


def write_files(folder: Path) -> None:
    """Write the table once in every kind of file."""
    for name, write in FILES.items():
        write(folder / name)


def _connection() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    con.execute("SET threads = 1")
    con.register("frame", pa.table(TABLE))
    con.execute("CREATE TABLE t AS FROM frame")
    con.unregister("frame")
    return con


def _structured() -> np.ndarray:
    rows = list(zip(*TABLE.values(), strict=True))
    return np.array(rows, dtype=[("rain", "U3"), ("size", "i4"), ("wet", "U3")])


# What is read in pieces: streams, and tables that DuckDB holds or finds.
HELD_ELSEWHERE = {
    "pattern": lambda folder: str(folder / "parts" / "*.parquet"),
    "text stream": lambda _: io.StringIO(_text(",").decode()),
    "byte stream": lambda _: io.BytesIO(_text(",")),
    "relation": lambda _: _connection().sql("FROM t"),
    "connection": lambda _: _connection(),
    "sql": lambda folder: bd.sql(f"SELECT * FROM '{folder / 'rows.parquet'}'"),
    "sql on a connection": lambda _: bd.sql("FROM t", _connection()),
}
IN_MEMORY = {
    "dict of lists": lambda _: dict(TABLE),
    "dict of arrays": lambda _: {name: np.array(column) for name, column in TABLE.items()},
    "pandas": lambda _: pd.DataFrame(TABLE),
    "pandas with an index": lambda _: pd.DataFrame(TABLE, index=range(100, 100 + N)),
    "pandas categorical": lambda _: pd.DataFrame(TABLE).astype("category"),
    "pandas nullable": lambda _: pd.DataFrame(TABLE).convert_dtypes(),
    "polars": lambda _: pl.DataFrame(TABLE),
    "lazy polars": lambda _: pl.LazyFrame(TABLE),
    "polars categorical": lambda _: pl.DataFrame(TABLE).cast({pl.String: pl.Categorical}),
    "arrow": lambda _: pa.table(TABLE),
    "arrow dictionaries": lambda _: pa.Table.from_pandas(pd.DataFrame(TABLE).astype("category")),
    "arrow batch": lambda _: pa.RecordBatch.from_pydict(TABLE),
    "arrow reader": lambda _: pa.table(TABLE).to_reader(),
    "structured array": lambda _: _structured(),
    "records": lambda _: pd.DataFrame(TABLE).to_records(index=False),
}
SCANNED = {
    **{name: lambda folder, name=name: folder / name for name in FILES},
    "path as text": lambda folder: str(folder / "rows.csv"),
    **HELD_ELSEWHERE,
}
# Every way in: a function of the folder with the files.
WAYS_IN = SCANNED | IN_MEMORY | {"Dataset": lambda _: DATA}
