"""Files and their suffixes: patterns, folders and archives."""

from __future__ import annotations

import glob
import os
import re
import shutil
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any

from bestdag.data.sources.connection import one_line
from bestdag.errors import DataError
from bestdag.wording import by_reader

__all__ = [
    "DELIMITERS",
    "EXCEL",
    "JSON",
    "NETWORKS",
    "PARQUET",
    "hive_keys",
    "is_remote",
    "is_table",
    "local_files",
    "matching_files",
    "refuse_by_sight",
    "table_name",
    "unzipped",
]

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_OTHER_WORKBOOKS = (".xls", ".xlsb", ".ods")
_CHUNK = 1 << 20
_ZIP = b"PK\x03\x04"
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
# What other programs leave beside the parts of a table begins so.
_HIDDEN = (".", "_")
_SHOWN_TABLES = 5


def is_remote(source: str) -> bool:
    """Whether a text is the address of a file elsewhere.

    Examples
    --------
    >>> is_remote("s3://shop/rows/*.parquet"), is_remote("rows/*.parquet")
    (True, False)
    """
    return _ADDRESS.match(source) is not None


def matching_files(source: str) -> list[Path] | None:
    """Return the files of a pattern or a folder; None where a source is one file, or none.

    Raises
    ------
    DataError
        If there are no such files, or they are of several kinds.
    """
    if os.path.isdir(source):
        files = [p for p in Path(source).rglob("*") if p.is_file() and not _is_hidden(p, source)]
        what = f"the folder {source!r} has no files"
    elif not os.path.lexists(source) and glob.has_magic(source):
        files = [Path(p) for p in glob.glob(source, recursive=True) if os.path.isfile(p)]
        what = f"there is no file {source!r}"
    else:
        return None
    if not files:
        raise DataError(f"read: {what}")
    kinds = sorted({_ending(path) for path in files})
    if os.path.isdir(source) and (len(kinds) > 1 or not is_table(files[0])):
        raise DataError(f"read: the folder {source!r} {_not_one_table(source, files)}")
    if len(kinds) > 1:
        shown = " and ".join(kinds[:2])
        raise DataError(
            f"read: {source!r} holds files of several kinds, {shown}; name those of one kind"
        )
    return sorted(files)


def local_files(source: Any) -> list[str] | None:
    """Return the files of a source; None where there are none on this machine to look at."""
    if not isinstance(source, str | os.PathLike):
        return None
    text = os.fspath(source)
    if text == "-" or is_remote(text):
        return None
    many = matching_files(text)
    if many is not None:
        return [str(path) for path in many]
    return [text] if os.path.isfile(text) else None


def hive_keys(paths: Sequence[PurePath]) -> list[str]:
    """Return the keys of the ``key=value`` folders that all files lie in.

    Examples
    --------
    >>> hive_keys([Path("rows/year=2020/a.parquet"), Path("rows/year=2021/a.parquet")])
    ['year']
    """
    keys = [[part.partition("=")[0] for part in p.parts[:-1] if "=" in part] for p in paths]
    return keys[0] if all(each == keys[0] for each in keys) else []


def _not_one_table(folder: str, files: Sequence[Path]) -> str:
    """Say which tables are in a folder whose files are not all of one kind."""
    kinds = sorted({_ending(path) for path in files})
    holds = f"holds files of several kinds, {' and '.join(kinds[:2])}"
    tables = sorted(path for path in files if is_table(path))
    if not tables:
        return f"holds no table; its files end in {' and '.join(kinds[:2])}"
    shown = ", ".join(repr(str(path)) for path in tables[:_SHOWN_TABLES])
    shown += ", ..." if tables[_SHOWN_TABLES:] else ""
    if len(tables) == 1:
        return f"{holds}; the table in it is {shown}"
    pattern = os.path.join(folder, "*" + _ending(tables[0]))
    return f"{holds}; name one of its tables, {shown}, or those of one kind, such as {pattern!r}"


def _is_hidden(path: Path, folder: str) -> bool:
    return any(part.startswith(_HIDDEN) for part in path.relative_to(folder).parts)


def _ending(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        return "".join(suffixes[-2:])
    return suffixes[-1] if suffixes else "no ending"


DELIMITERS = {".csv": ",", ".txt": ",", ".tsv": "\t"}
PARQUET = (".parquet", ".pq")
JSON = (".jsonl", ".ndjson")
EXCEL = (".xlsx", ".xlsm")
# Files that hold a network, which some take for its table.
NETWORKS = (".bif", ".dsc", ".json", ".net", ".uai", ".xdsl", ".xmlbif")


def table_name(source: object) -> str:
    """Return what a network that is learned from a table is called: as its file, if it has one.

    Examples
    --------
    >>> table_name("tables/heart.csv.gz"), table_name("rows/*.csv"), table_name({"a": ["x"]})
    ('heart', 'network', 'network')
    """
    if not isinstance(source, str | PurePath) or "*" in str(source):
        return "network"
    path = PurePath(source)
    if not is_table(path):
        return "network"
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).stem


def is_table(path: PurePath) -> bool:
    """Whether a name ends as that of a table.

    Examples
    --------
    >>> is_table(PurePath("rows.csv.gz")), is_table(PurePath("asia.bif"))
    (True, False)
    """
    bare = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return bare.suffix.lower() in (*DELIMITERS, *PARQUET, *JSON, *EXCEL)


def refuse_by_sight(path: Path, source: str) -> None:
    """Refuse workbooks of other formats, and text files that begin as something else does."""
    if path.suffix.lower() in _OTHER_WORKBOOKS:
        frame = by_reader(", or pass what pandas.read_excel makes of it", "")
        raise DataError(
            f"read: {source} is a workbook of another format than .xlsx; save it as .xlsx or CSV"
            f"{frame}"
        )
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


def _is_content(info: zipfile.ZipInfo) -> bool:
    name = info.filename
    hidden = name.startswith("__MACOSX/") or name.rpartition("/")[2].startswith(".")
    return not info.is_dir() and not hidden
