"""Excel workbooks: a sheet, as the CSV file that it would be saved as.

openpyxl reads the values. What it does not tell is found in the sheet's XML: merged cells, and
formulas whose value was never computed. Nothing is guessed: both are refused by the cell's name,
and so is a workbook with several sheets when none is named.
"""

from __future__ import annotations

import csv
import datetime
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from bestdag.data.sources.connection import one_line
from bestdag.errors import BestdagError, DataError, import_optional, unknown_name
from bestdag.machine import require_memory
from bestdag.wording import arg

__all__ = ["sheet_as_csv"]

# What a shared text takes in memory, by its size in the file.
_GROWTH = 4
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
# Whole floats beyond this are not written digit by digit: float64 has gaps there.
_MAX_WHOLE = 2.0**53
_MIDNIGHT = datetime.time()
_XML = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_XML_STRICT = "{http://purl.oclc.org/ooxml/spreadsheetml/main}"


def sheet_as_csv(path: Path, folder: str, source: str, sheet: str | None) -> Path:
    """Write the sheet as a CSV file into a folder; the only one with data, if none is named.

    Rows without any value are left out, as blank lines are in CSV, except in a table of one
    column. A number is written as Excel keeps it, to 15 digits and without a point when it is
    whole; a truth value as TRUE or FALSE; dates and times in ISO form; an error as its text.
    """
    openpyxl = import_optional("openpyxl", who=f"read: {source}", extra="excel")
    with path.open("rb") as file:
        if file.read(4) == _OLD_OFFICE:
            raise DataError(
                f"read: {source} is an old workbook or one with a password; save it as .xlsx "
                f"without a password, or as CSV"
            )
    target = Path(folder) / "sheet.csv"
    try:
        with zipfile.ZipFile(path) as archive, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and extensions, which do not matter
            _require_room(archive, source)
            book = openpyxl.load_workbook(path, read_only=True, data_only=True)
            try:
                chosen = _chosen(book, source, sheet)
                _refuse_by_cell(archive, chosen, source)
                with target.open("w", encoding="utf-8", newline="") as file:
                    # With quotes around every cell: spaces and line breaks are part of it.
                    writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
                    writer.writerows(_table(_rows(chosen), f"read: {source}"))
            finally:
                book.close()
    except (BestdagError, MemoryError):
        raise
    except Exception as error:  # whatever openpyxl makes of a broken file
        raise DataError(
            f"read: {source} cannot be read as a workbook: {one_line(error)}; is it complete?"
        ) from None
    return target


def _require_room(archive: zipfile.ZipFile, source: str) -> None:
    """Forecast the texts, which openpyxl holds; rows are read one by one."""
    size = sum(info.file_size for info in archive.infolist() if "haredStrings" in info.filename)
    require_memory(f"read: {source}", "its texts", size * _GROWTH, "save it as CSV")


def _chosen(book: Any, source: str, name: str | None) -> Any:
    who = f"read: {source}"
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    for sheet in sheets.values():
        sheet.reset_dimensions()  # what the file says of its size need not be true
    if name is not None:
        if name not in sheets:
            raise unknown_name("sheet", name, sheets, who=who)
        if not _has_values(sheets[name]):
            raise DataError(f"{who}: the sheet {name!r} is empty; column names and rows are needed")
        return sheets[name]
    filled = [title for title, sheet in sheets.items() if _has_values(sheet)]
    if not filled:
        raise DataError(f"{who} is empty; column names and rows are needed")
    if len(filled) > 1:
        shown = ", ".join(map(repr, filled[:10])) + (", ..." if filled[10:] else "")
        raise DataError(
            f"{who} has {len(filled):,} sheets with data, {shown}; name one with {arg('sheet')}"
        )
    return sheets[filled[0]]


def _has_values(sheet: Any) -> bool:
    return any(any(cell is not None for cell in row) for row in sheet.iter_rows(values_only=True))


def _rows(sheet: Any) -> Iterator[list[str]]:
    """Yield the texts of each row, without empty cells at its end."""
    for row in sheet.iter_rows(values_only=True):
        texts = [_text(value) for value in row]
        while texts and not texts[-1]:
            texts.pop()
        yield texts


def _table(rows: Iterator[list[str]], who: str) -> Iterator[Sequence[str]]:
    """Check the names of the columns, and give every row as many cells."""
    names = next(rows)
    if not names:
        raise DataError(
            f"{who}: the first row is empty, column names are needed there; delete the rows above "
            f"the table"
        )
    for place, name in enumerate(names):
        if not name:
            raise DataError(
                f"{who}: cell {_letters(place)}1 is empty, a column name is needed there"
            )
    yield names
    n_blank = 0
    for number, row in enumerate(rows, start=2):
        if len(row) > len(names):
            raise DataError(
                f"{who}: cell {_letters(len(row) - 1)}{number} has a value, and the column no name"
            )
        if not row:
            n_blank += 1
            continue
        if len(names) == 1:  # those before the end are empty cells
            yield from ([""] for _ in range(n_blank))
        n_blank = 0
        yield [*row, *[""] * (len(names) - len(row))]


def _text(value: Any) -> str:
    """Write a cell as Excel's CSV has it, dates and times in ISO form.

    Examples
    --------
    >>> [_text(value) for value in (1, 1.0, 0.1 + 0.2, True, None, datetime.datetime(2024, 2, 1))]
    ['1', '1', '0.3', 'TRUE', '', '2024-02-01']
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        is_whole = value.is_integer() and abs(value) < _MAX_WHOLE
        return str(int(value)) if is_whole else f"{value:.15g}"
    if isinstance(value, datetime.datetime):
        whole = value.date().isoformat()
        return whole if value.time() == _MIDNIGHT else f"{whole} {value.time().isoformat()}"
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        seconds = round(value.total_seconds())
        sign, seconds = ("-" if seconds < 0 else ""), abs(seconds)
        return f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return str(value)


def _refuse_by_cell(archive: zipfile.ZipFile, sheet: Any, source: str) -> None:
    """Refuse merged cells, and formulas without a value: the sheet does not say what they hold."""
    who = f"read: {source}"
    with archive.open(sheet._worksheet_path) as file:
        rows = ElementTree.Element("rows")
        for event, element in ElementTree.iterparse(file, ("start", "end")):
            tag = element.tag.removeprefix(_XML).removeprefix(_XML_STRICT)
            if event == "start":
                rows = element if tag == "sheetData" else rows
            elif tag == "c":
                if _is_uncomputed(element):
                    raise DataError(
                        f"{who}: cell {element.get('r')} has a formula without a value; open the "
                        f"file in Excel or LibreOffice, let it compute and save"
                    )
            elif tag == "mergeCell":
                raise DataError(
                    f"{who}: cells {element.get('ref')} are merged; unmerge them, and fill in what "
                    f"each of them holds"
                )
            elif tag == "row":
                rows.clear()  # which leaves one row in memory, not a million


def _is_uncomputed(cell: ElementTree.Element) -> bool:
    parts = {part.tag.rpartition("}")[2]: part for part in cell}
    if "f" not in parts:
        return False
    value = parts.get("v")
    return value is None or (not value.text and cell.get("t") != "str")


def _letters(place: int) -> str:
    """Return the name of a column, counted from 0.

    Examples
    --------
    >>> _letters(0), _letters(25), _letters(26), _letters(701), _letters(702)
    ('A', 'Z', 'AA', 'ZZ', 'AAA')
    """
    name = ""
    place += 1
    while place:
        place, letter = divmod(place - 1, 26)
        name = chr(ord("A") + letter) + name
    return name
