"""The optimal structure over a grid of equivalent sample sizes."""

import pytest

from bestdag import BDeu, InvalidParameterError, Network, Scorer, ess_grid, fit_network, learn, read
from bestdag.examples import example

DATA = read(example("asia.csv"))
GRID = [1, 10, 100]


@pytest.fixture(scope="module")
def found():
    test = Network.load(example("asia.bif")).sample(2000, seed=11)
    return ess_grid(DATA, GRID, test=test), test


def test_each_point_is_a_proven_optimum(found):
    grid, _ = found
    assert grid.is_proved
    for point, ess in zip(grid.points, GRID, strict=True):
        assert point.ess == ess
        assert point.score == pytest.approx(Scorer(DATA, BDeu(ess=ess)).total(point.dag), abs=1e-8)
        best = learn(DATA, BDeu(ess=ess), search="exact")
        assert point.score == pytest.approx(best.score, abs=1e-8)
        assert point.gap == pytest.approx(0, abs=1e-6)


def test_arcs_come_and_go(found):
    grid, _ = found
    table = dict(grid.table())
    for k, point in enumerate(grid.points):
        joined = {(min(arc), max(arc)) for arc in point.dag.arcs}
        assert {pair for pair, marks in table.items() if marks[k]} == joined
        for (one, other), marks in table.items():
            assert (marks[k] == "->") == ((one, other) in point.cpdag.arcs)
            assert (marks[k] == "<-") == ((other, one) in point.cpdag.arcs)
    everywhere = set.intersection(*({(min(a), max(a)) for a in p.dag.arcs} for p in grid.points))
    assert set(grid.come_and_go()) == table.keys() - everywhere
    assert grid.n_structures == len({p.dag.cpdag() for p in grid.points}) > 1


def test_the_best_by_score_and_in_hindsight(found):
    grid, test = found
    assert grid.best_by_score.score == max(p.score for p in grid.points)
    for point in grid.points:
        net = fit_network(point.dag, DATA, _dirichlet(point.ess))
        assert point.test_log_loss == pytest.approx(net.log_loss(test), abs=1e-10)
    losses = [p.test_log_loss for p in grid.points]
    assert grid.best_in_hindsight.test_log_loss == min(losses)
    assert ess_grid(DATA, [1], search="tree").best_in_hindsight is None


def _dirichlet(ess):
    from bestdag import Dirichlet

    return Dirichlet(ess=ess)


def test_prints_plots_and_goes_to_json(found):
    grid, _ = found
    assert "different classes; most probable data: ess" in str(grid)
    assert "best in hindsight: ess" in str(grid)
    assert grid.to_dict()["best_by_score"] == grid.best_by_score.ess
    figure = pytest.importorskip("matplotlib.figure")
    ax = figure.Figure().subplots()
    assert grid.plot(ax) is ax
    assert [t.get_text() for t in ax.get_xticklabels()] == ["1", "10", "100"]


def test_refusals():
    with pytest.raises(InvalidParameterError, match="the grid has no value"):
        ess_grid(DATA, [])
    with pytest.raises(InvalidParameterError, match="ess must be a finite number > 0"):
        ess_grid(DATA, [0])
