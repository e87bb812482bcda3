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

pytestmark = pytest.mark.slow

# Each takes some seconds, so that it is killed in the middle.
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
      checkpoint=path, checkpoint_every=0.1, resume=True)
"""


@pytest.mark.parametrize("name", SEARCHES)
def test_a_hundred_kills(name, tmp_path):
    data, settings = example("asia.csv"), SEARCHES[name]
    search = make_search(name, **settings)
    expected = learn(data, "bic", search=search, seed=5)
    path, draw, n_kills = tmp_path / "run", random.Random(name), 0
    while n_kills < 100:
        arguments = [data, str(path), name, json.dumps(settings)]
        process = subprocess.Popen([sys.executable, "-c", _CHILD, *arguments])
        time.sleep(draw.uniform(0.2, 2.0))
        process.send_signal(signal.SIGKILL)
        n_kills += process.wait() == -signal.SIGKILL
        if process.returncode == 0:
            found = learn(data, "bic", search=search, seed=5, checkpoint=path, resume=True)
            assert found.dag == expected.dag
            assert found.score == pytest.approx(expected.score, rel=1e-12)
            path.unlink()
    found = learn(data, "bic", search=search, seed=5, checkpoint=path, resume=True)
    assert found.dag == expected.dag
    assert found.score == pytest.approx(expected.score, rel=1e-12)
    assert [one.name for one in tmp_path.iterdir()] == ["run"]
