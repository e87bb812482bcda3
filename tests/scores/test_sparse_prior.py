"""The sparse prior: values by hand, and the same in every way to score."""

import itertools
import math

import numpy as np
import pytest

from bestdag import QNML, Scorer, SparsePrior, bootstrap, learn, read
from bestdag.errors import InvalidParameterError, UnknownNameError
from bestdag.examples import example
from bestdag.graph.enumeration import all_dags
from bestdag.scores.parent_sets.build import build_score_table
from bestdag.search import SEARCHES, make_search
from bestdag.search.problem import Problem
from tests.conftest import make_dataset

NAMES = ("a", "b", "c", "d")


class ByFamily:
    """The same prior, known by its families alone."""

    is_score_equivalent = True

    def family(self, child, parents):
        return -len(parents) * math.log(3)


def data():
    rng = np.random.default_rng(3)
    a = rng.integers(0, 3, 200)
    b = np.where(rng.random(200) < 0.7, a, rng.integers(0, 3, 200))
    columns = {"a": a, "b": b, "c": rng.integers(0, 2, 200), "d": (a + b) % 2}
    return make_dataset({name: codes.tolist() for name, codes in columns.items()})


# Of four variables each has three others: an arc adds -ln 3 = -1.0986.
def test_an_arc_adds_the_same_everywhere():
    plain, sparse = Scorer(data(), "qnml"), Scorer(data(), "qnml", SparsePrior(4))
    for child in NAMES:
        others = [name for name in NAMES if name != child]
        for size in range(4):
            for parents in itertools.combinations(others, size):
                wanted = plain.family(child, parents) - size * math.log(3)
                assert sparse.family(child, parents) == pytest.approx(wanted, abs=1e-12)
                sizes = [len(set(parents) ^ ({name} - {child})) for name in NAMES]
                wanted = plain.changes(child, parents) - np.array(sizes) * math.log(3)
                assert sparse.changes(child, parents) == pytest.approx(wanted, abs=1e-12)
    for given in ((), ("d",)):
        names = [name for name in NAMES if name not in given]
        wanted = plain.pair_scores(names, given) - math.log(3) * (
            len(given) + 1 - np.eye(len(names))
        )
        assert sparse.pair_scores(names, given) == pytest.approx(wanted, abs=1e-12)


def test_lists_and_searches_agree_with_the_prior_by_families():
    fast, slow = (Scorer(data(), "qnml", prior) for prior in (SparsePrior(4), ByFamily()))
    for prune in (True, False):
        one, other = build_score_table(fast, prune=prune), build_score_table(slow, prune=prune)
        for child in NAMES:
            sets = {p: s for s, p in one.sets(child)}
            assert sets == pytest.approx({p: s for s, p in other.sets(child)})
    best = max(slow.total(dag) for dag in all_dags(NAMES))
    for search in SEARCHES:
        if search in ("tan", "naive_bayes"):
            continue
        found = Problem(fast).solve(make_search(search))
        assert found.score == pytest.approx(slow.total(found.dag), abs=1e-9)
        if found.is_proved:
            assert found.score == pytest.approx(best, abs=1e-9)


def test_it_is_the_default_where_no_score_is_named_and_only_there():
    asia = read(example("asia.csv"))
    assert learn(asia).structure_prior == SparsePrior(8)
    assert learn(asia).scored_by == QNML()
    assert learn(asia, "qnml").structure_prior is None
    assert learn(asia, structure_prior="uniform").structure_prior is None
    assert learn(asia, "bic", structure_prior="sparse").structure_prior == SparsePrior(8)
    plain = learn(asia, "qnml")
    sparse = learn(asia)
    assert sparse.score == pytest.approx(plain.score - 7 * math.log(7), abs=1e-9)  # seven arcs
    assert "SparsePrior(n_variables=8)" in str(bootstrap(asia, replicates=2).settings)


def test_slips_are_answered():
    with pytest.raises(UnknownNameError, match=r"structure prior 'spars'.*did you mean 'sparse'"):
        learn({"x": ["a", "b"] * 9, "y": ["a", "b"] * 9}, structure_prior="spars")
    with pytest.raises(InvalidParameterError, match="n_variables must be"):
        SparsePrior(0)
    assert SparsePrior(1).per_arc == SparsePrior(2).per_arc == 0.0
