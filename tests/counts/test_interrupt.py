"""Ctrl-C during native work raises KeyboardInterrupt, and the next call works."""

import itertools
import os
import sys

import numpy as np
import pytest

from bestdag.counts.blocks import BlockCounts
from bestdag.counts.engine import CountingEngine
from bestdag.counts.provider import flat_groups
from bestdag.scores.bic import BIC
from bestdag.scores.engine import NativeScores
from tests.conftest import make_dataset
from tests.signals import ctrl_c_in_native_work, listener, wait_until


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
    with pytest.raises(KeyboardInterrupt), ctrl_c_in_native_work():
        run(many)
    assert len(run(few)) == 1


def test_ctrl_c_is_answered_while_blocks_are_counted(dataset):
    names = sorted(dataset.names)
    blocks = BlockCounts(
        [dataset.variable(n) for n in names], [dataset.codes(n) for n in names], None, 5_000, 2
    )
    few = np.array([0], np.int32), np.array([0, 1]), np.array([1], np.int32)
    sets = [[p for p in parents if p] for parents in itertools.combinations(range(10), 6)]
    many = np.zeros(100 * len(sets), np.int32), *flat_groups(100 * sets)
    with pytest.raises(KeyboardInterrupt), ctrl_c_in_native_work():
        blocks.count(many, max_cells=1e9)
    assert len(blocks.count(few, max_cells=100)) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted by the file system")
def test_an_interrupt_that_comes_as_the_work_is_done_is_not_lost(engine):
    child, *parents = (v.name for v in engine.variables)
    many = [(child, parents[:3])] * 2_000
    before = len(os.listdir("/proc/self/task"))
    pressed = []

    def press_when_nothing_is_left_to_do():
        wait_until(lambda: len(os.listdir("/proc/self/task")) <= before)
        pressed.append(True)
        raise KeyboardInterrupt

    for _ in range(5):
        while True:  # until native code has looked around before the work was done
            try:
                with listener(press_when_nothing_is_left_to_do):
                    engine.count(many)
            except KeyboardInterrupt:
                break
            assert not pressed, "an interrupt was lost"
        assert pressed.pop()
