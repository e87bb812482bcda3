"""Prediction of one variable: by hand, against the joint, without underflow; refusals."""

from math import log

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestdag.data.dataset import Dataset
from bestdag.data.readers import read, read_matching
from bestdag.data.schema import Variable
from bestdag.errors import DataError, DataWarning, InvalidParameterError, UnknownNameError
from bestdag.inference import rows as rows_module
from bestdag.network.network import Network
from bestdag.network.table import ConditionalTable
from tests.network.examples import asia, small_network
from tests.reference.joint import networks_with_rows, posteriors


def naive_bayes(n_attributes, n_classes, n_states, seed=0, concentration=1.0):
    rng = np.random.default_rng(seed)
    target = Variable("class", tuple(map(str, range(n_classes))))
    tables = [ConditionalTable(target, (), rng.dirichlet(np.ones(n_classes)))]
    for i in range(n_attributes):
        attribute = Variable(f"x{i:03}", tuple(map(str, range(n_states))))
        values = rng.dirichlet(np.full(n_states, concentration), n_classes)
        tables.append(ConditionalTable(attribute, (target,), values))
    return Network(tables)


# wet: P(rain=yes, damp) = 0.05, P(rain=no, damp) = 0; dry only without rain; nothing known: 0.2.
def test_values_worked_out_by_hand():
    network = small_network()
    got = network.predict_proba("rain", {"wet grass": ["damp", "dry", None]})
    assert got == pytest.approx(np.array([[0, 1], [1, 0], [0.8, 0.2]]), abs=0, rel=1e-15)
    assert network.predict("rain", {"wet grass": ["damp", "dry"]}).tolist() == ["yes", "no"]
    got = network.predict_proba("wet grass", {"rain": ["no", "yes", None]})
    assert got == pytest.approx(np.array([[1, 0, 0], [0, 0.25, 0.75], [0.8, 0.05, 0.15]]))


@given(networks_with_rows(zeros=False), st.booleans())
def test_equals_the_joint(case, with_target):
    network, data = case
    for target in network.names:
        given = data if with_target or data.n_variables == 1 else data.drop(target)
        expected = np.array(list(posteriors(network, target, given)))
        got = network.predict_proba(target, given)
        assert got == pytest.approx(expected, rel=1e-11, abs=1e-15)
        logs = network.predict_log_proba(target, given)
        assert np.exp(logs) == pytest.approx(got, rel=1e-12)


# With zeros a row may be impossible for reasons that do not touch the target: then the joint says
# 0 / 0 and the blanket still has an answer. Where the joint has one, they agree.
@given(networks_with_rows(zeros=True))
def test_equals_the_joint_with_zeros(case):
    network, data = case
    for target in network.names:
        got = network.predict_proba(target, data, impossible="marginal")
        assert got.sum(axis=1) == pytest.approx(1.0)
        labels = network.predict(target, data, impossible="marginal")
        states = network.variable(target).states
        for row, expected in enumerate(posteriors(network, target, data)):
            if expected is not None:
                assert got[row] == pytest.approx(expected, rel=1e-11, abs=1e-15)
            assert labels[row] == states[int(np.argmax(got[row]))]


# 500 attributes: each joint probability is far below the smallest double.
def test_many_attributes_and_classes_do_not_underflow():
    network = naive_bayes(500, 26, 40)
    data = network.sample(200, seed=1)
    logs = np.tile(np.log(network.table("class").values), (200, 1))
    for i in range(500):
        logs += np.log(network.table(f"x{i:03}").values[:, data.codes(f"x{i:03}")].T)
    assert logs.max() < -800
    logs -= logs.max(axis=1, keepdims=True)
    expected = np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)
    assert network.predict_proba("class", data) == pytest.approx(expected, rel=1e-9, abs=1e-300)
    log_expected = logs - np.log(np.exp(logs).sum(axis=1, keepdims=True))
    assert network.predict_log_proba("class", data) == pytest.approx(log_expected, rel=1e-9)


# Attributes that rule out each class but one, behind hundreds that make that one very improbable.
def test_the_improbable_class_wins_when_the_others_are_impossible():
    target = Variable("class", ("a", "b"))
    tables = [ConditionalTable(target, (), [0.5, 0.5])]
    for i in range(400):
        values = [[0.999, 0.001], [0.001, 0.999]]
        tables.append(ConditionalTable(Variable(f"x{i}", ("0", "1")), (target,), values))
    tables.append(
        ConditionalTable(Variable("last", ("0", "1")), (target,), [[0.0, 1.0], [0.5, 0.5]])
    )
    network = Network(tables)
    data = {f"x{i}": ["0"] for i in range(400)} | {"last": ["0"]}
    assert network.predict_proba("class", data).tolist() == [[0.0, 1.0]]
    # The same through a sum over a missing middle variable.
    middle, end = Variable("middle", ("0", "1")), Variable("end", ("0", "1"))
    half = np.full((2, 2), 0.5)
    longer = Network(
        [
            *tables,
            ConditionalTable(middle, (target,), half),
            ConditionalTable(end, (middle,), half),
        ]
    )
    assert longer.predict_proba("class", data | {"middle": [None], "end": ["0"]}).tolist() == [
        [0.0, 1.0]
    ]


def test_ties_go_to_the_first_state():
    coin, toss = Variable("coin", ("z", "a", "m")), Variable("toss", ("0", "1"))
    third = [1 / 3, 1 / 3, 1 / 3]
    tables = [
        ConditionalTable(coin, (), third),
        ConditionalTable(toss, (coin,), np.full((3, 2), 0.5)),
    ]
    assert Network(tables).predict("coin", {"toss": ["0", "1"]}).tolist() == ["z", "z"]


# P(either=no | tub=yes) = 0, so no state of lung fits: the rule decides. P(lung=yes) = 0.055.
def test_impossible_rows():
    network = asia()
    sound = {name: ["no", "no"] for name in network.names} | {"tub": ["no", "yes"]}
    with pytest.raises(DataError, match=r"predict_proba: row 1 \(counted from 0\) cannot occur"):
        network.predict_proba("lung", sound)
    with pytest.raises(DataError, match="predict: row 1 "):
        network.predict("lung", sound)
    got = network.predict_proba("lung", sound, impossible="marginal")
    assert got[1] == pytest.approx([0.945, 0.055], rel=1e-12)
    logs = network.predict_log_proba("lung", sound, impossible="marginal")
    assert logs[1] == pytest.approx([log(0.945), log(0.055)], rel=1e-12)
    assert network.predict("lung", sound, impossible="marginal").tolist() == ["no", "no"]


# Ruled out elsewhere: what the target depends on still says 0.5 | smoke cells.
def test_only_cells_the_target_depends_on_are_looked_at():
    network = asia()
    data = {name: ["no"] for name in network.names} | {"tub": ["yes"]}
    assert network.log_probability(data)[0] == -np.inf
    assert network.predict_proba("asia", data)[0] == pytest.approx(
        [0.99 * 0.01 / (0.99 * 0.01 + 0.01 * 0.05), 0.01 * 0.05 / (0.99 * 0.01 + 0.01 * 0.05)]
    )


def test_blocks_and_threads_do_not_matter():
    network = asia()
    data = network.sample(5000, seed=4)
    rng = np.random.default_rng(2)
    holed = Dataset(
        data.variables, [np.where(rng.random(5000) < 0.2, 2, data.codes(n)) for n in data.names]
    )
    expected = network.predict_proba("bronc", holed, threads=1)
    assert np.array_equal(network.predict_proba("bronc", holed, threads=4), expected)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows_module, "_BLOCK_CELLS", 64)
        labels = network.predict("bronc", holed)
    assert labels.tolist() == np.where(expected[:, 0] >= expected[:, 1], "no", "yes").tolist()


def test_columns_that_are_not_in_the_network_do_not_matter():
    data = {"id": ["7"], "rain": ["hail"], "wet grass": ["damp"]}
    assert small_network().predict("rain", data).tolist() == ["yes"]


def test_network_of_one_variable():
    coin = Variable("coin", ("heads", "tails"))
    network = Network([ConditionalTable(coin, (), [0.25, 0.75])])
    data = Dataset([coin], [[0, 2]])
    assert network.predict_proba("coin", data) == pytest.approx(np.array([[0.25, 0.75]] * 2))


def test_labels_are_the_states_themselves():
    odd = Variable("odd", ("a\0", "", "b"))
    seen = Variable("seen", ("0", "1", "2"))
    network = Network(
        [ConditionalTable(odd, (), [0.2, 0.3, 0.5]), ConditionalTable(seen, (odd,), np.eye(3))]
    )
    labels = network.predict("odd", {"seen": ["0", "1", "2"]})
    assert labels.dtype == object
    assert labels.tolist() == ["a\0", "", "b"]


# P(lung = yes | smoke = yes, dysp = yes): either by enumeration of all that is not given.
def test_columns_that_are_not_given_are_summed_over():
    network = asia()
    given = {"smoke": ["yes", "no"], "dysp": ["yes", "no"]}
    unknown = {name: [None, None] for name in network.names if name not in given}
    every = read_matching({**given, **unknown}, network.variables, missing="keep")
    expected = np.array(list(posteriors(network, "lung", every)))
    for data in (given, pd.DataFrame(given), every.select(["dysp", "smoke"])):
        got = network.predict_proba("lung", data)
        assert got == pytest.approx(expected, rel=1e-12)
        assert network.predict("lung", data).tolist() == ["no", "no"]
    with pytest.raises(UnknownNameError, match="unknown column 'asia'"):
        network.predict_proba("lung", given, missing="error")
    with pytest.raises(DataError, match="the data lack variables 'asia', 'tub', 'bronc'"):
        network.predict_proba("lung", every.select(["dysp", "smoke"]), missing="error")


def test_a_column_of_numbers_need_not_be_given():
    hot = Variable("heat", ("<=20", ">20"), (20.0,))
    wet = Variable("wet", ("no", "yes"))
    late = Variable("late", ("no", "yes"))
    tables = [
        ConditionalTable(hot, (), [0.5, 0.5]),
        ConditionalTable(wet, (hot,), [[0.8, 0.2], [0.4, 0.6]]),
        ConditionalTable(late, (wet,), [[0.9, 0.1], [0.3, 0.7]]),
    ]
    network = Network(tables)
    assert network.predict_proba("late", {"heat": [19.5]}) == pytest.approx(
        np.array([[0.8 * 0.9 + 0.2 * 0.3, 0.8 * 0.1 + 0.2 * 0.7]])
    )
    assert network.predict_proba("late", {"wet": ["no"]}) == pytest.approx(np.array([[0.9, 0.1]]))


def test_refusals():
    network = small_network()
    with pytest.raises(UnknownNameError, match=r"unknown variable 'rian'.*did you mean 'rain'"):
        network.predict_proba("rian", {"wet grass": ["dry"]})
    with pytest.raises(DataError, match="the dict has none of the columns 'wet grass'"):
        network.predict("rain", {"rain": ["no"]})
    with pytest.raises(DataError, match="data have no variable of the network beside 'rain'"):
        network.predict("rain", Dataset([Variable("rain", ("no", "yes"))], [[0]]))
    with pytest.raises(
        InvalidParameterError, match="impossible must be one of 'error', 'marginal'"
    ):
        network.predict("rain", {"wet grass": ["dry"]}, impossible="nan")
    with pytest.raises(DataError, match="'wet grass' has 1 missing value;"):
        network.predict("rain", {"wet grass": [None]}, missing="error")
    with pytest.raises(InvalidParameterError, match="threads must be a whole number"):
        network.predict("rain", {"wet grass": ["dry"]}, threads=0)


@pytest.mark.parametrize("as_data", [dict, pd.DataFrame, read])
@pytest.mark.parametrize("name", ["Smoke", "smoke ", "smoker", "somke", "s_moke"])
def test_a_misspelt_column_is_refused_with_what_was_meant(name, as_data):
    rows = as_data({name: ["yes", "no"], "tub": ["no", "yes"]})
    meant = f"column {name!r} is not in the network, which has a variable 'smoke'"
    for answer in ("predict", "predict_proba", "predict_log_proba"):
        with pytest.raises(DataError, match=meant):
            getattr(asia(), answer)("lung", rows)
    with pytest.raises(DataError, match=meant):
        asia().impute(rows)
    with pytest.raises(DataError, match=meant):
        asia().compile().posteriors(rows)


def test_rows_that_must_have_every_variable_say_what_was_meant():
    data = asia().sample(100, seed=1)
    frame = data.to_pandas().rename(columns={"smoke": "Smoke"})
    with pytest.raises(UnknownNameError, match=r"unknown column 'smoke'; .*did you mean 'Smoke'"):
        asia().log_loss(frame)
    with pytest.raises(DataError, match=r"column 'Smoke' is not .* a variable 'smoke'; rename"):
        asia().log_loss(read(frame))


def test_every_other_column_is_named_where_a_variable_has_none():
    rows = {"smoke": ["yes", "no"], "place": ["x", "y"], "smoking": ["1", "0"], "lung": ["a", "b"]}
    with pytest.warns(DataWarning, match=r"columns 'place', 'smoking' are not in the network"):
        shares = asia().predict_proba("lung", rows)
    assert (shares == asia().predict_proba("lung", {"smoke": rows["smoke"]})).all()
    with pytest.warns(DataWarning, match=r"did you mean 'xray' by 'xray img'\?"):
        asia().predict("lung", {"smoke": ["yes", "no"], "xray img": ["a", "b"]})


# Where every variable has its column, another cannot be a slip: an identifier, say.
def test_columns_beside_all_that_are_needed_are_ignored():
    data = asia().sample(20, seed=1)
    extra = {"Smoke": [str(i) for i in range(20)], **data.to_pandas()}
    assert (asia().predict("lung", extra) == asia().predict("lung", data)).all()


def test_digits_and_short_names_make_other_variables():
    network = naive_bayes(12, 2, 2)
    with pytest.warns(DataWarning, match=r"did you mean 'x011' by 'x013'\?"):
        network.predict("class", {"x001": ["0", "1"], "x013": ["0", "1"]})
