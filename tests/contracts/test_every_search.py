"""What every search promises, checked for each entry of the list."""

import itertools

import numpy as np
import pytest

from bestdag.errors import GraphError, InvalidParameterError
from bestdag.graph.enumeration import all_dags
from bestdag.graph.knowledge import Knowledge
from bestdag.scores import SCORES, make_score
from bestdag.scores.scorer import Scorer
from bestdag.search import SEARCHES, make_search
from bestdag.search.problem import Problem
from tests.conftest import make_dataset

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


@every_search
@every_score
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_proved_means_best_of_all_dags(search, score, seed, n):
    scorer = Scorer(random_data(seed, n), make_score(score))
    if score in REFUSED_SCORES.get(search, ()):
        with pytest.raises(InvalidParameterError, match=f"^{search}: needs"):
            make_search(search).run(Problem(scorer))
        return
    found = search_of(search).run(Problem(scorer))
    assert found.score == pytest.approx(scorer.total(found.dag), rel=1e-9, abs=1e-9)
    assert found.search == search or search == "auto"  # which says what it chose
    best = best_by_enumeration(scorer, DAGS[n])
    assert found.score <= best + 1e-9 * max(1, abs(best))
    if found.is_proved:
        assert found.score == pytest.approx(best, rel=1e-9, abs=1e-9)
        assert found.gap <= 1e-6


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
@pytest.mark.parametrize("seed", range(3))
def test_knowledge_is_honoured(search, statement, seed):
    knowledge = Knowledge.parse([statement]) if isinstance(statement, str) else statement
    scorer = Scorer(random_data(seed, 4), "bdeu")
    allowed = [dag for dag in DAGS[4] if knowledge.allows(dag)]
    assert len(allowed) < len(DAGS[4])
    if search in AMONG and not any(map(AMONG[search], allowed)):
        with pytest.raises(GraphError):
            search_of(search).run(Problem(scorer, knowledge=knowledge))
        return
    found = search_of(search).run(Problem(scorer, knowledge=knowledge))
    assert knowledge.allows(found.dag)
    if found.is_proved:
        assert found.score == pytest.approx(best_by_enumeration(scorer, allowed), rel=1e-9)


@every_search
def test_max_parents_is_honoured(search):
    scorer = Scorer(random_data(1, 4), "ll")
    found = search_of(search).run(Problem(scorer, max_parents=1))
    assert max(len(found.dag.parents(v)) for v in "abcd") == 1


@every_search
def test_same_result_for_any_order_of_columns_rows_and_threads(search):
    data = random_data(1, 4)
    rng = np.random.default_rng(0)
    order = rng.permutation(data.n_rows)
    other = data.select(columns=list(reversed(data.names)), rows=order)
    results = [
        search_of(search).run(Problem(Scorer(d, "bdeu", threads=t), threads=t))
        for d in (data, other)
        for t in (1, 3)
    ]
    assert len({result.dag for result in results}) == 1
    assert len({result.score for result in results}) == 1


@every_search
def test_a_moment_of_time_gives_an_honest_answer(search):
    scorer = Scorer(random_data(1, 4), "bdeu")
    found = search_of(search).run(Problem(scorer, time_limit=1e-6))
    assert found.status in ("time limit", "optimum proved")
    best = best_by_enumeration(scorer, DAGS[4])
    assert found.score <= best + 1e-9
    if found.bound is not None:
        assert found.bound >= best - 1e-9


# Searches whose answer is the best of its kind wherever they begin.
WITHOUT_START = {"exact", "tree", "tan", "naive_bayes"}


@every_search
def test_a_start_is_used_or_said_not_to_be(search):
    scorer = Scorer(random_data(1, 4), "bic")
    start = search_of(search).run(Problem(scorer)).dag
    found = Problem(scorer, start=start).solve(search_of(search))
    said = [note for note in found.notes if note.startswith("the start is not used by")]
    assert bool(said) == (search in WITHOUT_START)
    without = Problem(scorer).solve(search_of(search))
    assert not any("start" in note for note in without.notes)
