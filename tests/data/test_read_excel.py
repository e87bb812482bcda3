"""read: Excel workbooks, as the CSV file that a sheet would be saved as."""

import datetime
import sys
import warnings
import zipfile

import pytest

from bestdag import discretize, read
from bestdag.cli.main import run
from bestdag.errors import (
    DataError,
    DataWarning,
    InvalidParameterError,
    MissingPackageError,
    UnknownNameError,
)

openpyxl = pytest.importorskip("openpyxl")

ROWS = [["x", "n", "day"], ["a", 1, "mon"], ["b", 2.5, "tue"], ["a", 3.0, "mon"]]


@pytest.fixture
def book(tmp_path):
    """Write sheets, given as lists of rows, into a workbook."""

    def write(sheets, name="t.xlsx", edit=None):
        made = openpyxl.Workbook()
        made.remove(made.active)
        for title, rows in sheets.items():
            sheet = made.create_sheet(title)
            for row in rows:
                sheet.append(row)
        if edit is not None:
            edit(made)
        path = tmp_path / name
        made.save(path)
        return path

    return write


def computed(path, cell, value, kind=""):
    """Give a formula of the first sheet the value that Excel would store with it."""
    name = "xl/worksheets/sheet1.xml"
    with zipfile.ZipFile(path) as old:
        parts = {info.filename: old.read(info) for info in old.infolist()}
    before, mark, after = parts[name].decode().partition(f'<c r="{cell}"')
    assert mark
    head, formula, rest = after.partition("</f>")
    assert "<v" in rest[:5]
    rest = rest.partition("</c>")[2]
    made = f"{before}{mark}{kind}{head}{formula}<v>{value}</v></c>{rest}"
    with zipfile.ZipFile(path, "w") as new:
        for part, content in parts.items():
            new.writestr(part, made if part == name else content)


def test_is_the_table_that_csv_would_be(book, tmp_path):
    path = book({"data": ROWS})
    saved = tmp_path / "t.csv"
    saved.write_text("x,n,day\na,1,mon\nb,2.5,tue\na,3,mon\n")
    with pytest.warns(DataWarning, match="decimals"):
        table = read(path)
    with pytest.warns(DataWarning, match="decimals"):
        assert table == read(saved)
    assert table.variable("n").states == ("1", "2.5", "3")
    cut = discretize(path, method="quantile", bins=2, cut=["n"])
    assert cut == discretize(saved, method="quantile", bins=2, cut=["n"])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        (1.0, "1"),
        (-0.0, "0"),
        (0.1 + 0.2, "0.3"),
        (123456789012, "123456789012"),
        (1e20, "1e+20"),
        (True, "TRUE"),
        (False, "FALSE"),
        (datetime.date(2024, 2, 29), "2024-02-29"),
        (datetime.datetime(2024, 2, 29, 13, 30), "2024-02-29 13:30:00"),
        (datetime.time(7, 5), "07:05:00"),
        (datetime.timedelta(hours=26, minutes=30), "26:30:00"),
        (" spaces ", " spaces "),
        ("two\nlines", "two\nlines"),
        ('a "quote", and a comma', 'a "quote", and a comma'),
        ("007", "007"),
        ("#N/A", "#N/A"),
    ],
)
def test_values_become_text(book, value, text):
    table = read(book({"s": [["v", "w"], [value, "a"], ["other", "b"]]}))
    assert text in table.variable("v").states
    assert table.n_rows == 2


def test_empty_cells_are_missing_and_empty_rows_are_no_rows(book):
    path = book({"s": [["a", "b"], ["x", None], [None, None], ["y", "u"], ["x", "v"], [None]]})
    table = read(path, missing="keep")
    assert table.n_rows == 3
    assert table.missing_counts == {"b": 1}
    with pytest.warns(DataWarning, match="dropped 1 of 3 rows"):
        assert read(path, missing="drop").n_rows == 2


def test_in_one_column_empty_rows_are_cells(book):
    table = read(book({"s": [["a"], ["x"], [None], ["y"], [None]]}), missing="keep")
    assert table.n_rows == 3
    assert table.missing_counts == {"a": 1}


def test_a_name_with_other_separators_is_a_name(book):
    assert read(book({"s": [["a;b"], ["x"], ["y"]]})).names == ("a;b",)


def test_the_only_sheet_with_data_is_read(book):
    path = book({"empty": [], "data": [["a"], ["x"], ["y"]], "also empty": []})
    assert read(path).names == ("a",)


def test_one_of_several_sheets_must_be_named(book, capsys):
    path = book({"first": [["a"], ["x"], ["y"]], "second": [["b"], ["u"], ["v"]]})
    with pytest.raises(DataError, match="2 sheets with data, 'first', 'second'; name one with sh"):
        read(path)
    assert read(path, sheet="second").names == ("b",)
    assert discretize(path, method="quantile", sheet="second").names == ("b",)
    with pytest.raises(UnknownNameError, match=r"unknown sheet 'secnd'.*did you mean 'second'"):
        read(path, sheet="secnd")
    assert run(["info", str(path)]) == 2
    assert "'first', 'second'; name one with --sheet" in capsys.readouterr().err
    assert run(["learn", str(path), "--sheet", "second"]) == 0


def test_a_sheet_without_data_is_refused(book):
    path = book({"data": [["a"], ["x"]], "none": []})
    with pytest.raises(DataError, match="the sheet 'none' is empty"):
        read(path, sheet="none")
    with pytest.raises(DataError, match="is empty; column names and rows are needed"):
        read(book({"none": []}, "empty.xlsx"))


def test_a_sheet_belongs_to_workbooks(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("a\nx\n")
    with pytest.raises(InvalidParameterError, match=r"read: sheet is for Excel files, .* is \.csv"):
        read(path, sheet="s")
    with pytest.raises(InvalidParameterError, match="sheet is for Excel files, the dict is none"):
        read({"a": ["x"]}, sheet="s")
    assert run(["info", str(path), "--sheet", "s"]) == 2
    assert "--sheet is for Excel files" in capsys.readouterr().err


def test_a_separator_does_not_belong_to_workbooks(book):
    with pytest.raises(InvalidParameterError, match=r"separator is for CSV, .* is \.xlsx"):
        read(book({"s": ROWS}), separator=";")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([[None, None], ["a", "b"], ["x", "y"]], "the first row is empty, column names are needed"),
        ([["a", None, "c"], ["x", "y", "z"]], "cell B1 is empty, a column name is needed there"),
        ([["a", "b"], ["x", "y", "z"]], "cell C2 has a value, and the column no name"),
        ([["a", "a"], ["x", "y"]], "two columns are called 'a'"),
        ([["a", "b"]], "has no rows"),
    ],
)
def test_tables_without_shape_are_refused_by_cell(book, rows, expected):
    with pytest.raises(DataError, match=expected):
        read(book({"s": rows}))


def test_merged_cells_are_refused_by_name(book):
    path = book({"s": ROWS}, edit=lambda made: made["s"].merge_cells("A2:A3"))
    with pytest.raises(DataError, match="cells A2:A3 are merged; unmerge them"):
        read(path)


def test_the_stored_value_of_a_formula_is_taken(book):
    path = book({"s": [["a", "b"], ["x", "=1+1"], ["y", "=2+1"]]})
    with pytest.raises(DataError, match="cell B2 has a formula without a value; open the file in"):
        read(path)
    computed(path, "B2", 2)
    with pytest.raises(DataError, match="cell B3 has a formula without a value"):
        read(path)
    computed(path, "B3", "three", ' t="str"')
    assert read(path).variable("b").states == ("2", "three")


def test_a_formula_that_gives_empty_text_has_a_value(book):
    path = book({"s": [["a", "b"], ["x", '=""'], ["y", "u"], ["y", "v"]]})
    computed(path, "B2", "", ' t="str"')
    assert read(path, missing="keep").missing_counts == {"b": 1}


def test_another_sheet_may_hold_what_is_refused(book):
    def edit(made):
        made["notes"].merge_cells("A1:B1")

    path = book({"data": ROWS[:2], "notes": [["=1"]]}, edit=edit)
    with pytest.warns(DataWarning, match="one state"):
        assert read(path, sheet="data").n_rows == 1


def test_workbooks_come_in_zip_archives_and_with_macros(book, tmp_path):
    path = book({"s": [["a"], ["x"], ["y"]]})
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.write(path, "in/some.table.xlsx")
    assert read(tmp_path / "t.zip") == read(path)
    (tmp_path / "t.XLSM").write_bytes(path.read_bytes())
    assert read(tmp_path / "t.XLSM") == read(path)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\xd0\xcf\x11\xe0....", "an old workbook or one with a password; save it as .xlsx"),
        (b"a,b\n1,2\n", "cannot be read as a workbook"),
        (b"PK\x03\x04....", "cannot be read as a workbook"),
    ],
)
def test_what_is_no_workbook_is_refused(tmp_path, content, expected):
    path = tmp_path / "t.xlsx"
    path.write_bytes(content)
    with pytest.raises(DataError, match=expected):
        read(path)


def test_damaged_workbooks_are_refused_in_a_line(book):
    path = book({"s": ROWS})
    whole = path.read_bytes()
    for n in range(0, len(whole), 97):
        path.write_bytes(whole[:n] + bytes(20) + whole[n + 20 :])
        with warnings.catch_warnings():  # of decimals, where the damage does not matter
            warnings.simplefilter("ignore")
            refused = _refusal(path)
        assert refused is None or "\n" not in refused


def _refusal(path):
    try:
        read(path, missing="keep")
    except DataError as error:
        return str(error)
    return None


def test_without_openpyxl_it_says_what_to_install(book, monkeypatch, capsys):
    path = book({"s": ROWS})
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'bestdag\[excel\]'"):
        read(path)
    assert run(["info", str(path)]) == 1
    assert "pip install 'bestdag[excel]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("place", "letters"), [(26, "Z"), (27, "AA"), (52, "AZ"), (53, "BA"), (702, "ZZ"), (703, "AAA")]
)
def test_columns_are_named_as_excel_does(place, letters, book):
    assert openpyxl.utils.get_column_letter(place) == letters
    names = [None if k == place else f"x{k}" for k in range(1, place + 2)]
    with pytest.raises(DataError, match=rf"cell {letters}1 is empty"):
        read(book({"s": [names, ["a"] * len(names)]}))
