"""Questions to networks: equal to the joint distribution written out, by either road."""

import math
import pickle
from itertools import combinations

import numpy as np
import pytest

from bestdag import ConditionalTable, Network, Variable
from bestdag.errors import (
    DataError,
    ImpossibleEvidenceError,
    InvalidParameterError,
    NotEnoughMemoryError,
    UnknownNameError,
)
from bestdag.machine import memory_limit
from tests.network.examples import asia
from tests.reference import inference as reference

# 3,000 networks for the questions that are asked most, in blocks that can fail on their own.
BLOCKS = range(30)
NETWORKS = 100


@pytest.fixture(params=["whole tree", "what is needed", "kept for a part"], autouse=True)
def road(request, monkeypatch):
    """Every test by each road: the whole network's tree, one for each question, either by size."""
    if request.param != "whole tree":
        monkeypatch.setattr("bestdag.network.answers._SMALL_TREE", -1)
    if request.param == "what is needed":
        monkeypatch.setattr("bestdag.network.answers._LARGEST_TREE", -1)
    return request.param


def random_cases(block, n=NETWORKS, most=6):
    for i in range(n):
        rng = np.random.default_rng([block, i])
        network = reference.random_network(rng, most)
        given, likelihood = reference.random_findings(rng, network)
        yield rng, network, given, likelihood


@pytest.mark.parametrize("block", BLOCKS)
def test_distributions_are_those_of_the_joint(block):
    for rng, network, given, likelihood in random_cases(block):
        joint = reference.full_joint(network, given, likelihood)
        total = joint.sum()
        found = network.probability(given, likelihood=likelihood)
        assert found == pytest.approx(total, rel=1e-12, abs=1e-300)
        if total == 0:
            with pytest.raises(ImpossibleEvidenceError):
                network.marginals(given, likelihood=likelihood)
            continue
        for name, distribution in network.marginals(given, likelihood=likelihood).items():
            expected = reference.marginal(network, joint, [name]) / total
            assert distribution.values == pytest.approx(expected, rel=1e-10, abs=1e-15)
        n_targets = rng.integers(1, len(network.names) + 1)
        targets = rng.permutation(network.names)[:n_targets].tolist()
        got = network.query(targets, given, likelihood=likelihood)
        assert got.names == tuple(targets)
        expected = reference.marginal(network, joint, targets) / total
        assert got.values == pytest.approx(expected, rel=1e-10, abs=1e-15)


@pytest.mark.parametrize("block", range(5))
def test_every_set_of_targets(block):
    for _, network, given, likelihood in random_cases(100 + block, 15, most=5):
        joint = reference.full_joint(network, given, likelihood)
        if joint.sum() == 0:
            continue
        for size in range(1, len(network.names) + 1):
            for targets in combinations(network.names, size):
                got = network.query(targets, given, likelihood=likelihood)
                expected = reference.marginal(network, joint, targets) / joint.sum()
                assert got.values == pytest.approx(expected, rel=1e-10, abs=1e-15)


# The n best are the n largest cells of the joint; which of equal ones comes first is open.
@pytest.mark.parametrize("block", range(6))
def test_explanations_are_the_largest_of_the_joint(block):
    for rng, network, given, likelihood in random_cases(200 + block, 60):
        joint = reference.full_joint(network, given, likelihood)
        if joint.sum() == 0:
            with pytest.raises(ImpossibleEvidenceError):
                network.most_probable(given=given, likelihood=likelihood)
            continue
        asked = None
        names = network.names
        if rng.random() < 0.6:
            names = rng.permutation(network.names)[: rng.integers(1, len(names) + 1)].tolist()
            asked = names
        n = int(rng.integers(1, 40))
        got = network.most_probable(asked, given, likelihood=likelihood, n=n)
        table = reference.marginal(network, joint, names) / joint.sum()
        largest = np.sort(table[table > 0])[::-1][:n]
        assert [each.probability for each in got] == pytest.approx(largest, rel=1e-10)
        assert len({tuple(each.states.items()) for each in got}) == len(got)
        for each in got:
            assert list(each.states) == list(names)
            codes = [network.variable(m).states.index(each.states[m]) for m in names]
            assert table[tuple(codes)] == pytest.approx(each.probability, rel=1e-10)


@pytest.mark.parametrize("block", range(4))
def test_impossible_findings_are_named_and_each_is_needed(block):
    n_seen = 0
    for _, network, given, likelihood in random_cases(300 + block, 150):
        if reference.full_joint(network, given, likelihood).sum() > 0:
            continue
        n_seen += 1
        with pytest.raises(ImpossibleEvidenceError, match="probability zero") as caught:
            network.query(network.names[0], given, likelihood=likelihood)
        clash = caught.value.findings
        assert clash
        assert all(name in given or name in likelihood for name in clash)

        def total(names, network=network, given=given, likelihood=likelihood):
            return reference.full_joint(
                network,
                {n: s for n, s in given.items() if n in names},
                {n: w for n, w in likelihood.items() if n in names},
            ).sum()

        assert total(clash) == 0
        for name in clash:
            assert total([other for other in clash if other != name]) > 0
    assert n_seen > 10


@pytest.mark.parametrize("block", range(3))
def test_mutual_information_by_its_definition(block):
    for rng, network, given, _ in random_cases(400 + block, 60):
        names = rng.permutation(network.names).tolist()
        joint = reference.full_joint(network, given)
        if len(names) < 2 or joint.sum() == 0:
            continue
        a, b, *others = names
        condition = others[: rng.integers(0, 3)]
        table = reference.marginal(network, joint, [a, b, *condition]) / joint.sum()
        table = table.reshape(*table.shape[:2], -1)
        expected = 0.0
        for i, j, k in np.argwhere(table > 0):
            p, here = table[i, j, k], table[:, :, k]
            expected += p * math.log(p * here.sum() / (here[i].sum() * here[:, j].sum()))
        got = network.mutual_information(a, b, given=given, conditional_on=condition)
        assert got == pytest.approx(expected, abs=1e-12)
        assert got >= 0


@pytest.mark.parametrize("block", range(3))
def test_intervening_cuts_the_arcs_from_parents(block):
    for rng, network, *_ in random_cases(500 + block, 40):
        name = str(rng.choice(network.names))
        state = str(rng.choice(network.variable(name).states))
        after = network.do({name: state})
        # The truncated product: every table but that of the variable that is set.
        table = network.table(name)
        rest = [t for t in network.tables if t.child.name != name]
        free = ConditionalTable(table.child, (), np.full(table.child.arity, 1 / table.child.arity))
        order = {n: i for i, n in enumerate(network.names)}
        cut = Network(sorted([*rest, free], key=lambda t: order[t.child.name]))
        joint = reference.full_joint(cut, {name: state})
        for other, got in after.marginals().items():
            expected = reference.marginal(cut, joint, [other]) / joint.sum()
            assert got.values == pytest.approx(expected, abs=1e-12)
        assert after.dag.parents(name) == ()
        assert after.names == network.names


@pytest.mark.parametrize("block", range(4))
def test_divergence_by_its_definition(block):
    n_infinite = 0
    for rng, network, *_ in random_cases(600 + block, 40, most=5):
        tables = []
        for i in rng.permutation(len(network.names)):
            child = network.variables[i]
            parents = [t.child for t in tables if rng.random() < 0.4][:2]
            shape = (*(p.arity for p in parents), child.arity)
            tables.append(ConditionalTable(child, parents, reference.random_table(rng, shape)))
        other = Network(tables)
        p = reference.full_joint(network)
        q = reference.full_joint(Network([other.table(n) for n in network.names]))
        some = p > 0
        with np.errstate(divide="ignore"):
            expected = float((p[some] * (np.log(p[some]) - np.log(q[some]))).sum())
        n_infinite += expected == math.inf
        assert network.kl_divergence(other).value == pytest.approx(expected, abs=1e-11)
        sampled = network.kl_divergence(other, method="sampling", samples=20_000)
        if expected == math.inf:
            assert sampled.value == math.inf
        else:
            error = max(sampled.standard_error, 1e-12)
            assert abs(sampled.value - expected) < 6 * error
        assert network.kl_divergence(network).value == pytest.approx(0, abs=1e-12)
    assert 5 < n_infinite < 40


# Of many estimates, few are more than three standard errors away.
def test_sampling_knows_its_error():
    n_far = n_seen = 0
    for rng, network, given, likelihood in random_cases(700, 80):
        joint = reference.full_joint(network, given, likelihood)
        if joint.sum() < 0.01:
            continue
        targets = rng.permutation(network.names)[: rng.integers(1, 3)].tolist()
        got = network.query(
            targets, given, likelihood=likelihood, method="sampling", samples=20_000, seed=5
        )
        expected = reference.marginal(network, joint, targets) / joint.sum()
        assert 1 <= got.effective_sample_size <= 20_000 * (1 + 1e-12)
        away = np.abs(got.values - expected)
        assert (away[got.standard_errors == 0] < 1e-3).all()
        far = away > 3 * got.standard_errors + 1e-12
        n_far += int((far & (expected > 0.01)).sum())
        n_seen += int((expected > 0.01).sum())
    assert n_seen > 100
    assert n_far <= 0.02 * n_seen


def test_sampling_does_not_depend_on_threads_but_on_the_seed():
    network = asia()
    known = {"given": {"dysp": "yes"}, "likelihood": {"xray": [0.2, 0.9]}}
    answers = [
        network.query("lung", **known, method="sampling", samples=5000, seed=s, threads=t).values
        for s, t in ((1, 1), (1, 3), (2, 1))
    ]
    assert (answers[0] == answers[1]).all()
    assert (answers[0] != answers[2]).any()
    every = network.marginals(**known, method="sampling", samples=5000, seed=1)
    assert every["dysp"].to_dict() == {"no": 0.0, "yes": 1.0}
    assert every["lung"].standard_errors is not None


# Lauritzen and Spiegelhalter (1988), table 1 (in per cent): somebody with dyspnoea who was in Asia.
def test_the_chest_clinic():
    found = asia().marginals({"asia": "yes", "dysp": "yes"})
    printed = {"tub": 0.09, "lung": 0.10, "bronc": 0.81, "either": 0.18, "xray": 0.22}
    for name, p in printed.items():
        assert found[name]["yes"] == pytest.approx(p, abs=0.006)


def test_only_ratios_of_a_likelihood_matter():
    network = asia()
    a = network.query("lung", likelihood={"xray": [0.2, 0.9]})
    b = network.query("lung", likelihood={"xray": {"no": 2.0, "yes": 9.0}})
    assert a.values == pytest.approx(b.values, rel=1e-14)
    # A likelihood that leaves one state is a finding.
    c = network.query("lung", likelihood={"xray": [0, 5]})
    assert c.values == pytest.approx(network.query("lung", {"xray": "yes"}).values, rel=1e-14)


def test_markov_blanket():
    assert asia().markov_blanket("either") == ("bronc", "dysp", "lung", "tub", "xray")


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda n: n.query("lun"), r"query: unknown variable 'lun'; .* \(did you mean 'lung'\?\)"),
        (lambda n: n.query("lung", {"smok": "yes"}), r"did you mean 'smoke'\?"),
        (lambda n: n.query("lung", {"smoke": "ys"}), r"did you mean 'yes'\?"),
        (lambda n: n.query("lung", {"smoke": 1}), r"unknown state of 'smoke' 1"),
        (lambda n: n.query("lung", likelihood={"xray": {"yse": 1}}), r"did you mean 'yes'\?"),
        (lambda n: n.do(smoke="y"), r"unknown state of 'smoke' 'y'"),
        (lambda n: n.markov_blanket("tube"), r"did you mean 'tub'\?"),
        (lambda n: n.most_probable(["lnug"]), r"did you mean 'lung'\?"),
    ],
)
def test_what_is_not_there_is_refused_with_the_nearest(ask, said):
    with pytest.raises(UnknownNameError, match=said):
        ask(asia())


@pytest.mark.parametrize(
    ("error", "ask", "said"),
    [
        (DataError, lambda n: n.query([]), "at least one variable is needed"),
        (DataError, lambda n: n.query(["lung", "lung"]), "'lung' is named twice"),
        (InvalidParameterError, lambda n: n.query("lung", "smoke"), "given must be names"),
        (InvalidParameterError, lambda n: n.query("lung", method="mc"), "method must be one of"),
        (
            InvalidParameterError,
            lambda n: n.query("lung", likelihood={"xray": [1]}),
            r"likelihood of 'xray' must be 2 numbers, one per state \(no, yes\), got \[1\]",
        ),
        (
            InvalidParameterError,
            lambda n: n.query("lung", likelihood={"xray": [0, 0]}),
            "some of them above zero",
        ),
        (
            DataError,
            lambda n: n.query("lung", {"xray": "no"}, likelihood={"xray": [1, 2]}),
            "needs no likelihood",
        ),
        (InvalidParameterError, lambda n: n.most_probable(n=0), "n must be a whole number >= 1"),
        (DataError, lambda n: n.mutual_information("lung", "lung"), "named twice"),
        (DataError, lambda n: n.kl_divergence("asia"), "another Network is needed"),
    ],
)
def test_questions_that_are_none_are_refused(error, ask, said):
    with pytest.raises(error, match=said):
        ask(asia())


def test_the_message_for_impossible_findings():
    said = "query: lung=yes, either=no cannot be together: they have probability zero"
    with pytest.raises(ImpossibleEvidenceError, match=said):
        asia().query("smoke", {"lung": "yes", "asia": "no", "either": "no", "xray": "no"})


def grid(n, seed=0):
    """A network of n times n variables, each with the one above and the one to the left."""
    rng = np.random.default_rng(seed)
    found = {}
    tables = []
    for i in range(n):
        for j in range(n):
            child = found[i, j] = Variable(f"x{i}_{j}", ("a", "b"))
            parents = [found[p] for p in ((i - 1, j), (i, j - 1)) if p in found]
            shape = (*(2 for _ in parents), 2)
            tables.append(ConditionalTable(child, parents, rng.dirichlet([1, 1], shape[:-1])))
    return Network(tables)


# A grid of side 40 has a clique of more than 40 variables.
def test_what_does_not_fit_is_refused_by_its_forecast_and_sampled():
    network = grid(40)
    with pytest.raises(NotEnoughMemoryError) as caught:
        network.query("x39_39")
    assert "largest clique has" in str(caught.value)
    assert "pass method='sampling'" in str(caught.value)
    assert "--method sampling" in caught.value.on_command_line
    with pytest.raises(NotEnoughMemoryError, match="marginals: the junction tree"):
        network.marginals()
    with pytest.raises(NotEnoughMemoryError):
        network.compile()
    sampled = network.query("x39_39", method="sampling", samples=2000)
    assert 0 < sampled["a"] < 1
    # What needs few variables is worked out all the same.
    assert network.query("x1_1").is_exact
    assert network.forecast().n_bytes > 1e12


def test_a_memory_limit_is_kept():
    network = grid(14)
    with memory_limit("100 kB"), pytest.raises(NotEnoughMemoryError, match="memory limit"):
        network.marginals()
    assert network.marginals()["x13_13"].is_exact


def test_marginal_map_forecasts_its_sums():
    network = grid(26)
    ends = [f"x25_{i}" for i in range(26)]
    with memory_limit("20 MB"), pytest.raises(NotEnoughMemoryError, match="most_probable"):
        network.most_probable(ends)


def test_the_title_says_what_was_set_however_the_answer_came():
    after = asia().do(smoke="yes")
    title = "P(lung | do(smoke = yes))"
    answers = [
        after.query("lung"),
        after.query("lung", method="sampling", samples=100),
        after.marginals()["lung"],
        after.compile().query("lung"),
        pickle.loads(pickle.dumps(after)).query("lung"),
        after.query(["lung", "tub"]).marginal("lung"),
    ]
    for answer in answers:
        assert str(answer).splitlines()[0] == title
        assert title in answer._repr_html_()
    both = after.do(tub="no").query("lung", {"xray": "yes"})
    assert str(both).startswith("P(lung | do(smoke = yes), do(tub = no), xray = yes)\n")
    assert dict(after.interventions) == {"smoke": "yes"}
    assert not asia().interventions
    assert "do(smoke = yes)" in repr(after)
