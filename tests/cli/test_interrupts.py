"""Interrupts: Ctrl-C is heard everywhere, but never while something is loaded."""

import signal
import sys
import time

import pytest

import bestdag.cli.entry
from bestdag.cli.entry import Interrupts
from tests.signals import GUARD, wait_until

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="nothing can wait here")


def press_and_go_on(file_name, rounds=30):
    """Return a function that seems to be in a file, presses Ctrl-C and goes on for a while."""
    source = f"""
rounds = {rounds}
def press(steps):
    raise_signal(SIGINT)
    for _ in range(rounds):
        sleep(0.001)
        steps.append("went on")
"""
    names = {"raise_signal": signal.raise_signal, "SIGINT": signal.SIGINT, "sleep": time.sleep}
    exec(compile(source, file_name, "exec"), names)
    return names["press"]


def interrupted(work):
    """Run work that is interrupted, and return what remembers it."""
    with pytest.raises(KeyboardInterrupt), Interrupts() as interrupts:
        work(interrupts)
    return interrupts


def test_elsewhere_it_is_answered_at_once():
    steps = []
    assert interrupted(lambda _: press_and_go_on("anything.py")(steps)).came
    assert steps == []


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_what_ends_a_process_is_answered_alike_and_told_apart(number, code):
    interrupts = interrupted(lambda _: signal.raise_signal(number))
    assert interrupts.came
    assert interrupts.exit_code == code


def test_the_code_is_that_of_the_signal_that_waited():
    steps = []

    def load(_):
        names = {"raise_signal": signal.raise_signal, "SIGTERM": signal.SIGTERM}
        source = "raise_signal(SIGTERM)"
        exec(compile(source, "<frozen importlib._bootstrap>", "exec"), names)
        steps.append("loaded")
        time.sleep(GUARD)

    assert interrupted(load).exit_code == 143
    assert steps == ["loaded"]


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT])
def test_a_signal_that_was_ignored_stays_ignored(number):
    # As under nohup, and where a script runs a command in the background.
    before = signal.signal(number, signal.SIG_IGN)
    try:
        with Interrupts() as interrupts:
            signal.raise_signal(number)
    finally:
        signal.signal(number, before)
    assert not interrupts.came


def test_the_machinery_of_imports_is_not_disturbed():
    steps = []

    def load(_):
        press_and_go_on("<frozen importlib._bootstrap>")(steps)
        steps.append("loaded")
        time.sleep(GUARD)

    assert interrupted(load).came
    assert steps.count("went on") == 30


def test_what_still_waits_at_the_end_is_answered_there():
    names = {"sys": sys}
    exec(compile("frame = sys._getframe()", "<frozen importlib._bootstrap>", "exec"), names)

    def press(_):
        signal.getsignal(signal.SIGINT)(signal.SIGINT, names["frame"])

    assert interrupted(press).came
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_what_was_there_before_is_put_back():
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)
    before = [signal.getsignal(number) for number in numbers]
    with Interrupts():
        assert signal.getsignal(signal.SIGINT) != before[0]
        assert signal.getsignal(signal.SIGTERM) != before[1]
    assert [signal.getsignal(number) for number in numbers] == before


def test_a_second_ctrl_c_leaves_no_alarm_behind():
    # The first waits, the second is answered before the alarm rings.
    steps = []

    def load(_):
        press_and_go_on("<frozen importlib._bootstrap>", rounds=0)(steps)
        signal.raise_signal(signal.SIGINT)

    assert interrupted(load).came
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL


def test_a_second_ctrl_c_while_the_first_is_handled_waits_too(monkeypatch):
    steps, once = [], [signal.SIGINT]

    def arm(self, number):
        if once:
            signal.raise_signal(once.pop())
        whole(self, number)

    whole = Interrupts._arm
    code = arm.__code__.replace(co_filename=bestdag.cli.entry.__file__)
    arm.__code__ = code
    monkeypatch.setattr(Interrupts, "_arm", arm)
    interrupted(lambda _: press_and_go_on("<frozen importlib._bootstrap>")(steps))
    assert steps.count("went on") == 30


def test_a_timer_of_somebody_else_is_left_alone():
    rung = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    try:
        with Interrupts():
            signal.setitimer(signal.ITIMER_REAL, 0.005)
            wait_until(lambda: rung)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert rung == [1]


def test_once_all_is_decided_ctrl_c_does_nothing():
    with Interrupts() as interrupts:
        interrupts.ignore()
        signal.raise_signal(signal.SIGINT)
    assert not interrupts.came
