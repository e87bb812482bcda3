"""Several files as one table: a pattern or a folder, in the order of their names."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any

from bestdag.data.endings import is_table
from bestdag.errors import DataError

__all__ = ["hive_keys", "is_remote", "local_files", "matching_files"]

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
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
        found = [p for p in Path(source).rglob("*") if p.is_file() and not _is_hidden(p, source)]
        what = f"the folder {source!r} has no files"
    elif not os.path.lexists(source) and glob.has_magic(source):
        found = [Path(p) for p in glob.glob(source, recursive=True) if os.path.isfile(p)]
        what = f"there is no file {source!r}"
    else:
        return None
    if not found:
        raise DataError(f"read: {what}")
    kinds = sorted({_ending(path) for path in found})
    if os.path.isdir(source) and (len(kinds) > 1 or not is_table(found[0])):
        raise DataError(f"read: the folder {source!r} {_not_one_table(source, found)}")
    if len(kinds) > 1:
        shown = " and ".join(kinds[:2])
        raise DataError(
            f"read: {source!r} holds files of several kinds, {shown}; name those of one kind"
        )
    return sorted(found)


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


def _not_one_table(folder: str, found: Sequence[Path]) -> str:
    """Say which tables are in a folder whose files are not all of one kind."""
    kinds = sorted({_ending(path) for path in found})
    holds = f"holds files of several kinds, {' and '.join(kinds[:2])}"
    tables = sorted(path for path in found if is_table(path))
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
