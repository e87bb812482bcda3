"""Structural EM: expected counts, scores of what rows show, rounds that never fall, refusals."""

import pickle
from dataclasses import asdict
from itertools import pairwise
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bestdag as bd
from bestdag import BIC, EM, LL, Dag, Dataset, StructuralEM, Variable, _core, learn, run_em
from bestdag.errors import DataError, InvalidParameterError
from bestdag.graph.enumeration import all_dags
from bestdag.incomplete.scoring import expected_scorer, observed_score
from bestdag.scores import SCORES, make_score
from bestdag.search import SEARCHES, TAN, HillClimb
from tests.conftest import examples
from tests.parameters.incomplete import (
    dag_of,
    dataset_of,
    incomplete,
    network_of,
    random_tables,
    tables_of,
)
from tests.reference import em as reference

pytestmark = pytest.mark.filterwarnings("ignore:fit. the network has .* parameters")

NAMES = "abcde"


def with_holes(data, share, seed):
    random = np.random.default_rng(seed)
    columns = [
        np.where(random.random(data.n_rows) < share, data.arities[n], data.codes(n))
        for n in data.names
    ]
    return Dataset(data.variables, columns, data.weights)


def sampled(n_variables=4, n_rows=150, share=0.2, seed=0, arities=2):
    network = bd.random_network(n_variables, seed=seed, arities=arities)
    return with_holes(network.sample(n_rows, seed=seed + 1), share, seed + 2)


@given(incomplete(), st.integers(0, 99), st.data())
@settings(max_examples=examples(60))
def test_expected_counts_of_any_family_agree_with_brute_force(example, seed, data):
    arities, parents, rows = example
    tables = random_tables(arities, parents, seed)
    weights = [1.0 + i % 2 for i in range(len(rows))]
    scorer = expected_scorer(
        network_of(arities, parents, tables), dataset_of(rows, arities, weights), "ll"
    )
    child = data.draw(st.integers(0, len(arities) - 1))
    others = [p for p in range(len(arities)) if p != child]
    group = sorted(data.draw(st.sets(st.sampled_from(others)) if others else st.just(set())))
    (counts,) = scorer.expected.count([(NAMES[child], [NAMES[p] for p in group])])
    wanted = reference.family_counts(rows, weights, tables, parents, arities, (child, group))
    assert sorted(wanted) == [tuple(c) for c in counts.configurations.tolist()]
    for configuration, row in zip(counts.configurations.tolist(), counts.table, strict=True):
        assert row == pytest.approx(wanted[tuple(configuration)], abs=1e-9)


@pytest.mark.parametrize("name", [n for n in SCORES if n not in ("fnml", "pnal", "bd")])
def test_native_scores_of_expected_counts_are_those_of_the_formula(name):
    data = sampled(5, 80, 0.3, seed=4, arities=3)
    network = run_em(Dag.from_parents({v: [] for v in data.names}), data, EM(ess=1)).network
    score = make_score(name)
    scorer = expected_scorer(network, data, score)
    names = sorted(data.names)
    families = [(names[0], []), (names[1], names[2:4]), (names[4], names[:3])]
    for family, got in zip(families, scorer.families(families), strict=True):
        (counts,) = scorer.expected.count([family])
        assert got == pytest.approx(score.family(counts), rel=1e-9, abs=1e-9)


def test_draws_come_near_the_exact_counts_and_depend_on_the_seed_alone():
    data = sampled(5, 300, 0.3, seed=1)
    network = bd.random_network(5, seed=1)
    family = [("x1", ["x0", "x2"])] if "x1" in data.names else [(data.names[1], data.names[2:4])]
    exact, drawn, again, other = (
        expected_scorer(network, data, "ll", max_cells=cells, draws=400, seed=seed).expected
        for cells, seed in [(4096, 0), (1, 0), (1, 0), (1, 5)]
    )
    assert (exact.n_drawn, drawn.n_drawn > 0) == (0, True)
    one, two, same, different = (c.count(family)[0].table for c in (exact, drawn, again, other))
    assert two == pytest.approx(one, abs=8)
    assert not np.array_equal(one, two)
    assert np.array_equal(two, same)
    assert not np.array_equal(two, different)


# Of four tosses one was not seen: ln(4/27), minus half a ln 4 for the one parameter.
def test_bic_has_the_log_likelihood_of_what_the_rows_show():
    data = dataset_of([(0,), (0,), (1,), (None,)], [2])
    found = observed_score(Dag(["a"]), data, BIC(), em=EM(tolerance=1e-14))
    assert found.score == pytest.approx(log(4 / 27) - log(4) / 2, abs=1e-9)
    assert found.expected["a"] < found.score


@given(incomplete(max_rows=12), st.sampled_from(["aic", "bic", "hqc", "ll"]))
@settings(max_examples=examples(25))
def test_a_penalised_score_is_the_exact_log_likelihood_minus_the_penalty(example, name):
    arities, parents, rows = example
    dag, data = dag_of(arities, parents), dataset_of(rows, arities)
    found = observed_score(dag, data, name)
    penalty = make_score(name).penalty(len(rows)) * found.fit.network.n_parameters
    exact = reference.log_likelihood(
        rows, [1] * len(rows), tables_of(found.fit.network), parents, arities
    )
    assert found.score == pytest.approx(exact - penalty, abs=1e-8)


# The prior of one coin is Beta(1, 1): the probability of two heads and a tail is 1/12, whatever
# the fourth was. The approximation has the expected counts 8/3 and 4/3 at their mean.
def test_a_bayesian_score_is_the_approximation_of_cheeseman_and_stutz():
    data = dataset_of([(0,), (0,), (1,), (None,)], [2])
    found = observed_score(Dag(["a"]), data, bd.K2(), em=EM(prior=bd.K2(), tolerance=1e-14))
    theta = found.fit.network.table("a").values
    counts = np.array([2 + theta[0], 1 + theta[1]])
    from scipy.special import gammaln

    marginal = gammaln(2) - gammaln(6) + gammaln(1 + counts).sum()
    wanted = marginal - counts @ np.log(theta) + 2 * log(theta[0]) + log(theta[1])
    assert found.score == pytest.approx(wanted, abs=1e-9)
    assert found.score == pytest.approx(log(1 / 12), abs=0.1)


@pytest.mark.parametrize("score", ["ll", "aic", "bic", "hqc", "qnml"])
@pytest.mark.parametrize("search", ["hill_climb", "exact", "tabu"])
@pytest.mark.parametrize("seed", range(3))
def test_no_round_lowers_a_penalised_log_likelihood(score, search, seed):
    data = sampled(5, 200, 0.25, seed=seed * 7)
    limits = {"max_parents": 2} if score == "ll" else {}
    result = learn(data, score, search=search, missing="em", **limits)
    scores = [step.score for step in result.trace]
    assert len(scores) >= 2
    for before, after in pairwise(scores[1:]):
        assert after >= before - 1e-7 * abs(before)
    assert result.score == pytest.approx(max(scores[1:]))
    assert (result.status, result.bound) == ("local optimum", None)
    assert "no round lowers the score" in " ".join(result.notes)


def test_the_score_is_that_of_the_structure_and_no_structure_beats_it_under_its_own_counts():
    data = sampled(4, 400, 0.1, seed=3)  # so few holes that the likelihood has one maximum
    result = learn(data, "bic", search="exact", missing=StructuralEM(tolerance=1e-12))
    found = observed_score(result.dag, data, "bic", em=EM(tolerance=1e-12))
    assert result.score == pytest.approx(found.score, abs=1e-4)
    scorer = expected_scorer(found.fit.network, data, "bic")
    best = max(scorer.total(dag) for dag in all_dags(sorted(data.names)))
    assert scorer.total(result.dag) == pytest.approx(best, abs=1e-4)


def test_without_missing_cells_it_is_what_the_search_finds():
    data = bd.random_network(5, seed=2).sample(300, seed=1)
    for name in ("bic", "qnml", "bdeu"):
        one = learn(data, name, search="exact", missing="em")
        other = learn(data, name, search="exact")
        assert one.score == pytest.approx(other.score, rel=1e-12)
        assert one.dag == other.dag


@pytest.mark.parametrize("name", SEARCHES)
def test_every_search_takes_expected_counts(name):
    data = sampled(4, 100, 0.2, seed=5)
    needed = {
        "k2": {"order": sorted(data.names)},
        "tan": {"target": data.names[0]},
        "naive_bayes": {"target": data.names[0]},
        "augmented": {"target": data.names[0]},
    }
    search = bd.search.make_search(name, **needed.get(name, {}))
    result = learn(data, "bdeu", search=search, missing="em")
    assert result.status == "local optimum"
    assert result.bound is None
    assert np.isfinite(result.score)


def test_bayesian_scores_say_that_they_are_approximations_and_the_best_round_is_returned():
    for seed in range(4):
        result = learn(sampled(5, 60, 0.4, seed=seed), "bdeu", search="hill_climb", missing="em")
        assert result.score == pytest.approx(max(step.score for step in result.trace[1:]))
        text = " ".join(result.notes)
        assert "approximation" in text
        fell = any(b < a - 1e-6 for a, b in pairwise([s.score for s in result.trace]))
        assert ("the score fell" in text) == fell


def test_threads_and_the_order_of_rows_and_columns_do_not_change_a_bit():
    data = sampled(5, 120, 0.3, seed=9, arities=3)
    order = np.random.default_rng(1).permutation(120)
    moved = data.select(data.names[::-1], order)
    for way in ("em", StructuralEM(max_cells=2, draws=20)):
        one = learn(data, "bic", missing=way, workers=1)
        other = learn(moved, "bic", missing=way, workers=3)
        assert one.dag == other.dag
        assert one.score == other.score


def test_whole_weights_equal_repetition():
    data = sampled(4, 60, 0.2, seed=2)
    weights = np.arange(60) % 3 + 1
    weighted = Dataset(data.variables, [data.codes(n) for n in data.names], weights)
    repeated = data.select(rows=np.repeat(np.arange(60), weights))
    one, other = (learn(d, "qnml", missing="em") for d in (weighted, repeated))
    assert (one.dag, one.score) == (other.dag, other.score)


def test_draws_are_noted():
    result = learn(sampled(4, 80, 0.3), "bic", missing=StructuralEM(max_cells=1, draws=30))
    assert "come from 30 draws each" in " ".join(result.notes)
    assert "more than 1 states together" in " ".join(result.notes)


def test_restarts_never_end_lower_and_obey_what_is_known():
    data = sampled(6, 150, 0.3, seed=6)
    known = [f"{data.names[0]} -> {data.names[1]}"]
    limits = {"knowledge": known, "max_parents": 2, "search": "hill_climb"}
    one = learn(data, "bic", missing="em", **limits)
    many = learn(data, "bic", missing=StructuralEM(restarts=4), **limits)
    assert many.score >= one.score
    assert "5 runs" in many.notes[0]
    for result in (one, many):
        assert result.dag.has_arc(data.names[0], data.names[1])
        assert max(len(result.dag.parents(n)) for n in data.names) <= 2
    assert learn(data, "bic", missing=StructuralEM(restarts=4), **limits).score == many.score


def test_a_hidden_variable_gets_its_role_from_the_start():
    random = np.random.default_rng(2)
    kind = random.random(500) < 0.5
    columns = [np.where(random.random(500) < 0.1, ~kind, kind).astype(int) for _ in range(4)]
    hidden, observed = Variable("h", ("0", "1")), [Variable(n, ("0", "1")) for n in "abcd"]
    data = Dataset([hidden, *observed], [np.full(500, 2), *columns])
    start = Dag.from_parents({"h": [], **{n: ["h"] for n in "abcd"}})
    apart = learn(data.drop("h"), "bic")
    result = learn(data, "bic", search=HillClimb(start_from=start), missing="em")
    assert len(result.dag.adjacent("h")) == 4
    assert result.score > apart.score


def test_fit_uses_parameters_that_belong_to_the_score():
    data = sampled(4, 100, 0.2, seed=8)
    for name, em in [("bic", EM(smooth="fsnml")), ("bdeu", EM(prior=bd.BDeu()))]:
        result = learn(data, name, missing="em")
        assert result.fit("score") == run_em(result.dag, data, em).network
        assert result.fit() == run_em(result.dag, data, EM(smooth="fsnml")).network
    assert result.fit("em") == run_em(result.dag, data, EM(prior=bd.BDeu())).network
    assert result.fit("mle") == run_em(result.dag, data, EM()).network


def test_rows_without_a_value_are_left_out_and_said():
    data = dataset_of([(0, 0), (1, 1), (None, None), (0, None), (1, 1), (0, 0)], [2, 2])
    result = learn(data, "bic", missing="em")
    assert "1 row without any value left out" in result.notes
    assert result.score == learn(data.select(rows=[0, 1, 3, 4, 5]), "bic", missing="em").score
    with pytest.raises(DataError, match="no row has a value"):
        learn(dataset_of([(None, None)] * 2, [2, 2]), "bic", missing="em")


def test_a_table_without_a_complete_row_is_learned_from():
    rows = [(0, 0, None), (1, 1, None), (None, 0, 0), (None, 1, 1), (0, None, 0), (1, None, 1)] * 20
    result = learn(dataset_of(rows, [2, 2, 2]), "bic", missing="em")
    assert len(result.dag.arcs) == 2


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"score": "fnml"}, "expected counts, which are not whole, and fnml needs whole ones"),
        ({"score": "pnal"}, "pnal is a mean per row"),
    ],
)
def test_refuses(how, message):
    data = dataset_of([(0, 0), (1, None)], [2, 2])
    with pytest.raises(InvalidParameterError, match=message):
        learn(data, missing="em", **{"score": "bic", **how})


def test_its_result_cannot_be_bounded():
    result = learn(dataset_of([(0, 0), (1, None)], [2, 2]), "bic", missing="em")
    with pytest.raises(InvalidParameterError, match="cannot be bounded"):
        result.bounded()


def test_qnml_needs_a_whole_number_of_cases():
    data = dataset_of([(0, 0), (1, None)], [2, 2], [0.5, 1.25])
    with pytest.raises(DataError, match="qnml: is defined for whole counts only, and the weights"):
        learn(data, "qnml", missing="em")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_rounds": 0}, "max_rounds must be"),
        ({"tolerance": -1}, "tolerance must be"),
        ({"max_iterations": 0}, "max_iterations must be"),
        ({"draws": 0}, "draws must be"),
        ({"restarts": -1}, "restarts must be"),
    ],
)
def test_refuses_settings(settings, message):
    with pytest.raises(InvalidParameterError, match=message):
        StructuralEM(**settings)


def test_a_time_limit_gives_the_best_so_far():
    data = sampled(12, 2000, 0.3, seed=1, arities=3)
    result = learn(data, "bic", search="hill_climb", missing="em", time_limit=0.05)
    assert result.status == "time limit"
    assert np.isfinite(result.score)
    assert result.score <= observed_score(result.dag, data, "bic").score + 1e-3


@pytest.fixture
def out_of_time_after(monkeypatch):
    """Return a search after whose first end time is up for so many fits of parameters."""
    left, maximized = [], EM.maximized

    def limited(em, *arguments):
        if left:
            left.pop()
            raise _core.OutOfTimeError
        return maximized(em, *arguments)

    def after(search, n_fits):
        class Last(type(search)):
            def steps(self, problem):
                yield from type(search).steps(self, problem)
                left.extend([None] * n_fits)

        return Last(**asdict(search))

    monkeypatch.setattr(EM, "maximized", limited)
    return after


@pytest.mark.parametrize("is_tan", [False, True])
def test_when_time_is_up_in_the_first_round_its_structure_is_returned(out_of_time_after, is_tan):
    data = sampled(4, 100, 0.2, seed=1)
    search = out_of_time_after(TAN(target=data.names[0]) if is_tan else HillClimb(), 1)
    result = learn(data, "bic", search=search, missing="em", time_limit=100)
    assert result.status == "time limit"
    assert result.dag.arcs
    assert result.score <= observed_score(result.dag, data, "bic").score + 1e-6


def test_when_there_is_no_time_to_look_at_it_the_start_is_returned(out_of_time_after):
    data = sampled(4, 100, 0.2, seed=1)
    search = out_of_time_after(HillClimb(), 2)
    result = learn(data, "bic", search=search, missing="em", time_limit=100)
    assert result.status == "time limit"
    assert not result.dag.arcs
    assert result.score == pytest.approx(observed_score(result.dag, data, "bic").score)


def test_a_scorer_of_expected_counts_can_be_pickled():
    data = sampled(4, 100, 0.2, seed=1)
    scorer = expected_scorer(observed_score(Dag(data.names), data).fit.network, data, "bdeu")
    again = pickle.loads(pickle.dumps(scorer))
    child, *parents = sorted(data.names)[:3]
    assert again.family(child, parents) == scorer.family(child, parents)


def test_rounds_may_be_limited():
    result = learn(sampled(5, 100, 0.3), "bic", missing=StructuralEM(max_rounds=1))
    assert result.status == "step limit"
    assert len(result.trace) == 2


def test_ll_of_more_arcs_is_not_lower():
    data = sampled(4, 100, 0.3, seed=3)
    result = learn(data, LL(), search="hill_climb", missing="em", max_parents=1)
    assert result.score >= result.trace[0].score
