"""What is odd in a table is asked about, by the name of the column, with what to do."""

import gzip
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bestdag import discretize, read, scan, sql
from bestdag.errors import DataError, DataWarning, InvalidParameterError

STATES = ["p", "q"]


def said_of(source, take=read, **settings):
    """Return what is said about a table; every warning, in order."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        take(source, **settings)
    return [str(one.message) for one in heard]


# Blanks


BLANKS = "a b c\nx u 1\ny v 2\nx u 1\n"


@pytest.mark.parametrize("name", ["t.csv", "t.txt", "t.tsv", "t.csv.gz"])
def test_blanks_between_the_cells_are_seen(tmp_path, name):
    path = tmp_path / name
    text = BLANKS.encode()
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    message = r"looks space-separated: its header 'a b c' has 3 words, and so has each row; pass"
    with pytest.raises(DataError, match=message + " separator=' '") as error:
        read(path)
    assert "pass --separator space" in error.value.on_command_line
    assert read(path, separator=" ") == read({"a": list("xyx"), "b": list("uvu"), "c": [1, 2, 1]})


def test_a_damaged_file_of_blanks_is_called_damaged(tmp_path):
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(BLANKS.encode() * 50_000)[:-20])
    for settings in ({}, {"separator": " "}):
        with pytest.raises(DataError, match="not a complete gzip file"):
            read(tmp_path / "t.csv.gz", **settings)


def test_several_blanks_are_one_and_quotes_hold(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text('  a   b\n x  "u v"  \n  y z\n\n x  "u v"\n')
    data = read(path, separator=" ")
    assert data == read({"a": list("xyx"), "b": ["u v", "z", "u v"]})
    path.write_text("a b\nx u\ny\n")
    with pytest.raises(DataError, match="has 2 columns, but 1 cell in line 3"):
        read(path, separator=" ")


@pytest.mark.parametrize(
    "text",
    [
        "first name\njohn\nmary\njohn\n",  # one word in a row
        '"first name"\njohn smith\nmary smith\n',  # in quotes
        "a\nx y\nz\n",
        "first name,age\njohn smith,1\nmary ann,2\n",
    ],
)
def test_blanks_in_names_and_cells_are_no_separators(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    assert read(tmp_path / "t.csv").n_variables == text.splitlines()[0].count(",") + 1


# Encodings


@pytest.mark.parametrize(
    ("encoding", "text"),
    [("latin-1", "café,b\nété,u\nnoël,v\nété,u\n"), ("cp1252", "a,b\n“x”,5 €\ny,6 €\n“x”,5 €\n")],
)
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "stream"])
def test_text_that_is_not_utf8_is_read_as_told(tmp_path, encoding, text, name):
    raw = text.encode(encoding)
    source = tmp_path / name
    source.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)

    def take(**settings):
        if name != "stream":
            return read(source, **settings)
        with source.open("rb") as stream:
            return read(stream, **settings)

    with pytest.raises(DataError, match="is not UTF-8 text") as error:
        take()
    assert f"pass encoding='{encoding}'" in str(error.value)
    assert f"pass --encoding {encoding}" in error.value.on_command_line
    expected = tmp_path / "utf8.csv"
    expected.write_text(text, encoding="utf-8")
    assert take(encoding=encoding) == read(expected)
    if name != "stream":
        assert scan(source, encoding=encoding) == read(expected)
        assert discretize(source, encoding=encoding, method="quantile") == read(expected)


def test_encodings_that_do_not_fit(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("a\né\né\n".encode("latin-1"))
    with pytest.raises(DataError, match="is not ascii text: "):
        read(path, encoding="ascii")
    for wrong in ("no-such", "hex", 8, ""):
        with pytest.raises(InvalidParameterError, match="encoding must be an encoding such as"):
            read(path, encoding=wrong)
    with pytest.raises(InvalidParameterError, match="encoding is for CSV, the dict has columns"):
        read({"a": [1, 2]}, encoding="latin-1")
    pd.DataFrame({"a": ["x", "y"]}).to_parquet(tmp_path / "t.parquet")
    for source in (tmp_path / "t.parquet", tmp_path / "*.parquet"):
        with pytest.raises(InvalidParameterError, match=r"parquet.* leave (it )?out") as error:
            read(source, encoding="latin-1")
        assert "--encoding" in error.value.on_command_line
    path.write_text("a\nx\ny\n")
    assert read(path, encoding="UTF8") == read(path)


# Row indexes and names


def test_a_row_index_without_a_name_is_left_out(tmp_path):
    frame = pd.DataFrame({"a": ["x", "y", "x"], "b": ["u", "u", "v"]})
    frame.to_csv(tmp_path / "t.csv")
    message = r"column 1 has no name; if it is a row index, leave it out with drop=''$"
    with pytest.raises(DataError, match=message) as error:
        read(tmp_path / "t.csv")
    assert error.value.on_command_line.endswith("with --drop ''")
    assert read(tmp_path / "t.csv", drop="") == read(frame)
    assert read({"": [0, 1, 2], "a": list("xyx")}, drop=[""]).names == ("a",)


def test_names_that_are_whole_numbers_are_their_text():
    array = np.array([[0, 5], [1, 6], [0, 6]])
    expected = read({"0": [0, 1, 0], "1": [5, 6, 6]})
    assert read(array) == expected
    assert read(pd.DataFrame(array)) == expected
    assert read({0: [0, 1, 0], np.int64(1): [5, 6, 6]}) == expected
    assert read(pd.DataFrame(array), drop=0) == read(array, columns=[1])
    assert read(pd.DataFrame(array), weights="1").names == ("0",)


# Marks of missing values


@pytest.mark.parametrize("mark", ["NA", "?", "None", "-", "<NA>", "#N/A", "null"])
def test_texts_that_mark_missing_values_are_asked_about(mark):
    table = {"a": ["x", mark, "y", mark], "b": ["u", "v", "u", "v"]}
    (said,) = said_of(table)
    assert said.startswith(f"read: the dict: column 'a' has 2 {mark!r} as states; if these mark")
    assert said.endswith(f"pass missing_values={('', mark)!r}")
    assert said_of(table, missing_values=("", mark), missing="keep") == []
    assert said_of(table, states={"a": ["x", mark, "y"]}) == []


@pytest.mark.parametrize(
    ("numbers", "mark"),
    [
        ([1, 2, 3, 999, 999], "999"),
        ([1, 2, 3, 99], "99"),
        ([0.5, 1.5, 9999.0], "9999.0"),
        ([0, 1, -999], "-999"),
        ([0, 1, 2, 3, 4, -1], "-1"),
        (["1", "2", "-9"], "-9"),
    ],
)
def test_numbers_far_from_the_others_are_asked_about(numbers, mark):
    said = [one for one in said_of({"a": numbers}) if "mark missing" in one]
    n = sum(str(number) == mark for number in numbers)
    assert re.search(rf"column 'a' has {n} '{mark}' as states; if these mark missing", said[0])


@pytest.mark.parametrize(
    "numbers",
    [
        [-1, 0, 1],
        [-1, 1],
        [17, 60, 90, 99],
        [98, 99, 100],
        [-5, -1, 3, 4, 5, 6, 7],
        [-999, -500, 0],
        [999],
        [400, 700, 999],
        ["x", "999"],
        ["+", "-"],
        ["-"],
    ],
)
def test_numbers_and_signs_among_their_like_are_not_asked_about(numbers):
    assert not [one for one in said_of({"a": numbers, "b": numbers}) if "mark missing" in one]


def test_a_number_that_is_a_value_elsewhere_is_not_missing_there_unsaid():
    said = said_of({"a": [1, 2, 99, 99], "b": [97, 98, 99, 100]})
    assert said[0].endswith("; '99' is a value of 'b', which would be missing there too")


@pytest.mark.parametrize("mark", [-999, 9999])
def test_numbers_to_be_cut_are_looked_at_too(mark):
    table = {"x": [*np.linspace(0, 5, 40).tolist(), mark, mark], "c": STATES * 21}
    (said,) = said_of(table, discretize, method="quantile")
    assert said == (
        f"read: the dict: column 'x' has 2 '{mark}', far from the other numbers; if these mark "
        f"missing values, pass missing_values={('', str(mark))!r}"
    )
    told = {"missing_values": ("", mark), "missing": "keep"}
    assert said_of(table, discretize, method="quantile", **told) == []


@pytest.mark.parametrize("take", [read, scan])
def test_a_refusal_of_missing_values_names_the_marks_beside_them(tmp_path, take):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\nx,u,p\nNA,?,q\ny,v,\n")
    with pytest.raises(DataError, match="column 'c' has 1 missing value") as error:
        take(path)
    also = "; 1 'NA' and 1 '?' may mark missing values too: pass "
    assert str(error.value).endswith(f"{also}missing_values=('', '?', 'NA')")
    assert error.value.on_command_line.endswith(f"{also}--missing-value NA --missing-value '?'")


# Spellings


def test_states_that_differ_in_case_or_blanks_are_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\nyes,u\nYes,v\nyes ,u\nno,v\n")
    (said,) = said_of(path)
    start = f"read: '{path}': column 'a' has states that differ only in case or blanks, "
    assert said.startswith(f"{start}'Yes', 'yes', 'yes '; if they are the same, write them alike")
    assert said_of(path, states={"a": ["yes", "Yes", "yes ", "no"]}) == []
    query = re.search(r'read sql\((["\'].*["\'])\)$', said)[1]
    assert read(sql(eval(query))).variable("a").states == ("no", "yes")
    assert said_of({"a": ["x", "y"], "b": ["x ", "X"]})[0].startswith(
        "read: the dict: column 'b' has states that differ only in case or blanks, 'X', 'x '; if "
        "they are the same, write them alike"
    )


@pytest.mark.parametrize("make", [dict, pd.DataFrame])
def test_a_number_and_its_text_are_one_state_but_not_unsaid(make):
    table = make({"a": [1, "1", 2, 1], "b": ["x", "y", "x", "y"]})
    (said,) = said_of(table)
    assert re.search("column 'a' has 1 and '1', which are read as one state, '1'; make them", said)
    assert read(pl.DataFrame({"a": ["1", "2"]})).variable("a").states == ("1", "2")
    assert said_of({"a": [1, 2, "x"], "b": [1, 2.0, 1]}) == []


# Numbers written for people

WRITTEN = {
    "$1,234": [f"${k:,}" for k in range(900, 1100)],
    "1,5": [f"{k},{k % 10}" for k in range(200)],
    "12%": [f"{k}%" for k in range(100)],
    "€ 3": [f"€ {k}" for k in range(100)],
}


@pytest.mark.parametrize("form", WRITTEN)
def test_numbers_written_for_people_are_called_so(tmp_path, form):
    frame = pd.DataFrame({"price": WRITTEN[form], "b": (STATES * 100)[: len(WRITTEN[form])]})
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    for source in (path, frame, {"price": WRITTEN[form]}):
        with pytest.raises(DataError, match="'price' holds numbers written as '") as error:
            read(source)
        assert "drop" not in str(error.value)
        with pytest.raises(DataError, match="'price' holds numbers written as '"):
            discretize(source, method="quantile")
    with pytest.raises(DataError) as error:
        read(path)
    query = re.search(r'read sql\((["\'].*["\'])\)$', str(error.value))[1]
    cut = discretize(sql(eval(query)), method="quantile", bins=4)
    assert cut.variable("price").arity == 4
    assert not cut.has_missing


def test_a_few_such_numbers_are_states_but_not_unsaid():
    (said,) = said_of({"a": ["1,5", "2,5", "3"]})
    assert said.startswith(
        "read: the dict: column 'a' holds numbers written as '1,5', and each is a state; to read"
    )
    for texts in (["1", "2"], ["1-2", "3-4"], ["a1", "b2"], ["+", "-"], ["NA", "x"]):
        assert not any("written as" in one for one in said_of({"a": texts}))


def test_every_question_is_a_data_warning():
    with pytest.warns(DataWarning, match="differ only in case"):
        read({"a": ["x", "X"]})
