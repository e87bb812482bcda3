"""Progress: what a callback is told while a search runs, and what it may do."""

import math
import threading
import warnings

import pytest

from bestdag import bootstrap, cross_validate, learn, pc, posterior, watching
from bestdag.data.readers import read
from bestdag.errors import InterruptedWarning, InvalidParameterError
from bestdag.examples import example
from bestdag.network.random_network import random_network
from bestdag.progress import Progress, Reporter, listening
from bestdag.scores.scorer import Scorer
from bestdag.search import SEARCHES
from bestdag.search.exact.bnc.tree import SearchTree
from bestdag.search.exact.search import Exact
from bestdag.search.problem import Problem
from tests.search.exact.tables import random_table
from tests.signals import GUARD

ASIA = read(example("asia.csv"))


class CallbackError(Exception):
    pass


def fail(_now):
    raise CallbackError


def press(_now):
    raise KeyboardInterrupt


# The others end before there would be anything to tell, or say what they score alone.
STEPWISE = [name for name in SEARCHES if name not in ("k2", "tree", "tan", "naive_bayes")]


@pytest.mark.parametrize("name", STEPWISE)
def test_every_search_tells_its_best_score_in_the_calling_thread(name):
    told = []
    with watching(lambda now: told.append((now, here()))):
        found = learn(ASIA, "bic", search=name)
    here_now = here()
    assert told
    assert {thread for _, thread in told} == {here_now}
    scores = [now.score for now, _ in told if now.score is not None]
    assert scores
    assert scores == sorted(scores)
    assert scores[-1] <= found.score + 1e-9


def here():
    return threading.get_ident()


@pytest.mark.parametrize("name", [*STEPWISE, "tree"])
def test_what_the_callback_raises_is_raised(name):
    with pytest.raises(CallbackError), watching(fail):
        learn(ASIA, "bic", search=name)


@pytest.mark.parametrize("name", [*STEPWISE, "tree"])
def test_keyboard_interrupt_in_the_callback_gives_the_best_so_far(name):
    with (
        pytest.warns(
            InterruptedWarning, match="the best so far, .* .check for it in a loop"
        ) as warned,
        watching(press),
    ):
        found = learn(ASIA, "bic", search=name)
    assert found.status == "interrupted"
    assert warned[0].message.best is found
    assert found.score == pytest.approx(Scorer(ASIA, "bic").total(found.dag))


def test_an_interrupt_ends_a_loop_where_its_warning_is_an_error():
    n_begun = 0
    with warnings.catch_warnings(), pytest.raises(InterruptedWarning):  # noqa: PT012
        warnings.simplefilter("error", InterruptedWarning)
        for _ in range(3):
            n_begun += 1
            with watching(press):
                learn(ASIA, "bic", search="hill_climb")
    assert n_begun == 1


def test_an_interrupted_run_with_a_checkpoint_says_how_to_go_on(tmp_path):
    with pytest.warns(InterruptedWarning, match="resume=True"), watching(press):
        learn(ASIA, "bic", search="order", checkpoint=tmp_path / "run.ckpt")


def test_score_and_bound_enclose_the_optimum_throughout(monkeypatch):
    told = []
    is_bounded = threading.Event()
    branch = SearchTree.run

    def branch_when_told(tree):
        assert is_bounded.wait(GUARD), "no bound is told"
        branch(tree)

    def look(now):
        told.append(now)
        if now.gap is not None:
            is_bounded.set()

    monkeypatch.setattr(SearchTree, "run", branch_when_told)
    table = random_table(18, 40, 3)
    with watching(look):
        found = Problem(table).solve(Exact(engine="bnc"))
    assert found.is_proved
    assert {now.phase for now in told} == {"scoring parent sets", "exact search"}
    for now in told:
        assert now.score is None or now.score <= found.score + 1e-6
        assert now.bound is None or now.bound >= found.score - 1e-6
    assert any(now.gap is not None for now in told)


def test_the_time_left_is_that_of_the_limit():
    told = []
    with watching(told.append):
        learn(ASIA, search="hill_climb", time_limit=50.0)
    assert all(0 < now.seconds_left <= 50.0 for now in told)
    told.clear()
    with watching(told.append):
        learn(ASIA, search="hill_climb")
    assert all(now.seconds_left is None for now in told)


def test_native_work_reminds_the_callback_and_can_be_ended_by_it():
    data = random_network(26, seed=0).sample(3000)
    told = []

    def press_at_the_third(now):
        told.append(now)
        if len(told) == 3:
            raise KeyboardInterrupt

    with watching(press_at_the_third):
        problem = Problem(Scorer(data, "bic"))
    reporter = problem.reporter
    reporter.report("scoring parent sets")

    def work():
        for _ in range(1000):
            problem.table()

    with listening(reporter), pytest.raises(KeyboardInterrupt):
        work()
    assert [now.phase for now in told] == ["scoring parent sets"] * 3


def test_structural_em_pc_bootstrap_posterior_and_cross_validation_tell_too():
    told = []
    holes = read({"a": ["x", "y", "", "x"] * 5, "b": ["0", "1", "1", ""] * 5}, missing="keep")
    with watching(told.append):
        learn(holes, "bic", missing="em")
    assert {now.phase for now in told} == {"structural EM"}
    for run, phase in (
        (lambda: pc(ASIA), "testing independences"),
        (lambda: bootstrap(ASIA, replicates=3), "learning replicates"),
        (lambda: posterior(ASIA), "scoring parent sets"),
        (lambda: cross_validate(ASIA, "bic", "hill_climb", k=2), "learning"),
    ):
        told.clear()
        with watching(told.append):
            run()
        assert told
        assert told[0].phase.startswith(phase)
        with pytest.raises(CallbackError), watching(fail):
            run()


def test_a_reporter_keeps_the_best_and_is_not_entered_twice():
    told = []

    def ask_again(now):
        told.append(now)
        reporter.report("inside")

    reporter = Reporter(ask_again)
    reporter.report("first", score=-3.0, bound=-1.0)
    reporter.report("second", score=-5.0, bound=-0.5)
    reporter.report("third", score=-math.inf, bound=math.inf)
    assert [(now.phase, now.score, now.bound) for now in told] == [
        ("first", -3.0, -1.0),
        ("second", -3.0, -1.0),
        ("third", -3.0, -1.0),
    ]


def test_large_gaps_have_no_exponent():
    now = Progress(phase="p", score=-45000.0, bound=-10000.0, seconds=1.0)
    assert str(now) == "p, score -45000.0000, at most 35,000 below the best, 1 s"


def test_refuses_what_cannot_be_called():
    with (
        pytest.raises(InvalidParameterError, match="watching: must be a function"),
        watching(3),
    ):
        learn(ASIA)
