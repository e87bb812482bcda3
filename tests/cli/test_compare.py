"""`bestdag compare`: numbers, JSON for one and for several, one drawing."""

import json

import pytest

from bestdag import Dag, Network, compare, random_network
from bestdag.examples import example

NET = str(example("asia.bif"))


@pytest.fixture
def learned(tmp_path):
    truth = Network.load(NET)
    dag = truth.dag.remove("asia", "tub").reverse("smoke", "bronc").add("asia", "smoke")
    paths = []
    for k, one in enumerate((dag, Dag.empty(truth.dag.nodes))):
        path = tmp_path / f"learned {k}.bif"
        random_network(one).save(path)
        paths.append(path)
    return dag, paths


def test_json_has_what_the_library_says(cli, learned):
    dag, (path, _) = learned
    shown = cli("compare", NET, path, "--json")
    assert shown.code == 0
    found = json.loads(shown.out)
    truth = Network.load(NET).dag
    assert found == compare(truth, dag).to_dict()
    assert found["added"] == [["asia", "smoke"]]
    assert found["removed"] == [["asia", "tub"]]
    assert found["reversed"] == [["smoke", "bronc"]]
    assert found["shd_dag"] == 3
    needed = {"shd_dag", "shd_cpdag", "moral_mismatches", "skeleton", "arcs", "added", "removed"}
    assert needed | {"reversed"} <= found.keys()
    assert found["skeleton"].keys() == found["arcs"].keys() == {"precision", "recall", "f1"}


def test_several_are_a_list(cli, learned):
    _, paths = learned
    found = json.loads(cli("compare", NET, *paths, NET, "--json").out)
    assert [one["shd_dag"] for one in found] == [3, 8, 0]


def test_tables_for_people(cli, learned):
    _, paths = learned
    one = cli("compare", NET, paths[0]).out
    assert "asia -> tub" in one
    assert "SHD of classes" in one
    several = cli("compare", NET, *paths).out
    assert len(several.splitlines()) == 3


@pytest.mark.parametrize("suffix", ["dot", "svg", "png"])
def test_draws_both(cli, learned, tmp_path, suffix):
    pytest.importorskip("resvg_py")
    _, (path, _) = learned
    picture = tmp_path / f"both.{suffix}"
    assert cli("compare", NET, path, "--draw", picture).code == 0
    start = {"dot": b"digraph", "svg": b"<svg", "png": b"\x89PNG"}[suffix]
    assert picture.read_bytes().startswith(start)
    again = cli("compare", NET, path, "--draw", picture)
    assert (again.code, "--force" in again.err) == (2, True)
    assert cli("compare", NET, path, "--draw", picture, "--force").code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([NET], "LEARNED"),
        ([NET, "gone.bif"], "gone.bif"),
        ([NET, NET, "--draw", "x.txt"], "--draw needs a file that ends in"),
        ([NET, NET, "--force"], "--force is for"),
        ([NET, NET, NET, "--draw", "x.dot"], "--draw is for one LEARNED"),
        ([NET, NET, "--draw", "none/x.dot"], "does not exist"),
    ],
)
def test_refusals(cli, arguments, said):
    shown = cli("compare", *arguments)
    assert shown.code == 2
    assert said in shown.err
    assert shown.err.count("\n") == 1


def test_other_nodes(cli, tmp_path):
    random_network(3).save(tmp_path / "other.bif")
    shown = cli("compare", NET, tmp_path / "other.bif")
    assert shown.code == 2
    assert "the same nodes" in shown.err
