"""Saturation: nested samples, the curve by another route, the rule for flat."""

import numpy as np
import pytest

from bestdag import (
    DataError,
    InvalidParameterError,
    MaxBDeu,
    MinBDeu,
    Network,
    Scorer,
    learn,
    read,
    saturation,
)
from bestdag.evaluation.sensitivity import Sensitivity
from bestdag.examples import example
from bestdag.validation.saturation import Saturation, SaturationPoint

DATA = read(example("asia.csv"))


def test_points_are_those_of_nested_samples():
    found = saturation(DATA, sizes=[50, 200], search="exact", seed=4, max_parents=2, ess=2)
    order = np.random.default_rng(4).permutation(DATA.n_rows)
    for point in found.points:
        rows = DATA.select(rows=order[: point.n_rows])
        best = learn(rows, "bdeu", search="exact", max_parents=2)
        assert point.is_proved
        low = Scorer(rows, MinBDeu(ess=2)).total(point.dag)
        high = Scorer(rows, MaxBDeu(ess=2)).total(point.dag)
        assert point.sensitivity.relative == pytest.approx((high - low) / abs(low), abs=1e-12)
        assert len(best.dag.nodes) == len(point.dag.nodes)
    one, other = found.points
    assert one.shd_to_last is None
    assert other.shd_to_last == sum(
        mark(one.dag.cpdag(), x, y) != mark(other.dag.cpdag(), x, y)
        for i, x in enumerate(DATA.names)
        for y in DATA.names[i + 1 :]
    )


def mark(graph, x, y):
    return (
        (x, y) in graph.arcs,
        (y, x) in graph.arcs,
        (min(x, y), max(x, y)) in graph.edges,
    )


def curve(*values, tolerance=0.05):
    points = [
        SaturationPoint(10 * 2**k, Sensitivity(1, 0.5, -100.0, -100.0 + 100 * v), None, True, None)
        for k, v in enumerate(values)
    ]
    return Saturation(tuple(points), tolerance)


def test_the_rule():
    assert curve(1.0, 0.5, 0.25).saturated_at is None  # falls by a quarter of the highest
    assert curve(1.0, 0.5, 0.1, 0.06, 0.05).saturated_at == 40  # 0.1 - 0.05 is just allowed
    assert curve(1.0, 0.5, 0.1, 0.06, 0.04).saturated_at == 80
    assert curve(1.0, 0.5, 0.25, tolerance=0.3).saturated_at == 20
    assert curve(0.2, 0.3, 0.4).saturated_at == 10  # never falls
    assert curve(1.0).saturated_at is None  # one point tells nothing
    assert not curve(1.0).is_flat


def test_sizes_double_up_to_all_rows():
    found = saturation(DATA, search="tree")
    assert [p.n_rows for p in found.points] == [20, 40, 80, 160, 320, 640, 1280, 2000]
    assert found.curve[0] > found.curve[-1]
    assert saturation(DATA, search="tree").curve == found.curve
    assert saturation(DATA, search="tree", seed=1).curve != found.curve


def test_says_that_the_structure_may_still_change():
    found = saturation(DATA, sizes=[100, 200], search="tree")
    assert "the structure may still change" in str(found)
    assert "may still change" in found.to_dict()["notes"][0]


def test_it_goes_with_accuracy():
    net = Network.load(example("asia.bif"))
    rows = net.sample(5000, seed=9)
    found = saturation(net.sample(2000, seed=1), search="exact")
    losses = []
    order = np.random.default_rng(0).permutation(2000)
    data = net.sample(2000, seed=1)
    for point in found.points:
        part = data.select(rows=order[: point.n_rows])
        losses.append(learn(part, search="exact", max_parents=3).fit().log_loss(rows))
    assert np.corrcoef(np.log(found.curve), losses)[0, 1] > 0.5


def test_refusals():
    with pytest.raises(InvalidParameterError, match="sizes of 1 to 2,000 rows are needed"):
        saturation(DATA, sizes=[3000])
    with pytest.raises(InvalidParameterError, match="tolerance"):
        saturation(DATA, tolerance=2)
    weighted = read({"a": ["x", "y"], "w": [1, 2]}, weights="w")
    with pytest.raises(DataError, match="rows without weights"):
        saturation(weighted)


def test_plots():
    figure = pytest.importorskip("matplotlib.figure")
    ax = figure.Figure().subplots()
    assert saturation(DATA, sizes=[100, 1000, 2000], search="tree").plot(ax) is ax
