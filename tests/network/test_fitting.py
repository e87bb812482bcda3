"""Fitting a structure to data: every configuration, hand-worked tables, refusals."""

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestdag import FSNML, MLE, Dag, Dirichlet, Network, Variable, fit_network, read
from bestdag.data.dataset import Dataset
from bestdag.errors import (
    DataError,
    DataWarning,
    InvalidParameterError,
    NotEnoughMemoryError,
    UnknownNameError,
)
from bestdag.network.table import ConditionalTable
from tests.conftest import examples, make_dataset
from tests.scores.random_data import random_dataset

# Few rows and many states are what these tests are about.
pytestmark = pytest.mark.filterwarnings("ignore:fit. the network has .* parameters")

RAINY = read(
    {"rain": ["no", "yes", "yes", "yes"], "wet": ["no", "no", "yes", "yes"]},
    states={"rain": ("no", "yes", "snow")},
)
WET_GIVEN_RAIN = Dag(["wet", "rain"], [("rain", "wet")])


def test_tables_worked_out_by_hand():
    net = fit_network(WET_GIVEN_RAIN, RAINY, MLE())
    assert net.names == ("wet", "rain")  # the order of the nodes
    assert net.table("rain").values.tolist() == [1 / 4, 3 / 4, 0.0]
    # no: 1 of 1; yes: 1 and 2 of 3; snow was never seen.
    assert net.table("wet").rows.tolist() == [[1, 0], [1 / 3, 2 / 3], [1 / 2, 1 / 2]]


def test_declared_states_count():
    net = fit_network(WET_GIVEN_RAIN, RAINY, Dirichlet(pseudo_count=1))
    # (1 + 1) / 7, (3 + 1) / 7, (0 + 1) / 7
    assert net.table("rain").values.tolist() == pytest.approx([2 / 7, 4 / 7, 1 / 7])
    # BDeu: q = 3 configurations of 2 states, ess 6 gives 1 per cell: (1 + 1) / 3.
    bdeu = fit_network(WET_GIVEN_RAIN, RAINY, Dirichlet(ess=6))
    assert bdeu.table("wet").row(rain="no").tolist() == pytest.approx([2 / 3, 1 / 3])


def test_names_of_estimators_mean_their_defaults():
    for name, estimator in (("mle", MLE()), ("dirichlet", Dirichlet(ess=1)), ("fsnml", FSNML())):
        assert fit_network(WET_GIVEN_RAIN, RAINY, name) == fit_network(
            WET_GIVEN_RAIN, RAINY, estimator
        )
    assert fit_network(WET_GIVEN_RAIN, RAINY) == fit_network(WET_GIVEN_RAIN, RAINY, "fsnml")


@given(st.integers(0, 2**32), st.sampled_from([None, "whole", "real"]))
@settings(max_examples=examples(60))
def test_frequencies_by_brute_force(seed, weights):
    rng = np.random.default_rng(seed)
    data = random_dataset(rng, n_variables=4, weights=weights)
    names = rng.permutation(data.names).tolist()
    dag = Dag(names, [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]])
    weight = np.ones(data.n_rows) if data.weights is None else data.weights
    for table in fit_network(dag, data, "mle").tables:
        assert [p.name for p in table.parents] == sorted(dag.parents(table.child.name))
        for place in product(*(range(p.arity) for p in table.parents)):
            here = np.full(data.n_rows, True)
            for parent, code in zip(table.parents, place, strict=True):
                here &= data.codes(parent.name) == code
            codes = data.codes(table.child.name)[here]
            counts = np.bincount(codes, weight[here], table.child.arity)
            expected = counts / counts.sum() if counts.any() else 1 / table.child.arity
            assert table.values[place] == pytest.approx(expected, rel=1e-12)


def test_a_network_keeps_all_but_its_numbers():
    rain, wet = Variable("rain", ("no", "yes", "snow"), (0.5, 1.5)), Variable("wet", ("no", "yes"))
    old = Network(
        [
            ConditionalTable(wet, (rain,), [[0.5, 0.5]] * 3),
            ConditionalTable(rain, (), [0.2, 0.3, 0.5]),
        ],
        name="garden",
        properties=["author = me"],
        variable_properties={"wet": ["colour = blue"]},
    )
    new = fit_network(old, RAINY, "mle")
    plain = fit_network(WET_GIVEN_RAIN, RAINY, "mle")
    assert new.variables == old.variables
    assert new.variable("rain").cuts == (0.5, 1.5)
    assert (new.name, new.properties) == ("garden", ("author = me",))
    assert new.properties_of("wet") == ("colour = blue",)
    assert [t.values.tolist() for t in new.tables] == [t.values.tolist() for t in plain.tables]


def test_a_network_keeps_the_order_of_parents():
    data = make_dataset({"a": [0, 0, 1, 1], "b": [0, 1, 2, 2], "c": [0, 1, 0, 1]})
    a, b, c = data.variables
    loose = [ConditionalTable(v, (), [1 / v.arity] * v.arity) for v in (a, b)]
    old = Network([*loose, ConditionalTable(c, (b, a), np.full((3, 2, 2), 0.5))])
    table = fit_network(old, data, "mle").table("c")
    assert table.parents == (b, a)
    by_name = fit_network(old.dag, data, "mle").table("c")
    for i, j in product(range(3), range(2)):
        given = {"b": str(i), "a": str(j)}
        assert table.row(**given).tolist() == by_name.row(**given).tolist()
    assert table.row(a="0", b="1").tolist() == [0, 1]


def test_a_network_with_other_states_is_refused():
    old = Network([ConditionalTable(Variable("wet", ("yes", "no")), (), [0.5, 0.5])])
    with pytest.raises(DataError, match=r"fit: states of 'wet' are 'yes', 'no' in the network and"):
        fit_network(old, RAINY)


def test_takes_whatever_read_takes():
    rows = {"wet": ["no", "no", "yes"], "rain": ["no", "yes", "yes"], "id": list(range(3))}
    expected = fit_network(WET_GIVEN_RAIN, read(rows))
    assert fit_network(WET_GIVEN_RAIN, rows) == expected
    assert fit_network(WET_GIVEN_RAIN, pd.DataFrame(rows)) == expected
    # Columns that are no nodes are not read: this one has more than 50 states.
    many = {name: [*values] * 20 for name, values in rows.items()} | {"id": list(range(60))}
    assert fit_network(WET_GIVEN_RAIN, many).names == WET_GIVEN_RAIN.nodes


def test_a_network_gives_its_states_to_a_table():
    old = Network([ConditionalTable(Variable("wet", ("yes", "no", "damp")), (), [0.5, 0.25, 0.25])])
    new = fit_network(old, {"wet": ["no", "yes", "no", "no"], "other": [1, 2, 3, 4]}, "mle")
    assert new.table("wet").values.tolist() == [0.25, 0.75, 0.0]


def test_other_columns_do_not_matter():
    data = read({"a": ["x", "y", "y"], "b": ["x", "y", None], "c": ["x", "y", "y"]}, missing="keep")
    net = fit_network(Dag(["c", "a"], [("c", "a")]), data, "mle")
    assert net.table("a").values.tolist() == [[1, 0], [0, 1]]


def test_wide_tables_with_few_rows_seen():
    columns = {f"p{i:02}": [0, 1, 0] for i in range(16)} | {"child": [0, 1, 0]}
    dag = Dag(columns, [(p, "child") for p in columns if p != "child"])
    table = fit_network(dag, make_dataset(columns), "fsnml").table("child")
    assert table.n_configurations == 2**16
    # All zeros was seen twice with 0: 27/4 to 1. All ones once with 1: 1 to 4.
    assert table.rows[0].tolist() == pytest.approx([27 / 31, 4 / 31])
    assert table.rows[-1].tolist() == [0.2, 0.8]
    assert (table.rows[1:-1] == 0.5).all()


class Extreme:
    """An estimator of one's own."""

    name = "extreme"

    def rows(self, counts):
        return np.eye(counts.arity)[counts.table.argmax(axis=1)]


def test_an_estimator_of_ones_own():
    net = fit_network(WET_GIVEN_RAIN, RAINY, Extreme())
    assert net.table("wet").rows.tolist() == [[1, 0], [0, 1], [1, 0]]


def test_an_estimator_that_does_not_keep_its_word():
    class Wrong(Extreme):
        def rows(self, counts):
            return np.ones((1, counts.arity))

    with pytest.raises(InvalidParameterError, match=r"extreme must give 'wet' rows of the shape"):
        fit_network(WET_GIVEN_RAIN, RAINY, Wrong())


def test_missing_cells_are_refused():
    data = read({"a": ["x", None, "y"], "b": ["x", "x", "y"]}, missing="keep")
    with pytest.raises(DataError, match=r"values are missing in 'a' \(1\); read the table with"):
        fit_network(Dag(["a", "b"]), data)


def test_a_table_that_does_not_fit_is_refused_with_numbers():
    columns = {f"p{i:02}": [0, 9] for i in range(20)} | {"child": [0, 1]}
    dag = Dag(columns, [(p, "child") for p in columns if p != "child"])
    with pytest.raises(
        NotEnoughMemoryError,
        match=r"^fit: the table of 'child' given 20 parents, 1e\+20 configurations times 2 states, "
        r"needs .* PiB, .* are available; use fewer parents$",
    ):
        fit_network(dag, make_dataset(columns), Extreme())  # may tell all of them apart


# k binary parents of a binary child on two rows: k + 2^k parameters, 20 of which are not yet many.
def test_many_more_parameters_than_rows_are_warned_of():
    columns = {f"p{i}": [0, 1] for i in range(5)} | {"child": [0, 1]}

    def fit(n_parents):
        arcs = [(f"p{i}", "child") for i in range(n_parents)]
        used = {name for arc in arcs for name in arc}
        return fit_network(Dag(sorted(used), arcs), make_dataset(columns))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fit(4).n_parameters == 20
    with pytest.warns(
        DataWarning,
        match="^fit: the network has 37 parameters, more than 10 times the 2 rows, 32 of them in "
        "the table of 'child'; learn with a score that charges more for parameters",
    ) as caught:
        fit(5)
    assert caught[0].filename == __file__


def test_tables_that_do_not_fit_together_are_refused(monkeypatch):
    monkeypatch.setattr("bestdag.machine.available_memory", lambda: 100_000)
    columns = {f"p{i:02}": [0, 1] for i in range(40)}
    names = list(columns)
    parents = {n: names[max(0, i - 8) : i] for i, n in enumerate(names)}
    alone = Dag.from_parents({n: [] for n in names} | {"p08": parents["p08"]})
    fit_network(alone, make_dataset(columns))
    with pytest.raises(NotEnoughMemoryError, match="256 configurations times 2 states"):
        fit_network(Dag.from_parents(parents), make_dataset(columns))


def test_more_parents_than_an_array_has_axes():
    names = [f"p{i:02}" for i in range(70)]
    one = [Variable(n, ("only",)) for n in names]
    data = Dataset([*one, Variable("x", ("0", "1"))], [np.zeros(2, int)] * 70 + [np.arange(2)])
    dag = Dag([*names, "x"], [(n, "x") for n in names])
    table = fit_network(dag, data, "mle").table("x")
    assert table.row(**dict.fromkeys(names, "only")).tolist() == [0.5, 0.5]
    with pytest.raises(DataError, match=r"an array can have \d+ parents, the table has 70"):
        table.values  # noqa: B018
    with pytest.raises(DataError, match=r"every configuration can have \d+ parents, 'x' has 70"):
        fit_network(dag, data, Extreme())


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((Dag(["rian"]), RAINY), UnknownNameError, "fit: unknown column 'rian'.*'rain'"),
        ((Dag([]), RAINY), DataError, "at least one node"),
        ((WET_GIVEN_RAIN, "no.csv"), DataError, r"no\.csv"),
        ((WET_GIVEN_RAIN, 5), DataError, "read: "),
        ((WET_GIVEN_RAIN, {"rain": ["no"]}), UnknownNameError, "unknown column 'wet'"),
        (("net.bif", RAINY), InvalidParameterError, "a Dag or a Network is needed, got str"),
        ((WET_GIVEN_RAIN, RAINY, "mlee"), UnknownNameError, "did you mean 'mle'"),
        ((WET_GIVEN_RAIN, RAINY, MLE), InvalidParameterError, "an estimator has a name and rows"),
        ((WET_GIVEN_RAIN, RAINY, None), InvalidParameterError, "got None"),
    ],
)
def test_refusals(arguments, error, message):
    with pytest.raises(error, match=message):
        fit_network(*arguments)
