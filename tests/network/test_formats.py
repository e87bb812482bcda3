"""Telling formats by their content, sizes that are refused, and evidence files."""

import gzip
import importlib
from pathlib import Path

import numpy as np
import pytest

import bestdag as bd
from bestdag import Variable
from bestdag.errors import (
    DataError,
    FileError,
    FormatError,
    NotEnoughMemoryError,
    UnknownNameError,
)
from bestdag.network.formats import FORMATS
from bestdag.network.network import Network
from bestdag.network.table import ConditionalTable
from tests.network.examples import asia, small_network

every_format = pytest.mark.parametrize("suffix", FORMATS)


def rendered(network, suffix):
    return importlib.import_module(FORMATS[suffix]).render(network)


@every_format
@pytest.mark.parametrize("name", ["net", "net.txt", "net.xml", "net.dne", "NET.GZ"])
def test_what_is_in_a_file_tells_its_format(tmp_path, suffix, name):
    data = rendered(small_network(), suffix)
    path = tmp_path / name
    path.write_bytes(gzip.compress(data) if name.endswith("GZ") else data)
    assert Network.load(path) == small_network()


@pytest.mark.parametrize("before", ["\ufeff", "\n\n  "])
@pytest.mark.parametrize("suffix", [".bif", ".net", ".dsc", ".uai", ".json"])
def test_blanks_and_marks_before_the_beginning(tmp_path, suffix, before):
    path = tmp_path / "net"
    path.write_bytes(before.encode() + rendered(small_network(), suffix))
    assert Network.load(path) == small_network()


@pytest.mark.parametrize(
    ("text", "suffix"),
    [
        ("// by bnlearn\n/* more */ network x { ", ".bif"),
        ("% by HUGIN\nnet\n{\n ", ".net"),
        ("class x\n{\n", ".net"),
        ("# by somebody\nBAYES\n1 ", ".uai"),
        ("belief  network\n", ".dsc"),
        ("<?xml version='1.0'?><!-- <smile> --><!DOCTYPE BIF []><BIF>", ".xmlbif"),
        ("<smile>", ".xdsl"),
    ],
)
def test_beginnings(tmp_path, text, suffix):
    (tmp_path / "net").write_text(text)
    (tmp_path / f"net{suffix}").write_text(text)
    messages = []
    for path in (tmp_path / "net", tmp_path / f"net{suffix}"):
        with pytest.raises(FormatError) as error:
            Network.load(path)
        messages.append(str(error.value).removeprefix(str(path)))
    assert messages[0] == messages[1]


def test_other_contents_and_missing_files(tmp_path):
    (tmp_path / "net.txt").write_text("a,b\n1,2\n")
    with pytest.raises(UnknownNameError, match=r"unknown network format '\.txt'; known: \.bif"):
        Network.load(tmp_path / "net.txt")
    with pytest.raises(FileError, match="no such file"):
        Network.load(tmp_path / "nothing")


@every_format
def test_the_guide_tells_of_it(suffix):
    guide = Path(__file__).parents[2] / "docs/guide/formats.md"
    assert f"| `{suffix}`" in guide.read_text()


def test_dot_is_only_written(tmp_path):
    path = tmp_path / "asia.dot"
    asia().save(path)
    assert path.read_text() == asia().to_dot() + "\n"
    with pytest.raises(FormatError, match="hold a graph without tables"):
        Network.load(path)


def wide_network(n_states, n_parents):
    """Tables of parents with many states, and a child with one row and a default."""
    states = tuple(map(str, range(n_states)))
    parents = [Variable(f"p{k}", states) for k in range(n_parents)]
    child = Variable("c", ("no", "yes"))
    tables = [ConditionalTable(p, (), np.full(n_states, 1 / n_states)) for p in parents]
    rows = ([[1] * n_parents], [[0.9, 0.1]], [0.5, 0.5])
    return Network([*tables, ConditionalTable.of_rows(child, parents, *rows)])


@every_format
def test_a_table_with_a_default_row_is_written(tmp_path, suffix):
    network = wide_network(120, 2)
    assert network.table("c").sparse is not None
    path = tmp_path / f"net{suffix}"
    network.save(path)
    assert Network.load(path) == network


@every_format
def test_a_table_that_cannot_be_written_out_is_refused_with_its_size(tmp_path, suffix):
    network = wide_network(100, 7)
    path = tmp_path / f"net{suffix}"
    if suffix in (".bif", ".json"):
        network.save(path)
        assert Network.load(path) == network
        return
    with pytest.raises(NotEnoughMemoryError, match=r"a file of 200,000,000,000,700 numbers"):
        network.save(path)
    assert list(tmp_path.iterdir()) == []


# Evidence


def test_evidence_comes_back(tmp_path):
    path = tmp_path / "asia.uai.evid"
    known = {"smoke": "yes", "asia": "no"}
    bd.write_evidence(path, asia(), known)
    assert path.read_text() == "2 2 1 0 0\n"
    assert bd.read_evidence(path, asia()) == known
    bd.write_evidence(path, asia(), {})
    assert bd.read_evidence(path, asia()) == {}


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("0", {}),
        ("1 7 1", {"dysp": "yes"}),
        ("1\n1 7 1", {"dysp": "yes"}),
        ("1 0", {}),
        ("1\n2 7 1 0 0\n", {"dysp": "yes", "asia": "no"}),
    ],
)
def test_forms_of_evidence(tmp_path, text, known):
    (tmp_path / "e").write_text(text)
    assert bd.read_evidence(tmp_path / "e", asia()) == known


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1:1: expected the number of evidence variables, got the end of the file"),
        ("x", ":1:1: expected the number of evidence variables, got 'x'"),
        ("2 0 1", ":1:1: 2 values of evidence are two numbers each, 4 in all, got 2"),
        ("1 8 0", ":1:3: expected the number of a variable of at most 7, got '8'"),
        ("1 0 2", ":1:5: expected the number of a state of variable 0 of at most 1, got '2'"),
        ("2 0 1 0 1", ":1:7: variable 0 has two states as evidence"),
        ("3 0 1\n0 1", ":1:1: 3 values of evidence are two numbers each"),
    ],
)
def test_mistakes_in_evidence(tmp_path, text, message):
    (tmp_path / "e").write_text(text)
    with pytest.raises(FormatError) as error:
        bd.read_evidence(tmp_path / "e", asia())
    assert message in str(error.value)


def test_evidence_that_the_network_does_not_have(tmp_path):
    with pytest.raises(UnknownNameError, match=r"unknown variable 'smke'.*'smoke'"):
        bd.write_evidence(tmp_path / "e", asia(), {"smke": "yes"})
    with pytest.raises((UnknownNameError, DataError), match="maybe"):
        bd.write_evidence(tmp_path / "e", asia(), {"smoke": "maybe"})
    assert list(tmp_path.iterdir()) == []
