"""Search over orders: optima of small tables, large sets, statements, limits, interruption."""

import itertools
import math
import tomllib

import numpy as np
import pytest

from bestdag import _core
from bestdag.counts.family import FamilyCounts
from bestdag.errors import GraphError, InvalidParameterError
from bestdag.graph.dag import Dag
from bestdag.graph.enumeration import all_dags
from bestdag.graph.knowledge import Knowledge
from bestdag.scores.bic import BIC
from bestdag.scores.prior import ArcDifferencePrior
from bestdag.scores.scorer import Scorer
from bestdag.scores.table import ScoreTable
from bestdag.search.ges import GES
from bestdag.search.hill_climb import HillClimb
from bestdag.search.order.families import Candidates, Limits, narrowed, precedences
from bestdag.search.order.improve import Improver
from bestdag.search.order.listed import Orders
from bestdag.search.order.search import OrderSearch
from bestdag.search.problem import Problem
from bestdag.search.steps import Found
from tests.conftest import make_dataset
from tests.search.exact.tables import best_by_choices, random_table
from tests.shared_data import shared_file


def chain_data(n, rows, seed):
    """Each variable follows one or two of those before it; names in another order."""
    rng = np.random.default_rng(seed)
    columns = []
    for i in range(n):
        column = rng.integers(0, 2, rows)
        for j in rng.choice(i, min(i, 2), replace=False):
            column = np.where(rng.random(rows) < 0.6, columns[j], column)
        columns.append(column)
    names = [f"v{k:02d}" for k in rng.permutation(n)]
    return make_dataset({name: c.tolist() for name, c in zip(names, columns, strict=True)})


@pytest.mark.parametrize("seed", range(20))
def test_best_choice_of_small_tables(seed):
    table = random_table(2 + seed % 4, 6, seed, empty=seed % 2 == 0)
    problem = Problem(table)
    try:
        best = best_by_choices(table)
    except ValueError:
        best = -math.inf
    if best == -math.inf:
        with pytest.raises(GraphError, match="no structure among the sets"):
            problem.solve(OrderSearch())
        return
    found = problem.solve(OrderSearch())
    assert found.score == pytest.approx(best, rel=1e-12)
    assert table.total(found.dag) == pytest.approx(found.score, rel=1e-12)
    assert (found.status, found.search, found.bound) == ("local optimum", "order", None)


@pytest.mark.parametrize("name", ["alarm1000.BDeu.k3", "insurance1000.BDeu.k3", "autos.BIC.k7"])
def test_proved_optima_are_reached(name):
    listed = tomllib.loads(shared_file("scores/index.toml").read_text())["instance"]
    (entry,) = [entry for entry in listed if entry["name"] == name]
    table = ScoreTable.load(shared_file(f"scores/{entry['file']}"))
    found = Problem(table).solve(OrderSearch())
    assert found.score == pytest.approx(float(entry["optimum"]), abs=1e-5)


def test_same_for_any_number_of_threads_and_order_of_columns():
    data = chain_data(14, 300, 3)
    other = data.select(columns=sorted(data.names), rows=np.arange(data.n_rows)[::-1])
    found = [
        Problem(Scorer(d, "bdeu", threads=t), workers=t, seed=7).solve(OrderSearch())
        for d in (data, other)
        for t in (1, 3)
    ]
    assert len({(result.dag, result.score) for result in found}) == 1


def test_chains_are_a_setting_and_threads_only_work_them_off():
    data = chain_data(16, 9_000, 3)  # rows enough for several threads to share a family
    for chains in (1, 5):
        found = [
            Problem(Scorer(data, "bdeu", threads=t), workers=t, seed=7).solve(
                OrderSearch(chains=chains, rounds=4)
            )
            for t in (1, 4)
        ]
        assert found[0].dag == found[1].dag
        assert found[0].score == found[1].score
        assert found[0].trace == found[1].trace


@pytest.mark.parametrize("max_sets", [1, 2_000, 10_000_000])
def test_no_worse_than_hill_climbing_however_few_sets_are_listed(max_sets):
    scorer = Scorer(chain_data(15, 400, 0), "bic")
    climbed = Problem(scorer).solve(HillClimb(reinsert=False))
    found = Problem(scorer).solve(OrderSearch(max_sets=max_sets))
    assert found.score >= climbed.score - 1e-9
    assert found.score == pytest.approx(scorer.total(found.dag), rel=1e-12)


def test_parents_beyond_the_listed_three_are_found():
    # y is 1 where most of five fair coins are: each coin tells, all five tell most.
    rng = np.random.default_rng(0)
    coins = rng.integers(0, 2, (5, 4000))
    columns = {f"c{i}": coin.tolist() for i, coin in enumerate(coins)}
    columns["y"] = (coins.sum(axis=0) > 2).astype(int).tolist()
    scorer = Scorer(make_dataset(columns), "bic")
    knowledge = Knowledge.parse(["leaves: y"])
    found = Problem(scorer, knowledge=knowledge).solve(OrderSearch())
    assert found.dag.parents("y") == ("c0", "c1", "c2", "c3", "c4")
    limited = Problem(scorer, knowledge=knowledge, max_parents=4).solve(OrderSearch())
    assert len(limited.dag.parents("y")) == 4


def test_screening_keeps_the_parents_that_gain_most():
    rng = np.random.default_rng(1)
    columns = {f"x{i:02d}": rng.integers(0, 2, 500).tolist() for i in range(30)}
    noisy = np.where(rng.random(500) < 0.9, columns["x07"], columns["x21"])
    columns["y"] = noisy.tolist()
    scorer = Scorer(make_dataset(columns), "bic")
    n = 31
    limits = Limits(~np.eye(n, dtype=bool), np.zeros((n, n), bool), np.full(n, 30, np.int32))
    # Sets of at most three of m parents: 8 for m = 3, and 15 for m = 4 are too many.
    candidates = Candidates(scorer, limits, 14 * n)
    sets = {}
    while not candidates.is_done:
        sets |= candidates.list_next(math.inf)
    assert sorted(sets) == list(range(n))
    assert 7 in sets[30].members  # x07, of y
    assert max(len(np.unique(found.members)) for found in sets.values()) <= 3


PATHS = ["a ~> d", "a !~> d", "a -- d", "d ~> a", "b !~> c"]


@pytest.mark.parametrize("statements", list(itertools.combinations(PATHS, 2)))
def test_statements_about_paths_and_edges_are_honoured(statements):
    try:
        knowledge = Knowledge.parse(statements)
        knowledge.for_nodes(["a", "b", "c", "d"])
    except GraphError:
        return  # they contradict each other
    for seed in range(3):
        data = chain_data(4, 60, seed)
        named = dict(zip(sorted(data.names), "abcd", strict=True))
        data = make_dataset({named[v]: data.codes(v).tolist() for v in data.names})
        scorer = Scorer(data, "bdeu")
        found = Problem(scorer, knowledge=knowledge).solve(OrderSearch())
        assert knowledge.allows(found.dag)
        assert found.score == pytest.approx(scorer.total(found.dag), rel=1e-12)


def test_statements_that_no_order_can_keep():
    # Neither is an ancestor of the other, though the data join them.
    codes = [0, 1] * 50
    scorer = Scorer(make_dataset({"a": codes, "b": codes, "c": codes}), "bic")
    knowledge = Knowledge.parse(["a !~> b", "b !~> a"])
    found = Problem(scorer, knowledge=knowledge).solve(OrderSearch())
    assert knowledge.allows(found.dag)
    # Two arcs are all that a, b and c can have then, and c explains or is explained twice.
    assert len(found.dag.arcs) == 2


@pytest.mark.parametrize("statements", [["a ~> d", "b -- c"], ["a !~> d", "d !~> a"], ["d -- a"]])
def test_everything_within_narrowed_limits_obeys(statements):
    names = tuple("abcd")
    knowledge = Knowledge.parse(statements)
    nodes = knowledge.for_nodes(names)
    limits = Limits(nodes.allowed, nodes.required, nodes.max_parents)
    n_inside = 0
    examples = [dag for dag in all_dags(names) if knowledge.allows(dag)]
    for example in examples[::17]:
        allowed, required, _ = narrowed(limits, nodes, example)
        for dag in all_dags(names):
            arcs = np.zeros((4, 4), bool)
            for p, c in dag.arcs:
                arcs[names.index(p), names.index(c)] = True
            if (arcs <= allowed).all() and (required <= arcs).all():
                n_inside += 1
                assert knowledge.allows(dag), (example, dag)
    assert n_inside >= len(examples[::17])


def test_precedences_close_no_cycle():
    nodes = Knowledge.parse(["a !~> b", "b !~> a", "a ~> c"]).for_nodes(["a", "b", "c", "d"])
    # a before c, then b before a; a before b would close a cycle.
    assert precedences(nodes) == ((0, 2), (1, 0))


def test_an_order_keeps_given_pairs():
    table = ScoreTable.from_lists(
        ["a", "b"], {"a": [(-1.0, []), (-0.5, ["b"])], "b": [(-1.0, []), (-0.1, ["a"])]}
    )
    free = Orders(table, (), 0, 1, 1)
    free.descend_from([0, 1], math.inf)
    bound = Orders(table, [(1, 0)], 0, 1, 1)  # b before a
    bound.descend_from([0, 1], math.inf)
    assert (free.parents(), bound.parents()) == ([(), (0,)], [(1,), ()])
    assert bound.score == -1.5


def test_a_score_in_python_and_a_prior_that_forbids_an_arc():
    class Mine:
        name = "mine"
        is_score_equivalent = True

        def family(self, counts: FamilyCounts) -> float:
            return BIC().family(counts)

        def kernel(self):
            return None

    class NoArc:
        is_score_equivalent = False

        def family(self, child, parents):
            return -math.inf if child == "v01" and "v00" in parents else 0.0

    data = chain_data(6, 200, 1)
    ours, native = Scorer(data, Mine()), Scorer(data, "bic")
    found = Problem(ours).solve(OrderSearch())
    assert found.score == pytest.approx(Problem(native).solve(OrderSearch()).score, rel=1e-9)
    without = Problem(Scorer(data, "bic", NoArc())).solve(OrderSearch())
    assert not without.dag.has_arc("v00", "v01")


def test_trace_ends_with_the_result():
    scorer = Scorer(chain_data(12, 300, 5), "bdeu")
    found = Problem(scorer).solve(OrderSearch())
    scores = [step.score for step in found.trace]
    assert scores == sorted(scores)
    assert scores[-1] == pytest.approx(found.score, rel=1e-12)


def test_never_below_the_start():
    scorer = Scorer(chain_data(8, 100, 2), "bic")
    best = Problem(scorer).solve(OrderSearch())
    again = Problem(scorer).starting_from(best.dag).solve(OrderSearch(max_sets=1))
    assert again.score >= best.score - 1e-9


def test_no_time_gives_a_structure_that_obeys():
    scorer = Scorer(chain_data(8, 100, 2), "bic")
    knowledge = Knowledge.parse(["v01 -> v02", "v03 ~> v00"])
    found = Problem(scorer, knowledge=knowledge, time_limit=1e-6).solve(OrderSearch())
    assert found.status == "time limit"
    assert knowledge.allows(found.dag)


def test_ctrl_c_gives_the_best_so_far(monkeypatch):
    class Pressed:
        def __init__(self, *_, **__):
            raise KeyboardInterrupt

    scorer = Scorer(chain_data(12, 300, 4), "bic")
    climbed = Problem(scorer).solve(HillClimb(reinsert=False))
    monkeypatch.setattr(_core, "OrderCrew", Pressed)  # when orders begin
    found = Problem(scorer).solve(OrderSearch())
    assert found.status == "interrupted"
    assert found.score >= climbed.score - 1e-9


def test_rounds_are_limited_in_all():
    problem = Problem(Scorer(chain_data(12, 300, 4), "bic"))
    found = problem.solve(OrderSearch(rounds=3))
    improver = Improver(problem, Dag(problem.names))
    for _ in range(3):
        list(improver.round())
    assert found.status == "step limit"
    assert (found.dag, found.score) == improver.best


def test_rounds_never_lose_and_do_the_same_for_any_number_of_threads():
    data = chain_data(20, 500, 8)
    scores = []
    for threads in (1, 3):
        problem = Problem(Scorer(data, "bdeu", threads=threads), workers=threads, seed=3)
        improver = Improver(problem, Dag(problem.names))
        scores.append([])
        for _ in range(12):
            before = improver.best.score
            found = [event for event in improver.round() if isinstance(event, Found)]
            assert improver.best.score >= before
            assert max([before, *(one.score for one in found)]) == improver.best.score
            scores[-1].append(improver.best.score)
        assert improver.best.score == problem.scorer("test").total(improver.best.dag)
    assert scores[0] == scores[1]


def test_with_many_variables_ges_has_turns_until_it_ends():
    # Too many for one round of tabu search. The second round and every third one after
    # it take 200 steps.
    problem = Problem(Scorer(chain_data(210, 400, 2), "bic"))
    improver = Improver(problem, Dag(problem.names))
    ges = problem.solve(GES())
    for _ in range(2 + 3 * (len(ges.trace) // 200)):
        list(improver.round())
    assert improver.best.score >= ges.score - 1e-6


@pytest.mark.parametrize("score", ["bic", "bdeu", "qnml"])
@pytest.mark.parametrize("seed", range(3))
def test_best_of_all_structures_of_four_variables(score, seed):
    scorer = Scorer(chain_data(4, 80, seed), score)
    best = max(map(scorer.total, all_dags(sorted(scorer.dataset.names))))
    assert Problem(scorer).solve(OrderSearch()).score == pytest.approx(best, rel=1e-12)


def test_parents_that_help_only_together_are_found():
    # y is the exclusive or of two coins among ten: neither coin tells anything alone.
    rng = np.random.default_rng(5)
    coins = rng.integers(0, 2, (10, 1000))
    columns = {f"c{i}": coin.tolist() for i, coin in enumerate(coins)}
    flipped = rng.random(1000) < 0.1
    columns["y"] = (coins[3] ^ coins[7] ^ flipped).tolist()
    scorer = Scorer(make_dataset(columns), "bic")
    knowledge = Knowledge.parse(["leaves: y"])
    assert Problem(scorer, knowledge=knowledge).solve(HillClimb()).dag.parents("y") == ()
    found = Problem(scorer, knowledge=knowledge).solve(OrderSearch())
    assert found.dag.parents("y") == ("c3", "c7")


def test_a_local_optimum_is_one():
    scorer = Scorer(chain_data(14, 200, 9), "bdeu")
    found = Problem(scorer).solve(OrderSearch(patience=2))
    assert found.status == "local optimum"
    again = Problem(scorer).starting_from(found.dag).solve(HillClimb(reinsert=False))
    assert again.dag == found.dag


def test_priors_by_arcs_are_added_as_the_scorer_adds_them():
    data = chain_data(8, 150, 6)
    far = Dag(data.names, [("v00", "v01"), ("v02", "v03")])
    scorer = Scorer(data, "bic", ArcDifferencePrior(far, kappa=0.02))
    found = Problem(scorer).solve(OrderSearch(rounds=6))

    class SamePrior:
        """Not known to be a sum over arcs."""

        is_score_equivalent = False

        def family(self, child, parents):
            return scorer.structure_prior.family(child, parents)

    slow = Problem(Scorer(data, "bic", SamePrior())).solve(OrderSearch(rounds=6))
    assert found.score == pytest.approx(scorer.total(found.dag), rel=1e-12)
    assert slow.score == pytest.approx(found.score, rel=1e-9)


@pytest.mark.parametrize("setting", ["max_sets", "patience", "rounds"])
def test_refuses_settings_below_one(setting):
    with pytest.raises(InvalidParameterError, match=rf"order: {setting} must be .* >= 1, got 0"):
        OrderSearch(**{setting: 0})


def test_one_variable():
    found = Problem(Scorer(make_dataset({"a": [0, 1, 1]}), "bic")).solve(OrderSearch())
    assert found.dag == Dag(["a"])
