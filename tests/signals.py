"""Ctrl-C at a moment that is observed, on any machine and whatever else it does.

Nothing here looks at a clock, but for a guard against hanging.
"""

import _thread
import signal
import threading
import time
from contextlib import contextmanager
from functools import partial
from itertools import chain, repeat

from bestdag import _core, watching

GUARD = 600.0  # seconds after which a test is taken to hang


def press_at(phase, times=1):
    """Return a callback for progress that presses Ctrl-C when a phase is told so many times."""
    told = []

    def progress(how_far):
        if how_far.phase == phase:
            told.append(how_far)
            if len(told) == times:
                signal.raise_signal(signal.SIGINT)

    return progress


@contextmanager
def listener(look):
    """Let native code that this thread waits for call a function about every 20 ms."""
    before = _core.set_listener(look)
    try:
        yield
    finally:
        _core.set_listener(before)


@contextmanager
def ctrl_c_in_native_work(looks=1):
    """Press Ctrl-C once, while native code works: when it looks around for the n-th time.

    The signal is noted without a line of Python run, so that only native code can answer it.
    """
    presses = chain(repeat(None, looks - 1), map(_thread.interrupt_main, repeat(signal.SIGINT, 1)))
    with listener(partial(next, presses, None)):
        yield


@contextmanager
def ctrl_c_after(event):
    """Press Ctrl-C once, from another thread, when an event has been set."""

    def press():
        if event.wait(GUARD) and not over:
            _thread.interrupt_main()

    over = []
    thread = threading.Thread(target=press, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.append(True)
        event.set()
        thread.join()


def pressed_in(function, times=1):
    """Return a function that does the same, with Ctrl-C pressed at its nth report of progress."""

    def run(*arguments, **settings):
        reports, begun = [], threading.Event()

        def take(progress):
            reports.append(progress)
            if len(reports) == times:
                begun.set()

        with ctrl_c_after(begun), watching(take):
            return function(*arguments, **settings)

    return run


def hearing(*names):
    """Return what lets a process hear signals, whatever the tests were started with."""

    def listen():
        for name in names or ("SIGINT", "SIGTERM", "SIGHUP"):
            signal.signal(getattr(signal, name), signal.SIG_DFL)

    return listen


def wait_until(has_happened, process=None):
    """Wait until something is seen, which a process that has ended will not bring about."""
    end = time.monotonic() + GUARD
    while not has_happened():
        assert process is None or process.poll() is None or has_happened(), "it has ended"
        assert time.monotonic() < end, "it hangs"
        time.sleep(0.005)
