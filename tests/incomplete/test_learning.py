"""learn(missing=...): what each way does, what suits, and what is refused."""

import itertools
import math

import numpy as np
import pytest

import bestdag
from bestdag import learn, pc_skeleton, read
from bestdag.errors import (
    DataError,
    DataWarning,
    GraphError,
    InvalidParameterError,
    UnknownNameError,
)
from bestdag.graph.enumeration import all_dags
from bestdag.incomplete import TREATMENTS, make_treatment
from bestdag.incomplete.base import Treatment
from bestdag.scores import make_score
from bestdag.search import SEARCHES, make_search
from tests.reference.node_average import node_average
from tests.scores.test_node_average import AVERAGED, random_table, with_holes

HOLES = {"a": ["x", None, "y", "x"], "b": ["u", "v", "v", "u"], "c": ["0", "1", "1", None]}


def few_holes(n_rows, n_holes):
    """Columns of a table in which the first rows lack a cell."""
    a = ["x" if i % 3 else "y" for i in range(n_rows)]
    b = ["u" if i % 2 else "v" for i in range(n_rows)]
    return {"a": [None] * n_holes + a[n_holes:], "b": b}


def test_a_complete_table_is_learned_alike_in_every_way_that_keeps_scores():
    table = few_holes(60, 0)
    plain = learn(table, "bic")
    for way in ("error", "drop", "state"):
        found = learn(table, "bic", missing=way)
        assert (found.dag, found.score) == (plain.dag, plain.score)


def test_structural_em_has_nothing_to_do_without_missing_cells_and_the_proof_stays():
    table = few_holes(60, 0)
    plain, found = learn(table, "bic"), learn(table, "bic", missing="em").bounded()
    assert (found.dag, found.score, found.is_proved) == (plain.dag, plain.score, True)
    assert found.notes[-1].startswith("no missing values: structural EM has nothing to do")
    assert found.fit() == plain.fit()
    assert learn(table, "fnml", missing="em").is_proved  # refused where values are missing
    assert not learn(few_holes(60, 1), "bic", missing="em").is_proved


@pytest.mark.parametrize("source", [lambda t: t, lambda t: read(t, missing="keep")])
def test_drop_and_state_are_those_of_read(source):
    table = few_holes(60, 5)
    with pytest.warns(DataWarning, match="dropped 5 of 60 rows"):
        dropped = learn(source(table), "bic", missing="drop")
    with pytest.warns(DataWarning):
        want = learn(read(table, missing="drop"), "bic")
    assert (dropped.dag, dropped.score) == (want.dag, want.score)
    assert dropped.dataset.n_rows == 55
    if isinstance(source(table), bestdag.Dataset):  # `read` warns when it drops rows itself
        assert dropped.notes[-1] == "learned from the 55 of 60 rows that have no missing values"
    stated = learn(source(table), "bic", missing="state")
    want = learn(read(table, missing="state"), "bic")
    assert (stated.dag, stated.score) == (want.dag, want.score)
    assert stated.dataset.variable("a").states == ("x", "y", "missing")


def test_the_refusal_says_which_way_suits_and_how_many_rows_are_complete():
    with pytest.raises(DataError) as few:
        learn(few_holes(100, 3), "bic")
    assert str(few.value) == (
        "learn: column 'a' has 3 missing values, and 97 of 100 rows are complete; "
        "recommended: missing='drop'; also possible: missing='state', missing='em' and "
        "missing='available'"
    )
    with pytest.raises(DataError) as many:
        learn(few_holes(100, 30), "bic")
    assert "70 of 100 rows are complete; recommended: missing='em'" in str(many.value)
    assert "70 of 100 rows are complete; recommended: --missing em" in many.value.on_command_line
    with pytest.raises(
        DataError, match="70 of 100 rows are complete; recommended: missing='available'"
    ):
        learn(few_holes(100, 30), "pnal")


def test_the_refusal_offers_only_what_is_possible():
    with pytest.raises(DataError) as bayesian:
        learn(few_holes(100, 30), "bdeu")
    assert "available" not in str(bayesian.value)
    with pytest.raises(DataError) as empty:
        learn({"a": ["x", None, "y"], "b": [None, "u", "v"], "c": ["0", "1", None]}, "bic")
    assert "0 of 3 rows are complete" in str(empty.value)
    assert "drop" not in str(empty.value)
    with pytest.raises(DataError, match="0 of 3 rows are complete; recommended: missing='state'"):
        learn({"a": ["x", None, "y"], "b": [None, "u", "v"], "c": ["0", "1", None]}, "fnml")


def test_a_dataset_with_missing_cells_is_refused_like_a_table():
    with pytest.raises(
        DataError, match=r"2 columns have 2 missing values: 'a' \(1\), 'c' \(1\), and 2"
    ):
        learn(read(HOLES, missing="keep"))


def best_by_enumeration(rows, arities, weights, score):
    """Return the best score over all structures, from the other route's local scores."""
    each = [1.0] * len(rows) if weights is None else weights.tolist()
    names = "abcdef"[: len(arities)]
    rate = score.rate(sum(each))
    local = {}
    for i, child in enumerate(names):
        others = [j for j in range(len(names)) if j != i]
        for k in range(len(names)):
            for parents in itertools.combinations(others, k):
                key = child, frozenset(names[p] for p in parents)
                local[key] = node_average(rows, each, i, parents, arities, rate)
    return max(
        math.fsum(local[v, frozenset(dag.parents(v))] for v in dag.nodes)
        for dag in all_dags(list(names))
    )


@pytest.mark.parametrize("kind", ["none", "whole", "real"])
@pytest.mark.parametrize("name", AVERAGED)
@pytest.mark.parametrize("search", ["auto", "exact"])
def test_the_proof_is_that_of_brute_force(search, name, kind):
    rng = np.random.default_rng(len(name) + len(kind))
    for _ in range(4):
        rows, arities, weights = random_table(rng, kind=kind)
        found = learn(
            with_holes(rows, arities, weights), name, missing="available", search=search, support=0
        )
        assert found.status == "optimum proved"
        want = best_by_enumeration(rows, arities, weights, make_score(name))
        assert found.score == pytest.approx(want, abs=1e-9)
        assert found.verify()


@pytest.mark.parametrize("engine", ["dp", "bnc"])
def test_both_engines_prove_the_same(engine):
    rng = np.random.default_rng(11)
    rows, arities, _ = random_table(rng, n_variables=5, max_rows=60)
    data = with_holes(rows, arities)
    found = learn(
        data, "bic", missing="available", search=make_search("exact", engine=engine), support=0
    )
    assert found.status == "optimum proved"
    want = best_by_enumeration(rows, arities, None, make_score("bic"))
    assert found.score == pytest.approx(want, abs=1e-9)


TARGETS = {"tan": {"target": "a"}, "naive_bayes": {"target": "a"}}


@pytest.mark.parametrize("name", [name for name in SEARCHES if name != "ges"])
def test_every_search_but_ges_takes_missing_cells(name):
    rng = np.random.default_rng(2)
    for _ in range(3):
        rows, arities, _ = random_table(rng, max_rows=60)
        data = with_holes(rows, arities)
        search = make_search(name, **TARGETS.get(name, {}))
        found = learn(data, "pnal", missing="available", search=search, support=0).bounded()
        scorer = bestdag.Scorer(data, "pnal", missing="available")
        assert found.score == pytest.approx(scorer.total(found.dag), abs=1e-12)
        best = best_by_enumeration(rows, arities, None, make_score("pnal"))
        assert found.score <= best + 1e-9
        assert found.bound is not None
        assert found.bound >= best - 1e-9
        assert "missing completely at random" in found.notes[-1]


def test_ges_is_refused_with_the_reason():
    data = with_holes([(0, 0), (1, None), (None, 1), (0, 1)], [2, 2])
    with pytest.raises(InvalidParameterError, match="ges: missing='available' scores famil"):
        learn(data, "bic", missing="available", search="ges")


# The best tree over the local scores, each root and each parent tried.
def test_trees_are_the_best_branchings():
    rng = np.random.default_rng(6)
    for _ in range(5):
        rows, arities, _ = random_table(rng, max_rows=60, share=0.15)
        data = with_holes(rows, arities)
        scorer = bestdag.Scorer(data, "bic", missing="available")
        found = learn(
            data, "bic", missing="available", search=make_search("tree", forest=True), support=0
        )
        trees = [
            dag
            for dag in all_dags(list(data.names))
            if all(len(dag.parents(v)) < 2 for v in dag.nodes)
        ]
        best = max(scorer.total(dag) for dag in trees)
        assert found.score == pytest.approx(best, abs=1e-12)


def test_the_result_does_not_depend_on_rows_columns_or_threads():
    rng = np.random.default_rng(9)
    rows, arities, _ = random_table(rng, n_variables=5, max_rows=80)
    data = with_holes(rows, arities)
    first = learn(data, "bic", missing="available", workers=1)
    moved = data.select(list(data.names)[::-1], rng.permutation(data.n_rows))
    second = learn(moved, "bic", missing="available", workers=2)
    assert (set(first.dag.arcs), first.score) == (set(second.dag.arcs), second.score)


def test_parameters_are_fitted_to_the_rows_that_show_the_family():
    rows = [(0, 0)] * 3 + [(1, 1)] * 2 + [(None, 1)] * 4 + [(1, None)]
    data = with_holes(rows, [2, 2])
    result = learn(
        data, "bic", missing="available", search=make_search("k2", order=["a", "b"]), support=0
    )
    network = result.fit("mle")
    assert network.table("a").row().tolist() == pytest.approx([3 / 6, 3 / 6])
    given = {name: network.table("b").row(a=name).tolist() for name in "01"}
    assert given == {"0": [1.0, 0.0], "1": [0.0, 1.0]}
    assert result.fit().n_parameters == 3


def test_available_is_for_penalised_likelihoods_and_says_which():
    data = read(HOLES, missing="keep")
    with pytest.raises(
        InvalidParameterError, match="for the scores ll, aic, bic, hqc, pnal, got bdeu"
    ):
        learn(data, "bdeu", missing="available")
    prior = bestdag.UniformPrior()
    with pytest.raises(InvalidParameterError, match="leave out structure_prior"):
        learn(data, "bic", missing="available", structure_prior=prior)


def test_tests_of_a_skeleton_need_complete_rows():
    data = read(HOLES, missing="keep")
    with pytest.raises(InvalidParameterError, match="the tests need complete rows"):
        learn(data, "bic", missing="available", knowledge=pc_skeleton(data))


def test_a_column_without_a_value_is_named():
    data = with_holes([(0, None), (1, None)], [2, 2])
    with pytest.raises(DataError, match="column 'b' has no values, so no family with it"):
        learn(data, "bic", missing="available")
    weightless = with_holes([(0, None), (1, None), (1, 1)], [2, 2], np.array([1, 2, 0]))
    with pytest.raises(DataError, match="column 'b' has no values"):
        learn(weightless, "bic", missing="available")


def test_rows_without_any_value_and_no_complete_row_are_learned_from():
    rows = [(None, None, None), (0, 0, None), (1, 1, None), (None, 0, 1), (None, 1, 0)] * 5
    found = learn(with_holes(rows, [2, 2, 2]), "bic", missing="available", support=0)
    assert {frozenset(arc) for arc in found.dag.arcs} == {frozenset("ab"), frozenset("bc")}
    assert "0 of 25 rows are complete" in found.notes[-1]


# Nothing shows a and b together, and b -> a is demanded: every structure scores minus infinity.
def test_an_arc_that_no_row_can_tell_about_is_refused_where_it_must_be_there():
    data = with_holes([(0, None), (1, None), (None, 0), (None, 1)], [2, 2])
    with pytest.raises(DataError, match="no row shows 'a' and its parents 'b' together"):
        learn(data, "bic", missing="available", knowledge=["b -> a"])
    with pytest.raises(DataError, match="no row shows 'b' and its parents 'a' together"):
        learn(data, "bic", missing="available", search=make_search("naive_bayes", target="a"))
    with pytest.raises(GraphError, match="leave out columns that no row shows together"):
        learn(data, "bic", missing="available", search=make_search("tan", target="a"))


def test_a_start_that_no_row_can_tell_about_is_left_at_once():
    data = with_holes([(0, None), (1, None), (None, 0), (None, 1)], [2, 2])
    start = bestdag.Dag(["a", "b"], [("a", "b")])
    for search in ("hill_climb", "tabu", "annealing", "order", "auto"):
        found = learn(
            data,
            "bic",
            missing="available",
            search=make_search(search, start_from=start),
            support=0,
        )
        assert found.dag.arcs == ()
        assert found.score == pytest.approx(2 * (math.log(1 / 2) - math.log(4) / 8))


def test_states_declared_and_never_seen_are_paid_for():
    rows = [(0, 0), (1, 1), (None, 1)]
    two, three = (
        bestdag.Scorer(with_holes(rows, [2, r]), "aic", missing="available") for r in (2, 3)
    )
    assert two.family("a", ["b"]) - three.family("a", ["b"]) == pytest.approx(1 / 3)


@pytest.mark.parametrize("name", TREATMENTS)
def test_every_way_has_what_a_way_needs(name):
    way = make_treatment(name)
    assert isinstance(way, Treatment)
    assert make_treatment(way) is way
    assert way.reads_as in ("drop", "state", "keep")


def test_ways_that_are_none_are_refused():
    with pytest.raises(UnknownNameError, match=r"unknown way to treat missing .*'drop'"):
        learn(HOLES, missing="drp")
    with pytest.raises(InvalidParameterError, match="learn: missing must be one of 'error', "):
        learn(HOLES, missing=3)


def test_local_scores_have_no_missing_cells():
    table = bestdag.ScoreTable.from_lists(["a"], {"a": [(-1.0, [])]})
    with pytest.raises(InvalidParameterError, match="leave out missing"):
        learn(table, missing="drop")
