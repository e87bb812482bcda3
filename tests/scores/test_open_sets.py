"""Listings that were cut short: what they lack is bounded, and nothing is done twice."""

import math
import pickle
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np
import pytest

from bestdag import memory_limit
from bestdag.errors import InvalidParameterError, NotEnoughMemoryError
from bestdag.graph.dag import Dag
from bestdag.graph.enumeration import all_dags
from bestdag.graph.knowledge import Knowledge
from bestdag.scores import SCORES, make_score
from bestdag.scores.parent_sets.build import build_score_table
from bestdag.scores.parent_sets.listing import ParentSetListing
from bestdag.scores.prior import ArcDifferencePrior
from bestdag.scores.scorer import Scorer
from bestdag.scores.table import ParentSets, ScoreTable
from bestdag.search.exact.bnc.engine import solve_bnc
from bestdag.search.exact.dp.engine import solve_dp
from tests.scores.random_data import random_dataset
from tests.scores.test_build import WEIGHTS, FewerIsBetter, all_scores, as_sets, tolerance_of

# With seconds without end and little memory, a listing ends at the same place every time.
MEMORY = [1, 300, 600, 1200, 3000]


def cut_short(scorer, memory, nodes=None):
    listing = ParentSetListing(scorer, nodes)
    listing.run(memory_limit=memory)
    return listing.table()


def random_scorer(rng, name, *, n_variables=5):
    needs_whole = getattr(SCORES[name], "needs_whole_counts", False)
    weights = WEIGHTS[int(rng.integers(0, 2 if needs_whole else 3))]
    data = random_dataset(rng, n_variables=n_variables, weights=weights)
    score = SCORES[name]()
    fields = getattr(score, "__dataclass_fields__", {})
    given = {}
    if "ess" in fields:
        given["ess"] = float(rng.choice([0.01, 1.0, 50.0]))
    if "epsilon" in fields:
        given["epsilon"] = float(rng.choice([0.0, 0.2, 0.9]))
    if "confidence" in fields:
        given["confidence"] = float(rng.choice([0.05, 0.5, 0.99]))
    prior = None
    if rng.random() < 0.3:
        order = rng.permutation(data.names).tolist()
        arcs = [pair for pair in combinations(order, 2) if rng.random() < 0.4]
        prior = ArcDifferencePrior(Dag(data.names, arcs), kappa=float(rng.uniform(0.02, 1)))
    return Scorer(data, SCORES[name](**given), prior, threads=1)


def assert_covers(table, everything, tolerance):
    """Each set is listed, or a subset scores as much, or an open subset bounds it."""
    n_covered = 0
    names = table.names
    for i, child in enumerate(names):
        listed = as_sets(table, child)
        missing = [
            (bound, frozenset(names[p] for p in members)) for bound, members in table.open_sets(i)
        ]
        for s, score in everything[child].items():
            best_subset = max((v for t, v in listed.items() if t <= s), default=-math.inf)
            if score <= best_subset + tolerance:
                continue
            assert any(t <= s and score <= bound + tolerance for bound, t in missing), (child, s)
            n_covered += 1
    return n_covered


@pytest.mark.parametrize("name", SCORES)
def test_what_is_not_listed_is_bounded_by_an_open_set(name):
    rng = np.random.default_rng([1, *name.encode()])
    n_covered = 0
    for case in range(160):
        scorer = random_scorer(rng, name)
        table = cut_short(scorer, MEMORY[case % len(MEMORY)])
        assert table.is_bounded
        n_covered += assert_covers(table, all_scores(scorer, 4), tolerance_of(scorer))
    assert n_covered > 20  # the test sees sets that are not listed


@pytest.mark.parametrize("memory", range(1, 4000, 100))
def test_sets_of_the_largest_size_leave_nothing_open(memory):
    rng = np.random.default_rng(5)
    scorer = Scorer(random_dataset(rng, n_variables=5), "bic", threads=1)
    nodes = Knowledge(max_parents=2).for_nodes([v.name for v in scorer.variables])
    table = cut_short(scorer, memory, nodes)
    everything = all_scores(scorer, 2)
    assert table.is_bounded
    assert_covers(table, everything, tolerance_of(scorer))


def test_knowledge_and_limits_hold_for_open_sets_too():
    knowledge = Knowledge(required_arcs=[("a", "b")], forbidden_arcs=[("c", "d")], max_parents=3)
    nodes = knowledge.for_nodes(list("abcde"))
    rng = np.random.default_rng(2)
    for case in range(40):
        scorer = Scorer(random_dataset(rng), "bdeu", threads=1)
        table = cut_short(scorer, MEMORY[case % len(MEMORY)], nodes)
        everything = all_scores(scorer, 3)
        for i, child in enumerate("abcde"):
            must = {"abcde"[p] for p in nodes.required_parents(i)}
            may = {"abcde"[p] for p in nodes.allowed_parents(i)}
            everything[child] = {s: v for s, v in everything[child].items() if must <= s <= may}
        assert_covers(table, everything, tolerance_of(scorer))
        for _, members in table.open_sets(1):
            assert 0 in members


# One set of each child is scored, and no family has a higher likelihood than that of all others.
def test_the_likelihood_given_all_others_is_the_bound_of_ll():
    rng, n_bounds = np.random.default_rng(3), 0
    for weights in WEIGHTS:
        for _ in range(30):
            data = random_dataset(rng, weights=weights)
            scorer = Scorer(data, "ll", threads=1)
            listing = ParentSetListing(scorer)
            listing.run(1e9, memory_limit=1)
            table = listing.table()
            for i, child in enumerate(table.names):
                others = [name for name in table.names if name != child]
                missing = table.open_sets(i)
                if len(missing):
                    expected = scorer.family(child, others)
                    assert missing.scores[0] == pytest.approx(expected, abs=tolerance_of(scorer))
                    n_bounds += 1
    assert n_bounds > 100


@pytest.mark.parametrize("name", SCORES)
def test_no_network_exceeds_the_cap_of_the_total(name):
    rng = np.random.default_rng([4, *name.encode()])
    for _ in range(30):
        scorer = random_scorer(rng, name, n_variables=4)
        plain = Scorer(scorer.dataset, scorer.score, threads=1)
        cap = plain.native.total_cap()
        sets = all_scores(plain, 3)
        best = max(
            sum(sets[v][frozenset(dag.parents(v))] for v in dag.nodes)
            for dag in all_dags(list("abcd"))
        )
        assert best <= cap + tolerance_of(plain)


def test_the_cap_of_the_total_is_reached_by_a_complete_graph_with_ll():
    rng = np.random.default_rng(5)
    for weights in WEIGHTS:
        scorer = Scorer(random_dataset(rng, weights=weights), "ll", threads=1)
        complete = Dag(list("abcde"), list(combinations("abcde", 2)))
        assert scorer.native.total_cap() == pytest.approx(scorer.total(complete), rel=1e-10)


def test_approximate_regret_has_no_bound():
    scorer = Scorer(
        random_dataset(np.random.default_rng(6)), make_score("qnml", regret="szpankowski")
    )
    assert scorer.native.total_cap() == math.inf
    table = build_score_table(scorer, time_limit=1e-9)
    assert not table.complete
    assert not table.is_bounded
    assert table.open_sets(0) is None
    with pytest.raises(InvalidParameterError, match="nothing bounds the parent sets"):
        table.optimistic()


# Going on ------------------------------------------------------------------------------------


@pytest.mark.parametrize("score", ["bic", "bdeu", "mit", FewerIsBetter()])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_listing_in_pieces_is_the_listing_in_one_go(score, threads):
    data = random_dataset(np.random.default_rng(7), n_variables=8, max_rows=300)
    whole = build_score_table(Scorer(data, score, threads=threads))
    listing = ParentSetListing(Scorer(data, score, threads=threads))
    n_pieces = 0
    while not listing.is_over:
        listing.run(1e-9 if n_pieces == 0 else 1e-4)
        n_pieces += 1
        cut = listing.table()
        for child in cut.names:
            assert as_sets(cut, child).items() <= as_sets(whole, child).items()
    assert n_pieces > 1
    table = listing.table(finish=True)
    assert table == whole
    assert table.n_scored == whole.n_scored  # no set is scored twice


def test_an_interrupted_listing_goes_on(monkeypatch):
    data = random_dataset(np.random.default_rng(8), n_variables=6)
    scorer = Scorer(data, FewerIsBetter())
    listing = ParentSetListing(scorer)
    real, calls = scorer.families, []

    def interrupted(families):
        calls.append(len(families))
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(families)

    monkeypatch.setattr(scorer, "families", interrupted)
    with pytest.raises(KeyboardInterrupt):
        listing.run()
    listing.run()
    assert listing.table() == build_score_table(Scorer(data, FewerIsBetter()))


def test_memory_ends_a_listing_or_raises_as_asked():
    scorer = Scorer(random_dataset(np.random.default_rng(9), n_variables=8), "ll")
    with pytest.raises(NotEnoughMemoryError, match="pass max_parents="), memory_limit(100):
        build_score_table(scorer)
    for time_limit in (None, 60.0):
        with memory_limit(100):
            table = build_score_table(scorer, time_limit=time_limit, anytime=True)
        assert not table.complete
        assert table.is_bounded


# Optimistic tables ---------------------------------------------------------------------------


def random_cut_table(rng, n):
    """All sets with random scores, and a table that lists some and covers the others."""
    names = "abcde"[:n]
    everything, children, missing = {}, [], []
    for v in range(n):
        others = [u for u in range(n) if u != v]
        sets = {s: 0.0 for k in range(n) for s in combinations(others, k)}
        for s in sets:
            sets[s] = float(rng.normal(2.0 * len(s), 2.0))
        everything[names[v]] = {frozenset(names[p] for p in s): x for s, x in sets.items()}
        listed = {s: x for s, x in sets.items() if not s or rng.random() < 0.4}
        children.append(ParentSets.of(list(listed.values()), list(listed)))
        cover: dict[tuple[int, ...], float] = {}
        for s, x in sets.items():
            if s not in listed:
                inside = tuple(u for u in s if rng.random() < 0.7)
                cover[inside] = max(cover.get(inside, -math.inf), x + float(rng.exponential(0.3)))
        missing.append(ParentSets.of(list(cover.values()), list(cover)))
    table = ScoreTable(list(names), children, complete=False, open_sets=missing)
    return table, everything


@pytest.mark.parametrize("n", [4, 5])
def test_the_best_choice_of_an_optimistic_table_bounds_every_network(n):
    rng = np.random.default_rng([10, n])
    dags = list(all_dags(list("abcde"[:n])))
    for case in range(60 if n == 4 else 6):
        table, everything = random_cut_table(rng, n)
        best = max(sum(everything[v][frozenset(dag.parents(v))] for v in dag.nodes) for dag in dags)
        for most in (None, 1, 2, 5):
            optimistic = table.optimistic(most)
            assert all(most is None or len(optimistic.child(i)) <= most for i in range(n))
            solved = solve_dp(optimistic)
            assert solved.is_proved
            assert best <= solved.score + 1e-9
            cut = solve_bnc(optimistic, max_pivots=float(case % 7))  # often not to the end
            assert best <= cut.bound + cut.resolution + 1e-9


def test_an_optimistic_table_lists_nothing_that_a_subset_beats():
    rng = np.random.default_rng(11)
    for _ in range(40):
        table, _ = random_cut_table(rng, 5)
        optimistic = table.optimistic()
        for i, child in enumerate(table.names):
            sets = as_sets(optimistic, child)
            given = [*table.child(i), *table.open_sets(i)]
            named = [(x, frozenset(table.names[p] for p in s)) for x, s in given]
            for s, score in sets.items():
                assert score == max(x for x, t in named if t == s)
                assert all(x < score for x, t in named if t < s)
            for x, s in named:
                assert any(t <= s and sets[t] >= x for t in sets)


def test_a_complete_table_is_as_optimistic_as_can_be():
    table = build_score_table(Scorer(random_dataset(np.random.default_rng(12)), "bic"))
    assert table.optimistic() is table
    assert len(table.open_sets(0)) == 0
    assert table.is_bounded


def test_open_sets_are_kept_when_a_table_is_pickled():
    table, _ = random_cut_table(np.random.default_rng(13), 4)
    again = pickle.loads(pickle.dumps(table))
    assert again == table
    assert again.open_sets(2) == table.open_sets(2)
    assert again != ScoreTable(table.names, [table.child(i) for i in range(4)], complete=False)


# Scores of one's own -------------------------------------------------------------------------


@dataclass(frozen=True)
class WithBound(FewerIsBetter):
    """No cell is ever filled by splitting a row, and at most four parents are there to be had."""

    name: ClassVar[str] = "with_bound"

    def upper_bound(self, counts):
        return -float((counts.table.sum(axis=0) > 0).sum()) + 2.5 * 4


def test_a_score_of_your_own_may_say_what_larger_sets_score_at_most():
    rng = np.random.default_rng(14)
    for _ in range(30):
        scorer = Scorer(random_dataset(rng), WithBound())
        listing = ParentSetListing(scorer)
        listing.run(0.0)
        table = listing.table()
        assert not table.complete
        assert assert_covers(table, all_scores(scorer, 4), 1e-9) >= 0
    without = ParentSetListing(Scorer(random_dataset(rng), FewerIsBetter()))
    without.run(0.0)
    assert not without.table().is_bounded
