"""The map in CONTRIBUTING, the import contract and the rooms that exist are one and the same."""

import re
import tomllib
from pathlib import Path

_ROOT = Path(__file__).parents[1]
# The public names, the native module and the bundled data are no rooms.
_OUTSIDE = {"__init__", "__main__", "_core", "examples"}


def contract():
    """List the rooms of each layer, top first."""
    settings = tomllib.loads((_ROOT / "pyproject.toml").read_text())
    rooms, *_ = settings["tool"]["importlinter"]["contracts"]  # others are about single rooms
    return [re.findall(r"bestdag\.(\w+)", layer) for layer in rooms["layers"]]


def rooms_of_the_map():
    text = (_ROOT / "CONTRIBUTING.md").read_text()
    (table,) = re.findall(r"^\| `src/bestdag/` \|.*\n\|---.*\n((?:\|.*\n)+)", text, re.M)
    return [re.findall(r"`(\w+)`", row.split("|")[1]) for row in table.splitlines()]


def test_the_map_is_the_contract():
    assert rooms_of_the_map() == contract()


def test_every_room_has_its_place():
    source = _ROOT / "src" / "bestdag"
    there = {path.stem for path in source.iterdir() if path.suffix in ("", ".py", ".pyi")}
    placed = [room for layer in contract() for room in layer]
    assert len(placed) == len(set(placed))
    assert set(placed) == there - _OUTSIDE - {"__pycache__", "py"}
