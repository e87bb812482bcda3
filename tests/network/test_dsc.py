"""DSC: as bnlearn and Microsoft's tools write, and what is refused."""

import pytest

from bestdag.errors import FormatError
from bestdag.network import dsc
from tests.network.examples import small_network

MSBN = """// a comment
belief network "grass"
properties { version = 1.0; creator : "somebody"; }
node rain
{
    name: "Does it rain?";
    type: discrete[2] = { "no", "yes" };
    position: (120, 30);
}
node wind { type : discrete [ 3 ] = { "calm" "storm" "gale" }; }
node wet { type : discrete [ 2 ] = { dry, wet }; } /* another
comment */
probability(rain) { 0.8, 0.2; }
probability ( wind ) { 0.5 0.25 0.25; }
probability(wet | rain, wind)
{
    (0, 0) : 0.9, 0.1;  // rain=no
    (0, 1) : 0.8, 0.2;
    (1, 2) : 0.25, 0.75;
    default : 0.5, 0.5;
}
"""


def parse(text):
    return dsc.parse(text.encode(), "x.dsc")


def test_configurations_are_numbers_of_states():
    network = parse(MSBN)
    assert network.name == "grass"
    wet = network.table("wet")
    assert wet.row(rain="no", wind="storm").tolist() == [0.8, 0.2]
    assert wet.row(rain="yes", wind="gale").tolist() == [0.25, 0.75]
    assert wet.row(rain="yes", wind="calm").tolist() == [0.5, 0.5]


def test_items_become_properties_and_come_back():
    network = parse(MSBN)
    assert network.properties == ("version = 1.0", 'creator : "somebody"')
    assert network.properties_of("rain") == ('name = "Does it rain?"', "position = (120, 30)")
    assert parse(dsc.render(network).decode()) == network


def test_all_rows_in_one_list():
    rows = "probability ( wet | rain ) { 0.9, 0.1, 0.3, 0.7; }"
    text = MSBN.partition("probability(wet")[0] + rows
    assert parse(text).table("wet").row(rain="yes").tolist() == [0.3, 0.7]


def test_text_of_the_small_network():
    assert dsc.render(small_network()).decode() == (
        'belief network "unknown"\n// bestdag-name = "small one"\n'
        '// bestdag-property = "author = me"\n'
        'node rain {\n  type : discrete [ 2 ] = { "no", "yes" };\n'
        '  // bestdag-property = "position = \\u00287, 9\\u0029"\n}\n'
        'node wet_grass {\n  type : discrete [ 3 ] = { "dry", "damp", "soaking_wet" };\n'
        '  // bestdag-name = "wet grass"\n'
        '  // bestdag-states = "dry", "damp", "soaking wet"\n}\n'
        "probability ( rain ) {\n  0.8, 0.2;\n}\n"
        "probability ( wet_grass | rain ) {\n  (0) : 1.0, 0.0, 0.0;\n  (1) : 0.0, 0.25, 0.75;\n}\n"
    )


TWO = (
    'belief network "n"\nnode a { type : discrete [ 2 ] = { "x", "y" }; }\n'
    'node b { type : discrete [ 2 ] = { "x", "y" }; }\n'
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1:1: expected 'belief', got the end of the file"),
        ('belief network "n"', "1:19: expected 'node', got the end of the file"),
        (TWO + "utility c {}", "4:1: expected 'node' or 'probability', got 'utility'"),
        (TWO + "node c { }", "4:10: expected 'type', got '}'"),
        (TWO + "node c { type : continuous; }", "4:17: expected 'discrete', got 'continuous'"),
        (TWO + 'node c { type : discrete [ 3 ] = { "x" }; }', "4:28: node 'c' announces 3 states"),
        (TWO + "probability ( c ) {}", "4:15: variable 'c' is not declared"),
        (TWO + "probability ( a | b ) { (0) : 1, 0; }", "4:15: variable 'a' has no values for b=y"),
        (TWO + "probability ( a | b ) { (2) : 1, 0; }", "4:26: unknown state of 'b' '2'; known: 0"),
        (TWO + "probability ( a | b ) { (x) : 1, 0; }", "4:26: unknown state of 'b' 'x'; known: 0"),
        (TWO + "probability ( a | b ) { (0) 1, 0; }", "4:29: expected ':', got '1'"),
        (TWO + "probability ( a ) { 0.5, 0.6; }", "4:21: values of 'a' must sum to 1"),
        (TWO + "probability ( a ) { 1, 0", "4:25: expected ',' or ';', got the end of the file"),
    ],
)
def test_mistakes(text, message):
    with pytest.raises(FormatError, match=r"^x\.dsc:" + message):
        parse(text)
