"""Sensitivity to the prior: Max-BDeu minus Min-BDeu of a structure."""

import pytest

from bestdag import BDeu, Dag, InvalidParameterError, MaxBDeu, MinBDeu, Scorer, read, sensitivity
from bestdag.examples import example

DATA = read(example("asia.csv"))
DAG = Dag(DATA.names, [("smoke", "lung"), ("lung", "either"), ("tub", "either")])


def test_is_the_difference_of_both_scores():
    found = sensitivity(DAG, DATA, ess=2, epsilon=0.3)
    low = Scorer(DATA, MinBDeu(ess=2, epsilon=0.3)).total(DAG)
    high = Scorer(DATA, MaxBDeu(ess=2, epsilon=0.3)).total(DAG)
    assert (found.min_bdeu, found.max_bdeu) == (low, high)
    assert found.difference == high - low
    assert found.relative == (high - low) / abs(low)
    assert low <= Scorer(DATA, BDeu(ess=2)).total(DAG) <= high


def test_nothing_may_vary_at_epsilon_zero_and_more_does_with_epsilon():
    grid = sensitivity(DAG, DATA, epsilon=[0, 0.25, 0.5, 0.75])
    apart = [point.difference for point in grid.points]
    assert apart[0] == pytest.approx(0, abs=1e-9)
    assert apart == sorted(apart)
    assert apart[1] > 0


def test_grids_have_all_combinations():
    grid = sensitivity(DAG, DATA, ess=[1, 10], epsilon=[0.1, 0.5])
    assert [(p.ess, p.epsilon) for p in grid.points] == [(1, 0.1), (1, 0.5), (10, 0.1), (10, 0.5)]
    assert grid.points[3] == sensitivity(DAG, DATA, ess=10, epsilon=0.5)
    assert len(str(grid).splitlines()) == 5
    assert len(grid.to_dict()["points"]) == 4


def test_refusals():
    with pytest.raises(InvalidParameterError, match="the list of epsilon has no value"):
        sensitivity(DAG, DATA, epsilon=[])
    with pytest.raises(InvalidParameterError, match="epsilon must be a number >= 0 and < 1"):
        sensitivity(DAG, DATA, epsilon=1.0)


def test_plots():
    figure = pytest.importorskip("matplotlib.figure")
    ax = figure.Figure().subplots()
    assert sensitivity(DAG, DATA, ess=[1, 10], epsilon=[0.1, 0.5]).plot(ax) is ax
    assert len(ax.lines) == 2
    ax = figure.Figure().subplots()
    sensitivity(DAG, DATA, ess=[1, 10, 100]).plot(ax)
    assert ax.get_xlabel() == "ess"
    ax = figure.Figure().subplots()
    found = sensitivity(DAG, DATA)
    assert found.plot(ax) is ax
    assert list(ax.lines[0].get_xdata()) == [found.min_bdeu, found.max_bdeu]
