"""Upper bounds on the score of every structure."""

import math
import time

import numpy as np
import pytest

from bestdag import learn, read
from bestdag.examples import example
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge import Knowledge
from bestdag.scores import SCORES
from bestdag.scores.parent_sets.listing import ParentSetListing
from bestdag.scores.prior import ArcDifferencePrior
from bestdag.scores.scorer import Scorer
from bestdag.scores.table import ScoreTable
from bestdag.search import make_search
from bestdag.search.bound import bound_after, bound_steps, upper_bound
from bestdag.search.exact import search as exact_search
from bestdag.search.exact.search import Exact
from bestdag.search.hill_climb import HillClimb
from bestdag.search.problem import Problem
from bestdag.search.result import BoundSource, SearchResult
from bestdag.search.steps import Bounded, Found, SearchEnd
from tests.conftest import make_dataset
from tests.scores.random_data import random_dataset
from tests.scores.test_build import FewerIsBetter
from tests.scores.test_open_sets import WithBound
from tests.search.exact.tables import best_of_all_dags, random_table


def solved_and_bounded(problem, search, time_limit=None):
    limits = {"knowledge": problem.knowledge, "max_parents": problem.max_parents, "threads": None}
    return bound_after(problem.solve(search), problem.scores, time_limit=time_limit, **limits)


def at_once():
    """A deadline that has passed: only the first bound is given."""
    return time.monotonic()


def optimum(problem):
    found = problem.solve(Exact())
    assert found.is_proved
    return found.score


def slack(problem):
    return 1e-10 * max(1.0, problem.scores.dataset.total_weight) * 20


@pytest.mark.parametrize("name", SCORES)
def test_bounds_hold_at_once_and_are_reached_with_time(name):
    rng = np.random.default_rng([1, *name.encode()])
    for _ in range(8):
        problem = Problem(Scorer(random_dataset(rng, n_variables=6), name, threads=1))
        best = optimum(problem)
        quick, full = upper_bound(problem, deadline=at_once()), upper_bound(problem)
        assert best <= quick.value + slack(problem)
        assert best <= full.value + slack(problem)
        assert full.value == pytest.approx(best, abs=1e-6)
        assert full.source.kind == "proof"


@pytest.mark.parametrize("memory", [1, 500, 1000, 2000])
def test_bounds_of_listings_that_were_cut_short_hold(memory):
    rng = np.random.default_rng(2)
    n_tighter = 0
    for _ in range(12):
        problem = Problem(Scorer(random_dataset(rng, n_variables=6), "bdeu", threads=1))
        best = optimum(problem)
        listing = ParentSetListing(problem.scores)
        listing.run(memory_limit=memory)
        table = listing.table()
        quick = upper_bound(problem, table, deadline=at_once())
        full = upper_bound(problem, table)
        assert best - slack(problem) <= full.value <= quick.value
        n_tighter += full.value < quick.value - 1e-9
    assert n_tighter > 0


def test_knowledge_lowers_the_bound_or_leaves_it():
    rng = np.random.default_rng(3)
    statements = [
        Knowledge(required_arcs=[("a", "b")], forbidden_arcs=[("c", "d")]),
        Knowledge(max_parents=1),
        Knowledge(ancestors=[("a", "e")]),
        Knowledge(required_edges=[("b", "d")]),
    ]
    for knowledge in statements:
        for _ in range(5):
            scorer = Scorer(random_dataset(rng), "bic", threads=1)
            problem = Problem(scorer, knowledge=knowledge)
            best = optimum(problem)
            for deadline in (None, at_once()):
                bound = upper_bound(problem, deadline=deadline)
                assert best <= bound.value + slack(problem)
            if not (knowledge.ancestors or knowledge.required_edges):
                full = upper_bound(problem)
                assert full.value == pytest.approx(best, abs=1e-6)


def test_structure_priors_are_in_the_bound():
    rng = np.random.default_rng(4)
    for _ in range(10):
        data = random_dataset(rng)
        prior = ArcDifferencePrior(Dag(data.names, [("a", "b"), ("c", "d")]), kappa=0.01)
        problem = Problem(Scorer(data, "k2", prior, threads=1))
        best = optimum(problem)
        assert best <= upper_bound(problem, deadline=at_once()).value + slack(problem)
        assert upper_bound(problem).value == pytest.approx(best, abs=1e-6)


class ByNumber:
    """A prior that is no sum over arcs."""

    is_score_equivalent = False

    def family(self, child, parents):
        return 0.5 * len(parents) ** 2


def test_where_nothing_is_known_that_is_said():
    data = random_dataset(np.random.default_rng(5))
    problem = Problem(Scorer(data, FewerIsBetter()))
    bound = upper_bound(problem, deadline=at_once())
    assert (bound.value, bound.source.kind) == (None, "none")
    assert bound.source.reason == "not all parent sets were scored, and none is known for fewer"
    assert upper_bound(problem).value == pytest.approx(optimum(problem))
    problem = Problem(Scorer(data, "bic", ByNumber()))
    bound = upper_bound(problem, deadline=at_once())
    assert bound.value is None
    assert "the structure prior is not a sum over arcs" in bound.source.reason
    assert upper_bound(Problem(Scorer(data, WithBound())), deadline=at_once()).value is not None


def test_a_table_of_scores_bounds_its_own_sets():
    for seed in range(20):
        table = random_table(4, 6, seed, max_parents=3)
        best = best_of_all_dags(table)
        problem = Problem(table)
        quick = upper_bound(problem, deadline=at_once())
        assert quick.source.kind == "best local scores"
        assert best <= quick.value
        assert upper_bound(problem).value == pytest.approx(best, abs=1e-6)


def test_a_table_that_lacks_sets_without_saying_which_has_no_bound():
    sets = ScoreTable.from_lists(["a"], {"a": [(-1.0, [])]}).child(0)
    table = ScoreTable(["a"], [sets], complete=False)
    assert upper_bound(Problem(table), table).value is None


# 300 binary variables of 200 rows: more than 10^90 parent sets each.
def test_wide_data_have_a_bound():
    rng = np.random.default_rng(6)
    columns = {f"v{i:03}": rng.integers(0, 2, 200).tolist() for i in range(300)}
    problem = Problem(Scorer(make_dataset(columns), "bdeu"))
    bound = upper_bound(problem, deadline=at_once())
    # All rows differ: none is more likely than 1 in 200.
    assert bound.value == pytest.approx(-200 * math.log(200))
    assert bound.source.kind == "joint likelihood"
    later = upper_bound(problem, deadline=time.monotonic() + 2.0)
    assert later.value <= bound.value


def test_any_search_gives_a_bound_on_request():
    data = example("asia.csv")
    without = learn(data, "bic", search="hill_climb")
    assert without.bound is None
    result = learn(data, "bic", search="hill_climb").bounded()
    best = learn(data, "bic", search="exact")
    assert result.dag == without.dag
    assert best.score <= result.bound + 1e-6
    assert result.gap == pytest.approx(best.score - result.score, abs=1e-6)
    assert result.n_rows == 2000
    assert result.gap_per_row == pytest.approx(result.gap / 2000)
    assert result.bound_source.kind == "proof"
    assert "bound on the best score: all components solved to optimality" in str(result)
    assert "\nby the bound the best of all networks with at least 5 rows per table cell" in str(
        result
    )


def test_a_proof_needs_no_other_bound():
    result = learn(example("asia.csv"), "bic", search="exact")
    assert result.is_proved
    assert result.bounded() is result


def test_a_bound_within_a_time_limit():
    problem = Problem(Scorer(read(example("asia.csv")), "bdeu"), time_limit=2.0)
    found = solved_and_bounded(problem, make_search("tabu"), 1.0)
    assert found.bound >= found.score


class Slow:
    """A search that has a bound of its own, and says so."""

    name = "slow"

    def __init__(self, value):
        self.value = value

    def steps(self, problem):
        yield Found(Dag(problem.names), problem.scores.total(Dag(problem.names)))
        yield Bounded(self.value, BoundSource(kind="relaxation"))
        raise SearchEnd("step limit")


def test_the_lower_of_two_bounds_is_that_of_the_result():
    problem = Problem(Scorer(read(example("asia.csv")), "bic"))
    lowest = upper_bound(problem).value
    for above, kind in ((-1.0, "relaxation"), (100.0, "proof")):
        result = solved_and_bounded(problem, Slow(lowest + above))
        assert result.status == "step limit"
        assert result.bound == lowest + min(above, 0.0)
        assert result.bound_source.kind == kind


OF_ALL = "the best log score of all networks is"


@pytest.mark.parametrize(
    ("bound", "n_rows", "text"),
    [
        (None, 100, "no bound on the best score"),
        (-7.66, 5000, f"{OF_ALL} at most 12.4 higher (0.00247 per row)"),
        (-20.0, 5000, "by the bound the best of all networks, up to rounding"),
        (1e6, 10, f"{OF_ALL} at most 1,000,020 higher (100,002 per row)"),
        (-19.0, None, f"{OF_ALL} at most 1 higher"),
        (-19.75, "file", f"{OF_ALL[:-2]}of the listed parent sets is at most 0.25 higher"),
    ],
)
def test_the_gap_in_words_is_never_too_small(bound, n_rows, text):
    found = SearchResult(
        dag=Dag(["a"]),
        score=-20.0,
        bound=bound,
        status="time limit",
        search="x",
        seconds=1.0,
        n_rows=None if n_rows == "file" else n_rows,
        is_among_listed=n_rows == "file",
    )
    assert found.shortfall() == text


def test_an_exact_search_without_all_sets_has_a_bound(monkeypatch):
    monkeypatch.setattr(exact_search, "_SHARE_FOR_SETS", 1e-9)
    rng = np.random.default_rng(7)
    columns = {f"v{i:02}": rng.integers(0, 2, 1000).tolist() for i in range(13)}
    scorer = Scorer(make_dataset(columns), "bdeu")
    best = optimum(Problem(scorer))
    found = Problem(scorer, time_limit=1.0).solve(Exact(engine="bnc"))
    assert found.status == "time limit"
    assert found.score <= best + 1e-9
    assert best <= found.bound + 1e-6
    assert found.certificates == ()


def test_an_interrupt_leaves_the_bound_so_far(monkeypatch):
    problem = Problem(Scorer(read(example("asia.csv")), "bic"))

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("bestdag.search.bound.decompose", interrupted)
    steps = bound_steps(problem)
    assert next(steps).source.kind == "best local scores"
    with pytest.raises(KeyboardInterrupt):
        next(steps)
    result = solved_and_bounded(problem, HillClimb())
    assert (result.status, result.bound_source.kind) == ("interrupted", "best local scores")
    monkeypatch.setattr(ParentSetListing, "run", interrupted)
    result = solved_and_bounded(problem, HillClimb())
    assert (result.status, result.bound) == ("interrupted", None)
