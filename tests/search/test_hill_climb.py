"""Hill climbing: worked exercises, local optima, knowledge, starts, limits, traces."""

import math
import pickle
import signal

import numpy as np
import pytest

from bestdag import learn, read, watching
from bestdag.errors import GraphError, InterruptedWarning, InvalidParameterError
from bestdag.examples import example
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge import Knowledge
from bestdag.scores import make_score
from bestdag.scores.prior import ArcDifferencePrior
from bestdag.scores.scorer import Scorer
from bestdag.search.hill_climb import HillClimb
from bestdag.search.problem import Problem
from tests.conftest import make_dataset
from tests.search.neighbours import Slow, linked_data, neighbours

# Jensen and Nielsen, Table 7.4: how often each (A, B, C) comes among the 32 rows.
TABLE_7_4 = {(1, 1, 1): 11, (2, 1, 1): 12, (2, 1, 2): 6, (1, 2, 2): 3}


def table_7_4():
    rows = [row for row, n in TABLE_7_4.items() for _ in range(n)]
    return read({name: [str(row[i]) for row in rows] for i, name in enumerate("ABC")})


def bits(nats):
    return nats / math.log(2)


def test_exercise_7_10():
    found = Problem(Scorer(table_7_4(), "bic")).solve(HillClimb())
    assert found.dag.arcs == (("A", "B"), ("C", "B"))
    assert bits(found.score) == pytest.approx(-74.0671, abs=5e-5)
    assert found.status == "local optimum"


def test_exercise_7_10_from_the_other_direction_sticks():
    # First B - C and then A - B gain most, as much in one direction as in the other where nothing
    # points at B. Ties that make both lead away from B end in A <- B -> C: no single move gains.
    start = Dag(list("ABC"), [("B", "A"), ("B", "C")])
    greedy = HillClimb(reinsert=False)
    found = Problem(Scorer(table_7_4(), "bic")).starting_from(start).solve(greedy)
    assert bits(found.score) == pytest.approx(-75.9625, abs=5e-5)
    assert found.dag == start
    assert found.status == "local optimum"
    again = Problem(Scorer(table_7_4(), "bic")).starting_from(start).solve(HillClimb())
    assert bits(again.score) == pytest.approx(-74.0671, abs=5e-5)


# Table 7.2 and the prior network X2 -> X1: with uniform parameters P(D | X1 -> X2) is 35/27 times
# P(D | X2 -> X1), and the prior of the former is kappa^2 times that of the latter.
@pytest.mark.parametrize(("factor", "arcs"), [(0.999, (("X2", "X1"),)), (1.001, (("X1", "X2"),))])
def test_exercise_7_17(factor, arcs):
    data = make_dataset({"X1": [0] * 8 + [1] * 2, "X2": [0] * 6 + [1] * 4})
    prior = ArcDifferencePrior(Dag(["X1", "X2"], [("X2", "X1")]), kappa=factor * math.sqrt(27 / 35))
    found = learn(data, "k2", search="hill_climb", structure_prior=prior, support=0)
    assert found.dag.arcs == arcs


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("score", ["bic", "bdeu", "fnml"])
@pytest.mark.parametrize("reinsert", [False, True])
def test_no_single_move_improves_a_local_optimum(seed, score, reinsert):
    data = linked_data(seed)
    found = Problem(Scorer(data, score)).solve(HillClimb(reinsert=reinsert))
    slow = Scorer(data, Slow(make_score(score)))
    assert found.status == "local optimum"
    assert found.score == pytest.approx(slow.total(found.dag), rel=1e-12)
    assert max(map(slow.total, neighbours(found.dag))) <= found.score + 1e-8


@pytest.mark.parametrize("seed", range(4))
def test_every_step_is_the_best_move_of_all(seed):
    data = linked_data(seed)
    scorer = Scorer(data, "fnml")  # not score equivalent: no ties
    found = Problem(scorer).solve(HillClimb(reinsert=False))
    dag = Dag.empty(sorted(data.names))
    for step in found.trace:
        better = max(neighbours(dag), key=scorer.total)
        assert step.score == pytest.approx(scorer.total(better), rel=1e-12)
        assert step.gain == pytest.approx(scorer.total(better) - scorer.total(dag), abs=1e-8)
        verb, parent, _, child = step.move.split()
        dag = {"add": dag.add, "remove": dag.remove, "reverse": dag.reverse}[verb](parent, child)
        assert dag == better
    assert dag == found.dag


@pytest.mark.parametrize("seed", range(4))
def test_reinsertion_never_ends_lower(seed):
    data = linked_data(seed, n=8)
    plain, more = (Problem(Scorer(data, "bic")).solve(HillClimb(reinsert=r)) for r in (False, True))
    assert more.score >= plain.score


@pytest.mark.parametrize("n_variables", [200, 201])
def test_of_many_variables_the_busiest_is_reinserted_first(n_variables):
    data = linked_data(1, n_variables, n_rows=200)
    trace = [step.move for step in learn(data, "bic", search="hill_climb").trace]
    first = next(i for i, move in enumerate(trace) if move.startswith("cut"))
    n_arcs = dict.fromkeys((v.name for v in data.variables), 0)
    for move in trace[:first]:  # an arc that is reversed keeps its ends
        verb, parent, _, child = move.split()
        for end in (parent, child):
            n_arcs[end] += {"add": 1, "remove": -1, "reverse": 0}[verb]
    connected = [name for name in sorted(n_arcs) if n_arcs[name]]
    busiest = max(connected, key=n_arcs.__getitem__)
    assert busiest != connected[0]
    assert trace[first] == f"cut {busiest if n_variables > 200 else connected[0]} loose"


def test_a_score_without_native_twin_takes_the_same_road():
    data = linked_data(1)
    native = Problem(Scorer(data, "bic")).solve(HillClimb())
    slow = Problem(Scorer(data, Slow(make_score("bic")))).solve(HillClimb())
    assert slow.dag == native.dag
    assert [s.move for s in slow.trace] == [s.move for s in native.trace]


@pytest.mark.parametrize("seed", range(3))
def test_same_network_for_any_order_of_columns_rows_and_threads(seed):
    data = linked_data(seed, n=7)
    rng = np.random.default_rng(seed)
    for threads in (1, 2):
        columns = rng.permutation(data.names).tolist()
        other = data.select(columns=columns, rows=rng.permutation(data.n_rows))
        one, two = (
            Problem(Scorer(d, "bdeu", threads=threads)).solve(HillClimb(restarts=2))
            for d in (data, other)
        )
        assert one.dag == two.dag
        assert one.score == two.score
        assert one.trace == two.trace


STATEMENTS = [
    ["v0 ~> v3"],
    ["v0 !~> v3"],
    ["v0 -- v3"],
    ["v3 -- v0", "v0 -- v1", "v1 -- v3"],
    ["tiers: v0 v1 | v2 v3 | v4 v5", "within_tiers: no"],
    ["tiers: v5 v4 v3 | v2 v1 v0"],
    ["total_order: v5, v3, v1, v0, v2, v4"],
    ["max_parents v0, v1: 0", "max_parents v2: 1"],
    ["v0 ~> v3", "v0 !> v3", "v3 ~> v5", "v1 !~> v5"],
    ["v4 -> v2", "v2 -> v0", "v5 !- v1"],
    ["v4 < v2", "roots: v5", "leaves: v1"],
]


@pytest.mark.parametrize("lines", STATEMENTS, ids="; ".join)
@pytest.mark.parametrize("start_from", ["empty", "random", "tree"])
@pytest.mark.parametrize("seed", range(2))
def test_knowledge_holds_and_no_allowed_move_improves(lines, start_from, seed):
    knowledge = Knowledge.parse(lines)
    scorer = Scorer(linked_data(seed), "aic")
    found = Problem(scorer, knowledge=knowledge).solve(HillClimb(start_from=start_from))
    assert knowledge.allows(found.dag)
    assert max(map(scorer.total, neighbours(found.dag, knowledge))) <= found.score + 1e-8


def test_a_limit_on_parents():
    scorer = Scorer(linked_data(2), "ll")
    found = Problem(scorer, max_parents=2).solve(HillClimb())
    assert max(len(found.dag.parents(v)) for v in found.dag.nodes) == 2
    best = max(map(scorer.total, neighbours(found.dag, max_parents=2)))
    assert best <= found.score + 1e-8


def test_statements_that_no_structure_obeys_are_refused():
    # One node of a triangle without cycle has two parents in it.
    lines = ["v0 -- v1", "v1 -- v2", "v0 -- v2", "max_parents v0, v1, v2: 1"]
    problem = Problem(Scorer(linked_data(0), "bic"), knowledge=Knowledge.parse(lines))
    with pytest.raises(GraphError, match="hill_climb: no structure obeys"):
        problem.solve(HillClimb())


def test_more_required_parents_than_allowed_are_refused():
    knowledge = Knowledge.parse(["v0 -> v2", "v1 -> v2"])
    problem = Problem(Scorer(linked_data(0), "bic"), knowledge=knowledge, max_parents=1)
    with pytest.raises(GraphError, match=r"hill_climb: 'v2' has 2 required parents, and at most 1"):
        problem.solve(HillClimb())


def test_a_given_start_is_where_it_begins():
    scorer = Scorer(linked_data(0), "bic")
    start = Problem(scorer).solve(HillClimb()).dag
    found = (
        Problem(scorer).starting_from(start).solve(HillClimb(start_from="random", reinsert=False))
    )
    assert found.dag == start
    assert found.trace == ()


def test_the_tree_start_is_a_tree_of_highest_score():
    # Score equivalent: the best tree is the maximum spanning tree of pair gains, in any direction.
    data = linked_data(3)
    scorer = Scorer(data, "bic")
    first = Problem(scorer).solve(HillClimb(start_from="tree", max_steps=0))
    assert first.status == "step limit"
    assert all(len(first.dag.parents(v)) <= 1 for v in first.dag.nodes)
    names = sorted(data.names)
    gain = {(a, b): scorer.family(b, [a]) - scorer.family(b) for a in names for b in names if a < b}
    part = {v: v for v in names}
    total = scorer.total(Dag.empty(names))
    for a, b in sorted(gain, key=gain.get, reverse=True):
        if gain[a, b] > 0 and part[a] != part[b]:
            total += gain[a, b]
            old = part[a]
            part = {v: part[b] if p == old else p for v, p in part.items()}
    assert first.score == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("perturb", [0, 4])
def test_restarts_depend_on_the_seed_alone_and_never_lose(perturb):
    scorer = Scorer(linked_data(4, n=8), "bic")
    once = Problem(scorer).solve(HillClimb(reinsert=False))
    search = HillClimb(reinsert=False, restarts=5, perturb=perturb)
    runs = [Problem(scorer, seed=seed).solve(search) for seed in (1, 1, 2)]
    assert runs[0].trace == runs[1].trace
    assert runs[0].trace != runs[2].trace
    assert min(run.score for run in runs) >= once.score
    assert sum(step.move.startswith("restart") for step in runs[0].trace) == 5


def test_scores_in_the_trace_add_up():
    found = Problem(Scorer(linked_data(5), "bdeu")).solve(HillClimb(restarts=2))
    for before, step in zip(found.trace, found.trace[1:], strict=False):
        assert step.score == pytest.approx(before.score + step.gain, abs=1e-8)
    assert max(step.score for step in found.trace) == found.score


def test_step_limit():
    found = Problem(Scorer(linked_data(0), "bic")).solve(HillClimb(max_steps=2))
    assert found.status == "step limit"
    assert len(found.trace) == 2


def test_a_screen_is_used_and_said():
    scorer = Scorer(linked_data(0, n=8), "aic")
    found = Problem(scorer).solve(HillClimb(candidates=2))
    assert found.notes == ("parents were chosen among the 2 best single ones",)
    names = list(found.dag.nodes)
    for child in names:
        ranked = sorted((n for n in names if n != child), key=lambda p: -scorer.family(child, [p]))
        assert set(found.dag.parents(child)) <= set(ranked[:2])


def test_a_screen_keeps_what_is_required():
    scorer = Scorer(linked_data(0, n=8), "aic")
    for parent in ("v1", "v2", "v3", "v4"):
        knowledge = Knowledge.parse([f"{parent} -> v0"])
        found = Problem(scorer, knowledge=knowledge).solve(HillClimb(candidates=1))
        assert found.dag.has_arc(parent, "v0")


def test_a_family_that_the_prior_forbids_is_left():
    class NoParents:
        is_score_equivalent = False

        def family(self, child, parents):
            return -math.inf if child == "v0" and parents else 0.0

    scorer = Scorer(linked_data(0), "aic", NoParents())
    start = Dag(sorted(scorer.dataset.names), [("v1", "v0")])
    found = Problem(scorer).starting_from(start).solve(HillClimb())
    assert found.dag.parents("v0") == ()
    assert math.isfinite(found.score)


def test_a_score_that_is_no_number_is_refused():
    class Broken(Slow):
        def family(self, counts):
            return math.nan if counts.parents else -1.0

    problem = Problem(Scorer(linked_data(0), Broken(make_score("bic"))))
    with pytest.raises(InvalidParameterError, match="must give a number below infinity, got nan"):
        problem.solve(HillClimb())


@pytest.mark.parametrize("name", ["hill_climb", "tabu", "annealing", "k2"])
def test_ctrl_c_gives_the_best_so_far(name):
    class Interrupting(Slow):
        n_calls = 0

        def family(self, counts):
            self.n_calls += 1
            if self.n_calls == 40:  # the rows of the first structure take 36
                signal.raise_signal(signal.SIGINT)
            return super().family(counts)

    data = linked_data(0)
    with pytest.warns(InterruptedWarning):
        result = learn(data, Interrupting(make_score("bic")), search=name)
    assert result.status == "interrupted"
    assert result.score == pytest.approx(Scorer(data, "bic").total(result.dag), rel=1e-12)


def test_progress_is_told():
    told = []

    def look(now):
        told.append(now)
        if len(told) > 2 and "steps" in now.detail:
            raise KeyboardInterrupt

    scorer = Scorer(linked_data(0, n=8), "bic")
    with watching(look):
        found = Problem(scorer).solve(HillClimb(restarts=10**6))
    assert found.status == "interrupted"
    assert all(now.phase == "search hill_climb" for now in told)
    assert [now.score for now in told] == sorted(now.score for now in told)


def test_result_pickles():
    found = Problem(Scorer(linked_data(0), "bic")).solve(HillClimb())
    assert pickle.loads(pickle.dumps(found)) == found


@pytest.mark.parametrize(
    "settings",
    [
        {"start_from": "full"},
        {"restarts": -1},
        {"perturb": 1.5},
        {"candidates": 0},
        {"max_steps": -1},
    ],
)
def test_bad_settings_are_refused(settings):
    with pytest.raises(InvalidParameterError, match=f"hill_climb: {next(iter(settings))} must be"):
        HillClimb(**settings)


def test_a_file_of_scores_is_refused():
    from bestdag.scores.table import ScoreTable

    table = ScoreTable.from_lists(["a"], {"a": [(-1.0, [])]})
    with pytest.raises(InvalidParameterError, match="hill_climb: needs data"):
        Problem(table).solve(HillClimb())


def test_plot_of_the_trace():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    result = learn(example("asia.csv"), "bic", search="hill_climb")
    axes = result.plot_trace()
    assert axes.lines[0].get_ydata().tolist() == [step.score for step in result.trace]


def test_perturbing_without_restarts_is_refused():
    with pytest.raises(InvalidParameterError, match="perturb is for restarts, got perturb=5"):
        HillClimb(perturb=5)
