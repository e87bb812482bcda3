"""Structure priors: Example 7.5 and Exercise 7.18 of Jensen and Nielsen, and in a Scorer."""

import pickle
from math import log, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestdag.errors import InvalidParameterError, UnknownNameError
from bestdag.graph.dag import Dag
from bestdag.scores.parent_sets.limits import parent_sets
from bestdag.scores.prior import ArcDifferencePrior, StructurePrior, UniformPrior
from bestdag.scores.scorer import Scorer
from tests.conftest import examples, make_dataset

X = ["X1", "X2", "X3"]
CHAIN = Dag(X, [("X1", "X2"), ("X2", "X3")])
DATA = make_dataset({"X3": [0, 1, 1, 0], "X1": [0, 1, 0, 1], "X2": [1, 1, 0, 0]})


def log_prior(prior, dag):
    return sum(prior.family(node, frozenset(dag.parents(node))) for node in dag.nodes)


def random_dag(seed, names):
    rng = np.random.default_rng(seed)
    order = rng.permutation(names).tolist()
    pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    return Dag(names, [pair for pair in pairs if rng.random() < 0.5])


# Example 7.5: B_P is X1 -> X2 -> X3. Differences at X1, X2, X3:
#   B_1, X1 <- X2 -> X3: {X2} against none, none against {X1}, {X2} against {X2}: 1 + 1 + 0
#   B_2, X1 <- X2 <- X3: {X2} against none, {X3} against {X1}, none against {X2}: 1 + 2 + 1
#   B_3, X1 -> X2 <- X3: none against none, {X1, X3} against {X1}, none against {X2}: 0 + 1 + 1
@pytest.mark.parametrize(
    ("arcs", "differences"),
    [
        ([("X2", "X1"), ("X2", "X3")], [1, 1, 0]),
        ([("X2", "X1"), ("X3", "X2")], [1, 2, 1]),
        ([("X1", "X2"), ("X3", "X2")], [0, 1, 1]),
        (CHAIN.arcs, [0, 0, 0]),
    ],
)
def test_example_7_5(arcs, differences):
    prior = ArcDifferencePrior(CHAIN, kappa=0.1)
    dag = Dag(X, arcs)
    assert [prior.difference(x, frozenset(dag.parents(x))) for x in X] == differences
    assert log_prior(prior, dag) == pytest.approx(sum(differences) * log(0.1), rel=1e-15)


# Exercise 7.18: take an arc a -> b of the prior network. The graphs with a -> b alone and with
# b -> a alone are equivalent. Against m arcs they differ in m - 1 and m + 1 places.
@given(st.integers(0, 2**32), st.floats(0.01, 0.99))
@settings(max_examples=examples(50))
def test_exercise_7_18(seed, kappa):
    names = list("abcd")
    network = random_dag(seed, names)
    prior = ArcDifferencePrior(network, kappa=kappa)
    m = len(network.arcs)
    assert prior.is_score_equivalent == (m == 0)
    for a, b in network.arcs:
        forward, backward = Dag(names, [(a, b)]), Dag(names, [(b, a)])
        assert log_prior(prior, forward) == pytest.approx((m - 1) * log(kappa))
        assert log_prior(prior, backward) == pytest.approx((m + 1) * log(kappa))


# Against the empty network every arc is one difference, whichever way it points.
@given(st.integers(0, 2**32))
@settings(max_examples=examples(20))
def test_empty_prior_network_is_score_equivalent(seed):
    names = list("abcd")
    prior = ArcDifferencePrior(Dag(names, []), kappa=0.3)
    dag = random_dag(seed, names)
    for member in dag.cpdag().members():
        assert log_prior(prior, member) == pytest.approx(len(dag.arcs) * log(0.3))


def test_kappa_1_is_uniform():
    prior = ArcDifferencePrior(CHAIN, kappa=1)
    assert prior.is_score_equivalent
    assert prior.family("X1", frozenset({"X3"})) == UniformPrior().family("X1", frozenset()) == 0.0


def test_takes_the_graph_of_a_network():
    class Net:
        dag = CHAIN

    assert ArcDifferencePrior(Net(), kappa=0.5) == ArcDifferencePrior(CHAIN, kappa=0.5)


@pytest.mark.parametrize("prior", [UniformPrior(), ArcDifferencePrior(CHAIN, kappa=0.5)])
def test_priors_are_values(prior):
    assert isinstance(prior, StructurePrior)
    assert pickle.loads(pickle.dumps(prior)) == prior
    assert hash(prior) == hash(pickle.loads(pickle.dumps(prior)))


@pytest.mark.parametrize("kappa", [0, -0.5, 1.01, nan, float("inf"), "0.5", None, True])
def test_refuses_kappa_outside_0_and_1(kappa):
    with pytest.raises(InvalidParameterError, match="kappa must be a number above 0 and at most 1"):
        ArcDifferencePrior(CHAIN, kappa=kappa)


def test_refuses_what_is_not_a_network():
    with pytest.raises(InvalidParameterError, match="must be a Dag or a Network, got str"):
        ArcDifferencePrior("net.bif", kappa=0.5)


# In a Scorer.


class Ones:
    name = "ones"
    is_score_equivalent = True

    def family(self, counts):
        return -1.0

    def kernel(self):
        return None


def test_scorer_adds_the_prior_everywhere():
    prior = ArcDifferencePrior(CHAIN, kappa=0.2)
    plain, scorer = Scorer(DATA, "bic"), Scorer(DATA, "bic", prior)
    # X2 given X3: {X3} against {X1} are two differences.
    expected = plain.family("X2", ["X3"]) + 2 * log(0.2)
    assert scorer.family("X2", ["X3"]) == pytest.approx(expected, rel=1e-15)
    assert scorer.families([("X2", ["X3"])])[0] == scorer.family("X2", ["X3"])
    dag = Dag(X, [("X2", "X1"), ("X3", "X2")])
    assert scorer.total(dag) == pytest.approx(plain.total(dag) + 4 * log(0.2), rel=1e-14)
    explanation = scorer.explain("X2", ["X3"])
    assert explanation.terms["structure prior"] == pytest.approx(2 * log(0.2))
    assert explanation.value == pytest.approx(expected, rel=1e-14)
    assert sum(explanation.terms.values()) == pytest.approx(explanation.value, rel=1e-14)
    assert "structure prior" in str(explanation)
    assert "structure prior" not in plain.explain("X2", ["X3"]).terms


@pytest.mark.parametrize("score", ["bic", "k2", Ones()])
def test_scorer_adds_the_prior_in_bulk(score):
    scorer = Scorer(DATA, score, ArcDifferencePrior(CHAIN, kappa=0.2))
    # In name order: add X1, leave X2 out (the child), drop X3.
    expected = [scorer.family("X2", p) for p in (["X1", "X3"], ["X3"], [])]
    assert scorer.changes("X2", ["X3"]) == pytest.approx(expected, rel=1e-14)
    assert scorer.additions("X2", ["X3"], ["X1"]) == pytest.approx(expected[:1], rel=1e-14)
    for child, scores in scorer.all_families(2).items():
        others = [name for name in X if name != child]
        one_by_one = [scorer.family(child, p) for p in parent_sets(others, 2)]
        assert scores == pytest.approx(one_by_one, rel=1e-12)


def test_a_score_that_names_no_terms_is_the_term_beside_the_prior():
    scorer = Scorer(DATA, Ones(), ArcDifferencePrior(CHAIN, kappa=0.2))
    explanation = scorer.explain("X2")
    assert explanation.terms == {"data": -1.0, "structure prior": log(0.2)}
    assert explanation.value == scorer.family("X2") == -1.0 + log(0.2)


def test_scorer_keeps_the_prior_when_pickled():
    scorer = Scorer(DATA, "bic", ArcDifferencePrior(CHAIN, kappa=0.2))
    again = pickle.loads(pickle.dumps(scorer))
    assert again.structure_prior == scorer.structure_prior
    assert again.family("X1", ["X3"]) == scorer.family("X1", ["X3"])
    assert "kappa=0.2" in repr(again)


@pytest.mark.parametrize(
    ("score", "prior", "expected"),
    [
        ("bdeu", None, True),
        ("bdeu", UniformPrior(), True),
        ("k2", UniformPrior(), False),
        ("bdeu", ArcDifferencePrior(CHAIN, kappa=0.5), False),
        ("bdeu", ArcDifferencePrior(Dag(X, []), kappa=0.5), True),
        ("k2", ArcDifferencePrior(CHAIN, kappa=0.5), False),
    ],
)
def test_scorer_is_score_equivalent_when_score_and_prior_are(score, prior, expected):
    assert Scorer(DATA, score, prior).is_score_equivalent is expected


class Own:
    is_score_equivalent = True

    def __init__(self, value):
        self.value = value

    def family(self, child, parents):
        return self.value if parents else 0.0


def test_a_prior_of_ones_own_may_forbid():
    assert Scorer(DATA, "bic", Own(-float("inf"))).family("X1", ["X2"]) == -float("inf")


@pytest.mark.parametrize("value", [nan, float("inf")])
def test_refuses_a_prior_that_is_no_logarithm(value):
    scorer = Scorer(DATA, "bic", Own(value))
    with pytest.raises(InvalidParameterError, match=r"for 'X1' given \['X2'\] must be a number"):
        scorer.family("X1", ["X2"])


def test_refuses_what_is_not_a_prior():
    with pytest.raises(InvalidParameterError, match="structure_prior must have family"):
        Scorer(DATA, "bic", 0.5)


def test_a_variable_the_prior_network_does_not_know_is_named_at_once():
    prior = ArcDifferencePrior(Dag(["X1", "X2"], []), kappa=0.5)
    with pytest.raises(UnknownNameError, match="ArcDifferencePrior: unknown variable 'X3'"):
        Scorer(DATA, "bic", prior)
