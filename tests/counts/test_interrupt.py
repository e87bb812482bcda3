"""Ctrl-C during native work raises KeyboardInterrupt, and the next call works."""

import gc
import os
import signal
import threading

import numpy as np
import pytest

from bestdag.counts.engine import CountingEngine
from bestdag.scores.bic import BIC
from bestdag.scores.native import NativeScores
from tests.conftest import make_dataset


@pytest.fixture(scope="module")
def engine():
    rng = np.random.default_rng(0)
    columns = {f"v{i}": rng.integers(0, 4, 200_000).tolist() for i in range(10)}
    return CountingEngine(make_dataset(columns), threads=2)


@pytest.mark.parametrize("work", ["count", "score"])
def test_ctrl_c_is_answered_and_the_engine_lives_on(engine, work):
    child, *parents = (v.name for v in engine.variables)
    few = [(child, parents[:1])]
    many = [(child, parents[:3])] * 30_000  # several seconds of work
    run = engine.count if work == "count" else NativeScores(engine, BIC().kernel()).families
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            run(many)
    finally:
        timer.cancel()  # a failure above must not interrupt the tests that follow
    assert len(run(few)) == 1


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs an alarm")
def test_an_interrupt_that_comes_as_the_work_is_done_is_not_lost():
    # Short calls one after the other, an alarm at any moment: it may come when a call has just
    # ended its work and only returns.
    engine = CountingEngine(make_dataset({v: [0, 1] * 500 for v in "abcd"}), threads=2)
    families = [("a", ("b", "c", "d"))] * 20

    def ring(*_):
        raise KeyboardInterrupt

    def count_until(moment):
        signal.setitimer(signal.ITIMER_REAL, moment)
        for _ in range(100_000):
            engine.count(families)

    gc.disable()  # what a callback of the collector raises is ignored, and hypothesis has one
    before = signal.signal(signal.SIGALRM, ring)
    rng = np.random.default_rng(0)
    try:
        for moment in rng.uniform(1e-4, 1.5e-3, 1_000):
            with pytest.raises(KeyboardInterrupt):
                count_until(moment)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        gc.enable()
