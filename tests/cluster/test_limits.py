"""Time limits and Ctrl-C while workers count: answered here, and heard there."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from bestdag import learn
from bestdag.cluster.reading import spread
from bestdag.errors import InterruptedWarning
from bestdag.progress import watching
from bestdag.scores.scorer import Scorer
from tests.cluster.test_counts import assert_counts_agree

N_WORKERS = 2


@pytest.fixture
def endless(client, tmp_path):
    """Workers that never end counting many families; they leave notes of what they do."""
    client.run(_count_forever, str(tmp_path))
    yield tmp_path
    client.run(_count_as_before)


def _count_forever(folder):
    import os

    from bestdag.cluster.part import Part
    from bestdag.cluster.session import CalledOffError
    from bestdag.progress import check_interrupt

    def count(self, families, *given):
        if len(families[0]) <= 4:  # the first structure
            return Part.kept(self, families, *given)
        Path(folder, f"begun-{os.getpid()}").touch()
        try:
            while True:  # as native code does
                time.sleep(0.01)
                check_interrupt()
        except CalledOffError:
            Path(folder, f"ended-{os.getpid()}").touch()
            raise

    Part.kept, Part.count = Part.count, count


def _count_as_before():
    from bestdag.cluster.part import Part

    Part.count = Part.kept


def test_a_time_limit_holds_from_the_beginning(client, dataset, endless):
    found = learn(spread(client, dataset), "bic", search="hill_climb", time_limit=1.0)
    assert (found.status, found.dag.arcs) == ("time limit", ())
    assert found.score == pytest.approx(Scorer(dataset, "bic").total(found.dag), rel=1e-12)


def test_what_nobody_waits_for_is_given_up_by_the_workers(client, dataset, endless):
    def stop(_):  # called a few times a second while this waits
        if len(list(endless.glob("begun-*"))) == N_WORKERS:
            raise KeyboardInterrupt

    rows = spread(client, dataset)
    with watching(stop), pytest.warns(InterruptedWarning):
        found = learn(rows, "bic", search="hill_climb")
    assert found.status == "interrupted"
    while len(list(endless.glob("ended-*"))) < N_WORKERS:
        time.sleep(0.01)
    client.run(_count_as_before)
    assert_counts_agree(rows, dataset)
