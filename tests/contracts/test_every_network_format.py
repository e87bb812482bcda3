"""What every network format promises, checked for each entry of the list."""

import gzip
import importlib
from itertools import pairwise

import numpy as np
import pytest

from bestdag.data.schema import Variable
from bestdag.errors import FormatError
from bestdag.network.formats import FORMATS as LISTED
from bestdag.network.formats import is_network_file
from bestdag.network.network import Network
from bestdag.network.table import ConditionalTable
from tests.network.examples import asia, small_network

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


NETWORKS = {
    "small": small_network,
    "asia": asia,
    "one variable with one state": lambda: Network([coin("x", ("only",))]),
    "hostile names": network_with_hostile_names,
    "a sparse table": network_with_sparse_table,
    "extreme numbers": network_with_extreme_numbers,
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
    places = range(len(whole)) if len(whole) < 2_000 else range(0, len(whole), 97)
    kept = [place for place in places if not is_refused(form, whole[:place])]
    assert kept == []


@every_format
@pytest.mark.parametrize("byte", [b"", b"\x00", b"\xff", b'"', b"{", b"}", b"\\", b"9", b"-", b","])
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
