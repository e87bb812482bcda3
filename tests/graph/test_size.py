"""n_parameters: worked examples, exactness, refusals."""

from types import SimpleNamespace

import pytest

from bestdag.errors import InvalidParameterError, UnknownNameError
from bestdag.graph.dag import Dag


def test_jensen_nielsen_figure_7_12():
    # A <- D -> B <- E -> C, all binary: D 1, A 2, E 1, B 4, C 2.
    dag = Dag.from_parents({"A": ["D"], "B": ["D", "E"], "C": ["E"]})
    assert dag.n_parameters(dict.fromkeys("ABCDE", 2)) == 1 + 2 + 1 + 4 + 2


def test_worked_out_by_hand():
    # X: 1 x 2; Y: 1 x 3; Z given X and Y: 12 x 1; W with one state: 0.
    dag = Dag.from_parents({"Z": ["X", "Y"], "W": ["Z"]})
    arities = {"X": 3, "Y": 4, "Z": 2, "W": 1, "unused": 9}
    assert dag.n_parameters(arities) == 2 + 3 + 12 + 0
    assert dag.n_parameters(SimpleNamespace(arities=arities)) == 17


def test_exact_beyond_64_bits():
    names = [f"p{i}" for i in range(100)]
    dag = Dag.from_parents({"child": names})
    arities = {**dict.fromkeys(names, 30), "child": 4}
    assert dag.n_parameters(arities) == 30**100 * 3 + 100 * 29


def test_refuses_a_node_without_arity_and_an_impossible_arity():
    dag = Dag.empty(["rain"])
    with pytest.raises(UnknownNameError, match=r"n_parameters: unknown variable 'rain'"):
        dag.n_parameters({"rian": 2})
    with pytest.raises(InvalidParameterError, match="n_parameters: the arity of rain must be a"):
        dag.n_parameters({"rain": 0})
    with pytest.raises(InvalidParameterError, match="n_parameters: the arity of rain must be a"):
        dag.n_parameters({"rain": 2.5})
