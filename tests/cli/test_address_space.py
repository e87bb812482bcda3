"""Under ``ulimit -v`` every command works, or says in one line that memory cannot be had."""

import subprocess
import sys

import pytest

from bestdag.cli.main import COMMANDS
from bestdag.examples import example
from tests.signals import GUARD

resource = pytest.importorskip("resource")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="addresses are limited on Linux")

MB = 1_000_000
ARGUMENTS = {
    "bootstrap": ["{data}", "--score", "bic", "--replicates", "3"],
    "classify": ["{data}", "--target", "dysp"],
    "discretize": ["{data}", "--method", "quantile", "-o", "{out}.csv"],
    "explain": ["{network}", "--given", "dysp=yes"],
    "fit": ["{data}", "{network}", "-o", "{out}.bif"],
    "impute": ["{data}", "{network}", "-o", "{out}.csv"],
    "info": ["{data}"],
    "learn": ["{data}", "-o", "{out}.bif"],
    "pc": ["{data}"],
    "posterior": ["{data}"],
    "predict": ["{network}", "{data}", "--target", "dysp"],
    "convert": ["{network}", "{out}.net"],
    "draw": ["{network}", "-o", "{out}.svg"],
    "compare": ["{network}", "{network}"],
    "evaluate": ["{data}", "--score", "bic", "--search", "tree", "--cv", "2"],
    "random": ["-n", "20", "-o", "{out}.bif"],
    "query": ["{network}", "--given", "dysp=yes"],
    "sample": ["{network}", "-n", "1000", "-o", "{out}.csv"],
    "score": ["{data}", "{network}"],
    "score-table": ["{data}", "-o", "{out}.jkl"],
    "tan": ["{data}", "--target", "dysp"],
    "tree": ["{data}"],
}


def run(command, n_bytes, tmp_path):
    places = {"data": example("asia.csv"), "network": example("asia.bif"), "out": tmp_path / "out"}
    arguments = [argument.format(**places) for argument in ARGUMENTS[command]]
    return subprocess.run(
        [sys.executable, "-m", "bestdag", command, *arguments],
        capture_output=True,
        text=True,
        timeout=GUARD,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (n_bytes, n_bytes)),
    )


def test_every_command_is_tried():
    assert set(ARGUMENTS) == set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_small_table_is_read_in_less_than_half_a_gigabyte(command, tmp_path):
    done = run(command, 450 * MB, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "size", [150, *(pytest.param(size, marks=pytest.mark.slow) for size in (100, 200, 250))]
)
@pytest.mark.parametrize("command", COMMANDS)
def test_memory_that_cannot_be_had_is_one_line(command, size, tmp_path):
    done = run(command, size * MB, tmp_path)
    if done.returncode == 0:
        assert done.stderr == ""
        return
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("bestdag: ")
    assert "memory" in line
    assert "ulimit -v" in line
