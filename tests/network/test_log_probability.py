"""Log-probability of rows: by hand, by the product of tables, by summing the joint; refusals."""

import pickle
from math import exp, inf, log

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestdag.data.dataset import Dataset
from bestdag.data.schema import Variable
from bestdag.errors import DataError, InvalidParameterError, NotEnoughMemoryError, UnknownNameError
from bestdag.inference import missing as missing_module
from bestdag.network.network import Network
from bestdag.network.table import ConditionalTable
from tests.conftest import examples
from tests.network.examples import asia, small_network
from tests.reference.joint import networks_with_rows, probabilities
from tests.shared_data import shared_file


def rows(rain, wet):
    return {"rain": rain, "wet grass": wet}


# P(no, dry) = 0.8, P(yes, damp) = 0.2 * 0.25 = 0.05, P(no, damp) = 0.
def test_values_worked_out_by_hand():
    got = small_network().log_probability(rows(["no", "yes", "no"], ["dry", "damp", "damp"]))
    assert got.dtype == np.float64
    assert got.tolist() == pytest.approx([log(0.8), log(0.05), -inf], rel=1e-15)


# P(damp) = 0.2 * 0.25, P(rain=yes) = 0.2, nothing known = 1.
def test_missing_cells_are_summed_out():
    data = rows([None, "yes", None], ["damp", None, None])
    got = small_network().log_probability(data)
    assert got.tolist() == pytest.approx([log(0.05), log(0.2), 0.0], rel=1e-15)


# Lauritzen and Spiegelhalter: P(dysp) = 0.43597 when nothing else is known.
def test_known_marginal_of_the_chest_clinic():
    network = asia()
    data = {name: [None] for name in network.names} | {"dysp": ["yes"]}
    assert exp(network.log_probability(data)[0]) == pytest.approx(0.4359706, abs=1e-12)


@given(networks_with_rows())
def test_equals_the_sum_over_the_joint(case):
    network, data = case
    with np.errstate(divide="ignore"):
        expected = np.log(probabilities(network, data))
    assert network.log_probability(data) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@given(networks_with_rows(), st.integers(1, 3))
def test_small_blocks_give_the_same(case, block):
    network, data = case
    expected = network.log_probability(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(missing_module, "_BLOCK_CELLS", block)
        patch.setattr(missing_module, "_ROOMY_GROUPS", 0)
        assert network.log_probability(data) == pytest.approx(expected, rel=1e-14, abs=1e-14)


def test_equals_the_product_of_tables_on_many_rows():
    network = Network.load(shared_file("networks/alarm.bif"))
    data = network.sample(20_000, seed=3)
    expected = np.zeros(data.n_rows)
    for table in network.tables:
        place = tuple(data.codes(v.name) for v in (*table.parents, table.child))
        expected += np.log(table.values[place])
    assert np.array_equal(network.log_probability(data), expected)
    assert np.array_equal(network.log_probability(data, threads=3), expected)
    turned = data.select(data.names[::-1])
    assert np.array_equal(network.log_probability(turned), expected)


# A hidden chain h0 -> h1 -> ... with a sign at each step, all hidden variables missing: the
# forward recursion with a scale per step is another route. The probability is far below 1e-308.
def test_long_hidden_chain_does_not_underflow():
    n, rng = 400, np.random.default_rng(5)
    step, sign = rng.dirichlet([1, 1, 1], 3), rng.dirichlet([0.2] * 20, 3)
    hidden = [Variable(f"h{i}", ("a", "b", "c")) for i in range(n)]
    shown = [Variable(f"x{i}", tuple(map(str, range(20)))) for i in range(n)]
    tables = [ConditionalTable(hidden[0], (), step[0])]
    tables += [ConditionalTable(hidden[i], (hidden[i - 1],), step) for i in range(1, n)]
    tables += [ConditionalTable(shown[i], (hidden[i],), sign) for i in range(n)]
    signs = rng.integers(0, 20, n)
    data = Dataset([*hidden, *shown], [np.array([3])] * n + [np.array([x]) for x in signs])
    belief, total = step[0], 0.0
    for i, x in enumerate(signs):
        belief = (belief if i == 0 else belief @ step) * sign[:, x]
        total += log(belief.sum())
        belief = belief / belief.sum()
    assert total < -1000
    assert Network(tables).log_probability(data) == pytest.approx([total], rel=1e-11)


def test_one_row_and_wide_codes():
    big = Variable("big", tuple(map(str, range(300))))
    small = Variable("small", ("no", "yes"))
    values = np.random.default_rng(1).dirichlet([1, 1], 300)
    uniform = np.full(300, 1 / 300)
    network = Network([ConditionalTable(big, (), uniform), ConditionalTable(small, (big,), values)])
    data = Dataset([small, big], [np.array([1, 1]), np.array([299, 300])])
    expected = [log(values[299, 1] / 300), log(values[:, 1].sum() / 300)]
    assert network.log_probability(data) == pytest.approx(expected, rel=1e-13)
    assert network.log_probability(data.select(rows=[0])) == pytest.approx(expected[:1])


def test_states_in_another_order_are_matched_by_name():
    rain = Variable("rain", ("yes", "unheard of", "no"))
    wet = Variable("wet grass", ("damp", "dry"))
    data = Dataset([wet, rain], [np.array([1, 0, 2]), np.array([2, 0, 3])])
    got = small_network().log_probability(data)
    assert got.tolist() == pytest.approx([log(0.8), log(0.05), 0.0])


def test_reads_frames_and_files(tmp_path):
    frame = pd.DataFrame(rows(["no", "yes"], ["dry", "damp"]))
    frame.to_csv(tmp_path / "rows.csv", index=False)
    for source in (frame, tmp_path / "rows.csv"):
        got = small_network().log_probability(source)
        assert got == pytest.approx([log(0.8), log(0.05)])


def test_empty_text_is_missing_unless_it_is_a_state():
    coin = Variable("coin", ("", "tails"))
    network = Network([ConditionalTable(coin, (), [0.25, 0.75])])
    assert network.log_probability({"coin": ["", "tails"]})[0] == pytest.approx(log(0.25))
    assert small_network().log_probability(rows(["no"], [""]))[0] == pytest.approx(log(0.8))


# -(ln 0.8 + 3 ln 0.05) / 4; the row of weight 0 has probability zero and does not count.
def test_log_loss_is_the_weighted_mean():
    network = small_network()
    variables = network.variables
    columns = [np.array([0, 1, 0]), np.array([0, 1, 1])]
    data = Dataset(variables, columns, weights=[1, 3, 0])
    assert network.log_loss(data) == pytest.approx(-(log(0.8) + 3 * log(0.05)) / 4, rel=1e-15)
    assert network.log_loss(Dataset(variables, columns)) == inf
    half = Dataset(variables, columns, weights=[0.5, 1.5, 0.0])
    assert network.log_loss(half) == pytest.approx(network.log_loss(data), rel=1e-15)


def test_log_loss_does_not_depend_on_the_order_of_rows():
    network = asia()
    data = network.sample(1000, seed=2)
    turned = data.select(rows=np.random.default_rng(0).permutation(1000))
    assert network.log_loss(turned) == network.log_loss(data)
    assert network.log_loss(data) == pytest.approx(-network.log_probability(data).mean())


def test_pickled_network_answers_the_same():
    network = asia()
    data = network.sample(50, seed=2)
    expected = network.log_probability(data)
    copy = pickle.loads(pickle.dumps(network))
    assert copy == network
    assert np.array_equal(copy.log_probability(data), expected)


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ({"rain": ["no"]}, UnknownNameError, "unknown column 'wet grass'"),
        (rows(["no"], ["moist"]), UnknownNameError, "'moist'"),
        (rows(["no"], ["dry"]) | {"id": ["7"]}, DataError, "column 'id' is not in the network"),
        (rows([], []), DataError, "has no rows"),
        (None, DataError, "cannot read an object of type NoneType"),
    ],
    ids=["lacks a column", "unknown value", "column too many", "no rows", "no data"],
)
def test_refuses_data_that_do_not_match(data, error, message):
    with pytest.raises(error, match=message):
        small_network().log_probability(data)


def test_refuses_a_dataset_that_does_not_match():
    network = small_network()
    data = network.sample(5)
    with pytest.raises(DataError, match="log_probability: the data lack variable 'wet grass'"):
        network.log_probability(data.select("rain"))
    other = Dataset(
        [*data.variables, Variable("id", ("7",))], [*map(data.codes, data.names), [0] * 5]
    )
    with pytest.raises(DataError, match=r"log_loss: the network has no variable 'id'"):
        network.log_loss(other)
    with pytest.raises(UnknownNameError, match="unknown state of 'rain' 'sleet'"):
        network.log_probability(
            Dataset([Variable("rain", ("sleet",)), network.variable("wet grass")], [[0], [0]])
        )


# Numbers belong to the state whose number is how many cuts are below them: 20 is still low.
def test_numbers_are_cut_as_the_network_says():
    heat = Variable("heat", ("low", "high"), (20.0,))
    network = Network([ConditionalTable(heat, (), [0.25, 0.75])])
    expected = pytest.approx([log(0.75), log(0.25), log(0.25), 0.0])
    assert network.log_probability({"heat": [21.5, 20, -3, None]}) == expected
    texts = Variable("heat", ("-3", "20", "21.5"))
    assert network.log_probability(Dataset([texts], [[2, 1, 0, 3]])) == expected


def test_refuses_other_cut_points():
    heat = Variable("heat", ("low", "high"), (20.0,))
    network = Network([ConditionalTable(heat, (), [0.5, 0.5])])
    assert network.log_probability(Dataset([heat], [[0]])) == pytest.approx([log(0.5)])
    with pytest.raises(DataError, match="'heat' has other cut points"):
        network.log_probability(Dataset([Variable("heat", ("low", "high"), (25.0,))], [[0]]))


def test_refuses_missing_cells_when_asked_to():
    data = rows(["no", None], [None, "dry"])
    with pytest.raises(DataError, match=r"variables 'rain', 'wet grass' have 2 missing values"):
        small_network().log_probability(data, missing="error")
    with pytest.raises(
        InvalidParameterError, match="missing must be one of 'marginalize', 'error'"
    ):
        small_network().log_probability(data, missing="drop")


# 60 missing causes of one effect meet in one product of 2**60 cells.
def test_refuses_a_sum_that_does_not_fit():
    causes = [Variable(f"c{i:02}", ("no", "yes")) for i in range(60)]
    tables = [ConditionalTable(c, (), [0.5, 0.5]) for c in causes]
    effects = []
    for i in range(60):
        for k in range(i):
            effect = Variable(f"e{i}-{k}", ("no", "yes"))
            effects.append(effect)
            pair = (causes[i], causes[k])
            tables.append(ConditionalTable(effect, pair, np.full((2, 2, 2), 0.5)))
    data = Dataset([*causes, *effects], [[2]] * 60 + [[0]] * len(effects))
    with pytest.raises(NotEnoughMemoryError, match="sum over 60 missing variables"):
        Network(tables).log_probability(data)


@settings(max_examples=examples(5))
@given(st.integers(0, 2**32))
def test_every_row_with_its_own_pattern(seed):
    network = asia()
    data = network.sample(3000, seed=1)
    rng = np.random.default_rng(seed)
    columns = [np.where(rng.random(3000) < 0.5, 2, data.codes(n)) for n in data.names]
    holed = Dataset(data.variables, columns)
    some = rng.integers(0, 3000, 20)
    expected = np.log(probabilities(network, holed.select(rows=some)))
    assert network.log_probability(holed)[some] == pytest.approx(expected, rel=1e-12)
