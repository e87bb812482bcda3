"""The value: by names, averaged networks, comparison with the truth, texts and pictures."""

import json
import math
import re

import numpy as np
import pytest

from bestdag import ArcProbabilities, Dag, GraphError, InvalidParameterError, Pdag, UnknownNameError

MATRIX = np.array([[0.0, 0.7, 0.1], [0.2, 0.0, 0.4], [0.1, 0.4, 0.0]])
ABC = ["a", "b", "c"]
FOUND = ArcProbabilities(names=("a", "b", "c"), matrix=MATRIX.copy(), method="bootstrap")


def test_probabilities_by_name():
    assert FOUND["a", "b"] == 0.7
    assert FOUND.edge("b", "a") == pytest.approx(0.9)
    assert FOUND.ancestor("a", "b") is None
    with pytest.raises(UnknownNameError, match="unknown variable 'd'"):
        FOUND["a", "d"]


def test_edges_come_by_strength_with_the_share_of_the_direction():
    assert [(one.parent, one.child) for one in FOUND.edges()] == [
        ("a", "b"),
        ("b", "c"),
        ("a", "c"),
    ]
    assert FOUND.edges()[0].direction == pytest.approx(7 / 9)


def test_averaged_networks():
    assert FOUND.averaged() == Dag(ABC, [("a", "b"), ("b", "c")])
    assert FOUND.averaged(0.15) == Dag(ABC, [("a", "b"), ("b", "c"), ("a", "c")])
    assert FOUND.averaged(0.95) == Dag(ABC)
    assert FOUND.averaged(as_pdag=True) == Pdag(ABC, [("a", "b")], [("b", "c")])
    assert FOUND.averaged(as_pdag=True, direction=0.8) == Pdag(ABC, [], [("a", "b"), ("b", "c")])
    for settings in ({"threshold": 2.0}, {"threshold": -0.1}, {"direction": 0.2}):
        with pytest.raises(InvalidParameterError, match=r"averaged: .* must be a number from"):
            FOUND.averaged(**settings)


def test_an_arc_that_would_close_a_cycle_is_turned_round():
    matrix = np.array([[0.0, 0.9, 0.1], [0.0, 0.0, 0.8], [0.7, 0.0, 0.0]])
    found = ArcProbabilities(names=("a", "b", "c"), matrix=matrix, method="bootstrap")
    assert found.averaged() == Dag(ABC, [("a", "b"), ("b", "c"), ("a", "c")])
    assert found.averaged(as_pdag=True) == Pdag(ABC, [("a", "b"), ("b", "c")], [("a", "c")])


def test_comparison_with_the_truth_by_hand():
    true = Dag(ABC, [("a", "b"), ("c", "b")])
    compared = FOUND.compare(true)
    # Ordered pairs: ab 0.7 and cb 0.4 are true; ac 0.1, ba 0.2, bc 0.4, ca 0.1 are not.
    assert compared.arcs.auc == pytest.approx((4 + 3 + 0.5) / 8)
    squares = [0.3**2, 0.6**2, 0.1**2, 0.2**2, 0.4**2, 0.1**2]
    assert compared.arcs.brier == pytest.approx(math.fsum(squares) / 6)
    # Pairs: ab 0.9 and bc 0.8 are true, ac 0.2 is not.
    assert compared.edges.auc == 1.0
    assert compared.edges.brier == pytest.approx((0.1**2 + 0.2**2 + 0.2**2) / 3)
    assert [(one.n, round(one.mean, 6), one.share) for one in compared.edges.bins] == [
        (1, 0.2, 0.0),
        (1, 0.8, 1.0),
        (1, 0.9, 1.0),
    ]
    assert "AUC" in str(compared)
    assert json.loads(json.dumps(compared.to_dict()))["edges"]["auc"] == 1.0


def test_comparison_with_a_class_counts_half_each_way():
    compared = FOUND.compare(Dag(ABC, [("a", "b")]).cpdag())
    assert compared.arcs.brier == pytest.approx(
        (0.2**2 + 0.3**2 + 0.1**2 + 0.1**2 + 2 * 0.4**2) / 6
    )
    assert FOUND.compare(Dag(ABC)).arcs.auc is None
    with pytest.raises(GraphError, match="need the same variables"):
        FOUND.compare(Dag(["a", "b", "d"]))
    with pytest.raises(GraphError, match="needs a Dag, a Pdag or a Network"):
        FOUND.compare(3)


def test_json_and_text():
    made = json.loads(FOUND.to_json())
    assert made["matrix"] == MATRIX.tolist()
    assert made["variables"] == ["a", "b", "c"]
    assert made["arcs"] == [["a", "b"], ["b", "c"]]
    assert made["edges"][0] == {
        "parent": "a",
        "child": "b",
        "probability": pytest.approx(0.9),
        "direction": pytest.approx(7 / 9),
    }
    text = str(FOUND)
    assert "a -> b       0.9000     0.7778" in text
    assert "(below the threshold)" in text


def test_pictures():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    ax = FOUND.plot()
    assert ax.get_xlabel() == "child"
    np.testing.assert_array_equal(ax.images[0].get_array(), MATRIX)
    drawn = FOUND.plot(kind="graph", threshold=0.5).svg
    assert re.findall(r">([a-z])</text>", drawn) == ["a", "b", "c"]
    widths = re.findall(r'class="line".*?stroke-width="([\d.]+)"', drawn)
    assert sorted(widths) == ["3.2", "3.6"]
    assert ">wider: more probable; no head: either direction</text>" in drawn
    plt.close("all")
    with pytest.raises(InvalidParameterError, match="plot: kind must be 'heat map' or 'graph'"):
        FOUND.plot(kind="pie")
