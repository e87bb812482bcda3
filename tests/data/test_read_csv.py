"""read: CSV and TSV files and streams, exactly as written."""

import csv
import gzip
import io
import os
import string
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestdag.data.readers import read
from bestdag.errors import DataError
from tests.conftest import examples
from tests.shared_data import shared_file


@pytest.fixture
def write(tmp_path):
    def make(content, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make


def cells(data):
    """The table as text again, None for a missing value."""
    return [
        [(*data.variable(n).states, None)[data.codes(n)[row]] for n in data.names]
        for row in range(data.n_rows)
    ]


def test_labels_are_the_text_of_the_cells_and_nothing_is_guessed(write):
    data = read(write("a,b,c,d\nyes, 1,1.0,2020-1-1\nno,1 ,01,NULL\n"))
    assert cells(data) == [["yes", " 1", "1.0", "2020-1-1"], ["no", "1 ", "01", "NULL"]]


@pytest.mark.parametrize(
    ("column", "states"),
    [
        (["10", "9", "-1.5", "1e1"], ("-1.5", "9", "10", "1e1")),  # numbers; equal ones by text
        (["10", "9", "b"], ("10", "9", "b")),  # code points
        (["b", "B", "a", "é"], ("B", "a", "b", "é")),
        (["10", "9", "nan"], ("10", "9", "nan")),  # nan and inf are no finite numbers
        (["10", "9", "inf"], ("10", "9", "inf")),
        (["1_0", "9"], ("1_0", "9")),
    ],
)
def test_states_sort_as_numbers_or_by_code_point(write, column, states):
    data = read(write("v,w\n" + "".join(f"{cell},{i % 2}\n" for i, cell in enumerate(column))))
    assert data.variable("v").states == states
    assert [row[0] for row in cells(data)] == column


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends_and_byte_order_mark(write, end, last):
    lines = [b"\xef\xbb\xbfa,b", b'1,"x\ny"', b"2,z"]
    data = read(write(end.join(lines) + (end if last else b"")))
    assert data.names == ("a", "b")
    assert cells(data) == [["1", "x\ny"], ["2", "z"]]


def test_quotes_commas_newlines_in_names_and_cells(write):
    data = read(write('"a ""x"", y","b\n\n😀"\n"1,2","p""q"\n"\r\n",\'\n'))
    assert data.names == ('a "x", y', "b\n\n😀")
    assert cells(data) == [["1,2", 'p"q'], ["\r\n", "'"]]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("inside", ["\n", "\r\n", "\r"])
def test_a_line_break_inside_a_name_is_not_taken_for_the_end_of_lines(write, end, inside):
    data = read(write(end.join([f'"a{inside}b",c', f'"{inside}",2', "3,4", ""])))
    assert data.names == (f"a{inside}b", "c")
    assert cells(data) == [[inside, "2"], ["3", "4"]]


def test_blank_lines_are_no_rows_but_empty_cells_of_a_single_column(write):
    assert cells(read(write("a,b\n1,2\n\n3,4\n\n"))) == [["1", "2"], ["3", "4"]]
    assert cells(read(write("a\n1\n\n2\n"), missing="keep")) == [["1"], [None], ["2"]]


def test_kinds_by_ending_compressed_or_not(write):
    comma, tab = "a,b\n1,2\n3,4\n", "a\tb\n1\t2\n3\t4\n"
    expected = read(write(comma))
    assert read(write(comma, "t.txt")) == expected
    assert read(write(comma, "T.CSV")) == expected
    assert read(write(tab, "t.tsv")) == expected
    assert read(write(gzip.compress(comma.encode()), "t.csv.gz")) == expected
    assert read(write(gzip.compress(tab.encode()), "t.tsv.gz")) == expected
    assert read(str(write(comma, "a*[1]?{x}'.csv"))) == expected  # no pattern, no SQL
    assert read(write(tab.encode(), "t.tsv"), columns="b").names == ("b",)


def test_folders_that_look_like_partitions_add_no_column(tmp_path, write):
    (tmp_path / "k=3").mkdir()
    assert read(write("a,b\n1,2\n3,4\n", "k=3/t.csv")).names == ("a", "b")


def test_streams_and_standard_input():
    text = "a,b\n1,é\n3,4\n"
    expected = read(io.StringIO(text))
    assert cells(expected) == [["1", "é"], ["3", "4"]]
    assert read(io.BytesIO(text.encode())) == expected
    code = "import sys, bestdag; sys.stdout.buffer.write(repr(bestdag.read(sys.argv[1])).encode())"
    for name in ("-", "/dev/stdin"):
        run = subprocess.run(
            [sys.executable, "-c", code, name], input=text.encode(), capture_output=True, check=True
        )
        assert run.stdout.decode() == repr(expected)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"table.csv' is empty"),
        ("a,b\n", r"table.csv' has no rows"),
        ("a,b", r"table.csv' has no rows"),
        ("\na,b\n1,2\n", "begins with a blank line"),
        ("a,b\n1,2\n3\n", "has 2 columns, but 1 cell in line 3"),
        ('a,b\n"x\ny",2\n1,2,3\n', "has 2 columns, but 3 cells in line 4"),
        ("a,b\n1,2,\n3,4,\n", "has 2 columns, but 3 cells in line 2"),
        ('a,b\n1,2\n3,4,""\n', "has 2 columns, but 3 cells in line 3"),
        ("a,b\n1,2\n3,4,", "has 2 columns, but 3 cells in line 3"),
        ("a,b,a\n1,2,3\n", "two columns are called 'a'"),
        ("a,,b\n1,2,3\n", "column 2 has no name"),
        (b"a,b\n1,2\n\xff,3\n", "not UTF-8 text: see line 3"),
        (b"a\xe9,b\n1,2\n", "not UTF-8 text: see line 1"),
        (b"a,b\n1,2\n3,\xc3", "not UTF-8 text: it ends inside a character in line 3"),
        ("a,b\n1,2\n".encode("utf-16")[:-1], "begins as UTF-16 text and goes on as something"),
        (b"a,b\n1,2\n1,\0\n", "NUL byte in line 3"),
        (b"a\0,b\n1,2\n", "NUL byte in line 1"),
        (
            "a;b\n1;2\n",
            "looks semicolon-separated: its header is 'a;b', one column if comma-separated",
        ),
        (
            "a\tb\n1\t2\n",
            r"looks tab-separated: its header is 'a\\tb', one column if comma-separated",
        ),
        ('a,b\n1,"2\n3,4\n', "not CSV in line 2"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0), "compressed; give its name the ending .gz"),
    ],
)
def test_bad_files_are_refused_in_one_line(write, content, message):
    with pytest.raises(DataError, match=message) as caught:
        read(write(content))
    text = str(caught.value)
    assert text.startswith("read: ")
    assert "\n" not in text
    assert "table.csv" in text


def test_a_quoted_name_with_a_semicolon_is_one_column(write):
    assert read(write('"a;b"\n1\n2\n')).names == ("a;b",)


def test_compressed_files_that_are_none_or_cut_short(write):
    whole = gzip.compress(b"a,b\n" + b"1,2\n3,4\n" * 5000, mtime=0)
    for name, content in {"cut.csv.gz": whole[:-12], "plain.csv.gz": b"a,b\n1,2\n"}.items():
        with pytest.raises(DataError, match="not a complete gzip file"):
            read(write(content, name))


def test_files_that_are_not_there(tmp_path, write):
    with pytest.raises(DataError, match=r"read: there is no file '.*none.csv'$") as caught:
        read(tmp_path / "none.csv")
    assert repr(str(tmp_path / "none.csv")) in str(caught.value)  # the path as it was given
    with pytest.raises(DataError, match=r"read: there is no file 'no/such/none.csv'$"):
        read("no/such/none.csv")
    with pytest.raises(DataError, match="a file name is needed, got an empty one"):
        read("")
    with pytest.raises(DataError, match=r"folder .* has no files"):
        read(tmp_path)
    with pytest.raises(DataError, match=r"the kind of '.*/t.doc' is not known"):
        read(write("a,b\n1,2\n", "t.doc"))
    with pytest.raises(DataError, match="cannot open"):
        read("a\0b.csv")


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_files_without_permission(write):
    path = write("a,b\n1,2\n")
    path.chmod(0)
    with pytest.raises(DataError, match="no permission"):
        read(path)


def test_nothing_is_left_behind(write, tmp_path, monkeypatch):
    spool = tmp_path / "spool"
    spool.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(spool))
    read(write("a,b\n1,2\n3,4\n"))
    read(io.StringIO("a,b\n1,2\n3,4\n"))
    with pytest.raises(DataError):
        read(write("a,b\n1,2\n3\n"))
    assert list(spool.iterdir()) == []


# Spaces beside a quote are dropped by DuckDB and kept by the csv module: the writer makes none.
texts = st.text(
    st.sampled_from(string.ascii_letters + " 0123456789.,;'\"\n\r\t\\é😀#-"), max_size=5
)


@settings(max_examples=examples(40), deadline=None)
@given(
    st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(texts, min_size=n, max_size=n), min_size=1, max_size=6)
    ),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
)
@pytest.mark.filterwarnings("ignore::bestdag.errors.DataWarning")
def test_reads_what_the_csv_module_writes(rows, end, quoting):
    stream = io.StringIO()
    if any("\r" in cell for row in rows for cell in row):
        quoting = csv.QUOTE_ALL  # not every version of the module quotes a carriage return
    writer = csv.writer(stream, lineterminator=end, quoting=quoting)
    writer.writerow([f"v{i}" for i in range(len(rows[0]))])
    writer.writerows(rows)
    data = read(io.StringIO(stream.getvalue(), newline=""), missing_values=())
    assert cells(data) == rows


@settings(max_examples=examples(25), deadline=None)
@given(
    st.lists(texts.filter(bool), min_size=1, max_size=3, unique=True).flatmap(
        lambda names: st.tuples(
            st.just(names),
            st.lists(
                st.lists(texts, min_size=len(names), max_size=len(names)), min_size=1, max_size=6
            ),
        )
    ),
    st.sampled_from(["t.csv", "t.tsv", "t.csv.gz"]),
)
@pytest.mark.filterwarnings("ignore::bestdag.errors.DataWarning")
def test_to_csv_and_back_is_the_same(tmp_path_factory, table, name):
    names, rows = table
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    data = read(columns, missing_values=())
    path = tmp_path_factory.mktemp("csv") / name
    data.to_csv(path)
    assert read(path, missing_values=()) == data


def test_many_rows_in_order_with_line_breaks_inside_cells(tmp_path):
    # Larger than two of DuckDB's buffers of 32 MB, so that threads share it and cut inside cells.
    n = 600_000
    labels = ['x\ny",', "plain", "\n\n", "a,b\r\nc", "long\n" * 100]
    columns = {"i": [labels[(k * 7919) % 5] for k in range(n)], "j": [str(k % 7) for k in range(n)]}
    data = read(columns)
    data.to_csv(tmp_path / "big.csv")
    assert (tmp_path / "big.csv").stat().st_size > 64_000_000
    assert read(tmp_path / "big.csv") == data


@pytest.mark.parametrize(
    "name", ["vote.csv", "tic-tac-toe.csv", "chess.csv", "heart-cleveland.csv"]
)
@pytest.mark.filterwarnings("ignore:.*(has|have) the state ''")
def test_public_tables_read_as_the_csv_module_reads_them(name):
    path = shared_file(f"uci/{name}")
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    data = read(path, missing_values=(), max_states=1000)
    assert list(data.names) == header
    assert cells(data) == rows
