"""Runs that are killed at random moments, as a loss of power does it."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time

import pytest

from bestdag.examples import example
from bestdag.learning import learn
from bestdag.search import make_search

# Each takes a second or more, so that it is killed in the middle.
SEARCHES = {
    "hill_climb": {"restarts": 3000, "perturb": 3},
    "tabu": {"patience": 20_000},
    "annealing": {"levels": 400, "proposals": 3000},
    "k2": {"orders": 2000},
    "order": {"rounds": 12},
    "auto": {"rounds": 12},
    "ges": {},
    "exact": {"engine": "bnc"},
}
_CHILD = """
import json, sys
from bestdag.learning import learn
from bestdag.search import make_search
data, path, name, settings = sys.argv[1:]
learn(data, "bic", search=make_search(name, **json.loads(settings)), seed=5, threads=1,
      checkpoint=path, checkpoint_every=0.02, resume=True)
"""


def written(path):
    return path.stat().st_mtime_ns if path.exists() else 0


def kill_and_resume(name, settings, n_kills, path):
    """Kill runs some time after each has written its file; those that end begin anew."""
    data, search = example("asia.csv"), make_search(name, **settings)
    expected = learn(data, "bic", search=search, seed=5)
    draw, n_killed = random.Random(name), 0

    def check():
        found = learn(data, "bic", search=search, seed=5, checkpoint=path, resume=True)
        assert found.dag == expected.dag
        assert found.score == pytest.approx(expected.score, rel=1e-12)
        assert [one.name for one in path.parent.iterdir()] == [path.name]
        return found

    while n_killed < n_kills:
        before = written(path)
        arguments = [str(data), str(path), name, json.dumps(settings)]
        process = subprocess.Popen([sys.executable, "-c", _CHILD, *arguments])
        while process.poll() is None and written(path) == before:
            time.sleep(0.002)
        time.sleep(draw.uniform(0.0, 0.3))
        process.send_signal(signal.SIGKILL)
        n_killed += process.wait() == -signal.SIGKILL
        if process.returncode == 0:
            check()
            path.unlink()
    return check()


def test_a_run_that_was_killed_goes_on(tmp_path):
    settings = {"restarts": 100, "start_from": "random"}
    assert kill_and_resume("hill_climb", settings, 1, tmp_path / "run").resumed_seconds > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", SEARCHES)
def test_a_hundred_kills(name, tmp_path):
    kill_and_resume(name, SEARCHES[name], 100, tmp_path / "run")
