"""The file: one zip of numpy arrays, of which the first is JSON that says where the others go."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bestdag.errors import FormatError
from bestdag.files import read_file, shown_path, write_file

__all__ = ["FORMAT", "read_state", "write_state"]

# What the file looks like; another number is refused.
FORMAT = 1
_KIND = "bestdag checkpoint"
_ARRAY = "$array"  # a mapping with this key stands for an array


def write_state(
    path: str | os.PathLike[str],
    state: Mapping[str, Any],
    on_place: Callable[[int], None] | None = None,
) -> None:
    """Write a tree of mappings, lists, texts, numbers and arrays, complete or not at all.

    `on_place` is as for `bestdag.files.writing`.
    """
    arrays: list[np.ndarray[Any, Any]] = []
    text = json.dumps({"kind": _KIND, "format": FORMAT, **_plain(state, arrays)})
    packed = io.BytesIO()
    tree = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
    named: dict[str, Any] = {f"a{i}": array for i, array in enumerate(arrays)}
    np.savez(packed, tree=tree, **named)
    write_file(path, packed.getvalue(), on_place)


def read_state(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read what `write_state` wrote.

    Raises
    ------
    FormatError
        A file that is something else, or damaged.
    """
    packed = io.BytesIO(read_file(path))
    try:
        with np.load(packed, allow_pickle=False) as arrays:
            state = json.loads(arrays["tree"].tobytes().decode("utf-8", "surrogatepass"))
            found: dict[str, Any] = _whole(state, arrays)
    except (ValueError, KeyError, EOFError, OSError, zipfile.BadZipFile, AttributeError) as error:
        raise FormatError(
            f"{shown_path(path)}: is not a bestdag checkpoint, or is damaged: {error}; name "
            "another file"
        ) from None
    if not isinstance(found, dict) or found.get("kind") != _KIND:
        raise FormatError(f"{shown_path(path)}: is not a bestdag checkpoint; name another file")
    return found


def _plain(value: Any, arrays: list[np.ndarray[Any, Any]]) -> Any:
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {_ARRAY: len(arrays) - 1}
    if isinstance(value, Mapping):
        return {str(key): _plain(one, arrays) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one, arrays) for one in value]
    if isinstance(value, np.generic):
        return value.item()
    return value


def _whole(value: Any, arrays: Any) -> Any:
    if isinstance(value, dict):
        if _ARRAY in value:
            return arrays[f"a{value[_ARRAY]}"]
        return {key: _whole(one, arrays) for key, one in value.items()}
    if isinstance(value, list):
        return [_whole(one, arrays) for one in value]
    return value
