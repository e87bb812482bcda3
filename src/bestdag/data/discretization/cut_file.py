"""Cut points in a JSON file, to apply to new rows."""

from __future__ import annotations

import json
import os
from typing import Any

from bestdag.data.dataset import Dataset
from bestdag.data.discretization.cuts import check_cuts
from bestdag.errors import FormatError, InvalidParameterError
from bestdag.files import read_file, shown_path, write_file

__all__ = ["load_cut_points", "write_cut_points"]

_FORMAT = "bestdag cut points"
_VERSION = 1


def write_cut_points(data: Dataset, path: str | os.PathLike[str]) -> None:
    """Write the cut points of a data set, complete or not at all."""
    cuts = {v.name: list(v.cuts) for v in data.variables if v.cuts is not None}
    content = {"format": _FORMAT, "version": _VERSION, "cuts": cuts}
    text = json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    write_file(path, text.encode())


def load_cut_points(path: str | os.PathLike[str]) -> dict[str, tuple[float, ...]]:
    """Read the cut points of each column, as `discretize` takes them for `cuts`."""
    who = shown_path(path)
    try:
        content: Any = json.loads(read_file(path))
    except (ValueError, RecursionError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"{who}: not a JSON file: {error}") from None
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise FormatError(
            f"{who}: not a file of cut points; one begins with a format of {_FORMAT!r}"
        )
    if content.get("version") != _VERSION:
        raise FormatError(
            f"{who}: version {_VERSION} of the format is needed, got {content.get('version')!r:.20}"
        )
    cuts = content.get("cuts")
    if not isinstance(cuts, dict):
        raise FormatError(f"{who}: 'cuts' must map columns to lists of numbers, got {cuts!r:.60}")
    try:
        return {name: check_cuts(who, name, points) for name, points in cuts.items()}
    except InvalidParameterError as error:
        raise FormatError(str(error)) from None
