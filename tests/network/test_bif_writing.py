"""Writing BIF: what is written reads back equal, whatever the names."""

import gzip
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestdag.data.schema import Variable
from bestdag.errors import FileError, FormatError, UnknownNameError
from bestdag.network import bif
from bestdag.network.bif import plain_name, plain_names
from bestdag.network.exact_names import NAME, note_text
from bestdag.network.network import Network
from bestdag.network.table import ConditionalTable
from tests.conftest import examples
from tests.network.examples import asia, hostile_text, random_networks, small_network
from tests.shared_data import shared_file


@settings(max_examples=examples(300), deadline=None)
@given(random_networks())
def test_reads_back_equal(network):
    assert bif.parse(bif.render(network)) == network


@settings(deadline=None)
@given(st.lists(hostile_text, unique=True, min_size=1), st.booleans())
def test_names_are_plain_and_different(names, is_state):
    written = plain_names(names, is_state=is_state)
    assert len(set(written)) == len(names)
    for name in written:
        assert re.fullmatch("[A-Za-z0-9_.-]+", name)
        assert plain_name(name, is_state=is_state) == name


@settings(deadline=None)
@given(hostile_text)
def test_a_kept_text_never_breaks_its_line(name):
    written = note_text(NAME, [name])
    assert written.splitlines() == [written]
    assert not set(written) & set(";(){}[]|")
    written.encode("utf-8")


@pytest.mark.parametrize("name", ["HISTORY", "x_1", "x.y", "a-b", "5x", "Default", "_"])
def test_plain_names_stay(name):
    assert plain_name(name) == name
    assert plain_name(name, is_state=True) == name


# What pyAgrum refuses: signs, numbers, keywords, letters that are not ASCII.
@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("<=51.5", "le_51.5"),
        (">51.5", "gt_51.5"),
        ("<5", "lt_5"),
        (">=7.5", "ge_7.5"),
        ("51.5 to 60", "_51.5_to_60"),
        ("-1.5 to 2", "_-1.5_to_2"),
        ("5-12", "_5-12"),
        ("12+", "12_"),
        ("5.5", "_5.5"),
        ("1e5", "_1e5"),
        ("Asy/Patch", "Asy_Patch"),
        ("two  words", "two_words"),
        ("Größe", "Gr_e"),
        ("", "_"),
        ("table", "table_"),
        ("-x", "_-x"),
    ],
)
def test_other_names_become_plain_ones(name, written):
    assert plain_name(name, is_state=True) == written


def test_whole_numbers_are_plain_as_states_only():
    assert plain_names(["5", "-5", "007"], is_state=True) == ["5", "-5", "007"]
    assert plain_names(["5", "-5", "007"]) == ["_5", "_-5", "_007"]


# Quotes, backslash and line ends escaped as in programs; what means something in BIF by its number.
@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("", '""'),
        ("two words", '"two words"'),
        ('"', r'"\""'),
        ("a\\b", r'"a\\b"'),
        ("a;{b}|", r'"a\u003b\u007bb\u007d\u007c"'),
        ("f(x)[1]", r'"f\u0028x\u0029\u005b1\u005d"'),
        ("line\nend\r\t", r'"line\nend\r\t"'),
        ("a//b, /*", '"a//b, /*"'),
        ("\x00\u2028\ud800", r'"\u0000\u2028\ud800"'),
        ("Größe", r'"Gr\u00f6\u00dfe"'),
        ("😀 !", '"😀 !"'),
    ],
)
def test_kept_texts(name, written):
    assert note_text(NAME, [name]) == f"bestdag-name = {written}"


def test_text_of_the_small_network():
    assert bif.render(small_network()).decode() == (
        'network "small one" {\n  property author = me;\n}\n'
        "variable rain {\n  type discrete [ 2 ] { no, yes };\n  property position = (7, 9);\n}\n"
        "variable wet_grass {\n  type discrete [ 3 ] { dry, damp, soaking_wet };\n"
        '  property bestdag-name = "wet grass";\n'
        '  property bestdag-states = "dry", "damp", "soaking wet";\n}\n'
        "probability ( rain ) {\n  table 0.8, 0.2;\n}\n"
        "probability ( wet_grass | rain ) {\n"
        "  (no) 1.0, 0.0, 0.0;\n  (yes) 0.0, 0.25, 0.75;\n}\n"
    )


# A property is "word = value" for other programs; other texts are kept in quotes.
@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("author = me", "author = me"),
        ("position = (7, 9)", "position = (7, 9)"),
        ("any text", 'bestdag-property = "any text"'),
        ("a = b; c", r'bestdag-property = "a = b\u003b c"'),
        ("bestdag-cuts = 3", 'bestdag-property = "bestdag-cuts = 3"'),
        ("bestdag-property = 3", 'bestdag-property = "bestdag-property = 3"'),
        (" author = me", 'bestdag-property = " author = me"'),
    ],
)
def test_properties(text, written):
    table = ConditionalTable(Variable("a", ("x", "y")), (), [0.5, 0.5])
    network = Network([table], properties=[text], variable_properties={"a": [text]})
    rendered = bif.render(network).decode()
    assert rendered.count(f"  property {written};\n") == 2
    assert bif.parse(rendered.encode()) == network


@settings(deadline=None)
@given(st.floats(0, 1))
def test_numbers_come_back_to_the_last_bit(p):
    table = ConditionalTable(Variable("a", ("x", "y", "z")), (), [p, 1 - p, 5e-324])
    again = bif.parse(bif.render(Network([table]))).tables[0]
    assert again.values.tobytes() == table.values.tobytes()


def test_rows_come_in_the_order_of_the_published_files():
    # The first parent runs fastest.
    rows = bif.render(asia()).decode().partition("dysp | bronc, either ) {\n")[2]
    assert rows == (
        "  (no, no) 0.9, 0.1;\n  (yes, no) 0.2, 0.8;\n  (no, yes) 0.3, 0.7;\n"
        "  (yes, yes) 0.1, 0.9;\n}\n"
    )


@pytest.mark.parametrize("name", ["asia", "cancer", "earthquake", "link"])
def test_published_files_come_back_as_they_were(name):
    # Those with numbers in the shortest form: 0.2, not 0.20.
    path = shared_file(f"networks/{name}.bif")
    assert bif.render(Network.load(path)) == path.read_bytes()


def test_cut_points_survive():
    variable = Variable("age", ("low", "high"), (37.5,))
    network = Network([ConditionalTable(variable, (), [0.5, 0.5])])
    assert b"property bestdag-cuts = 37.5;" in bif.render(network)
    assert bif.parse(bif.render(network)).variables[0].cuts == (37.5,)


@pytest.mark.parametrize("file", ["net.bif", "net.bif.gz", "NET.BIF.GZ"])
def test_save_and_load(tmp_path, file):
    path = tmp_path / file
    small_network().save(path)
    assert Network.load(path) == small_network()
    assert Network.load(str(path)) == small_network()
    assert [each.name for each in tmp_path.iterdir()] == [file]


def test_compressed_files_are_the_same_each_time(tmp_path):
    small_network().save(tmp_path / "a.bif.gz")
    small_network().save(tmp_path / "b.bif.gz")
    packed = (tmp_path / "a.bif.gz").read_bytes()
    assert packed == (tmp_path / "b.bif.gz").read_bytes()
    assert packed[4:8] == bytes(4)  # no time stamp
    assert gzip.decompress(packed) == bif.render(small_network())


def test_unknown_formats_are_named(tmp_path):
    with pytest.raises(UnknownNameError, match=r"save: .*net\.bfi: unknown network format '\.bfi'"):
        small_network().save(tmp_path / "net.bfi")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "net").write_text("none of them")
    with pytest.raises(
        UnknownNameError, match=r"load: .*net: unknown network format ''; known: \.bif"
    ):
        Network.load(tmp_path / "net")


def test_errors_name_the_file(tmp_path):
    path = tmp_path / "bad.bif"
    path.write_text("network n {")
    with pytest.raises(
        FormatError, match=r"bad\.bif:1:12: expected 'property' or '}', got the end"
    ):
        Network.load(path)
    with pytest.raises(FileError, match=r"gone\.bif: cannot be read: no such file or directory$"):
        Network.load(tmp_path / "gone.bif")


def test_a_large_table_reads_back_equal():
    rng = np.random.default_rng(3)
    parents = [Variable(f"p{i}", tuple(map(str, range(20)))) for i in range(3)]
    child = Variable("child", ("a", "b", "c"))
    tables = [ConditionalTable(p, (), np.full(20, 0.05)) for p in parents]
    tables.append(ConditionalTable(child, parents, rng.dirichlet([0.1] * 3, size=(20, 20, 20))))
    network = Network(tables)
    assert bif.parse(bif.render(network)) == network
