"""Writes the screenshots of reports in the documentation, by headless Chromium.

Run: python -m tools.write_screenshots, after a change of the report. Needs the package playwright,
Pillow, a browser (its own, one on the path, or the one that the environment variable
BESTDAG_CHROMIUM names), and for the larger networks the benchmark data in ../shared/data or the
folder named by BESTDAG_DATA. It is no part of `make docs`: the pictures are kept.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, sync_playwright
from tools.write_pictures import FOLDER, heart_with_tiers

from bestdag import Network, learn
from bestdag.examples import example

_BROWSERS = ("chromium", "chromium-headless-shell", "google-chrome")
_DATA = Path(os.environ.get("BESTDAG_DATA", Path(__file__).parents[2] / "shared/data"))
_MOST_BYTES = 200_000


def _asia() -> Any:
    return learn(example("asia.csv"), "bdeu")


def _sampled(name: str) -> Callable[[], Any]:
    def learned() -> Any:
        rows = Network.load(_DATA / f"networks/{name}.bif").sample(5000, seed=1)
        return learn(rows, "bic", search="tabu")

    return learned


# File: what was learned, the variable that is chosen, width and height of the window, scheme.
SHOTS: dict[str, tuple[Callable[[], Any], str, int, int, str]] = {
    "report-8": (_asia, "dysp", 1100, 900, "light"),
    "report-heart": (heart_with_tiers, "disease", 1100, 900, "light"),
    "report-37": (_sampled("alarm"), "CATECHOL", 1200, 900, "light"),
    "report-223": (_sampled("andes"), "SNode_51", 1400, 900, "dark"),
    "report-phone": (_asia, "dysp", 390, 844, "light"),
}


def main() -> None:
    """Take every screenshot."""
    known = os.environ.get("BESTDAG_CHROMIUM") or next(
        filter(None, map(shutil.which, _BROWSERS)), None
    )
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=known, args=["--no-sandbox"])
        for name, (learned, chosen, width, height, scheme) in SHOTS.items():
            path = Path(folder) / f"{name}.html"
            learned().report(path)
            page = browser.new_page(
                viewport={"width": width, "height": height}, color_scheme=scheme
            )
            page.goto(path.as_uri())
            _choose(page, chosen)
            _save(page.screenshot(), FOLDER / f"{name}.webp")
            page.close()
        browser.close()


def _choose(page: Page, name: str) -> None:
    page.locator(".node").filter(has_text=name).first.focus()
    page.keyboard.press("Enter")
    page.evaluate("document.activeElement.blur()")  # its tooltip goes
    page.evaluate("window.scrollTo(0, 0)")


def _save(png: bytes, path: Path) -> None:
    """Write as WebP, with as much loss as the limit asks for."""
    picture = Image.open(BytesIO(png)).convert("RGB")
    for quality in (90, 80, 70, 60, 50):
        made = BytesIO()
        picture.save(made, "WEBP", quality=quality, method=6)
        if made.tell() <= _MOST_BYTES:
            break
    path.write_bytes(made.getvalue())
    print(f"{path.name}: {made.tell():,} bytes")


if __name__ == "__main__":
    main()
