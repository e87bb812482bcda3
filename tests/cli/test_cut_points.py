"""Cut points travel: discretize, learn, and every command that meets raw numbers afterwards."""

import json

import numpy as np
import pytest

from bestdag import Network, discretize, read
from bestdag.data.readers import match


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A raw table, its intervals as CSV, their cut points, and networks learned from the CSV."""
    path = tmp_path_factory.mktemp("cuts")
    rng = np.random.default_rng(4)
    ill = rng.random(200) < 0.5
    age = np.where(ill, rng.normal(60, 9, 200), rng.normal(45, 9, 200)).round(1)
    dose = np.abs(rng.normal(3 + 9 * ill, 2)).round(3)
    noise = rng.integers(0, 99, 200)  # no cut is accepted: one interval, 'all'
    rows = zip(age, dose, noise, np.where(ill, "yes", "no"), strict=True)
    lines = ["age,dose,noise,ill", *(",".join(map(str, row)) for row in rows)]
    (path / "raw.csv").write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def learned(cli, folder):
    """A function that learns a network from the intervals, once."""

    def network(suffix):
        out = folder / f"net.{suffix}"
        cut = "discretize", folder / "raw.csv", "--target", "ill", "-o", folder / "cut.csv"
        assert cli(*cut, "--save-cut-points", folder / "cuts.json", "--force").code == 0
        assert cli("learn", folder / "cut.csv", "-o", out, "--force").code == 0
        return out

    return network


def by_python(folder):
    return discretize(folder / "raw.csv", target="ill")


@pytest.mark.filterwarnings("ignore:.*has one state")
@pytest.mark.parametrize("suffix", ["bif", "json"])
def test_cut_points_and_the_order_of_states_travel_with_the_network(learned, folder, suffix):
    network = Network.load(learned(suffix))
    expected = by_python(folder)
    assert expected.variable("noise").states == ("all",)
    for variable in expected.variables:
        assert network.variable(variable.name) == variable
    assert len(network.variable("age").states) >= 2
    assert network.log_loss(folder / "raw.csv") == network.log_loss(expected)


@pytest.mark.parametrize("suffix", ["bif", "json"])
def test_commands_cut_raw_numbers_as_the_network_does_and_say_so(cli, learned, folder, suffix):
    net, raw, cut = learned(suffix), folder / "raw.csv", folder / "cut.csv"
    says = f"numeric columns binned at the cut points of {net}: age, dose, noise\n"
    for command, more in (("score", []), ("fit", ["-o", folder / "new.bif", "--force"])):
        shown = cli(command, raw, net, *more)
        assert shown.code == 0
        assert says in shown.out
        assert says not in cli(command, cut, net, *more).out
        found = json.loads(cli(command, raw, net, *more, "--json").out)
        assert found.pop("cut") == ["age", "dose", "noise"]
        same = json.loads(cli(command, cut, net, *more, "--json").out)
        assert same.pop("cut") == []
        assert found == same


def test_learn_with_a_prior_network_cuts_too(cli, learned, folder):
    net = learned("bif")
    prior = ["--score", "bde", "--prior", net]
    shown = cli("learn", folder / "raw.csv", *prior)
    assert "\nnumeric columns binned at the cut points of the prior network: age, dose" in shown.out
    found = json.loads(cli("learn", folder / "raw.csv", *prior, "--json").out)
    assert found["settings"]["cut"] == ["age", "dose", "noise"]
    same = json.loads(cli("learn", folder / "cut.csv", *prior, "--json").out)
    assert found["score"] == same["score"]


# An interval that no row is in leaves a gap between the labels: the file says what they are.
def test_learn_with_a_file_of_cut_points(cli, learned, folder, tmp_path):
    learned("bif")
    few, net = tmp_path / "few.csv", tmp_path / "net.json"
    header, *lines = (folder / "cut.csv").read_text().splitlines()
    few.write_text("\n".join([header, *(line for line in lines if line.startswith("<="))]))
    for data in (few, folder / "raw.csv"):
        cuts = ["--cut-points", folder / "cuts.json"]
        shown = cli("learn", data, *cuts, "-o", net, "--force", "--quiet")
        assert shown.code == 0
        assert ("numeric columns binned at the cut points of" in shown.out) == (data != few)
        age = Network.load(net).variable("age")
        assert age.cuts == tuple(json.loads((folder / "cuts.json").read_text())["cuts"]["age"])
    assert cli("learn", few, *cuts, "--score", "bde", "--prior", net).code == 2
    assert cli("learn", "--from-scores", "x.jkl", *cuts).code == 2


# What `read` takes for intervals: all labels of one chain of cut points and nothing else.
@pytest.mark.filterwarnings("ignore:.*has one state")
@pytest.mark.parametrize(
    ("labels", "states", "cuts"),
    [
        (
            [">10", "2 to 10", "<=-1.5", "-1.5 to 2"],
            ("<=-1.5", "-1.5 to 2", "2 to 10", ">10"),
            (-1.5, 2, 10),
        ),
        ([">1e-05", "<=1e-05", "missing"], ("<=1e-05", ">1e-05", "missing"), (1e-05,)),
        (["all", "all"], ("all",), ()),
        (["<=2", ">3"], ("<=2", ">3"), None),  # what is between?
        (["<=2", "3 to 6", ">6"], ("3 to 6", "<=2", ">6"), None),
        (["1 to 5", "6 to 10"], ("1 to 5", "6 to 10"), None),
        (["<=50K", ">50K"], ("<=50K", ">50K"), None),
        (["<=2.0", ">2.0"], ("<=2.0", ">2.0"), None),  # discretize writes 2
        (["<=nan", ">nan"], ("<=nan", ">nan"), None),
        (["<=inf", ">inf"], ("<=inf", ">inf"), None),
        (["<=2", ">2", "other"], ("<=2", ">2", "other"), None),
        (["all", "some"], ("all", "some"), None),
    ],
)
def test_labels_of_intervals(labels, states, cuts):
    variable = read({"x": labels}).variable("x")
    assert variable.states == states
    assert variable.cuts == cuts


def test_declared_states_stay_as_declared():
    data = read({"x": ["<=2", ">2"]}, states={"x": (">2", "<=2")})
    assert data.variable("x").states == (">2", "<=2")
    assert data.variable("x").cuts is None


def test_intervals_of_dropped_rows_stay():
    with pytest.warns(match="dropped 1 of 3 rows"):
        data = read({"x": ["<=2", ">2", ">2"], "y": [None, "a", "b"]}, missing="drop")
    assert data.variable("x").cuts == (2.0,)
    assert data.variable("x").states == ("<=2", ">2")


def test_names_of_what_was_cut():
    data = read({"x": ["<=2", ">2"]})
    assert match({"x": [1, 3]}, data.variables).cut == ("x",)
    assert match({"x": ["<=2", ">2"]}, data.variables).cut == ()
