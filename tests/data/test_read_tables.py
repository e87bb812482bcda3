"""read and export: pandas, polars, pyarrow, DuckDB, Parquet, JSON lines, NumPy, dicts."""

import datetime
import gzip
import os
import signal
import subprocess
import sys
import textwrap
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

from bestdag.data.dataset import Dataset
from bestdag.data.readers import read
from bestdag.data.schema import Variable
from bestdag.errors import DataError, FileError, InvalidParameterError
from tests.conftest import examples
from tests.data.test_dataset import datasets
from tests.signals import GUARD

# One table, as every package would hold it: text, integers, whole and other floats, booleans of
# which one is never seen, dates, and a missing value in each column.
DAY = [datetime.date(2021, 3, 4), None, datetime.date(2020, 1, 2)]
PLAIN = {
    "text": ["b", None, "a"],
    "int": [10, None, 9],
    "whole": [2.0, None, 1.0],
    "float": [2.0, None, 1.5],
    "bool": [True, None, True],
    "day": DAY,
}
STATES = {
    "text": ("a", "b"),
    "int": ("9", "10"),
    "whole": ("1", "2"),
    "float": ("1.5", "2.0"),
    "bool": ("False", "True"),
    "day": ("2020-01-02", "2021-03-04"),
}
CODES = {name: [1, 2, 0] for name in PLAIN} | {"bool": [1, 2, 1]}


def as_pandas(**types):
    frame = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in PLAIN.items()})
    return frame.astype(types)


def arrow():
    return pa.table({name: pa.array(values) for name, values in PLAIN.items()})


def parquet(tmp_path):
    pq.write_table(arrow(), tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


def json_lines(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text(
        '{"text": "b", "int": 10, "whole": 2.0, "float": 2.0, "bool": true, "day": "2021-03-04"}\n'
        '{"text": null, "bool": null}\n'
        '{"day": "2020-01-02", "int": 9, "text": "\\u0061", "whole": 1, "float": 1.5,'
        ' "bool": true}\n'
    )
    return path


# Before pandas 3, astype(str) turns a missing value into the text "None".
TEXT = "str" if int(pd.__version__.partition(".")[0]) >= 3 else "object"

SOURCES = {
    "dict": lambda _: PLAIN,
    "pandas objects": lambda _: as_pandas(),
    "pandas numpy": lambda _: as_pandas(
        int="float64", whole="float64", float="float64", day="datetime64[ns]", text=TEXT
    ),
    "pandas nullable": lambda _: as_pandas(
        int="Int64", whole="Float64", float="Float64", bool="boolean", text="string"
    ),
    "pandas arrow": lambda _: arrow().to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda _: pl.DataFrame(PLAIN),
    "polars lazy": lambda _: pl.DataFrame(PLAIN).lazy(),
    "arrow": lambda _: arrow(),
    "arrow chunks": lambda _: pa.concat_tables([arrow()[:1], arrow()[1:]]),
    "duckdb": lambda folder: duckdb.connect().read_parquet(str(parquet(folder))),
    "parquet": parquet,
    "json lines": json_lines,
}


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_gives_the_same_table(kind, tmp_path):
    data = read(SOURCES[kind](tmp_path), missing="keep")
    assert data.names == tuple(PLAIN)
    assert {v.name: v.states for v in data.variables} == STATES
    assert {name: data.codes(name).tolist() for name in data.names} == CODES


@pytest.mark.parametrize("kind", SOURCES)
def test_weights_come_from_any_source(kind, tmp_path):
    with pytest.raises(
        DataError, match=r"weights in column 'int' must be numbers, got .* in row 2"
    ):
        read(SOURCES[kind](tmp_path), missing="keep", weights="int")


def test_declared_states_are_kept_in_order_and_unseen():
    levels = ["z", "y", "x"]
    con = duckdb.connect()
    frames = [
        pd.DataFrame({"c": pd.Categorical(["x", "y", None], categories=levels)}),
        {"c": pd.Categorical(["x", "y", None], categories=levels)},
        pl.DataFrame({"c": pl.Series(["x", "y", None], dtype=pl.Enum(levels))}),
        pa.table({"c": pa.DictionaryArray.from_arrays(pa.array([2, 1, None]), pa.array(levels))}),
        con.sql("SELECT unnest(['x', 'y', NULL])::ENUM('z', 'y', 'x') AS c"),
    ]
    for frame in frames:
        data = read(frame, missing="keep", max_states=1)  # declared states are not limited
        assert data.variable("c").states == ("z", "y", "x")
        assert data.codes("c").tolist() == [2, 1, 3]


def test_number_categories_have_number_labels():
    frame = pd.DataFrame({"c": pd.Categorical([3.0, 1.0], categories=[3.0, 2.0, 1.0])})
    assert read(frame).variable("c").states == ("3", "2", "1")


def test_polars_categorical_declares_nothing():
    frame = pl.DataFrame({"c": pl.Series(["b", "a", "b"], dtype=pl.Categorical)})
    assert read(frame).variable("c").states == ("a", "b")


def test_dictionaries_that_differ_between_chunks_are_united():
    parts = [pa.array(["a", "b"]).dictionary_encode(), pa.array(["c", "a"]).dictionary_encode()]
    data = read(pa.table({"c": pa.chunked_array(parts)}))
    assert [data.variable("c").states[k] for k in data.codes("c")] == ["a", "b", "c", "a"]


def test_single_precision_is_labelled_in_single_precision(tmp_path):
    narrow = np.array([0.1, 2.5, np.nan], dtype=np.float32)
    table = pa.table({"f": narrow})
    pq.write_table(table, tmp_path / "f.parquet")
    for source in ({"f": narrow}, table, pl.DataFrame({"f": narrow}), tmp_path / "f.parquet"):
        data = read(source, missing="keep")
        assert data.variable("f").states == ("0.1", "2.5")
        assert data.codes("f").tolist() == [0, 1, 2]


def test_both_zeros_are_one_state(tmp_path):
    values = [0.0, -0.0, 1.5, -0.0]
    pq.write_table(pa.table({"f": values}), tmp_path / "f.parquet")
    for source in ({"f": values}, {"f": np.array(values)}, tmp_path / "f.parquet"):
        data = read(source)
        assert data.variable("f").states == ("0.0", "1.5")
        assert data.codes("f").tolist() == [0, 0, 1, 0]


def test_the_limit_counts_states_not_spellings(tmp_path):
    # Fifty states, written in 101 ways: 0 ... 49, 0.0 ... 49.0 and -0.0.
    texts = [str(k) for k in range(50)] + [f"{k}.0" for k in range(50)] + ["-0.0"]
    path = tmp_path / "t.jsonl"
    path.write_text("".join(f'{{"a": {text}}}\n' for text in texts))
    assert read(path).variable("a").states == tuple(str(k) for k in range(50))
    values = [k / 2 for k in range(50)] + [-0.0, float("nan")]
    pq.write_table(pa.table({"f": values}), tmp_path / "f.parquet")
    assert read(tmp_path / "f.parquet", missing="keep").arities["f"] == 50


def test_other_types_have_their_usual_text(tmp_path):
    table = pa.table(
        {
            "moment": pa.array(
                [datetime.datetime(2020, 1, 2, 3, 4, 5), datetime.datetime(2020, 1, 2)]
            ),
            "money": pa.array([Decimal("1.50"), Decimal("2.00")]),
            "big": pa.array([2**62, 7]),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    for source in (table, tmp_path / "t.parquet", table.to_pandas()):
        states = {v.name: v.states for v in read(source).variables}
        assert states["moment"] == ("2020-01-02T00:00:00", "2020-01-02T03:04:05")
        assert states["money"] == ("1.50", "2.00")
        assert states["big"] == ("7", str(2**62))


def test_arrays_take_their_names_from_columns():
    data = read(np.array([[1, 5], [0, 7]]), columns=["x", "y"])
    assert data.variable("y").states == ("5", "7")
    assert data.codes("x").tolist() == [1, 0]
    pairs = np.array([(1, "b"), (0, "a")], dtype=[("i", "i4"), ("s", "U3")])
    assert read(pairs).names == ("i", "s")
    hidden = np.ma.masked_array([1, 2, 3], mask=[False, True, False])
    assert read({"m": hidden}, missing="keep").codes("m").tolist() == [0, 2, 1]
    assert read(np.array([[1, 5], [0, 7]])).names == ("0", "1")
    assert read(np.array([[1, 5], [0, 7]]), columns=["1"]).names == ("1",)
    with pytest.raises(InvalidParameterError, match="has 2 columns, columns= gives 1 names"):
        read(np.array([[1, 5]]), columns=["x"])
    with pytest.raises(DataError, match="two dimensions"):
        read(np.array([1, 5]), columns=["x"])


def test_truth_and_one_are_different_values():
    data = read({"a": [True, 1, True]})
    assert [data.variable("a").states[k] for k in data.codes("a")] == ["True", "1", "True"]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (42, "cannot read an object of type int"),
        (None, "cannot read an object of type NoneType"),
        ({}, "no columns"),
        ({"a": []}, "no rows"),
        ({"a": "abc"}, "must be a list of values"),
        ({"a": 3}, "must be a list of values"),
        ({"a": [1, 2], "b": [1]}, "column 'b' has 1 rows, column 'a' has 2"),
        ({"a": [[1], [2]]}, "holds list values"),
        ({"a": [b"x", b"y"]}, "holds bytes values"),
        ({"a": [object(), 1]}, "holds object values"),
        ({"a": ["x\0", "y"]}, "NUL character"),
        ({"": [1, 2]}, "column 1 has no name"),
        ({1.5: [1, 2]}, "names must be text, got 1.5"),
        ({True: [1, 2]}, "names must be text, got True"),
        ({1: [1, 2], "1": [1, 2]}, "columns 1 and '1' would both be called '1'; rename one"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "two columns are called 'a'"),
        (
            pd.DataFrame([[1, 2]], columns=[("a", "b"), ("a", "c")]),
            r"must be text, got \('a', 'b'\)",
        ),
        (pd.DataFrame({"a": [1]})[:0], "no rows"),
        (pd.DataFrame(index=[0, 1]), "no columns"),
        (pl.DataFrame({"a": [[1], [2]]}), "holds list values"),
        (pl.DataFrame({"a": pl.Series([], dtype=pl.String)}), "no rows"),
        (pa.table({"a": pa.array([[1], [2]])}), "holds list values"),
    ],
)
def test_tables_that_cannot_be_used_are_refused_in_one_line(source, message):
    with pytest.raises(DataError, match=message) as caught:
        read(source)
    assert str(caught.value).startswith("read: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT 1 AS a WHERE false", "no rows"),
        ("SELECT [1] AS a", r"column 'a' holds INTEGER\[\] values"),
        ("SELECT error('first' || chr(10) || 'second')::VARCHAR AS a", "cannot be read: first$"),
    ],
)
def test_relations_that_cannot_be_used_are_refused_in_one_line(sql, message):
    with duckdb.connect() as con, pytest.raises(DataError, match=message):
        read(con.sql(sql))


def test_parquet_names_that_differ_by_case_stay_as_they_are(tmp_path):
    table = pa.table({"a": [1, 2], "s": [{"x": 1}, {"x": 2}], "A": [4, 3]})
    pq.write_table(table, tmp_path / "t.parquet")
    data = read(tmp_path / "t.parquet", drop="s")
    assert data.names == ("a", "A")
    assert data.codes("A").tolist() == [1, 0]


def test_damaged_files_are_refused(tmp_path):
    whole = parquet(tmp_path).read_bytes()
    for name, content, message in [
        ("text.parquet", b"hello", "is not a Parquet file"),
        ("cut.parquet", whole[:-30], "cannot be read as Parquet"),
        ("cut.jsonl", b'{"a": 1}\n{"a":\n', "is not JSON in line 2"),
        ("list.jsonl", b'{"a": 1}\n\n[1]\n', "got list in line 3"),
        ("nested.jsonl", b'{"a": 1}\n{"a": {"b": 2}}\n', "holds dict values"),
        ("nul.jsonl", b'{"a": "\\u0000"}\n{"a": "x"}\n', "NUL"),
        ("empty.jsonl", b"\n\n", "no rows"),
    ]:
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(DataError, match=message) as caught:
            read(path)
        assert "\n" not in str(caught.value)
        assert str(caught.value).startswith(f"read: {str(path)!r}")


def test_json_keys_of_any_text_and_compressed(tmp_path):
    path = tmp_path / "t.ndjson.gz"
    path.write_bytes(gzip.compress(b'{"a/b~\'\\"": 1, "$": "x"}\n{"a/b~\'\\"": 2, "$": "y"}\n'))
    data = read(path)
    assert data.names == ("a/b~'\"", "$")
    assert data.codes("$").tolist() == [0, 1]


def test_a_relation_is_read_in_its_own_connection_and_leaves_nothing_there():
    con = duckdb.connect()
    con.execute("CREATE TABLE t AS SELECT i % 3 AS a, i AS n FROM range(9) r(i)")
    before = con.sql("SELECT * FROM duckdb_tables()").fetchall(), con.sql("SHOW TABLES").fetchall()
    data = read(con.sql("FROM t ORDER BY n DESC"), weights="n")
    assert data.codes("a").tolist() == [2, 1, 0] * 3
    assert data.weights.tolist() == [8, 7, 6, 5, 4, 3, 2, 1, 0]
    assert before == (
        con.sql("SELECT * FROM duckdb_tables()").fetchall(),
        con.sql("SHOW TABLES").fetchall(),
    )


def test_many_columns_of_every_width_are_unpacked_in_place(tmp_path):
    # 8-bit, 16-bit and again 8-bit columns share words of eight bytes.
    n, arities = 3000, [2, 300, 3, 256, 255, 7, 2, 2, 1000, 5, 2, 2, 4]
    columns = {f"v{i}": [(k + i) % r for k in range(n)] for i, r in enumerate(arities)}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    assert read(tmp_path / "t.parquet", max_states=1000) == read(columns, max_states=1000)


@pytest.mark.parametrize("export", ["to_pandas", "to_polars", "to_arrow"])
@settings(max_examples=examples(25), deadline=None)
@given(data=datasets())
@pytest.mark.filterwarnings("ignore::bestdag.errors.DataWarning")
def test_exports_read_back_as_the_same_dataset(export, data):
    frame = getattr(data, export)()
    weights = None if data.weights is None else "weight"
    assert read(frame, missing="keep", weights=weights) == data


def test_csv_export_writes_weights_and_missing_cells(tmp_path):
    data = read(
        {"a": ["x", None, "y"], "weight": ["1", "2", "3"]}, missing="keep", weights=[1, 2, 3]
    )
    with pytest.raises(DataError, match="a variable is called 'weight'"):
        data.to_csv(tmp_path / "t.csv")
    data.to_csv(tmp_path / "t.csv", weights="n")
    assert (tmp_path / "t.csv").read_text() == "a,weight,n\nx,1,1\n,2,2\ny,3,3\n"
    assert read(tmp_path / "t.csv", missing="keep", weights="n") == data


def test_csv_export_is_complete_or_untouched(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("before")
    path.chmod(0o640)

    class Failing(Dataset):
        def codes(self, name):
            raise ZeroDivisionError

    data = read({"a": ["x", "y"]})
    with pytest.raises(ZeroDivisionError):
        Failing(data.variables, [data.codes("a")]).to_csv(path)
    assert path.read_text() == "before"
    assert [p.name for p in tmp_path.iterdir()] == ["t.csv"]
    data.to_csv(path)
    assert path.read_text() == "a\nx\ny\n"
    assert path.stat().st_mode & 0o777 == 0o640
    with pytest.raises(FileError, match="is a directory"):
        data.to_csv(tmp_path)
    with pytest.raises(FileError, match="cannot be written"):
        data.to_csv(tmp_path / "none" / "t.csv")


def test_csv_export_refuses_what_a_file_cannot_tell_apart():
    data = Dataset([Variable("a", ("", "y"))], [np.array([0, 2, 1])])
    with pytest.raises(DataError, match="empty text as a state and missing values"):
        data.to_csv("never-written.csv")
    with pytest.raises(DataError, match="no CSV file can hold"):
        Dataset([Variable("a", ("\ud800", "y"))], [np.array([0, 1])]).to_csv("never.csv")


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_ends_a_query_at_once_and_leaves_nothing():
    code = """
        import os, signal, sys, tempfile, threading, time
        from bestdag.data.sources.connection import connection
        from bestdag.data.sources.connection import interruptible
        with tempfile.TemporaryDirectory() as folder:
            tempfile.tempdir = folder
            try:
                with connection() as con:
                    big = "range(10000000) a(i), range(1000000) b(j)"
                    slow = con.sql(f"SELECT sum(hash(i * j)) FROM {big}")
                    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
                    interruptible(slow.fetchall, con)
            except KeyboardInterrupt:
                print("interrupted", os.listdir(folder), threading.active_count())
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=GUARD,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert run.stdout.startswith("interrupted []"), run.stderr
