"""Under ``ulimit -v`` every command works, or says in one line that memory cannot be had."""

import sys

import pytest

from tests.cli.test_closed_streams import FEW, MB, RUNS, run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="addresses are limited on Linux")

SIZES = [
    pytest.param(name, size, marks=[] if size == 150 and name in FEW else pytest.mark.slow)
    for name in RUNS
    for size in (100, 150, 200, 250)
]


@pytest.mark.parametrize(("command", "size"), SIZES)
def test_memory_that_cannot_be_had_is_one_line(command, size, tmp_path):
    code, _, err, _ = run(command, tmp_path / "out", addresses=size * MB)
    if code == 0:
        assert err == b""
        return
    assert code == 1
    (line,) = err.decode().splitlines()
    assert line.startswith("bestdag: ")
    assert "memory" in line
    assert "ulimit -v" in line
