"""Ancestral sampling: the documented rows, the right distribution, the same on any machine."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestdag import _core, machine
from bestdag.errors import InvalidParameterError, NotEnoughMemoryError
from bestdag.inference.sampling import sample_codes, stream_key, thresholds
from bestdag.network.network import Network
from bestdag.network.table import ConditionalTable
from tests.conftest import examples
from tests.network.examples import asia
from tests.reference import sampling as reference
from tests.signals import ctrl_c_in_native_work

# A network of three: a -> b, (a, b) -> c, with impossible states.
NAMES = ["a", "b", "c"]
TABLES = [
    np.array([0.2, 0.3, 0.5]),
    np.array([[1.0, 0.0], [0.5, 0.5], [0.25, 0.75]]),
    np.array(
        [
            [[0.0, 0.0, 0.0, 1.0], [0.25, 0.25, 0.25, 0.25]],
            [[0.0, 0.5, 0.0, 0.5], [0.1, 0.2, 0.3, 0.4]],
            [[0.7, 0.0, 0.3, 0.0], [0.0, 1.0, 0.0, 0.0]],
        ]
    ),
]
PARENTS = [[], [0], [0, 1]]


# Made by the reference; other numbers here mean that old seeds give new rows.
GOLDEN = [
    [0, 2, 1, 0, 0, 2, 1, 2, 2, 0, 2, 1],
    [0, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 0],
    [3, 2, 3, 3, 3, 1, 1, 1, 1, 3, 1, 3],
]
GOLDEN_KEY = (0x12225F4C43746209, 0xD08A8CDA8CCFBFEF)


def test_first_rows_stay_the_same_between_versions():
    a, b, c = sample_codes(NAMES, TABLES, PARENTS, 12, seed=7)
    assert a.tolist() == GOLDEN[0]
    assert b.tolist() == GOLDEN[1]
    assert c.tolist() == GOLDEN[2]
    assert stream_key(7, "a") == GOLDEN_KEY


def test_generator_is_the_one_of_numpy():
    # 5000 rows: more than two blocks of the kernel, the last one not full.
    got = sample_codes(NAMES, TABLES, PARENTS, 5000, seed=1)
    expected = reference.sample(NAMES, TABLES, PARENTS, 5000, seed=1)
    assert [column.tolist() for column in got] == expected


@st.composite
def random_arrays(draw):
    """Tables of up to five variables: arities 1 ... 40, zeros, rows off by up to 1e-7."""
    names, tables, parents = [], [], []
    for i in range(draw(st.integers(1, 5))):
        group = draw(st.lists(st.sampled_from(range(i)), unique=True, max_size=2)) if i else []
        arity = draw(st.sampled_from([1, 2, 3, 4, 5, 8, 13, 14, 15, 33, 40]))
        shape = (*(tables[p].shape[-1] for p in group), arity)
        rng = np.random.default_rng(draw(st.integers(0, 2**32)))
        table = np.where(rng.random(shape) < 0.3, 0.0, rng.random(shape))
        table[..., rng.integers(arity)] += 0.1
        table /= table.sum(axis=-1, keepdims=True) * (1 + draw(st.floats(-1e-7, 1e-7)))
        names.append(f"v{i}")
        tables.append(table)
        parents.append(group)
    return names, tables, parents


@settings(max_examples=examples(60), deadline=None)
@given(random_arrays(), st.integers(0, 2**70))
def test_agrees_with_the_reference(arrays, seed):
    got = sample_codes(*arrays, 41, seed=seed)
    assert [column.tolist() for column in got] == reference.sample(*arrays, 41, seed=seed)


def test_many_states_take_sixteen_bits():
    wide = np.full(1000, 0.001)
    narrow = np.tile([0.5, 0.5], (1000, 1))
    arrays = ["w", "n", "w2"], [wide, narrow, np.tile(wide, (2, 1))], [[], [0], [1]]
    first, second, third = sample_codes(*arrays, 40, seed=2)
    assert [first.dtype, second.dtype, third.dtype] == [np.uint16, np.uint8, np.uint16]
    expected = reference.sample(*arrays, 40, seed=2)
    assert [first.tolist(), second.tolist(), third.tolist()] == expected
    assert max(expected[0]) > 255


def test_threads_do_not_matter():
    # Enough rows for threads to be started at all (a few milliseconds of work).
    one = sample_codes(NAMES, TABLES, PARENTS, 1_000_001, seed=3, threads=1)
    for threads in (2, 3, 7):
        other = sample_codes(NAMES, TABLES, PARENTS, 1_000_001, seed=3, threads=threads)
        assert all(np.array_equal(x, y) for x, y in zip(one, other, strict=True))


def test_a_short_sample_is_the_beginning_of_a_long_one():
    long = sample_codes(NAMES, TABLES, PARENTS, 9000, seed=3)
    for n in (1, 2, 3, 4, 5, 2047, 2048, 2049, 4097):
        short = sample_codes(NAMES, TABLES, PARENTS, n, seed=3)
        assert all(np.array_equal(x, y[:n]) for x, y in zip(short, long, strict=True))


def test_seeds_differ():
    columns = {tuple(sample_codes(["a"], TABLES[:1], [[]], 50, seed=s)[0]) for s in range(50)}
    assert len(columns) == 50


def test_variables_of_equal_distribution_differ():
    coin = np.array([0.5, 0.5])
    left, right = sample_codes(["left", "right"], [coin, coin], [[], []], 100_000)
    # Independent fair coins agree 50,000 times, give or take 158 (one sigma).
    assert abs(int((left == right).sum()) - 50_000) < 5 * 158


def test_impossible_states_are_never_drawn():
    # One step inside each border of the range, where rounding would show.
    rows = np.array([[0.0, 0.3, 0.0, 0.6999999, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0]])
    limits = thresholds(rows)
    for row, limit in zip(rows, limits, strict=True):
        borders = {0, 2**63 - 1, *(int(t) for t in limit), *(int(t) - 1 for t in limit)}
        for draw in (border for border in borders if 0 <= border < 2**63):
            state = sum(draw >= int(t) for t in limit)
            assert row[state] > 0, draw
    codes = sample_codes(["x", "y"], [np.array([0.5, 0.5]), rows], [[], [0]], 200_000)
    for x, y in product(range(2), range(5)):
        seen = bool(((codes[0] == x) & (codes[1] == y)).any())
        assert seen == (rows[x, y] > 0)


def test_seven_states_are_uniform():
    n = 700_000
    codes = sample_codes(["seven"], [np.full(7, 1 / 7)], [[]], n, seed=11)[0]
    counts = np.bincount(codes, minlength=7)
    chi_square = float(((counts - n / 7) ** 2 / (n / 7)).sum())
    assert 0.3 < chi_square < 30.0  # six degrees of freedom: P < 1e-3 below, < 1e-4 above


def joint(network):
    """Probability of every row of codes, in the order of the variables, by enumeration."""
    found = {}
    for codes in product(*(range(v.arity) for v in network.variables)):
        row = dict(zip(network.names, codes, strict=True))
        found[codes] = 1.0
        for name in network.names:
            table = network.table(name)
            place = tuple(row[p.name] for p in table.parents)
            found[codes] *= table.values[place][row[name]]
    return found


def test_marginals_and_pairs_of_asia():
    network, n = asia(), 400_000
    data = network.sample(n, seed=5)
    exact = joint(network)
    assert sum(exact.values()) == pytest.approx(1.0, abs=1e-12)
    # P(tub) = 0.01 * 0.05 + 0.99 * 0.01 = 0.0104, as in the paper.
    at = network.names.index("tub")
    assert sum(p for codes, p in exact.items() if codes[at]) == pytest.approx(0.0104, abs=1e-12)
    pairs = [(a, b) for i, a in enumerate(network.names) for b in network.names[i:]]
    for a, b in pairs:  # a pair of a variable with itself is its marginal
        i, j = network.names.index(a), network.names.index(b)
        for x, y in product(range(2), range(2)):
            p = sum(q for codes, q in exact.items() if codes[i] == x and codes[j] == y)
            seen = int(((data.codes(a) == x) & (data.codes(b) == y)).sum())
            assert abs(seen - n * p) <= 5 * np.sqrt(n * p * (1 - p)) + 1e-6, (a, b, x, y)


def test_order_of_tables_and_parents_does_not_matter():
    network = asia()
    data = network.sample(3000, seed=9)
    assert data.variables == network.variables
    turned = Network(network.tables[::-1]).sample(3000, seed=9)
    assert turned.names == network.names[::-1]
    dysp = network.table("dysp")
    swapped = ConditionalTable(dysp.child, dysp.parents[::-1], dysp.values.transpose(1, 0, 2))
    other = Network([*network.tables[:-1], swapped]).sample(3000, seed=9)
    for name in network.names:
        assert np.array_equal(data.codes(name), turned.codes(name))
        assert np.array_equal(data.codes(name), other.codes(name))


def test_refuses_bad_settings():
    network = asia()
    for n in (0, -1, 2.5, True, "3"):
        with pytest.raises(InvalidParameterError, match=r"sample: n must be a whole number >= 1"):
            network.sample(n)
    with pytest.raises(
        InvalidParameterError, match="sample: seed must be a whole number >= 0, got"
    ):
        network.sample(1, seed=-1)
    with pytest.raises(InvalidParameterError, match="sample: threads must be a whole number >= 1"):
        network.sample(1, threads=0)


def test_refuses_more_rows_than_fit(monkeypatch):
    with pytest.raises(
        NotEnoughMemoryError, match=r"1,000,000,000,000,000,000 rows of 8 variables"
    ):
        asia().sample(10**18)
    monkeypatch.setattr(machine, "available_memory", lambda: 1 << 20)
    with pytest.raises(
        NotEnoughMemoryError, match=r"needs 7\.6 MiB, 1\.0 MiB are available; lower"
    ):
        asia().sample(1_000_000)


def test_native_call_wants_arrays_as_they_are():
    keys = np.zeros((1, 2), dtype=np.uint64)
    halves, none = np.full((1, 1), 2**62, dtype=np.uint64), np.zeros(0, dtype=np.uint64)
    rest = [none.astype(np.uint32)], [none], [None]
    column = np.zeros(3, dtype=np.uint8)
    _core.sample_network(keys, [halves], *rest, [column], 0, 1)
    with pytest.raises(TypeError):  # a silent copy would lose the result
        _core.sample_network(keys, [halves], *rest, [np.zeros(6, dtype=np.uint8)[::2]], 0, 1)
    with pytest.raises(TypeError):
        _core.sample_network(keys, [halves.astype(np.float64)], *rest, [column], 0, 1)
    with pytest.raises(TypeError):
        _core.sample_network(keys, [halves], *rest, [np.zeros(3)], 0, 1)
    with pytest.raises(ValueError, match="one key, table and parent list per column"):
        _core.sample_network(keys, [halves], *rest, [column, column], 0, 1)


def test_answers_ctrl_c_and_works_afterwards():
    # The same column drawn 5,000 times over: many seconds of work in little memory.
    n_nodes, column = 5000, np.zeros(2_000_000, dtype=np.uint8)
    keys = np.zeros((n_nodes, 2), dtype=np.uint64)
    halves, none = np.full((1, 1), 2**62, dtype=np.uint64), np.zeros(0, dtype=np.uint64)
    nodes = [[halves] * n_nodes, [none.astype(np.uint32)] * n_nodes, [none] * n_nodes]
    nodes.append([None] * n_nodes)
    with pytest.raises(KeyboardInterrupt), ctrl_c_in_native_work():
        _core.sample_network(keys, *nodes, [column] * n_nodes, 0, 2)
    assert asia().sample(10).n_rows == 10
