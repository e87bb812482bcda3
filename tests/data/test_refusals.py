"""read and Dataset: arguments and tables that cannot be meant, refused in one line."""

import io
import sys

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from bestdag.data.dataset import Dataset
from bestdag.data.readers import read
from bestdag.errors import BestdagError, DataError, InvalidParameterError

TABLE = {"a": ["x", "y"], "b": ["u", "v"]}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"columns": 3.5}, "columns must be a list of names, got 3.5"),
        ({"columns": [["a"]]}, r"columns must be a list of names, got \['a'\]"),
        ({"drop": True}, "drop must be a list of names, got True"),
        ({"missing_values": None}, "missing_values must be a list of texts, got None"),
        ({"missing_values": 5.0}, "missing_values must be a list of texts, got 5.0"),
        ({"missing_values": ["", b"x"]}, "missing_values must be a list of texts, got b'x'"),
        ({"states": ["x"]}, "states must map column names to lists of texts"),
        ({"states": {"a": 3}}, "states of 'a' must be a list of texts, got 3"),
    ],
)
def test_settings_of_a_wrong_type_are_named(settings, message):
    with pytest.raises(InvalidParameterError, match=message):
        read(TABLE, **settings)


def test_weights_that_are_text_are_called_so():
    with pytest.raises(DataError, match="weights must be numbers, got text"):
        read(TABLE, weights=["p", "q"])


def test_streams_that_cannot_be_read(tmp_path, monkeypatch):
    closed = io.StringIO("a\nx\n")
    closed.close()
    with pytest.raises(DataError, match="cannot be read: I/O operation on closed file"):
        read(closed)
    with (tmp_path / "out.csv").open("w") as stream, pytest.raises(DataError, match="not readable"):
        read(stream)
    wrong = io.TextIOWrapper(io.BytesIO(b"a\n\xff\n"), "utf-8")
    with pytest.raises(DataError, match="holds what is not text"):
        read(wrong)
    with pytest.raises(DataError, match="holds what is not text"):
        read(io.StringIO("a\n\ud800\n"))

    class Odd:
        def read(self, size):
            return size

    with pytest.raises(DataError, match=r"must give text or bytes, its read\(\) gave int"):
        read(Odd())
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(DataError, match="standard input is closed"):
        read("-")


def test_an_arrow_reader_is_read_as_its_table():
    table = pa.table(TABLE)
    assert read(table.to_reader()) == read(table)


def test_relation_columns_that_differ_only_in_case_are_refused():
    with duckdb.connect() as con:
        relation = con.sql("SELECT 1 AS x").project("x AS a, x + 1 AS A")
        assert relation.columns == ["a", "A"]
        with pytest.raises(DataError, match=r"columns 'a' and 'A' differ only in case.*rename"):
            read(relation)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ({"x", "y"}, "column 'a' is a set, whose values have no order"),
        (frozenset("xy"), "column 'a' is a set, whose values have no order"),
        (pd.Categorical([1, "1"], categories=[1, "1"]), "categories 1 and '1', which would be one"),
        ([1j, 2.0], "holds complex values"),
        (np.array([1j, 2.0]), "holds complex values"),
        (["\ud800", "x"], "has a value that is not valid text"),
    ],
)
def test_columns_that_have_no_clear_states_are_refused(column, message):
    with pytest.raises(DataError, match=message):
        read({"a": column})


def test_a_name_that_is_not_valid_text_is_refused():
    with pytest.raises(DataError, match="the name of column 1 is not valid text"):
        read({"\udc80": ["x", "y"]})


def test_concat_needs_datasets():
    data = read(TABLE)
    with pytest.raises(InvalidParameterError, match="a list of Datasets is needed, got one Data"):
        Dataset.concat(data)
    with pytest.raises(InvalidParameterError, match="Datasets are needed, got int as number 2"):
        Dataset.concat([data, 3])


@pytest.mark.parametrize("name", ["t.csv", "t.TSV", "t.txt.gz", "t.csv.gz"])
def test_csv_is_written_under_names_that_read_knows(name, tmp_path):
    data = read(TABLE)
    data.to_csv(tmp_path / name)
    assert read(tmp_path / name) == data


@pytest.mark.parametrize("name", ["t.parquet", "t.jsonl", "t.csv.zip", "t", ".gz", ""])
def test_csv_is_written_under_no_other_name(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidParameterError, match=r"^to_csv: .*(\.csv, \.tsv, \.txt|empty one)"):
        read(TABLE).to_csv(name)
    assert not list(tmp_path.iterdir())


def test_csv_needs_a_path_or_a_stream_for_text(tmp_path):
    data = read(TABLE)
    with pytest.raises(InvalidParameterError, match="a path or an open text stream is needed"):
        data.to_csv(None)
    closed = io.StringIO()
    closed.close()
    for stream in (io.BytesIO(), closed):
        with pytest.raises(BestdagError, match="a stream open for writing text is needed"):
            data.to_csv(stream)
    data.to_csv("/dev/null")
