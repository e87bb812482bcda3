"""Files of knowledge: what is saved is read, and errors say file, line and key."""

import gzip
import json
import re

import pytest
from hypothesis import assume, given, settings

from bestdag.errors import (
    CycleError,
    FileError,
    FormatError,
    GraphError,
    InvalidParameterError,
    UnknownNameError,
)
from bestdag.graph.knowledge import Knowledge
from tests.conftest import examples
from tests.graph.definitions import steady
from tests.graph.knowledge.definitions import statements

TOML = """\
# What the ward knows.
required_arcs = [["smoking", "cancer"]]
forbidden_edges = [["age", "cough"]]
tiers = [["age", "smoking"], ["cancer"], ["cough"]]
within_tiers = false
order = [["age", "cancer"]]
max_parents = 3

[max_parents_of]
cough = 1
"two words" = 2
"""
KNOWN = Knowledge(
    required_arcs=[("smoking", "cancer")],
    forbidden_edges=[("age", "cough")],
    tiers=[["age", "smoking"], ["cancer"], ["cough"]],
    within_tiers=False,
    order=[("age", "cancer")],
    max_parents=3,
    max_parents_of={"cough": 1, "two words": 2},
)


def test_reads_toml(tmp_path):
    path = tmp_path / "ward.toml"
    path.write_text(TOML)
    assert Knowledge.load(path) == KNOWN
    assert Knowledge.load(str(path)) == KNOWN


@pytest.mark.parametrize(
    "known", [KNOWN, Knowledge(), Knowledge(roots=["Größe", "\ud800", 'a"\n'])]
)
@pytest.mark.parametrize("name", ["ward.json", "ward.JSON.gz"])
def test_what_is_saved_is_read(tmp_path, known, name):
    known.save(tmp_path / name)
    assert Knowledge.load(tmp_path / name) == known


def test_saves_readable_json(tmp_path):
    KNOWN.save(tmp_path / "ward.json")
    text = (tmp_path / "ward.json").read_text()
    assert json.loads(text) == KNOWN.to_dict()
    assert '\n  "required_arcs": [["smoking", "cancer"]],\n' in text
    Knowledge(roots=["Größe"]).save(tmp_path / "g.json.gz")
    assert gzip.decompress((tmp_path / "g.json.gz").read_bytes()).decode() == (
        '{\n  "roots": ["Größe"]\n}\n'
    )


@settings(steady, max_examples=examples(50))
@given(statements(("A", "B", "C")))
def test_any_knowledge_survives_a_file(tmp_path_factory, said):
    try:
        known = Knowledge(**said)
    except GraphError:
        assume(False)
    path = tmp_path_factory.getbasetemp() / "any.json"
    known.save(path)
    assert Knowledge.load(path) == known


def test_a_byte_order_mark_is_no_matter(tmp_path):
    path = tmp_path / "bom.json"
    path.write_bytes(b'\xef\xbb\xbf{"roots": ["A"]}')
    assert Knowledge.load(path) == Knowledge(roots=["A"])


@pytest.mark.parametrize(
    ("name", "text", "error", "message"),
    [
        ("k.toml", "roots = [\n", FormatError, "is not TOML: "),
        ("k.toml", "a = 1\na = 2\n", FormatError, "(at line 2, column 6)"),
        ("k.json", '{\n "roots": [}', FormatError, "is not JSON at line 2, column 12: "),
        ("k.json", "", FormatError, "is not JSON at line 1, column 1: "),
        ("k.json", "[]", FormatError, "must hold an object {...}, got list"),
        ("k.json", '{"roots": ["A"], "roots": ["B"]}', FormatError, "key 'roots' comes twice"),
        ("k.json", "[" * 200_000, FormatError, "is nested too deeply"),
        ("k.toml", "a=" + "[" * 200_000, FormatError, "is nested too deeply"),
        ("k.json", '{"max_parents": ' + "9" * 5000 + "}", FormatError, "5000 digits"),
        ("k.json", b"\xff{}", FormatError, "is not UTF-8 text at byte 0"),
        ("k.toml", "# x\n\nroot = ['A']", UnknownNameError,
         "line 3: unknown key 'root'; known: required_arcs"),
        ("k.toml", "\n[max_parents_off]\nA = 1", UnknownNameError,
         "(did you mean 'max_parents_of'?)"),
        ("k.json", '{"roots": [],\n"requred_arcs": []}', UnknownNameError,
         "line 2: unknown key 'requred_arcs'"),
        ("k.toml", "\nrequired_arcs = ['A']", GraphError,
         "line 2: required_arcs must be a list of pairs of names, got 'A'"),
        ("k.json", '{\n\n"max_parents": -1}', InvalidParameterError,
         "line 3: max_parents must be a whole number >= 0, got -1"),
        ("k.toml", "\n\n[max_parents_of]\nA = 0.5", InvalidParameterError,
         "line 3: max_parents_of of A must be a whole number >= 0, got 0.5"),
        ("k.json", '{"within_tiers": 0, "tiers": [["A"]]}', InvalidParameterError,
         "line 1: within_tiers must be true or false, got 0"),
        ("k.json", '{"tiers": [["A"], ["A"]]}', GraphError, "line 1: tiers lists node A twice"),
        ("k.json", '{"required_arcs": [["A", "B"], ["B", "A"]]}', CycleError,
         "Knowledge: required arcs close a cycle: A -> B -> A"),
        ("k.json", '{"required_arcs": [["A", "B"]], "roots": ["B"]}', GraphError,
         "what clashes: A -> B; roots: B"),
        ("k.yaml", "", UnknownNameError, "unknown file format '.yaml'; known: .toml, .json"),
    ],
)  # fmt: skip
def test_says_file_and_line(tmp_path, name, text, error, message):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(error, match=re.escape(message)) as caught:
        Knowledge.load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 700


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileError, match=r"none\.toml: cannot be read: no such file"):
        Knowledge.load(tmp_path / "none.toml")


def test_saves_json_only(tmp_path):
    with pytest.raises(UnknownNameError, match=r"unknown file format .*known: \.json"):
        KNOWN.save(tmp_path / "ward.toml")
    assert list(tmp_path.iterdir()) == []
