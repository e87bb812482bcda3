"""Where the shared benchmark data are, for tests that use them when they are there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_FOLDER = Path(os.environ.get("BESTDAG_DATA", Path(__file__).parents[2] / "shared" / "data"))


def shared_file(relative: str) -> Path:
    """Path of a shared file; the test is skipped when it is absent."""
    path = _FOLDER / relative
    if not path.exists():
        pytest.skip(f"shared data not found: {relative}")
    return path
