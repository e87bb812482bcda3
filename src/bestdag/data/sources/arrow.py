"""A DuckDB query as a stream of arrays, through Arrow's C interface and no Arrow library.

`fetchnumpy` gives all rows at once. The stream that a relation exports
(https://arrow.apache.org/docs/format/CStreamInterface.html) gives some hundred thousand at a time,
in order, while DuckDB goes on with the next.
"""

from __future__ import annotations

import ctypes
from collections.abc import Generator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.data.sources.connection import interruptible

__all__ = ["stream_error", "streamed"]


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", ctypes.c_void_p),
    (
        "get_next",
        ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array)),
    ),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(_Stream))),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]


def streamed(
    relation: Any, types: Sequence[npt.DTypeLike], con: Any
) -> Generator[list[npt.NDArray[Any]], None, None]:
    """Give the rows of a relation in order, some at a time: one new array per column.

    The columns are numbers of these types without NULLs. Ctrl-C interrupts `con`, if it is ours.

    """
    capsule = interruptible(relation.__arrow_c_stream__, con)
    stream = _Stream.from_address(_address(capsule))
    kinds = [np.dtype(kind) for kind in types]
    while (arrays := interruptible(lambda: _next(stream, kinds), con)) is not None:
        yield arrays


def _address(capsule: Any) -> int:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(get(capsule, b"arrow_array_stream"))


def _next(stream: _Stream, kinds: Sequence[np.dtype[Any]]) -> list[npt.NDArray[Any]] | None:
    batch = _Array()
    if stream.get_next(ctypes.byref(stream), ctypes.byref(batch)):
        said = stream.get_last_error(ctypes.byref(stream)) or b""
        raise stream_error(said.decode("utf-8", "replace"))
    if not batch.release:
        return None
    try:
        return [_copied(batch.children[i].contents, kind) for i, kind in enumerate(kinds)]
    finally:
        batch.release(ctypes.byref(batch))


def stream_error(text: str) -> BaseException:
    """Return the error that DuckDB would raise with these words."""
    import duckdb

    kind = text.lower()
    if kind.startswith("interrupt"):
        return KeyboardInterrupt()
    if kind.startswith("conversion"):
        return duckdb.ConversionException(text)
    return MemoryError(text) if kind.startswith("out of memory") else duckdb.Error(text)


def _copied(column: _Array, kind: np.dtype[Any]) -> npt.NDArray[Any]:
    if column.length == 0:
        return np.empty(0, kind)
    n_bytes = column.length * kind.itemsize
    start = column.buffers[1] + column.offset * kind.itemsize
    return np.frombuffer((ctypes.c_char * n_bytes).from_address(start), kind).copy()
