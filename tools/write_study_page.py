"""Writes the page of a study into the documentation, from what a run of it wrote.

Run: python tools/write_study_page.py FOLDER..., each a folder of `bestdag reproduce`.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

__all__ = ["write_page"]

DOCS = Path(__file__).parents[1] / "docs/studies"
# The figures that a page shows; a run draws more.
FIGURES = {
    "carvalho2009": {"figure-1", "figure-4"},
    "jensen2007": {"figure-7-22-2"},
    "scanagatta2014": {"figure-1-20", "figure-3-20", "figure-6-accuracy", "figure-6-sensitivity"},
    "silander2010": {"rank-bdeu-7", "rank-half-7", "figure-3-BDeu"},
    "silander2018": {"shd-ranks", "parameters-breast-cancer"},
}
_FIGURE = re.compile(r"### [^\n]*\n\n(?:[^#!|\n][^\n]*\n\n)?!\[[^\n]*\]\(([\w-]+)\.svg\)\n\n?")


def write_page(folder: Path) -> None:
    """Copy a summary, with the figures that its page shows."""
    with open(folder / "rows.jsonl") as file:
        name = json.loads(file.readline())["study"]

    def keep(found: re.Match[str]) -> str:
        if found[1] not in FIGURES.get(name, ()):
            return ""
        shutil.copyfile(folder / f"{found[1]}.svg", DOCS / f"{name}-{found[1]}.svg")
        return found[0].replace(f"({found[1]}.svg)", f"({name}-{found[1]}.svg)")

    text = (folder / "summary.md").read_text()
    (DOCS / f"{name}.md").write_text(_FIGURE.sub(keep, text))


if __name__ == "__main__":
    for given in sys.argv[1:]:
        write_page(Path(given))
