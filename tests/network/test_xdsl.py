"""XDSL: as GeNIe, SMILE and pyAgrum write, and what is refused."""

import pytest

from bestdag.errors import DataWarning, FormatError
from bestdag.network import xdsl
from tests.network.examples import asia, small_network

GENIE = """<?xml version="1.0" encoding="UTF-8"?>
<smile version="1.0" id="grass" numsamples="10000" discsamples="10000">
  <nodes>
    <cpt id="rain" target="true">
      <state id="no" /><state id="yes" fault="true" />
      <probabilities>0.8 0.2</probabilities>
      <property id="source">a guess</property>
    </cpt>
    <cpt id="wind">
      <state id="calm" /><state id="storm" /><state id="gale" />
      <probabilities>0.5 0.25 0.25</probabilities>
    </cpt>
    <cpt id="wet">
      <state id="dry" /><state id="wet" />
      <parents>rain wind</parents>
      <probabilities>0.9 0.1 0.8 0.2 0.7 0.3 0 1 0.25 0.75 0.1 0.9</probabilities>
    </cpt>
    <deterministic id="same">
      <state id="no" /><state id="yes" />
      <parents>rain wind</parents>
      <resultingstates>no no no yes yes no</resultingstates>
    </deterministic>
  </nodes>
  <extensions>
    <genie version="1.0" app="GeNIe 2.0" name="grass" faultnameformat="nodestate">
      <node id="rain"><name>Does it rain?</name><position>1 2 3 4</position></node>
    </genie>
  </extensions>
</smile>
"""


def parse(text):
    return xdsl.parse(text.encode(), "x.xdsl")


def test_the_last_parent_runs_fastest():
    network = parse(GENIE)
    assert network.name == "grass"
    assert network.names == ("rain", "wind", "wet", "same")
    assert network.table("wet").row(rain="no", wind="gale").tolist() == [0.7, 0.3]
    assert network.table("wet").row(rain="yes", wind="calm").tolist() == [0.0, 1.0]
    assert network.properties_of("rain") == ("source = a guess",)


def test_a_deterministic_node_becomes_zeros_and_ones():
    same = parse(GENIE).table("same")
    assert same.rows[:, 1].tolist() == [0, 0, 0, 1, 1, 0]
    assert same.rows[:, 0].tolist() == [1, 1, 1, 0, 0, 1]


def test_files_of_pyagrum_have_the_first_parent_fastest():
    with pytest.warns(DataWarning, match="by pyAgrum"):
        network = parse(GENIE.replace("GeNIe 2.0", "aGrUM 3.3.1"))
    # (rain, wind) in their order: no calm, yes calm, no storm, ...
    assert network.table("wet").row(rain="yes", wind="calm").tolist() == [0.8, 0.2]
    assert network.table("wet").row(rain="no", wind="storm").tolist() == [0.7, 0.3]
    assert network.table("same").row(rain="yes", wind="storm").tolist() == [0.0, 1.0]


def test_parents_come_before_children_in_the_file():
    network = asia()
    turned = type(network)(network.tables[::-1], name="asia")
    text = xdsl.render(turned).decode()
    places = [text.index(f'<cpt id="{name}"') for name in turned.dag.topological_order()]
    assert places == sorted(places)
    assert parse(text) == turned


def test_text_of_the_small_network():
    assert xdsl.render(small_network()).decode() == (
        '<?xml version="1.0" encoding="UTF-8"?>\n<smile version="1.0" id="small_one">\n'
        '  <property id="bestdag_name">&quot;small one&quot;</property>\n'
        '  <property id="author">me</property>\n  <nodes>\n'
        '    <cpt id="rain">\n      <state id="no" />\n      <state id="yes" />\n'
        "      <probabilities>0.8 0.2</probabilities>\n"
        '      <property id="position">(7, 9)</property>\n    </cpt>\n'
        '    <cpt id="wet_grass">\n      <state id="dry" />\n      <state id="damp" />\n'
        '      <state id="soaking_wet" />\n      <parents>rain</parents>\n'
        "      <probabilities>1.0 0.0 0.0 0.0 0.25 0.75</probabilities>\n"
        '      <property id="bestdag_name">&quot;wet grass&quot;</property>\n'
        '      <property id="bestdag_states">&quot;dry&quot;, &quot;damp&quot;, '
        "&quot;soaking wet&quot;</property>\n    </cpt>\n  </nodes>\n</smile>\n"
    )


@pytest.mark.parametrize("kind", ["equation", "noisymax", "decision", "utility", "mau", "other"])
def test_other_nodes_are_refused_by_name(kind):
    text = GENIE.replace('<cpt id="wind">', f'<{kind} id="wind">', 1)
    with pytest.raises(FormatError, match=r"^x\.xdsl:9:5: node 'wind' is an? "):
        parse(text)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<smile", "<simile", "2:1: expected <smile>, got <simile>"),
        ("  <nodes>", "  <dynamic numslices='3'/><nodes>", "3:3: a temporal network; unroll"),
        ('<cpt id="wind">', "<cpt>", "9:5: <cpt> needs an id"),
        ('<cpt id="wind">', '<cpt id="rain">', "9:5: variable 'rain' is declared twice"),
        ('<state id="calm" />', "<state />", "10:7: <state> needs an id"),
        ("rain wind<", "rain wnd<", "15:7: variable 'wnd' is not declared"),
        (
            "<parents>rain wind</parents>",
            "",
            "13:5: values of 'wet': 2 numbers needed here, got 12",
        ),
        ("0.8 0.2<", "0.8 0.3<", "4:5: values of 'rain' must sum to 1"),
        ("<probabilities>0.8 0.2</probabilities>", "", "4:5: node 'rain' has no <probabilities>"),
        ("no no no", "no no maybe", "18:5: unknown state of 'same' 'maybe'; known: no, yes"),
        ('id="source"', 'id="bestdag_states"', "7:7: expected texts in quotes"),
        ("</smile>", "", "30:1: not valid XML: no element found"),
    ],
)
def test_mistakes(old, new, message):
    assert old in GENIE
    with pytest.raises(FormatError, match=r"^x\.xdsl:" + message):
        parse(GENIE.replace(old, new, 1))


def test_a_wrong_order_is_refused():
    text = GENIE.replace("  <nodes>", '<property id="bestdag_order">0, 1, 1</property><nodes>')
    with pytest.raises(FormatError, match=r"3:1: bestdag_order must list the numbers"):
        parse(text)


def test_nesting_is_limited():
    with pytest.raises(FormatError, match=r"^x\.xdsl:1:110: elements are nested deeper than 32"):
        parse("<smile><extensions>" + "<a>" * 100_000)
