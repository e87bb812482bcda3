"""The best tree: all trees, every score; Chow and Liu; knowledge; ties; limits."""

import pickle
from math import log

import numpy as np
import pytest

from bestdag import ArcDifferencePrior, ChowLiu, Knowledge, Scorer, learn
from bestdag.errors import GraphError, InvalidParameterError, UnknownNameError
from bestdag.graph.dag import Dag
from bestdag.scores import SCORES
from bestdag.search import make_search
from bestdag.search.problem import Problem
from tests.conftest import make_dataset
from tests.search.trees import arborescences, forests, random_data
from tests.signals import ctrl_c_in_native_work

every_score = pytest.mark.parametrize("score", SCORES)


def local_scores(scorer, given=()):
    """[p][c] of the variables not given; row -1 is for no parent."""
    names = [v.name for v in scorer.variables if v.name not in given]
    rows = [[scorer.family(c, {*given, p} - {c}) for c in names] for p in names]
    return names, [*rows, [scorer.family(c, given) for c in names]]


def value(local, parents):
    return sum(local[p][c] for c, p in enumerate(parents))


def parents_of(dag, names):
    return tuple(names.index(dag.parents(name)[0]) if dag.parents(name) else -1 for name in names)


def run(data, score="bdeu", *, search=None, prior=None, **settings):
    scorer = Scorer(data, score, prior)
    return Problem(scorer, **settings).solve(search or ChowLiu()), scorer


# All n^(n - 2) trees with each of their n roots.
@every_score
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("seed", [0, 1])
def test_is_the_best_of_all_trees(score, n, seed):
    found, scorer = run(random_data(seed, n), score)
    names, local = local_scores(scorer)
    trees = arborescences(n)
    assert len(trees) == max(1, n ** (n - 1))
    assert parents_of(found.dag, names) in trees
    best = max(value(local, tree) for tree in trees)
    assert found.score == pytest.approx(best, rel=1e-11, abs=1e-9)
    assert found.score == pytest.approx(scorer.total(found.dag), rel=1e-12)


@every_score
def test_is_the_best_of_all_trees_over_six_variables(score):
    found, scorer = run(random_data(3, 6), score)
    _, local = local_scores(scorer)
    best = max(value(local, tree) for tree in arborescences(6))
    assert found.score == pytest.approx(best, rel=1e-11, abs=1e-9)


@every_score
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_forest_is_the_best_with_at_most_one_parent(score, n):
    data = random_data(n, n, n_rows=25)
    found, scorer = run(data, score, search=ChowLiu(forest=True))
    names, local = local_scores(scorer)
    every = list(forests(n))
    assert len(every) == (n + 1) ** (n - 1)
    assert parents_of(found.dag, names) in every
    best = max(value(local, forest) for forest in every)
    assert found.score == pytest.approx(best, rel=1e-11, abs=1e-9)


@every_score
@pytest.mark.parametrize("root", ["a", "c", "e"])
@pytest.mark.parametrize("forest", [False, True])
def test_root_can_be_given(score, root, forest):
    found, scorer = run(random_data(2, 5), score, search=ChowLiu(root=root, forest=forest))
    names, local = local_scores(scorer)
    assert not found.dag.parents(root)
    every = forests(5) if forest else arborescences(5)
    best = max(value(local, tree) for tree in every if tree[names.index(root)] == -1)
    assert found.score == pytest.approx(best, rel=1e-11, abs=1e-9)


class Asymmetric:
    """Arcs worth what the table says, and -9 where it says nothing."""

    name = "asymmetric"
    is_score_equivalent = False
    arcs = {("a", "b"): 5.0, ("b", "a"): 6.0, ("c", "a"): -1.0}  # noqa: RUF012

    def family(self, counts):
        given = [p.name for p in counts.parents]
        return self.arcs.get((given[0], counts.child.name), -9.0) if given else 0.0

    def kernel(self):
        return None


# The best tree is c -> a -> b, worth 4. Without its losing arc a -> b is left, worth 5; but the
# best forest is b -> a, worth 6.
def test_forest_of_asymmetric_weights_is_not_a_pruned_tree():
    data = random_data(0, 3)
    tree, _ = run(data, Asymmetric())
    forest, _ = run(data, Asymmetric(), search=ChowLiu(forest=True))
    assert (tree.dag.arcs, tree.score) == ((("a", "b"), ("c", "a")), 4.0)
    assert (forest.dag.arcs, forest.score) == ((("b", "a"),), 6.0)


# Table 7.4 of Jensen and Nielsen: 32 rows over C, B, A. Counts (A, B): (1,1) 11, (1,2) 3,
# (2,1) 18; (B, C): (1,1) 23, (1,2) 6, (2,2) 3; (A, C): (1,1) 11, (1,2) 3, (2,1) 12, (2,2) 6.
TABLE_7_4 = """
    111 111 112 212 111 112 212 111 111 112 111 111 112 221 112 212
    112 112 221 112 212 111 111 212 112 111 111 212 112 112 221 112
"""


def exercise_7_15():
    columns = {name: [int(row[k]) - 1 for row in TABLE_7_4.split()] for k, name in enumerate("CBA")}
    return make_dataset(columns)


def test_exercise_7_15():
    found, _ = run(exercise_7_15(), "ll")
    joined = {frozenset(arc) for arc in found.dag.arcs}
    assert joined == {frozenset("AB"), frozenset("BC")}  # A - B - C
    # N I(A, B) in nats, from the counts above: A has 14 and 18, B has 29 and 3.
    expected = 11 * log(11 * 32 / (14 * 29)) + 3 * log(3 * 32 / (14 * 3)) + 18 * log(32 / 29)
    assert found.weights.weight("A", "B") == pytest.approx(expected, rel=1e-12)
    with pytest.raises(UnknownNameError, match=r"ArcWeights\.weight: unknown variable 'X'"):
        found.weights.weight("A", "X")


def test_weights_of_log_likelihood_are_mutual_information():
    data = random_data(1, 4)
    found, _ = run(data, "ll")
    codes = {name: np.asarray(data.codes(name), int) for name in data.names}
    for one in found.weights.names:
        for other in found.weights.names:
            if one == other:
                assert found.weights.weight(one, other) == 0.0
                continue
            joint = np.zeros((4, 4))
            np.add.at(joint, (codes[one], codes[other]), 1 / data.n_rows)
            product = joint.sum(1, keepdims=True) * joint.sum(0)
            inside = joint > 0
            information = (joint[inside] * np.log(joint[inside] / product[inside])).sum()
            got = found.weights.weight(one, other)
            assert got == pytest.approx(data.n_rows * information, rel=1e-9, abs=1e-9)


@every_score
def test_weight_is_the_gain_of_an_arc(score):
    found, scorer = run(random_data(4, 4), score)
    matrix = found.weights.matrix
    for i, one in enumerate(found.weights.names):
        for j, other in enumerate(found.weights.names):
            gain = scorer.family(other, {one} - {other}) - scorer.family(other)
            assert matrix[i, j] == pytest.approx(gain, rel=1e-9, abs=1e-9)
    if scorer.is_score_equivalent:
        assert np.array_equal(matrix, matrix.T)


def test_a_prior_network_needs_edmonds():
    data = random_data(5, 4)
    prior = ArcDifferencePrior(Dag(list("abcd"), [("d", "c"), ("c", "b"), ("b", "a")]), kappa=0.01)
    found, scorer = run(data, "bdeu", prior=prior)
    assert not scorer.is_score_equivalent
    _, local = local_scores(scorer)
    best = max(value(local, tree) for tree in arborescences(4))
    assert found.score == pytest.approx(best, rel=1e-11)
    without, _ = run(data, "bdeu")
    assert without.dag.arcs == (("a", "b"), ("b", "c"), ("c", "d"))
    assert found.dag.arcs == (("b", "a"), ("c", "b"), ("d", "c"))


@every_score
def test_ties_go_to_the_first_names(score):
    # Each column is another with its states renamed: every tree has the same score, but for
    # sums in another order.
    column = np.random.default_rng(0).binomial(8, 0.3, 3000)
    renamed = {
        name: (column * k % 11).tolist() for name, k in zip("dbcae", range(1, 6), strict=True)
    }
    found, scorer = run(make_dataset(renamed, dict.fromkeys("abcde", 11)), score)
    assert not found.dag.parents("a")
    if scorer.is_score_equivalent:
        assert found.dag.children("a") == ("b", "c", "d", "e")


@every_score
def test_constant_columns_join_nothing_in_a_forest(score):
    data = make_dataset({"b": [0] * 30, "a": [0] * 30, "c": [0, 1, 1] * 10}, {"a": 1, "b": 1})
    found, _ = run(data, score, search=ChowLiu(forest=True))
    assert found.dag.arcs == ()
    found, _ = run(data, score)
    assert len(found.dag.arcs) == 2


@every_score
def test_independent_columns_join_nothing_in_a_forest(score):
    # Every pair of states 25 times: no score gains by an arc, and log-likelihood loses nothing.
    data = make_dataset({"a": [0, 0, 1, 1] * 25, "b": [0, 1, 0, 1] * 25})
    found, _ = run(data, score, search=ChowLiu(forest=True))
    assert found.dag.arcs == ()


STATEMENTS = [
    ["e -> a"],
    ["e -> a", "a -> c"],
    ["a !> b", "b !> a"],
    ["a !- b", "c !- d"],
    ["a -- e"],
    ["a -- e", "b -- d", "a -- c"],
    ["tiers: e d | c | b a"],
    ["total_order: e, d, c, b, a"],
    ["a < d", "d < b"],
    ["roots: c"],
    ["leaves: a, b, c"],
    ["max_parents: 1"],
    ["max_parents a: 0"],
    ["e -> a", "a -- c", "roots: e"],
]


@pytest.mark.parametrize("score", ["bic", "fnml", "mit"])
@pytest.mark.parametrize("statements", STATEMENTS, ids=" ; ".join)
@pytest.mark.parametrize("forest", [False, True])
def test_knowledge_gives_the_best_tree_that_obeys_it(score, statements, forest):
    knowledge = Knowledge.parse(statements)
    found, scorer = run(
        random_data(1, 5), score, search=ChowLiu(forest=forest), knowledge=knowledge
    )
    assert knowledge.allows(found.dag)
    assert "satisfy your constraints" in found.notes[0]
    names, local = local_scores(scorer)
    every = forests(5) if forest else arborescences(5)
    obeying = [
        tree
        for tree in every
        if knowledge.allows(
            Dag(names, [(names[p], names[c]) for c, p in enumerate(tree) if p >= 0])
        )
    ]
    best = max(value(local, tree) for tree in obeying)
    assert found.score == pytest.approx(best, rel=1e-11, abs=1e-9)


def test_two_roots_where_the_knowledge_asks_for_them():
    found, scorer = run(random_data(1, 5), "bic", knowledge=Knowledge(roots=["a", "b"]))
    names, local = local_scores(scorer)
    best = max(
        value(local, tree) for tree in forests(5) if tree[:2] == (-1, -1) and tree.count(-1) == 2
    )
    assert found.score == pytest.approx(best, rel=1e-11)
    assert "fewest roots" in found.notes[0]
    assert names == list("abcde")


def test_no_parents_no_arcs():
    found, _ = run(random_data(1, 4), max_parents=0)
    assert found.dag.arcs == ()


@pytest.mark.parametrize(
    ("statements", "search", "message"),
    [
        (["a -> c", "b -> c"], ChowLiu(), r"tree: 'c' has the required parents 'a', 'b', .* one;"),
        (
            ["a -> c"],
            ChowLiu(root="c"),
            r"tree: 'c' cannot be the root, its parent 'a' is required",
        ),
        (["a -- c", "b -- c", "roots: a, b"], ChowLiu(), "required parents 'a', 'b'"),
    ],
)
def test_what_no_tree_can_satisfy_is_refused(statements, search, message):
    with pytest.raises(GraphError, match=message):
        run(random_data(1, 4), search=search, knowledge=Knowledge.parse(statements))


@pytest.mark.parametrize("statement", ["a ~> d", "a !~> d", "d ~> a", "d !~> a"])
def test_ancestors_are_honoured_or_refused_by_name(statement):
    knowledge = Knowledge.parse([statement])
    free, _ = run(random_data(2, 4), "bic")
    if knowledge.allows(free.dag):
        found, _ = run(random_data(2, 4), "bic", knowledge=knowledge)
        assert found.score == pytest.approx(free.score, rel=1e-12)
    else:
        with pytest.raises(GraphError, match=f"tree: .* '{statement}"):
            run(random_data(2, 4), "bic", knowledge=knowledge)


def test_max_parents_zero_leaves_no_room_for_a_required_arc():
    with pytest.raises(GraphError, match="no parent"):
        run(random_data(1, 4), knowledge=Knowledge.parse(["a -> b"]), max_parents=0)


def test_unknown_root_is_refused_with_a_suggestion():
    with pytest.raises(UnknownNameError, match=r"tree: unknown root 'A'.*did you mean 'a'"):
        run(random_data(1, 3), search=ChowLiu(root="A"))


class Squares:
    """A score of a user's own, without a native twin; score equivalent."""

    name = "squares"
    is_score_equivalent = True

    def family(self, counts):
        table = counts.table.astype(float)
        return float((table**2).sum() - (table.sum(axis=1) ** 2).sum())

    def kernel(self):
        return None


def test_a_score_of_ones_own():
    found, scorer = run(random_data(1, 4), Squares())
    _, local = local_scores(scorer)
    best = max(value(local, tree) for tree in arborescences(4))
    assert found.score == pytest.approx(best, rel=1e-12)


def test_a_score_that_is_not_a_number_is_refused():
    class Broken(Squares):
        def family(self, counts):
            return float("nan")

    with pytest.raises(InvalidParameterError, match="must give a number below infinity, got nan"):
        run(random_data(1, 3), Broken())


@pytest.mark.parametrize("weights", [[2, 1, 3] * 20, [0.5, 1.25, 3.0] * 20])
def test_weights_of_rows_count(weights):
    data = random_data(1, 4)
    columns = {name: data.codes(name).tolist() for name in data.names}
    found, scorer = run(make_dataset(columns, data.arities, np.array(weights)), "bic")
    _, local = local_scores(scorer)
    best = max(value(local, tree) for tree in arborescences(4))
    assert found.score == pytest.approx(best, rel=1e-11)


def test_prior_that_demands_a_parent():
    class Demanding:
        is_score_equivalent = False

        def family(self, child, parents):
            return 0.0 if parents or child == "c" else -np.inf

    found, _ = run(random_data(1, 4), "bic", prior=Demanding())
    assert not found.dag.parents("c")
    assert np.isfinite(found.score)
    assert np.isposinf(found.weights.weight("c", "a"))

    class Impossible(Demanding):
        def family(self, child, parents):
            return -np.inf if child == "a" else 0.0

    with pytest.raises(GraphError, match="no tree"):
        run(random_data(1, 4), "bic", prior=Impossible())


def test_result_says_what_it_is_the_best_of():
    data = random_data(1, 4)
    found, _ = run(data, "bic")
    assert (found.status, found.search, found.bound) == ("local optimum", "tree", None)
    assert not found.is_proved
    assert found.notes == ("best of all trees",)
    assert run(data, search=ChowLiu(root="c", forest=True))[0].notes == (
        "best of all forests with root 'c'",
    )
    assert found.settings == {"root": None, "forest": False}
    again = pickle.loads(pickle.dumps(found))
    assert again.dag == found.dag
    assert np.array_equal(again.weights.matrix, found.weights.matrix)
    assert not again.weights.matrix.flags.writeable


def test_learn_and_the_list_of_searches_know_it():
    data = random_data(1, 4)
    assert learn(data, "ll", search="tree").dag == run(data, "ll")[0].dag
    assert make_search("tree", root="a", forest=True) == ChowLiu(root="a", forest=True)


def test_files_of_local_scores_are_refused():
    from bestdag.scores.parent_sets.build import build_score_table

    table = build_score_table(Scorer(random_data(1, 3)))
    with pytest.raises(InvalidParameterError, match="tree: needs data"):
        Problem(table).solve(ChowLiu())


@pytest.mark.parametrize("statements", [[], ["b -> a", "c -- d"]])
def test_time_limit_gives_what_must_be_there(statements):
    knowledge = Knowledge.parse(statements)
    found, _ = run(random_data(1, 4), knowledge=knowledge, time_limit=1e-9)
    assert found.status == "time limit"
    assert knowledge.allows(found.dag)
    assert len(found.dag.arcs) == len(statements)
    assert np.isnan(found.weights.matrix[0, 1])
    assert "over the pairs scored so far" in found.notes[0]


def test_interrupt_gives_the_best_tree_of_the_pairs_scored():
    rng = np.random.default_rng(0)
    data = make_dataset({f"v{k:03}": rng.integers(0, 9, 100_000).tolist() for k in range(120)})
    problem = Problem(Scorer(data, "max_bdeu", threads=1))
    with ctrl_c_in_native_work():
        found = problem.solve(ChowLiu())
    assert found.status == "interrupted"
    assert found.score <= 0
    assert found.dag.nodes == tuple(sorted(data.names))


def test_interrupt_between_families_of_a_score_of_ones_own():
    class Interrupted(Squares):
        def family(self, counts):
            if counts.parents and counts.parents[0].name == "c":
                raise KeyboardInterrupt
            return super().family(counts)

    found, _ = run(random_data(1, 4), Interrupted(), knowledge=Knowledge.parse(["c !> a"]))
    assert found.status == "interrupted"


def test_weights_can_be_drawn():
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    found, _ = run(random_data(1, 4), "bic")
    axes = found.weights.plot()
    shown = axes.images[0].get_array()
    assert shown[0, 1] == found.weights.matrix[0, 1]
    assert shown.mask[0, 0]
    assert [label.get_text() for label in axes.get_xticklabels()] == list("abcd")
    other = pyplot.figure().add_subplot()
    assert found.weights.plot(other) is other
    pyplot.close("all")
