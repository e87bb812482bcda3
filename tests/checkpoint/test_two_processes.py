"""Two processes on one file: the second is refused, and nothing blocks a later one."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from bestdag.averaging.bootstrap import bootstrap
from bestdag.averaging.posterior import posterior
from bestdag.checkpoint import Checkpoint
from bestdag.checkpoint.file import Lock
from bestdag.data.readers import read
from bestdag.errors import FileError
from bestdag.examples import example
from bestdag.learning import learn

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="copies of a process")

_OTHER = """
import os, sys
from bestdag.checkpoint import Checkpoint
run = Checkpoint(sys.argv[1], every=0.0).open("learn", {"seed": "1"})
run.keep()  # a new file takes the place of the first
if os.fork() == 0:
    print("ready", flush=True)  # a copy that outlives the process that has the lock
    sys.stdin.read()
    os._exit(0)
sys.stdin.read()
"""
_RUNS = {
    "learn": lambda **kept: learn(read(example("asia.csv")), search="hill_climb", **kept),
    "bootstrap": lambda **kept: bootstrap(example("asia.csv"), replicates=2, **kept),
    "posterior": lambda **kept: posterior(example("asia.csv"), method="chains", steps=9, **kept),
}


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Wait for nobody to end."""
    monkeypatch.setattr("bestdag.checkpoint.file._PATIENCE", 0.0)


@pytest.fixture
def other(tmp_path):
    """A process that writes a checkpoint, until it is killed."""
    with subprocess.Popen(
        [sys.executable, "-c", _OTHER, str(tmp_path / "run")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout.readline() == b"ready\n"
        yield process
        process.kill()


def test_the_second_is_refused_until_the_first_is_killed(other, tmp_path):
    path = tmp_path / "run"
    before = path.read_bytes()
    for name, run in _RUNS.items():
        for word in ({}, {"resume": True}, {"force": True}):
            with pytest.raises(FileError) as refused:
                run(checkpoint=Checkpoint(path, **word))
            assert str(refused.value) == (
                f"{name}: {path} is being written by another process (number {other.pid}); wait "
                "until it has ended, or name another file with checkpoint"
            )
    assert path.read_bytes() == before
    other.kill()
    other.wait()  # its copy lives on, without the lock
    with Checkpoint(path, resume=True).open("learn", {"seed": "1"}) as run:
        assert run.seconds_before > 0
    assert [one.name for one in tmp_path.iterdir() if one.is_file()] == ["run"]


def test_a_finished_file_answers_all_who_ask(tmp_path):
    path = tmp_path / "run"
    again = Checkpoint(path, resume=True)
    with Checkpoint(path).open("learn", {}) as run:
        run.finish(1.0)
        with again.open("learn", {}) as other:
            assert other.result(float) == 1.0
        with pytest.raises(FileError, match="written by another process"):
            Checkpoint(path, force=True).open("learn", {})
    with again.open("learn", {}) as one:
        assert again.open("learn", {}).result(float) == one.result(float) == 1.0


def test_a_process_that_ends_is_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr("bestdag.checkpoint.file._PATIENCE", 60.0)
    first = Lock(tmp_path / "run")
    ending = threading.Timer(0.2, first.close)
    ending.start()
    second = Lock(tmp_path / "run")
    assert second.is_held
    second.close()
    ending.join()


def test_an_empty_file_is_no_file_and_nothing_is_left_of_a_lock(tmp_path):
    path = tmp_path / "run"
    path.touch()  # what `mktemp` makes
    Checkpoint(path).open("learn", {}).close()
    assert path.stat().st_size > 0
    with pytest.raises(FileError):
        Checkpoint(path).open("learn", {})
    assert [one.name for one in tmp_path.iterdir()] == ["run"]


def test_a_lock_that_a_killed_process_left_behind_is_taken(tmp_path):
    (tmp_path / "run.lock").write_text("")
    with Checkpoint(tmp_path / "run").open("learn", {}):
        assert (tmp_path / "run.lock").exists()
    assert not (tmp_path / "run.lock").exists()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_finished_file_answers_in_a_folder_that_cannot_be_written(tmp_path):
    path = tmp_path / "run"
    with Checkpoint(path).open("learn", {}) as run:
        run.finish(1.0)
    tmp_path.chmod(0o500)
    assert Checkpoint(path, resume=True).open("learn", {}).result(float) == 1.0
