"""read: tables of very many columns, whatever the source, in seconds."""

import numpy as np
import pytest

from bestdag.data.readers import read
from bestdag.errors import DataError

duckdb = pytest.importorskip("duckdb")


def wide_columns(n_columns, n_rows):
    rng = np.random.default_rng(5)
    cells = rng.integers(0, 4, (n_columns, n_rows)).astype(str)
    cells[:, :4] = ["0", "1", "2", "3"]  # so that every column has all its states
    columns = {f"x{i}": cells[i].tolist() for i in range(n_columns)}
    columns["x7"][5] = ""
    columns["n"] = [1 + i % 3 for i in range(n_rows)]
    return columns


def stored(columns, kind, folder):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(columns)
    path = folder / f"wide.{kind}"
    if kind == "relation":
        return duckdb.connect().from_arrow(table)
    if kind == "parquet":
        from pyarrow import parquet

        parquet.write_table(table, path)
    elif kind == "csv":
        rows = zip(*columns.values(), strict=True)
        lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
        path.write_text("\n".join(lines) + "\n")
    else:
        import json

        path.write_text("\n".join(map(json.dumps, table.to_pylist())) + "\n")
    return path


# 50 rows are taken whole; 2,500 are asked for their distinct values first.
@pytest.mark.parametrize(("n_columns", "n_rows"), [(1000, 50), (150, 2500)])
@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl", "relation"])
def test_a_thousand_columns_mean_what_few_do(kind, n_columns, n_rows, tmp_path):
    columns = wide_columns(n_columns, n_rows)
    source = stored(columns, kind, tmp_path)
    data = read(source, weights="n", missing="keep")
    assert data == read(columns, weights="n", missing="keep")
    assert data.missing_counts == {"x7": 1}


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl", "relation"])
def test_wide_tables_are_refused_like_others(kind, tmp_path):
    columns = wide_columns(100, 60)
    columns["id"] = [str(i) for i in range(60)]
    columns["n"] = ["1", "2", "3", "four"] * 15
    source = stored(columns, kind, tmp_path)
    with pytest.raises(DataError, match=r"column 'id' has too many distinct values \(60 > max_st"):
        read(source, missing="keep")
    with pytest.raises(DataError, match=r"column 'n' must be numbers, got .* in row"):
        read(source, missing="keep", drop="id", weights="n")
