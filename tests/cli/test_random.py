"""`bestdag random`: a network in a file, never over another."""

import json

import pytest

from bestdag import Network, random_network


def test_writes_what_the_library_draws(cli, tmp_path):
    path = tmp_path / "net.bif"
    shown = cli("random", "-n", 40, "--max-degree", 6, "--seed", 3, "-o", path)
    assert shown.code == 0
    assert "40 variables" in shown.out
    net = Network.load(path)
    assert net == random_network(40, max_degree=6, seed=3)
    assert max(len(net.dag.adjacent(node)) for node in net.names) <= 6


def test_options_are_settings(cli, tmp_path):
    path = tmp_path / "net.json"
    arguments = ["--generator", "order", "--n-arcs", 7, "--arities", "2-4", "--pseudo-count", 0.5]
    shown = cli("random", "-n", 5, *arguments, "-o", path, "--json")
    made = random_network(5, "order", n_arcs=7, arities=(2, 4), pseudo_count=0.5)
    assert Network.load(path) == made
    found = json.loads(shown.out)
    assert found["arcs"] == [list(arc) for arc in made.dag.arcs]
    assert found["parameters"] == made.n_parameters
    assert found["settings"] == {"seed": 0, "arities": [2, 4], "pseudo_count": 0.5, "n_arcs": 7}
    shown = cli("random", "-n", 5, "--generator", "Uniform", "--ess", 1, "-o", path, "--force")
    assert shown.code == 0
    assert Network.load(path) == random_network(5, "uniform", ess=1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-n", 5], "-o"),
        (["-n", 0, "-o", "x.bif"], "-n must be a whole number >= 1"),
        (["-n", 5, "--max-degree", 1, "-o", "x.bif"], "--max-degree must be at least 2"),
        (["-n", 5, "--n-arcs", 3, "-o", "x.bif"], "--n-arcs does not belong to the generator"),
        (["-n", 5, "--generator", "chain", "-o", "x.bif"], "unknown generator 'chain'"),
        (["-n", 5, "--arities", "two", "-o", "x.bif"], "as in 2-4"),
        (["-n", 5, "--ess", 1, "--pseudo-count", 1, "-o", "x.bif"], "--ess and --pseudo-count"),
        (["-n", 9999, "-o", "x.bif"], "use --generator order"),
        (["-n", 5, "-o", "x.txt"], "network format"),
        (["-n", 5, "-o", "-"], "-o needs a file"),
    ],
)
def test_refusals(cli, arguments, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = cli("random", *arguments)
    assert shown.code == 2
    assert said in shown.err
    assert list(tmp_path.iterdir()) == []


def test_keeps_an_existing_file_unless_forced(cli, tmp_path):
    path = tmp_path / "net.bif"
    path.write_text("precious")
    shown = cli("random", "-n", 5, "-o", path)
    assert (shown.code, "--force" in shown.err) == (2, True)
    assert path.read_text() == "precious"
