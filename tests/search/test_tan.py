"""TAN and naive Bayes: all TAN networks, every score; eq. 23-24; knowledge; other searches."""

import itertools
import pickle

import numpy as np
import pytest

from bestdag import (
    TAN,
    ArcDifferencePrior,
    BDe,
    Knowledge,
    NaiveBayes,
    Scorer,
    augmented,
    learn,
    read,
)
from bestdag.errors import GraphError, InvalidParameterError, UnknownNameError
from bestdag.graph.dag import Dag
from bestdag.scores import SCORES
from bestdag.search import make_search
from bestdag.search.problem import Problem
from tests.conftest import make_dataset
from tests.scores import prior_networks
from tests.search.trees import arborescences, forests, random_data

every_score = pytest.mark.parametrize("score", SCORES)


def run(data, search, score="bdeu", *, prior=None, **settings):
    scorer = Scorer(data, score, prior)
    return Problem(scorer, **settings).solve(search), scorer


def structures(names, target, trees):
    """All structures with the class above every attribute and one of these trees over them."""
    attributes = [name for name in names if name != target]
    above = [(target, name) for name in attributes]
    for parents in trees:
        arcs = [(attributes[p], attributes[c]) for c, p in enumerate(parents) if p >= 0]
        yield Dag(names, [*above, *arcs])


def best_score(scorer, dags):
    return max(scorer.total(dag) for dag in dags)


# The class comes first, in the middle and last among the names.
@every_score
@pytest.mark.parametrize("target", ["a", "c", "e"])
@pytest.mark.parametrize("forest", [False, True])
def test_is_the_best_of_all_tan_networks(score, target, forest):
    found, scorer = run(random_data(1, 5, 50), TAN(target=target, forest=forest), score)
    trees = forests(4) if forest else arborescences(4)
    every = list(structures(list("abcde"), target, trees))
    assert found.dag in every
    assert found.score == pytest.approx(best_score(scorer, every), rel=1e-11, abs=1e-9)
    assert found.score == pytest.approx(scorer.total(found.dag), rel=1e-12)


@pytest.mark.parametrize("score", ["bic", "fnml", "mit"])
def test_is_the_best_of_all_tan_networks_with_six_attributes_and_a_root(score):
    data = random_data(2, 6)
    found, scorer = run(data, TAN(target="d", root="e"), score)
    every = structures(sorted(data.names), "d", [t for t in arborescences(5) if t[3] == -1])
    assert found.dag.parents("e") == ("d",)
    assert found.score == pytest.approx(best_score(scorer, every), rel=1e-11)


# Equations 23 and 24: for log-likelihood the weights are N I(X; Y | C).
def test_weights_of_log_likelihood_are_conditional_mutual_information():
    data = random_data(1, 4)
    found, _ = run(data, TAN(target="b"), "ll")
    codes = {name: np.asarray(data.codes(name), int) for name in data.names}
    assert found.weights.names == ("a", "c", "d")
    assert found.weights.given == ("b",)
    for x, y in itertools.permutations("acd", 2):
        joint = np.zeros((4, 4, 4))
        np.add.at(joint, (codes[x], codes[y], codes["b"]), 1 / data.n_rows)
        information = 0.0
        for i, j, k in zip(*np.nonzero(joint), strict=True):
            p = joint[:, :, k].sum()
            both = joint[i, j, k] / p
            apart = joint[i, :, k].sum() / p * joint[:, j, k].sum() / p
            information += joint[i, j, k] * np.log(both / apart)
        got = found.weights.weight(x, y)
        assert got == pytest.approx(data.n_rows * information, rel=1e-9, abs=1e-9)


# MIT is equal on equivalent forests, but its weights given a class depend on the direction. With
# arities 2 of the class, 4 of d and 3 of e, larger parents first: d -> e costs the quantiles of 6
# and 8 degrees of freedom instead of 2, e -> d those of 6 and 9 instead of 3. At 0.99 that is
# (20.090 - 9.210) and (21.666 - 11.345), a difference of 0.559.
def test_weights_of_mit_are_symmetric_without_and_not_with_a_class():
    data = random_data(1, 5)
    assert [data.arities[name] for name in "cde"] == [2, 4, 3]
    without, _ = run(data, make_search("tree"), "mit")
    assert np.allclose(without.weights.matrix, without.weights.matrix.T, atol=1e-9)
    weights = run(data, TAN(target="c"), "mit")[0].weights
    difference = weights.weight("e", "d") - weights.weight("d", "e")
    assert difference == pytest.approx(0.559, abs=1.5e-3)


@every_score
def test_weight_is_the_gain_of_an_arc(score):
    found, scorer = run(random_data(4, 4), TAN(target="c"), score)
    for x, y in itertools.permutations("abd", 2):
        gain = scorer.family(y, [x, "c"]) - scorer.family(y, ["c"])
        assert found.weights.weight(x, y) == pytest.approx(gain, rel=1e-9, abs=1e-9)


def test_a_prior_network_needs_edmonds():
    names = list("abcd")
    prior = ArcDifferencePrior(Dag(names, [("d", "b"), ("b", "a")]), kappa=0.01)
    found, scorer = run(random_data(5, 4), TAN(target="c"), prior=prior)
    every = structures(names, "c", arborescences(3))
    assert found.score == pytest.approx(best_score(scorer, every), rel=1e-11)
    assert not found.dag.parents("c")


@pytest.mark.parametrize("target", ["v000", "v002", "v004"])
def test_a_prior_network_over_the_data(target):
    rng = np.random.default_rng(7)
    net = prior_networks.random_net(rng, 5, min_arity=2)
    data = prior_networks.random_data(rng, net, 60)
    found, scorer = run(data, TAN(target=target), BDe(prior=net, ess=3.0))
    every = structures(sorted(data.names), target, arborescences(4))
    assert found.score == pytest.approx(best_score(scorer, every), rel=1e-10)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_variables(n):
    found, scorer = run(random_data(1, n), TAN(target="a"), "bic")
    names = list("abc"[:n])
    every = list(structures(names, "a", arborescences(n - 1) if n > 1 else [()]))
    assert found.dag in every
    assert found.score == pytest.approx(best_score(scorer, every), rel=1e-12)


def test_constant_attributes_and_a_constant_class():
    data = make_dataset({"b": [0] * 30, "a": [0] * 30, "c": [0, 1, 1] * 10}, {"a": 1, "b": 1})
    for score in SCORES:
        for target in "abc":
            found, _ = run(data, TAN(target=target, forest=True), score)
            assert len(found.dag.arcs) == 2


@every_score
def test_ties_go_to_the_first_names(score):
    column = np.random.default_rng(0).integers(0, 3, 200).tolist()
    found, scorer = run(make_dataset(dict.fromkeys("dbca", column)), TAN(target="c"), score)
    assert found.dag.parents("a") == ("c",)
    if scorer.is_score_equivalent:
        assert found.dag.parents("b") == found.dag.parents("d") == ("a", "c")


STATEMENTS = [
    ["e -> a"],
    ["e -> a", "a -> d"],
    ["a !> b", "b !> a"],
    ["a -- e", "b -- d"],
    ["tiers: c e | d | b a"],
    ["a < d", "d < b"],
    ["leaves: a, b"],
    ["max_parents: 1"],
    ["max_parents a: 1"],
    ["roots: c"],
]


@pytest.mark.parametrize("score", ["bic", "fnml"])
@pytest.mark.parametrize("statements", STATEMENTS, ids=" ; ".join)
def test_knowledge_gives_the_best_network_that_obeys_it(score, statements):
    knowledge = Knowledge.parse(statements)
    found, scorer = run(random_data(1, 5), TAN(target="c"), score, knowledge=knowledge)
    obeying = [d for d in structures(list("abcde"), "c", forests(4)) if knowledge.allows(d)]
    fewest = max(len(dag.arcs) for dag in obeying)
    best = best_score(scorer, [dag for dag in obeying if len(dag.arcs) == fewest])
    assert knowledge.allows(found.dag)
    assert found.score == pytest.approx(best, rel=1e-11)


@pytest.mark.parametrize("search", [TAN(target="c"), NaiveBayes(target="c")])
@pytest.mark.parametrize("statement", ["c !> a", "a -> c", "roots: a", "a !- c", "tiers: a | c"])
def test_knowledge_against_the_class_is_refused_by_name(search, statement):
    with pytest.raises(GraphError) as caught:
        run(random_data(1, 4), search, knowledge=Knowledge.parse([statement]))
    assert statement in str(caught.value)


def test_more_than_a_tree_is_refused():
    knowledge = Knowledge.parse(["a -> d", "b -> d"])
    with pytest.raises(GraphError, match=r"tan: 'd' has .* 'a', 'b' beside the class"):
        run(random_data(1, 4), TAN(target="c"), knowledge=knowledge)
    with pytest.raises(GraphError, match=r"naive_bayes: .* 'a -> d: the arc is missing'"):
        run(random_data(1, 4), NaiveBayes(target="c"), knowledge=knowledge)


@pytest.mark.parametrize("search", [TAN(target="c"), NaiveBayes(target="c")])
def test_limits_of_parents(search):
    found, _ = run(random_data(1, 4), search, max_parents=1)
    assert found.dag == Dag(list("abcd"), [("c", "a"), ("c", "b"), ("c", "d")])
    with pytest.raises(GraphError, match="max_parents=0 leaves no room"):
        run(random_data(1, 4), search, max_parents=0)


@every_score
def test_naive_bayes(score):
    found, scorer = run(random_data(1, 4), NaiveBayes(target="b"), score)
    assert found.dag.arcs == (("b", "a"), ("b", "c"), ("b", "d"))
    assert found.score == pytest.approx(scorer.total(found.dag), rel=1e-12)
    assert found.status == "local optimum"
    assert found.notes == ("the only naive Bayes network with class 'b'",)


@pytest.mark.parametrize("name", ["tan", "naive_bayes"])
def test_target_is_needed_and_must_exist(name):
    with pytest.raises(InvalidParameterError, match=f"{name}: target must be .*, got None"):
        make_search(name)
    with pytest.raises(UnknownNameError, match=rf"{name}: unknown target 'B'.*did you mean 'b'"):
        run(random_data(1, 3), make_search(name, target="B"))


def test_the_class_cannot_be_the_root_of_the_attributes():
    with pytest.raises(UnknownNameError, match="tan: unknown root 'b'"):
        run(random_data(1, 3), TAN(target="b", root="b"))


def test_result_says_what_it_is_the_best_of():
    data = random_data(1, 4)
    assert run(data, TAN(target="b"))[0].notes == ("best of all TAN networks with class 'b'",)
    found, _ = run(data, TAN(target="b", root="a", forest=True))
    assert found.notes == (
        "best of all forest-augmented naive Bayes networks with class 'b' and root 'a'",
    )
    assert found.settings == {"target": "b", "root": "a", "forest": True}
    assert pickle.loads(pickle.dumps(found)).dag == found.dag


def test_time_limit_gives_naive_bayes():
    found, _ = run(random_data(1, 4), TAN(target="b"), time_limit=1e-9)
    assert found.status == "time limit"
    assert found.dag.arcs == (("b", "a"), ("b", "c"), ("b", "d"))


def test_many_states_are_counted_by_sorting():
    # 60 * 50 * 40 cells are more than 500 rows can fill.
    rng = np.random.default_rng(0)
    arities = {"a": 60, "b": 50, "c": 40, "d": 2}
    data = make_dataset({n: rng.integers(0, r, 500).tolist() for n, r in arities.items()}, arities)
    for score in ("bic", "fnml"):
        found, scorer = run(data, TAN(target="c"), score)
        for x, y in itertools.permutations("abd", 2):
            gain = scorer.family(y, [x, "c"]) - scorer.family(y, ["c"])
            assert found.weights.weight(x, y) == pytest.approx(gain, rel=1e-9)


def test_augmented_needs_a_class_that_the_data_have():
    data = read({"play": ["no", "yes"], "wind": ["a", "b"]})
    with pytest.raises(UnknownNameError, match=r"augmented: unknown target 'plya'.*'play'"):
        augmented("plya", data)
    # Names may be those of the attributes alone.
    assert augmented("play", ["wind"]) == augmented("play", data)


def test_augmented_naive_bayes_by_another_search():
    data = random_data(1, 4)
    result = learn(data, "bic", knowledge=augmented("b", data), support=0)
    assert result.is_proved
    assert all(result.dag.has_arc("b", other) for other in "acd")
    tan, scorer = run(data, TAN(target="b", forest=True), "bic")
    assert scorer.total(result.dag) >= tan.score - 1e-9
    assert augmented("b", data) == augmented("b", ["a", "b", "c", "d"])


def test_markov_blanket_of_the_class_in_a_free_network():
    data = random_data(1, 5)
    blanket = learn(data, "bic", support=0).dag.markov_blanket("c")
    assert set(blanket) < set("abde")
