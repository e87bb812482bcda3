"""Scores of a user's own, over anything: every search and the lister take them as they take BIC."""

from __future__ import annotations

import csv
import math
import pickle
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest

from bestdag import Checkpoint, learn, load
from bestdag.errors import GraphError, InvalidParameterError, UnknownNameError
from bestdag.examples import example
from bestdag.graph.dag import Dag
from bestdag.graph.enumeration import all_dags
from bestdag.graph.knowledge import Knowledge
from bestdag.scores import SCORES
from bestdag.scores.bic import BIC
from bestdag.scores.local_scores import LocalScores, describe
from bestdag.scores.parent_sets.build import build_score_table
from bestdag.scores.parent_sets.listing import ParentSetListing
from bestdag.scores.prior import ArcDifferencePrior
from bestdag.scores.scorer import Scorer
from bestdag.scores.table import ScoreTable
from bestdag.search import SEARCHES, make_search
from bestdag.search.bound import upper_bound
from bestdag.search.exact.search import Exact
from bestdag.search.problem import Problem
from tests.conftest import make_dataset
from tests.shared_data import shared_file

NAMES = ("a", "b", "c", "d", "e")


def noise(seed, names=NAMES):
    """Scores that are nothing but random numbers, one for each family; some tie, some forbid."""

    def family(child, parents):
        key = f"{seed} {child} {' '.join(parents)}"
        rng = np.random.default_rng(list(key.encode()))
        value = rng.normal(-0.4 * len(parents), 1.0)
        return round(value, 1) if rng.random() < 0.9 or not parents else -math.inf

    return LocalScores.of(names, family, description=f"noise {seed}")


def table_of(scores):
    """All sets of all children, by another route than the lister."""
    names = scores.names
    every = scores.all_families(len(names) - 1)
    sets = {}
    for child in names:
        others = [name for name in names if name != child]
        families = [
            tuple(o for k, o in enumerate(others) if bits >> k & 1)
            for bits in range(1 << len(others))
        ]
        sets[child] = [(scores.family(child, f), f) for f in families]
        assert sorted(s for s, _ in sets[child]) == sorted(every[child].tolist())
    return sets


def best_by_enumeration(scores):
    return max(scores.total(dag) for dag in all_dags(scores.names))


def asia(score="bic"):
    return Scorer(str(example("asia.csv")), score)


@dataclass(frozen=True, eq=False)
class Gaussian(LocalScores):
    """Linear Gaussian BIC over raw columns."""

    columns: dict
    name = "gaussian_bic"
    is_score_equivalent = True

    @property
    def names(self):
        return tuple(sorted(self.columns))

    def family(self, child, parents=()):
        y = self.columns[child]
        x = np.column_stack([np.ones(len(y)), *(self.columns[name] for name in parents)])
        residual = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
        fit = -len(y) / 2 * (np.log(2 * np.pi * np.mean(residual**2)) + 1)
        return fit - np.log(len(y)) / 2 * (x.shape[1] + 1)


class BoundedGaussian(Gaussian):
    def upper_bound(self, child, parents):
        n, others = len(self.columns[child]), [name for name in self.names if name != child]
        (best,) = self.families([(child, others)])
        fit = best + np.log(n) / 2 * (len(others) + 2)
        return fit - np.log(n) / 2 * (len(parents) + 3) + 1e-9


def gaussian_columns(n_variables=6, n_rows=200, seed=1):
    rng = np.random.default_rng(seed)
    columns = {}
    for i in range(n_variables):
        parents = [name for name in columns if rng.random() < 0.5]
        columns[f"x{i}"] = sum((columns[p] for p in parents), rng.normal(0, 1, n_rows))
    return columns


@pytest.mark.parametrize("seed", range(8))
def test_exact_search_finds_the_best_of_random_numbers(seed):
    scores = noise(seed, NAMES[:4])
    best = best_by_enumeration(scores)
    for engine in ("auto", "dp", "bnc"):
        found = Problem(scores).solve(Exact(engine=engine))
        assert found.status == "optimum proved"
        assert found.score == pytest.approx(best, abs=1e-9)
        assert scores.total(found.dag) == pytest.approx(found.score, abs=1e-9)


@pytest.mark.parametrize("name", list(SEARCHES))
def test_every_search_takes_numbers_of_a_users_own(name):
    settings = {"target": "x0"} if name in ("tan", "naive_bayes") else {}
    scores = Gaussian(gaussian_columns())
    found = learn(scores, search=make_search(name, **settings))
    assert found.score == pytest.approx(scores.total(found.dag), rel=1e-9)
    best = learn(scores, search="exact")
    assert best.is_proved
    assert found.score <= best.score + 1e-9
    assert found.dataset is None
    assert found.scores is scores
    assert "gaussian_bic of 6 variables" in str(found)


@pytest.mark.parametrize("name", [n for n in SEARCHES if n not in ("annealing", "auto", "order")])
def test_a_function_serves_every_search_as_the_score_does(name):
    """Searches of fixed steps go the same way whether numbers come from a kernel or a function."""
    scorer = asia()
    own = LocalScores.of(scorer.names, scorer.family, is_score_equivalent=True)
    settings = {"target": "dysp"} if name in ("tan", "naive_bayes") else {}
    search = make_search(name, **settings)
    there, here = Problem(scorer).solve(search), Problem(own).solve(search)
    assert here.score == pytest.approx(there.score, rel=1e-12)
    assert here.dag.cpdag() == there.dag.cpdag()


def test_default_search_proves_and_bounds():
    own = LocalScores.of(asia().names, asia().family, is_score_equivalent=True)
    found = learn(own)
    assert found.is_proved
    assert found.score == pytest.approx(Problem(asia()).solve(Exact()).score)
    assert upper_bound(Problem(own)).value == pytest.approx(found.score)


def test_near_optimal_structures_and_knowledge_hold():
    scores = noise(3, NAMES[:4])
    knowledge = Knowledge.parse(["a !- b", "c < d"]).for_nodes(scores.names)
    allowed = sorted(
        (
            scores.total(dag)
            for dag in all_dags(scores.names)
            if all(knowledge.allowed[scores.number(p), scores.number(c)] for p, c in dag.arcs)
        ),
        reverse=True,
    )
    found = learn(scores, search="exact", near_optimal=5, knowledge=["a !- b", "c < d"])
    assert [one.score for one in found.structures] == pytest.approx(allowed[:5], abs=1e-9)


@pytest.mark.parametrize("prune", [True, False])
@pytest.mark.parametrize("margin", [0.0, 0.7])
@pytest.mark.parametrize("seed", range(4))
def test_lists_have_every_set_that_no_subset_beats(seed, prune, margin):
    scores = noise(seed)
    listing = ParentSetListing(scores, prune=prune, margin=margin)
    listing.run()
    table = listing.table()
    assert table.complete
    assert listing.is_over
    for child, sets in table_of(scores).items():
        known = {frozenset(parents): score for score, parents in sets}
        best_inside = {
            one: max((s for other, s in known.items() if other < one), default=-math.inf)
            for one in known
        }
        kept = {
            one: score
            for one, score in known.items()
            if score > -math.inf
            and (
                not prune
                or (score > best_inside[one] if margin == 0 else score + margin >= best_inside[one])
            )
        }
        assert {frozenset(p): s for s, p in table.sets(child)} == kept


def test_the_lister_is_the_same_fed_or_not():
    scorer = asia()
    own = LocalScores.of(scorer.names, scorer.family)
    for limits in ({}, {"max_parents": 2}, {"required": {"dysp": ["bronc"]}}, {"prune": False}):
        fed, direct = build_score_table(own, **limits), build_score_table(scorer, **limits)
        for i in range(8):
            listed, known = dict(map(reversed, fed.child(i))), dict(map(reversed, direct.child(i)))
            # A kernel leaves out parents that are functions of others, which can only tie.
            assert listed.keys() >= known.keys()
            assert all(listed[p] == pytest.approx(known[p], abs=1e-9) for p in known)


def test_bounds_of_a_users_own_leave_out_what_cannot_matter():
    columns = gaussian_columns(9)
    plain, bounded = (
        build_score_table(Gaussian(columns)),
        build_score_table(BoundedGaussian(columns)),
    )
    assert bounded == plain
    assert bounded.n_scored < plain.n_scored == 9 * 2**8


def test_a_listing_that_was_stopped_is_bounded_where_the_score_bounds():
    columns = gaussian_columns(9)
    best = learn(Gaussian(columns), search="exact").score
    for scores, is_bounded in ((Gaussian(columns), False), (BoundedGaussian(columns), True)):
        listing = ParentSetListing(scores)
        listing.run(1e-9)
        table = listing.table()
        assert table.n_sets == 9
        assert not table.complete
        assert table.is_bounded == is_bounded
        if is_bounded:
            open_sets = [table.open_sets(i) for i in range(9)]
            most = [max([*table.child(i).scores, *open_sets[i].scores]) for i in range(9)]
            assert sum(most) >= best - 1e-9
        listing.run()
        assert listing.table().complete


def test_ctrl_c_while_a_listing_is_fed_loses_nothing():
    calls = []

    def family(child, parents):
        calls.append((child, parents))
        if len(calls) == 40:
            raise KeyboardInterrupt
        return float(-len(parents))

    listing = ParentSetListing(LocalScores.of(list("abcdef"), family))
    with pytest.raises(KeyboardInterrupt):
        listing.run()
    assert 6 <= listing.table().n_scored < 6 * 2**5
    listing.run()
    assert listing.table().complete
    assert listing.table().n_scored == 6 * 2**5


def test_what_it_answers_is_the_function():
    scores = noise(5)
    changes = scores.changes("c", ["a"])
    wanted = [("c", ()), ("c", ("a", "b")), ("c", ("a",)), ("c", ("a", "d")), ("c", ("a", "e"))]
    assert changes.tolist() == [scores.family(*one) for one in wanted]
    pairs = scores.pair_scores(["a", "b", "d"], ["e"])
    assert pairs[0, 2] == scores.family("d", ("a", "e"))
    assert pairs[1, 1] == scores.family("b", ("e",))
    late = scores.numbered_changes([(0, [])], [np.arange(5, dtype=np.int32)], 0.0)
    assert np.isnan(late).all()
    assert scores.all_families(2, 0.0) is None
    with pytest.raises(GraphError, match="cannot be its own parent"):
        scores.families([("a", ["a"])])
    with pytest.raises(UnknownNameError, match="'z'"):
        scores.families([("a", ["z"])])
    with pytest.raises(GraphError, match="same variables"):
        scores.total(Dag(["a"]))


def test_each_family_is_asked_for_once():
    asked = []

    def family(child, parents):
        asked.append((child, parents))
        return -float(len(parents))

    learn(LocalScores.of(list("abcd"), family), search="hill_climb")
    assert len(asked) == len(set(asked))


@pytest.mark.parametrize("value", [math.nan, math.inf, "much", None])
def test_values_that_are_no_scores_are_refused(value):
    scores = LocalScores.of(["a", "b"], lambda child, parents: value, name="mine")
    with pytest.raises(InvalidParameterError, match="mine: family\\(\\) must give a number"):
        learn(scores, search="hill_climb")


def test_learn_takes_a_scorer_and_keeps_its_settings():
    scorer = Scorer(str(example("asia.csv")), "bdeu", "sparse", support=5)
    found, asked = learn(scorer), learn(str(example("asia.csv")), "bdeu", structure_prior="sparse")
    assert (found.dag, found.score, found.limits) == (asked.dag, asked.score, asked.limits)
    assert found.network == asked.network
    with pytest.raises(InvalidParameterError, match="leave out score"):
        learn(scorer, "bic")


def test_what_describes_itself_tells_settings_apart():
    @dataclass(frozen=True)
    class Settings:
        weight: float
        words: tuple = ("x",)

    assert describe(Settings(1.0)) == describe(Settings(1.0)) != describe(Settings(2.0))
    arrays = np.arange(4), np.arange(4.0)
    assert len({describe(a) for a in (*arrays, arrays[0][:3], arrays[0].reshape(2, 2))}) == 4
    assert describe(object()) is describe([1, object()]) is describe({"a": len}) is None
    for name, kind in SCORES.items():
        assert describe(kind()) is not None, name
    networks = [load(example("asia.bif")), load(example("asia.bif")).do(smoke="yes")]
    bde = [describe(SCORES["bde"](prior=network)) for network in networks]
    assert None not in bde
    assert bde[0] != bde[1]
    priors = [ArcDifferencePrior(network, kappa=0.5) for network in networks]
    assert describe(priors[0]) is not None
    bd = [describe(SCORES["bd"](tables={("a", ()): [[1.0, n]]})) for n in (1.0, 2.0)]
    assert None not in bd
    assert bd[0] != bd[1]
    data = make_dataset({"a": [0, 1], "b": [1, 1]})
    assert Scorer(data, "bic").description() != Scorer(data, "aic").description()
    assert Scorer(data, "bic").description() != Scorer(data, "bic", support=5).description()
    assert Gaussian(gaussian_columns()).description() == Gaussian(gaussian_columns()).description()
    assert (
        Gaussian(gaussian_columns()).description()
        != Gaussian(gaussian_columns(seed=2)).description()
    )
    one = ScoreTable.from_lists(["a"], {"a": [(-1.0, ())]})
    assert one.description() != ScoreTable.from_lists(["a"], {"a": [(-2.0, ())]}).description()


def test_a_description_is_the_same_in_every_process():
    code = (
        "from bestdag import Scorer; from bestdag.examples import example;"
        "print(Scorer(str(example('asia.csv')), 'bdeu', 'sparse').description())"
    )
    texts = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
        for _ in range(2)
    }
    assert len(texts) == 1


class Strict:
    """A score of counts whose text says nothing of its settings."""

    name = "strict"
    is_score_equivalent = True

    def __init__(self, factor):
        self.factor = factor

    def family(self, counts):
        return self.factor * BIC().family(counts)

    def kernel(self):
        return None


@pytest.mark.parametrize(
    ("data", "score"),
    [
        (str(example("asia.csv")), Strict(2.0)),
        (LocalScores.of(list("abc"), lambda child, parents: -float(len(parents))), None),
    ],
)
def test_what_does_not_describe_itself_has_no_checkpoint(data, score, tmp_path):
    with pytest.raises(InvalidParameterError, match=r"description\(\)"):
        learn(data, score, search="hill_climb", checkpoint=tmp_path / "run")
    assert not list(tmp_path.iterdir())


def test_what_describes_itself_is_resumed_and_other_settings_are_refused(tmp_path):
    class Described(Strict):
        def description(self):
            return f"strict by {self.factor}"

    table, file = str(example("asia.csv")), tmp_path / "run"
    found = learn(table, Described(2.0), search="hill_climb", checkpoint=file)
    again = learn(
        table, Described(2.0), search="hill_climb", checkpoint=Checkpoint(file, resume=True)
    )
    assert again.dag == found.dag
    with pytest.raises(Exception, match="score"):
        learn(table, Described(3.0), search="hill_climb", checkpoint=Checkpoint(file, resume=True))


def test_own_scores_travel_to_other_processes():
    scores = Gaussian(gaussian_columns())
    scores.families([("x0", ())])
    again = pickle.loads(pickle.dumps(scores))
    assert again.family("x0", ("x1",)) == scores.family("x0", ("x1",))
    assert again.families([("x1", ["x0"])]).tolist() == [scores.family("x1", ("x0",))]


def test_proof_on_the_numbers_of_wine():
    """Both engines prove the same optimum over 13 columns of numbers, which are never binned."""
    with open(shared_file("uci/wine.csv"), newline="") as file:
        rows = list(csv.DictReader(file))
    names = [name for name in rows[0] if name != "class"]
    scores = Gaussian({name: np.array([float(row[name]) for row in rows]) for name in names})
    found = learn(scores, search=Exact(engine="dp"))
    assert found.is_proved
    other = learn(scores, search=Exact(engine="bnc"))
    assert other.is_proved
    assert other.score == pytest.approx(found.score, abs=1e-6)
    assert found.score == pytest.approx(by_determinants(scores.columns, found.dag), abs=1e-6)
    climbed = learn(scores, search="hill_climb")
    assert climbed.score <= found.score


def by_determinants(columns, dag):
    """BIC of a Gaussian network from determinants of the covariance, without any regression."""
    names = list(columns)
    matrix = np.array([columns[name] for name in names])
    covariance, n = np.cov(matrix, bias=True), matrix.shape[1]

    def log_determinant(group):
        places = [names.index(one) for one in group]
        return np.linalg.slogdet(covariance[np.ix_(places, places)])[1] if places else 0.0

    total = 0.0
    for child in names:
        parents = list(dag.parents(child))
        variance = log_determinant([child, *parents]) - log_determinant(parents)
        total += -n / 2 * (np.log(2 * np.pi) + variance + 1)
        total -= np.log(n) / 2 * (len(parents) + 2)
    return total
