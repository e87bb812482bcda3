"""Two processes on one file: the second is refused, and nothing blocks a later one."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from bestdag.averaging.bootstrap import bootstrap
from bestdag.averaging.posterior import posterior
from bestdag.checkpoint import Checkpoint, open_checkpoint
from bestdag.checkpoint.lock import Lock
from bestdag.data.readers import read
from bestdag.errors import FileError
from bestdag.examples import example
from bestdag.learning import learn

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="files have no locks there")

_OTHER = """
import os, sys
from bestdag.checkpoint import open_checkpoint
run = open_checkpoint("learn", sys.argv[1], {"seed": "1"}, every=0.0)
with run.part("count", lambda: 1):
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
    monkeypatch.setattr("bestdag.checkpoint.lock._PATIENCE", 0.0)


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
                run(checkpoint=path, **word)
            assert str(refused.value) == (
                f"{name}: {path} is being written by another process (number {other.pid}); wait "
                "until it has ended, or name another file in checkpoint"
            )
    assert path.read_bytes() == before
    other.kill()
    other.wait()  # its copy lives on, without the lock
    with open_checkpoint("learn", path, {"seed": "1"}, resume=True) as run:
        assert run.seconds_before > 0
    assert [one.name for one in tmp_path.iterdir() if one.is_file()] == ["run"]


def test_a_finished_file_answers_all_who_ask(tmp_path):
    path = tmp_path / "run"
    with open_checkpoint("learn", path, {}) as run:
        run.finish({"score": 1.0})
        with open_checkpoint("learn", path, {}, resume=True) as other:
            assert other.answer == run.answer
        with pytest.raises(FileError, match="written by another process"):
            open_checkpoint("learn", path, {}, force=True)
    with open_checkpoint("learn", path, {}, resume=True) as one:
        assert open_checkpoint("learn", path, {}, resume=True).answer == one.answer


def test_a_process_that_ends_is_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr("bestdag.checkpoint.lock._PATIENCE", 60.0)
    first = Lock(tmp_path / "run")
    monkeypatch.setattr("bestdag.checkpoint.lock.time.sleep", lambda _: first.close())
    second = Lock(tmp_path / "run")
    assert second.is_held
    second.close()


def test_an_empty_file_is_no_file_and_one_made_for_the_lock_alone_goes(tmp_path, monkeypatch):
    path = tmp_path / "run"
    path.touch()  # what is left when a process is killed before it writes
    open_checkpoint("learn", path, {}).close()
    assert path.stat().st_size > 0
    monkeypatch.setattr(Checkpoint, "write", lambda _: os.open(tmp_path / "no" / "place", 0))
    with pytest.raises(FileNotFoundError):
        open_checkpoint("learn", tmp_path / "full", {})
    assert not (tmp_path / "full").exists()


def test_the_lock_is_that_of_the_name_not_of_a_file_that_lost_it(tmp_path, monkeypatch):
    path = tmp_path / "run"
    path.write_text("old")
    flock, replaced = Lock.__init__.__globals__["_locks"].flock, []

    def slow(descriptor, how):
        if not replaced:  # meanwhile another run has put a new file there and ended
            replaced.append(True)
            path.unlink()
            path.write_text("new")
        flock(descriptor, how)

    monkeypatch.setattr("bestdag.checkpoint.lock._locks.flock", slow)
    first, second = Lock(path), Lock(path)
    assert (first.is_held, second.is_held) == (True, False)
    first.close()
    third = Lock(path)
    assert third.is_held
    third.close()


def test_without_locks_everything_else_works(tmp_path, monkeypatch):
    monkeypatch.setattr("bestdag.checkpoint.lock._locks", None)
    for _ in range(2):
        with open_checkpoint("learn", tmp_path / "run", {}, resume=True) as run:
            assert open_checkpoint("learn", tmp_path / "run", {}, force=True)
            run.write()
