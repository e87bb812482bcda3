"""Writing BIF: what is written reads back equal, whatever the names."""

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestdag.data.schema import Variable
from bestdag.errors import FileError, FormatError, UnknownNameError
from bestdag.network import bif
from bestdag.network.bif_syntax import written_name
from bestdag.network.network import Network
from bestdag.network.table import ConditionalTable
from tests.network.examples import asia, hostile_text, random_networks, small_network
from tests.shared_data import shared_file


@settings(max_examples=300, deadline=None)
@given(random_networks())
def test_reads_back_equal(network):
    assert bif.parse(bif.render(network)) == network


@settings(deadline=None)
@given(hostile_text)
def test_a_name_never_breaks_its_line(name):
    written = written_name(name)
    assert written.splitlines() == [written]
    written.encode("utf-8")


@pytest.mark.parametrize(
    "name", ["HISTORY", "Asy/Patch", "<5", "5-12", "12+", ">=7.5", "Größe", "x_1"]
)
def test_ordinary_names_stay_bare(name):
    assert written_name(name) == name


# Written as people do in programs: quotes, backslash and line ends escaped, the rest as it is.
@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("", '""'),
        ("two words", '"two words"'),
        ('"', r'"\""'),
        ("a\\b", r'"a\\b"'),
        ("a,b;{c}|(d)[e]", '"a,b;{c}|(d)[e]"'),
        ("line\nend\r\t", r'"line\nend\r\t"'),
        ("a//b", '"a//b"'),
        ("/*", '"/*"'),
        ("\x00\u2028\ud800", r'"\u0000\u2028\ud800"'),
        ("non\u00a0breaking", '"non\u00a0breaking"'),
        ("😀 !", '"😀 !"'),
    ],
)
def test_other_names_are_quoted(name, written):
    assert written_name(name) == written


def test_text_of_the_small_network():
    assert bif.render(small_network()).decode() == (
        'network "small one" {\n  property author = me;\n}\n'
        "variable rain {\n  type discrete [ 2 ] { no, yes };\n  property position = (7, 9);\n}\n"
        'variable "wet grass" {\n  type discrete [ 3 ] { dry, damp, "soaking wet" };\n}\n'
        "probability ( rain ) {\n  table 0.8, 0.2;\n}\n"
        'probability ( "wet grass" | rain ) {\n'
        "  (no) 1.0, 0.0, 0.0;\n  (yes) 0.0, 0.25, 0.75;\n}\n"
    )


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
    with pytest.raises(
        UnknownNameError, match=r"load: net: unknown network format ''; known: \.bif"
    ):
        Network.load("net")
    assert list(tmp_path.iterdir()) == []


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
