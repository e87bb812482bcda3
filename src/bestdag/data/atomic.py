"""Files that are complete or untouched: written aside, then moved into place."""

from __future__ import annotations

import gzip
import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from bestdag.errors import DataError

__all__ = ["atomic_text"]


@contextmanager
def atomic_text(path: str | os.PathLike[str], *, who: str) -> Iterator[TextIO]:
    """Open a UTF-8 file for writing that appears under its name only when all went well.

    Line ends are written as given; a name that ends in ``.gz`` is compressed. When the body
    raises, or is interrupted, what was there before stays and nothing else is left behind.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise DataError(f"{who}: {str(path)!r} is a folder; a file name is needed")
    if target.exists() and not target.is_file():  # a pipe or a device takes what it is given
        with target.open("w", encoding="utf-8", newline="") as stream:
            yield stream
        return
    try:
        handle, aside = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise DataError(f"{who}: cannot write {str(path)!r}: {error.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as raw:
            if target.suffix.lower() == ".gz":
                packed = gzip.GzipFile("", "wb", fileobj=raw, mtime=0)
                with packed, io.TextIOWrapper(packed, "utf-8", newline="") as text:
                    yield text
            else:
                with io.TextIOWrapper(raw, "utf-8", newline="") as text:
                    yield text
        os.chmod(aside, target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
        os.replace(aside, target)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
