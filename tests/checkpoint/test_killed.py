"""Runs that are killed at random moments, as a loss of power does it."""

from __future__ import annotations

import os
import random
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from bestdag import Checkpoint
from bestdag.checkpoint.file import decoded, read_any
from bestdag.search import SEARCHES
from bestdag.search.driver import Best
from tests.checkpoint import runs

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="copies of a process")

_ROOT = Path(__file__).parents[2]
_PER_SERVER = 25  # runs, after which another process begins, whose sets come in another order


class Killer:
    """Begins a run again and again, and kills it some time after it has written its file."""

    def __init__(self, name, path):
        self.name, self.path = name, path
        self.expected = runs.RUNS[name]()(None)
        self._best = None  # of what a file had, when the run was killed
        self.n_killed = self.n_finished = 0
        self._draw = random.Random(name)
        self._longest = 0.05 if name == "short" else 0.3  # after a write
        self._took = None  # seconds, of the shortest run: for those that have no middle

    def begin_anew(self):
        for one in self.path.parent.iterdir():
            one.unlink()

    def run(self, n_kills):
        while self.n_killed < n_kills:
            command = [sys.executable, "-m", "tests.checkpoint.runs", self.name, str(self.path)]
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
            with subprocess.Popen(command, cwd=_ROOT, **pipes) as server:
                for _ in range(_PER_SERVER):
                    if self.n_killed < n_kills:
                        self._once(server)
            assert 2 * self.n_killed >= self.n_finished, "runs are over before they can be killed"
        self._check()
        assert not self._processes(), "copies of a run outlive it"
        print(f"{self.name}: {self.n_killed} kills, {self.n_finished} answers before the last")

    def _once(self, server):
        before = self._written()
        print("go", file=server.stdin, flush=True)
        process = int(server.stdout.readline())
        begun = time.monotonic()
        if self.name in runs.AT_ONCE:
            self._has_ended(
                server, None if self._took is None else self._draw.random() * self._took
            )
        else:
            while self._written() == before and not self._has_ended(server):
                time.sleep(0.002)
            self._has_ended(server, self._draw.uniform(0.0, self._longest))
        if not self._has_ended(server):
            with suppress(ProcessLookupError):  # it has ended since
                os.kill(process, signal.SIGKILL)
        ended = int(server.stdout.readline())
        assert ended in (0, -signal.SIGKILL)
        self.n_killed += ended != 0
        self._look()
        if ended == 0:
            took = time.monotonic() - begun
            self._took = min(self._took or took, took)
            self.n_finished += 1
            self._check()
            self.begin_anew()

    def _has_ended(self, server, within=0.0):
        return bool(select.select([server.stdout], [], [], within)[0])

    def _processes(self):
        """Return the processes that know of the file, where the system says."""
        found = []
        for place in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                if os.fsencode(self.path) in place.read_bytes():
                    found.append(place)
        return found

    def _written(self):
        return self.path.stat().st_mtime_ns if self.path.exists() else 0

    def _look(self):
        """The best structure in the file is never worse than one that was there before."""
        if not self.path.exists():
            return
        saved = read_any(self.path)
        if saved.is_finished or "best" not in saved.findings:
            return
        best = decoded(self.path, saved.findings["best"], Best).score
        assert self._best is None or best >= self._best - 1e-9 * abs(best)
        self._best = best

    def _check(self):
        """Go on to the end, which is a good one: and nothing else is left."""
        answer = runs.RUNS[self.name]()(Checkpoint(self.path, resume=True))
        if isinstance(answer, runs.Answer):
            assert answer.ends_as_well_as(self.expected, self._best)
        else:
            assert answer == self.expected
        self._best = None
        assert list(self.path.parent.iterdir()) == [self.path]


def test_every_search_is_killed():
    assert set(runs.SEARCHES) == set(SEARCHES)


def test_a_run_that_was_killed_goes_on(tmp_path):
    Killer("short", tmp_path / "run").run(2)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in runs.RUNS if name != "short"])
def test_a_hundred_kills(name, tmp_path):
    Killer(name, tmp_path / "run").run(100)
