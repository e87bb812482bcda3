"""Native twins of scores whose settings name variables: values equal the formula on every road."""

import pickle
from math import inf, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestdag.counts.engine import CountingEngine
from bestdag.data.dataset import Dataset
from bestdag.errors import InvalidParameterError
from bestdag.graph.dag import Dag
from bestdag.scores.base import BoundScore, kernel_for
from bestdag.scores.bd import BD
from bestdag.scores.bde import BDe
from bestdag.scores.parent_sets.build import build_score_table
from bestdag.scores.parent_sets.limits import parent_sets
from bestdag.scores.prior import ArcDifferencePrior
from bestdag.scores.scorer import Scorer
from bestdag.search.exact.search import Exact
from bestdag.search.problem import Problem
from tests.conftest import examples, make_dataset
from tests.scores.prior_networks import (
    BOUND_SCORES,
    PriorNet,
    bd_for,
    bde_for,
    knotted_net,
    net_over,
    random_data,
    random_net,
)

both = pytest.mark.parametrize("score_for", BOUND_SCORES.values(), ids=BOUND_SCORES)


class Formula:
    """A score without its native twin."""

    name = "formula"

    def __init__(self, score):
        self.score = score
        self.is_score_equivalent = score.is_score_equivalent

    def family(self, counts):
        return self.score.family(counts)

    def kernel(self):
        return None


def small_dataset(n_rows=40, seed=1, weights=None):
    rng = np.random.default_rng(seed)
    arities = {"b": 2, "a": 3, "d": 2, "c": 4, "e": 1}
    columns = {name: rng.integers(0, r, n_rows).tolist() for name, r in arities.items()}
    return make_dataset(columns, arities, weights)


def assert_same_tables(native, formula):
    for name in native.names:
        got, expected = native.sets(name), formula.sets(name)
        assert [parents for _, parents in got] == [parents for _, parents in expected]
        assert [s for s, _ in got] == pytest.approx([s for s, _ in expected], rel=1e-11)


@both
def test_is_bound_by_the_scorer_and_pickles_with_it(score_for):
    dataset = small_dataset()
    scorer = Scorer(dataset, score_for(dataset))
    assert isinstance(scorer.score, BoundScore)
    assert scorer.native is not None
    assert scorer.score.kernel() is None
    again = pickle.loads(pickle.dumps(scorer))
    assert again.native is not None
    assert again.changes("a", ["b"]).tolist() == scorer.changes("a", ["b"]).tolist()


def test_defaults_are_bound_to_nothing():
    for score in (BD(), BDe()):
        assert kernel_for(score, small_dataset().variables) is not None


@both
@pytest.mark.parametrize("prune", [True, False])
@pytest.mark.parametrize("limits", [{"max_parents": 2}, {}, {"required": {"a": ["c"]}}], ids=str)
def test_score_tables_equal_those_by_formula(score_for, prune, limits):
    dataset = small_dataset()
    native, formula = (
        build_score_table(Scorer(dataset, score), prune=prune, **limits)
        for score in (score_for(dataset), Formula(score_for(dataset)))
    )
    assert_same_tables(native, formula)


@both
def test_structure_priors_are_added(score_for):
    dataset = small_dataset()
    prior = ArcDifferencePrior(Dag([*"abcde"], [("a", "b"), ("c", "d")]), kappa=0.1)
    plain, with_prior = (Scorer(dataset, score_for(dataset), p) for p in (None, prior))
    assert with_prior.family("b", ["c"]) == plain.family("b", ["c"]) + 2 * log(0.1)
    assert with_prior.changes("b", ["c"])[0] == plain.family("b", ["a", "c"]) + log(0.1)
    formula = Scorer(dataset, Formula(score_for(dataset)), prior)
    assert_same_tables(*(build_score_table(s) for s in (with_prior, formula)))


@both
def test_exact_search_finds_what_it_finds_by_formula(score_for):
    dataset = small_dataset()
    native, formula = (
        Problem(Scorer(dataset, s)).solve(Exact())
        for s in (score_for(dataset), Formula(score_for(dataset)))
    )
    assert native.status == formula.status == "optimum proved"
    assert native.score == pytest.approx(formula.score, rel=1e-12)


@given(st.integers(0, 2**32), st.sampled_from(["none", "whole", "real"]))
@settings(max_examples=examples(30))
def test_certain_prior_networks_equal_the_formula(seed, kind):
    """Tables with zeros: a family is finite or minus infinity, never anything else."""
    rng = np.random.default_rng(seed)
    net = random_net(rng, 5)
    for parents, values in list(net.given.values()):
        certain = rng.random(values.shape[:-1]) < 0.5
        values[certain] = np.eye(values.shape[-1])[rng.integers(0, values.shape[-1])]
        assert len(parents) == values.ndim - 1
    plain = random_data(rng, net, 4)
    weights = {"none": None, "whole": np.array([1, 0, 2, 3]), "real": rng.random(4)}[kind]
    dataset = Dataset(plain.variables, [plain.codes(n) for n in plain.names], weights)
    scorer = Scorer(dataset, BDe(prior=net, ess=2))
    assert_equals_formula(scorer, 4)


def assert_equals_formula(scorer, max_parents):
    """All roads give the formula's value for every family."""
    names = [v.name for v in scorer.variables]
    tables = scorer.all_families(max_parents)
    engine = CountingEngine(scorer.dataset)
    for child in names:
        families = [
            (child, set(parents))
            for parents in parent_sets([n for n in names if n != child], max_parents)
        ]
        counts = engine.count(families)
        expected = [scorer.score.family(c) for c in counts]
        terms = [abs(x) for c in counts for x in scorer.score.terms(c).values() if x > -inf]
        tolerance = 1e-9 * max(1.0, *terms)
        assert scorer.families(families) == pytest.approx(expected, abs=tolerance)
        assert tables[child] == pytest.approx(expected, abs=tolerance)
        changed = scorer.changes(child)
        alone = [scorer.family(child, {n} - {child}) for n in names]
        assert changed.tolist() == alone


@both
@pytest.mark.parametrize("parents", [[], ["c"], ["a", "d"]])
def test_pairs_equal_the_families(score_for, parents):
    dataset = small_dataset()
    scorer = Scorer(dataset, score_for(dataset))
    names = [v.name for v in scorer.variables if v.name not in parents]
    pairs = scorer.pair_scores(names, parents)
    expected = [[scorer.family(b, {a, *parents} - {b}) for b in names] for a in names]
    assert pairs == pytest.approx(np.array(expected), abs=1e-10)


# wet is never 0 when it rains: of all sets only those without both sides of that are left.
def test_impossible_sets_are_left_out_of_score_tables():
    net = PriorNet(
        {
            "rain": ([], [0.75, 0.25]),
            "wet": (["rain"], [[2 / 3, 1 / 3], [0.0, 1.0]]),
            "sun": (["rain"], [[0.3, 0.7], [0.6, 0.4]]),
        }
    )
    dataset = make_dataset({"rain": [1, 0, 1], "wet": [0, 1, 1], "sun": [0, 0, 1]})
    scorer = Scorer(dataset, BDe(prior=net))
    for prune in (True, False):
        tables = [
            build_score_table(s, prune=prune)
            for s in (scorer, Scorer(dataset, Formula(scorer.score)))
        ]
        assert_same_tables(*tables)
        assert all("rain" not in parents for _, parents in tables[0].sets("wet"))
    assert scorer.changes("wet").tolist()[0] == -inf
    assert scorer.all_families(2)["rain"].tolist()[2:] == [-inf, -inf]  # {wet}, {sun, wet}


@pytest.mark.parametrize("prune", [True, False])
def test_a_child_that_no_set_is_left_for_is_named(prune):
    net = PriorNet({"a": ([], [1.0, 0.0]), "b": ([], [0.5, 0.5])})
    scorer = Scorer(make_dataset({"a": [0, 1], "b": [0, 1]}), BDe(prior=net))
    for max_parents in (1, None):
        with pytest.raises(InvalidParameterError, match="every parent set of a scores minus inf"):
            build_score_table(scorer, max_parents=max_parents, prune=prune)


# Twenty parents with 3 to 5 states: 1e12 configurations, of which the rows that occur are worked
# out; hidden variables are summed out for each.
@pytest.mark.parametrize("kind", ["none", "whole", "real"])
def test_many_parents_follow_the_rows(kind):
    rng = np.random.default_rng(8)
    arities = {f"v{i:02}": 3 + i % 3 for i in range(21)}
    net = net_over(rng, {**arities, **{f"h{i}": 4 for i in range(5)}})
    weights = {"none": None, "whole": rng.integers(0, 3, 300), "real": rng.random(300)}[kind]
    columns = {name: rng.integers(0, r, 300).tolist() for name, r in arities.items()}
    dataset = make_dataset(columns, arities, weights)
    score = BDe(prior=net, ess=7)
    families = [(n, [m for m in arities if m != n][:k]) for n in ("v00", "v07") for k in (9, 20)]
    for got, counts in zip(
        Scorer(dataset, score).families(families),
        CountingEngine(dataset).count(families),
        strict=True,
    ):
        terms = score.terms(counts).values()
        assert got == pytest.approx(sum(terms), abs=1e-9 * sum(map(abs, terms)))


# Tables over 4096 cells for few rows: configurations are read from rows, not numbered.
def test_large_tables_of_few_rows():
    rng = np.random.default_rng(9)
    arities = {"a": 30, "b": 20, "c": 11}
    dataset = make_dataset(
        {n: rng.integers(0, r, 25).tolist() for n, r in arities.items()}, arities
    )
    for score in (bd_for(dataset), bde_for(dataset)):
        assert_equals_formula(Scorer(dataset, score), 2)


# P(b = 1 | a) with tables given for parents in the order (c, a): rows are in name order (a, c).
def test_names_given_in_any_order_and_columns_in_any_order():
    values = np.arange(1.0, 25.0).reshape(12, 2)
    ordered, turned = BD(tables={("b", ("a", "c")): values}), BD(tables={("b", ("c", "a")): values})
    dataset = small_dataset()
    moved = Dataset(dataset.variables[::-1], [dataset.codes(n) for n in dataset.names[::-1]])
    scores = {
        Scorer(d, s).family("b", ["c", "a"]) for d in (dataset, moved) for s in (ordered, turned)
    }
    (counts,) = CountingEngine(dataset).count([("b", ["a", "c"])])
    assert len(scores) == 1
    assert scores.pop() == pytest.approx(ordered.family(counts), rel=1e-12)


# a | one has the pseudo-counts (9, 1), a alone (1, 9): a parent with one state may win.
def test_a_parent_with_one_state_may_win_with_tables():
    dataset = make_dataset({"a": [0, 0, 0], "one": [0, 0, 0]}, {"a": 2, "one": 1})
    tables = {
        ("a", ()): [[1, 9]],
        ("a", ("one",)): [[9, 1]],
        ("one", ()): [[1]],
        ("one", ("a",)): [[1], [1]],
    }
    for max_parents in (1, None):
        table = build_score_table(Scorer(dataset, BD(tables=tables)), max_parents=max_parents)
        # 9 10 11 / (10 11 12) = 3/4
        assert table.sets("a")[0] == (pytest.approx(log(3 / 4)), ("one",))


def test_large_products_equal_the_formula():
    net, last = knotted_net(20)  # made by one thread at a time
    dataset = make_dataset({last: [0, 1, 1], "x188": [0, 0, 1], "h00": [1, 0, 0]})
    scorer = Scorer(dataset, BDe(prior=net), threads=3)
    families = [(last, ["x188"]), (last, ["h00"])]
    counts = CountingEngine(dataset).count(families)
    expected = [scorer.score.family(c) for c in counts]
    assert scorer.families(families) == pytest.approx(expected, rel=1e-9)
