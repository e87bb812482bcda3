"""What every search promises, checked for each entry of the list."""

import itertools
from dataclasses import dataclass, fields, replace
from typing import ClassVar

import numpy as np
import pytest

from bestdag.errors import GraphError, InvalidParameterError
from bestdag.graph.dag import Dag
from bestdag.graph.enumeration import all_dags
from bestdag.graph.knowledge import Knowledge
from bestdag.scores import SCORES, make_score
from bestdag.scores.parent_sets.build import build_score_table
from bestdag.scores.scorer import Scorer
from bestdag.search import SEARCHES, make_search
from bestdag.search.annealing import Annealing
from bestdag.search.ges import GES
from bestdag.search.hill_climb import HillClimb
from bestdag.search.k2 import K2Search
from bestdag.search.problem import Problem
from bestdag.search.steps import Found
from bestdag.search.tabu import Tabu
from bestdag.search.trees import ChowLiu
from tests.conftest import make_dataset
from tests.contracts.local_optima import better_structures
from tests.search.neighbours import linked_data, neighbours

every_search = pytest.mark.parametrize("search", SEARCHES)
every_score = pytest.mark.parametrize("score", SCORES)

# Scores that a search refuses with an error, because its theory needs more.
REFUSED_SCORES = {
    "ges": {name for name in SCORES if not make_score(name).is_score_equivalent},
}

# What a search cannot do without, for data whose variables are a, b, ...
SETTINGS = {"tan": {"target": "a"}, "naive_bayes": {"target": "a"}}

# Searches among some structures only: which these are. They may refuse what none of them satisfies.
AMONG = {
    "tree": lambda dag: all(len(dag.parents(v)) <= 1 for v in dag.nodes),
    "tan": lambda dag: all("a" in dag.parents(v) and len(dag.parents(v)) <= 2 for v in "bcd"),
    "naive_bayes": lambda dag: set(dag.arcs) == {("a", v) for v in "bcd"},
}

# Searches that end with a proof on a handful of variables; the others end with a local optimum.
PROVING = ("auto", "exact")

# Searches whose answer is the best of its kind wherever they begin.

DAGS = {n: list(all_dags(list("abcd"[:n]))) for n in (1, 2, 3, 4)}


def search_of(name):
    return make_search(name, **SETTINGS.get(name, {}))


def random_data(seed, n):
    rng = np.random.default_rng(seed)
    columns = {}
    for i, name in enumerate("dcba"[-n:]):  # columns in another order than names
        noise = rng.integers(0, 2 + i % 3, 40)
        before = list(columns.values())
        columns[name] = ((noise + (before[-1] if before and seed % 2 else 0)) % 3).tolist()
        columns[name] = np.array(columns[name])
    return make_dataset({name: codes.tolist() for name, codes in columns.items()})


def best_by_enumeration(scorer, dags):
    n = len(dags[0].nodes)
    families = {
        (c, frozenset(p))
        for c in dags[0].nodes
        for k in range(n)
        for p in itertools.combinations([x for x in dags[0].nodes if x != c], k)
    }
    listed = list(families)
    local = dict(zip(listed, scorer.families(listed).tolist(), strict=True))
    return max(sum(local[c, frozenset(d.parents(c))] for c in d.nodes) for d in dags)


def refuses(search, score):
    return score in REFUSED_SCORES.get(search, ())


@pytest.mark.parametrize("search", PROVING)
@every_score
def test_proves_the_best_of_all_dags(search, score):
    for n, seed in itertools.product((1, 2, 3, 4), (0, 1)):
        scorer = Scorer(random_data(seed, n), score)
        found = Problem(scorer).solve(search_of(search))
        best = best_by_enumeration(scorer, DAGS[n])
        assert found.status == "optimum proved"
        assert found.score == pytest.approx(best, rel=1e-9, abs=1e-9)
        assert 0 <= found.gap <= 1e-6
        assert found.verify()


@every_search
@every_score
def test_says_the_score_of_its_structure_and_no_proof_that_it_does_not_have(search, score):
    for n in (1, 4):
        scorer = Scorer(random_data(1, n), score)
        if refuses(search, score):
            with pytest.raises(InvalidParameterError, match=f"^{search}: needs"):
                Problem(scorer).solve(search_of(search))
            continue
        found = Problem(scorer).solve(search_of(search))
        assert found.score == pytest.approx(scorer.total(found.dag), rel=1e-9, abs=1e-9)
        assert found.search == ("exact" if search == "auto" else search)  # auto says what it chose
        best = best_by_enumeration(scorer, DAGS[n])
        assert found.score <= best + 1e-9 * max(1, abs(best))
        assert found.status == ("optimum proved" if search in PROVING else "local optimum")


STATEMENTS = [
    "d -> a",
    "a !> b",
    "a !- b",
    "tiers: d c | b a",
    "a < d",
    "roots: a",
    "leaves: a, b",
    "max_parents: 1",
    Knowledge(max_parents_of={"a": 0, "c": 1}),
    Knowledge(tiers=[["c", "d"], ["a", "b"]], within_tiers=False),
    Knowledge(total_order=["d", "b", "a", "c"]),
    "a ~> d",
    "a !~> d",
    "a -- d",
]


@every_search
@pytest.mark.parametrize("statement", STATEMENTS, ids=str)
def test_knowledge_is_honoured(search, statement):
    knowledge = Knowledge.parse([statement]) if isinstance(statement, str) else statement
    allowed = [dag for dag in DAGS[4] if knowledge.allows(dag)]
    assert len(allowed) < len(DAGS[4])
    for seed in range(3):
        scorer = Scorer(random_data(seed, 4), "bdeu")
        if search in AMONG and not any(map(AMONG[search], allowed)):
            with pytest.raises(GraphError):
                Problem(scorer, knowledge=knowledge).solve(search_of(search))
            continue
        found = Problem(scorer, knowledge=knowledge).solve(search_of(search))
        assert knowledge.allows(found.dag)
        if search in PROVING:
            assert found.is_proved
            assert found.score == pytest.approx(best_by_enumeration(scorer, allowed), rel=1e-9)


# What a search may have to obey, for data with the variables a, b, c, d.
DEMANDS = {
    "nothing": {},
    "two parents at most": {"max_parents": 2},
    "one parent at most": {"max_parents": 1},
    "arcs and tiers": {"knowledge": Knowledge.parse(["a -> c", "b !> d", "tiers: a b | c d"])},
    "paths": {"knowledge": Knowledge.parse(["a ~> d", "c !~> b"])},
    "an edge and leaves": {"knowledge": Knowledge.parse(["a -- b", "leaves: d"])},
    "an order": {"knowledge": Knowledge(total_order=["a", "d", "b", "c"])},
}
# Searches with settings under which they go other ways.
VARIANTS = [
    *map(search_of, SEARCHES),
    HillClimb(reinsert=False),
    HillClimb(start_from="random", restarts=2, perturb=3),
    Tabu(patience=5, length=3, start_from="random"),
    Annealing(levels=5),
    K2Search(orders=3),
    GES(turning=True),
    ChowLiu(forest=True),
]
every_demand = pytest.mark.parametrize("demand", DEMANDS)


def data_of_four(seed):
    """Columns a, b, c, d that depend on each other."""
    data = linked_data(seed, n=4, n_rows=50 + 40 * seed)
    return make_dataset(
        {n: data.codes(v).tolist() for n, v in zip("dbca", data.names, strict=True)}
    )


def require_local_optimum(search, demand, score, seed):
    """Require that nothing near the result scores more; what no structure satisfies is refused."""
    problem = Problem(Scorer(data_of_four(seed), score), **DEMANDS[demand])
    try:
        found = problem.solve(search)
    except GraphError:
        assert search.name in AMONG
        return
    assert found.status in ("local optimum", "optimum proved")
    assert problem.knowledge.allows(found.dag)
    assert better_structures(search, found.dag, problem) == []


@every_demand
@pytest.mark.parametrize("search", VARIANTS, ids=str)
def test_nothing_near_a_local_optimum_scores_more(search, demand):
    for score, seed in itertools.product(["bdeu", "bic", "aic", "qnml", "fnml"], range(2)):
        if not refuses(search.name, score):
            require_local_optimum(search, demand, score, seed)


def total_of_listed(table, dag):
    """Score a structure by the sets of a file; minus infinity where one is not listed."""
    total = 0.0
    for number, name in enumerate(table.names):
        group = {table.names.index(parent) for parent in dag.parents(name)}
        listed = [score for score, parents in table.child(number) if set(parents) == group]
        total += listed[0] if listed else -np.inf
    return total


# A file leaves out sets that a subset beats, so required arcs are refused there.
DEMANDS_ON_FILES = {
    **{name: demand for name, demand in DEMANDS.items() if name != "arcs and tiers"},
    "tiers": {"knowledge": Knowledge.parse(["b !> d", "tiers: a b | c d"])},
}
# Where statements are about more than one family, this search may find nothing that obeys them.
MAY_FIND_NOTHING = {("order", "paths"), ("order", "an edge and leaves")}


@pytest.mark.parametrize("demand", DEMANDS_ON_FILES)
@pytest.mark.parametrize("search", ["auto", "exact", "order"])
def test_nothing_near_a_local_optimum_among_the_sets_of_a_file_scores_more(search, demand):
    n_found = 0
    for score, seed in itertools.product(["bdeu", "aic", "fnml"], range(5)):
        table = build_score_table(Scorer(data_of_four(seed), score), **DEMANDS_ON_FILES[demand])
        problem = Problem(table, **DEMANDS_ON_FILES[demand])
        if (search, demand) in MAY_FIND_NOTHING:
            try:
                found = problem.solve(search_of(search))
            except GraphError:
                continue
        else:
            found = problem.solve(search_of(search))
        assert found.score == pytest.approx(total_of_listed(table, found.dag), rel=1e-9)
        near = neighbours(found.dag, problem.knowledge, problem.max_parents)
        best = max(total_of_listed(table, other) for other in near)
        assert best <= found.score + 1e-9 * abs(found.score)
        n_found += 1
    assert n_found > 10


@dataclass(frozen=True)
class RandomWalk:
    """No search at all: random moves from the start, and the claim of a local optimum."""

    name: ClassVar[str] = "random_walk"

    seed: int = 0

    def steps(self, problem):
        rng = np.random.default_rng(self.seed)
        dag = problem.feasible_dag(self.name)
        for _ in range(20):
            near = neighbours(dag, problem.knowledge, problem.max_parents)
            dag = near[rng.integers(len(near))]
        yield Found(dag, problem.scores.total(dag))


def is_local_optimum(*arguments):
    try:
        require_local_optimum(*arguments)
    except AssertionError:
        return False
    return True


@every_demand
def test_a_random_walk_is_found_out(demand):
    claims = [is_local_optimum(RandomWalk(seed), demand, "bdeu", seed % 3) for seed in range(10)]
    assert sum(claims) <= 2  # there are few structures of four variables


# Of the one naive Bayes network there is none better.
@pytest.mark.parametrize("search", [s for s in VARIANTS if s.name != "naive_bayes"], ids=str)
def test_the_worst_structure_has_a_better_one_near_it(search):
    problem = Problem(Scorer(data_of_four(2), "bic"))
    has_form = AMONG.get(search.name, lambda dag: True)
    most = max(len(dag.arcs) for dag in DAGS[4] if has_form(dag))
    form = [dag for dag in DAGS[4] if has_form(dag) and len(dag.arcs) == most]
    if search.name == "k2":  # it adds and never removes
        form = [Dag.empty(list("abcd"))]
    worst = min(form, key=problem.scores.total)
    assert better_structures(search, worst, problem)


# Searches that go on from a structure.
FROM_START = [
    name for name, one in SEARCHES.items() if "start_from" in {field.name for field in fields(one)}
]


def require_no_less_than_the_start(search, demand, seed, **limits):
    scorer = Scorer(data_of_four(seed), "bic")
    limit = DEMANDS[demand].get("max_parents", 3)
    knowledge = DEMANDS[demand].get("knowledge", Knowledge())
    rng = np.random.default_rng(seed)
    allowed = [
        dag
        for dag in DAGS[4]
        if knowledge.allows(dag) and max(len(dag.parents(v)) for v in "abcd") <= limit
    ]
    best = max(allowed, key=scorer.total)
    for start in [best, *(allowed[i] for i in rng.integers(len(allowed), size=4))]:
        problem = Problem(scorer, **DEMANDS[demand], **limits).starting_from(start)
        found = problem.solve(search)
        assert found.score == pytest.approx(scorer.total(found.dag), rel=1e-9)
        assert found.score >= scorer.total(start) - 1e-9
        if limits:
            assert found.status in ("time limit", "optimum proved")


@every_demand
@pytest.mark.parametrize("search", FROM_START)
def test_never_ends_below_its_start(search, demand):
    require_no_less_than_the_start(search_of(search), demand, 1)


@pytest.mark.parametrize("search", FROM_START)
def test_never_ends_below_its_start_when_the_time_is_up(search):
    require_no_less_than_the_start(search_of(search), "nothing", 2, time_limit=1e-6)


def test_a_random_walk_ends_below_its_start():
    with pytest.raises(AssertionError):
        require_no_less_than_the_start(RandomWalk(), "nothing", 1)


@every_search
def test_max_parents_is_honoured(search):
    scorer = Scorer(random_data(1, 4), "ll")
    found = Problem(scorer, max_parents=1).solve(search_of(search))
    assert max(len(found.dag.parents(v)) for v in "abcd") == 1


@every_search
def test_same_result_for_any_order_of_columns_rows_and_threads(search):
    data = random_data(1, 4)
    rng = np.random.default_rng(0)
    order = rng.permutation(data.n_rows)
    other = data.select(columns=list(reversed(data.names)), rows=order)
    results = [
        Problem(Scorer(d, "bdeu", threads=t), workers=t).solve(search_of(search))
        for d in (data, other)
        for t in (1, 3)
    ]
    assert len({result.dag for result in results}) == 1
    assert len({result.score for result in results}) == 1


@every_search
def test_a_moment_of_time_gives_an_honest_answer(search):
    scorer = Scorer(random_data(1, 4), "bdeu")
    found = Problem(scorer, time_limit=1e-6).solve(search_of(search))
    assert found.status in ("time limit", "optimum proved")
    best = best_by_enumeration(scorer, DAGS[4])
    assert found.score <= best + 1e-9
    if found.bound is not None:
        assert found.bound >= best - 1e-9


@pytest.mark.parametrize("search", FROM_START)
def test_a_start_is_a_setting(search):
    scorer = Scorer(random_data(1, 4), "bic")
    best = Problem(scorer).solve(search_of(search)).dag
    found = Problem(scorer).solve(replace(search_of(search), start_from=best))
    assert found.score >= scorer.total(best) - 1e-9
    with pytest.raises(InvalidParameterError, match=r"start_from must be .*a Dag, got 'best'"):
        replace(search_of(search), start_from="best")
