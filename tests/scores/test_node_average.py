"""Node-average likelihood: values by hand, another route, every way of scoring, bounds."""

import itertools
import pickle
from math import inf, log

import numpy as np
import pytest

from bestdag.counts.engine import CountingEngine
from bestdag.data.dataset import Dataset
from bestdag.data.schema import Variable
from bestdag.errors import DataError, InvalidParameterError
from bestdag.graph.dag import Dag
from bestdag.graph.enumeration import all_dags
from bestdag.scores import SCORES, make_score
from bestdag.scores.node_average import AveragedScore
from bestdag.scores.parent_sets.build import build_score_table
from bestdag.scores.scorer import Scorer
from bestdag.search.bound import upper_bound
from bestdag.search.problem import Problem
from tests.reference.node_average import node_average
from tests.scores.test_open_sets import MEMORY, assert_covers, cut_short

AVERAGED = [name for name in SCORES if isinstance(make_score(name), AveragedScore)]


def with_holes(rows, arities, weights=None):
    """Make a Dataset of rows with None for missing values; columns a, b, c, ..."""
    variables = [Variable("abcdef"[i], [str(k) for k in range(r)]) for i, r in enumerate(arities)]
    columns = [
        np.array([arities[i] if row[i] is None else row[i] for row in rows])
        for i in range(len(arities))
    ]
    return Dataset(variables, columns, weights)


def random_table(rng, *, n_variables=4, max_rows=30, kind="none", share=0.3):
    """Draw rows that depend on each other, with holes, some families never seen together."""
    n_rows = int(rng.integers(2, max_rows + 1))
    arities = [int(r) for r in rng.integers(1, 4, n_variables)]
    codes = rng.integers(0, 12, (n_rows, 1)) + rng.integers(0, 2, (n_rows, n_variables))
    rows = [[int(x) % r for x, r in zip(row, arities, strict=True)] for row in codes]
    holes = rng.random((n_rows, n_variables)) < share
    holes[0] = False  # every column has a value
    if rng.random() < 0.3:  # two columns that only the first row shows together
        holes[1::2, 0], holes[2::2, 1] = True, True
    shown = [
        tuple(None if hole else x for x, hole in zip(*pair, strict=True))
        for pair in zip(rows, holes, strict=True)
    ]
    weights = {
        "none": None,
        "whole": rng.integers(0, 4, n_rows) + (np.arange(n_rows) == 0),
        "real": rng.random(n_rows) + 0.01,
    }[kind]
    return shown, arities, weights


def families_of(names):
    for child in names:
        others = [name for name in names if name != child]
        for k in range(len(others) + 1):
            for parents in itertools.combinations(others, k):
                yield child, parents


def expected(rows, arities, weights, score):
    """Return every local score by the other route."""
    each = [1.0] * len(rows) if weights is None else weights.tolist()
    rate = score.rate(sum(each))
    names = "abcdef"[: len(arities)]
    place = {name: i for i, name in enumerate(names)}
    return {
        (child, parents): node_average(
            rows, each, place[child], [place[p] for p in parents], arities, rate
        )
        for child, parents in families_of(names)
    }


# Five rows, one without a, one without b. Alone, a is 0, 0, 1, 1: ln 1/2 a row. With b its rows
# are (0, 0), (0, 0), (1, 1): a is certain given b, and b alone is 0, 0, 1, 1.
ROWS = [(0, 0), (0, 0), (1, 1), (1, None), (None, 1)]


@pytest.mark.parametrize(
    ("score", "alone", "given"),
    [
        ("ll", log(1 / 2), 0.0),
        ("aic", log(1 / 2) - 1 / 5, -2 / 5),
        ("bic", log(1 / 2) - log(5) / 10, -2 * log(5) / 10),
        ("pnal", log(1 / 2) - 0.05 * 5**-0.4, -2 * 0.05 * 5**-0.4),
    ],
)
def test_values_worked_out_by_hand(score, alone, given):
    scorer = Scorer(with_holes(ROWS, [2, 2]), score, missing="available")
    assert scorer.family("a") == pytest.approx(alone, abs=1e-12)
    assert scorer.family("a", ["b"]) == pytest.approx(given, abs=1e-12)
    assert scorer.total(Dag(["a", "b"], [("b", "a")])) == pytest.approx(alone + given, abs=1e-12)


# Two thirds of b = 0 where a is shown, one half of all: equivalent structures differ.
def test_is_not_score_equivalent_with_missing_cells():
    rows = [(0, 0), (1, 0), (0, 1), (None, 1)]
    scorer = Scorer(with_holes(rows, [2, 2]), "ll", missing="available")
    assert not scorer.is_score_equivalent
    forward, backward = (scorer.total(Dag(["a", "b"], [arc])) for arc in (("a", "b"), ("b", "a")))
    of_a, of_b = (2 * log(2 / 3) + log(1 / 3)) / 3, log(1 / 2)
    given = 2 * log(1 / 2) / 3  # of either given the other, over three rows
    assert forward == pytest.approx(of_a + given, abs=1e-12)
    assert backward == pytest.approx(of_b + given, abs=1e-12)


def test_a_family_that_no_row_shows_scores_minus_infinity():
    data = with_holes([(0, None), (1, None), (None, 0), (None, 1)], [2, 2])
    scorer = Scorer(data, "bic", missing="available")
    assert scorer.family("a", ["b"]) == -inf
    assert scorer.explain("a", ["b"]).value == -inf
    assert scorer.family("a") == pytest.approx(log(1 / 2) - log(4) / 8)


# A row of weight 0 shows nothing.
def test_rows_without_weight_do_not_show_a_family():
    data = with_holes([(0, 0), (1, None), (None, 1)], [2, 2], np.array([0, 2, 2]))
    assert Scorer(data, "ll", missing="available").family("a", ["b"]) == -inf


@pytest.mark.parametrize("name", AVERAGED)
def test_on_complete_rows_it_is_the_score_per_row(name):
    rng = np.random.default_rng(3)
    rows, arities, weights = random_table(rng, share=0.0, kind="whole")
    rows = [tuple(0 if x is None else x for x in row) for row in rows]
    data = with_holes(rows, arities, weights)
    plain, averaged = Scorer(data, name), Scorer(data, name, missing="available")
    per_row = 1.0 if name == "pnal" else 1.0 / data.total_weight
    for child, parents in families_of(data.names):
        want = per_row * plain.family(child, parents)
        assert averaged.family(child, parents) == pytest.approx(want, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("kind", ["none", "whole", "real"])
@pytest.mark.parametrize("name", AVERAGED)
def test_every_way_of_scoring_agrees_with_the_other_route(name, kind):
    rng = np.random.default_rng(AVERAGED.index(name))
    for _ in range(15):
        rows, arities, weights = random_table(rng, kind=kind)
        data = with_holes(rows, arities, weights)
        want = expected(rows, arities, weights, make_score(name))
        scorer = Scorer(data, name, missing="available", threads=2)
        names = [v.name for v in scorer.variables]
        every = scorer.all_families(len(names) - 1)
        pairs = scorer.pair_scores(names)
        for i, child in enumerate(names):
            of_child = {parents: value for (c, parents), value in want.items() if c == child}
            assert scorer.families([(child, p) for p in of_child]).tolist() == pytest.approx(
                list(of_child.values()), abs=1e-9
            )
            assert sorted(every[child].tolist()) == pytest.approx(
                sorted(of_child.values()), abs=1e-9
            )
            for j, parent in enumerate(names):
                given = (parent,) if parent != child else ()
                assert pairs[j, i] == pytest.approx(want[child, given], abs=1e-9)
            parents = tuple(n for n in names if n != child)[:2]
            changed = [want[child, tuple(sorted({*parents} ^ ({n} - {child})))] for n in names]
            assert scorer.changes(child, parents).tolist() == pytest.approx(changed, abs=1e-9)
            assert scorer.explain(child, parents).value == pytest.approx(
                want[child, parents], abs=1e-9
            )


# Rows sorted instead of a dense table: many states, so that most configurations never occur.
def test_many_configurations_agree_with_the_other_route():
    rng = np.random.default_rng(8)
    arities = [40, 40, 40, 40]
    rows = [
        tuple(None if rng.random() < 0.2 else int(x) for x in rng.integers(0, 40, 4))
        for _ in range(50)
    ]
    scorer = Scorer(with_holes(rows, arities), "bic", missing="available")
    for (child, parents), want in expected(rows, arities, None, make_score("bic")).items():
        assert scorer.family(child, parents) == pytest.approx(want, rel=1e-12)


@pytest.mark.parametrize("kind", ["none", "whole", "real"])
@pytest.mark.parametrize("name", AVERAGED)
def test_pruning_keeps_the_best_subset_of_every_set(name, kind):
    rng = np.random.default_rng(AVERAGED.index(name) + 50)
    for _ in range(15):
        rows, arities, weights = random_table(rng, kind=kind)
        scorer = Scorer(with_holes(rows, arities, weights), name, missing="available")
        table = build_score_table(scorer)
        want = expected(rows, arities, weights, make_score(name))
        for child in scorer.dataset.names:
            listed = [(score, set(parents)) for score, parents in table.sets(child)]
            for (c, parents), _ in want.items():
                if c != child:
                    continue
                best = max(v for (k, p), v in want.items() if k == child and {*p} <= {*parents})
                kept = max((s for s, p in listed if p <= {*parents}), default=-inf)
                assert kept == pytest.approx(best, abs=1e-9)


# A listing that memory ended: what it lacks is bounded by an open set.
@pytest.mark.parametrize("name", AVERAGED)
def test_what_is_not_listed_is_bounded(name):
    rng = np.random.default_rng([2, *name.encode()])
    n_covered = 0
    for case in range(60):
        rows, arities, weights = random_table(
            rng, n_variables=5, kind=("none", "whole", "real")[case % 3]
        )
        scorer = Scorer(with_holes(rows, arities, weights), name, missing="available", threads=1)
        table = cut_short(scorer, MEMORY[case % len(MEMORY)])
        assert table.is_bounded
        everything = {child: {} for child in scorer.dataset.names}
        for (child, parents), value in expected(rows, arities, weights, make_score(name)).items():
            everything[child][frozenset(parents)] = value
        n_covered += assert_covers(table, everything, 1e-9)
    assert n_covered > 20


def test_no_bound_is_below_the_best_structure():
    rng = np.random.default_rng(21)
    for _ in range(10):
        rows, arities, _ = random_table(rng, max_rows=60)
        scorer = Scorer(with_holes(rows, arities), "bic", missing="available")
        problem = Problem(scorer)
        best = max(scorer.total(dag) for dag in all_dags(list(scorer.dataset.names)))
        early = upper_bound(problem, deadline=0.0)
        assert early.value is not None
        assert early.value >= best - 1e-12
        assert upper_bound(problem).value >= best - 1e-12


# One more parent leaves one row, in which it is certain: no rule about nested rows holds.
def test_a_useless_parent_may_raise_the_mean_by_hiding_rows():
    rows = [(0, 0), (1, None), (0, None), (1, None)]
    table = build_score_table(Scorer(with_holes(rows, [2, 2]), "ll", missing="available"))
    assert table.sets("a")[0] == (0.0, ("b",))


def test_counts_are_those_of_the_rows_that_show_the_family():
    (counts,) = CountingEngine(with_holes(ROWS, [2, 2]), missing="available").count([("a", "b")])
    assert counts.table.tolist() == [[2, 0], [0, 1]]
    assert counts.configurations.tolist() == [[0], [1]]
    assert counts.n_configurations == 2.0
    with pytest.raises(DataError, match="values are missing in 'a' \\(1\\), 'b' \\(1\\)"):
        CountingEngine(with_holes(ROWS, [2, 2]))


def test_pickles_with_its_treatment_of_missing_cells():
    scorer = Scorer(with_holes(ROWS, [2, 2]), "bic", missing="available")
    again = pickle.loads(pickle.dumps(scorer))
    assert again.family("a", ["b"]) == scorer.family("a", ["b"])


def test_refuses_scores_that_are_no_penalised_likelihood():
    with pytest.raises(InvalidParameterError, match=r"needs a log-likelihood with a penalty.*bdeu"):
        Scorer(with_holes(ROWS, [2, 2]), "bdeu", missing="available")
