"""What every way to hold rows promises: for every score and search, the answers of memory."""

import numpy as np
import pytest

import bestdag as bd
from bestdag.counts.engine import CountingEngine
from bestdag.graph.knowledge import Knowledge
from bestdag.independence import TESTS, make_test
from bestdag.parameters import ESTIMATORS, make_estimator
from bestdag.scores import SCORES, make_score
from bestdag.scores.parent_sets.build import build_score_table
from bestdag.scores.prior import ArcPrior
from bestdag.scores.scorer import Scorer
from bestdag.search import SEARCHES, make_search
from bestdag.search.problem import Problem
from tests.conftest import make_dataset
from tests.providers import PROVIDERS
from tests.scores.prior_networks import BOUND_SCORES

elsewhere = pytest.mark.parametrize(
    "rows",
    [
        pytest.param(name, marks=pytest.mark.slow if name == "cluster" else ())
        for name in PROVIDERS
        if name != "memory"
    ],
)
every_setting = pytest.mark.parametrize("score", [*SCORES, *BOUND_SCORES])
TARGETS = {"tan": {"target": "a"}, "naive_bayes": {"target": "a"}}


def linked(n_rows=230, weights=None, seed=0, arities=(2, 3, 2, 4, 3)):
    """Columns that depend on those before them, in more than two blocks of rows."""
    rng = np.random.default_rng(seed)
    columns = {}
    for name, r in zip("cabed", arities, strict=True):
        noise = rng.integers(0, r, n_rows)
        before = sum(columns.values()) if columns else noise
        columns[name] = np.where(rng.random(n_rows) < 0.6, before % r, noise)
    drawn = {
        None: None,
        "whole": rng.integers(0, 4, n_rows) + 1,
        "real": rng.random(n_rows) + 0.01,
    }[weights]
    lists = {name: codes.tolist() for name, codes in columns.items()}
    return make_dataset(lists, dict(zip("cabed", arities, strict=True)), drawn)


def both(rows, dataset, score, **more):
    """Scorers over the rows in memory and elsewhere."""
    chosen = BOUND_SCORES[score](dataset) if score in BOUND_SCORES else make_score(score)
    return Scorer(dataset, chosen, **more), Scorer(PROVIDERS[rows](dataset), chosen, **more)


@elsewhere
@every_setting
@pytest.mark.parametrize("weights", [None, "whole", "real"])
def test_scores_of_families_changes_pairs_and_tables(rows, score, weights):
    if weights == "real" and getattr(SCORES.get(score), "needs_whole_counts", False):
        return
    here, there = both(rows, linked(weights=weights), score)
    families = [("a", list("bcde"[:k])) for k in range(5)] + [("e", ["d", "a"])]
    close = {"rtol": 1e-12, "atol": 1e-10 if weights == "real" else 0.0}
    np.testing.assert_allclose(there.families(families), here.families(families), **close)
    np.testing.assert_allclose(there.changes("b", ["d"]), here.changes("b", ["d"]), **close)
    pairs = [scorer.pair_scores(list("abcd"), ["e"]) for scorer in (there, here)]
    np.testing.assert_allclose(*pairs, rtol=1e-12, atol=1e-10)
    for name, found in there.all_families(2).items():
        np.testing.assert_allclose(found, here.all_families(2)[name], rtol=1e-12, atol=1e-10)
    tables = [build_score_table(scorer) for scorer in (there, here)]
    assert tables[0].complete
    assert_same_sets(*tables)


def assert_same_sets(one, other):
    for child in range(one.n_variables):
        a, b = ({p: s for s, p in table.child(child)} for table in (one, other))
        assert a.keys() == b.keys()
        np.testing.assert_allclose([a[p] for p in a], [b[p] for p in a], rtol=1e-12, atol=1e-10)


@elsewhere
@pytest.mark.parametrize("score", ["bdeu", "bic", "ll"])
@pytest.mark.parametrize("prune", [True, False])
def test_listed_sets_keep_to_limits_margins_and_priors(rows, score, prune):
    here, there = both(rows, linked(), score, structure_prior=_Favour())
    for more in (
        {"max_parents": 2},
        {"margin": 5.0},
        {"required": {"a": ["b"]}, "candidates": {"a": ["b", "c", "d"], "e": []}},
        {"knowledge": Knowledge.parse(["b -> c", "d !> a"])},
    ):
        tables = [build_score_table(scorer, prune=prune, **more) for scorer in (there, here)]
        assert_same_sets(*tables)


class _Favour(ArcPrior):
    """Some arcs are likelier."""

    is_score_equivalent = False

    def arc(self, parent, child):
        return 1.5 if parent < child else -2.0

    def family(self, child, parents):
        return sum(self.arc(parent, child) for parent in parents)


@elsewhere
@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("score", ["bdeu", "bic", "fnml"])
def test_searches_find_the_same_structure(rows, search, score):
    if search == "ges" and not make_score(score).is_score_equivalent:
        return
    found = []
    for scorer in both(rows, linked(), score):
        problem = Problem(scorer, workers=2)
        found.append(problem.solve(make_search(search, **TARGETS.get(search, {}))))
    here, there = found
    assert there.dag == here.dag
    assert there.score == pytest.approx(here.score, rel=1e-12)
    assert (there.status, there.search) == (here.status, here.search)
    assert (there.bound is None) == (here.bound is None)
    if here.bound is not None:
        assert there.bound == pytest.approx(here.bound, rel=1e-9)
    assert (here.rows_in, here.passes) == ("memory", 0)
    assert there.rows_in in ("disk", "cluster")
    assert there.passes > 0
    if there.is_proved:
        assert there.verify()


@elsewhere
def test_what_is_known_is_obeyed_and_structures_next_to_the_best_are_the_same(rows):
    dataset = linked()
    more = {"knowledge": ["a ~> d", "b !- c"], "near_optimal": 4}
    here, there = (bd.learn(d, "bdeu", **more) for d in (dataset, PROVIDERS[rows](dataset)))
    assert [s.dag for s in there.structures] == [s.dag for s in here.structures]
    assert there.is_proved


@elsewhere
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_fitted_tables_are_equal(rows, estimator):
    dataset = linked()
    dag = bd.Dag(list("abcde"), [("a", "b"), ("c", "b"), ("b", "e"), ("d", "e")])
    held = (dataset, PROVIDERS[rows](dataset))
    here, there = (bd.fit_network(dag, d, make_estimator(estimator)) for d in held)
    for name in "abcde":
        assert np.array_equal(there.table(name).values, here.table(name).values)


@elsewhere
@pytest.mark.parametrize("test", TESTS)
def test_tests_of_independence_give_the_same_answer(rows, test):
    more = {"n_permutations": 60} if test == "permutation" else {}
    dataset = linked()
    here, there = (
        bd.pc(d, test=make_test(test, **more)).pdag for d in (dataset, PROVIDERS[rows](dataset))
    )
    assert there == here


@elsewhere
def test_missing_cells_are_scored_by_the_rows_that_show_the_family(rows):
    dataset = linked(arities=(2, 3, 2, 4, 3))
    rng = np.random.default_rng(5)
    columns = [dataset.codes(name).copy() for name in dataset.names]
    for column, variable in zip(columns[:3], dataset.variables, strict=False):
        column[rng.random(dataset.n_rows) < 0.1] = variable.arity
    dataset = bd.Dataset(dataset.variables, columns)
    here, there = both(rows, dataset, "bic", missing="available")
    families = [("a", list("bcde"[:k])) for k in range(5)] + [("d", ["c"]), ("d", [])]
    np.testing.assert_allclose(there.families(families), here.families(families), rtol=1e-12)
    assert_same_sets(build_score_table(there), build_score_table(here))


@elsewhere
def test_all_families_of_a_call_share_one_pass(rows):
    engine = CountingEngine(PROVIDERS[rows](linked()))
    engine.count([("a", ["b"]), ("c", ["d", "e"]), ("b", list("acde"))])
    assert engine.provider.passes == 1
    scorer = Scorer(PROVIDERS[rows](linked()), "bic")
    scorer.changes("a", ["b"])
    scorer.all_families(2)
    assert scorer.passes == 2
