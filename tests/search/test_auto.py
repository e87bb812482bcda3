"""Auto: what it chooses, from sizes alone, and what it makes of an exact search without proof."""

from dataclasses import replace

import pytest

from bestdag.errors import InvalidParameterError
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge import Knowledge
from bestdag.scores.scorer import Scorer
from bestdag.scores.table import ScoreTable
from bestdag.search import auto as module
from bestdag.search.auto import Auto
from bestdag.search.base import Problem
from bestdag.search.exact.search import Exact
from bestdag.search.order import OrderSearch
from tests.search.exact.tables import random_table
from tests.search.test_order import chain_data


def test_a_small_problem_is_solved_exactly():
    scorer = Scorer(chain_data(8, 200, 0), "bdeu")
    found = Auto().run(Problem(scorer))
    assert (found.search, found.status) == ("exact", "optimum proved")
    assert found.score == pytest.approx(Exact().run(Problem(scorer)).score, rel=1e-12)
    assert found.notes[0].startswith("auto chose exact: ")
    assert "dynamic programming" in found.notes[0]


def test_sets_that_take_too_long_to_list_are_left_to_order_search():
    # 20 + 20 * 19 = 400 families with at most one parent; a tenth of 1e-3 s is 100 sets.
    scorer = Scorer(chain_data(20, 200, 0), "bdeu")
    found = Auto(budget=1e-3).run(Problem(scorer))
    assert (found.search, found.bound) == ("order", None)
    assert found.notes[0].startswith("auto chose order: listing all parent sets takes more than")


def test_the_time_limit_is_the_budget():
    scorer = Scorer(chain_data(20, 200, 0), "bdeu")
    assert Auto().run(Problem(scorer, time_limit=1e-3)).search == "order"
    plenty = Problem(scorer, max_parents=2, time_limit=300.0)
    assert Auto(budget=1e-3).run(plenty).search == "exact"


def test_slow_scores_get_fewer_sets():
    class Mine:
        name = "mine"
        is_score_equivalent = False

        def family(self, counts):
            return -float(counts.n_configurations)

        def kernel(self):
            return None

    data = chain_data(12, 20, 0)
    # A tenth is 0.04 s; 144 families of at most one parent take 0.03 s, those of two 0.16 s.
    found = Auto(budget=0.4).run(Problem(Scorer(data, Mine())))
    assert found.search == "order"


def test_a_table_of_local_scores():
    table = random_table(6, 10, 1)
    found = Auto().run(Problem(table))
    assert (found.search, found.status) == ("exact", "optimum proved")


def test_wide_dense_tables_are_left_to_order_search(monkeypatch):
    monkeypatch.setattr(module, "_DP_VARIABLES", 3)
    monkeypatch.setattr(module, "_MANY_SETS", 20)
    found = Auto().run(Problem(random_table(6, 10, 1)))
    assert found.search == "order"
    assert "too many for a proof" in found.notes[0]


@pytest.mark.parametrize("exact_is_better", [False, True])
def test_without_a_proof_the_better_structure_is_returned_with_the_bound(
    monkeypatch, exact_is_better
):
    scorer = Scorer(chain_data(8, 200, 0), "bdeu")
    proved = Exact().run(Problem(scorer))
    empty = Dag(proved.dag.nodes)
    poor = replace(proved, dag=empty, score=scorer.total(empty))
    unproved = replace(
        proved if exact_is_better else poor, bound=proved.score + 3.0, status="time limit"
    )
    monkeypatch.setattr(Exact, "run", lambda self, problem: unproved)
    if exact_is_better:
        monkeypatch.setattr(OrderSearch, "run", lambda self, problem: poor)
    found = Auto().run(Problem(scorer))
    assert found.search == ("exact" if exact_is_better else "order")
    assert found.score == pytest.approx(proved.score, rel=1e-12)
    assert found.bound == proved.score + 3.0
    assert not found.is_proved or exact_is_better
    assert any("without a proof" in note for note in found.notes)


def test_ctrl_c_while_choosing(monkeypatch):
    def pressed(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "build_score_table", pressed)
    knowledge = Knowledge.parse(["v01 -> v02"])
    problem = Problem(Scorer(chain_data(8, 100, 0), "bic"), knowledge=knowledge)
    found = Auto().run(problem)
    assert found.status == "interrupted"
    assert knowledge.allows(found.dag)


def test_refuses_a_budget_that_is_not_positive():
    with pytest.raises(InvalidParameterError, match=r"auto: budget must be .* > 0, got 0"):
        Auto(budget=0)


@pytest.mark.parametrize("engine", ["dp", "bnc"])
def test_an_engine_asked_for_means_exact_search(engine):
    found = Auto(budget=1e-3, engine=engine).run(Problem(random_table(6, 10, 1)))
    assert (found.search, found.engine, found.is_proved) == ("exact", engine, True)
    assert found.notes[0] == f"auto chose exact: the engine '{engine}' was asked for"


def test_refuses_an_unknown_engine():
    with pytest.raises(InvalidParameterError, match=r"auto: engine must be one of"):
        Auto(engine="lp")


def test_tables_need_no_data():
    table = ScoreTable.from_lists(["a"], {"a": [(-1.0, [])]})
    assert Auto().run(Problem(table)).is_proved


def test_variables_that_stand_alone_are_said_to():
    table = ScoreTable.from_lists(["a", "b"], {"a": [(-1.0, [])], "b": [(-2.0, [])]})
    note = Auto().run(Problem(table)).notes[0]
    assert note.startswith("auto chose exact: no variables depend on each other")
