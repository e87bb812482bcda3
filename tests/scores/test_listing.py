"""Lists of parent sets, rung by rung: the definition, and honest wherever they end."""

import math
import zlib
from itertools import combinations

import numpy as np
import pytest

from bestdag.errors import NotEnoughMemoryError
from bestdag.graph.knowledge import Knowledge
from bestdag.scores import SCORES
from bestdag.scores.parent_sets.limits import ParentLimits, all_but, n_parent_sets
from bestdag.scores.parent_sets.listing import ParentSetListing
from bestdag.scores.scorer import Scorer
from bestdag.scores.table import ScoreTable
from tests.conftest import make_dataset
from tests.signals import ctrl_c_in_native_work

WEIGHTS = [None, "whole", "real"]
# Two states each; many kinds of counting; more cells than an array has; constant columns.
SHAPES = [
    ([2] * 7, 200),
    ([2, 3, 2, 4, 5, 2], 300),
    ([9, 40, 3, 30, 2], 130),
    ([1, 2, 3, 1, 2], 40),
]
RUNGS = (1, 2, 3)


def related_codes(rng, arities, n_rows):
    """Columns by name, most of which follow an earlier one."""
    columns = []
    for i, arity in enumerate(arities):
        codes = rng.integers(0, arity, n_rows)
        if i > 0 and rng.random() < 0.7:
            follows = rng.random(n_rows) < 0.7
            codes = np.where(follows, columns[rng.integers(i)] % arity, codes)
        columns.append(codes)
    return {f"v{i:02}": codes.tolist() for i, codes in enumerate(columns)}


def related_columns(rng, arities, n_rows, weights=None):
    """A table of them, with weights of some kind."""
    codes = related_codes(rng, arities, n_rows)
    given = None
    if weights == "whole":
        given = rng.integers(0, 5, n_rows).astype(np.int64)
    elif weights == "real":
        given = rng.random(n_rows) * 3
    return make_dataset(codes, dict(zip(codes, arities, strict=True)), weights=given)


def free_limits(n, max_parents=3):
    return [ParentLimits((), all_but(i, n), min(max_parents, n - 1)) for i in range(n)]


def narrow_limits(rng, n):
    """Some arcs forbidden, some required, and a limit for each variable."""
    limits = []
    for child in range(n):
        others = [p for p in range(n) if p != child and rng.random() < 0.9]
        required = tuple(p for p in others if rng.random() < 0.1)
        allowed = np.array([p for p in others if p not in required], np.int32)
        most = max(len(required), int(rng.integers(0, 4)))
        limits.append(ParentLimits(required, allowed, min(most, len(others))))
    return limits


class ArcByArc:
    """A prior over structures that is a sum over arcs, and forbids some of them."""

    is_score_equivalent = False

    def arc(self, parent, child):
        number = zlib.crc32(f"{parent}>{child}".encode()) % 100
        return -math.inf if number < 10 else (number - 55) / 20

    def family(self, child, parents):
        return 0.25 + sum(self.arc(parent, child) for parent in sorted(parents))


def every_family(scorer, limits, max_parents):
    """By child: {parents: (score, best score of its subsets)}, one family at a time."""
    names = scorer.names
    children = []
    for child, limit in enumerate(limits):
        free = limit.allowed.tolist()
        most = max(min(max_parents, limit.max_parents), len(limit.required))
        sets = [
            tuple(sorted((*limit.required, *some)))
            for size in range(most - len(limit.required) + 1)
            for some in combinations(free, size)
        ]
        scores = scorer.families([(names[child], {names[p] for p in s}) for s in sets]).tolist()
        best, families = {}, {}
        for parents, score in zip(sets, scores, strict=True):
            smaller = combinations(parents, len(parents) - 1) if parents else ()
            below = max((best[s] for s in smaller if s in best), default=-math.inf)
            best[parents] = max(below, score)
            families[parents] = (score, below)
        children.append(families)
    return children


def assert_is_the_definition(table, children, *, prune, margin):
    """Every family that stays is listed with its score, and no other, up to ties."""
    for child, families in enumerate(children):
        listed = {parents: score for score, parents in table.child(child)}
        assert listed.keys() <= families.keys()
        for parents, (score, below) in families.items():
            slack = 1e-9 * max(1.0, abs(score)) if score > -math.inf else 0.0
            if parents in listed:
                assert listed[parents] == pytest.approx(score, rel=1e-9, abs=1e-9)
                assert not prune or score + margin > below - slack
            else:
                assert score == -math.inf or (prune and score + margin <= below + slack)


def has_a_set_of_each(children):
    return all(any(score > -math.inf for score, _ in c.values()) for c in children)


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("kind", ["free", "narrow", "prior"])
def test_every_rung_is_the_definition(name, kind):
    rng = np.random.default_rng([7, *name.encode()])
    n_compared = 0
    for case, (arities, n_rows) in enumerate(SHAPES):
        needs_whole = getattr(SCORES[name], "needs_whole_counts", False)
        weights = WEIGHTS[int(rng.integers(0, 2 if needs_whole else 3))]
        data = related_columns(rng, arities, n_rows, weights)
        prior = ArcByArc() if kind == "prior" else None
        n = len(arities)
        limits = narrow_limits(rng, n) if kind == "narrow" else free_limits(n)
        support = float(rng.choice([0.0, 4.0]))
        scorer = Scorer(data, name, prior, support=support, threads=1 + case % 2)
        for prune, margin in [(True, 0.0), (True, 1.5), (False, 0.0)]:
            listing = ParentSetListing(scorer, limits, prune=prune, margin=margin)
            for most in RUNGS:
                children = every_family(scorer, limits, most)
                listing.run(max_parents=most)
                assert listing.is_complete_at(most)
                if not has_a_set_of_each(children):
                    continue
                table = listing.table_at(most)
                assert table.complete
                assert table.max_parents == most
                assert_is_the_definition(table, children, prune=prune, margin=margin)
                n_compared += 1
            assert listing.is_over
    assert n_compared > 12


@pytest.mark.parametrize("name", ["bic", "bdeu", "qnml", "k2"])
def test_threads_and_the_order_of_columns_change_nothing(name):
    rng = np.random.default_rng(3)
    codes = related_codes(rng, [2, 3, 2, 4, 2, 3, 2, 2, 5], 400)
    data = make_dataset(codes)
    shuffled = make_dataset({name: codes[name] for name in rng.permutation(list(codes)).tolist()})
    tables = []
    for rows, threads in [(data, 1), (data, 3), (shuffled, 2)]:
        listing = ParentSetListing(Scorer(rows, name, threads=threads), free_limits(9))
        listing.run(max_parents=3)
        tables.append(listing.table_at(3))
    assert tables[0] == tables[1] == tables[2]


def test_names_in_another_order_change_nothing_but_names():
    rng = np.random.default_rng(5)
    codes = related_codes(rng, [2] * 9, 400)
    places = rng.permutation(9).tolist()
    new = {name: f"w{place}" for name, place in zip(codes, places, strict=True)}
    data = make_dataset(codes)
    renamed = make_dataset({new[name]: column for name, column in codes.items()})
    lists = []
    for rows in (data, renamed):
        listing = ParentSetListing(Scorer(rows, "bdeu"), free_limits(9))
        listing.run(max_parents=3)
        table = listing.table_at(3)
        lists.append(
            {child: {frozenset(p): s for s, p in table.sets(child)} for child in table.names}
        )
    for child in codes:
        expected = {frozenset(map(new.get, p)): s for p, s in lists[0][child].items()}
        assert lists[1][new[child]] == pytest.approx(expected, rel=1e-9)


def test_a_rung_is_the_rung_before_and_more_and_no_family_is_scored_twice():
    scorer = Scorer(related_columns(np.random.default_rng(1), [2] * 12, 500), "bdeu")
    listing = ParentSetListing(scorer)
    listing.run(max_parents=0)
    before = {name: listing.table_at(0).sets(name) for name in scorer.names}
    for most in RUNGS:
        listing.run(max_parents=most)
        table = listing.table_at(most)
        assert table.n_scored == 12 * n_parent_sets(12, most)
        for child in scorer.names:
            smaller = [entry for entry in table.sets(child) if len(entry[1]) < most]
            assert smaller == before[child]
            before[child] = table.sets(child)
        assert not listing.is_over
    listing.run()  # all sizes
    assert listing.is_over
    whole = listing.table()
    assert whole.complete
    assert whole.max_parents is None
    for child in scorer.names:
        assert [p for _, p in whole.sets(child) if len(p) <= 3] == [p for _, p in before[child]]


def test_families_that_their_shape_rules_out_are_not_scored():
    scorer = Scorer(related_columns(np.random.default_rng(2), [8] * 8, 100), "bic")
    listing = ParentSetListing(scorer, free_limits(8))
    listing.run()
    table = listing.table()
    assert table.n_scored < 8 * n_parent_sets(8, 3) / 2
    children = every_family(scorer, free_limits(8), 3)
    assert_is_the_definition(table, children, prune=True, margin=0.0)


def test_a_variable_has_its_required_parents_on_every_rung():
    scorer = Scorer(related_columns(np.random.default_rng(4), [2] * 5, 200), "bic")
    known = Knowledge(required_arcs=[("v01", "v00"), ("v02", "v00")]).for_nodes(scorer.names)
    listing = ParentSetListing(scorer, known)
    listing.run(max_parents=1)
    assert listing.is_complete_at(1)
    assert [parents for _, parents in listing.table_at(1).sets("v00")] == [("v01", "v02")]


def wide_scorer(threads=2):
    rng = np.random.default_rng(6)
    return Scorer(related_columns(rng, [2] * 80, 2000), "bdeu", threads=threads)


def test_an_interrupted_listing_goes_on_where_it_was():
    scorer = wide_scorer()
    whole = ParentSetListing(scorer, free_limits(80))
    whole.run()
    listing = ParentSetListing(scorer, free_limits(80))
    with pytest.raises(KeyboardInterrupt), ctrl_c_in_native_work():
        listing.run()
    assert not listing.is_over
    part = listing.table_at(3)
    assert not part.complete
    assert part.is_bounded
    for child in part.names:
        assert set(part.sets(child)) <= set(whole.table().sets(child))
    listing.run()
    assert listing.table() == whole.table()
    assert listing.table().n_scored == whole.table().n_scored


def test_slices_of_time_make_the_same_lists():
    scorer = wide_scorer(threads=1)
    whole = ParentSetListing(scorer, free_limits(80))
    whole.run()
    listing = ParentSetListing(scorer, free_limits(80))
    while not listing.is_over:
        listing.run(1e-3, max_parents=3)
    assert listing.table() == whole.table()


@pytest.mark.parametrize("memory", [1.0, 2e4, 5e5, 2e6])
def test_without_memory_a_listing_ends_and_says_so(memory):
    scorer = wide_scorer()
    listing = ParentSetListing(scorer, free_limits(80))
    listing.run(memory_limit=memory)
    assert listing.is_over
    assert not listing.is_complete_at(3)
    table = listing.table()
    assert not table.complete
    assert table.is_bounded
    with pytest.raises(NotEnoughMemoryError, match=r"sets of \d parents of .* need more than"):
        ParentSetListing(scorer, free_limits(80)).run(memory_limit=memory, anytime=False)


def test_forecast_counts_what_is_left():
    scorer = Scorer(related_columns(np.random.default_rng(8), [2] * 10, 200), "bic")
    listing = ParentSetListing(scorer, free_limits(10))
    assert listing.forecast(3).n_families == 10 * n_parent_sets(10, 3)
    listing.run(max_parents=2)
    assert listing.forecast(2) == (0, 0.0, 0.0)
    left = listing.forecast(3)
    assert left.n_families == 10 * math.comb(9, 3)
    assert 0.0 < left.seconds < math.inf
    assert 0.0 < left.n_bytes < math.inf


def test_a_table_says_what_it_is_complete_for():
    scorer = Scorer(related_columns(np.random.default_rng(9), [2] * 6, 100), "bic")
    listing = ParentSetListing(scorer)
    listing.run(max_parents=2)
    table = listing.table_at(2)
    assert (table.complete, table.max_parents) == (True, 2)
    assert "of at most 2" in repr(table)
    same = ScoreTable(table.names, [table.child(i) for i in range(6)], n_scored=table.n_scored)
    assert same != table  # complete for all sets there are
    assert not listing.table().complete


def test_scores_without_a_native_lister_have_rungs_too():
    class Twice:
        """A score of a user's own."""

        name, is_score_equivalent = "twice", False

        def family(self, counts):
            return -2.0 * float((counts.table > 0).sum()) + 3.0 * len(counts.parents)

        def kernel(self):
            return None

    scorer = Scorer(related_columns(np.random.default_rng(10), [2] * 5, 60), Twice())
    limits = free_limits(5)
    listing = ParentSetListing(scorer, limits)
    for most in RUNGS:
        listing.run(max_parents=most)
        assert listing.is_complete_at(most)
        assert not listing.is_complete_at(most + 1) or most == 3
        children = every_family(scorer, limits, most)
        assert_is_the_definition(listing.table_at(most), children, prune=True, margin=0.0)
