"""`bestdag learn --missing em` and `bestdag score --missing em`."""

import json

import numpy as np
import pytest

from bestdag import Dataset, Network, learn, random_network, read
from bestdag.incomplete.scoring import observed_score


@pytest.fixture
def holes(tmp_path):
    network = random_network(4, seed=3)
    data, random = network.sample(120, seed=1), np.random.default_rng(2)
    columns = [
        np.where(random.random(120) < 0.15, data.arities[n], data.codes(n)) for n in data.names
    ]
    path = tmp_path / "holes.csv"
    Dataset(data.variables, columns).to_csv(path)
    return path


def test_learns_and_writes_the_network_that_the_library_fits(cli, holes, tmp_path):
    out = tmp_path / "net.bif"
    done = cli("learn", holes, "--score", "bic", "--missing", "em", "-o", out, "--json")
    said, result = json.loads(done.out), learn(holes, "bic", missing="em")
    assert said["score"] == pytest.approx(result.score)
    assert (said["status"], said["bound"], said["gap"]) == ("local optimum", None, None)
    assert [list(arc) for arc in result.dag.arcs] == said["arcs"]
    fitted = result.fit()
    for table in Network.load(out).tables:
        assert table.values == pytest.approx(fitted.table(table.child.name).values)


def test_settings_of_structural_em(cli, holes):
    given = {"restarts": 1, "max_rounds": 2, "max_iterations": 3, "tolerance": 0.5}
    given |= {"max_cells": 8, "draws": 9}
    options = [f"--em-{name.replace('_', '-')}={value}" for name, value in given.items()]
    said = cli("learn", holes, "--score", "bic", "--missing", "em", "--json", *options)
    assert json.loads(said.out)["settings"]["missing"] == given
    said = cli("learn", holes, "--missing", "drop", "--em-restarts", "1").err
    assert "--em-restarts is for --missing em" in said
    for bad in ("--em-tolerance=nan", "--em-max-iterations=0"):
        said = cli("learn", holes, "--missing", "em", bad)
        assert said.code == 2
        assert bad.partition("=")[0] in said.err
    said = cli("learn", holes, "--score", "fnml", "--missing", "em").err
    assert "--missing em has expected counts" in said


def test_scores_what_the_rows_show(cli, holes, tmp_path):
    net = tmp_path / "net.bif"
    cli("learn", holes, "--score", "bic", "--missing", "em", "-o", net)
    arguments = ("--score", "bic", "--score", "bdeu", "--missing", "em", "--json")
    said = json.loads(cli("score", holes, net, *arguments).out)
    for name in ("bic", "bdeu"):
        found = observed_score(Network.load(net), read(holes, missing="keep"), name)
        assert said["scores"][name]["total"] == pytest.approx(found.score)
    every = json.loads(cli("score", holes, net, "--score", "all", "--missing", "em", "--json").out)
    assert "fnml" not in every["scores"]
    assert "qnml" in every["scores"]
