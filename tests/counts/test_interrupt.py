"""Ctrl-C during native work raises KeyboardInterrupt, and the next call works."""

import gc
import itertools
import os
import signal
import threading

import numpy as np
import pytest

import bestdag
from bestdag.counts.blocks import BlockCounts
from bestdag.counts.engine import CountingEngine
from bestdag.counts.provider import flat_groups
from bestdag.scores.bic import BIC
from bestdag.scores.engine import NativeScores
from tests.conftest import make_dataset


@pytest.fixture(autouse=True)
def without_collections():
    """Keep the signal out of other people's callbacks of the garbage collector, which lose it."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(scope="module")
def dataset():
    rng = np.random.default_rng(0)
    return make_dataset({f"v{i}": rng.integers(0, 4, 200_000).tolist() for i in range(10)})


@pytest.fixture(scope="module")
def engine(dataset):
    return CountingEngine(dataset, threads=2)


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


def test_ctrl_c_is_answered_while_blocks_are_counted(dataset):
    names = sorted(dataset.names)
    blocks = BlockCounts(
        [dataset.variable(n) for n in names], [dataset.codes(n) for n in names], None, 5_000, 2
    )
    few = np.array([0], np.int32), np.array([0, 1]), np.array([1], np.int32)
    sets = [[p for p in parents if p] for parents in itertools.combinations(range(10), 6)]
    many = np.zeros(100 * len(sets), np.int32), *flat_groups(100 * sets)
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            blocks.count(many, max_cells=1e9)
    finally:
        timer.cancel()
    assert len(blocks.count(few, max_cells=100)) == 1


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs an alarm")
def test_an_interrupt_that_comes_as_the_work_is_done_is_not_lost():
    # Short calls one after the other, an alarm at any moment: it may come when a call has just
    # ended its work and only returns. One that rings while code of others runs, such as a callback
    # that may swallow it, is put off.
    engine = CountingEngine(make_dataset({v: [0, 1] * 500 for v in "abcd"}), threads=2)
    families = [("a", ("b", "c", "d"))] * 20

    ours = (__file__, os.path.dirname(bestdag.__file__))
    rung = []

    def ring(_, frame):
        if frame.f_code.co_filename.startswith(ours):
            rung.append(True)
            raise KeyboardInterrupt
        signal.setitimer(signal.ITIMER_REAL, 1e-4)

    def count_until(moment):
        rung.clear()
        signal.setitimer(signal.ITIMER_REAL, moment)
        while not rung:
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
