"""The ladder: every rung against all structures that there are, and what an answer says of it."""

import math

import numpy as np
import pytest

from bestdag import Checkpoint, InterruptedWarning, learn, watching
from bestdag.graph.knowledge import Knowledge
from bestdag.scores import SCORES
from bestdag.scores.scorer import Scorer
from bestdag.search import auto as module
from bestdag.search import ladder as ladder_module
from bestdag.search.auto import Auto
from bestdag.search.exact.search import Exact
from bestdag.search.ladder import Ladder
from bestdag.search.order.improve import Structure
from bestdag.search.problem import Problem
from bestdag.search.result import SearchResult
from bestdag.search.rung import Rung, proved_up_to
from bestdag.search.steps import Found, Outcome
from tests.search.near_optimal.every_dag import random_data, ranked
from tests.search.test_order import chain_data


def climbed(problem):
    """The rungs of a ladder that is climbed to its end, and what else came of it."""
    outcome, ladder = Outcome(), Ladder(problem)
    for event in ladder.begin():
        outcome.take(event)
    while not ladder.is_over:
        for event in ladder.run(math.inf):
            outcome.take(event)
    return outcome


def best_with_at_most(every, most):
    """The best score of all structures with at most so many parents; None where there is none."""
    few = (score for score, dag in every if all(len(dag.parents(v)) <= most for v in dag.nodes))
    return next(few, None)


@pytest.fixture
def rung_by_rung(monkeypatch):
    """Lists go no further than the next rung."""
    monkeypatch.setattr(
        ladder_module, "TUNING", ladder_module.TUNING._replace(least_for_all=0, share_for_all=0)
    )


@pytest.mark.usefixtures("rung_by_rung")
@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("support", [0.0, 3.0])
def test_every_rung_is_the_best_of_all_structures_of_it(name, seed, support):
    data = random_data(4, seed, n_rows=40)
    every = ranked(data, name, support=support)
    outcome = climbed(Problem(Scorer(data, name, support=support)))
    numbers = [rung.max_parents for rung in outcome.ladder]
    assert numbers in ([1, 2, None], [1, None])
    for rung in outcome.ladder:
        assert rung.is_proved
        most = 3 if rung.max_parents is None else rung.max_parents
        assert rung.score == pytest.approx(best_with_at_most(every, most), rel=1e-9)
        assert rung.bound == pytest.approx(rung.score, rel=1e-9)
    assert outcome.proof.score == pytest.approx(every[0][0], rel=1e-9)
    for proof in outcome.proof.certificates:
        proof.verify()


@pytest.mark.parametrize(
    "statements",
    [
        ["v0 -> v2"],
        ["v0 -> v2", "v1 -> v2"],
        ["v0 !- v1", "v3 !- v1"],
        ["v1 < v0"],
        ["v0 ~> v3"],
        ["v0 -- v3"],
        ["v1 ~> v0", "v2 -- v3", "v1 !- v2"],
    ],
)
@pytest.mark.usefixtures("rung_by_rung")
@pytest.mark.parametrize("name", ["bic", "bdeu", "qnml", "min_bdeu"])
def test_rungs_obey_what_the_user_knows(statements, name):
    data, knowledge = random_data(4, 3, n_rows=50), Knowledge.parse(statements)
    every = ranked(data, name, allows=knowledge.allows)
    outcome = climbed(Problem(Scorer(data, name), knowledge=knowledge))
    assert outcome.ladder[-1].max_parents is None
    assert knowledge.allows(outcome.best.structure)
    for rung in outcome.ladder:
        most = 3 if rung.max_parents is None else rung.max_parents
        assert rung.is_proved
        assert rung.score == pytest.approx(best_with_at_most(every, most), rel=1e-9)


def test_two_required_parents_begin_the_ladder_at_two():
    knowledge = Knowledge.parse(["v0 -> v2", "v1 -> v2"])
    problem = Problem(Scorer(random_data(5, 0), "bic"), knowledge=knowledge)
    assert climbed(problem).ladder[0].max_parents in (2, None)


@pytest.mark.usefixtures("rung_by_rung")
@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_limit_of_the_users_own_is_the_top_rung(most):
    data = random_data(5, 1)
    outcome = climbed(Problem(Scorer(data, "bdeu"), max_parents=most))
    numbers = [rung.max_parents for rung in outcome.ladder]
    assert numbers[-1] is None
    assert max(numbers[:-1], default=0) < most
    best = best_with_at_most(ranked(data, "bdeu"), most)
    assert outcome.proof.score == pytest.approx(best, rel=1e-9)


def test_priors_that_are_no_sum_over_arcs_have_no_branching():
    class OneArc:
        """Twice as probable with each pair of parents."""

        is_score_equivalent = False

        def family(self, child, parents):
            return math.log(2.0) * (len(parents) // 2)

        def description(self):
            return "one arc"

    data = random_data(4, 2)
    scorer = Scorer(data, "bic", structure_prior=OneArc())
    outcome = climbed(Problem(scorer))
    assert "edmonds" not in {rung.engine for rung in outcome.ladder}
    assert outcome.proof.score == pytest.approx(Problem(scorer).solve(Exact()).score, rel=1e-12)


@pytest.mark.parametrize("threads", [1, 3])
def test_rungs_do_not_depend_on_threads_or_the_order_of_columns(threads):
    data = chain_data(9, 150, 2)
    columns = list(data.names)
    turned = data.select(columns[::-1])
    ladders = [
        climbed(Problem(Scorer(one, "bdeu", threads=threads), max_parents=3)).ladder
        for one in (data, turned)
    ]
    assert [(r.max_parents, r.score, r.n_sets) for r in ladders[0]] == [
        (r.max_parents, r.score, r.n_sets) for r in ladders[1]
    ]


def test_turns_of_no_length_come_to_the_same_end():
    problem = Problem(Scorer(chain_data(8, 100, 0), "bic"))
    outcome, ladder = Outcome(), Ladder(problem)
    n_turns = 0
    while not ladder.is_over:
        n_turns += 1
        for event in ladder.run(1e-4):
            outcome.take(event)
    assert n_turns > 2
    assert outcome.proof.score == pytest.approx(problem.solve(Exact()).score, rel=1e-12)


def test_auto_works_from_below_where_the_whole_is_out_of_reach(monkeypatch):
    monkeypatch.setattr(module, "forecast_whole", lambda problem: None)
    monkeypatch.setattr(module, "TUNING", module.TUNING._replace(least_slice=1e-3))
    data = chain_data(24, 2000, 4)

    def press_in_the_second_proof(now):
        if now.phase.startswith("proving the best") and now.detail.startswith("among"):
            raise KeyboardInterrupt

    with watching(press_in_the_second_proof):
        result = Problem(Scorer(data, "bdeu")).solve(Auto())
    assert result.status == "interrupted"
    first = result.ladder[0]
    assert (first.max_parents, first.is_proved) == (1, True)
    assert first.score <= result.score + 1e-6
    assert first.proved_after <= result.seconds
    limited = Problem(Scorer(data, "bdeu"), max_parents=1).solve(Exact())
    assert limited.score == pytest.approx(first.score, rel=1e-12)
    assert result.empty_score == pytest.approx(Scorer(data, "bdeu").total(no_arcs(data)))
    assert result.gain == result.score - result.empty_score


def no_arcs(data):
    from bestdag.graph.dag import Dag

    return Dag(sorted(data.names))


def test_what_a_rung_finds_goes_into_the_answer(monkeypatch):
    """An improver that finds nothing leaves it to the rungs."""
    monkeypatch.setattr(module, "forecast_whole", lambda problem: None)
    monkeypatch.setattr(module.Improver, "round", lambda self: iter([Found(*self.best)]))
    data = chain_data(10, 300, 1)
    result = Problem(Scorer(data, "bic"), time_limit=60.0).solve(Auto())
    assert result.is_proved
    assert result.score == pytest.approx(Problem(Scorer(data, "bic")).solve(Exact()).score)


def test_what_is_proved_of_rungs_survives_a_run_that_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "forecast_whole", lambda problem: None)
    data = chain_data(24, 2000, 4)

    def stop(*_):
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(ladder_module.Ladder, "_list", stop)
    with pytest.warns(InterruptedWarning):
        first = learn(data, "bdeu", checkpoint=Checkpoint(tmp_path / "run"))
    assert [(rung.max_parents, rung.is_proved) for rung in first.ladder] == [(1, True)]
    monkeypatch.setattr(ladder_module.Ladder, "_branch", stop)
    with pytest.warns(InterruptedWarning):
        again = learn(data, "bdeu", checkpoint=Checkpoint(tmp_path / "run", resume=True))
    assert again.ladder[0].without_certificates() == first.ladder[0].without_certificates()


@pytest.mark.usefixtures("rung_by_rung")
def test_a_rung_that_cannot_reach_what_is_known_is_left():
    data = chain_data(8, 400, 3)
    scorer = Scorer(data, "bdeu")
    solved = Problem(scorer).solve(Exact())
    best = solved.score
    outcome, ladder = Outcome(), Ladder(Problem(scorer))
    while not ladder.is_over:
        for event in ladder.run(math.inf, Structure(solved.dag, best)):
            outcome.take(event)
    two = Problem(scorer, max_parents=2).solve(Exact()).score
    rung = outcome.rungs[2]
    assert two <= rung.bound + 1e-9
    assert rung.is_proved or rung.bound <= best
    assert outcome.proof.score == pytest.approx(best, rel=1e-12)


def test_a_proof_is_not_replaced_by_less():
    outcome = Outcome()
    outcome.take(proved(2, -7.0))
    outcome.take(Rung(max_parents=2, score=-9.0, bound=-3.0))
    assert outcome.ladder == (proved(2, -7.0),)


# What is said -----------------------------------------------------------------------------------


def result_with(score, rungs, **more):
    from bestdag.graph.dag import Dag

    names = ["a", "b", "c", "d"]
    dag = Dag(names, [("a", "d"), ("b", "d"), ("c", "d")])  # three parents
    settings = {"status": "time limit", "search": "order", "seconds": 2.0, "n_rows": 100.0}
    return SearchResult(
        dag=dag, score=score, ladder=tuple(rungs), empty_score=-1000.0, **settings, **more
    )


def proved(k, score):
    return Rung(max_parents=k, score=score, bound=score, is_proved=True)


def test_proved_is_the_highest_rung_that_the_score_reaches():
    rungs = [proved(1, -800.0), proved(2, -700.0), Rung(max_parents=3, score=-650.0, bound=-600.0)]
    assert proved_up_to(-640.0, rungs) == 2
    assert proved_up_to(-600.0, rungs) == 3
    assert proved_up_to(-750.0, rungs) == 1
    assert proved_up_to(-900.0, rungs) is None
    assert proved_up_to(-500.0, [*rungs, proved(None, -500.0)]) == "all"


def test_a_proof_within_the_number_of_its_parents_is_the_headline():
    result = result_with(-600.0, [proved(2, -700.0), proved(3, -600.0)], bound=0.0)
    assert result.headline().startswith(
        "best of all networks with at most 3 parents per variable (proved;"
    )
    assert result.claims() == ("for more parents no useful bound is known",)


def test_more_parents_than_proved_is_said_by_how_much():
    result = result_with(-587.3, [proved(1, -800.0), proved(2, -1000.0 + 412.7)], bound=0.0)
    # 412.7 - 412.7 nats of gain: exactly the same score is no more.
    assert result.proved == 2
    result = result_with(-500.0, [proved(1, -800.0), proved(2, -700.0)], bound=0.0)
    assert result.claims()[0] == (
        "scores 200 more than any of the networks with at most 2 parents per variable can (proved)"
    )
    assert "not proved best" in result.headline()


def test_a_gap_of_the_next_rung_is_said_per_row_and_as_a_share_of_the_gain():
    rungs = [proved(2, -700.0), Rung(max_parents=3, score=-600.0, bound=-580.0)]
    line = result_with(-600.0, rungs, bound=0.0).claims()[-1]
    # 20 nats, over 100 rows, of a gain of 400.
    assert line == (
        "with at most 3 parents the best log score is at most 20 higher (0.2 per row, 5 % of the "
        "gain over no arcs); for more parents no useful bound is known"
    )


@pytest.mark.parametrize(("bound", "is_said"), [(-561.0, True), (-559.0, False)])
def test_a_bound_for_all_is_said_when_it_is_below_a_tenth_of_the_gain(bound, is_said):
    # The gain is 400: a gap of 39 is said, one of 41 is not.
    lines = result_with(-600.0, [proved(2, -700.0)], bound=bound).claims()
    assert any("of all networks is at most" in line for line in lines) == is_said
    assert any("no useful bound" in line for line in lines) != is_said


def test_a_table_of_rungs_compares_each_with_the_answer():
    rungs = [proved(1, -800.0), proved(3, -600.0), Rung(max_parents=4, bound=-590.0)]
    head, *rows = result_with(-600.0, rungs).ladder_rows()
    assert head[0] == "parents"
    assert [row[3] for row in rows] == ["200 lower", "the same", "at most 10 higher"]
    assert [row[2] for row in rows] == ["proved", "proved", "not proved"]


def test_json_and_saved_results_have_the_ladder():
    rng = np.random.default_rng(0)
    result = learn({f"v{i}": rng.integers(0, 2, 50).tolist() for i in range(4)})
    assert result.proved == "all"
    values = proved(2, -7.5).as_json()
    assert (values["max_parents"], values["status"], values["gap"]) == (2, "optimum proved", 0.0)
    assert values["proved_after"] is None  # nobody looked at a clock
