"""Every command with standard input, output or error closed."""

import os
import re
import subprocess
import sys
from functools import cache

import pytest

from bestdag.cli.main import COMMANDS
from bestdag.examples import example
from bestdag.learning import learn
from tests.signals import GUARD

DATA, NETWORK = str(example("asia.csv")), str(example("asia.bif"))

# One short run of every command that prints something.
RUNS = {
    "bootstrap": [DATA, "--score", "bic", "--replicates", "3"],
    "posterior": [DATA],
    "classify": [DATA, "--target", "lung", "--cv", "2"],
    "discretize": ["../numbers.csv", "--method", "quantile", "-o", "cut.csv"],
    "compare": [NETWORK, NETWORK],
    "evaluate": [DATA, "--score", "bic", "--search", "tree", "--cv", "2"],
    "explain": [NETWORK, "--given", "dysp=yes"],
    "fit": [DATA, NETWORK, "-o", "fitted.bif"],
    "impute": [DATA, NETWORK, "-o", "filled.csv"],
    "info": [DATA],
    "learn": [DATA, "--search", "tree"],
    "pc": [DATA],
    "predict": [NETWORK, DATA, "--target", "lung"],
    "convert": [NETWORK, "out.net", "--force"],
    "draw": [NETWORK, "-o", "out.svg", "--force"],
    "random": ["-n", "5", "-o", "random.bif"],
    "query": [NETWORK, "lung"],
    "sample": [NETWORK, "-n", "5"],
    "score": [DATA, NETWORK],
    "score-table": [DATA, "--max-parents", "1", "-o", "-"],
    "tan": [DATA, "--target", "lung"],
    "tree": [DATA],
    "verify": ["../proof.json", DATA],
}


@cache
def certificate():
    return learn(DATA, "bic").certificate()


# Ordinarily a few stand for all where it does not depend on the command.
FEW = ("learn", "sample", "info")
MB = 1_000_000
_SECONDS = re.compile(rb"\d+\.\d+ (s|seconds)\b")


def run(name, folder, *closed, addresses=None):
    """Run a command in a new folder; return its code, what it prints, says and writes."""

    def prepare():
        for number in closed:
            os.close(number)
        if addresses is not None:
            import resource

            resource.setrlimit(resource.RLIMIT_AS, (addresses, addresses))

    folder.mkdir()
    certificate().save(folder / "../proof.json")
    (folder / "../numbers.csv").write_text("x,y\n" + "".join(f"{k / 8},a\n" for k in range(99)))
    command = [sys.executable, "-m", "bestdag", name, *RUNS[name]]
    done = subprocess.run(
        command, capture_output=True, check=False, timeout=GUARD, cwd=folder, preexec_fn=prepare
    )
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    return done.returncode, _SECONDS.sub(b"", done.stdout), done.stderr, files


def test_every_command_is_tried():
    assert RUNS.keys() == COMMANDS.keys()


windows = pytest.mark.skipif(sys.platform == "win32", reason="streams are closed in another way")


# Nobody reads from standard input here, nobody has to listen to standard error, and half a gigabyte
# of addresses is enough for a small table.
@windows
@pytest.mark.parametrize("name", RUNS)
def test_closed_streams_and_little_memory_change_nothing(name, tmp_path, monkeypatch, cli):
    limit = 450 * MB if sys.platform == "linux" else None
    code, out, err, files = run(name, tmp_path / "closed", 0, 2, addresses=limit)
    assert (code, err) == (0, b"")
    (tmp_path / "open").mkdir()
    monkeypatch.chdir(tmp_path / "open")
    shown = cli(name, *RUNS[name])
    assert shown.code == 0
    # Lines end where it suits the number of digits of the seconds.
    assert out.split() == _SECONDS.sub(b"", shown.out.encode()).split()
    assert files == {path.name: path.read_bytes() for path in (tmp_path / "open").iterdir()}
    assert out or files


# What cannot be shown is an error of one line; nothing is written elsewhere. That is seen before
# there is a command.
@windows
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in FEW else pytest.mark.slow) for name in RUNS]
)
def test_closed_output_is_an_error_of_one_line(name, tmp_path):
    code, out, err, files = run(name, tmp_path / "silent", 1)
    assert (code, out, files) == (1, b"", {})
    assert err == b"bestdag: standard output is closed\n"
    assert run(name, tmp_path / "mute", 0, 1, 2) == (1, b"", b"", {})


@pytest.mark.slow
@windows
@pytest.mark.parametrize("name", RUNS)
def test_one_closed_stream(name, tmp_path):
    code, out, _, _ = run(name, tmp_path / "open")
    for closed in (0, 2):
        assert run(name, tmp_path / f"closed {closed}", closed)[:2] == (code, out)


def test_a_closed_input_that_is_needed_is_an_error_of_one_line():
    command = [sys.executable, "-m", "bestdag", "info", "-"]
    done = subprocess.run(
        command, capture_output=True, check=False, timeout=GUARD, preexec_fn=lambda: os.close(0)
    )
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
    assert b"standard input" in done.stderr


def test_errors_have_their_code_though_nobody_can_hear_them():
    command = [sys.executable, "-m", "bestdag", "info", "gone.csv"]
    done = subprocess.run(
        command, capture_output=True, check=False, timeout=GUARD, preexec_fn=lambda: os.close(2)
    )
    assert (done.returncode, done.stdout) == (2, b"")
