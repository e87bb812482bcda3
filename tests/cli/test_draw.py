"""`bestdag draw`: a picture of a network file, never half written, never over another file."""

import json
import xml.etree.ElementTree as ET

import pytest

from bestdag import Network
from bestdag.examples import example

NET = str(example("asia.bif"))


def test_writes_svg(cli, tmp_path):
    path = tmp_path / "asia.svg"
    shown = cli("draw", NET, "-o", path)
    assert (shown.code, shown.out) == (0, f"{path}: 8 nodes, 8 arcs\n")
    ET.fromstring(path.read_text())
    assert path.read_text() == Network.load(NET).plot().svg


def test_writes_png(cli, tmp_path):
    pytest.importorskip("resvg_py")
    small, large = tmp_path / "small.png", tmp_path / "large.png"
    assert cli("draw", NET, "-o", small, "--scale", 1).code == 0
    assert cli("draw", NET, "-o", large, "--scale", 3).code == 0
    widths = [int.from_bytes(p.read_bytes()[16:20], "big") for p in (small, large)]
    assert widths[1] == pytest.approx(3 * widths[0], abs=3)


def test_json(cli, tmp_path):
    path = tmp_path / "asia.svg"
    shown = json.loads(cli("draw", NET, "-o", path, "--json").out)
    assert shown["file"] == str(path)
    assert (shown["arcs"], shown["compelled"] + shown["reversible"]) == (8, 8)
    assert shown["compelled"] == len(Network.load(NET).dag.cpdag().arcs)


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("net.gif", "unknown picture format '.gif'; known: .svg, .png"),
        ("net", "unknown picture format ''"),
        ("nowhere/net.svg", "does not exist"),
        ("there.svg", "exists already; pass --force to replace it"),
        ("-", "-o needs a file whose name says its format: .svg or .png"),
    ],
)
def test_refused_before_the_network_is_read(cli, tmp_path, monkeypatch, output, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.svg").write_text("mine")
    shown = cli("draw", "missing.bif", "-o", output)
    assert shown.code == 2
    assert said in shown.err
    assert shown.err.count("\n") == 1
    assert (tmp_path / "there.svg").read_text() == "mine"


def test_force_replaces(cli, tmp_path):
    path = tmp_path / "there.svg"
    path.write_text("mine")
    assert cli("draw", NET, "-o", path, "--force").code == 0
    assert path.read_text().startswith("<svg")


def test_a_file_that_is_no_network(cli, tmp_path):
    shown = cli("draw", example("asia.csv"), "-o", tmp_path / "x.svg")
    assert shown.code == 2
    assert not (tmp_path / "x.svg").exists()
