"""CSV and TSV without guessing: the header by Python's csv module, the body by DuckDB.

Blank lines are skipped (in a table of one column they are empty cells). A cell's label is its
text, spaces included. What DuckDB would let pass is checked here: bytes that are no text, and
rows that are too long by empty cells.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import itertools
import os
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, cast

from bestdag import _core
from bestdag.data.sources.connection import (
    described,
    hive_sql,
    one_line,
    sql_name,
    sql_text,
    sql_texts,
)
from bestdag.data.sources.duckdb import DuckTable, Field
from bestdag.errors import DataError
from bestdag.wording import arg, count_of

__all__ = [
    "check_bytes",
    "comma_copy",
    "csv_table",
    "explain_csv_failure",
    "open_bytes",
    "utf8_copy",
]

_CHUNK = 1 << 20
# Rows that are looked at to see whether blanks part the cells.
_LOOKED_AT = 200
_SIGNS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file for reading, through gzip when its name ends in .gz."""
    if path.suffix.lower() == ".gz":
        return cast("IO[bytes]", gzip.open(path, "rb"))
    return path.open("rb")


def csv_table(
    con: Any,
    paths: Sequence[Path],
    sql_paths: Sequence[str],
    delimiter: str,
    source: str,
    is_given: bool = False,
    keys: Sequence[str] = (),
) -> DuckTable:
    """Describe CSV files: their headers are read and checked, their bodies left to DuckDB.

    A separator that `is_given`, not taken from the ending, may be rarer in the header than others.
    `keys` are those of the folders that the files lie in.
    """
    names, line_end = _header(paths[0], delimiter, source, is_given)
    for path in paths:
        who = source if len(paths) == 1 else f"{str(path)!r}"
        header = (names, line_end) if path is paths[0] else _header(path, delimiter, who, is_given)
        if header != (names, line_end):
            what = "other columns" if header[0] != names else "other line ends"
            raise DataError(f"read: {who} has {what} than {str(paths[0])!r}")
        # What is not plain to the native check may still be right, or gets its message here.
        if not _is_plain(path, delimiter, len(names)) and check_bytes(path, who, delimiter):
            _require_even_rows(path, delimiter, len(names), who)
    if len(names) == 1 and not is_given:
        _refuse_blanks(paths[0], names[0], source)
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(names)))
    compression = "gzip" if paths[0].suffix.lower() == ".gz" else "none"
    options = (
        f"auto_detect = false, header = true, delim = {sql_text(delimiter)}, quote = '\"', "
        f"escape = '\"', columns = {{{columns}}}, null_padding = false, "
        f"ignore_errors = false, {hive_sql(keys)}, compression = '{compression}'"
    )
    if line_end:  # DuckDB would take it from the first line break, be it inside a quoted name
        options += f", new_line = {sql_text(line_end)}"
    origin = f"read_csv({sql_texts(sql_paths)}, {options})"
    fields = [Field(name, f"coalesce(c{i}, '')") for i, name in enumerate(names)]
    fields += [Field(key, sql_name(key)) for key in keys]
    return DuckTable(described(con, origin), fields, source, con, origin)


def _is_plain(path: Path, delimiter: str, n_columns: int) -> bool:
    """Whether a file is UTF-8 text without NUL, and has as many cells in every row."""
    check = _core.CsvCheck(delimiter, n_columns)
    try:
        with open_bytes(path) as file:
            while chunk := file.read(_CHUNK):
                if not check.add(chunk):
                    return False
    except (EOFError, gzip.BadGzipFile, zlib.error):
        return False
    return check.is_plain()


def check_bytes(path: Path, source: str, delimiter: str | None = None) -> bool:
    """Refuse bytes that are not UTF-8 text, with their line.

    Returns whether some line may end in an empty cell: DuckDB accepts such a cell beyond the
    last column, so those rows need counting.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    sep = (delimiter or ",").encode()
    ends = [tail + end for tail in (sep, b'""') for end in (b"\n", b"\r")] + [b'"" ', sep + b" "]
    n_lines, tail, may_end_empty = 1, b"", False
    try:
        with open_bytes(path) as file:
            while chunk := file.read(_CHUNK):
                if n_lines == 1 and not tail and chunk[:2] == b"\x1f\x8b":
                    raise DataError(f"read: {source} is compressed; give its name the ending .gz")
                try:
                    decoder.decode(chunk)
                except UnicodeDecodeError as error:
                    line = n_lines + chunk[: max(error.start, 0)].count(b"\n")
                    raise _not_utf8(source, f"see line {line:,}", chunk) from None
                if b"\0" in chunk:
                    line = n_lines + chunk[: chunk.index(b"\0")].count(b"\n")
                    raise DataError(f"read: {source} has a NUL byte in line {line:,}; is it text?")
                joined = tail + chunk
                may_end_empty = may_end_empty or any(end in joined for end in ends)
                n_lines += chunk.count(b"\n")
                tail = joined[-3:]
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        where = f"it ends inside a character in line {n_lines:,}"
        raise _not_utf8(source, where, tail) from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"read: {source} is not a complete gzip file: {one_line(error)}") from None
    return may_end_empty or tail.endswith((sep, b'""'))


def _not_utf8(source: str, where: str, part: bytes) -> DataError:
    """Return the refusal of bytes that are not UTF-8, with the encoding that they may have."""
    # Latin-1 has control characters there, where Windows has quotes, dashes and the euro.
    encoding = "cp1252" if any(0x80 <= byte < 0xA0 for byte in part) else "latin-1"
    return DataError(
        f"read: {source} is not UTF-8 text: {where}; save it as UTF-8, or if it is {encoding} pass "
        f"{arg('encoding', encoding)}"
    )


def explain_csv_failure(
    paths: Sequence[Path], delimiter: str, source: str, error: BaseException
) -> DataError:
    """Find, with Python's csv module, why DuckDB could not read files."""
    for path in paths:
        who = source if len(paths) == 1 else f"{str(path)!r}"
        try:
            n_columns = len(_header(path, delimiter, who)[0])
            _require_even_rows(path, delimiter, n_columns, who, strict=True)
            with open_bytes(path) as file:
                crlf, lf = _line_ends(file)
            if crlf and lf:
                return DataError(
                    f"read: {who} mixes line ends (CRLF and LF); save it with one kind"
                )
        except DataError as reason:
            return reason
    return DataError(f"read: {source} cannot be read as CSV: {one_line(error)}")


def _header(
    path: Path, delimiter: str, source: str, is_given: bool = True
) -> tuple[list[str], str]:
    """Read the column names and how their line ends, as DuckDB writes it (empty: it does not)."""
    lines: list[str] = []
    try:
        with open_bytes(path) as raw, io.TextIOWrapper(raw, "utf-8-sig", newline="") as text:
            remembered = (lines.append(line) or line for line in text)  # type: ignore[func-returns-value]
            names = next(csv.reader(remembered, delimiter=delimiter, strict=True), None)
    except UnicodeDecodeError:
        check_bytes(path, source)
        raise DataError(f"read: {source} is not UTF-8 text") from None
    except csv.Error as error:
        check_bytes(path, source)
        raise DataError(f"read: {source} has a header that is not CSV: {error}") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"read: {source} is not a complete gzip file: {one_line(error)}") from None
    if names is None:
        raise DataError(f"read: {source} is empty; a line with the column names is needed")
    if not names:
        raise DataError(f"read: {source} begins with a blank line, not with the column names")
    _refuse_other_separator(names, lines[0], delimiter, source, is_given)
    last = lines[-1]
    return names, last[len(last.rstrip("\r\n")) :].replace("\r", "\\r").replace("\n", "\\n")


def _refuse_other_separator(
    names: list[str], line: str, delimiter: str, source: str, is_given: bool
) -> None:
    """Refuse a header with more of another separator; in quotes a name may hold any sign."""
    if '"' in line:
        return
    counts = {sign: line.count(sign) for sign in _SIGNS if sign != delimiter}
    other = max(counts, key=lambda sign: counts[sign])
    if counts[other] <= line.count(delimiter) or (is_given and len(names) > 1):
        return
    columns = "one column" if len(names) == 1 else f"{len(names)} columns"
    raise DataError(
        f"read: {source} looks {_SIGNS[other]}-separated: its header is {line.rstrip()[:60]!r}, "
        f"{columns} if {_SIGNS[delimiter]}-separated; pass {arg('separator', other)}, or put names "
        "in quotes that hold such signs"
    )


def _refuse_blanks(path: Path, name: str, source: str) -> None:
    """Refuse one column whose name and rows all have as many words: blanks may part them."""
    n_words = len(name.split())
    with open_bytes(path) as raw, io.TextIOWrapper(raw, "utf-8-sig") as text:
        if n_words < 2 or '"' in next(text):
            return
        rows = [line for line in itertools.islice(text, _LOOKED_AT) if line.strip()]
    if not rows or any(len(row.split()) != n_words for row in rows):
        return
    raise DataError(
        f"read: {source} looks space-separated: its header {name[:60]!r} has {n_words} words, and "
        f"so has each row; pass {arg('separator', ' ')}, or put the name in quotes if it is one "
        "column"
    )


def _require_even_rows(
    path: Path, delimiter: str, n_columns: int, source: str, *, strict: bool = False
) -> None:
    """Count the cells of every row; blank lines are no rows."""
    with open_bytes(path) as raw, io.TextIOWrapper(raw, "utf-8-sig", newline="") as text:
        # Spaces before a quote do not hide it, as in DuckDB.
        reader = csv.reader(text, delimiter=delimiter, skipinitialspace=True, strict=strict)
        start = 1
        for row in _rows(reader, source, strict):
            if row and len(row) != n_columns:
                raise DataError(
                    f"read: {source} has {n_columns} columns, "
                    f"but {count_of(len(row), 'cell')} in line {start:,}"
                )
            start = reader.line_num + 1


def _rows(reader: Any, source: str, strict: bool) -> Iterator[list[str]]:
    while True:
        start = reader.line_num + 1
        try:
            row = next(reader, None)
        except csv.Error as error:
            if strict:
                raise DataError(f"read: {source} is not CSV in line {start:,}: {error}") from None
            return  # DuckDB will judge
        if row is None:
            return
        yield row


def _line_ends(file: IO[bytes]) -> tuple[bool, bool]:
    crlf = lf = False
    last = b""
    while chunk := file.read(_CHUNK):
        joined = last + chunk
        n_crlf = joined.count(b"\r\n")
        crlf = crlf or n_crlf > 0
        lf = lf or joined.count(b"\n") > n_crlf
        last = b"\r" if chunk.endswith(b"\r") else b""
    return crlf, lf


_UTF32 = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


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
