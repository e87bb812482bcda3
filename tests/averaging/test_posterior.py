"""Posterior probabilities: every number against a list of all DAGs, or against another method."""

import itertools
import math
import pickle
from types import SimpleNamespace

import numpy as np
import pytest

from bestdag import (
    ArcDifferencePrior,
    ArcProbabilities,
    Dag,
    InterruptedWarning,
    InvalidParameterError,
    NotEnoughMemoryError,
    Scorer,
    ScoreTable,
    _core,
    posterior,
    read,
)
from bestdag.averaging import chains
from bestdag.averaging.deadline import Deadline
from bestdag.averaging.local_weights import local_weights
from bestdag.averaging.plan import PosteriorPlan
from bestdag.checkpoint import RunState
from bestdag.examples import example
from bestdag.machine import memory_limit
from bestdag.search.problem import Problem
from tests.reference.posterior import enumerated
from tests.signals import ctrl_c_in_native_work

ASIA = read(example("asia.csv")).select(rows=slice(0, 60))
FIVE = ASIA.select(["bronc", "dysp", "either", "lung", "smoke"])
FOUR = FIVE.drop("smoke")


def local_of(data, score="bdeu", structure_prior=None, refuse=lambda child, parents: False):
    scorer = Scorer(data, score, structure_prior)
    known = {}

    def local(child, parents):
        if refuse(child, parents):
            return -math.inf
        key = child, parents
        if key not in known:
            known[key] = scorer.family(child, parents)
        return known[key]

    return local


@pytest.mark.parametrize("prior", ["order", "uniform"])
@pytest.mark.parametrize(
    "data", [FOUR, FIVE, FIVE.select(["bronc"]), FIVE.select(["bronc", "dysp"])]
)
@pytest.mark.parametrize("score", ["bdeu", "bic", "qnml"])
def test_exact_probabilities_are_those_of_all_dags(data, prior, score):
    truth = enumerated(data.names, local_of(data, score), prior)
    found = posterior(data, score, prior=prior, method="exact")
    assert found.names == truth.names
    np.testing.assert_allclose(found.matrix, truth.arcs(), atol=1e-10)
    assert found.log_evidence == pytest.approx(truth.log_total, abs=1e-9)
    for child, listed in found.parent_sets.items():
        for parents, probability in listed:
            assert probability == pytest.approx(truth.parent_set(child, parents), abs=1e-10)


def test_paths_are_those_of_all_dags_under_the_order_prior():
    truth = enumerated(FIVE.names, local_of(FIVE), "order")
    found = posterior(FIVE, prior="order", ancestors=True)
    np.testing.assert_allclose(found.ancestors, truth.ancestors(), atol=1e-10)
    assert found.dags is None  # summed, not drawn
    assert found.ancestor("smoke", "dysp") == found.ancestors[4, 1]


@pytest.mark.parametrize("prior", ["order", "uniform"])
@pytest.mark.parametrize(
    ("statements", "refuse"),
    [
        (["bronc -> dysp"], lambda c, p: c == "dysp" and "bronc" not in p),
        (["lung !> either"], lambda c, p: c == "either" and "lung" in p),
        (["tiers: smoke | lung bronc | either dysp"], None),
    ],
)
def test_knowledge_leaves_out_what_it_forbids(prior, statements, refuse):
    tier = {"smoke": 0, "lung": 1, "bronc": 1, "either": 2, "dysp": 2}
    refuse = refuse or (lambda c, p: any(tier[one] > tier[c] for one in p))
    truth = enumerated(FIVE.names, local_of(FIVE, refuse=refuse), prior)
    found = posterior(FIVE, prior=prior, knowledge=statements, max_parents=4)
    np.testing.assert_allclose(found.matrix, truth.arcs(), atol=1e-10)


@pytest.mark.parametrize("prior", ["order", "uniform"])
def test_a_limit_of_parents_and_a_structure_prior_count(prior):
    believed = ArcDifferencePrior(Dag(FIVE.names, [("smoke", "lung")]), kappa=0.2)
    local = local_of(FIVE, "bic", believed, refuse=lambda c, p: len(p) > 1)
    truth = enumerated(FIVE.names, local, prior)
    found = posterior(FIVE, "bic", prior=prior, structure_prior=believed, max_parents=1)
    np.testing.assert_allclose(found.matrix, truth.arcs(), atol=1e-10)


def test_scores_of_every_set_at_once_are_those_of_the_families():
    names = sorted(ASIA.names)
    weights = local_weights("test", Problem(Scorer(ASIA, "bic")), None)
    assert len(weights.logs) == 8 * 2**7
    scorer = Scorer(ASIA, "bic")
    for v in (0, 3, 7):
        for i in range(int(weights.begin[v]), int(weights.begin[v + 1]), 5):
            expected = scorer.family(names[v], weights.parents(i))
            assert weights.logs[i] == pytest.approx(expected, abs=1e-9)
    limited = local_weights("test", Problem(Scorer(ASIA, "bic")), 2)
    assert limited.parents(int(limited.begin[1]) + 10) == ("dysp", "either")
    for i in range(int(limited.begin[1]), int(limited.begin[2])):
        expected = scorer.family(names[1], limited.parents(i))
        assert limited.logs[i] == pytest.approx(expected, abs=1e-9)


def test_order_sums_in_parts_are_the_same_numbers():
    weights = local_weights("test", Problem(Scorer(ASIA)), None).by_weight()
    n = len(weights.names)
    found = []
    for top_bits in (0, 1, 3, n - 1):
        sums = _core.OrderSums(weights.native())
        assert sums.compute(top_bits, 2, math.inf, None)
        sets, arcs = np.empty(len(weights.logs)), np.empty(n * n)
        assert sums.probabilities(2, math.inf, sets, arcs)
        dags, logs = np.empty(50 * n, np.uint64), np.empty(50)
        assert sums.draw(3, 2, math.inf, dags, logs)
        found.append((sums.log_total(), sets, arcs, dags, logs))
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("weighting", ["distinct", "extensions"])
def test_weighted_draws_come_near_the_uniform_posterior(weighting):
    truth = enumerated(FIVE.names, local_of(FIVE), "uniform")
    found = posterior(
        FIVE, method="sampling", weighting=weighting, samples=20_000, ancestors=True, seed=1
    )
    dags = found.dags
    spread = 5.0 * np.sqrt(0.25 / dags.effective_size)
    assert np.abs(found.matrix - truth.arcs()).max() < spread
    assert np.abs(found.ancestors - truth.ancestors()).max() < spread
    # What is covered, worked out from the list.
    place = {dag.arcs: k for k, dag in enumerate(truth.dags)}
    covered = sum(truth.probabilities[place[dag.arcs]] for dag, _ in dags)
    assert dags.covered_mass == pytest.approx(covered, abs=0.05)
    assert dags.weights.sum() == pytest.approx(1.0)


def test_what_draws_cover_is_exact_beside_exact_sums():
    truth = enumerated(FOUR.names, local_of(FOUR), "uniform")
    dags = posterior(FOUR, samples=50, seed=3).dags
    place = {dag.arcs: k for k, dag in enumerate(truth.dags)}
    covered = sum(truth.probabilities[place[dag.arcs]] for dag, _ in dags)
    assert dags.covered_mass == pytest.approx(covered, abs=1e-9)


def test_draws_follow_the_order_prior():
    truth = enumerated(FIVE.names, local_of(FIVE), "order")
    found = posterior(FIVE, prior="order", method="sampling", samples=20_000, seed=2)
    assert np.abs(found.matrix - truth.arcs()).max() < 5.0 * np.sqrt(0.25 / 20_000)
    beside = posterior(FIVE, prior="order", samples=500)
    assert beside.dags.effective_size == 500
    np.testing.assert_allclose(beside.matrix, truth.arcs(), atol=1e-10)


@pytest.mark.parametrize("prior", ["order", "uniform"])
def test_chains_come_near_the_exact_posterior(prior):
    truth = enumerated(FIVE.names, local_of(FIVE), prior)
    found = posterior(FIVE, prior=prior, method="chains", steps=60_000, samples=6_000, seed=4)
    assert found.method == ("order chain" if prior == "order" else "partition chain")
    sizes = found.diagnostics.effective_size
    spread = 5.0 * np.sqrt(np.maximum(truth.arcs() * (1 - truth.arcs()), 1e-4) / sizes)
    assert (np.abs(found.matrix - truth.arcs()) < spread).all()
    assert found.diagnostics.is_mixed
    assert 0.05 < found.diagnostics.acceptance < 1.0


def test_chains_go_on_until_they_agree_unless_steps_say_how_many(monkeypatch):
    monkeypatch.setattr(chains, "_FIRST_STEPS", 20)
    found = posterior(FIVE, method="chains", samples=8)
    n_steps = found.diagnostics.n_steps
    assert n_steps in (20 + 16 * (2**k - 1) * 2 for k in range(1, 5))  # some rounds more
    assert "steps" not in found.settings
    rough = posterior(FIVE, method="chains", steps=20, samples=8)
    assert rough.diagnostics.n_steps == 20
    assert not rough.diagnostics.is_mixed
    assert "the chains do not agree: the probabilities are imprecise, more steps are needed" in (
        rough.notes
    )


def test_a_time_limit_keeps_what_chains_drew():
    found = posterior(FIVE, method="chains", steps=10**9, samples=10**5, time_limit=1.0)
    assert found.status == "time limit"
    assert "the time limit ended the chains: these are the structures drawn so far" in found.notes
    # Even while the chains are settling there is a structure of each.
    assert len(found.dags) >= 1
    assert 0 < found.diagnostics.n_steps < 10**9
    assert posterior(FIVE, time_limit=60).status == "done"


def test_a_time_limit_holds_though_no_call_takes_long(monkeypatch):
    # As on a busy machine, where native code ends before it looks at the clock.
    looks = itertools.count()
    clock = SimpleNamespace(monotonic=lambda: 0.0 if next(looks) < 100 else 10.0)
    monkeypatch.setattr("bestdag.averaging.deadline.time", clock)
    found = posterior(FIVE, method="chains", steps=10**6, time_limit=5.0)
    assert found.status == "time limit"
    assert next(looks) == 101  # at the first look after that nothing more was begun


def test_ctrl_c_keeps_what_chains_drew():
    with (
        pytest.warns(InterruptedWarning, match="posterior: stopped early"),
        ctrl_c_in_native_work(looks=3),
    ):
        found = posterior(FIVE, method="chains", steps=10**9, burn_in=10, samples=10**4)
    assert found.status == "interrupted"
    assert "Ctrl-C ended the chains: these are the structures drawn so far" in found.notes


def test_exact_sums_that_take_longer_than_the_time_limit_are_refused_and_auto_runs_chains():
    random = np.random.default_rng(0)
    wide = read({f"v{k:02}": random.choice(["a", "b"], 20).tolist() for k in range(20)})
    limited = {"max_parents": 1, "time_limit": 2.0, "workers": 1}
    with pytest.raises(InvalidParameterError, match=r"sum over all DAGs .* about .*limit of 2 s"):
        posterior(wide, method="exact", **limited)
    with pytest.raises(InvalidParameterError, match=r"sum over all orders .* use method='chains'"):
        posterior(wide, method="sampling", **limited)
    assert posterior(wide, steps=500, **limited).method == "partition chain"
    with pytest.raises(InvalidParameterError, match=r"families took longer than the time limit"):
        posterior(wide, max_parents=9, time_limit=1e-3)


def test_chains_over_partitions_obey_knowledge():
    found = posterior(
        FIVE, method="chains", steps=4_000, knowledge=["bronc -> dysp", "lung !> either"], chains=2
    )
    assert found["bronc", "dysp"] == 1.0
    assert found["lung", "either"] == 0.0


def test_results_do_not_depend_on_threads_nor_on_the_order_of_columns_and_rows():
    shuffled = FIVE.select(
        list(reversed(FIVE.names)), rows=np.random.default_rng(0).permutation(FIVE.n_rows)
    )
    for settings in (
        {"prior": "order"},
        {"prior": "uniform"},
        {"method": "sampling", "samples": 200},
        {"method": "chains", "steps": 500, "samples": 100},
    ):
        one = posterior(FIVE, workers=1, **settings)
        other = posterior(shuffled, workers=3, **settings)
        np.testing.assert_array_equal(one.matrix, other.matrix)


def test_auto_chooses_by_size_and_says_so():
    assert posterior(FIVE).method == "exact uniform"
    assert posterior(FIVE, prior="order").method == "exact order"
    found = posterior(FIVE)
    assert found.notes[0] == "prior: uniform over DAGs"
    assert "sum over all DAGs" in found.notes[1]


def test_auto_beyond_the_sums_over_dags_draws_or_runs_chains():
    random = np.random.default_rng(0)
    wide = read({f"v{k:02}": random.choice(["a", "b"], 50).tolist() for k in range(26)})
    found = posterior(wide, max_parents=1, steps=2_000, samples=50)
    assert found.method == "partition chain"
    some = posterior(wide.select(wide.names[:17]), max_parents=1, samples=50)
    assert some.method == "sampled"


def test_more_than_64_variables():
    random = np.random.default_rng(0)
    columns = {f"v{k:02}": random.choice(["a", "b"], 40) for k in range(70)}
    columns["v69"] = columns["v03"].copy()
    found = posterior(read(columns), max_parents=1, steps=20_000, samples=100)
    assert found.edge("v03", "v69") > 0.9
    assert found.edge("v03", "v04") < 0.9


def test_a_table_of_local_scores_gives_the_same_where_it_lists_every_set():
    scorer = Scorer(FOUR, "bic")
    lists = {}
    for child in FOUR.names:
        others = [name for name in FOUR.names if name != child]
        subsets = [[n for k, n in enumerate(others) if bits >> k & 1] for bits in range(8)]
        lists[child] = [(scorer.family(child, subset), subset) for subset in subsets]
    table = ScoreTable.from_lists(sorted(FOUR.names), lists)
    np.testing.assert_allclose(posterior(table).matrix, posterior(FOUR, "bic").matrix, atol=1e-12)


@pytest.mark.parametrize("score", ["ll", "mit"])
def test_scores_that_are_no_logarithms_of_probabilities_are_refused(score):
    with pytest.raises(InvalidParameterError, match="logarithm of a probability, got " + score):
        posterior(FOUR, score)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"prior": "flat"}, r"posterior: prior must be one of 'uniform', 'order', got 'flat'"),
        ({"method": "guess"}, r"posterior: method must be one of"),
        ({"samples": 0}, r"posterior: samples must be a whole number >= 1, got 0"),
        ({"steps": 100, "burn_in": 100}, r"burn_in must be less than the 100 steps, got 100"),
        ({"burn_in": 100}, r"burn_in is a part of the steps, got 100 of none; give steps too"),
        ({"time_limit": 0}, r"posterior: time_limit must be a finite number > 0, got 0"),
        ({"chains": 0}, r"posterior: chains must be a whole number >= 1, got 0"),
        ({"knowledge": ["bronc -- dysp"]}, r"none about edges of either direction or about paths"),
    ],
)
def test_refusals(settings, message):
    with pytest.raises(InvalidParameterError, match=message):
        posterior(FOUR, **settings)


def test_memory_is_forecast():
    random = np.random.default_rng(0)
    wide = read({f"v{k:02}": random.choice(["a", "b"], 20).tolist() for k in range(24)})
    with (
        pytest.raises(NotEnoughMemoryError, match="sum over all orders of 24 variables needs"),
        memory_limit("100 MB"),
    ):
        posterior(wide, prior="order", method="exact", max_parents=1)


@pytest.mark.parametrize("prior", ["uniform", "order"])
def test_the_method_follows_the_limit_and_not_what_is_free(prior, monkeypatch):
    def chosen(threads):
        asked = {"prior": prior, "method": "auto", "ancestors": True, "samples": None, "seed": 0}
        how = {"weighting": "counts", "chains": 4, "steps": None, "burn_in": None, "progress": None}
        within = {"deadline": Deadline("test", None), "state": RunState()}
        return PosteriorPlan(**asked, **how, **within, threads=threads).chosen(24).method

    usual = {"uniform": "sampling", "order": "exact"}[prior]
    monkeypatch.setattr("bestdag.machine.physical_memory", lambda: 8 << 30)
    monkeypatch.setattr("bestdag.machine.limit_of_control_group", lambda: None)
    for free in (8 << 30, 1 << 20):
        monkeypatch.setattr("bestdag.machine.free_memory", lambda free=free: free)
        assert [chosen(threads) for threads in (1, 64)] == [usual, usual]
    with memory_limit("100 MB"):
        assert chosen(1) == "chains"
    monkeypatch.setattr("bestdag.machine.limit_of_control_group", lambda: 100 << 20)
    assert chosen(1) == "chains"


def test_result_is_a_value():
    found = posterior(FOUR, samples=10)
    assert isinstance(found, ArcProbabilities)
    with pytest.raises(ValueError, match="read-only"):
        found.matrix[0, 1] = 1.0
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.matrix, found.matrix)
