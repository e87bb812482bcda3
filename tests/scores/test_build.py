"""Score tables from data: nothing that an optimal network may need is missing."""

import math
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np
import pytest

from bestdag import memory_limit
from bestdag.errors import (
    GraphError,
    InvalidParameterError,
    NotEnoughMemoryError,
    UnknownNameError,
)
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge import Knowledge
from bestdag.scores import SCORES
from bestdag.scores.parent_sets.build import build_score_table
from bestdag.scores.parent_sets.limits import parent_sets
from bestdag.scores.prior import ArcDifferencePrior
from bestdag.scores.scorer import Scorer
from bestdag.scores.table import ScoreTable
from tests.conftest import make_dataset
from tests.scores.random_data import random_dataset
from tests.signals import ctrl_c_in_native_work

WEIGHTS = [None, "whole", "real"]


def all_scores(scorer, max_parents):
    """Every family's score by the route that knows no pruning: {child: {frozenset: score}}."""
    names = [v.name for v in scorer.variables]
    found = {}
    for child, scores in scorer.all_families(max_parents).items():
        others = [name for name in names if name != child]
        sets = map(frozenset, parent_sets(others, max_parents))
        found[child] = dict(zip(sets, scores.tolist(), strict=True))
    return found


def best_within(sets, universe):
    """The best score of a set inside the universe."""
    return max((score for s, score in sets.items() if s <= universe), default=-math.inf)


def as_sets(table, child):
    return {frozenset(parents): score for score, parents in table.sets(child)}


def assert_serves_every_order(table, everything, tolerance):
    """In every universe of predecessors the table has a set as good as the best there is."""
    for child, sets in everything.items():
        listed = as_sets(table, child)
        for s, score in listed.items():
            assert score == pytest.approx(sets[s], abs=tolerance)
        others = [name for name in everything if name != child]
        for size in range(len(others) + 1):
            for universe in map(frozenset, combinations(others, size)):
                wanted = best_within(sets, universe)
                got = best_within(listed, universe)
                assert got == pytest.approx(wanted, abs=tolerance) or got == wanted, (
                    child,
                    sorted(universe),
                )


def assert_lists_nothing_dominated(table):
    for child in table.names:
        sets = as_sets(table, child)
        for s, score in sets.items():
            assert all(other < score for t, other in sets.items() if t < s)


def tolerance_of(scorer):
    n = scorer.dataset.total_weight
    return 1e-10 * max(1.0, n * math.log(n + 2))


def check_random_tables(name, n_tables, *, seed):
    rng = np.random.default_rng([seed, *name.encode()])
    needs_whole = getattr(SCORES[name], "needs_whole_counts", False)
    for _ in range(n_tables):
        weights = WEIGHTS[int(rng.integers(0, 2 if needs_whole else 3))]
        data = random_dataset(rng, weights=weights)
        score = SCORES[name]()
        if "ess" in getattr(score, "__dataclass_fields__", {}):
            score = SCORES[name](ess=float(rng.choice([0.01, 1.0, 50.0])))
        prior = None
        if rng.random() < 0.3:
            order = rng.permutation(data.names).tolist()
            arcs = [pair for pair in combinations(order, 2) if rng.random() < 0.4]
            prior = ArcDifferencePrior(Dag(data.names, arcs), kappa=float(rng.uniform(0.02, 1)))
        scorer = Scorer(data, score, prior, threads=1)
        max_parents = int(rng.integers(1, 5))
        table = build_score_table(scorer, max_parents=max_parents)
        assert table.complete
        everything = all_scores(scorer, max_parents)
        assert_serves_every_order(table, everything, tolerance_of(scorer))
        assert_lists_nothing_dominated(table)


@pytest.mark.parametrize("name", SCORES)
def test_table_serves_every_order_of_the_variables(name):
    check_random_tables(name, 60, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", SCORES)
def test_table_serves_every_order_on_thousands_of_data_sets(name):
    check_random_tables(name, 3000, seed=2)


@pytest.mark.parametrize("name", ["bic", "hqc", "aic", "bdeu", "k2", "bd", "fnml", "qnml", "bdq"])
def test_bounds_cut_without_a_limit_on_parents(name):
    rng = np.random.default_rng(5)
    data = random_dataset(rng, n_variables=8, max_rows=30)
    scorer = Scorer(data, name, threads=1)
    table = build_score_table(scorer)
    assert table.n_scored < 8 * 2**7
    assert_serves_every_order(table, all_scores(scorer, 7), tolerance_of(scorer))


@pytest.mark.parametrize("weights", WEIGHTS)
def test_without_pruning_every_set_is_listed(weights):
    scorer = Scorer(random_dataset(np.random.default_rng(3), weights=weights), "bdeu")
    table = build_score_table(scorer, max_parents=3, prune=False)
    assert table.n_sets == table.n_scored == 5 * (1 + 4 + 6 + 4)
    everything = all_scores(scorer, 3)
    for child in table.names:
        listed = as_sets(table, child)
        assert listed.keys() == everything[child].keys()
        assert all(listed[s] == pytest.approx(everything[child][s], abs=1e-9) for s in listed)


# Up to three parents the sets are scored together, beyond child by child.
@pytest.mark.parametrize("max_parents", [3, 4])
@pytest.mark.parametrize("score", ["bic", "bdeu", "k2"])
def test_required_parents_are_in_every_set_and_candidates_limit_the_rest(score, max_parents):
    rng = np.random.default_rng(4)
    for _ in range(40):
        scorer = Scorer(random_dataset(rng), score, threads=1)
        required = {"c": ["d"], "a": ["b", "e"]}
        candidates = {"c": ["a", "d", "e"], "b": []}
        table = build_score_table(
            scorer, required=required, candidates=candidates, max_parents=max_parents
        )
        everything = all_scores(scorer, max_parents)
        for child in everything:
            must = frozenset(required.get(child, ()))
            may = frozenset(candidates.get(child, set("abcde") - {child}))
            everything[child] = {
                s: score for s, score in everything[child].items() if must <= s <= may
            }
        assert as_sets(table, "b").keys() == {frozenset()}
        assert_serves_every_order(table, everything, tolerance_of(scorer))


def test_every_child_may_have_its_own_limit():
    scorer = Scorer(random_dataset(np.random.default_rng(6)), "ll")
    table = build_score_table(scorer, max_parents={"a": 0, "b": 1}, prune=False)
    sizes = {c: max(len(parents) for _, parents in table.sets(c)) for c in table.names}
    assert sizes == {"a": 0, "b": 1, "c": 4, "d": 4, "e": 4}


def test_same_table_whatever_the_threads_and_the_order_of_columns():
    data = random_dataset(np.random.default_rng(7), n_variables=8, max_rows=200)
    one = build_score_table(Scorer(data, "bdeu", threads=1), max_parents=4)
    turned = data.select(list(reversed(data.names)))
    assert build_score_table(Scorer(turned, "bdeu", threads=4), max_parents=4) == one


@pytest.mark.parametrize("score", ["bdeu", "fnml"])
def test_both_routes_give_the_same_table(score):
    data = random_dataset(np.random.default_rng(17), n_variables=8, max_rows=200)
    together = build_score_table(Scorer(data, score), max_parents=3)
    # One child without a limit means: child by child.
    apart = build_score_table(Scorer(data, score), max_parents=dict.fromkeys("abcdefg", 3))
    for child in "abcdefg":
        one, two = as_sets(together, child), as_sets(apart, child)
        assert one.keys() == two.keys()
        assert all(one[s] == pytest.approx(two[s], abs=1e-9) for s in one)


def test_ctrl_c_is_answered_and_the_next_call_works():
    rng = np.random.default_rng(0)
    columns = {f"v{i:02}": rng.integers(0, 2, 20_000).tolist() for i in range(25)}
    scorer = Scorer(make_dataset(columns), "ll", threads=2)
    with pytest.raises(KeyboardInterrupt), ctrl_c_in_native_work():
        build_score_table(scorer, max_parents=8)  # hours
    assert build_score_table(scorer, max_parents=1).complete


@dataclass(frozen=True)
class FewerIsBetter:
    """A score of somebody's own: the number of observed cells, negated, squared for fun."""

    name: ClassVar[str] = "fewer"
    is_score_equivalent: ClassVar[bool] = False

    def family(self, counts):
        return -float((counts.table > 0).sum()) + 2.5 * len(counts.parents)

    def kernel(self):
        return None


class NoPairs:
    """A prior of somebody's own that is no sum over arcs and forbids some families."""

    is_score_equivalent = False

    def family(self, child, parents):
        return -math.inf if len(parents) == 2 else 0.5 * len(parents) ** 2


@pytest.mark.parametrize("score", ["bic", FewerIsBetter()])
@pytest.mark.parametrize("prior", [None, NoPairs()])
def test_a_score_or_prior_of_your_own(score, prior):
    rng = np.random.default_rng(9)
    for _ in range(30):
        scorer = Scorer(random_dataset(rng), score, prior, threads=1)
        everything = all_scores(scorer, 4)
        table = build_score_table(scorer)
        assert table.n_scored <= 5 * 16
        assert all(math.isfinite(s) for c in table.names for s, _ in table.sets(c))
        assert_serves_every_order(table, everything, tolerance_of(scorer))
        everything = {
            child: {s: v for s, v in sets.items() if v > -math.inf}
            for child, sets in everything.items()
        }
        unpruned = build_score_table(scorer, prune=False)
        assert {c: as_sets(unpruned, c).keys() for c in unpruned.names} == {
            c: everything[c].keys() for c in everything
        }


def test_a_prior_that_forbids_everything_is_refused():
    class Nothing(NoPairs):
        def family(self, child, parents):
            return -math.inf if child == "b" else 0.0

    scorer = Scorer(random_dataset(np.random.default_rng(10)), "bic", Nothing())
    with pytest.raises(InvalidParameterError, match="every parent set of b scores minus infinity"):
        build_score_table(scorer)


def test_an_arc_that_the_prior_forbids_is_no_candidate():
    class NoArcToA:
        is_score_equivalent = False

        def family(self, child, parents):
            return sum(self.arc(parent, child) for parent in parents)

        def arc(self, parent, child):
            return -math.inf if child == "a" else 0.0

    scorer = Scorer(random_dataset(np.random.default_rng(11)), "ll", NoArcToA())
    table = build_score_table(scorer, prune=False)
    assert len(table.sets("a")) == 1
    assert len(table.sets("b")) == 16


def test_time_limit_gives_an_incomplete_table_that_says_so():
    rng = np.random.default_rng(12)
    data = random_dataset(rng, n_variables=8, max_rows=200)
    full = build_score_table(Scorer(data, "bdeu"))
    cut = build_score_table(Scorer(data, "bdeu"), time_limit=1e-9)
    assert full.complete
    assert not cut.complete
    assert "incomplete" in repr(cut)
    for child in cut.names:
        assert dict(as_sets(cut, child)).items() <= dict(as_sets(full, child)).items()
        assert frozenset() in as_sets(cut, child)
    slow = build_score_table(Scorer(data, FewerIsBetter()), time_limit=1e-9)
    assert not slow.complete


def test_memory_limit_is_kept_and_the_remedy_named():
    scorer = Scorer(random_dataset(np.random.default_rng(13), n_variables=8), "ll")
    with (
        pytest.raises(NotEnoughMemoryError, match=r"need more than .*; pass max_parents=\d or"),
        memory_limit(100),
    ):
        build_score_table(scorer)
    with (
        pytest.raises(NotEnoughMemoryError, match=r"1,024 parent sets needs .* memory limit"),
        memory_limit(100),
    ):
        build_score_table(scorer, prune=False)


def test_one_variable():
    data = random_dataset(np.random.default_rng(14), n_variables=1)
    table = build_score_table(Scorer(data, "bic"))
    assert table.sets("a") == [(pytest.approx(Scorer(data, "bic").family("a"), abs=1e-12), ())]


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"max_parents": -1}, InvalidParameterError, "max_parents must be a whole number >= 0"),
        ({"max_parents": {"z": 1}}, UnknownNameError, "max_parents: unknown variable 'z'"),
        ({"candidates": {"z": []}}, UnknownNameError, "candidates: unknown variable 'z'"),
        ({"candidates": {"a": ["z"]}}, UnknownNameError, "candidates: unknown variable 'z'"),
        ({"candidates": {"a": "bc"}}, GraphError, "must be a list of names, got the text 'bc'"),
        ({"required": {"a": ["a"]}}, GraphError, "required: a cannot be its own parent"),
        (
            {"required": {"a": ["b"]}, "candidates": {"a": ["c"]}},
            GraphError,
            "b is a required parent of a and not among its candidates",
        ),
        (
            {"required": {"a": ["b", "c"]}, "max_parents": 1},
            GraphError,
            "a has 2 required parents, more than the 1 it may have",
        ),
        ({"time_limit": 0}, InvalidParameterError, "time_limit must be a finite number > 0"),
    ],
)
def test_refuses_limits_that_make_no_sense(settings, error, message):
    scorer = Scorer(random_dataset(np.random.default_rng(15)), "bic")
    with pytest.raises(error, match=message):
        build_score_table(scorer, **settings)


def test_build_is_a_method_too():
    scorer = Scorer(random_dataset(np.random.default_rng(16)), "bic")
    assert ScoreTable.build(scorer, max_parents=2) == build_score_table(scorer, max_parents=2)


def test_knowledge_limits_the_sets():
    knowledge = Knowledge(required_arcs=[("a", "b")], forbidden_arcs=[("c", "d")], max_parents=2)
    rng = np.random.default_rng(18)
    for _ in range(30):
        scorer = Scorer(random_dataset(rng), "bic", threads=1)
        table = build_score_table(scorer, knowledge=knowledge)
        everything = all_scores(scorer, 2)
        known = knowledge.for_nodes(list("abcde"))
        for child in everything:
            i = "abcde".index(child)
            must = {"abcde"[p] for p in known.required_parents(i)}
            may = {"abcde"[p] for p in known.allowed_parents(i)}
            everything[child] = {s: v for s, v in everything[child].items() if must <= s <= may}
        assert "b" not in {p for _, parents in table.sets("a") for p in parents}
        assert_serves_every_order(table, everything, tolerance_of(scorer))


def test_nothing_is_pruned_where_a_subset_may_break_what_is_known():
    scorer = Scorer(random_dataset(np.random.default_rng(19)), "bic")
    table = build_score_table(scorer, knowledge=Knowledge(ancestors=[("a", "b")]), max_parents=2)
    assert table.n_sets == table.n_scored
    assert len(table.sets("b")) == 1 + 4 + 6


def test_knowledge_that_contradicts_the_limits_is_refused():
    scorer = Scorer(random_dataset(np.random.default_rng(20)), "bic")
    knowledge = Knowledge(required_arcs=[("a", "b")])
    with pytest.raises(GraphError, match="a must be a parent of b, and is not among those"):
        build_score_table(scorer, knowledge=knowledge, candidates={"b": ["c"]})
    with pytest.raises(GraphError, match="b has 1 required parents, more than the 0"):
        build_score_table(scorer, knowledge=knowledge, max_parents=0)
