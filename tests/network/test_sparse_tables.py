"""Sparse tables: every answer of a network is that of the dense one, and sizes stay small."""

import pickle
import resource
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestdag import Dag, Network, Variable, fit_network
from bestdag.data.dataset import Dataset
from bestdag.errors import DataError, FormatError, NotEnoughMemoryError
from bestdag.network import bif, json_format
from bestdag.network.table import ConditionalTable
from tests.conftest import examples

# Few rows and many states are what these tests are about.
pytestmark = pytest.mark.filterwarnings("ignore:fit. the network has .* parameters")

A = Variable("a", tuple(map(str, range(200))))
B = Variable("b", tuple(map(str, range(300))))
C = Variable("c", ("no", "yes"))
LISTED = [[7, 250], [3, 9], [199, 299]]
ROWS = [[0.9, 0.1], [0.2, 0.8], [1.0, 0.0]]


def wide_table(listed=LISTED, rows=ROWS, default=(0.5, 0.5)):
    return ConditionalTable.of_rows(C, (A, B), listed, rows, default)


# The rule: sparse above 10,000 configurations, when at most half of them are listed.
def test_a_table_is_sparse_when_it_has_many_configurations():
    table = wide_table()
    assert table.sparse is not None
    assert table.n_configurations == 60_000
    assert table.n_parameters == 60_000
    assert table.row(a="3", b="9").tolist() == [0.2, 0.8]
    assert table.row(a="9", b="3").tolist() == [0.5, 0.5]
    assert table.nbytes < 100
    assert repr(table) == (
        "<ConditionalTable: c | a, b, 60,000 parameters, 3 rows and one for all others>"
    )
    few = Variable("a", A.states[:30]), Variable("b", B.states[:300])
    assert ConditionalTable.of_rows(C, few, [[3, 9]], [[0.2, 0.8]], [0.5, 0.5]).sparse is None
    half = [[i, j] for i in range(100) for j in range(300)]
    assert wide_table(half, [[0.2, 0.8]] * 30_000).sparse is not None
    assert wide_table([*half, [100, 0]], [[0.2, 0.8]] * 30_001).sparse is None


def test_values_are_written_out_on_request():
    values = wide_table().values
    assert values.shape == (200, 300, 2)
    assert values[7, 250].tolist() == [0.9, 0.1]
    assert (values == 0.5).all(axis=2).sum() == 60_000 - 3
    assert not values.flags.writeable


def test_one_content_is_one_table():
    table = wide_table()
    same = wide_table([*LISTED[::-1], [0, 0]], [*ROWS[::-1], [0.5, 0.5]])
    dense = ConditionalTable(C, (A, B), table.values)
    for other in (same, dense, pickle.loads(pickle.dumps(table))):
        assert other == table
        assert table == other
        assert hash(other) == hash(table)
    assert pickle.loads(pickle.dumps(table)).sparse is not None
    changed = table.values.copy()
    changed[5, 5] = [0.4, 0.6]
    for other in (
        ConditionalTable(C, (A, B), changed),
        wide_table(LISTED[:2], ROWS[:2]),
        wide_table(default=(0.4, 0.6)),
    ):
        assert other != table
        assert table != other


def test_parents_in_another_order():
    turned = wide_table().reordered(C, (B, A))
    assert turned.sparse is not None
    assert np.array_equal(turned.values, wide_table().values.transpose(1, 0, 2))


@pytest.mark.parametrize(
    ("listed", "rows", "default", "message"),
    [
        ([[3, 300]], [[1, 0]], [1, 0], "codes of 'b' are 0 to 299, got 300"),
        ([[3, -1]], [[1, 0]], [1, 0], "codes of 'b' are 0 to 299, got -1"),
        ([[3, 9], [3, 9]], [[1, 0]] * 2, [1, 0], "values for a=3, b=9 are given twice"),
        ([[3, 9]], [[0.5, 0.4]], [1, 0], r"values for a=3, b=9 must sum to 1, got 0\.9"),
        ([[3, 9]], [[1, 0]], [0.5, 0.4], r"values for all others must sum to 1, got 0\.9"),
        ([[3, 9]], [[1, 0]] * 2, [1, 0], "got 2 rows for 1 configurations"),
        ([[3, 9]], [[1, 0]], [1, 0, 0], "one for all others are needed"),
        ([[3]], [[1, 0]], [1, 0], "configurations of 2 parents and rows of 2 numbers"),
        ([["x", 9]], [[1, 0]], [1, 0], "configurations of 2 parents and rows of 2 numbers"),
    ],
)
def test_refusals(listed, rows, default, message):
    with pytest.raises(DataError, match=f"^table of 'c': .*{message}"):
        wide_table(listed, rows, default)


# Small networks kept both ways: only the limit of 10,000 is moved out of the way.


@st.composite
def twins(draw):
    """A random network kept dense and kept sparse."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    arities = draw(st.lists(st.integers(1, 4), min_size=2, max_size=6))
    has_zeros = draw(st.booleans())
    variables = [Variable(f"v{i}", tuple(map(str, range(r)))) for i, r in enumerate(arities)]
    dense, sparse = [], []
    for i, child in enumerate(variables):
        n_parents = int(rng.integers(0, min(i, 4) + 1))
        parents = [variables[p] for p in rng.permutation(i)[:n_parents]]
        shape = [parent.arity for parent in parents]
        q = int(np.prod(shape))
        m = int(rng.integers(0, q // 2 + 1))
        rows = rng.dirichlet(np.ones(child.arity), m + 1)
        if has_zeros and child.arity > 1:
            rows[rng.random(m + 1) < 0.5] = np.eye(child.arity)[rng.integers(child.arity)]
        if not parents:
            dense.append(ConditionalTable(child, (), rows[-1]))
            sparse.append(dense[-1])
            continue
        codes = np.array(np.unravel_index(rng.permutation(q)[:m], shape)).T.reshape(m, n_parents)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("bestdag.network.table.MAX_DENSE_ROWS", 0)
            sparse.append(ConditionalTable.of_rows(child, parents, codes, rows[:-1], rows[-1]))
        dense.append(ConditionalTable(child, parents, sparse[-1].values))
        assert sparse[-1].sparse is not None
    return Network(dense), Network(sparse)


@st.composite
def twins_and_rows(draw):
    dense, sparse = draw(twins())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    share = draw(st.sampled_from([0.0, 0.3, 0.8]))
    codes = []
    for variable in dense.variables:
        column = rng.integers(variable.arity, size=20)
        codes.append(np.where(rng.random(20) < share, variable.arity, column))
    return dense, sparse, Dataset(dense.variables, codes)


@given(twins_and_rows())
@settings(max_examples=examples(200), deadline=None)
def test_probabilities_are_those_of_the_dense_network(case):
    dense, sparse, data = case
    expected = dense.log_probability(data)
    assert sparse.log_probability(data) == pytest.approx(expected, rel=1e-13)


@given(twins_and_rows())
@settings(max_examples=examples(200), deadline=None)
def test_predictions_are_those_of_the_dense_network(case):
    dense, sparse, data = case
    for target in dense.names:
        expected = dense.predict_proba(target, data, impossible="marginal")
        got = sparse.predict_proba(target, data, impossible="marginal", threads=2)
        assert got == pytest.approx(expected, rel=1e-12, abs=1e-300)


# With no room at all every sparse table is taken apart, one inside the other.
@given(twins_and_rows())
@settings(max_examples=examples(60), deadline=None)
def test_sums_that_take_tables_apart_are_those_of_the_dense_network(case):
    dense, sparse, data = case
    expected = dense.log_probability(data)
    posteriors = [dense.predict_proba(t, data, impossible="marginal") for t in dense.names]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bestdag.inference.missing._ROOMY", -1)
        patch.setattr("bestdag.inference.missing._MAX_DEPTH", 10)
        patch.setattr("bestdag.inference.missing._BLOCK_CASES", 30)
        assert sparse.log_probability(data) == pytest.approx(expected, rel=1e-12)
        for target, wanted in zip(dense.names, posteriors, strict=True):
            got = sparse.predict_proba(target, data, impossible="marginal")
            assert got == pytest.approx(wanted, rel=1e-11, abs=1e-300)


@given(twins(), st.integers(0, 5))
@settings(max_examples=examples(50), deadline=None)
def test_samples_are_those_of_the_dense_network(pair, seed):
    dense, sparse = pair
    assert sparse.sample(3000, seed=seed, threads=2) == dense.sample(3000, seed=seed)


@given(twins())
@settings(max_examples=examples(50), deadline=None)
def test_networks_are_equal_and_so_are_their_files(pair):
    dense, sparse = pair
    assert sparse == dense
    assert sparse.n_parameters == dense.n_parameters
    for form in (bif, json_format):
        assert form.parse(form.render(sparse)) == dense


# Files


def wide_network():
    rng = np.random.default_rng(0)
    a = ConditionalTable(A, (), rng.dirichlet(np.ones(200)))
    b = ConditionalTable(B, (), rng.dirichlet(np.ones(300)))
    return Network([a, b, wide_table()], name="wide")


@pytest.mark.parametrize("form", [bif, json_format])
def test_files_hold_sparse_tables_exactly_and_stay_small(form):
    text = form.render(wide_network())
    assert len(text) < 50_000
    again = form.parse(text)
    assert again == wide_network()
    assert again.table("c").sparse is not None
    assert form.render(again) == text


def test_a_bif_file_has_a_default_row_beyond_10_000_rows_only():
    text = bif.render(wide_network()).decode()
    block = text[text.index("probability ( c | a, b )") :]
    assert block == (
        "probability ( c | a, b ) {\n  default 0.5, 0.5;\n  (3, 9) 0.2, 0.8;\n"
        "  (7, 250) 0.9, 0.1;\n  (199, 299) 1.0, 0.0;\n}\n"
    )
    small = Variable("a", A.states[:30])
    table = ConditionalTable.of_rows(C, (small, B), [[3, 9]], [[0.2, 0.8]], [0.5, 0.5])
    tables = [ConditionalTable(small, (), [1 / 30] * 30), wide_network().table("b"), table]
    text = bif.render(Network(tables)).decode()
    assert "default" not in text
    assert text.count(") 0.5, 0.5;") == 8_999


@pytest.mark.parametrize("name", ["net.bif", "net.json.gz"])
def test_what_would_not_fit_is_refused_with_its_size_before_anything_is_written(
    tmp_path, monkeypatch, name
):
    wide = wide_network()
    values = wide.table("c").values
    dense = Network([*wide.tables[:2], ConditionalTable(C, (A, B), values)], name="wide")
    monkeypatch.setattr("bestdag.machine.available_memory", lambda: 1 << 20)
    with pytest.raises(
        NotEnoughMemoryError, match=r"save: .*net.*a file of 120,500 numbers, about 2\.4 MiB, needs"
    ):
        dense.save(tmp_path / name)
    assert not list(tmp_path.iterdir())
    wide.save(tmp_path / name)
    assert Network.load(tmp_path / name) == dense


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[3, 9]", "[3, 300]", "codes of 'b' are 0 to 299"),
        ("[3, 9]", "[3]", r"configurations\[0\] must have 2 whole numbers, got \[3\]"),
        ("[3, 9]", "[3, 9.0]", r"configurations\[0\] must have 2 whole numbers"),
        ("[3, 9],\n", "", "one row for each of the 2 configurations, got 3"),
        ('"default": [0.5, 0.5]', '"default": [0.5]', "default must have 2 numbers, got 1"),
        (' "default": [0.5, 0.5],\n', "", 'the key "default" is missing'),
    ],
)
def test_wrong_json(old, new, message):
    text = json_format.render(wide_network()).decode()
    assert old in text
    with pytest.raises(FormatError, match=message):
        json_format.parse(text.replace(old, new).encode(), "x.json")


# 297 rows, parents with 41 and 50 states among others: 13 GB when every configuration has a row.


def heart_like():
    arities = {
        "age": 41, "sex": 2, "pain": 4, "pressure": 50, "cholesterol": 152, "sugar": 2, "ecg": 3,
        "rate": 91, "angina": 2, "peak": 40, "slope": 3, "vessels": 4, "thal": 3, "class": 5,
    }  # fmt: skip
    rng = np.random.default_rng(297)
    codes = [rng.integers(r, size=297) for r in arities.values()]
    variables = [Variable(n, tuple(map(str, range(r)))) for n, r in arities.items()]
    names = list(arities)
    chain = [(a, b) for a, b in pairwise(names)]
    wide = [(p, "class") for p in ("age", "pressure", "cholesterol", "rate", "peak")]
    return Dag(names, [*chain, *wide]), Dataset(variables, codes)


@pytest.mark.parametrize("estimator", ["fsnml", "mle", "dirichlet"])
def test_size_grows_with_rows_and_not_with_products_of_arities(tmp_path, estimator):
    dag, data = heart_like()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    network = fit_network(dag, data, estimator)
    table = network.table("class")
    assert table.n_configurations == 41 * 50 * 152 * 91 * 40 * 3
    assert table.sparse is not None
    assert table.sparse.n_listed <= 297
    assert sum(each.nbytes for each in network.tables) < 10**6
    assert np.isfinite(network.log_loss(data))
    assert network.predict("class", data).tolist() == list(map(str, data.codes("class")))
    some = data.select(["age", "sex", "pain", "pressure", "cholesterol", "rate", "peak", "thal"])
    assert network.predict_proba("class", some).sum(axis=1) == pytest.approx(1)
    # Nearly nothing known: 1.4e9 configurations of missing parents.
    few = {"age": ["7", "40"], "sex": ["1", "0"]}
    assert network.predict_proba("class", few).sum(axis=1) == pytest.approx(1)
    assert network.predict_proba("thal", {"class": ["3"]}).sum() == pytest.approx(1)
    assert network.sample(1000, seed=1) == network.sample(1000, seed=1)
    for suffix in ("bif", "json"):
        path = tmp_path / f"net.{suffix}"
        network.save(path)
        assert path.stat().st_size < 10**6
        assert Network.load(path) == network
    assert pickle.loads(pickle.dumps(network)) == network
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 200 * 1024  # KiB


def test_configurations_beyond_64_bits():
    names = [f"v{i:02}" for i in range(40)]
    rng = np.random.default_rng(1)
    variables = [Variable(n, tuple(map(str, range(50)))) for n in [*names, "x"]]
    data = Dataset(variables, [rng.integers(50, size=100) for _ in variables])
    network = fit_network(Dag([*names, "x"], [(n, "x") for n in names]), data, "mle")
    assert network.table("x").n_configurations == 50**40
    assert network.predict("x", data).tolist() == list(map(str, data.codes("x")))
    changed = data.codes("v39").copy()
    changed[:] = (changed + 1) % 50
    codes = [changed if v.name == "v39" else data.codes(v.name) for v in variables]
    uniform = network.predict_proba("x", Dataset(variables, codes))
    assert uniform == pytest.approx(0.02)


def test_prints_the_rows_it_lists_and_one_for_all_others():
    assert str(wide_table()).splitlines() == [
        "P(c | a, b)",
        "  a           b     no  yes",
        "  3           9    0.2  0.8",
        "  7           250  0.9  0.1",
        "  199         299    1    0",
        "  all others       0.5  0.5",
    ]
