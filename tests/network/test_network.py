"""Networks as values: what they hold, refuse, and how they show themselves."""

import pickle

import numpy as np
import pytest

from bestdag.data.schema import Variable
from bestdag.errors import CycleError, DataError, UnknownNameError
from bestdag.network.network import Network
from bestdag.network.table import ConditionalTable
from tests.network.examples import RAIN, WET, small_network

RAIN_TABLE, WET_TABLE = small_network().tables


def test_holds_its_parts_in_the_order_of_the_tables():
    network = Network([WET_TABLE, RAIN_TABLE])
    assert network.names == ("wet grass", "rain")
    assert network.variables == (WET, RAIN)
    assert network.tables == (WET_TABLE, RAIN_TABLE)
    assert network.dag.arcs == (("rain", "wet grass"),)
    assert network.dag.nodes == ("wet grass", "rain")
    assert dict(network.arities) == {"wet grass": 3, "rain": 2}
    assert network.n_parameters == 1 + 2 * 2
    assert network.table("rain") is RAIN_TABLE
    assert network.variable("rain") == RAIN
    assert network.name == "unknown"


def test_properties():
    network = small_network()
    assert network.properties == ("author = me",)
    assert network.properties_of("rain") == ("position = (7, 9)",)
    assert network.properties_of("wet grass") == ()


def test_equal_means_all_is_equal():
    network = small_network()
    assert network == small_network()
    assert hash(network) == hash(small_network())
    assert pickle.loads(pickle.dumps(network)) == network
    assert network != Network([RAIN_TABLE, WET_TABLE])  # no properties
    assert Network([RAIN_TABLE, WET_TABLE]) != Network([WET_TABLE, RAIN_TABLE])
    assert Network([RAIN_TABLE]) == Network([RAIN_TABLE], name="other")  # a label, as of a file
    moved = ConditionalTable(RAIN, (), [np.nextafter(0.8, 1), 0.2])
    assert Network([moved]) != Network([RAIN_TABLE])
    assert network != "network"


def test_refuses_parts_that_do_not_fit():
    with pytest.raises(DataError, match="at least one table is needed, got none"):
        Network([])
    with pytest.raises(DataError, match="variable 'rain' has two tables"):
        Network([RAIN_TABLE, RAIN_TABLE])
    with pytest.raises(DataError, match="'rain', a parent of 'wet grass', has no table"):
        Network([WET_TABLE])
    other = ConditionalTable(Variable("rain", ("yes", "no")), (), [0.2, 0.8])
    with pytest.raises(
        DataError, match=r"states of 'rain' are \('yes', 'no'\) in its own table and"
    ):
        Network([other, WET_TABLE])
    with pytest.raises(DataError, match="a property must be text, got 3"):
        Network([RAIN_TABLE], properties=[3])
    with pytest.raises(UnknownNameError, match=r"unknown variable 'rian'.*did you mean 'rain'"):
        Network([RAIN_TABLE], variable_properties={"rian": ["x"]})


def test_refuses_a_cycle():
    back = ConditionalTable(RAIN, (WET,), np.full((3, 2), 0.5))
    with pytest.raises(CycleError, match="closes a cycle"):
        Network([back, WET_TABLE])


def test_unknown_names_get_a_suggestion():
    for ask in (small_network().table, small_network().variable, small_network().properties_of):
        with pytest.raises(UnknownNameError, match=r"unknown variable 'rian'.*mean 'rain'"):
            ask("rian")


def test_shows_itself():
    network = small_network()
    assert repr(network) == "<Network 'small one': 2 variables, 1 arc, 5 parameters>"
    state = Variable("<b>", ("a&b", "c"))
    shown = Network([ConditionalTable(state, (), [0.5, 0.5])], name="<i>")._repr_html_()
    assert ">&lt;b&gt;</th>" in shown
    assert ">a&amp;b, c</td>" in shown
    assert "<i>" not in shown


def test_long_networks_show_a_part():
    variables = [Variable(f"v{i}", tuple(map(str, range(12)))) for i in range(40)]
    network = Network([ConditionalTable(v, (), np.full(12, 1 / 12)) for v in variables])
    shown = network._repr_html_().partition("<table>")[2]  # the picture before it has them all
    assert "v29" in shown
    assert "v30" not in shown
    assert "8, 9, ...<" in shown


def test_graph_exports():
    networkx = pytest.importorskip("networkx")
    graph = small_network().to_networkx()
    assert isinstance(graph, networkx.DiGraph)
    assert list(graph.edges) == [("rain", "wet grass")]
    assert "wet grass" in small_network().to_dot()


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        (None, "Network: a list of tables is needed, got None"),
        ([None], "Network: each table must be a ConditionalTable, got None"),
        (["rain"], "Network: each table must be a ConditionalTable, got 'rain'"),
    ],
)
def test_refuses_what_is_no_table(tables, message):
    with pytest.raises(DataError, match=message):
        Network(tables)


def test_prints_every_table_with_its_numbers():
    shown = str(small_network()).split("\n\n")
    assert shown[0] == "small one: 2 variables, 1 arc, 5 parameters"
    assert [part.splitlines()[0] for part in shown[1:]] == ["P(rain)", "P(wet grass | rain)"]
    assert shown[2].splitlines()[3].split() == ["yes", "0", "0.25", "0.75"]


def test_prints_a_large_network_in_part():
    states = tuple(map(str, range(20)))
    tables = [ConditionalTable(Variable("v0", states), (), [0.05] * 20)]
    for i in range(1, 40):
        parent = tables[-1].child
        tables.append(ConditionalTable(Variable(f"v{i}", states), (parent,), np.eye(20)))
    text = str(Network(tables))
    assert text.endswith("\n\n... and 10 more variables")
    assert "  ... and 8 more rows" in text
    assert len(text.splitlines()) < 600
