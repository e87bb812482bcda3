"""How many DAGs there are, and all of them for a few nodes."""

from decimal import Decimal
from itertools import permutations
from math import lgamma, log

import pytest

from bestdag.errors import GraphError, InvalidParameterError
from bestdag.graph.dag import Dag
from bestdag.graph.enumeration import all_dags, n_dags

# Jensen and Nielsen, Table 7.1. Its 2.35e72 for 20 nodes is 2.345e72 rounded once more
# (the exact number begins 2.34488), so that row has the four digits here.
TABLE_7_1 = [
    *("1", "3", "25", "543", "29281", "3.8e6", "1.1e9", "7.8e11", "1.2e15", "4.2e18", "3.2e22"),
    *("5.2e26", "1.9e31", "1.4e36", "2.4e41", "8.4e46", "6.3e52", "9.9e58", "3.3e65", "2.345e72"),
    *("3.5e79", "1.1e87", "7.0e94", "9.4e102"),
]


@pytest.mark.parametrize(("n", "printed"), list(enumerate(TABLE_7_1, start=1)))
def test_table_7_1(n, printed):
    value = Decimal(printed)
    digits = len(value.as_tuple().digits)
    assert Decimal(f"{Decimal(n_dags(n)):.{digits - 1}e}") == value


def test_exact_values():
    # OEIS A003024.
    assert n_dags(0) == 1
    assert n_dags(6) == 3_781_503
    assert n_dags(10) == 4_175_098_976_430_598_143


def test_large_numbers_of_nodes_and_any_order_of_asking():
    large = n_dags(150)
    assert n_dags(4) == 543
    assert n_dags(150) == large
    # f(n) ~ n! 2^(n(n-1)/2) / (M p^n), with the constants of Stanley (1973), OEIS A003024;
    # only the last term of the recursion is odd.
    logarithm = (
        lgamma(151) + 150 * 149 / 2 * log(2) - log(0.57436237330931) - 150 * log(1.48807854559971)
    )
    assert log(large) == pytest.approx(logarithm, abs=1e-9)
    assert large % 2 == 1


@pytest.mark.parametrize("n", [-1, 2.5, "3", True])
def test_refuses_what_is_no_number_of_nodes(n):
    with pytest.raises(InvalidParameterError, match="n_dags: n must be a whole number >= 0"):
        n_dags(n)


@pytest.mark.parametrize("n_nodes", [0, 1, 2, 3, 4, 5])
def test_all_dags_are_all_different_and_as_many_as_there_are(n_nodes):
    names = ["E", "B", "D", "A", "C"][:n_nodes]
    found = list(all_dags(names))
    assert len(found) == n_dags(n_nodes)
    assert len(set(found)) == len(found)
    assert found[0] == Dag.empty(names)
    assert all(dag.nodes == tuple(names) for dag in found)
    for dag in found[:: max(1, len(found) // 500)]:
        assert Dag(dag.nodes, dag.arcs) == dag  # the checked way in accepts it


def test_all_dags_do_not_depend_on_the_order_of_the_names():
    orders = [[dag.arcs for dag in all_dags(names)] for names in permutations("ABC")]
    assert all(order == orders[0] for order in orders)


@pytest.mark.parametrize(
    ("n_nodes", "number"),
    [(6, "3,781,503"), (24, "about 9.4e+102"), (5000, "more than 10^3,762,122")],
)
def test_refuses_more_than_five_nodes_before_the_first_is_asked_for(n_nodes, number):
    with pytest.raises(InvalidParameterError) as caught:
        all_dags(str(i) for i in range(n_nodes))
    assert str(caught.value) == (
        f"all_dags: at most 5 nodes can be enumerated, got {n_nodes:,}, which have {number} DAGs"
    )


def test_refuses_equal_names():
    with pytest.raises(GraphError, match="all_dags: node A is listed twice"):
        all_dags(["A", "A"])
