"""Reading BIF: the dialects of the field, the published collection, every kind of mistake."""

import tomllib

import numpy as np
import pytest

from bestdag.errors import FormatError, NotEnoughMemoryError
from bestdag.network import bif
from bestdag.network.network import Network
from tests.network.examples import SMALL, small_network
from tests.shared_data import shared_file

COLLECTION = [
    *("alarm", "andes", "asia", "barley", "cancer", "child", "diabetes", "earthquake"),
    *("hailfinder", "insurance", "link", "mildew", "munin1", "pathfinder", "pigs", "sachs"),
    *("survey", "water"),
]


def parse(text):
    return bif.parse(text.encode(), "x.bif")


def two_states(*blocks):
    """A file with variables a and b (states no, yes) and these blocks."""
    lines = ["network n { }"]
    lines += [f"variable {v} {{ type discrete [ 2 ] {{ no, yes }}; }}" for v in "ab"]
    return "\n".join([*lines, *blocks])


ROOT_A = "probability ( a ) { table 0.5, 0.5; }"
ROOT_B = "probability ( b ) { table 0.5, 0.5; }"


def test_small_file():
    assert parse(SMALL) == small_network()


def test_windows_line_ends_and_byte_order_mark():
    assert bif.parse(b"\xef\xbb\xbf" + SMALL.replace("\n", "\r\n").encode()) == small_network()


@pytest.mark.parametrize("name", COLLECTION)
def test_published_collection(name):
    index = tomllib.loads(shared_file("networks/index.toml").read_text())["network"]
    network = Network.load(shared_file("networks/" + index[name]["file"]))
    assert len(network.names) == index[name]["nodes"]
    assert len(network.dag.arcs) == index[name]["arcs"]
    assert network.n_parameters == index[name]["parameters"]
    zeros = sum(int((table.values == 0).sum()) for table in network.tables)
    assert zeros == index[name]["zero_cells"]
    assert bif.parse(bif.render(network), name) == network


def test_javabayes_style():
    # Blanks for commas, no bar, quoted names; the table lists the child slowest:
    # P(light | family): 0.6 0.05 for the first state, 0.4 0.95 for the second.
    network = parse("""
        network "Dog-Problem" { //5 variables
        }
        variable "light-on" { //2 values
            type discrete[2] {  "true"  "false" };
            property "position = (218, 195)" ;
        }
        variable "family-out" { type discrete[2] { "true" "false" }; }
        probability ( "light-on" "family-out" ) { //2 variable(s) and 4 values
            table
                0.6 0.05
                0.4 0.95 ;
        }
        probability ( "family-out" ) { table 0.15 0.85 ; }
    """)
    table = network.table("light-on")
    assert table.row(**{"family-out": "true"}).tolist() == [0.6, 0.4]
    assert table.row(**{"family-out": "false"}).tolist() == [0.05, 0.95]
    assert network.properties_of("light-on") == ("position = (218, 195)",)


def test_names_and_numbers_of_the_field():
    network = parse("""network {}
        variable X-1.y { type discrete [ 6 ] { Asy/Patch, <5, 12+, >=7.5, Transp., 3 }; }
        probability (X-1.y) { table 1e-1, 2.E-1, .2, +0.1, 00.1, 3e-01; }
    """)
    assert network.name == ""
    assert network.variables[0].states == ("Asy/Patch", "<5", "12+", ">=7.5", "Transp.", "3")
    assert network.tables[0].values.tolist() == [0.1, 0.2, 0.2, 0.1, 0.1, 0.3]


def test_numbers_are_read_to_the_last_bit():
    numbers = ["0.1000000000000000055511151231257827", "0.30000000000000004", "0.6"]
    text = "network n {} variable a { type discrete [3] {x,y,z}; } probability (a) { table %s; }"
    for separator in (", ", " ", ",\n", " /* , */ , "):
        values = parse(text % separator.join(numbers)).tables[0].values
        assert values.tolist() == [float(number) for number in numbers]


def test_comments_and_quotes_inside_rows():
    network = parse(
        two_states(
            ROOT_A,
            """probability ( b | a ) {
                ( /* ) */ "no" ) 0.25, // ; not yet
                    0.75;
                (yes // )
                ) /* ; */ 1, 0; property of "the; table"; }""",
        )
    )
    assert network.table("b").values.tolist() == [[0.25, 0.75], [1, 0]]
    assert network.properties_of("b") == ('of "the; table"',)


def test_parents_keep_their_order_and_rows_may_come_in_any():
    text = """network n {}
        variable z { type discrete [2] {0, 1}; } variable a { type discrete [3] {p, q, r}; }
        variable c { type discrete [2] {0, 1}; }
        probability (z) { table 0.5, 0.5; } probability (a) { table 0.2, 0.3, 0.5; }
        probability (c | z, a) {
          (1, r) 0.6, 0.4; (0, p) 0.1, 0.9; (1, p) 0.4, 0.6;
          (0, q) 0.2, 0.8; (0, r) 0.3, 0.7; (1, q) 0.5, 0.5; }"""
    table = parse(text).table("c")
    assert [parent.name for parent in table.parents] == ["z", "a"]
    assert table.rows[:, 0].tolist() == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]


def test_states_that_only_differ_in_quoting_are_told_apart():
    network = parse(
        r"""network n {} variable a { type discrete [ 3 ] { x, "\"x\"", "x//y" }; }
        variable b { type discrete [ 2 ] { no, yes }; } probability (a) { table 1, 0, 0; }
        probability (b | a) { ("\"x\"") 0, 1; ("x") 1, 0; ("x//y") 0.5, 0.5; }"""
    )
    assert network.variables[0].states == ("x", '"x"', "x//y")
    assert network.table("b").values.tolist() == [[1, 0], [0, 1], [0.5, 0.5]]


def test_every_truncation_is_an_error_with_line_and_column():
    data = SMALL.rstrip("\n").encode()
    for size in range(len(data)):
        with pytest.raises(FormatError, match=r"^x\.bif:\d+:\d+: \S") as caught:
            bif.parse(data[:size], "x.bif")
        assert "\n" not in str(caught.value)
    assert bif.parse(data, "x.bif") == small_network()


def test_every_truncation_inside_unusual_names():
    data = 'network "a\\u0041é😀\\"" {} variable "x\\\\" { type discrete [1] {"\\n"}; } '
    data += 'probability ("x\\\\") {table 1;}'
    encoded = data.encode()
    for size in range(len(encoded)):
        with pytest.raises(FormatError, match=r"^x\.bif:1:\d+: "):
            bif.parse(encoded[:size], "x.bif")
    assert bif.parse(encoded).name == 'aAé😀"'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1:1: expected 'network', got the end of the file"),
        ("\x00", r"1:1: unexpected character '\\x00'"),
        ("variable a { }", "1:1: expected 'network', got 'variable'"),
        ("network n { }", "1:14: expected 'variable', got the end of the file"),
        ("network n { what; }", "1:13: expected 'property' or '}', got 'what'"),
        ("network n { property x }", "1:25: expected ';' after a property, got the end"),
        (two_states(ROOT_A), "3:10: variable 'b' has no probability block"),
        (two_states(ROOT_A, ROOT_B, "garbage"), "6:1: expected 'variable' or 'probability', got"),
        (two_states(ROOT_A, ROOT_B, "}"), "6:1: expected 'variable' or 'probability', got '}'"),
        (two_states(ROOT_A, ROOT_A), "5:15: variable 'a' has two probability blocks"),
        (two_states("variable b { }"), "4:10: variable 'b' is declared twice"),
        (two_states("variable c { }"), "4:14: expected 'type', got '}'"),
        (two_states("variable { }"), "4:10: expected the name of a variable, got '{'"),
        (two_states("probability ( c ) { }"), "4:15: variable 'c' is not declared above this"),
        (two_states("probability ( a | c ) { }"), "4:19: variable 'c' is not declared above"),
        (two_states("probability ( a | ) { }"), r"4:19: expected the name of a parent, got '\)'"),
        (two_states("probability ( a | b, ) { }"), r"4:22: expected the name of a parent, got"),
        (two_states("probability ( a | a ) { }"), "4:19: 'a' is listed twice in one block"),
        (two_states("probability ( a | b, b ) { }"), "4:22: 'b' is listed twice in one block"),
        (two_states("probability ( a ) { 0.5; }"), "4:21: expected 'table', 'default', 'property'"),
        (two_states("probability ( a ) { }"), "4:15: variable 'a' has no values$"),
    ],
)
def test_mistakes_in_the_frame(text, message):
    with pytest.raises(FormatError, match=r"^x\.bif:" + message):
        parse(text)


@pytest.mark.parametrize(
    ("declaration", "message"),
    [
        ("type discrete [ 3 ] { x, y };", "2:17: variable 'v' announces 3 states, 2 are listed"),
        ("type discrete [ two ] { x, y };", "2:17: expected the number of states, got 'two'"),
        ("type discrete [ -1 ] { x };", "2:17: expected the number of states, got '-1'"),
        ("type discrete [ 0 ] { };", "1:23: variable 'v': between 1 and 65,535 states"),
        ("type discrete [ 2 ] { x, x };", "1:23: variable 'v': state 'x' is listed twice"),
        ("type discrete [ 2 ] { x, };", "2:26: expected a state, got '}'"),
        ("type discrete [ 2 ] { x,, y };", "2:25: expected a state, got ','"),
        ("type discrete [ 2 ] { x; y };", "2:24: expected ',' or '}', got ';'"),
        ("type discrete [ 2 ] { x, y }", "3:1: expected ';', got '}'"),
        ("type continuous;", "2:6: expected 'discrete', got 'continuous'"),
        ("type discrete [1] {x}; type discrete [1] {x};", "2:24: variable 'v' has two types"),
        ('type discrete [1] {"a\\q"};', r"2:22: unknown escape '\\\\q' in a string"),
        ("type discrete [1] {x}; property bestdag-cuts = one;", "2:24: expected cut points"),
        (
            "type discrete [2] {x,y}; property bestdag-cuts = 1; property bestdag-cuts = 1;",
            "2:53: the property bestdag-cuts of 'v' is",
        ),
        ("type discrete [2] {x,y}; property bestdag-cuts = ;", "1:23: .*2 states need 1 cut"),
    ],
)
def test_mistakes_in_a_variable(declaration, message):
    with pytest.raises(FormatError, match=r"^x\.bif:" + message):
        parse(f"network n {{}} variable v {{\n{declaration}\n}}")


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ("(no) 0.5, 0.5;", "5:15: variable 'b' has no values for a=yes"),
        ("(no) 1, 0; (no) 1, 0;", "6:12: values of 'b' for a=no are given twice"),
        ("(no) 1, 0; table 1, 1, 0, 0;", "6:12: values of 'b' are given twice"),
        ("table 1, 1, 0, 0; (no) 1, 0;", "6:19: values of 'b' for a=no are given twice"),
        ("default 1, 0; default 1, 0;", "6:15: 'b' has two default rows"),
        ("(no) 1, 0; (maybe) 1, 0;", "6:13: unknown state of 'a' 'maybe'; known: no, yes"),
        ("(no, yes) 1, 0;", "6:1: 'b' has 1 parent, got 2 states"),
        ("() 1, 0;", "6:1: 'b' has 1 parent, got 0 states"),
        ("(no) 1, 0, 0;", "6:1: values of 'b': 2 numbers needed here, got 3"),
        ("(no) 1;", "6:1: values of 'b': 2 numbers needed here, got 1"),
        ("table 1, 0;", "6:1: values of 'b': 4 numbers needed here, got 2"),
        ("default 1;", "6:1: values of 'b': 2 numbers needed here, got 1"),
        ("(no) ;", "6:6: expected a number, got ';'"),
        ("(no) 1, ;", "6:9: expected a number, got ';'"),
        ("(no) 1,, 0;", "6:8: expected a number, got ','"),
        ("(no) 1, 0 (yes) 0, 1;", r"6:11: expected ',' or ';', got '\('"),
        ("(no) 1, zero;", "6:9: expected a number, got 'zero'"),
        ("(no) 1_0, 0;", "6:6: expected a number, got '1_0'"),
        ("(no) nan, 0;", "6:6: expected a number, got 'nan'"),
        ("(no) \u0661, 0;", "6:6: expected a number, got '\u0661'"),
        ("(no) 1e, 0;", "6:6: expected a number, got '1e'"),
        ('(no) "1", 0;', "6:6: expected a number, got '1'"),
        ("(no) 0.5, 0.4; (yes) 1, 0;", "6:1: values of 'b' for a=no must sum to 1, got 0.9"),
        ("(yes) 1, 0; default 0.5, 0.4;", "6:13: values of 'b' for a=no must sum to 1, got"),
        ("default 1, 0; (yes) -1, 2;", "6:15: values of 'b' for a=yes must be at least 0, got"),
        ("default 1, 0; (yes) 1e999, 0;", "6:15: .* for a=yes must be finite numbers, got inf"),
        ("table 1, 0.5, 0, 0.4;", "6:1: values of 'b' for a=yes must sum to 1, got 0.9"),
    ],
)
def test_mistakes_in_a_table(entries, message):
    with pytest.raises(FormatError, match=r"^x\.bif:" + message):
        parse(two_states(ROOT_A, f"probability ( b | a ) {{\n{entries}\n}}"))


def test_a_cycle_is_reported_where_it_closes():
    rows = "{ (no) 0.5, 0.5; (yes) 0.5, 0.5; }"
    text = two_states(f"probability (a | b) {rows}", f"probability (b | a) {rows}")
    with pytest.raises(FormatError, match=r"^x\.bif:5:14: .*closes a cycle"):
        parse(text)


def test_bytes_that_are_not_utf8():
    with pytest.raises(FormatError, match=r"^x\.bif:2:4: expected UTF-8 text, got the byte 0xff$"):
        bif.parse("network n {\n  é".encode()[:-2] + "é".encode() + b"\xff", "x.bif")


def test_errors_stay_on_one_line_whatever_the_names():
    text = r"""network n {} variable "a\nb" { type discrete [ 2 ] { "x\r\ny", z }; }
        variable c { type discrete [ 2 ] { no, yes }; } probability ("a\nb") { table 1, 0; }
        probability (c | "a\nb") { ENTRY 1, 0; }"""
    for entry in ("(z)", "(w)", "(z) 1, 0; (z)"):
        with pytest.raises(FormatError) as caught:
            parse(text.replace("ENTRY", entry))
        assert str(caught.value).splitlines() == [str(caught.value)]


def test_a_table_of_more_rows_than_any_memory_holds_is_read_by_its_default():
    states = ", ".join(map(str, range(1000)))
    text = "network n {}\n"
    for name in "abcdefg":
        text += f"variable {name} {{ type discrete [ 1000 ] {{ {states} }}; }}\n"
    block = "probability ( a | b, c, d, e, f, g ) {{ {} }}"
    with pytest.raises(FormatError, match="9:15: variable 'a' has no values for b=0, c=0"):
        parse(text + block.format(""))
    thousandth, first = ", ".join(["0.001"] * 1000), ", ".join(["1"] + ["0"] * 999)
    text += block.format(f"default {thousandth}; (0, 1, 2, 3, 4, 5) {first};")
    for name in "bcdefg":
        text += f"probability ( {name} ) {{ table {thousandth}; }}"
    table = parse(text).table("a")
    assert table.n_configurations == 10**18
    states = dict(zip("bcdefg", "012345", strict=True))
    assert table.row(**states).tolist() == [1.0] + [0.0] * 999
    assert table.row(**states | {"g": "6"}).tolist() == [0.001] * 1000
    with pytest.raises(NotEnoughMemoryError, match="table of 'a': writing out all rows needs"):
        table.values  # noqa: B018


def test_reading_takes_linear_time_in_hostile_files():
    # Things that make careless scanners go back and forth: none may take noticeable time.
    for hostile in (
        '"' * 50_001,
        "/*" * 100_000,
        "(" * 100_000,
        "network n { property " + '"' * 99_999,
    ):
        with pytest.raises(FormatError):
            parse(hostile)
    many = "network n { " + "property x; " * 20_000 + "}"
    with pytest.raises(FormatError, match="expected 'variable'"):
        parse(many)


def test_mutations_never_escape_as_other_errors():
    rng = np.random.default_rng(5)
    data = SMALL.encode()
    pieces = [
        b'"',
        b"{",
        b"}",
        b"(",
        b")",
        b";",
        b",",
        b"|",
        b"/*",
        b"//",
        b"\\",
        b"0",
        b"\xff",
        b"no",
    ]
    for _ in range(2000):
        at, size = int(rng.integers(len(data))), int(rng.integers(4))
        changed = data[:at] + pieces[rng.integers(len(pieces))] + data[at + size :]
        try:
            network = bif.parse(changed, "x.bif")
        except FormatError as error:
            assert str(error).startswith("x.bif:")  # noqa: PT017
        else:
            assert bif.parse(bif.render(network)) == network


# What our writer keeps in properties.
KEPT = """network n {}
variable le_5 { type discrete [ 2 ] { a_b, c }; PROPERTY; }
probability ( le_5 ) { table 1, 0; }"""


def test_names_and_states_are_restored_from_properties():
    own = 'bestdag-name = "<=5"; property bestdag-states = "a b", "c\\u003b"'
    variable = parse(KEPT.replace("PROPERTY", "property " + own)).variables[0]
    assert (variable.name, variable.states) == ("<=5", ("a b", "c;"))
    in_quotes = parse(KEPT.replace("PROPERTY", 'property "bestdag-name = 5"'))
    assert in_quotes.names == ("le_5",)
    assert in_quotes.properties_of("le_5") == ("bestdag-name = 5",)


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ("bestdag-name = x", "2:49: expected texts in quotes after 'bestdag-name =', got 'x'"),
        ('bestdag-name = "x" "y"', "2:49: expected ',' between texts, got"),
        ('bestdag-name = "x", "y"', "2:49: expected one name, got 2"),
        ('bestdag-states = "x"', "2:49: variable 'le_5' has 2 states, the property has 1"),
        ('bestdag-states = "x", "x"', "2:10: variable 'le_5': .*'x'"),
        ('bestdag-states = "x\\q", "y"', r"2:\d+: unknown escape"),
        ('bestdag-property = "x", "y"', "2:49: expected one text, got 2"),
        (
            'bestdag-name = "x"; property bestdag-name = "y"',
            "2:78: the property bestdag-name of 'le_5' is given twice",
        ),
    ],
)
def test_wrong_properties_of_our_own(own, message):
    with pytest.raises(FormatError, match=message):
        parse(KEPT.replace("PROPERTY", "property " + own))


def test_two_variables_restored_to_one_name():
    text = KEPT.replace("PROPERTY", 'property bestdag-name = "x"')
    text += "variable x { type discrete [ 1 ] { a }; }"
    with pytest.raises(FormatError, match="3:46: variable 'x' is declared twice"):
        parse(text)
