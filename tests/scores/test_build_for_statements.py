"""Tables for statements about several families: fewer sets, the same optimum."""

import itertools

import numpy as np
import pytest

from bestdag.errors import GraphError
from bestdag.graph.enumeration import all_dags
from bestdag.graph.knowledge import Knowledge
from bestdag.scores.parent_sets import build
from bestdag.scores.parent_sets.build import build_score_table
from bestdag.scores.scorer import Scorer
from tests.conftest import make_dataset
from tests.scores.random_data import random_dataset

NAMES = list("abcd")


@pytest.fixture(autouse=True)
def every_number_of_sets_is_many(monkeypatch):
    monkeypatch.setattr(build, "_MANY_SETS", 0)


@pytest.mark.parametrize("seed", range(20))
def test_the_best_structure_that_obeys_is_in_the_table(seed):
    rng = np.random.default_rng(seed)
    data = random_dataset(rng, n_variables=4)
    names = sorted(data.names)
    pairs = list(itertools.permutations(names, 2))
    while True:
        chosen = rng.choice(len(pairs), 1 + seed % 3, replace=False)
        lines = [f"{pairs[i][0]} {rng.choice(['~>', '--'])} {pairs[i][1]}" for i in chosen]
        try:
            knowledge = Knowledge.parse(lines)
            knowledge.for_nodes(names)
            break
        except GraphError:
            continue
    scorer = Scorer(data, ("bic", "bdeu", "qnml")[seed % 3])
    few = build_score_table(scorer, knowledge=knowledge)
    totals = [scorer.total(dag) for dag in all_dags(names) if knowledge.allows(dag)]
    assert few.complete
    kept = []
    for dag in all_dags(names):
        if knowledge.allows(dag) and all(
            tuple(sorted(dag.parents(v))) in {p for _, p in few.sets(v)} for v in names
        ):
            kept.append(few.total(dag))
    assert max(kept) == pytest.approx(max(totals), rel=1e-9)


def independent_data():
    """Four variables without any relation: every arc costs, the empty set beats all others."""
    rows = list(itertools.product([0, 1], repeat=4)) * 4
    return make_dataset({name: [row[i] for row in rows] for i, name in enumerate(NAMES)})


def test_an_edge_adds_the_smallest_sets_with_it_and_nothing_else():
    table = build_score_table(
        Scorer(independent_data(), "bic"), knowledge=Knowledge.parse(["a -- b"])
    )
    listed = {v: {parents for _, parents in table.sets(v)} for v in NAMES}
    assert listed == {"a": {(), ("b",)}, "b": {(), ("a",)}, "c": {()}, "d": {()}}


def test_an_ancestor_adds_one_parent_each_and_two_ancestors_two():
    scorer = Scorer(independent_data(), "bic")
    one = build_score_table(scorer, knowledge=Knowledge.parse(["a ~> b"]))
    # Nothing leads to a, and nothing back from b: those arcs are not allowed in any case.
    assert {p for _, p in one.sets("c")} == {(), ("a",), ("b",), ("d",)}
    two = build_score_table(scorer, knowledge=Knowledge.parse(["a ~> b", "c ~> d"]))
    assert max(len(p) for _, p in one.sets("d")) == 1
    assert max(len(p) for _, p in two.sets("d")) == 2


def test_max_parents_holds_for_every_group():
    scorer = Scorer(independent_data(), "bic")
    knowledge = Knowledge.parse(["a ~> b", "c ~> d", "b -- c"])
    table = build_score_table(scorer, knowledge=knowledge, max_parents=1)
    assert max(len(p) for v in NAMES for _, p in table.sets(v)) == 1


def test_too_many_groups_list_every_set(monkeypatch):
    monkeypatch.setattr("bestdag.scores.parent_sets.build._MOST_GROUPS", 3)
    table = build_score_table(
        Scorer(independent_data(), "bic"), knowledge=Knowledge.parse(["a -- b"])
    )
    assert table.n_sets == 4 * 2**3


def test_no_time_gives_a_table_that_says_so():
    table = build_score_table(
        Scorer(independent_data(), "bic"), knowledge=Knowledge.parse(["a -- b"]), time_limit=1e-9
    )
    assert not table.complete
    assert table.n_sets >= 4
