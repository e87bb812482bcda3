"""Scorer: families, totals, explanations, own scores, refusals."""

import math
import pickle

import numpy as np
import pytest

from bestdag.errors import DataError, GraphError, InvalidParameterError, UnknownNameError
from bestdag.graph.dag import Dag
from bestdag.scores import SCORES, make_score
from bestdag.scores.scorer import Scorer
from tests.conftest import make_dataset

DATA = make_dataset({"b": [0, 1, 1, 0, 2], "a": [0, 1, 0, 1, 1], "c": [1, 1, 0, 0, 0]})


class Emptiness:
    """A score of one's own: minus the number of cells that are zero."""

    name = "emptiness"
    is_score_equivalent = False

    def family(self, counts):
        return -float(np.sum(counts.table == 0))

    def kernel(self):
        return None


def test_a_score_of_ones_own_needs_no_kernel():
    scorer = Scorer(DATA, Emptiness())
    # c given a: a=0 has c 1 and 0, a=1 has c 1, 0, 0: no cell is zero.
    # b given a: a=0 has b 0, 1; a=1 has b 1, 0, 2: one zero.
    assert scorer.families([("c", ["a"]), ("b", ["a"])]).tolist() == [0.0, -1.0]
    assert "score" in str(scorer.explain("b", ["a"]))


@pytest.mark.parametrize("name", SCORES)
def test_total_is_the_sum_of_the_families(name):
    scorer = Scorer(DATA, name)
    dag = Dag(["a", "b", "c"], [("a", "b"), ("a", "c"), ("c", "b")])
    parts = scorer.family("a") + scorer.family("b", ["c", "a"]) + scorer.family("c", ["a"])
    assert scorer.total(dag) == pytest.approx(parts, rel=1e-15)
    assert list(scorer.by_child(dag)) == ["b", "a", "c"]


def test_parents_in_any_order_and_repeated_are_one_family():
    scorer = Scorer(DATA)
    assert len({scorer.family("a", p) for p in (["b", "c"], ("c", "b"), {"b", "c"})}) == 1


def test_remembers_and_still_answers_after_pickling():
    scorer = Scorer(DATA, "bdeu", threads=1)
    value = scorer.family("a", ["b"])
    assert pickle.loads(pickle.dumps(scorer)).family("a", ["b"]) == value
    assert scorer.family("a", ["b"]) == value


def test_explains_the_arithmetic():
    text = str(Scorer(DATA, "bic").explain("a", ["b"]))
    # b has states 0, 1, 2 and all occur; a is 0 and 1 once each for b=0 and b=1.
    assert "N = 5; r = 2 states; 3 of q = 3 configurations seen" in text
    assert "log-likelihood" in text
    assert "penalty" in text
    assert "natural logarithms" in text


def test_refuses_a_graph_over_other_variables():
    with pytest.raises(GraphError, match="columns 'c' are not in the graph, and nodes 'x' are not"):
        Scorer(DATA).total(Dag(["a", "b", "x"], []))


def test_refuses_text_as_parents():
    with pytest.raises(GraphError, match="parents must be a list of names, got the text 'b'"):
        Scorer(DATA).family("a", "b")


def test_unknown_score_gets_a_suggestion():
    with pytest.raises(UnknownNameError, match=r"unknown score 'bdu'.*did you mean 'bdeu'"):
        Scorer(DATA, "bdu")


def test_mdl_is_bic():
    assert make_score("mdl") == make_score("bic")


def test_refuses_more_configurations_than_can_be_counted():
    # 300 parents with 20 states: 20**300 is about 1e390.
    columns = {f"v{i:03}": [0, 19, 3] for i in range(301)}
    scorer = Scorer(make_dataset(columns), "bdeu")
    child, *parents = columns
    with pytest.raises(DataError, match="'v000' with 300 parents has more than 1e308"):
        scorer.family(child, parents)


def test_what_is_no_data_or_no_score_is_refused_by_name():
    with pytest.raises(DataError, match="cannot read an object of type NoneType"):
        Scorer(None, "bic")
    with pytest.raises(InvalidParameterError, match="score must be a score or its name, got 3"):
        Scorer(DATA, 3)
    with pytest.raises(InvalidParameterError, match=r"give an instance, Emptiness\(\)"):
        Scorer(DATA, Emptiness)


def test_a_network_is_scored_by_its_structure():
    class Net:
        dag = Dag(["a", "b", "c"], [("a", "b")])

    scorer = Scorer(DATA, "bic")
    assert scorer.total(Net()) == scorer.total(Net.dag)
    assert scorer.by_child(Net()) == scorer.by_child(Net.dag)
    with pytest.raises(GraphError, match="a Dag or a network is needed, got int"):
        scorer.total(3)


@pytest.mark.parametrize("value", [math.nan, math.inf, None, "much"])
def test_a_score_of_your_own_must_give_numbers(value):
    class Odd:
        name = "odd"
        is_score_equivalent = False

        def family(self, counts):
            return value if counts.parents else -1.0

        def kernel(self):
            return None

    scorer = Scorer(make_dataset({"a": [0, 1], "b": [1, 0]}), Odd())
    assert scorer.family("a") == -1.0
    with pytest.raises(InvalidParameterError, match=r"odd: family\(\) must give a number"):
        scorer.family("a", ["b"])


@pytest.mark.parametrize("score", ["bic", Emptiness()], ids=["native", "python"])
def test_changes_that_time_does_not_allow_are_not_numbers(score):
    # How far native work gets is not known, but what it gives is right.
    rng = np.random.default_rng(0)
    data = make_dataset({f"v{i:02}": rng.integers(0, 2, 500).tolist() for i in range(40)})
    families = [(child, []) for child in range(40)]
    everyone = [np.arange(40, dtype=np.int32)] * 40
    in_time = np.array(Scorer(data, score).numbered_changes(families, everyone))
    late = np.array(Scorer(data, score).numbered_changes(families, everyone, 0.0))
    assert not np.isnan(in_time).any()
    assert np.all(np.isnan(late) | (late == in_time))
    if isinstance(score, Emptiness):
        assert np.isnan(late).all()


@pytest.mark.parametrize("name", ["score", "structure_prior", "dataset"])
def test_what_it_is_made_of_cannot_be_replaced(name):
    with pytest.raises(AttributeError):
        setattr(Scorer(DATA), name, None)
