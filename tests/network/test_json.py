"""The JSON format: equal after a round trip, readable by others, refusals with their place."""

import gzip
import json
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bestdag.data.schema import Variable
from bestdag.errors import DataError, FormatError, InvalidParameterError
from bestdag.network import json_format
from bestdag.network.network import Network
from bestdag.network.table import ConditionalTable
from tests.network.examples import asia, random_networks, small_network
from tests.shared_data import shared_file


def halves_of_a_pair(network):
    """Whether some text has the two halves of a surrogate pair as characters of their own."""
    texts = [network.name, *network.properties, *network.names]
    for variable in network.variables:
        texts += [*variable.states, *network.properties_of(variable.name)]
    return any(
        "\ud800" <= a <= "\udbff" and "\udc00" <= b <= "\udfff"
        for text in texts
        for a, b in pairwise(text)
    )


@given(random_networks())
def test_round_trip_is_equal(network):
    assume(not halves_of_a_pair(network))
    back = json_format.parse(json_format.render(network))
    assert back == network  # bit for bit, cut points and properties included
    assert json_format.render(back) == json_format.render(network)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=5))
def test_every_double_survives(numbers):
    total = math.fsum(numbers)
    assume(total > 0)
    values = np.array(numbers) / total
    assume(np.isfinite(values).all() and abs(values.sum() - 1) < 1e-7)
    child = Variable("x", tuple(map(str, range(len(values)))))
    network = Network([ConditionalTable(child, (), values)])
    back = json_format.parse(json_format.render(network))
    assert back.table("x").values.tobytes() == values.tobytes()


def test_other_programs_read_the_same():
    content = json.loads(json_format.render(small_network()))
    assert content == {
        "format": "bestdag network",
        "version": 1,
        "name": "small one",
        "properties": ["author = me"],
        "variables": [
            {
                "name": "rain",
                "states": ["no", "yes"],
                "properties": ["position = (7, 9)"],
                "parents": [],
                "table": [[0.8, 0.2]],
            },
            {
                "name": "wet grass",
                "states": ["dry", "damp", "soaking wet"],
                "parents": ["rain"],
                "table": [[1.0, 0.0, 0.0], [0.0, 0.25, 0.75]],
            },
        ],
    }


# Two parents: the last one runs fastest, so the rows are a0 b0, a0 b1, a0 b2, a1 b0, ...
def test_order_of_the_rows():
    a, b, c = (Variable(n, tuple(map(str, range(k)))) for n, k in [("a", 2), ("b", 3), ("c", 2)])
    first = np.arange(6).reshape(2, 3) / 10
    tables = [
        ConditionalTable(a, (), [0.5, 0.5]),
        ConditionalTable(b, (), [0.25, 0.25, 0.5]),
        ConditionalTable(c, (a, b), np.stack([first, 1 - first], axis=-1)),
    ]
    written = json.loads(json_format.render(Network(tables)))["variables"][2]["table"]
    assert [row[0] for row in written] == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.4, 0.5])


def test_cut_points_survive(tmp_path):
    heat = Variable("heat", ("a", "b", "c"), (0.1 + 0.2, 1e300))
    network = Network([ConditionalTable(heat, (), [0.2, 0.3, 0.5])])
    network.save(tmp_path / "heat.json")
    assert Network.load(tmp_path / "heat.json").variable("heat").cuts == (0.1 + 0.2, 1e300)


def test_files_compressed_or_not(tmp_path):
    network = asia()
    for name in ("asia.json", "asia.JSON.gz"):
        network.save(tmp_path / name)
        assert Network.load(tmp_path / name) == network
    assert gzip.decompress((tmp_path / "asia.JSON.gz").read_bytes()) == json_format.render(network)


def test_published_networks_survive():
    for name in ("alarm.bif", "water.bif", "hailfinder.bif"):
        network = Network.load(shared_file(f"networks/{name}"))
        assert json_format.parse(json_format.render(network)) == network


def test_byte_order_mark_and_whole_numbers_are_read():
    text = json_format.render(small_network()).decode().replace("1.0, 0.0, 0.0", "1, 0, 0")
    assert json_format.parse(b"\xef\xbb\xbf" + text.encode()) == small_network()


def changed(**changes):
    content = json.loads(json_format.render(small_network()))
    for path, value in changes.items():
        *way, last = (int(key) if key.isdigit() else key for key in path.split("__"))
        spot = content
        for key in way:
            spot = spot[key]
        if value is None:
            del spot[last]
        else:
            spot[last] = value
    return json.dumps(content).encode()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", r"x.json:1:1: not valid JSON: expecting value"),
        (b'{\n "format": bestdag}', r"x.json:2:12: not valid JSON"),
        (b"\xff", r"x.json:1:1: expected UTF-8 text, got the byte 0xff"),
        (b"[" * 100_000, r"x.json: .*nested too deep"),
        (b"[" + b"1" * 5000 + b"]", r"x.json: a number cannot be read"),
        (b'{"a": NaN}', r"x.json: NaN is not a number of JSON"),
        (b'{"a": 1, "a": 2}', r"x.json: key 'a' comes twice"),
        (b"[]", r'x.json: not a network: "format" must be "bestdag network", got \[\]'),
        (changed(format="bif"), r'"format" must be "bestdag network", got "bif"'),
        (changed(version=2), r"x.json: version 2 of the format is newer .* 1; use a newer bestdag"),
        (changed(version=True), r'"version" must be a whole number >= 1, got true'),
        (changed(version=None), r'"version" must be .*, got null'),
        (changed(nmae="x"), r"the file: unknown key 'nmae'.*did you mean 'name'"),
        (changed(name=None), r'the file: the key "name" is missing'),
        (changed(name=7), r'the file: "name" must be text, got 7'),
        (changed(variables={}), r'the file: "variables" must be a list, got \{\}'),
        (changed(variables=[]), r"at least one table is needed"),
        (changed(properties=["a", 1]), r"the file: properties\[1\] must be text, got 1"),
        (changed(variables__1=3), r"variables\[1\] must be an object, got 3"),
        (changed(variables__1__name="rain"), r"variables\[1\]: a second variable .*'rain'"),
        (changed(variables__0__cust=[1]), r"variables\[0\] 'rain': unknown key 'cust'.*'cuts'"),
        (changed(variables__0__cuts=[1, 2]), r"variable 'rain': 2 states need 1 cut points, got 2"),
        (changed(variables__0__cuts=[1e999]), r"Infinity is not a number of JSON"),
        (changed(variables__0__cuts=["1"]), r"'rain': cuts must hold numbers, got \"1\""),
        (changed(variables__0__states="no"), r'"states" must be a list, got "no"'),
        (changed(variables__0__states=["a", "a"]), r"state 'a' is listed twice"),
        (changed(variables__1__parents=["rian"]), r"'wet grass': unknown parent 'rian'.*'rain'"),
        (changed(variables__1__parents=["rain", "rain"]), r"table must have 4 rows, got 2"),
        (changed(variables__1__table=[[1, 0, 0]]), r"'wet grass': table must have 2 rows, got 1"),
        (changed(variables__1__table__1=[1, 0]), r"row 1 of table must have 3 numbers, got 2"),
        (changed(variables__1__table__1=7), r"'wet grass': table\[1\] must be a list, got 7"),
        (changed(variables__1__table__1__0="0"), r"row 1 of table must hold numbers, got \"0\""),
        (changed(variables__1__table__1__0=True), r"row 1 of table must hold numbers, got true"),
        (changed(variables__1__table__1__0=10**400), r"row 1 of table: a number is too large"),
        (changed(variables__1__table__1__0=0.5), r"for rain=yes must sum to 1, got 1.5"),
        (changed(variables__0__parents=["rain"]), r"'rain': table must have 2 rows"),
    ],
)
def test_refuses_with_the_place(data, message):
    with pytest.raises(FormatError, match=rf"^x\.json.*{message.removeprefix('x.json')}"):
        json_format.parse(data, "x.json")


def test_refuses_a_cycle():
    content = json.loads(json_format.render(small_network()))
    content["variables"][0]["parents"] = ["wet grass"]
    content["variables"][0]["table"] = [[0.5, 0.5]] * 3
    with pytest.raises(FormatError, match=r"x.json: .*cycle"):
        json_format.parse(json.dumps(content).encode(), "x.json")


def test_refuses_to_write_what_would_not_come_back():
    halves = Variable("\ud83d\ude00", ("a", "b"))
    with pytest.raises(DataError, match="save: JSON cannot keep this text"):
        json_format.render(Network([ConditionalTable(halves, (), [0.5, 0.5])]))


@pytest.mark.parametrize("path", [None, 7, b"net.json", ["net.json"]])
def test_a_path_is_needed(path):
    with pytest.raises(InvalidParameterError, match="load: the path of a file is needed, got"):
        Network.load(path)
    with pytest.raises(InvalidParameterError, match="save: the path of a file is needed, got"):
        asia().save(path)
