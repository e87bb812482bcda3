"""What every network format promises, checked for each entry of the list."""

import gzip
import importlib
import re
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings

from bestdag.data.schema import Variable
from bestdag.errors import DataError, FormatError
from bestdag.network.formats import FORMATS as LISTED
from bestdag.network.formats import is_network_file
from bestdag.network.network import Network
from bestdag.network.table import ConditionalTable
from tests.conftest import examples
from tests.network.examples import asia, random_networks, small_network

FORMATS = {suffix: importlib.import_module(module) for suffix, module in LISTED.items()}
every_format = pytest.mark.parametrize("suffix", FORMATS)

# Names that mean something to a format, look like something else, or look like nothing.
HOSTILE_NAMES = [
    "",
    " ",
    "\t",
    "\n",
    "\r\n",
    "\u00a0",
    "\u200b",
    "\u2028",
    "\ufeff",
    "\x00",
    "\x1b[31m",
    "\x7f",
    '"',
    "'",
    "\\",
    "\\n",
    "\\u0041",
    '\\"',
    "{",
    "}",
    "}\nvariable x {",
    "[",
    "](|)",
    ",",
    ";",
    ":",
    "//",
    "/*",
    "*/",
    "#",
    "<",
    "&amp;",
    "<![CDATA[",
    "network",
    "variable",
    "probability",
    "property",
    "table",
    "default",
    "type",
    "discrete",
    "null",
    "true",
    "NaN",
    "-inf",
    "1e5",
    "-7",
    "0",
    "007",
    "a b",
    "a_b",
    "a/b",
    " a",
    "a ",
    "A",
    "Å",
    "A\u030a",
    "\u212b",
    "ß",
    "名前",
    "שם",
    "😀",
    "👩\u200d🔬",
    "x" * 300,
    "__proto__",
    "name",
    "states",
    "bestdag-name",
    'bestdag-name = "x"',
]


def coin(name, states=("no", "yes"), cuts=None):
    values = np.arange(1.0, len(states) + 1)
    return ConditionalTable(Variable(name, states, cuts), (), values / values.sum())


def network_with_hostile_names():
    """Every name as that of a variable, with the next variable as its parent, and of a state."""
    variables = [Variable(name, (name, f"not {name}")) for name in HOSTILE_NAMES]
    tables = [coin(HOSTILE_NAMES[-1], variables[-1].states)]
    for child, parent in pairwise(variables):
        tables.append(ConditionalTable(child, (parent,), [[0.25, 0.75], [0.5, 0.5]]))
    return Network(tables, name="all of them", properties=HOSTILE_NAMES)


def network_with_sparse_table():
    a, b, c = (Variable(name, tuple(f"{name}{k}" for k in range(4))) for name in "abc")
    sparse = ConditionalTable.of_rows(
        c, (a, b), [[0, 3], [2, 1]], [[0.1, 0.2, 0.3, 0.4], [1, 0, 0, 0]], [0.25] * 4
    )
    return Network([coin("a", a.states), coin("b", b.states), sparse])


def network_with_extreme_numbers():
    tiny = 5e-324  # the smallest double above zero
    wide = Variable("wide", ("a", "b", "c"), (-1e300, 0.1 + 0.2))
    third = 1 / 3
    tables = [
        ConditionalTable(wide, (), [1 - 2 * tiny, tiny, tiny]),
        ConditionalTable(Variable("x", ("0", "1", "2")), (), [third, third, third]),
        ConditionalTable(Variable("y", ("0", "1")), (), [1e-17, 1.0]),
    ]
    return Network(tables, variable_properties={"x": ["position = (1, 2)", 'note = "a;b"']})


def network_with_more_parents_than_an_array_has_axes():
    parents = [Variable(f"p{k}", ("only",)) for k in range(70)]
    parents[7], parents[60] = (Variable(f"p{k}", ("no", "yes")) for k in (7, 60))
    child = Variable("c", ("x", "y", "z"))
    # Where all rows are written, that of the first configuration comes back as the one for others.
    codes = np.zeros((3, 70), dtype=int)
    codes[[0, 1], 60], codes[[1, 2], 7] = 1, 1
    rows = [[0.1, 0.2, 0.7], [1, 0, 0], [0.5, 0.25, 0.25]]
    table = ConditionalTable.of_rows(child, parents, codes, rows, [0, 0, 1])
    return Network([*(coin(p.name, p.states) for p in parents), table])


NETWORKS = {
    "small": small_network,
    "asia": asia,
    "one variable with one state": lambda: Network([coin("x", ("only",))]),
    "hostile names": network_with_hostile_names,
    "a sparse table": network_with_sparse_table,
    "extreme numbers": network_with_extreme_numbers,
    "70 parents": network_with_more_parents_than_an_array_has_axes,
}
every_network = pytest.mark.parametrize("network", NETWORKS)


@every_format
@every_network
def test_a_network_comes_back_as_it_was(suffix, network):
    form, network = FORMATS[suffix], NETWORKS[network]()
    data = form.render(network)
    back = form.parse(data, "x")
    assert back == network  # names, states, cut points, properties and numbers, bit for bit
    assert form.render(back) == data


@every_format
def test_a_file_comes_back_as_it_was_compressed_or_not(suffix, tmp_path):
    network = small_network()
    for name in (f"x{suffix}", f"x{suffix.upper()}", f"x{suffix}.gz"):
        path = tmp_path / name
        assert is_network_file(path)
        network.save(path)
        data = path.read_bytes()
        plain = gzip.decompress(data) if name.endswith(".gz") else data
        assert plain == FORMATS[suffix].render(network)
        assert Network.load(path) == network


@every_format
def test_a_file_is_known_by_what_is_in_it(suffix, tmp_path):
    path, packed = tmp_path / "net.txt", tmp_path / "net.txt.gz"
    path.write_bytes(b"\xef\xbb\xbf \n" + FORMATS[suffix].render(small_network()))
    packed.write_bytes(gzip.compress(FORMATS[suffix].render(small_network())))
    assert is_network_file(path)
    assert is_network_file(packed)


@every_format
@pytest.mark.parametrize("name", HOSTILE_NAMES, ids=ascii)
def test_a_hostile_name_comes_back_wherever_it_stands(suffix, name):
    form = FORMATS[suffix]
    parent, child = Variable(name, ("u", name)), Variable(f"{name} ", (name, "v", f"{name}{name}_"))
    network = Network(
        [
            ConditionalTable(child, (parent,), [[0.2, 0.3, 0.5], [0, 1, 0]]),
            ConditionalTable(parent, (), [0.9, 0.1]),
        ],
        name=name,
        properties=[name, name],
        variable_properties={name: [name]},
    )
    assert form.parse(form.render(network), "x") == network


def is_refused(form, data):
    """Whether a file is refused as one should be: in one line that begins with its name."""
    try:
        form.parse(data, "some file")
    except FormatError as error:
        message = str(error)
    else:
        return False
    assert message.startswith("some file")
    assert "\n" not in message
    return True


@every_format
@every_network
def test_a_file_cut_off_anywhere_is_refused(suffix, network):
    form = FORMATS[suffix]
    data = form.render(NETWORKS[network]())
    whole = data.rstrip()  # what is cut off behind it is nothing
    places = range(0, len(whole), 1 if len(whole) < 500 else 3 if len(whole) < 2_000 else 97)
    kept = [place for place in places if not is_refused(form, whole[:place])]
    assert kept == []


@every_format
def test_where_a_file_was_cut_off_is_said_by_line_and_column(suffix):
    form = FORMATS[suffix]
    whole = form.render(small_network()).rstrip()
    n_lines = whole.count(b"\n") + 1
    for place in range(len(whole)):
        with pytest.raises(FormatError) as error:
            form.parse(whole[:place], "some file")
        found = re.match(r"some file:([0-9]+):([0-9]+): ", str(error.value))
        assert found, str(error.value)
        assert 1 <= int(found[1]) <= n_lines


@every_format
@settings(max_examples=examples(100), deadline=None)
@given(network=random_networks())
def test_any_network_comes_back(suffix, network):
    form = FORMATS[suffix]
    try:
        data = form.render(network)
    except DataError as error:
        assert "cannot keep this text" in str(error)  # noqa: PT017
    else:
        assert form.parse(data, "x") == network


# What a damaged or hostile file may have in any place.
PIECES = [
    *(b'"', b"'", b"{", b"}", b"(", b")", b"[", b"]", b";", b",", b"|", b":", b"=", b"%", b"#"),
    *(b"/*", b"//", b"\\", b"<", b">", b"/>", b"&", b"&x;", b"<!--", b"-->", b"<![CDATA[", b"<?"),
    *(b"0", b"9", b"-1", b"1e999", b"nan", b"99999999999", b"\x00", b"\xff", b"\n", b" ", b""),
    *(
        b"states",
        b"data",
        b"node",
        b"bestdag-states =",
        b"\xc3\xa9",
        b"no",
        b"<TABLE>",
        b"</TABLE>",
    ),
]


@every_format
def test_mutations_give_a_network_or_a_refusal(suffix):
    form = FORMATS[suffix]
    rng = np.random.default_rng(7)
    data = form.render(small_network())
    n_read = 0
    for _ in range(1500):
        changed = data
        for _ in range(int(rng.integers(1, 4))):
            at, size = int(rng.integers(len(changed))), int(rng.integers(6))
            piece = PIECES[rng.integers(len(PIECES))]
            if rng.random() < 0.2:  # a piece of the file itself
                start = int(rng.integers(len(data)))
                piece = data[start : start + int(rng.integers(40))]
            changed = changed[:at] + piece + changed[at + size :]
        if not is_refused(form, changed):
            n_read += 1
            network = form.parse(changed, "x")
            assert form.parse(form.render(network), "x") == network
    assert 0 < n_read < 1500


@every_format
def test_what_makes_careless_readers_slow_or_large(suffix):
    form = FORMATS[suffix]
    data = form.render(small_network())
    start = data[: data.index(b"rain") if b"rain" in data else 10]
    for piece in (
        b'"',
        b"(",
        b"{",
        b"[",
        b"<a>",
        b"/*",
        b"&lt;",
        b"% ",
        b"1 ",
        b"-",
        b"\\",
        b"=",
        b"x = ((",
    ):
        assert is_refused(form, start + piece * 100_000)


@every_format
def test_memory_is_a_small_multiple_of_the_file(suffix):
    """Of a file with one large table; numbers of two digits are the worst case."""
    states = tuple(f"s{k}" for k in range(200))
    a, b = Variable("a", states), Variable("b", states)
    rows = np.zeros((200, 200))
    rows[:, 3] = 1.0
    network = Network([coin("a", states), ConditionalTable(b, (a,), rows)])
    form = FORMATS[suffix]
    data = re.sub(rb"\b0\.0\b", b"00", form.render(network))
    try:
        form.parse(data, "x")  # what is imported on first use, too
    except FormatError:  # no number, in JSON
        data = re.sub(rb"\b00\b", b"0", data)
    tracemalloc.start()
    try:
        form.parse(data, "x")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 25 * len(data)


@every_format
@pytest.mark.parametrize(
    "byte", [b"", b"\x00", b"\xff", b'"', b"{", b"}", b"\\", b"9", b"-", b",", b"<", b"&"]
)
def test_a_damaged_byte_gives_a_network_or_a_refusal(suffix, byte):
    form = FORMATS[suffix]
    data = form.render(small_network())
    outcomes = [is_refused(form, data[:i] + byte + data[i + 1 :]) for i in range(len(data))]
    assert any(outcomes)


@every_format
def test_other_files_are_refused(suffix):
    form = FORMATS[suffix]
    others = [f.render(small_network()) for name, f in FORMATS.items() if name != suffix]
    texts = [b"", b" ", b"\n", b"\xff\xfe", b"a,b\n1,2\n", b"{", b"[]", b"<?xml version='1.0'?>"]
    for data in (*texts, bytes(range(256)), *others):
        assert is_refused(form, data)
