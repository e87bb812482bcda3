"""Writes the pages of studies into the documentation, from what runs of them wrote.

Run: python tools/write_study_page.py FOLDER..., each a folder of `python -m studies`. A page is the
summary of the run with some of its figures; the table of all claims on the first page is made of
the pages that are there.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

__all__ = ["claims_table", "verdicts", "write_index", "write_page"]

DOCS = Path(__file__).parents[1] / "docs/studies"
# The figures that a page shows; a run draws more.
FIGURES = {
    "carvalho2009": {"figure-1", "figure-2", "figure-3", "figure-4"},
    "everything": {"ranks-loss", "ranks-shd"},
    "jensen2007": {"figure-7-17", "figure-7-21", "figure-7-22-1", "figure-7-22-2"},
    "scanagatta2014": {
        "figure-1-20",
        "figure-1-50",
        "figure-2-alarm",
        "figure-3-20",
        "figure-4-20",
        "figure-5",
        "figure-6-accuracy",
        "figure-6-sensitivity",
        "figure-7",
    },
    "silander2010": {"rank-bdeu-7", "rank-half-7", "figure-3-BDeu", "figure-3-BD12"},
    "silander2018": {"shd-ranks", "parameters-breast-cancer"},
}
_FIGURE = re.compile(r"### [^\n]*\n\n(?:[^#!|\n][^\n]*\n\n)?!\[[^\n]*\]\(([\w-]+)\.svg\)\n\n?")
_BEGIN, _END = "<!-- claims -->\n", "<!-- end of claims -->\n"
_COMMAND = re.compile(r"^`(python -m studies [^`]*)`\n\n([^\n]*)", re.MULTILINE)
_CLAIM = re.compile(r"^\| ([A-Z]\d) \| .* \| (holds|does not hold|cannot be told) \|", re.MULTILINE)


def write_page(folder: Path) -> None:
    """Copy a summary, with the figures that its page shows."""
    with open(folder / "rows.jsonl") as file:
        name = json.loads(file.readline())["study"]
    for old in DOCS.glob(f"{name}-*.svg"):
        old.unlink()

    def keep(found: re.Match[str]) -> str:
        if found[1] not in FIGURES.get(name, ()):
            return ""
        shutil.copyfile(folder / f"{found[1]}.svg", DOCS / f"{name}-{found[1]}.svg")
        return found[0].replace(f"({found[1]}.svg)", f"({name}-{found[1]}.svg)")

    text = (folder / "summary.md").read_text()
    (DOCS / f"{name}.md").write_text(_FIGURE.sub(keep, text))


def verdicts(page: str) -> dict[str, str]:
    """Return the claims of a page with their verdicts."""
    return {found[1]: found[2] for found in _CLAIM.finditer(page)}


def claims_table() -> str:
    """Return the claims of all pages by verdict, as Markdown."""
    lines = ["| study | run | holds | does not hold | cannot be told |", "|---|---|---|---|---|"]
    for path in sorted(DOCS.glob("*.md")):
        page = path.read_text()
        run = _COMMAND.search(page)
        found = verdicts(page)
        if path.stem == "index" or run is None or not found:
            continue
        size = "full" if "--full" in run[1] else "quick"
        by = {
            verdict: ", ".join(name for name, of in found.items() if of == verdict)
            for verdict in ("holds", "does not hold", "cannot be told")
        }
        about = run[2].split(". ")[0].rstrip(".")
        shown = " | ".join(by.values())
        lines.append(f"| [{path.stem}]({path.name}) | {size}, {about} | {shown} |")
    return "\n".join(lines) + "\n"


def write_index() -> None:
    """Write the table of all claims into the first page."""
    index = DOCS / "index.md"
    before, rest = index.read_text().split(_BEGIN)
    after = rest.split(_END)[1]
    index.write_text(before + _BEGIN + claims_table() + _END + after)


if __name__ == "__main__":
    for given in sys.argv[1:]:
        write_page(Path(given))
    write_index()
