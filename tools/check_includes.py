"""Checks that the folders of native code include only what lies below them.

Run: python tools/check_includes.py; `make lint` does, and says nothing when all is well.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = ["FOLDERS", "problems"]

# The folders of cpp/kernels, lowest first. Each may include itself and those before it.
FOLDERS = (
    "base",
    "special",
    "graphs",
    "counting",
    "factors",
    "independence",
    "scores",
    "scoring",
    "missing",
    "search",
    "exact",
    "posterior",
    "data",
)

_INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
_PYTHON = ("nanobind/", "Python.h", "bindings/")


def problems(cpp: Path) -> list[str]:
    """Return one line for each include that points upwards, and for each file out of place."""
    return [*_problems_of_kernels(cpp / "kernels"), *_problems_of_bindings(cpp)]


def _problems_of_kernels(kernels: Path) -> Iterator[str]:
    for path in _sources(kernels):
        folder, *rest = path.relative_to(kernels).parts
        if folder not in FOLDERS or len(rest) != 1:
            yield f"{path}: must lie in one of the folders {', '.join(FOLDERS)}"
            continue
        for name in _included(path):
            if name.startswith(_PYTHON):
                yield f"{path}: includes {name}, but kernels know nothing of Python"
            elif "/" not in name and (path.parent / name).exists():
                yield f"{path}: includes {name} without its folder; write {folder}/{name}"
            yield from _upwards(path, folder, name)


def _problems_of_bindings(cpp: Path) -> Iterator[str]:
    bindings = cpp / "bindings"
    for path in _sources(bindings):
        folder, *rest = path.relative_to(bindings).parts
        if not rest:
            continue  # what all of them share
        if folder not in FOLDERS or len(rest) != 1:
            yield f"{path}: must lie in a folder that cpp/kernels has, or beside them"
            continue
        for name in _included(path):
            yield from _upwards(path, folder, name.removeprefix("bindings/"))


def _upwards(path: Path, folder: str, name: str) -> Iterator[str]:
    other = name.split("/")[0]
    if other in FOLDERS and FOLDERS.index(other) > FOLDERS.index(folder):
        yield f"{path}: includes {name}, but {other}/ lies above {folder}/"


def _sources(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*") if p.suffix in {".cpp", ".hpp"})


def _included(path: Path) -> list[str]:
    return _INCLUDE.findall(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    found = problems(Path(__file__).parents[1] / "cpp")
    print("\n".join(found), end="\n" if found else "")
    sys.exit(bool(found))
