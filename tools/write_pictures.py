"""Writes the pictures of the documentation, from the code they show.

Run: python tools/write_pictures.py; `make docs` does. A test compares the files with the code.
"""

from __future__ import annotations

from pathlib import Path

from bestdag import Network, learn
from bestdag.drawing.picture import Picture
from bestdag.examples import example

__all__ = ["FOLDER", "pictures"]

FOLDER = Path(__file__).parents[1] / "docs/pictures"


def pictures() -> dict[str, Picture]:
    """Make every picture, by the name of its file."""
    truth = Network.load(example("asia.bif"))
    return {
        "asia-learned.svg": learn(example("asia.csv"), "bdeu").plot(),
        "asia-class.svg": truth.dag.cpdag().plot(),
    }


if __name__ == "__main__":
    for name, picture in pictures().items():
        picture.save(FOLDER / name)
