"""read: separators, encodings and archives; what is not read is refused with what was seen."""

import io
import zipfile

import pytest

from bestdag import discretize
from bestdag.data.readers import read
from bestdag.errors import DataError, InvalidParameterError

TEXT = "a,b\nx,u\ny,v\nx,v\n"
EXPECTED = read(io.StringIO(TEXT))


def packed(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
@pytest.mark.parametrize("ending", [".csv", ".txt", ".tsv"])
def test_the_separator_that_is_given_is_used(tmp_path, sign, ending):
    path = tmp_path / f"t{ending}"
    path.write_text(TEXT.replace(",", sign))
    assert read(path, separator=sign) == EXPECTED
    assert read(io.StringIO(TEXT.replace(",", sign)), separator=sign) == EXPECTED


def test_decimal_commas_and_semicolons(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1,5;x\n2,5;y\n")
    assert read(path, separator=";").variable("a").states == ("1,5", "2,5")


@pytest.mark.parametrize(
    ("header", "seen"),
    [("a;b;c", "semicolon"), ("a\tb\tc", "tab"), ("a|b|c", "pipe"), ("a;b;c,d;e", "semicolon")],
)
def test_a_header_with_another_separator_is_refused_and_named(tmp_path, header, seen):
    path = tmp_path / "t.csv"
    path.write_text(header + "\n")
    with pytest.raises(DataError, match=f"looks {seen}-separated: .* if comma-separated") as error:
        read(path)
    assert "separator=" in str(error.value)
    assert "--separator" in error.value.on_command_line
    assert "separator=" not in error.value.on_command_line


def test_the_wrong_separator_is_refused_too(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(TEXT)
    with pytest.raises(DataError, match=r"looks comma-separated: .* if semicolon-separated"):
        read(path, separator=";")


def test_names_may_hold_other_signs_when_that_is_said(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b;c,d\nx,u\ny,v\n")
    assert read(path, separator=",").names == ("a;b;c", "d")
    path.write_text('"a;b;c",d\nx,u\ny,v\n')
    assert read(path).names == ("a;b;c", "d")
    path.write_text("a|b,c\nx,u\ny,v\n")  # no more bars than commas
    assert read(path).names == ("a|b", "c")


@pytest.mark.parametrize("wrong", ["", ":", ";;", 5, "tab"])
def test_other_separators_are_refused(wrong):
    with pytest.raises(InvalidParameterError, match="separator must be one of"):
        read(io.StringIO(TEXT), separator=wrong)


def test_a_separator_belongs_to_csv(tmp_path):
    with pytest.raises(InvalidParameterError, match="separator is for CSV, the dict has columns"):
        read({"a": ["x", "y"]}, separator=";")
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": "x"}\n')
    with pytest.raises(InvalidParameterError, match=r"separator is for CSV, .* is \.jsonl"):
        read(path, separator=";")


def test_discretize_takes_it_too():
    table = discretize(io.StringIO("a;b\n1.5;x\n2.5;y\n"), target="b", cut=(), separator=";")
    assert table.names == ("a", "b")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-16-le"])
def test_encodings_with_their_marks(tmp_path, encoding):
    path = tmp_path / "t.csv"
    mark = "\ufeff" if encoding in ("utf-16-be", "utf-16-le") else ""
    path.write_bytes((mark + "größe,b\n😀,u\ny,v\n").encode(encoding))
    found = read(path)
    assert found.names == ("größe", "b")
    assert found.variable("größe").states == ("y", "😀")
    with path.open("rb") as stream:
        assert read(stream) == found


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (TEXT.encode("utf-32"), "UTF-32 text"),
        (TEXT.encode("utf-16")[:-1], "begins as UTF-16 text and goes on as something else"),
        (b"\xff\xfe", "is empty"),
        (TEXT.encode("utf-16-le"), "NUL byte in line 1"),
        (b"PK\x03\x04....", "begins as a zip archive or a workbook does"),
        (b"\xd0\xcf\x11\xe0....", "begins as an old office document does"),
    ],
)
def test_other_bytes_are_refused_with_what_was_seen(tmp_path, content, expected):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=expected):
        read(path)


def test_a_zip_with_one_table_is_read(tmp_path):
    path = packed(tmp_path / "t.zip", {"in/": "", "in/t.csv": TEXT, "__MACOSX/in/._t.csv": "?"})
    assert read(path) == EXPECTED
    tabs = packed(tmp_path / "tabs.ZIP", {"../../t.tsv": TEXT.replace(",", "\t")})
    assert read(tabs) == EXPECTED
    bars = packed(tmp_path / "bars.zip", {"t.csv": TEXT.replace(",", "|")})
    assert read(bars, separator="|") == EXPECTED


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, "must hold one table, it holds 0 files"),
        ({"a.csv": TEXT, "b.csv": TEXT}, "it holds 2 files: 'a.csv', 'b.csv'; unpack it"),
        ({"a.doc": TEXT}, "the kind of the file in .* is not known"),
        ({"a.xls": TEXT}, "the file in .* is a workbook of another format"),
        ({"a.csv": ""}, "'a.csv' in .* is empty"),
    ],
)
def test_other_archives_are_refused(tmp_path, files, expected):
    with pytest.raises(DataError, match=expected):
        read(packed(tmp_path / "t.zip", files))


def test_damaged_archives_are_refused(tmp_path):
    path = packed(tmp_path / "t.zip", {"t.csv": TEXT * 100})
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="not a complete zip archive"):
        read(path)
    broken = bytearray(whole)
    broken[40:50] = b"\xff" * 10
    path.write_bytes(bytes(broken))
    with pytest.raises(DataError, match=r"not a complete zip archive|cannot be unpacked"):
        read(path)


@pytest.mark.parametrize("ending", [".xls", ".xlsb", ".ods"])
def test_other_workbooks_are_refused_with_what_to_do(tmp_path, ending):
    path = tmp_path / f"t{ending}"
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(DataError, match=r"another format than \.xlsx; save it as \.xlsx or CSV"):
        read(path)
