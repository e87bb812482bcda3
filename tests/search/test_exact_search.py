"""The exact search: engines, components, files of scores."""

import math
from dataclasses import replace

import pytest

from bestdag import learn, read
from bestdag.errors import InvalidParameterError, UnknownNameError
from bestdag.examples import example
from bestdag.graph.knowledge import Knowledge
from bestdag.scores.scorer import Scorer
from bestdag.scores.table import ScoreTable
from bestdag.search import make_search
from bestdag.search.exact import solver as relaxed
from bestdag.search.exact.bnc.engine import BranchAndCut
from bestdag.search.exact.dp.engine import Forecast, solve_dp
from bestdag.search.exact.search import Exact
from bestdag.search.exact.verification import VerificationError, verify_solution
from bestdag.search.problem import Problem
from tests.shared_data import shared_file

# Two separate pairs, each of which wants a cycle; the best acyclic choice is -2 - 1.5 - 1 - 5.
TWO_PAIRS = ScoreTable.from_lists(
    ["a", "b", "c", "d"],
    {
        "a": [(-1.0, ["b"]), (-2.0, [])],
        "b": [(-1.5, ["a"]), (-4.0, [])],
        "c": [(-1.0, ["d"]), (-3.0, [])],
        "d": [(-4.5, ["c"]), (-5.0, [])],
    },
)


@pytest.mark.parametrize("engine", ["auto", "dp", "bnc"])
def test_components_are_solved_apart(engine):
    found = Problem(TWO_PAIRS).solve(Exact(engine=engine))
    assert found.score == -9.5
    assert found.bound == pytest.approx(-9.5, abs=1e-6)
    assert found.status == "optimum proved"
    assert found.dag.arcs == (("a", "b"), ("d", "c"))
    assert len(found.certificates) == 2


@pytest.mark.parametrize("engine", ["dp", "bnc"])
def test_a_proof_can_be_checked_and_a_false_one_is_found_out(engine):
    found = Problem(TWO_PAIRS).solve(Exact(engine=engine))
    assert found.verify()
    # A worse choice for a and b that claims to be the best: a without b, b without a.
    proof = next(p for p in found.certificates if p.component.variables == (0, 1))
    worse = replace(proof.result, chosen=(1, 1), score=-6.0, bound=-6.0, proofs=())
    with pytest.raises(VerificationError, match=r"a choice scores -3\.5, more than -6\.0"):
        verify_solution(proof.component.table, worse)
    with pytest.raises(VerificationError, match="add up to"):
        verify_solution(proof.component.table, replace(proof.result, score=-1.0))


def test_nothing_to_search_needs_no_engine():
    table = ScoreTable.from_lists(["x"], {"x": [(-1.0, [])]})
    found = Problem(table).solve(Exact())
    assert (found.score, found.engine, found.gap) == (-1.0, None, 0.0)


def test_knowledge_filters_a_file_of_scores():
    found = Problem(TWO_PAIRS, knowledge=Knowledge.parse(["a !> b"])).solve(Exact())
    assert found.score == -1.0 - 4.0 - 1.0 - 5.0
    with pytest.raises(InvalidParameterError, match="no parent set of 'a' that the knowledge"):
        Problem(TWO_PAIRS, knowledge=Knowledge.parse(["c -> a"])).solve(Exact())


# {a, c} is worse than {c}, so files leave it out; with a -> b required it is the best of b.
def test_a_file_that_may_lack_what_required_arcs_need_is_refused():
    every = [(-2.9, ["c"]), (-3.0, ["a", "c"]), (-5.0, ["a"]), (-6.0, [])]
    alone = {"a": [(-1.0, [])], "c": [(-1.0, [])]}
    knowledge = Knowledge.parse(["a -> b"])
    full = ScoreTable.from_lists(["a", "b", "c"], {**alone, "b": every})
    assert Problem(full, knowledge=knowledge).solve(Exact()).score == -5.0
    pruned = ScoreTable.from_lists(["a", "b", "c"], {**alone, "b": [every[0], *every[2:]]})
    with pytest.raises(InvalidParameterError, match="'b' has required parents, and the score file"):
        Problem(pruned, knowledge=knowledge).solve(Exact())
    # With at most one parent the file is whole again, and {a} is the best that has a.
    assert Problem(pruned, knowledge=knowledge, max_parents=1).solve(Exact()).score == -7.0


def test_an_incomplete_table_proves_nothing_filtered_or_not():
    children = [TWO_PAIRS.child(i) for i in range(4)]
    table = ScoreTable(TWO_PAIRS.names, children, complete=False)
    for knowledge in (Knowledge(), Knowledge.parse(["a !> b"])):
        found = Problem(table, knowledge=knowledge).solve(Exact())
        assert (found.status, found.bound) == ("time limit", None)


def test_an_interrupt_while_scoring_still_gives_a_structure(monkeypatch):
    data = read(example("asia.csv"))
    problem = Problem(Scorer(data, "bdeu"), knowledge=Knowledge.parse(["xray -> smoke"]))
    listed = problem.table

    def interrupted_at_first(time_limit=None):
        if time_limit is None:
            raise KeyboardInterrupt
        return listed(time_limit=time_limit)

    monkeypatch.setattr(problem, "table", interrupted_at_first)
    found = problem.solve(Exact(engine="bnc"))
    assert found.status == "interrupted"
    assert found.dag.has_arc("xray", "smoke")
    assert found.score == pytest.approx(Scorer(data, "bdeu").total(found.dag), rel=1e-12)


def test_unknown_engine_and_setting():
    with pytest.raises(InvalidParameterError, match="one of 'auto', 'dp', 'gpu', 'bnc'"):
        Exact(engine="tpu")
    with pytest.raises(UnknownNameError, match="did you mean 'engine'"):
        make_search("exact", engin="dp")


def test_learn_finds_and_proves_the_best_network_of_the_example():
    result = learn(example("asia.csv"), "bic")
    assert result.is_proved
    assert result.score >= learn(example("asia.csv"), "bic", max_parents=1).score
    assert f"best of {result.limits.words()} (proved" in str(result)


@pytest.mark.parametrize("name", ["wine.BIC", "slim_sachs-5000", "gob_asia_10000.k3"])
def test_engines_agree_on_published_instances(name):
    table = ScoreTable.load(shared_file(f"scores/{name}.jkl.gz"))
    scores = [Problem(table).solve(Exact(engine=engine)).score for engine in ("dp", "bnc")]
    assert math.isclose(*scores, rel_tol=1e-12)


# Which engine ----------------------------------------------------------------------------------


def engines_asked(monkeypatch, *, bnc_status="optimum proved", dp_proves=True, surely=0):
    """Let `auto` think that two variables are many, and note what it asks of the engines."""
    asked = []

    class Bnc(BranchAndCut):
        def __init__(self, table, *, max_pivots=math.inf, deadline=None, **_):
            asked.append(("bnc", max_pivots, deadline))
            super().__init__(table)

        def steps(self):
            result = yield from super().steps()
            if bnc_status == "optimum proved":
                return result
            return replace(result, status=bnc_status, bound=result.score + 2)

    def dp(table, *, threads, deadline, **_):
        asked.append(("dp", deadline))
        result = solve_dp(table)
        if dp_proves:
            return result
        return replace(result, status="time limit", bound=result.score + 5)

    monkeypatch.setattr(relaxed, "_SURELY_DP", surely)
    monkeypatch.setattr(relaxed, "find_spec", lambda _: None)  # of this machine's GPU
    monkeypatch.setattr(relaxed, "BranchAndCut", Bnc)
    monkeypatch.setattr(relaxed, "solve_dp", dp)
    return asked


PAIR = ScoreTable.from_lists(
    ["a", "b"], {"a": [(-1.0, ["b"]), (-2.0, [])], "b": [(-1.5, ["a"]), (-4.0, [])]}
)


def test_branch_and_cut_comes_first_and_its_proof_is_enough(monkeypatch):
    asked = engines_asked(monkeypatch)
    found = Problem(PAIR).solve(Exact())
    assert [name for name, *_ in asked] == ["bnc"]
    assert (found.engine, found.status, found.score) == ("bnc", "optimum proved", -3.5)


def test_dynamic_programming_proves_what_branch_and_cut_does_not(monkeypatch):
    asked = engines_asked(monkeypatch, bnc_status="step limit")
    found = Problem(PAIR).solve(Exact())
    # Few variables: the least number of steps, no stopwatch.
    assert asked == [("bnc", 5_000, None), ("dp", None)]
    assert (found.engine, found.status, found.score) == ("dp", "optimum proved", -3.5)
    assert found.verify()


def test_what_both_know_is_joined_when_neither_proves(monkeypatch):
    asked = engines_asked(monkeypatch, bnc_status="time limit", dp_proves=False)
    problem = Problem(PAIR, time_limit=100)
    found = problem.solve(Exact())
    assert [name for name, *_ in asked] == ["bnc", "dp"]
    assert asked[0][2] < asked[1][1] == problem.deadline  # time is set aside for dp
    assert (found.engine, found.status, found.score) == ("bnc+dp", "time limit", -3.5)
    assert found.gap == pytest.approx(2.0, abs=1e-6)


def test_ctrl_c_is_not_answered_by_another_engine(monkeypatch):
    asked = engines_asked(monkeypatch, bnc_status="interrupted")
    assert Problem(PAIR).solve(Exact()).status == "interrupted"
    assert [name for name, *_ in asked] == ["bnc"]


@pytest.mark.parametrize(("n_bytes", "seconds"), [(2**60, 0.0), (0, 60.0)])
def test_dynamic_programming_without_memory_or_time_is_no_fallback(monkeypatch, n_bytes, seconds):
    asked = engines_asked(monkeypatch, bnc_status="time limit")
    monkeypatch.setattr(relaxed, "forecast", lambda *_, **__: Forecast(n_bytes, seconds))
    assert Problem(PAIR, time_limit=100).solve(Exact()).engine == "bnc"
    assert [name for name, *_ in asked] == ["bnc"]
    assert asked[0][1] == math.inf


def test_few_variables_go_to_dynamic_programming_at_once(monkeypatch):
    asked = engines_asked(monkeypatch, surely=2)
    assert Problem(PAIR).solve(Exact()).engine == "dp"
    assert [name for name, *_ in asked] == ["dp"]
