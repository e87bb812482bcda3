"""Both engines against SCIP, which solves the same tables as integer programs.

One binary variable per parent set, and a place in an order for each variable: an arc p -> c asks
for place c >= place p + 1 (Miller, Tucker and Zemlin 1960). No cluster, no subset recursion, no
code in common with the engines.
"""

import random

import pytest

from bestdag.scores.table import ScoreTable
from bestdag.search.exact.bnc.engine import solve_bnc
from bestdag.search.exact.dp.engine import solve_dp
from tests.search.exact.brute_force import random_table
from tests.shared_data import shared_file

scip = pytest.importorskip("pyscipopt")


def best_by_scip(table):
    """The best score of an acyclic choice of sets."""
    n = table.n_variables
    model = scip.Model()
    model.hideOutput()
    model.setParam("limits/gap", 0.0)
    places = [model.addVar(lb=0, ub=n - 1) for _ in range(n)]
    terms, arcs = [], {}
    for child in range(n):
        sets = list(table.child(child))
        chosen = [model.addVar(vtype="B") for _ in sets]
        terms += [score * x for (score, _), x in zip(sets, chosen, strict=True)]
        model.addCons(scip.quicksum(chosen) == 1)
        for parent in range(n):
            having = [x for (_, group), x in zip(sets, chosen, strict=True) if parent in group]
            if having:
                arc = arcs[parent, child] = scip.quicksum(having)
                model.addCons(places[child] - places[parent] >= 1 - n * (1 - arc))
    for (parent, child), arc in arcs.items():  # no two arcs between two nodes: it is faster so
        if parent < child and (child, parent) in arcs:
            model.addCons(arc + arcs[child, parent] <= 1)
    model.setObjective(scip.quicksum(terms), "maximize")
    model.optimize()
    assert model.getStatus() == "optimal"
    return model.getObjVal()


def check(table):
    best = best_by_scip(table)
    for solved in (solve_dp(table), solve_bnc(table)):
        assert solved.is_proved
        # SCIP's own tolerance is 1e-6 of a variable.
        assert solved.score == pytest.approx(best, rel=1e-7, abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_random_tables(seed):
    check(random_table(random.Random(seed), 4 + seed % 3, keep=0.5, ties=seed % 3 == 2))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gob_asia_10000.k3"])
def test_published_instances(name):
    check(ScoreTable.load(shared_file(f"scores/{name}.jkl.gz")))
