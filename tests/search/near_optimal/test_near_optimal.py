"""The near-optimal structures: against every DAG there is."""

import pickle

import numpy as np
import pytest

from bestdag import (
    BDeu,
    Dag,
    Knowledge,
    NearOptimal,
    Scorer,
    ScoreTable,
    learn,
    memory_limit,
    read,
    watching,
)
from bestdag.errors import InterruptedWarning, InvalidParameterError
from bestdag.scores.parent_sets.build import build_score_table
from tests.search.near_optimal.every_dag import class_scores, random_data, ranked
from tests.shared_data import shared_file
from tests.signals import press_at


def scores_of(result):
    return [item.score for item in result.structures]


@pytest.mark.parametrize("score", ["bdeu", "bic", "k2", "qnml"])
@pytest.mark.parametrize(("n", "k"), [(1, 3), (2, 2), (3, 7), (3, 100), (4, 1), (4, 40), (4, 1000)])
def test_k_best_are_those_of_enumeration(score, n, k):
    data = random_data(n, seed=n)
    every = ranked(data, score)
    result = learn(data, score, near_optimal=k, support=0)
    listed = result.structures
    assert scores_of(result) == pytest.approx([s for s, _ in every[:k]], abs=1e-9)
    assert len({item.dag for item in listed}) == len(listed) == min(k, len(every))
    assert listed.is_complete
    assert listed.n_proved == len(listed)
    scorer = Scorer(data, score)
    assert all(scorer.total(item.dag) == pytest.approx(item.score, abs=1e-9) for item in listed)
    if k < len(every):  # nothing between them was missed, and the next is not better than said
        assert every[k][0] - 1e-9 <= listed.rest <= listed[-1].score + 1e-6
    else:
        assert listed.rest is None


def test_five_variables():
    data = random_data(5, seed=11)
    every = ranked(data, "bdeu")
    result = learn(data, "bdeu", near_optimal=2000, support=0)
    assert scores_of(result) == pytest.approx([s for s, _ in every[:2000]], abs=1e-9)
    assert len({item.dag for item in result.structures}) == 2000
    classes = class_scores(every)
    result = learn(data, "bdeu", near_optimal=NearOptimal(k=500, per_class=True), support=0)
    assert scores_of(result) == pytest.approx(classes[:500], abs=1e-9)
    assert len({item.cpdag for item in result.structures}) == 500


@pytest.mark.parametrize("score", ["bdeu", "bic", "qnml", "aic"])
def test_one_per_class(score):
    data = random_data(4, seed=5)
    classes = class_scores(ranked(data, score))
    result = learn(data, score, near_optimal=NearOptimal(k=60, per_class=True), support=0)
    assert scores_of(result) == pytest.approx(classes[:60], abs=1e-9)
    assert len({item.cpdag for item in result.structures}) == 60


@pytest.mark.parametrize("score", ["bdeu", "bic", "k2", "qnml"])
def test_only_structures_with_support_are_listed(score):
    data = random_data(4, seed=4)
    every = ranked(data, score, support=5.0)
    assert len(every) < len(ranked(data, score))
    listed = learn(data, score, near_optimal=1000).structures
    assert [item.score for item in listed] == pytest.approx([s for s, _ in every], abs=1e-9)
    assert listed.rest is None
    if score == "k2":
        return
    classes = class_scores(every)
    listed = learn(data, score, near_optimal=NearOptimal(k=1000, per_class=True)).structures
    assert [item.score for item in listed] == pytest.approx(classes, abs=1e-9)
    within = learn(data, score, near_optimal=NearOptimal(within=3.0)).structures
    assert len(within) == sum(one >= classes[0] - 3.0 - 1e-9 for one in classes)


@pytest.mark.parametrize("nats", [0.0, 0.7, 3.0, 12.0])
def test_everything_within_so_many_nats(nats):
    data = random_data(4, seed=6)
    every = ranked(data, "bdeu")
    least = every[0][0] - nats - 1e-9
    result = learn(data, "bdeu", near_optimal=NearOptimal(within=nats), support=0)
    assert result.structures.per_class  # unless told otherwise
    assert len(result.structures) == sum(score >= least for score in class_scores(every))
    result = learn(data, "bdeu", near_optimal=NearOptimal(per_class=False, within=nats), support=0)
    assert len(result.structures) == sum(score >= least for score, _ in every)
    assert result.structures.rest <= every[0][0] - nats


def test_all_optimal_are_the_members_of_a_class_for_an_equivalent_score():
    data = random_data(4, seed=8)
    best = ranked(data, "bdeu")
    ties = {dag for score, dag in best if score >= best[0][0] - 1e-9}
    result = learn(data, "bdeu", near_optimal=NearOptimal(ties=True), support=0)
    assert {item.dag for item in result.structures} == ties
    assert len(ties) > 1
    assert (
        len(
            learn(
                data, "bdeu", near_optimal=NearOptimal(per_class=True, ties=True), support=0
            ).structures
        )
        == 1
    )
    assert len(learn(data, "k2", near_optimal=NearOptimal(ties=True), support=0).structures) == 1
    assert (
        len(learn(data, "bdeu", near_optimal=NearOptimal(k=1, ties=True), support=0).structures)
        == 1
    )


def test_sets_that_a_subset_beats_belong_to_second_best_networks():
    # Two independent coins: the empty graph is best, and what comes next has a needless arc.
    coins = read({"a": ["0", "0", "1", "1"] * 9, "b": ["0", "1", "0", "1"] * 9})
    assert build_score_table(Scorer(coins, "bdeu")).n_sets == 2
    listed = learn(coins, "bdeu", near_optimal=3).structures
    assert [len(item.dag.arcs) for item in listed] == [0, 1, 1]


def test_a_margin_keeps_what_is_within_it():
    scorer = Scorer(random_data(5, seed=2), "bdeu")
    whole = build_score_table(scorer, prune=False)
    for margin in (0.5, 2.0, 8.0):
        table = build_score_table(scorer, margin=margin)
        for i in range(whole.n_variables):
            every = {frozenset(parents): score for score, parents in whole.child(i)}
            wanted = {
                parents
                for parents, score in every.items()
                if score >= max(other for s, other in every.items() if s <= parents) - margin
            }
            assert {frozenset(parents) for _, parents in table.child(i)} == wanted


class OwnScore:
    """BDeu without a native twin."""

    name = "own"
    is_score_equivalent = True

    def family(self, counts):
        return BDeu().family(counts)

    def kernel(self):
        return None


def test_a_score_of_ones_own():
    data = random_data(4, seed=4)
    expected = scores_of(learn(data, "bdeu", near_optimal=30, support=0))
    assert scores_of(learn(data, OwnScore(), near_optimal=30, support=0)) == pytest.approx(
        expected, abs=1e-9
    )


@pytest.mark.parametrize(
    "statements",
    [
        ["v0 -> v3"],
        ["v1 !> v2", "v2 !> v1"],
        ["tiers: v0 v1 | v2 v3"],
        ["max_parents: 1"],
        ["v0 -- v1"],
        ["v0 ~> v3"],
        ["v0 !~> v3", "max_parents v2: 1"],
    ],
)
@pytest.mark.parametrize("per_class", [False, True])
def test_knowledge_is_obeyed(statements, per_class):
    data = random_data(4, seed=9)
    known = Knowledge.parse(statements)
    every = ranked(data, "bdeu", allows=lambda dag: not known.violations(dag))
    expected = class_scores(every) if per_class else [score for score, _ in every]
    result = learn(
        data,
        "bdeu",
        near_optimal=NearOptimal(k=25, per_class=per_class),
        knowledge=statements,
        support=0,
    )
    assert scores_of(result) == pytest.approx(expected[:25], abs=1e-9)
    assert not any(known.violations(item.dag) for item in result.structures)


def test_at_most_so_many_parents():
    data = random_data(4, seed=10)
    every = ranked(data, "bic", allows=lambda dag: all(len(dag.parents(v)) < 2 for v in dag.nodes))
    result = learn(data, "bic", near_optimal=1000, max_parents=1, support=0)
    assert scores_of(result) == pytest.approx([score for score, _ in every], abs=1e-9)
    classes = class_scores(every)
    result = learn(
        data, "bic", near_optimal=NearOptimal(k=1000, per_class=True), max_parents=1, support=0
    )
    assert scores_of(result) == pytest.approx(classes, abs=1e-9)


def test_neither_threads_nor_columns_nor_rows_matter():
    data = random_data(6, seed=12)
    table = {v.name: [v.states[code] for code in data.codes(v.name)] for v in data.variables}
    turned = read({name: table[name][::-1] for name in reversed(table)})
    one = learn(data, "bdeu", near_optimal=200, workers=1).structures
    for other in (
        learn(data, "bdeu", near_optimal=200, workers=2).structures,
        learn(turned, "bdeu", near_optimal=200).structures,
    ):
        assert [item.dag.arcs for item in other] == [item.dag.arcs for item in one]
        assert [item.score for item in other] == [item.score for item in one]


def test_the_single_best_comes_first_and_stays_what_it_was():
    data = random_data(5, seed=13)
    alone = learn(data, "bdeu", support=0)
    for near_optimal in (1, NearOptimal(k=4, per_class=True), NearOptimal(ties=True)):
        result = learn(data, "bdeu", near_optimal=near_optimal, support=0)
        assert result.dag == alone.dag == result.structures[0].dag
        assert result.score == alone.score
        assert result.is_proved
    assert alone.structures is None


def test_a_list_cannot_be_changed_and_can_be_pickled():
    result = learn(random_data(3, seed=1), near_optimal=4, support=0)
    listed = result.structures
    with pytest.raises(AttributeError):
        listed.items = ()
    again = pickle.loads(pickle.dumps(result)).structures
    assert [item.dag for item in again] == [item.dag for item in listed]
    assert listed[0:2] == listed.items[:2]
    assert len(listed) == 4
    assert "4 structures within" in repr(listed)


def test_bayes_factors_only_where_scores_are_log_evidence():
    data = random_data(3, seed=3)
    listed = learn(data, "bdeu", near_optimal=5, support=0).structures
    assert listed.bayes_factor(0) == 1.0
    assert listed.bayes_factor(4) == pytest.approx(np.exp(listed[0].score - listed[4].score))
    assert learn(data, "bic", near_optimal=5, support=0).structures.bayes_factor(4) >= 1.0
    for score in ("aic", "qnml", "ll"):
        listed = learn(data, score, near_optimal=2, support=0).structures
        assert listed.bayes_factor(1) is None
        assert f"no Bayes factors: {score} is neither" in listed.notes[-1]


@pytest.mark.parametrize("score", ["k2", "fnml", "mit"])
def test_classes_need_score_equivalence(score):
    data = random_data(3, seed=3)
    with pytest.raises(InvalidParameterError, match=f"{score} gives equivalent structures differ"):
        learn(data, score, near_optimal=NearOptimal(k=3, per_class=True))
    with pytest.raises(InvalidParameterError, match="per_class=False"):
        learn(data, score, near_optimal=NearOptimal(within=1.0))
    assert (
        len(learn(data, score, near_optimal=NearOptimal(per_class=False, within=0.0)).structures)
        >= 1
    )


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"k": 0}, "NearOptimal: k must be a whole number >= 1, got 0"),
        ({"k": 2.5}, "NearOptimal: k must be a whole number >= 1, got 2.5"),
        ({"within": -1.0}, "within must be a finite number of nats >= 0"),
        ({"within": float("nan")}, "within must be a finite number of nats >= 0"),
        ({"per_class": True}, "which structures"),
        ({"k": 1, "per_class": 3}, "per_class must be True or False"),
        ({"ties": True, "within": 1.0}, "exclude each other"),
    ],
)
def test_refusals(settings, match):
    with pytest.raises(InvalidParameterError, match=match):
        NearOptimal(**settings)


def test_only_exact_search_lists_them():
    with pytest.raises(InvalidParameterError, match="need exact search, got 'hill_climb'"):
        learn(random_data(3, seed=3), near_optimal=3, search="hill_climb")
    with pytest.raises(InvalidParameterError, match="near_optimal must be a number or a NearOpt"):
        learn(random_data(3, seed=3), near_optimal="3")


def test_a_whole_file_gives_what_the_data_give(tmp_path):
    data = random_data(4, seed=14)
    path = tmp_path / "s.jkl"
    build_score_table(Scorer(data, "bdeu"), prune=False).save(path)
    for near_optimal in (50, NearOptimal(k=20, per_class=True), NearOptimal(ties=True)):
        expected = scores_of(learn(data, "bdeu", near_optimal=near_optimal, support=0))
        result = learn(ScoreTable.load(path), near_optimal=near_optimal)
        assert scores_of(result) == pytest.approx(expected, abs=1e-9)
        assert "lists every set of up to 3 parents" in result.structures.notes[0]


def test_a_pruned_file_gives_the_best_among_its_sets_and_says_so(tmp_path):
    data = random_data(4, seed=15)
    table = build_score_table(Scorer(data, "bdeu"))
    allowed = {child: {frozenset(p) for _, p in table.sets(child)} for child in table.names}

    def is_listed(dag):
        return all(frozenset(dag.parents(node)) in allowed[node] for node in dag.nodes)

    every = ranked(data, "bdeu", allows=is_listed)
    result = learn(table, near_optimal=1000)
    assert scores_of(result) == pytest.approx([score for score, _ in every], abs=1e-9)
    assert result.structures.rest is None
    assert "among the sets of the file" in result.structures.notes[0]


def test_a_file_whose_score_is_not_equivalent_has_no_classes():
    table = build_score_table(Scorer(random_data(3, seed=16), "k2"), prune=False)
    with pytest.raises(InvalidParameterError, match="in this file turning the arc"):
        learn(table, near_optimal=NearOptimal(k=2, per_class=True))


def test_alarm_is_proved_by_another_route():
    """37 variables: windows of other widths and classes give the same list."""
    table = ScoreTable.load(shared_file("scores/alarm1000.BDeu.k3.jkl.gz"))
    first = learn(table, near_optimal=100)
    assert first.structures.is_complete
    assert first.structures.n_proved == 100
    assert all(table.total(s.dag) == pytest.approx(s.score, abs=1e-9) for s in first.structures)
    assert len({item.dag for item in first.structures}) == 100
    nats = first.score - first.structures[-1].score - 1e-6
    within = learn(table, near_optimal=NearOptimal(per_class=False, within=nats))
    assert [s.score for s in within.structures] == pytest.approx(
        [s.score for s in first.structures if s.score >= first.score - nats], abs=1e-9
    )


def test_a_limit_keeps_what_was_found_and_says_how_far_it_is_proven():
    data = random_data(12, seed=17, n_rows=400)
    result = learn(data, "bdeu", near_optimal=10_000_000, max_parents=3, time_limit=1.0, workers=1)
    listed = result.structures
    assert listed.status in ("time limit", "memory limit")
    assert not listed.is_complete
    assert len(listed) >= 1
    assert listed.n_proved >= 1
    assert listed[listed.n_proved - 1].score >= listed.rest - 1e-6


def test_no_time_at_all_gives_the_best_so_far():
    result = learn(random_data(8, seed=18), "bdeu", near_optimal=5, time_limit=1e-6)
    assert len(result.structures) >= 1
    assert result.structures.status == "time limit" or result.structures.is_complete


def test_ctrl_c_keeps_what_was_found():
    data = random_data(14, seed=19, n_rows=300)
    pressed = press_at("listing structures", times=3)
    with pytest.warns(InterruptedWarning), watching(pressed):
        result = learn(data, "bdeu", near_optimal=10_000_000, max_parents=3)
    assert result.structures.status == "interrupted"
    assert len(result.structures) >= 1
    assert result.structures[0].dag == result.dag


def test_little_memory_ends_the_list_early():
    data = random_data(10, seed=20, n_rows=300)
    with memory_limit("40 MB"):
        result = learn(
            data, "bdeu", near_optimal=NearOptimal(per_class=False, within=1000.0), support=0
        )
    assert result.structures.status == "memory limit"
    assert 1 <= len(result.structures) < 100_000


def test_an_empty_graph_of_one_variable():
    listed = learn(read({"a": ["0", "1", "1"]}), near_optimal=5).structures
    assert [item.dag for item in listed] == [Dag(["a"])]
    assert listed.rest is None
