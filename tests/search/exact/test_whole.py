"""Dynamic programming straight from data: every family, every optimum, every kind of limit."""

import itertools
import math

import numpy as np
import pytest

from bestdag import _core
from bestdag.data.readers import read
from bestdag.errors import InvalidParameterError
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge import Knowledge
from bestdag.scores import SCORES
from bestdag.scores.parent_sets.build import build_score_table
from bestdag.scores.parent_sets.limits import limits_within
from bestdag.scores.prior import ArcDifferencePrior
from bestdag.scores.scorer import Scorer
from bestdag.search.exact import search
from bestdag.search.exact.dp.all_sets import WholeProof, forecast_whole, solve_whole
from bestdag.search.exact.dp.engine import solve_dp
from bestdag.search.exact.search import Exact
from bestdag.search.exact.verification import VerificationError
from bestdag.search.problem import Problem
from tests.scores.random_data import random_dataset

# Sums over cells of functions of counts; the others say so.
WHOLE = [name for name in SCORES if name not in ("min_bdeu", "max_bdeu")]


def dependent_data(n, n_rows, seed, *, arities=(2, 3)):
    """Columns that copy or combine earlier ones, with noise."""
    rng = np.random.default_rng(seed)
    columns = {}
    for i in range(n):
        arity = int(arities[i % len(arities)])
        noise = rng.integers(0, arity, n_rows)
        value = noise
        if i:
            before = list(columns.values())
            pick = rng.choice(len(before), size=min(2, len(before)), replace=False)
            value = sum(before[k] for k in pick) % arity
            value = np.where(rng.random(n_rows) < 0.3, noise, value)
        columns[f"v{i:02}"] = value
    labels = {name: [str(x) for x in column] for name, column in columns.items()}
    states = {
        name: [str(x) for x in range(arities[i % len(arities)])] for i, name in enumerate(labels)
    }
    return read(labels, states=states)


def program(scorer, *, leave_out=False):
    n = len(scorer.variables)
    sets = scorer.native.every_set()
    assert sets.compute(leave_out, 1, math.inf, None)
    everybody = np.full(n, (1 << n) - 1, np.uint64)
    return _core.EverySetProgram(
        sets,
        np.zeros(n, np.uint64),
        everybody,
        np.full(n, n - 1, np.int64),
        np.zeros(n),
        np.zeros((0, 0)),
    )


@pytest.mark.parametrize("name", WHOLE)
def test_every_family_has_the_score_that_counting_it_gives(name):
    rng = np.random.default_rng([7, *name.encode()])
    for _ in range(4):
        data = random_dataset(rng, n_variables=6)
        scorer = Scorer(data, name, threads=1)
        names = [v.name for v in scorer.variables]
        whole = program(scorer)
        for child, name_of_child in enumerate(names):
            others = [k for k in range(6) if k != child]
            for size in range(6):
                for parents in itertools.combinations(others, size):
                    got = whole.score(child, sum(1 << p for p in parents))
                    wanted = scorer.family(name_of_child, [names[p] for p in parents])
                    assert got == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", sorted(set(SCORES) - set(WHOLE)))
def test_other_scores_are_left_to_lists(name):
    assert forecast_whole(Problem(Scorer(dependent_data(7, 50, 0), name))) is None


@pytest.mark.parametrize("n_rows", [1, 2, 30, 400])
@pytest.mark.parametrize("name", WHOLE)
def test_the_optimum_is_that_of_the_listed_sets(name, n_rows):
    scorer = Scorer(dependent_data(7, n_rows, 3), name, threads=1)
    found = solve_whole(Problem(scorer, workers=1), Dag([v.name for v in scorer.variables]))
    listed = solve_dp(build_score_table(scorer, prune=False), threads=1)
    assert found.proof is not None
    assert found.score == pytest.approx(listed.score, rel=1e-9, abs=1e-9)
    assert found.score == scorer.total(found.dag)
    assert found.best_scores >= found.score
    found.proof.verify()


# Fourteen and more variables are divided into tasks.
@pytest.mark.parametrize("n", [10, 14, 15])
def test_tasks_and_threads_change_nothing(n):
    scorer = Scorer(dependent_data(n, 120, n, arities=(2, 3, 2, 4)), "bic")
    first = Dag([v.name for v in scorer.variables])
    one, three = (solve_whole(Problem(scorer, workers=t), first) for t in (1, 3))
    assert one.dag == three.dag
    listed = solve_dp(build_score_table(scorer))
    assert one.score == pytest.approx(listed.score, rel=1e-9)


@pytest.mark.parametrize(
    ("statements", "max_parents"),
    [
        (["v00 -> v03", "v01 -> v03"], None),
        (["v05 !> v06", "v02 !- v04"], None),
        ([], 1),
        (["v06 -> v00"], 2),
        (["v01 < v00", "v06 < v00"], None),
    ],
)
@pytest.mark.parametrize("name", ["bic", "bdeu", "fnml", "mit"])
def test_limits_on_families(name, statements, max_parents):
    scorer = Scorer(dependent_data(7, 200, 5), name)
    knowledge = Knowledge.parse(statements)
    problem = Problem(scorer, knowledge=knowledge, max_parents=max_parents)
    assert forecast_whole(problem) is not None
    found = problem.solve(Exact(engine="dp"))
    table = build_score_table(scorer, knowledge=knowledge, max_parents=max_parents)
    assert found.score == pytest.approx(solve_dp(table).score, rel=1e-9)
    assert knowledge.allows(found.dag)
    assert found.verify()


def test_a_prior_that_is_a_sum_over_arcs():
    data = dependent_data(7, 60, 8)
    names = sorted(data.names)
    wanted = Dag(names, [(names[6], names[0]), (names[5], names[0])])
    scorer = Scorer(data, "bic", ArcDifferencePrior(wanted, kappa=0.01))
    found = solve_whole(Problem(scorer), Dag(names))
    listed = solve_dp(build_score_table(scorer))
    assert found.score == pytest.approx(listed.score, rel=1e-9)
    assert found.score == pytest.approx(scorer.total(found.dag), rel=1e-12)


def test_weights_count_rows_several_times():
    rng = np.random.default_rng(1)
    rows = {f"v{i}": [str(x) for x in rng.integers(0, 2, 40)] for i in range(6)}
    weights = rng.integers(0, 5, 40).tolist()
    again = {
        v: [x for x, w in zip(column, weights, strict=True) for _ in range(w)]
        for v, column in rows.items()
    }
    weighted, repeated = (
        Scorer(data, "k2") for data in (read({**rows, "w": weights}, weights="w"), read(again))
    )
    first = Dag(sorted(rows))
    assert solve_whole(Problem(weighted), first).score == pytest.approx(
        solve_whole(Problem(repeated), first).score, rel=1e-12
    )


def test_real_weights():
    rng = np.random.default_rng(2)
    rows = {f"v{i}": [str(x) for x in rng.integers(0, 2, 60)] for i in range(6)}
    scorer = Scorer(read({**rows, "w": rng.random(60).tolist()}, weights="w"), "bdeu")
    found = solve_whole(Problem(scorer), Dag(sorted(rows)))
    listed = solve_dp(build_score_table(scorer, prune=False))
    assert found.score == pytest.approx(listed.score, rel=1e-9)


def test_a_first_structure_that_was_left_out_still_serves():
    scorer = Scorer(dependent_data(9, 50, 4), "bic")
    names = [v.name for v in scorer.variables]
    full = Dag(names, list(itertools.combinations(names, 2)))
    found = solve_whole(Problem(scorer), full)
    assert found.dag == solve_whole(Problem(scorer), Dag(names)).dag


def test_sets_that_cannot_matter_are_left_out_and_nothing_is_lost():
    # 2^9 cells times ln(50) / 2 are far more than 50 rows can gain.
    scorer = Scorer(dependent_data(9, 50, 4), "bic")
    whole, part = program(scorer), program(scorer, leave_out=True)
    everybody = (1 << 9) - 2
    assert part.score(0, everybody) != whole.score(0, everybody)
    assert not part.score(0, everybody) > -math.inf
    best = np.empty((2, 9))
    for row, each in zip(best, (whole, part), strict=True):
        assert each.best_scores(1, math.inf, row)
    assert best[0] == pytest.approx(best[1], rel=1e-12)


@pytest.mark.parametrize("name", ["aic", "bic", "hqc"])
def test_sets_are_left_out_where_every_row_is_a_cell_of_its_own_too(name):
    # Ten rows: the walk ends early on some paths and not on others.
    for seed in range(10):
        scorer = Scorer(dependent_data(12, 10, seed, arities=(3,)), name)
        best = np.empty((2, 12))
        for row, leave_out in zip(best, (False, True), strict=True):
            assert program(scorer, leave_out=leave_out).best_scores(1, math.inf, row)
        assert best[0] == pytest.approx(best[1], rel=1e-12)


def test_no_time_gives_the_first_structure():
    scorer = Scorer(dependent_data(20, 2000, 1), "bdeu")
    first = Dag([v.name for v in scorer.variables])
    problem = Problem(scorer, time_limit=1e-9)
    found = solve_whole(problem, first)
    assert (found.dag, found.proof, found.best_scores) == (first, None, None)


def test_progress_goes_up_and_may_raise():
    scorer = Scorer(dependent_data(16, 500, 1), "bdeu")
    first = Dag([v.name for v in scorer.variables])
    shares = []
    assert solve_whole(Problem(scorer), first, progress=shares.append).proof is not None
    assert shares == sorted(shares)

    def fail(share):
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        solve_whole(Problem(scorer), first, progress=fail)


def test_a_false_proof_is_found_out():
    scorer = Scorer(dependent_data(7, 200, 3), "bdeu")
    names = [v.name for v in scorer.variables]
    empty = Dag(names)
    proof = WholeProof(empty, scorer.total(empty), 1e-9, 1e-9, 1.0, scorer, limits_within(None, 7))
    with pytest.raises(VerificationError, match=r"verify: a structure scores .*, more than"):
        proof.verify()


def test_what_is_too_large_to_check_is_said():
    scorer = Scorer(dependent_data(21, 5, 3), "bdeu")
    empty = Dag([v.name for v in scorer.variables])
    proof = WholeProof(empty, 0.0, 0.0, 1.0, 1.0, scorer, limits_within(None, 21))
    with pytest.raises(InvalidParameterError, match="up to 20 variables, got 21"):
        proof.verify()


def test_equivalent_optima_are_one_structure_whatever_the_engine():
    scorer = Scorer(dependent_data(8, 300, 6), "bdeu")
    dags = {Problem(scorer).solve(Exact(engine=engine)).dag for engine in ("auto", "dp", "bnc")}
    assert len(dags) == 1


@pytest.mark.parametrize("where", ["counting", "listing"])
def test_ctrl_c_leaves_a_structure(monkeypatch, where):
    def pressed(*_, **__):
        raise KeyboardInterrupt

    if where == "counting":
        monkeypatch.setattr(search, "solve_whole", pressed)
    else:
        monkeypatch.setattr(search, "_AT_ONCE", 0.0)
        monkeypatch.setattr(Problem, "table", pressed)
    knowledge = Knowledge.parse(["v01 -> v02"])
    problem = Problem(Scorer(dependent_data(8, 100, 0), "bic"), knowledge=knowledge)
    found = problem.solve(Exact())
    assert (found.status, found.bound) == ("interrupted", None)
    assert knowledge.allows(found.dag)
    assert found.score == problem.scorer("test").total(found.dag)


@pytest.mark.parametrize("n", [4, 5, 9])
def test_counted_once_for_several_scores_each_has_the_optimum_it_has_alone(n):
    """Min-BDeu is no sum over cells, and goes its own way."""
    scorer = Scorer(dependent_data(n, 60, n), "bic", threads=1)
    scorers = [scorer, *map(scorer.by, ["fnml", "min_bdeu", "qnml", "bdeu"])]
    results = Exact().run_each([Problem(one, workers=1) for one in scorers])
    for one, found in zip(scorers, results, strict=True):
        alone = Problem(Scorer(one.dataset, one.score), workers=1).solve(Exact())
        assert found.status == alone.status == "optimum proved"
        assert found.score == pytest.approx(alone.score, abs=1e-9)
        assert one.total(found.dag) == pytest.approx(found.score, abs=1e-9)
        for proof in found.certificates:
            proof.verify()


def test_what_is_counted_for_several_scores_is_of_one_table():
    data = dependent_data(5, 30, 1)
    sets = [Scorer(data, "bic", threads=1).native.every_set() for _ in range(2)]
    with pytest.raises(ValueError, match="one table"):
        _core.compute_every_set(sets, True, 1, math.inf, None)
