"""Files that are no plain UTF-8 tables: zip archives, UTF-16, and what is refused by sight."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import shutil
import zipfile
import zlib
from pathlib import Path

from bestdag.data.csv_source import check_bytes, open_bytes
from bestdag.data.duck_connection import one_line
from bestdag.errors import DataError

__all__ = ["comma_copy", "refuse_by_sight", "unzipped", "utf8_copy"]

_CHUNK = 1 << 20
_UTF32 = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_OTHER_WORKBOOKS = (".xls", ".xlsb", ".ods")
_ZIP = b"PK\x03\x04"
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"


def refuse_by_sight(path: Path, source: str) -> None:
    """Refuse workbooks of other formats, and text files that begin as something else does."""
    if path.suffix.lower() in _OTHER_WORKBOOKS:
        what = f"read: {source} is a workbook of another format than .xlsx; save it as .xlsx or CSV"
        raise DataError(f"{what}, or pass what pandas.read_excel makes of it").with_option(what)
    if path.suffix.lower() not in (".csv", ".tsv", ".txt"):
        return
    with path.open("rb") as file:
        start = file.read(4)
    if start in (_ZIP, _OLD_OFFICE):
        what = "a zip archive or a workbook" if start == _ZIP else "an old office document"
        raise DataError(
            f"read: {source} begins as {what} does, not as text; save it as CSV, or name it .zip "
            f"if it is an archive with one table, .xlsx if it is a workbook"
        )


def unzipped(path: Path, folder: str, source: str) -> Path:
    """Unpack the one table of a zip archive into a folder."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [info for info in archive.infolist() if _is_content(info)]
            if len(members) != 1:
                names = ", ".join(repr(info.filename) for info in members[:5])
                more = ", ..." if len(members) > 5 else ""
                raise DataError(
                    f"read: {source} must hold one table, it holds {len(members):,} files"
                    + (f": {names}{more}; unpack it and give one" if members else "")
                )
            (info,) = members
            if info.file_size > shutil.disk_usage(folder).free:
                raise DataError(
                    f"read: {source} holds {info.file_size:,} bytes, more than fit on the disk for "
                    f"temporary files"
                )
            # A name of our own: what the archive says is no place to write to.
            suffixes = "".join(Path(info.filename).suffixes[-2:])
            target = Path(folder) / f"unzipped{suffixes}"
            with archive.open(info) as packed, target.open("wb") as file:
                shutil.copyfileobj(packed, file, _CHUNK)
    except RuntimeError as error:  # a password, or a method that zipfile does not know
        raise DataError(f"read: {source} cannot be unpacked: {one_line(error)}") from None
    except (zipfile.BadZipFile, EOFError, zlib.error) as error:
        raise DataError(
            f"read: {source} is not a complete zip archive: {one_line(error)}"
        ) from None
    if target.stat().st_size == 0:
        raise DataError(f"read: {info.filename!r} in {source} is empty")
    return target


def utf8_copy(path: Path, folder: str, source: str, encoding: str | None = None) -> Path:
    """Return the file, or a copy in UTF-8 if its encoding is given or it is marked as UTF-16."""
    is_packed = path.suffix.lower() == ".gz"
    if is_packed and encoding is None:
        return path
    with open_bytes(path) as file:
        marked = None
        if not is_packed:
            start = file.read(4)
            if start in _UTF32 and encoding is None:
                raise DataError(f"read: {source} is UTF-32 text; save it as UTF-8")
            marked = _UTF16.get(start[:2]) if encoding is None else None
            if marked is None and encoding is None:
                return path
            file.seek(2 if marked else 0)
        suffix = path.with_suffix("").suffix if is_packed else path.suffix
        target = Path(folder) / f"utf8-{len(os.listdir(folder))}{suffix.lower()}"
        decoder = codecs.getincrementaldecoder(marked or str(encoding))()
        try:
            with target.open("wb") as copy:
                while chunk := file.read(_CHUNK):
                    copy.write(decoder.decode(chunk).encode())
                copy.write(decoder.decode(b"", final=True).encode())
        except UnicodeError as error:
            raise DataError(
                f"read: {source} begins as UTF-16 text and goes on as something else; save it as "
                f"UTF-8"
                if marked
                else f"read: {source} is not {encoding} text: {error}"
            ) from None
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise DataError(
                f"read: {source} is not a complete gzip file: {one_line(error)}"
            ) from None
    if target.stat().st_size == 0:
        raise DataError(f"read: {source} is empty; column names and rows are needed")
    return target


def comma_copy(path: Path, folder: str, source: str) -> Path:
    """Return a copy with commas of a file whose cells are parted by one or more blanks."""
    check_bytes(path, source, " ")
    target = Path(folder) / f"commas-{len(os.listdir(folder))}.csv"
    with (
        open_bytes(path) as raw,
        io.TextIOWrapper(raw, "utf-8-sig", newline="") as text,
        target.open("w", encoding="utf-8", newline="") as copy,
    ):
        lines = (line.strip(" \t\r\n") + "\n" for line in text)
        reader = csv.reader(lines, delimiter=" ", skipinitialspace=True, strict=True)
        try:
            csv.writer(copy, lineterminator="\n").writerows(reader)
        except csv.Error as error:
            raise DataError(
                f"read: {source} is not CSV in line {reader.line_num:,}: {error}"
            ) from None
    return target


def _is_content(info: zipfile.ZipInfo) -> bool:
    name = info.filename
    hidden = name.startswith("__MACOSX/") or name.rpartition("/")[2].startswith(".")
    return not info.is_dir() and not hidden
