"""Runs at once: answers in order, failures and Ctrl-C end all of them, limits are shared."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import pytest

from bestdag import BestdagError, DataError, DataWarning
from bestdag.machine import memory_left, memory_limit
from bestdag.wording import by_reader
from bestdag.workers import run_all
from tests.signals import GUARD, wait_until

hears_ctrl_c = pytest.mark.skipif(
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN, reason="Ctrl-C is ignored here"
)
copies = pytest.mark.skipif(sys.platform != "linux", reason="one after another here")


@pytest.fixture(autouse=True)
def _no_process_is_left():
    before = multiprocessing.active_children()  # such as the workers of a cluster
    yield
    assert set(multiprocessing.active_children()) <= set(before)


@pytest.mark.parametrize("threads", [1, 2, 3, 16])
@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_answers_come_in_the_order_of_the_items(threads, n):
    done, told = [], {}
    found = run_all(
        lambda item, own: (item * item, own),
        range(n),
        threads=threads,
        who="test",
        on_done=done.append,
        on_answer=told.__setitem__,
    )
    assert [square for square, _ in found] == [i * i for i in range(n)]
    assert told == dict(enumerate(found))
    assert sorted(done) == list(range(n))


@copies
def test_threads_are_divided_between_those_that_run_at_once():
    assert run_all(lambda _, own: own, range(2), threads=5, who="test") == [2, 2]
    assert run_all(lambda _, own: own, range(9), threads=5, who="test") == [1] * 9
    assert run_all(lambda _, own: own, range(1), threads=5, who="test") == [5]


@copies
def test_two_run_at_once():
    meet = multiprocessing.get_context("fork").Barrier(2, timeout=GUARD)
    # Each waits for the other, and is told in which order they came.
    arrived = run_all(lambda item, own: meet.wait(), range(2), threads=2, who="test")
    assert sorted(arrived) == [0, 1]


def test_outside_the_main_thread_one_comes_after_another():
    found = []

    def work(item, own):
        return (item, own, os.getpid())

    thread = threading.Thread(
        target=lambda: found.extend(run_all(work, range(2), threads=3, who="test"))
    )
    thread.start()
    thread.join()
    assert found == [(0, 3, os.getpid()), (1, 3, os.getpid())]


def test_without_a_process_to_be_had_one_comes_after_another(monkeypatch):
    def none_left():
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(os, "fork", none_left, raising=False)
    assert run_all(lambda item, own: (item, own), range(2), threads=2, who="test") == [
        (0, 2),
        (1, 2),
    ]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_failure_ends_all_of_them(threads):
    done = []

    def work(item, own):
        if item == 1:
            raise DataError(by_reader("item 1", "--item 1"))
        if item > 1:
            time.sleep(GUARD)

    with pytest.raises(DataError, match="item 1") as caught:
        run_all(work, range(1000), threads=threads, who="test", on_done=done.append)
    assert caught.value.on_command_line == "--item 1"
    assert len(done) <= 1


def refuse():
    raise TypeError("made from two things")


class OddError(Exception):
    """It can be packed, and not be unpacked."""

    def __init__(self, one, other):
        super().__init__(f"{one} and {other}")

    def __reduce__(self):
        return refuse, ()


@copies
def test_an_error_that_cannot_be_sent_is_told_by_its_text():
    def work(item, own):
        raise OddError("this", "that")

    with pytest.raises(RuntimeError, match="OddError: this and that"):
        run_all(work, range(2), threads=2, who="test")


@copies
def test_an_answer_that_cannot_be_sent_is_a_failure():
    with pytest.raises((TypeError, AttributeError, RuntimeError), match="pickle"):
        run_all(lambda item, own: lambda: 0, range(2), threads=2, who="test")


def test_a_failure_in_on_done_ends_all_of_them():
    def on_done(number):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        run_all(lambda i, own: i, range(1000), threads=2, who="test", on_done=on_done)


@copies
def test_a_process_that_is_killed_is_an_error():
    def work(item, own):
        if item == 3:
            os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(BestdagError, match="test: one of the processes was ended") as caught:
        run_all(work, range(10), threads=2, who="test")
    assert "--threads" in caught.value.on_command_line


@pytest.mark.parametrize("threads", [1, 2])
def test_warnings_are_passed_on(threads):
    def work(item, own):
        warnings.warn(f"item {item}", DataWarning, stacklevel=1)

    with pytest.warns(DataWarning) as caught:
        run_all(work, range(3), threads=threads, who="test")
    assert sorted(str(one.message) for one in caught) == ["item 0", "item 1", "item 2"]


@hears_ctrl_c
@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_all_of_them(threads):
    parent = os.getpid()

    def work(item, own):
        if item == 1:
            os.kill(parent, signal.SIGINT)
        time.sleep(0.01 if item == 0 else 600)

    with pytest.raises(KeyboardInterrupt):
        run_all(work, range(10), threads=threads, who="test")


def has_ended(number):
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return True
    return False


@copies
def test_processes_end_with_the_first_one():
    """Whoever kills the first one leaves none behind."""
    script = """
import os, time
from bestdag.workers import run_all
def work(item, own):
    os.write(1, f"{os.getpid()}\\n".encode())
    time.sleep(600)
run_all(work, range(2), threads=2, who="test")
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as one:
        try:
            numbers = [int(one.stdout.readline()) for _ in range(2)]
        finally:
            one.kill()
        one.wait()
        assert one.stdout.read() == ""  # it ends when nobody has it any more
    for number in numbers:
        wait_until(lambda number=number: has_ended(number))


@copies
def test_the_memory_limit_is_divided():
    meet = multiprocessing.get_context("fork").Barrier(2, timeout=GUARD)

    def work(item, own):
        meet.wait()
        return memory_left()

    with memory_limit("1 GB"):
        found = run_all(work, range(2), threads=2, who="test")
        assert memory_left() > 0.6e9
    assert all(0.3e9 < left <= 0.5e9 for left in found)


def test_a_copy_makes_no_copies():
    def work(item, own):
        inner = run_all(lambda *_: os.getpid(), range(3), threads=3, who="test")
        return {*inner} == {os.getpid()}

    assert all(run_all(work, range(2), threads=2, who="test"))
