"""`bestdag impute`: the library's rows in a file, several of them, refusals in one line."""

import json

import pytest

from bestdag import Network, read
from bestdag.examples import example

NET = str(example("asia.bif"))


@pytest.fixture
def holes(tmp_path):
    path = tmp_path / "holes.csv"
    path.write_text("asia,smoke,xray\nno,,yes\nyes,no,\n,,\n")
    return path


def test_writes_the_rows_of_the_library(cli, holes, tmp_path):
    out = tmp_path / "full.csv"
    said = json.loads(cli("impute", holes, NET, "-o", out, "--json").out)
    network = Network.load(NET)
    states = {v.name: v.states for v in network.variables}
    assert read(out, states=states) == network.impute(holes)
    assert (said["rows"], said["cells"], said["method"]) == (3, 20, "most_probable")
    assert said["files"] == [str(out)]


def test_several_imputations_have_a_file_each(cli, holes, tmp_path):
    out = tmp_path / "full.csv"
    cli("impute", holes, NET, "-o", out, "--method", "draw", "-n", "2", "--seed", "3")
    network = Network.load(NET)
    states = {v.name: v.states for v in network.variables}
    files = [tmp_path / "full-1.csv", tmp_path / "full-2.csv"]
    drawn = network.impute(holes, "draw", n=2, seed=3)
    assert [read(file, states=states) for file in files] == drawn


def test_refusals(cli, holes, tmp_path):
    out = tmp_path / "full.csv"
    out.write_text("precious")
    assert "pass --force" in cli("impute", holes, NET, "-o", out).err
    assert out.read_text() == "precious"
    cli("impute", holes, NET, "-o", out, "--force")
    assert out.read_text() != "precious"
    said = cli("impute", holes, NET, "-o", out, "--force", "-n", "2").err
    assert "--method draw" in said
    other = tmp_path / "other.csv"
    other.write_text("asia,pet\nno,cat\n")
    assert "'pet'" in cli("impute", other, NET, "-o", out, "--force").err
    cli("impute", other, NET, "-o", out, "--force", "--ignore-extra")
