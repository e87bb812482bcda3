"""K2: by hand, against a slow reference, orders from everywhere, contradictions."""

import numpy as np
import pytest

from bestdag.errors import GraphError, InvalidParameterError, UnknownNameError
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge import Knowledge
from bestdag.scores.scorer import Scorer
from bestdag.search.k2 import K2Search
from bestdag.search.problem import Problem
from tests.search.neighbours import linked_data
from tests.search.test_hill_climb import STATEMENTS, table_7_4


def slow_k2(scorer, order, max_parents):
    """The algorithm as Cooper and Herskovits print it."""
    parents = {}
    for i, child in enumerate(order):
        parents[child] = []
        old = scorer.family(child, [])
        while len(parents[child]) < max_parents:
            left = sorted(set(order[:i]).difference(parents[child]))
            if not left:
                break
            best = max(left, key=lambda z: scorer.family(child, [*parents[child], z]))
            new = scorer.family(child, [*parents[child], best])
            if not new > old + 1e-9:
                break
            old = new
            parents[child].append(best)
    return Dag.from_parents(parents)


def test_by_hand():
    # Table 7.4: along A, C, B only B has parents that gain, A and C (Exercise 7.10).
    found = Problem(Scorer(table_7_4(), "bic")).solve(K2Search(order=["A", "C", "B"]))
    assert found.dag.arcs == (("A", "B"), ("C", "B"))
    assert [step.move for step in found.trace] == ["add C -> B", "add A -> B"]
    assert found.status == "local optimum"


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("max_parents", [1, 2, 5])
def test_agrees_with_the_algorithm_as_printed(seed, max_parents):
    data = linked_data(seed)
    scorer = Scorer(data, "k2")
    order = np.random.default_rng(seed).permutation(sorted(data.names)).tolist()
    found = Problem(scorer, max_parents=max_parents).solve(K2Search(order=order))
    expected = slow_k2(scorer, order, max_parents)
    assert found.dag == expected
    assert found.score == pytest.approx(scorer.total(expected), rel=1e-12)


def test_the_order_of_the_knowledge_is_used():
    data = linked_data(0)
    order = ["v5", "v3", "v1", "v0", "v2", "v4"]
    scorer = Scorer(data, "k2")
    found = Problem(scorer, knowledge=Knowledge(total_order=order)).solve(K2Search())
    assert found.dag == Problem(scorer).solve(K2Search(order=order)).dag


def test_random_orders_give_the_best_of_them():
    scorer = Scorer(linked_data(0, n=8), "k2")
    scores = [
        Problem(scorer, seed=1).solve(K2Search(orders=n)).score for n in (1, 2, 4, 8)
    ]  # the first orders are the same
    assert scores == sorted(scores)
    assert scores[-1] > scores[0]
    assert Problem(scorer, seed=1).solve(K2Search(orders=8)).score == scores[-1]


@pytest.mark.parametrize("lines", STATEMENTS, ids="; ".join)
@pytest.mark.parametrize("seed", range(3))
def test_knowledge_holds_with_random_orders(lines, seed):
    knowledge = Knowledge.parse(lines)
    problem = Problem(Scorer(linked_data(seed), "aic"), knowledge=knowledge, seed=seed)
    assert knowledge.allows(problem.solve(K2Search(orders=3)).dag)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("v3 -> v0", "the order has 'v0' before 'v3', and the knowledge says 'v3 -> v0'"),
        ("v3 ~> v0", "the order has 'v0' before 'v3', and the knowledge says 'v3 ~> v0'"),
    ],
)
def test_an_order_against_the_knowledge_is_refused(line, message):
    order = [f"v{i}" for i in range(6)]
    problem = Problem(Scorer(linked_data(0), "bic"), knowledge=Knowledge.parse([line]))
    with pytest.raises(GraphError, match=f"k2: {message}"):
        problem.solve(K2Search(order=order))


@pytest.mark.parametrize("lines", [["v0 -- v3"], ["v0 ~> v3"], ["v0 !~> v3"], ["v1 !> v5"]])
def test_an_order_goes_with_statements_it_can_obey(lines):
    order = [f"v{i}" for i in range(6)]
    knowledge = Knowledge.parse(lines)
    found = Problem(Scorer(linked_data(2), "aic"), knowledge=knowledge).solve(K2Search(order=order))
    assert knowledge.allows(found.dag)
    assert all(parent < child for parent, child in found.dag.arcs)


def test_orders_that_are_none_are_refused():
    problem = Problem(Scorer(linked_data(0), "bic"))
    with pytest.raises(UnknownNameError, match="k2: order: unknown variable 'v9'"):
        problem.solve(K2Search(order=["v9"]))
    with pytest.raises(InvalidParameterError, match=r"k2: order must have .* 'v1' is missing"):
        problem.solve(K2Search(order=["v0", "v2", "v3", "v4", "v5"]))
    with pytest.raises(InvalidParameterError, match="a name comes twice"):
        problem.solve(K2Search(order=["v0", "v1", "v2", "v3", "v4", "v5", "v5"]))
    with pytest.raises(InvalidParameterError, match="k2: order must be a list of names"):
        K2Search(order="v0")
    with pytest.raises(InvalidParameterError, match="either order or orders"):
        K2Search(order=["v0"], orders=3)
    with pytest.raises(InvalidParameterError, match="k2: orders must be"):
        K2Search(orders=0)
