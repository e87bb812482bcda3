"""Compiled networks: incremental answers are those of fresh ones, rows are answered in bulk."""

import math
import pickle
from itertools import pairwise

import numpy as np
import pytest

from bestdag import ConditionalTable, Network, Variable
from bestdag.errors import DataError, ImpossibleEvidenceError
from tests.network.examples import asia
from tests.network.test_questions import grid
from tests.reference import inference as reference
from tests.shared_data import shared_file
from tests.signals import ctrl_c_in_native_work


def random_networks(n):
    for i in range(n):
        rng = np.random.default_rng([99, i])
        yield rng, reference.random_network(rng)


# Bit for bit: an answer does not depend on the questions before it.
def test_earlier_questions_leave_no_trace():
    for rng, network in random_networks(40):
        tree = network.compile()
        for _ in range(6):
            given, likelihood = reference.random_findings(rng, network)
            again = pickle.loads(pickle.dumps(network)).compile()
            try:
                expected = again.marginals(given, likelihood=likelihood)
            except ImpossibleEvidenceError:
                with pytest.raises(ImpossibleEvidenceError):
                    tree.marginals(given, likelihood=likelihood)
                continue
            assert tree.marginals(given, likelihood=likelihood) == expected
            for name in network.names:
                assert tree.query(name, given, likelihood=likelihood).values == pytest.approx(
                    expected[name].values, rel=1e-12, abs=1e-15
                )


# A chain in which every state has one successor: nearly all cells of its tree are always zero.
def test_cells_that_are_always_zero_are_not_held():
    states = tuple(f"s{i}" for i in range(20))
    chain = [Variable(f"v{i}", states) for i in range(4)]
    turned = np.roll(np.eye(20), 3, axis=1)
    network = Network(
        [
            ConditionalTable(chain[0], (), np.full(20, 0.05)),
            *(ConditionalTable(child, (parent,), turned) for parent, child in pairwise(chain)),
        ]
    )
    tree = network.compile()
    assert (tree.n_cells, tree.n_held_cells) == (1200, 60)
    assert tree.query("v3", {"v0": "s19"}).to_dict()["s8"] == 1.0
    assert tree.query(["v1", "v2"])["s4", "s7"] == pytest.approx(0.05, rel=1e-14)


def rows_with_holes(rng, network, n_rows):
    """Rows with missing values, possible or not."""
    return {
        v.name: [
            None if rng.random() < 0.5 else v.states[rng.integers(v.arity)] for _ in range(n_rows)
        ]
        for v in network.variables
    }


@pytest.mark.filterwarnings("ignore:.*one state")
def test_rows_are_answered_one_by_one():
    for rng, network in random_networks(60):
        tree = network.compile()
        table = rows_with_holes(rng, network, 12)
        logs = tree.log_probability(table)
        found = tree.posteriors(table, network.names, impossible="marginal")
        plain = tree.marginals()
        for row in range(12):
            given = {name: cells[row] for name, cells in table.items() if cells[row] is not None}
            joint = reference.full_joint(network, given)
            with np.errstate(divide="ignore"):
                assert logs[row] == pytest.approx(np.log(joint.sum()), rel=1e-12, abs=1e-13)
            for name in network.names:
                expected = plain[name].values
                if joint.sum() > 0:
                    expected = reference.marginal(network, joint, [name]) / joint.sum()
                assert found[name][row] == pytest.approx(expected, rel=1e-10, abs=1e-15)


def test_rows_do_not_depend_on_threads():
    network = asia()
    rng = np.random.default_rng(1)
    table = rows_with_holes(rng, network, 5000)
    tree = network.compile()
    one = tree.posteriors(table, impossible="marginal", threads=1)
    many = tree.posteriors(table, impossible="marginal", threads=4)
    assert one.keys() == many.keys() == set(network.names)
    assert all((one[name] == many[name]).all() for name in one)
    logs = [tree.log_probability(table, threads=threads) for threads in (1, 4)]
    assert (logs[0] == logs[1]).all()


def test_rows_of_probability_zero_are_refused_by_number():
    tree = asia().compile()
    table = {"lung": ["no", "yes", "yes"], "either": ["yes", "yes", "no"]}
    with pytest.raises(DataError, match=r"row 2 \(counted from 0\) has probability zero"):
        tree.posteriors(table)
    assert tree.log_probability(table)[2] == -math.inf


@pytest.mark.parametrize("name", ["asia", "alarm", "child", "insurance", "hailfinder", "andes"])
def test_complete_rows_have_their_log_probability(name):
    network = Network.load(shared_file(f"networks/{name}.bif"))
    rows = network.sample(50, seed=3)
    expected = network.log_probability(rows)
    assert network.compile().log_probability(rows) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    for row in range(5):
        given = {v.name: v.states[int(rows.codes(v.name)[row])] for v in network.variables}
        got = network.probability(given, log=True)
        assert got == pytest.approx(expected[row], rel=1e-12, abs=1e-12)


def chain(n, seed=0):
    rng = np.random.default_rng(seed)
    variables = [Variable(f"x{i}", ("a", "b", "c")) for i in range(n)]
    tables = [ConditionalTable(variables[0], (), rng.dirichlet(np.ones(3)))]
    for before, after in pairwise(variables):
        tables.append(ConditionalTable(after, (before,), rng.dirichlet(np.ones(3), 3)))
    return Network(tables)


# The forward algorithm in logarithms.
def test_a_chain_of_1000_variables_does_not_underflow():
    network = chain(1000)
    rng = np.random.default_rng(4)
    given = {f"x{i}": "abc"[rng.integers(3)] for i in range(1000) if i % 3}
    forward = np.zeros(3)
    for i, table in enumerate(network.tables):
        with np.errstate(divide="ignore"):
            logs = np.log(table.values)
        forward = logs if i == 0 else np.logaddexp.reduce(forward[:, None] + logs, axis=0)
        if f"x{i}" in given:
            keep = np.full(3, -np.inf)
            keep["abc".index(given[f"x{i}"])] = 0
            forward = forward + keep
    got = network.probability(given, log=True)
    assert got == pytest.approx(np.logaddexp.reduce(forward), rel=1e-12)
    assert got < -700  # no double holds its exponential
    assert network.compile().marginals(given)["x0"].values.sum() == pytest.approx(1)


# A thousand witnesses say one thing, a thousand the other: no double holds a part of the product.
def test_findings_that_cancel_do_not_underflow():
    cause = Variable("cause", ("a", "b"))
    tables = [ConditionalTable(cause, (), [0.3, 0.7])]
    for i in range(2000):
        right = [[0.999, 0.001], [0.001, 0.999]]
        child = Variable(f"w{i}", ("0", "1"))
        tables.append(ConditionalTable(child, (cause,), right))
    network = Network(tables)
    given = {f"w{i}": "0" if i < 1000 else "1" for i in range(2000)}
    assert network.query("cause", given).values == pytest.approx([0.3, 0.7], rel=1e-9)
    assert network.marginals(given)["cause"].values == pytest.approx([0.3, 0.7], rel=1e-9)
    expected = 1000 * math.log(0.999 * 0.001)
    assert network.probability(given, log=True) == pytest.approx(expected, rel=1e-12)
    best = network.most_probable(given=given)[0]
    assert best.states["cause"] == "b"
    assert best.probability == pytest.approx(0.7, rel=1e-9)


# More axes than an array can have: 80 parents of one state beside two of two.
def test_no_limit_on_the_axes_of_a_clique():
    single = [Variable(f"one{i}", ("s",)) for i in range(80)]
    a, b = Variable("a", ("0", "1")), Variable("b", ("0", "1"))
    tables = [ConditionalTable(v, (), [1.0]) for v in single]
    tables.append(ConditionalTable(a, (), [0.25, 0.75]))
    rows = [[0.1, 0.9], [0.6, 0.4]]
    codes = [[0] * 80 + [k] for k in range(2)]
    table = ConditionalTable.of_rows(b, [*single, a], codes, rows, [0.5, 0.5])
    network = Network([*tables, table])
    assert network.query("b")["0"] == pytest.approx(0.25 * 0.1 + 0.75 * 0.6)
    assert network.query("a", {"b": "1"})["0"] == pytest.approx(0.225 / 0.525)


# Forty binary variables that all meet their child's child: a clique beyond 32 axes of two states
# would not fit, one of many axes with a sparse table does when most are known.
def test_large_sparse_tables_are_answered_when_most_is_known():
    parents = [Variable(f"p{i}", tuple("abcdefgh")) for i in range(20)]
    child = Variable("y", ("no", "yes"))
    rng = np.random.default_rng(0)
    codes = np.unique(rng.integers(8, size=(50, 20)), axis=0)
    rows = rng.dirichlet([1, 1], len(codes))
    tables = [ConditionalTable(p, (), rng.dirichlet(np.ones(8))) for p in parents]
    sparse = ConditionalTable.of_rows(child, parents, codes, rows, [0.25, 0.75])
    network = Network([*tables, sparse])
    known = {f"p{i}": "abcdefgh"[codes[7, i]] for i in range(18)}
    weights = np.outer(tables[18].values, tables[19].values)
    expected = np.full((8, 8), 0.75)
    for row, listed in zip(rows, codes, strict=True):
        if (listed[:18] == codes[7, :18]).all():
            expected[listed[18], listed[19]] = row[1]
    got = network.query("y", known)
    assert got["yes"] == pytest.approx((weights * expected).sum(), rel=1e-12)


def test_a_pickled_tree_answers_the_same():
    tree = asia().compile()
    again = pickle.loads(pickle.dumps(tree))
    assert again.marginals({"dysp": "yes"}) == tree.marginals({"dysp": "yes"})


def test_the_cliques_hold_every_family():
    network = grid(5)
    tree = network.compile()
    for table in network.tables:
        family = {table.child.name, *(p.name for p in table.parents)}
        assert any(family <= set(clique) for clique in tree.cliques)
    forecast = network.forecast()
    assert forecast.width == tree.width == max(map(len, tree.cliques)) - 1
    assert forecast.n_cells == tree.n_cells == sum(2 ** len(clique) for clique in tree.cliques)


def test_an_interrupt_stops_a_question():
    network = grid(16)
    tree = network.compile()
    given = [{f"x0_{i % 16}": "ab"[i % 2]} for i in range(10_000)]

    with pytest.raises(KeyboardInterrupt), ctrl_c_in_native_work():
        [tree.marginals(known) for known in given]
    # What was stopped halfway leaves nothing wrong behind.
    assert tree.marginals(given[1]) == network.compile().marginals(given[1])
