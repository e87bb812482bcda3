"""The pictures of the documentation are what the code makes of them."""

import re

import pytest

pytest.importorskip("matplotlib")

from tools.pages import ROOT, pages
from tools.write_pictures import FIGURES, FOLDER, figure, pictures


def test_pictures_are_those_of_the_code():
    made = pictures()
    assert sorted(path.name for path in FOLDER.glob("*.svg")) == sorted(made)
    for name, picture in made.items():
        assert (FOLDER / name).read_text() == picture.svg, "run: make docs"


def test_every_picture_on_a_page_is_made_and_every_picture_is_shown():
    shown = set()
    for page in pages():
        found = re.findall(r"(?:\{(?:image|figure)\} |!\[[^]]*\]\()([^\s)]+)", page.read_text())
        shown |= {(page.parent / name).resolve() for name in found}
    kept = {path for path in FOLDER.iterdir() if path.name != "README.md"}
    kept |= {*(ROOT / "docs/studies").glob("*.svg")}  # made by `python -m studies`
    assert shown == kept | {ROOT / "docs/figures" / name for name in FIGURES}


def test_screenshots_are_small():
    sizes = {path.name: path.stat().st_size for path in FOLDER.glob("*.webp")}
    assert len(sizes) >= 4
    assert all(size < 200_000 for size in sizes.values())


@pytest.mark.parametrize("name", ["score-by-parents.svg", "confusion-matrix.svg"])
def test_figures_can_be_drawn(name):
    (ax, *_) = figure(name).axes
    assert ax.lines or ax.images
