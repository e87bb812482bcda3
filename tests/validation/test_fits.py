"""Ctrl-C ends all fits, also when the search that hears it has its proof already."""

import os
import signal
import threading
from contextlib import suppress

import pytest

from bestdag import BDeu, cross_validate, read
from bestdag.examples import example
from bestdag.validation import fits

DATA = read(example("asia.csv"))


class Pressed:
    """A score during which Ctrl-C is pressed once."""

    name, is_score_equivalent, estimator = "pressed", False, "fsnml"

    def __init__(self):
        self.n_calls = 0
        self.whom = os.getpid()

    def family(self, counts):
        self.n_calls += 1
        if self.n_calls == 5:
            os.kill(self.whom, signal.SIGINT)
        return float(-self.n_calls)

    def kernel(self):
        return None


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupted_search_ends_the_whole_validation(threads):
    before = signal.getsignal(signal.SIGINT)
    score = Pressed()
    with pytest.raises(KeyboardInterrupt):
        cross_validate(DATA, score, "hill_climb", k=5, workers=threads)
    assert score.n_calls < 2000  # the other parts were not begun
    assert signal.getsignal(signal.SIGINT) is before


def test_what_a_search_swallowed_is_remembered(monkeypatch):
    def swallowed(*_, **__):
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return type("Proved", (), {"status": "optimum proved"})

    monkeypatch.setattr(fits, "learn", swallowed)
    with pytest.raises(KeyboardInterrupt):
        fits.learn_one_of_many(DATA, BDeu())


def test_other_threads_do_not_touch_signals():
    found = []
    work = threading.Thread(
        target=lambda: found.append(cross_validate(DATA, "bic", "tree", k=2).best.label)
    )
    work.start()
    work.join()
    assert found == ["bic"]
