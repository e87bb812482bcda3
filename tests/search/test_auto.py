"""Auto: what comes without options, how time is divided, when it ends, and what it says."""

import itertools
import math
import re
import time

import pytest

from bestdag import watching
from bestdag.errors import InvalidParameterError
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge import Knowledge
from bestdag.scores import SCORES
from bestdag.scores.scorer import Scorer
from bestdag.scores.table import ScoreTable
from bestdag.search import auto as module
from bestdag.search.annealing import Annealing
from bestdag.search.auto import Auto
from bestdag.search.exact.dp.engine import Forecast
from bestdag.search.exact.search import Exact
from bestdag.search.ges import GES
from bestdag.search.hill_climb import HillClimb
from bestdag.search.k2 import K2Search
from bestdag.search.order.improve import Structure
from bestdag.search.problem import Problem
from bestdag.search.result import BoundSource
from bestdag.search.rung import Rung
from bestdag.search.steps import POINT, Bounded, Found, SearchEnd
from bestdag.search.tabu import Tabu
from tests.search.exact.tables import random_table
from tests.search.test_order import chain_data

NINE = chain_data(9, 20, 0)


def forecast(monkeypatch, seconds, n_bytes=1000):
    """Let the proof of the whole seem to take so long; None: it is out of reach."""
    needed = None if seconds is None else Forecast(n_bytes, seconds)
    monkeypatch.setattr(module, "forecast_whole", lambda problem: needed)


def solved(settings, **limits):
    return Problem(Scorer(NINE, "bic"), **limits).solve(settings)


def stopped(problem, score=-math.inf):
    """Say what an exact search that was cut short may have found."""
    yield Bounded(1000.0, BoundSource(kind="best local scores"))
    yield Found(Dag(problem.names), score)
    raise SearchEnd("time limit")


# What comes with real searches ------------------------------------------------------------------


def test_a_small_problem_is_proved():
    scorer = Scorer(chain_data(12, 200, 0), "bdeu")
    found = Problem(scorer).solve(Auto())
    assert (found.search, found.status) == ("exact", "optimum proved")
    assert found.score == pytest.approx(Problem(scorer).solve(Exact()).score, rel=1e-12)
    assert not any(note.startswith("auto") for note in found.notes)  # its seconds say as much
    assert found.verify()


@pytest.mark.parametrize("name", SCORES)
def test_every_score_has_a_bound_when_the_proof_does_not_fit(name, monkeypatch):
    forecast(monkeypatch, None)
    scorer = Scorer(chain_data(24, 300, 1), name)
    found = Problem(scorer, time_limit=0.1).solve(Auto())
    assert found.bound is not None
    assert found.bound >= found.score
    assert found.score == pytest.approx(scorer.total(found.dag), rel=1e-12)
    if not found.is_proved:
        assert any(note.startswith("bound on the best score: ") for note in found.remarks())


def test_a_score_of_ones_own_says_that_no_bound_is_known():
    class Mine:
        name = "mine"
        is_score_equivalent = False

        def family(self, counts):
            return -float(counts.n_configurations)

        def kernel(self):
            return None

    problem = Problem(Scorer(chain_data(30, 20, 0), Mine()), time_limit=0.3)
    found = problem.solve(Auto())
    assert found.bound is None
    assert any("none is known for mine" in note for note in found.remarks())


def test_rounds_give_the_same_structure_every_time(monkeypatch):
    forecast(monkeypatch, None)
    monkeypatch.setattr(Exact, "steps", lambda self, problem: stopped(problem))
    scorers = [Scorer(chain_data(25, 200, 3), "bdeu", threads=t) for t in (1, 3)]
    first, second = (Problem(scorer).solve(Auto(rounds=4)) for scorer in scorers)
    assert first.dag == second.dag
    assert first.status == "step limit"


@pytest.mark.parametrize(
    "search",
    [
        GES(),
        *(
            pytest.param(one, marks=pytest.mark.slow)
            for one in (Tabu(), HillClimb(), Annealing(), K2Search())
        ),
    ],
)
def test_it_is_not_below_a_search_that_ends_by_itself(search, monkeypatch):
    forecast(monkeypatch, None)
    scorer = Scorer(chain_data(35, 400, 5), "bic")
    alone = Problem(scorer).solve(search)
    found = Problem(scorer).solve(Auto(rounds=4))
    assert found.score >= alone.score - 1e-9 * abs(alone.score)


def test_statements_about_paths_are_obeyed():
    knowledge = Knowledge.parse(["v05 ~> v00", "v03 -- v04"])
    found = Problem(Scorer(chain_data(9, 100, 0), "bic"), knowledge=knowledge).solve(
        Auto(budget=2.0)
    )
    assert knowledge.allows(found.dag)


@pytest.mark.parametrize("n", [1, 2, 5, 8])
@pytest.mark.parametrize("name", ["bic", "max_bdeu"])
def test_a_few_variables_are_proved_at_once(n, name):
    data = chain_data(n, 60, 0)
    found = Problem(Scorer(data, name)).solve(Auto())
    assert found.is_proved
    assert not any(note.startswith("auto") for note in found.notes)  # its seconds say as much


def test_an_interrupt_is_not_called_an_end(monkeypatch):
    forecast(monkeypatch, None)

    def press_in_a_proof(now):
        if now.phase.startswith("proving"):
            raise KeyboardInterrupt

    with watching(press_in_a_proof):
        result = Problem(Scorer(chain_data(12, 200, 0), "bic")).solve(Auto())
    assert result.status == "interrupted"
    assert "ended" not in result.notes[0]
    assert result.bound is not None


def test_ctrl_c_at_the_first_moment(monkeypatch):
    def pressed(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "forecast_whole", pressed)
    knowledge = Knowledge.parse(["v01 -> v02"])
    problem = Problem(Scorer(chain_data(8, 100, 0), "bic"), knowledge=knowledge)
    found = problem.solve(Auto())
    assert found.status == "interrupted"
    assert knowledge.allows(found.dag)


# The proof of the whole, as its forecast says ---------------------------------------------------


# In seconds: what it would take, and the limit that is proposed, as people would give it.
@pytest.mark.parametrize(
    ("seconds", "proposed"), [(4, 10), (4.5, 30), (8, 30), (24, 60), (1000, 3600), (3000, 7200)]
)
def test_a_proof_that_does_not_fit_is_not_begun_and_a_limit_that_would_do_is_named(
    seconds, proposed, monkeypatch
):
    forecast(monkeypatch, seconds)
    result = solved(Auto(rounds=1), time_limit=1.9 * seconds)
    assert result.status == "step limit"
    (named,) = re.findall(r"a time limit of (\d+) s would give a proof", result.notes[0])
    assert int(named) == proposed > 1.9 * seconds


def test_without_a_limit_a_proof_that_fits_the_budget_comes_before_the_end(monkeypatch):
    forecast(monkeypatch, 29.0)
    result = solved(Auto(rounds=1))
    assert result.is_proved
    assert result.verify()


def test_memory_that_is_not_there_is_not_asked_for(monkeypatch):
    forecast(monkeypatch, 0.5, n_bytes=10**18)
    result = solved(Auto(rounds=1))
    assert result.status == "step limit"
    assert "would give a proof" not in result.notes[0]


def test_a_proof_that_fails_leaves_the_better_structure_and_its_bound(monkeypatch):
    forecast(monkeypatch, 0.5)
    monkeypatch.setattr(Exact, "steps", lambda self, problem: stopped(problem, -1.0))
    monkeypatch.setattr(module, "TUNING", module.TUNING._replace(least_idle=0.0))
    result = solved(Auto())
    assert (result.search, result.score, result.bound) == ("exact", -1.0, 1000.0)
    assert not result.is_proved
    # What a clock cut short depends on the clock: with rounds it is not taken.
    assert solved(Auto(rounds=3)).score < -1.0


def test_a_proof_that_fails_without_a_bound_is_followed_by_one(monkeypatch):
    forecast(monkeypatch, 0.5)

    def nothing(self, problem):
        raise SearchEnd("time limit")
        yield

    monkeypatch.setattr(Exact, "steps", nothing)
    result = solved(Auto(rounds=1))
    assert result.bound >= result.score


# Ends -------------------------------------------------------------------------------------------


def test_what_improves_no_more_is_the_end(monkeypatch):
    forecast(monkeypatch, None)
    monkeypatch.setattr(module, "TUNING", module.TUNING._replace(least_idle=0.0))
    monkeypatch.setattr(Exact, "steps", lambda self, problem: stopped(problem))
    result = solved(Auto())
    assert result.status == "local optimum"
    assert "stopped after no further improvement" in result.notes[0]
    climbed = Problem(Scorer(NINE, "bic")).starting_from(result.dag).solve(HillClimb())
    assert climbed.score == pytest.approx(result.score, rel=1e-12)


def test_the_budget_is_the_end(monkeypatch):
    forecast(monkeypatch, None)
    result = solved(Auto(budget=1e-3))
    assert result.status == "time limit"
    assert "its budget of 0.001 s was used up" in result.notes


def test_rounds_are_the_end(monkeypatch):
    forecast(monkeypatch, None)
    monkeypatch.setattr(Exact, "steps", lambda self, problem: stopped(problem))
    assert solved(Auto(rounds=5)).status == "step limit"


# How time is divided, with a clock of our own ---------------------------------------------------


class World:
    """A clock, rounds of improving and turns of the ladder, which only take time.

    `log` says what was done and when it began.
    """

    def __init__(self, monkeypatch, *, gains=(), rungs=0):
        self.now = 0.0
        self.log = []
        self.gains = dict(enumerate(gains, start=1))
        self.rungs = rungs
        self.n_closed = 0
        world = self

        class Rounds:
            def __init__(self, problem, start):
                self.best = Structure(start, -100.0)
                self.n_rounds = 0
                self.problem = problem

            def round(self):
                self.n_rounds += 1
                world.take("round", min(0.25, self.problem.seconds_left))
                gain = world.gains.get(self.n_rounds, 0.0)
                self.best = Structure(Dag(self.best.dag.nodes), self.best.score + gain)
                yield Found(*self.best)
                yield POINT

            def climb(self):
                yield POINT

        class Turns:
            is_promising = False
            table = None

            def __init__(self, problem):
                self.is_over = not world.rungs
                self.problem = problem

            def close(self):
                world.n_closed += 1

            def begin(self):
                yield POINT

            def run(self, seconds, incumbent):
                world.take("rungs", min(seconds, self.problem.seconds_left))
                k = world.count("rungs")
                self.is_over = k >= world.rungs
                yield Rung(max_parents=k, score=-200.0, bound=-200.0, is_proved=True)
                yield POINT

        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        monkeypatch.setattr(module, "Improver", Rounds)
        monkeypatch.setattr(module, "Ladder", Turns)
        forecast(monkeypatch, None)

    def take(self, what, seconds):
        self.log.append((what, round(self.now, 9)))
        self.now += seconds

    def count(self, what):
        return sum(name == what for name, _ in self.log)

    def run(self, **limits):
        self.now, self.log = 0.0, []
        return solved(Auto(), **limits)


def test_the_work_up_to_a_step_does_not_depend_on_the_limit(monkeypatch):
    world = World(monkeypatch, rungs=100)
    logs = []
    for limit in (1.0, 3.0, 10.0, 40.0):
        assert world.run(time_limit=limit).status == "time limit"
        assert world.now == pytest.approx(limit)  # which is used, though nothing improves
        logs.append(world.log)
    for shorter, longer in itertools.pairwise(logs):
        # The last piece of work may be cut short by the limit, and what follows is left out.
        assert longer[: len(shorter)] == shorter


# Every round gains a nat of about a hundred, or nothing.
def test_rungs_are_closed_however_it_ends(monkeypatch):
    # Their searches have threads, which rest between turns.
    world = World(monkeypatch, rungs=100)
    assert world.run(time_limit=3.0).status == "time limit"
    assert world.n_closed == 1
    world.rungs = 0
    assert world.run().status == "local optimum"
    assert world.n_closed == 2


@pytest.mark.parametrize(("gains", "least", "most"), [((), 0.45, 0.55), ([1.0] * 10_000, 0.85, 1)])
def test_rungs_have_half_of_the_time_and_a_tenth_while_structures_rise(
    gains, least, most, monkeypatch
):
    world = World(monkeypatch, gains=gains, rungs=10**6)
    world.run(time_limit=100.0)
    assert least * 100 < 0.25 * world.count("round") < most * 100


def test_a_rung_that_is_proved_is_news(monkeypatch):
    # Without a limit: the last of eight rungs comes later than two idle seconds would be the end.
    without = World(monkeypatch)
    without.run()
    with_rungs = World(monkeypatch, rungs=8)
    result = with_rungs.run()
    last = [when for what, when in with_rungs.log if what == "rungs"][-1]
    assert with_rungs.count("rungs") == 8
    assert last > without.now
    assert [rung.max_parents for rung in result.ladder] == list(range(1, 9))


# Gains of the first rounds, of a quarter of a second each: it ends after as long as that took.
@pytest.mark.parametrize(("n_gains", "least", "most"), [(2, 2.0, 3.5), (40, 20.0, 26.0)])
def test_without_a_limit_the_idle_time_is_as_long_as_it_took(n_gains, least, most, monkeypatch):
    world = World(monkeypatch, gains=[1.0] * n_gains)
    result = world.run()
    assert (result.status, result.score) == ("local optimum", -100.0 + n_gains)
    assert least <= world.now < most


def test_a_proof_that_takes_longer_than_its_forecast_leaves_time_for_structures(monkeypatch):
    world = World(monkeypatch)
    forecast(monkeypatch, 2.0)

    def slow(self, problem):
        world.take("exact", problem.seconds_left)
        yield from stopped(problem)

    monkeypatch.setattr(Exact, "steps", slow)
    monkeypatch.setattr(module.Improver, "take", lambda *_: None, raising=False)
    world.run(time_limit=20.0)
    # It begins after a quarter of the forecast and has half of the time that is left then.
    began = dict(world.log)["exact"]
    assert began == pytest.approx(0.5, abs=0.3)
    later = [when for what, when in world.log if what == "round" and when > began]
    assert later[0] == pytest.approx(began + (20.0 - began) / 2)


# Files of local scores --------------------------------------------------------------------------


def test_a_table_of_local_scores():
    found = Problem(random_table(6, 10, 1)).solve(Auto())
    assert (found.search, found.status) == ("exact", "optimum proved")


def test_a_table_without_a_proof_gives_the_better_structure_and_a_bound(monkeypatch):
    monkeypatch.setattr(module, "TUNING", module.TUNING._replace(at_once=0.0))
    monkeypatch.setattr(Exact, "steps", lambda self, problem: stopped(problem))
    table = random_table(6, 10, 1)
    found = Problem(table).solve(Auto())
    assert (found.search, found.status) == ("order", "time limit")
    assert found.bound == 1000.0
    assert any("without a proof" in note for note in found.notes)


def test_tables_need_no_data():
    table = ScoreTable.from_lists(["a"], {"a": [(-1.0, [])]})
    assert Problem(table).solve(Auto()).is_proved


def test_variables_that_stand_alone_are_said_to():
    table = ScoreTable.from_lists(["a", "b"], {"a": [(-1.0, [])], "b": [(-2.0, [])]})
    note = Problem(table).solve(Auto()).notes[0]
    assert note.startswith("auto chose exact: no variables depend on each other")


# Settings ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["dp", "bnc"])
def test_an_engine_asked_for_means_exact_search(engine):
    found = Problem(random_table(6, 10, 1)).solve(Auto(budget=1e-3, engine=engine))
    assert (found.search, found.engine, found.is_proved) == ("exact", engine, True)
    assert found.notes[0] == f"auto chose exact: the engine '{engine}' was asked for"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"budget": 0}, "auto: budget must be .* > 0, got 0"),
        ({"rounds": 0}, "auto: rounds must be a whole number >= 1, got 0"),
        ({"engine": "lp"}, "auto: engine must be one of"),
    ],
)
def test_refuses_settings_that_mean_nothing(settings, message):
    with pytest.raises(InvalidParameterError, match=message):
        Auto(**settings)
