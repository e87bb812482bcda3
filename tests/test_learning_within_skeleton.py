"""Learning within a skeleton: every search keeps to it, and a proof says where it holds."""

from itertools import product

import numpy as np
import pytest

from bestdag import Knowledge, Network, Scorer, learn, pc, pc_skeleton
from bestdag.errors import BestdagError, DataWarning, InvalidParameterError
from bestdag.examples import example
from bestdag.graph.enumeration import all_dags
from bestdag.search import SEARCHES
from bestdag.search.result import Limits

CSV = example("asia.csv")


@pytest.fixture(scope="module")
def data():
    return Network.load(example("asia.bif")).sample(500, seed=2)


def search(name):
    target = {"target": "dysp"} if "target" in getattr(SEARCHES[name], "__slots__", ()) else {}
    return SEARCHES[name](**target)


@pytest.mark.parametrize("name", SEARCHES)
def test_every_search_keeps_to_the_links(data, name):
    links = {frozenset(edge) for edge in pc(data, alpha=0.2).skeleton.edges}
    if name in ("tan", "naive_bayes"):  # they need links from the class to every other variable
        with pytest.raises(BestdagError):
            learn(data, search=search(name), knowledge=pc_skeleton(data, alpha=0.2))
        return
    result = learn(data, "bdeu", search=search(name), knowledge=pc_skeleton(data, alpha=0.2))
    assert {frozenset(arc) for arc in result.dag.arcs} <= links
    assert result.limits == Limits(support=5, has_skeleton=True)


def test_the_optimum_is_that_of_all_structures_along_the_links():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, (4, 60))
    codes[1] = np.where(rng.random(60) < 0.8, codes[0], codes[1])
    codes[2] = np.where(rng.random(60) < 0.8, codes[1], codes[2])
    table = {name: [str(c) for c in row] for name, row in zip("ABCD", codes, strict=True)}
    links = [("A", "B"), ("A", "C"), ("C", "D")]
    result = learn(table, "bic", search="exact", knowledge=Knowledge(skeleton=links), support=0)
    scorer = Scorer(result.dataset, "bic")
    along = {*links, *(link[::-1] for link in links)}
    allowed = [dag for dag in all_dags(list("ABCD")) if along.issuperset(dag.arcs)]
    assert len(allowed) == 27  # three links, each absent or one of two ways, none in a circle
    best = max(scorer.total(dag) for dag in allowed)
    assert result.score == pytest.approx(best, abs=1e-9)
    assert result.is_proved
    assert result.verify()
    assert result.headline().startswith("best of all networks within the skeleton (proved; exact")


def test_a_bound_is_one_within_the_skeleton(data):
    result = learn(data, "bdeu", search="hill_climb", knowledge=pc_skeleton(data)).bounded()
    full = learn(data, "bdeu", search="exact")
    assert result.bound >= result.score
    assert result.limits.words() in result.shortfall()
    assert "within the skeleton" in result.limits.words()
    assert result.score <= full.score + 1e-9
    assert not full.limits.has_skeleton


def test_required_arcs_are_in_the_skeleton(data):
    result = learn(data, knowledge=pc_skeleton(data, knowledge=["asia -> xray"]))
    assert result.dag.has_arc("asia", "xray")


def test_links_that_there_is_no_time_to_test_stay():
    rng = np.random.default_rng(0)
    common = rng.integers(0, 3, 3000)
    table = {
        f"v{i:03d}": np.where(rng.random(3000) < 0.5, common, rng.integers(0, 3, 3000)).astype(str)
        for i in range(150)
    }
    with pytest.warns(DataWarning, match="no time for all tests"):
        known = pc_skeleton(table, time_limit=1e-3)
    assert learn(table, knowledge=known, search="hill_climb").limits.has_skeleton


def test_statements_of_a_skeleton():
    known = Knowledge.parse(["skeleton: A B | B C"])
    assert str(known) == "skeleton: A B | B C"
    assert known.skeleton == (("A", "B"), ("B", "C"))
    assert Knowledge.from_dict(known.to_dict()) == known
    both = known | Knowledge(skeleton=[("C", "B"), ("A", "C")])
    assert both.skeleton == (("B", "C"),)
    assert Knowledge.parse(["skeleton:"]).skeleton == ()
    allowed = known.for_nodes(list("ABCD")).allowed
    for one, other in product(range(4), repeat=2):
        assert allowed[one, other] == ({one, other} in ({0, 1}, {1, 2}))


@pytest.mark.parametrize("alpha", [0.0, 3, float("nan")])
def test_refuses_levels_that_are_none(data, alpha):
    with pytest.raises(InvalidParameterError, match="alpha must be a number between 0 and 1"):
        pc_skeleton(data, alpha=alpha)
