"""Ranks against scores of every DAG, one by one."""

import pytest

from bestdag import (
    BIC,
    FNML,
    BDeu,
    Dag,
    GraphError,
    InvalidParameterError,
    Scorer,
    random_network,
    structural_rank,
)
from bestdag.graph.enumeration import all_dags

NET = random_network(4, "order", n_arcs=4, arities=(2, 3), seed=3, pseudo_count=0.5)
DATA = NET.sample(200, seed=1)


@pytest.mark.parametrize("score", [BDeu(ess=2.0), BIC(), FNML()], ids=lambda s: s.name)
def test_ranks_of_every_dag(score):
    scorer = Scorer(DATA, score)
    totals = {dag: scorer.total(dag) for dag in all_dags(DATA.names)}
    assert len(totals) == 543
    for dag in [*list(totals)[::37], NET.dag]:
        found = structural_rank(dag, scorer)
        better = sum(total > totals[dag] + 1e-8 for total in totals.values())
        equal = sum(abs(total - totals[dag]) <= 1e-8 for total in totals.values())
        assert (found.rank, found.n_equal) == (1 + better, equal)
        assert found.mid_rank == 1 + better + (equal - 1) / 2
        assert found.n_structures == 543
        assert found.score == pytest.approx(totals[dag], abs=1e-9)
        assert found.best_score == pytest.approx(max(totals.values()), abs=1e-9)


@pytest.mark.parametrize("score", [BDeu(), FNML()], ids=lambda s: s.name)
def test_ranks_of_every_class(score):
    scorer = Scorer(DATA, score)
    best = {}
    for dag in all_dags(DATA.names):
        key = dag.cpdag()
        best[key] = max(best.get(key, -1e300), scorer.total(dag))
    assert len(best) == 185
    for dag in list(all_dags(DATA.names))[::41]:
        found = structural_rank(dag, scorer, among="classes")
        own = best[dag.cpdag()]
        assert found.rank == 1 + sum(total > own + 1e-8 for total in best.values())
        assert found.n_structures == 185


def test_equivalent_dags_share_their_rank_and_mid_ranks_average():
    scorer = Scorer(DATA, BDeu())
    ranks = [structural_rank(dag, scorer) for dag in all_dags(DATA.names)]
    assert sum(found.mid_rank for found in ranks) == 543 * 544 / 2
    assert min(found.rank for found in ranks) == 1


def test_all_five_node_structures():
    net = random_network(5, "order", n_arcs=7, arities=(2, 4), pseudo_count=0.5, seed=1)
    scorer = Scorer(net.sample(5000, seed=2), BDeu())
    found = structural_rank(net, scorer)
    assert found.n_structures == 29_281
    assert structural_rank(net, scorer, among="classes").n_structures == 8_782
    assert "of 29,281 DAGs" in str(found)
    assert found.to_dict()["rank"] == found.rank


def test_the_order_of_columns_does_not_matter():
    turned = DATA.select(DATA.names[::-1])
    assert structural_rank(NET.dag, Scorer(turned)) == structural_rank(NET.dag, Scorer(DATA))


def test_refusals():
    wide = random_network(6, "order").sample(10)
    with pytest.raises(InvalidParameterError, match=r"at most 5 variables.*3,781,503 DAGs.*choose"):
        structural_rank(Dag(wide.names), Scorer(wide))
    with pytest.raises(GraphError, match="needs a structure over the variables"):
        structural_rank(Dag(list("AB")), Scorer(DATA))
    with pytest.raises(InvalidParameterError, match="among must be one of 'dags', 'classes'"):
        structural_rank(NET.dag, Scorer(DATA), among="trees")


def test_plots():
    figure = pytest.importorskip("matplotlib.figure")
    ax = figure.Figure().subplots()
    found = structural_rank(NET.dag, Scorer(DATA))
    assert found.plot(ax) is ax
    widths = [bar.get_width() for bar in ax.patches]
    assert widths[:2] == [found.n_better, found.n_equal]
    assert sum(widths) == 543
