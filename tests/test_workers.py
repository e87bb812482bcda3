"""Runs at once: answers in order, failures and Ctrl-C end all of them, limits are shared."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from bestdag import _core
from bestdag.data.dataset import Dataset
from bestdag.data.schema import Variable
from bestdag.machine import memory_left, memory_limit
from bestdag.scores import make_score
from bestdag.scores.scorer import Scorer
from bestdag.workers import run_all

hears_ctrl_c = pytest.mark.skipif(
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN, reason="Ctrl-C is ignored here"
)


def no_thread_is_left():
    return not any(thread.name == "bestdag-run" for thread in threading.enumerate())


@pytest.mark.parametrize("threads", [1, 2, 3, 16])
@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_answers_come_in_the_order_of_the_items(threads, n):
    done = []
    found = run_all(
        lambda item, own: (item * item, own),
        range(n),
        threads=threads,
        who="test",
        on_done=done.append,
    )
    assert [square for square, _ in found] == [i * i for i in range(n)]
    assert sorted(done) == list(range(n))
    # Threads are divided between those that run at once.
    assert {own for _, own in found} <= {max(1, threads // max(1, min(threads, n)))}


def test_two_run_at_once():
    meet = threading.Barrier(2, timeout=60)
    run_all(lambda item, own: meet.wait(), range(2), threads=2, who="test")


@pytest.mark.parametrize("threads", [1, 2])
def test_a_failure_ends_all_of_them(threads):
    begun = []

    def work(item, own):
        begun.append(item)
        if item == 1:
            raise ValueError("item 1")
        time.sleep(0.01)

    with pytest.raises(ValueError, match="item 1"):
        run_all(work, range(1000), threads=threads, who="test")
    assert len(begun) < 1000
    assert no_thread_is_left()


def test_a_failure_in_on_done_ends_all_of_them():
    def on_done(number):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        run_all(
            lambda i, own: time.sleep(0.01), range(1000), threads=2, who="test", on_done=on_done
        )
    assert no_thread_is_left()


@hears_ctrl_c
def test_ctrl_c_ends_work_in_python():
    begun = []

    def work(item, own):
        begun.append(item)
        if item == 1:
            os.kill(os.getpid(), signal.SIGINT)
        while True:  # an exception ends it
            time.sleep(0.001)

    with pytest.raises(KeyboardInterrupt):
        run_all(work, range(10), threads=2, who="test")
    assert begun == [0, 1]
    assert no_thread_is_left()


@hears_ctrl_c
def test_ctrl_c_ends_native_work():
    """Twenty variables with all parent sets take minutes."""
    rng = np.random.default_rng(0)
    names = [f"v{i}" for i in range(20)]
    data = Dataset(
        [Variable(name, ("a", "b", "c")) for name in names],
        [rng.integers(0, 3, 200_000) for _ in names],
    )
    ended = []

    def work(item, own):
        if item == 1:
            time.sleep(0.2)
            os.kill(os.getpid(), signal.SIGINT)
        try:
            Scorer(data, make_score("bdeu"), threads=1).all_families(12)
        except KeyboardInterrupt:
            ended.append(item)
            raise

    with pytest.raises(KeyboardInterrupt):
        run_all(work, range(2), threads=2, who="test")
    assert sorted(ended) == [0, 1]
    assert no_thread_is_left()


def test_a_request_is_for_those_who_listen():
    """Another thread's native work goes on."""
    request = _core.StopRequest()
    listener = threading.Thread(target=request.listen)
    listener.start()
    listener.join()
    request.send()
    assert run_all(lambda i, own: i, range(3), threads=2, who="test") == [0, 1, 2]


def test_the_memory_limit_is_divided():
    both = threading.Barrier(2, timeout=60)

    def work(item, own):
        both.wait()
        return memory_left()

    with memory_limit("1 GB"):
        found = run_all(work, range(2), threads=2, who="test")
        assert memory_left() > 0.6e9
    assert all(0.3e9 < left <= 0.5e9 for left in found)
