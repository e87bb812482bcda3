"""Bootstrap and Markov chains that are stopped and go on."""

from __future__ import annotations

from concurrent.futures import Executor, Future

import numpy as np
import pytest

from bestdag import Checkpoint
from bestdag.averaging.bootstrap import bootstrap
from bestdag.averaging.posterior import posterior
from bestdag.errors import FormatError
from bestdag.examples import example
from tests.checkpoint.stopping import Killed, Steps

ASIA = example("asia.csv")


def same(found, expected):
    assert np.array_equal(found.matrix, expected.matrix)
    assert found.notes == expected.notes
    assert found.threshold == expected.threshold


def test_bootstrap_learns_each_replicate_once(tmp_path, monkeypatch):
    settings = {"score": "bic", "search": "hill_climb", "replicates": 12, "seed": 2}
    expected = bootstrap(ASIA, **settings)
    steps = Steps(monkeypatch)

    def run(**more):
        return bootstrap(
            ASIA, **{**settings, **more}, checkpoint=Checkpoint(tmp_path / "run", resume=True)
        )

    assert steps.kill_at(5, run) is None
    assert steps.kill_at(4, run) is None
    found = steps.kill_at(None, run)
    assert steps.count == 12 - 5 - 4 + 1  # and once more at the end
    same(found, expected)
    assert found.resumed_seconds > 0
    again = steps.kill_at(1, run)  # nothing is left to do
    same(again, expected)
    more = steps.kill_at(None, lambda: run(replicates=15))  # more of the same
    same(more, bootstrap(ASIA, **{**settings, "replicates": 15}))
    with pytest.raises(FormatError, match="was made with seed 2, and 3 is asked for"):
        run(seed=3)


@pytest.mark.parametrize("prior", ["uniform", "order"])
def test_chains_go_on_with_their_random_numbers(prior, tmp_path, monkeypatch):
    settings = {"prior": prior, "method": "chains", "chains": 2, "seed": 4, "samples": 400}
    expected = posterior(ASIA, **settings)
    steps = Steps(monkeypatch)

    def run():
        return posterior(ASIA, **settings, checkpoint=Checkpoint(tmp_path / "run", resume=True))

    same(steps.kill_at(None, run), expected)
    n_steps = steps.count
    (tmp_path / "run").unlink()
    n_killed = 0
    while steps.kill_at(2, run) is None:  # all the way in twos
        n_killed += 1
    found = run()
    assert n_killed >= n_steps / 2 - 2 > 2
    same(found, expected)
    assert repr(found.diagnostics) == repr(expected.diagnostics)
    before = (tmp_path / "run").read_bytes()
    same(run(), expected)
    assert (tmp_path / "run").read_bytes() == before  # a finished file stays


class OneByOne(Executor):
    """Works at once; counts, and is killed at a task."""

    def __init__(self, last=None):
        self.n_tasks, self.last = 0, last

    def submit(self, work, /, *items):
        self.n_tasks += 1
        future = Future()
        if self.n_tasks != self.last:
            future.set_result(work(*items))
        else:
            future.set_exception(Killed())
        return future


@pytest.mark.parametrize("steps", [None, 300])  # in rounds until they agree, and in one
def test_chains_of_an_executor_are_kept_when_they_are_done(steps, tmp_path, monkeypatch):
    monkeypatch.setattr("bestdag.averaging.chains._FIRST_STEPS", 60)  # too few to agree
    settings = {"method": "chains", "chains": 3, "seed": 4, "samples": 50, "steps": steps}
    whole = OneByOne()
    expected = posterior(ASIA, **settings, workers=whole)
    assert whole.n_tasks == 3 if steps else whole.n_tasks > 3

    def run(executor):
        kept = {"checkpoint": Checkpoint(tmp_path / "run", resume=True)}
        return posterior(ASIA, **settings, workers=executor, **kept)

    n_killed, found = 0, None
    while found is None:
        killed = OneByOne(last=2)
        try:
            found = run(killed)
        except Killed:
            n_killed += 1
    assert n_killed + killed.n_tasks == whole.n_tasks  # no chain is run twice
    same(found, expected)
    assert found.resumed_seconds > 0
    assert repr(found.diagnostics) == repr(expected.diagnostics)
    before = (tmp_path / "run").read_bytes()
    same(run(OneByOne(last=1)), expected)  # nothing is left to do
    assert (tmp_path / "run").read_bytes() == before
