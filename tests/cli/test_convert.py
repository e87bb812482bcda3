"""`bestdag convert`: every format to every other, atomically, with renamings said."""

import io
import json
from pathlib import Path

import pytest

from bestdag import Network
from bestdag.examples import example
from bestdag.network.formats import FORMATS
from tests.network.examples import small_network

NET = str(example("asia.bif"))


@pytest.mark.parametrize("suffix", FORMATS)
def test_there_and_back(cli, tmp_path, suffix):
    there, back = tmp_path / f"asia{suffix}", tmp_path / "asia.bif.gz"
    shown = cli("convert", NET, there)
    assert shown.code == 0, shown.err
    assert shown.out.startswith(f"{there}: 8 variables, 8 arcs, 18 parameters\n")
    assert cli("convert", there, back).code == 0
    assert Network.load(back) == Network.load(NET)


def test_the_graph_for_graphviz(cli, tmp_path):
    path = tmp_path / "asia.dot"
    shown = cli("convert", NET, path)
    assert shown.out == f"{path}: 8 variables, 8 arcs, no tables\n"
    assert path.read_text().startswith('digraph {\n  "asia";\n')


def test_says_what_it_renames(cli, tmp_path):
    small_network().save(tmp_path / "small.json")
    shown = cli("convert", tmp_path / "small.json", tmp_path / "small.net")
    assert shown.out == (
        f"{tmp_path / 'small.net'}: 2 variables, 1 arc, 5 parameters\n"
        "variables renamed in the file (1): 'wet grass' -> wet_grass\n"
        "states renamed in the file (1): 'soaking wet' -> soaking_wet\n"
        "bestdag reads the original names back from it\n"
    )


def test_json(cli, tmp_path):
    small_network().save(tmp_path / "small.json")
    shown = cli("convert", tmp_path / "small.json", tmp_path / "small.uai", "--json")
    assert json.loads(shown.out) == {
        "from": str(tmp_path / "small.json"),
        "file": str(tmp_path / "small.uai"),
        "format": ".uai",
        "variables": ["rain", "wet grass"],
        "arcs": 1,
        "parameters": 5,
        "renamed": {
            "variables": {"rain": "0", "wet grass": "1"},
            "states": {
                "rain": {"no": "0", "yes": "1"},
                "wet grass": {"dry": "0", "damp": "1", "soaking wet": "2"},
            },
        },
    }


def test_reads_standard_input(cli, tmp_path, monkeypatch):
    class Stdin:
        buffer = io.BytesIO(Path(NET).read_bytes())

    monkeypatch.setattr("sys.stdin", Stdin())
    assert cli("convert", "-", tmp_path / "asia.xdsl").code == 0
    assert Network.load(tmp_path / "asia.xdsl") == Network.load(NET)


def test_keeps_an_existing_file_unless_forced(cli, tmp_path):
    path = tmp_path / "asia.net"
    path.write_text("precious")
    shown = cli("convert", NET, path)
    assert shown.code == 2
    assert "--force" in shown.err
    assert path.read_text() == "precious"
    assert cli("convert", NET, path, "--force").code == 0
    assert Network.load(path) == Network.load(NET)


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (NET, "asia.foo", "save: asia.foo: unknown network format '.foo'; known: .bif"),
        (NET, "-", "OUT needs a file whose name says its format"),
        (NET, "no/such/folder/x.net", "the folder of no/such/folder/x.net does not exist"),
        ("nothing.bif", "x.net", "nothing.bif: cannot be read: no such file"),
        ("bad.bif", "x.net", "bad.bif:1:10: expected '{'"),
    ],
)
def test_refusals_leave_nothing_behind(cli, tmp_path, monkeypatch, source, target, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.bif").write_text("network x")
    shown = cli("convert", source, target)
    assert shown.code == 2
    assert message in shown.err
    assert shown.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["bad.bif"]


def test_a_file_is_not_written_over_itself(cli, tmp_path):
    path = tmp_path / "small.json"
    small_network().save(path)
    shown = cli("convert", path, path, "--force")
    assert shown.code == 2
    assert "IN and OUT are the same file" in shown.err
