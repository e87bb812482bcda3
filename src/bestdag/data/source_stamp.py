"""Whether a source is what it was: size, time and a checksum of a sample of every file."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from bestdag.data.choice import Choice

__all__ = ["reading_key", "stamp_of"]

# Bytes of a file that are looked at: in its beginning, its middle and its end.
_SAMPLE = 1 << 16


def stamp_of(files: Sequence[str]) -> list[list[Any]]:
    """Return what would be another if a file were another."""
    return [[os.path.abspath(path), *_stamp(path)] for path in files]


def _stamp(path: str) -> tuple[int, int, str]:
    found = os.stat(path)
    digest = hashlib.blake2b(digest_size=16)
    with open(path, "rb") as file:
        for start in sorted({0, max(0, found.st_size // 2), max(0, found.st_size - _SAMPLE)}):
            file.seek(start)
            digest.update(file.read(_SAMPLE))
    return found.st_size, found.st_mtime_ns, digest.hexdigest()


def reading_key(source: str, choice: Choice, collapse: bool | None) -> str:
    """Return a name for a source and the settings it is read with."""
    options, given = choice.options, choice.weights
    weights = given if isinstance(given, str) or given is None else np.asarray(given).tobytes()
    what = (
        os.path.abspath(source),
        sorted(options.states.items()),
        options.missing,
        sorted(options.missing_values),
        options.max_states,
        options.allow_few_rows,
        choice.columns,
        choice.drop,
        choice.owner,
        choice.may_lack,
        choice.separator,
        choice.sheet,
        choice.encoding,
        collapse,
        weights,
    )
    return hashlib.blake2b(repr(what).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
