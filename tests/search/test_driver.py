"""The driver: what ends a search, and what a search still says when it ends."""

import pytest

from bestdag import Dag, Scorer, read, watching
from bestdag.errors import InvalidParameterError
from bestdag.search.problem import Problem
from bestdag.search.steps import POINT, Found, Phase

DATA = read({"a": ["0", "0", "1", "1"] * 9, "b": ["0", "0", "1", "1"] * 9})
EMPTY, ARC = Dag(["a", "b"]), Dag(["a", "b"], [("a", "b")])


class Listening:
    """A search that has something left to say when Ctrl-C comes."""

    name = "listening"

    def __init__(self, heard):
        self.heard = heard

    def steps(self, problem):
        yield Found(EMPTY, problem.scores.total(EMPTY))
        try:
            while True:
                yield Phase("waiting")
                yield POINT
        except KeyboardInterrupt:
            self.heard.append("Ctrl-C")
            yield Found(ARC, problem.scores.total(ARC))
            raise


def press_while_waiting(progress):
    if progress.phase == "waiting":
        raise KeyboardInterrupt


def test_ctrl_c_between_two_steps_reaches_the_search_and_what_it_still_says_counts():
    heard = []
    with watching(press_while_waiting):
        result = Problem(Scorer(DATA, "bic")).solve(Listening(heard))
    assert heard == ["Ctrl-C"]
    assert (result.status, result.dag) == ("interrupted", ARC)


class Deaf(Listening):
    """A search that Ctrl-C ends at once."""

    def steps(self, problem):
        yield Found(ARC, problem.scores.total(ARC))
        while True:
            yield Phase("waiting")
            yield POINT


def test_a_search_without_a_last_word_is_ended_by_ctrl_c():
    with watching(press_while_waiting):
        result = Problem(Scorer(DATA, "bic")).solve(Deaf([]))
    assert (result.status, result.dag) == ("interrupted", ARC)


def test_what_a_callback_raises_ends_the_search_as_an_error():
    def fail(progress):
        raise InvalidParameterError("enough")

    with watching(fail), pytest.raises(InvalidParameterError, match="enough"):
        Problem(Scorer(DATA, "bic")).solve(Deaf([]))
