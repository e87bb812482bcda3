"""NET: both dialects of HUGIN, what other programs write, and what is refused."""

import pytest

from bestdag.errors import FormatError
from bestdag.network import net
from bestdag.network.network import Network
from tests.network.examples import asia, small_network

# As HUGIN writes: fields everywhere, comments in the data.
HUGIN = """% a comment with ; and {
net
{
    node_size = (80 40);
    name = "wet grass";
}
node rain
{
    label = "Does it; rain?";
    position = (120 -30);
    states = ("no" "yes");
    HR_Desc = "";
}
discrete node wind { states = ("calm" "storm" "gale"); }
node wet { states = (dry wet); }
potential (rain) { data = ( 0.8 0.2 ); }
potential (wind | ) { data = (0.5 0.25 0.25); }
potential (wet | rain wind)
{
    data = ((( 0.9  0.1 )    % rain=no wind=calm;
             ( 0.8  0.2 )
             ( 0.7  0.3 ))
            (( 0.0  1.0 )
             ( .25 .75 )
             ( 1e-1 9e-1 )));
}
"""


def parse(text):
    return net.parse(text.encode(), "x.net")


def test_the_last_parent_runs_fastest():
    network = parse(HUGIN)
    assert network.name == "wet grass"
    assert network.names == ("rain", "wind", "wet")
    assert network.table("wind").child.states == ("calm", "storm", "gale")
    assert network.table("wet").row(rain="no", wind="gale").tolist() == [0.7, 0.3]
    assert network.table("wet").row(rain="yes", wind="calm").tolist() == [0.0, 1.0]


def test_fields_become_properties_and_come_back():
    network = parse(HUGIN)
    assert network.properties == ("node_size = (80 40)",)
    assert network.properties_of("rain") == (
        'label = "Does it; rain?"',
        "position = (120 -30)",
        'HR_Desc = ""',
    )
    text = net.render(network).decode()
    assert '  label = "Does it; rain?";\n' in text
    assert "  position = (120 -30);\n" in text
    assert parse(text) == network


def test_the_class_dialect():
    frame = "class wet_grass\n{\n  inputs = ();\n  outputs = ();\n  node_size = (80 40);\n"
    inside = HUGIN.partition("}\n")[2]
    network, plain = parse(frame + inside + "}\n"), parse(HUGIN)
    assert network.tables == plain.tables
    assert network.name == "wet_grass"
    assert network.properties == ("inputs = ()", "outputs = ()", "node_size = (80 40)")


def test_inner_parentheses_may_be_left_out():
    flat = HUGIN.replace("(((", "(").replace(")))", ")")
    for row in ("( 0.8  0.2 )", "( 0.7  0.3 ))", "(( 0.0  1.0 )", "( .25 .75 )"):
        flat = flat.replace(row, row.replace("(", "").replace(")", ""))
    flat = flat.replace("0.1 )    %", "0.1 %").replace("( 1e-1", "1e-1")
    assert parse(flat).tables == parse(HUGIN).tables


def test_text_of_the_small_network():
    assert net.render(small_network()).decode() == (
        'net\n{\n  % bestdag-name = "small one"\n  % bestdag-property = "author = me"\n}\n'
        'node rain\n{\n  states = ("no" "yes");\n'
        '  % bestdag-property = "position = \\u00287, 9\\u0029"\n}\n'
        'node wet_grass\n{\n  states = ("dry" "damp" "soaking_wet");\n'
        '  % bestdag-name = "wet grass"\n'
        '  % bestdag-states = "dry", "damp", "soaking wet"\n}\n'
        "potential ( rain )\n{\n  data =\n    (0.8 0.2);\n}\n"
        "potential ( wet_grass | rain )\n{\n  data =\n"
        "    ((1.0 0.0 0.0)\n    (0.0 0.25 0.75));\n}\n"
    )


def test_parentheses_follow_the_parents():
    text = net.render(asia()).decode()
    assert "    (((0.9 0.1)\n    (0.3 0.7))\n    ((0.2 0.8)\n    (0.1 0.9)));\n" in text


def test_a_file_without_a_frame_or_a_name():
    network = parse('node a { states = ("x"); } potential (a) { data = (1); }')
    assert network == Network(network.tables)


TWO = 'net {}\nnode a { states = ("x" "y"); }\nnode b { states = ("x" "y"); }\n'
ROOT = "potential (a) { data = (1 0); }\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1:1: expected 'net', 'class' or 'node', got the end of the file"),
        ("net {}", "1:7: expected 'node', got the end of the file"),
        ("net { x }", "1:9: expected '=', got '}'"),
        ("net { x = 1 }", "1:14: expected ';' after a field, got the end of the file"),
        (TWO + "utility u { }", "4:1: utility node 'u': utilities have no probabilities"),
        (TWO + "decision d { }", "4:1: decision node 'd': decisions have no"),
        (TWO + "continuous node c { }", "4:1: continuous node 'c': every variable must be"),
        (TWO + "function f { }", "4:1: function node 'f'"),
        ("class c { instance i : other () {} }", "1:11: instance node 'i': instances of"),
        (TWO + "other b { }", "4:1: expected 'node' or 'potential', got 'other'"),
        (TWO + "node a { }", "4:6: variable 'a' is declared twice"),
        ("net {} node a { }", "1:17: expected the states of 'a', got '}'"),
        ('net {} node a { states = ("x" "x"); }', "1:13: variable 'a': state 'x' is listed twice"),
        ("net {} node a { states = (); }", "1:13: variable 'a': between 1 and 65,535 states"),
        (TWO + ROOT, "3:6: variable 'b' has no potential in this file"),
        (TWO + ROOT + ROOT, "5:12: variable 'a' has two potentials"),
        (TWO + "potential (a b) {}", "4:14: expected '|' or '\\)' \\(a potential has one"),
        (TWO + "potential (a | c) {}", "4:16: variable 'c' is not declared"),
        (TWO + "potential (a | b b) {}", "4:18: 'b' is listed twice in one potential"),
        (TWO + "potential (a) {}", "4:12: potential of 'a' has no data"),
        (
            TWO + "potential (a) { data = (1); }",
            "4:24: values of 'a': 2 numbers needed here, got 1",
        ),
        (TWO + "potential (a) { data = (1 x); }", "4:27: expected a number, got 'x'"),
        (TWO + "potential (a) { data = (1 nan); }", "4:27: expected a number, got 'nan'"),
        (TWO + "potential (a) { data = (1-0); }", "4:25: expected a number, got '1-0'"),
        (TWO + "potential (a) { data = (0.5 0.6); }", "4:24: values of 'a' must sum to 1"),
        (TWO + "potential (a) { data = 1 0; }", "4:27: expected '\\(' before the numbers"),
        (TWO + "potential (a) { data = (1 0; }", "4:28: expected '\\)', got ';'"),
        (TWO + "potential (a) { data = (1 0)); }", "4:29: unexpected '\\)'"),
        (TWO + "potential (a) { data = (1)(0); }", "4:27: expected ';', got '\\('"),
        (
            TWO + "potential (a | b) { data = ((1 0 1)(0)); }",
            "4:35: a group of 3 numbers ends here that is no block of the table",
        ),
        (TWO + "potential (a) { model_data = (); }", "4:17: potential of 'a': a table made by"),
        (
            TWO + "potential (a | b) { data = (1 0 1 0); } potential (b | a) { data = (1 0 1 0); }",
            "4:52: .*cycle",
        ),
    ],
)
def test_mistakes(text, message):
    with pytest.raises(FormatError, match=r"^x\.net:" + message):
        parse(text)
