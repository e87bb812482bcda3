"""`bestdag fit`: the library's numbers in a file, JSON, and every wrong input in one line."""

import json

import pytest

from bestdag import (
    EM,
    FSNML,
    MLE,
    Dirichlet,
    Network,
    NotEnoughMemoryError,
    fit_network,
    read,
    run_em,
)
from bestdag.examples import example

CSV, NET = str(example("asia.csv")), str(example("asia.bif"))


@pytest.fixture
def small(tmp_path):
    """A network y -> x, z -> x with cut points and properties, and a table that fits it."""
    net = tmp_path / "net.bif"
    net.write_text(
        "network n { property author = me; }\n"
        "variable x { type discrete [ 2 ] { a, b }; property colour = red; }\n"
        "variable z { type discrete [ 2 ] { low, high }; property bestdag-cuts = 1.5; }\n"
        "variable y { type discrete [ 3 ] { p, q, r }; }\n"
        "probability ( z ) { table 0.5, 0.5; }\n"
        "probability ( y ) { table 0.5, 0.25, 0.25; }\n"
        "probability ( x | z, y ) { default 0.5, 0.5; }\n"
    )
    data = tmp_path / "data.csv"
    data.write_text("y,x,z\np,a,low\nq,b,high\nq,a,high\np,a,low\n")
    return data, net, tmp_path / "out.bif"


def matching_data():
    net = Network.load(NET)
    return net, read(CSV, states={v.name: v.states for v in net.variables})


@pytest.mark.parametrize(
    ("arguments", "estimator", "settings"),
    [
        ([], FSNML(), {}),
        (["--parameters", "dirichlet"], Dirichlet(), {"ess": 1.0}),
        (["--parameters", "mle"], MLE(), {}),
        (["--parameters", "FSNML"], FSNML(), {}),
        (["--parameters", "dirichlet", "--ess", "8"], Dirichlet(ess=8), {"ess": 8.0}),
        (
            ["--parameters", "dirichlet", "--pseudo-count", "0.5"],
            Dirichlet(pseudo_count=0.5),
            {"pseudo_count": 0.5},
        ),
        (
            ["--parameters", "dirichlet", "--prior", NET, "--ess", "5"],
            Dirichlet(prior=Network.load(NET), ess=5),
            {"ess": 5.0, "prior": NET},
        ),
    ],
)
def test_the_file_has_the_numbers_of_the_library(cli, tmp_path, arguments, estimator, settings):
    out = tmp_path / "out.bif"
    shown = cli("fit", CSV, NET, *arguments, "-o", out, "--json")
    assert (shown.code, shown.err) == (0, "")
    net, data = matching_data()
    expected = fit_network(net, data, estimator)
    assert Network.load(out) == expected
    assert json.loads(shown.out) == {
        "file": str(out),
        "cut": [],
        "parameters": estimator.name,
        "settings": settings,
        "rows": 2000,
        "variables": list(net.names),
        "arcs": [list(arc) for arc in net.dag.arcs],
        "n_parameters": 18,
    }


def test_all_but_the_numbers_is_kept(cli, small):
    data, net, out = small
    assert cli("fit", data, net, "--parameters", "mle", "-o", out).code == 0
    before, after = Network.load(net), Network.load(out)
    assert (after.name, after.properties, after.names) == (
        before.name,
        before.properties,
        before.names,
    )
    assert after.variables == before.variables
    assert after.variable("z").cuts == (1.5,)
    assert after.properties_of("x") == before.properties_of("x")
    table = after.table("x")
    assert [p.name for p in table.parents] == ["z", "y"]
    assert table.row(z="low", y="p").tolist() == [1, 0]
    assert table.row(z="high", y="q").tolist() == [0.5, 0.5]
    assert after.table("y").values.tolist() == [0.5, 0.5, 0]


def test_line_for_people(cli, small):
    data, net, out = small
    shown = cli("fit", data, net, "--parameters", "dirichlet", "--ess", "2", "-o", out)
    assert shown.out == (
        f"{out}: 3 variables, 2 arcs, 9 parameters; dirichlet(ess=2.0) on 4 rows\n"
    )
    assert cli("fit", data, net, "-o", out, "--force", "--quiet").out == ""


def test_weights_and_rows_with_missing_cells(cli, small):
    data, net, out = small
    data.write_text("y,x,z,n\np,a,low,3\nq,b,high,1\n?,a,low,9\n")
    arguments = ["--weights", "n", "--missing-value", "?", "--parameters", "mle", "-o", out]
    refused = cli("fit", data, net, *arguments)
    assert refused.code == 2
    assert "'y' has 1 missing value, and 2 of 3 rows are complete" in refused.err
    assert "--parameters em" in refused.err
    assert not out.exists()
    assert cli("fit", data, net, *arguments, "--missing", "drop").code == 0
    assert Network.load(out).table("y").values.tolist() == [0.75, 0.25, 0]


def test_a_file_is_replaced_only_with_force(cli, small):
    data, net, out = small
    out.write_text("precious")
    refused = cli("fit", data, net, "-o", out)
    assert refused.code == 2
    assert "--force" in refused.err
    assert out.read_text() == "precious"
    assert cli("fit", data, net, "-o", out, "--force").code == 0
    assert Network.load(out).n_parameters == 9


def test_nothing_is_written_when_fitting_fails(cli, small, monkeypatch):
    data, net, out = small
    out.write_text("precious")

    def short(*_, **__):
        raise NotEnoughMemoryError(
            "fit: tables need 9 GB, 300 bytes are available; use fewer parents"
        )

    monkeypatch.setattr("bestdag.network.fitting.require_memory", short)
    shown = cli("fit", data, net, "-o", out, "--force")
    assert shown.code == 1
    assert "are available; use fewer parents" in shown.err
    assert out.read_text() == "precious"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--parameters", "mlee"], "did you mean 'mle'"),
        (["--parameters", "mle", "--ess", "1"], "--ess does not belong to the parameters mle"),
        (["--parameters", "fsnml", "--pseudo-count", "1"], "--pseudo-count does not belong"),
        (["--parameters", "dirichlet", "--ess", "-1"], "ess must be a finite number > 0"),
        (
            ["--parameters", "dirichlet", "--ess", "1", "--pseudo-count", "1"],
            "got --ess and --pseudo-count",
        ),
        (["--ess", "2"], "--ess does not belong to the parameters fsnml, but to dirichlet and em"),
        (["--parameters", "dirichlet", "--prior", "nothing.bif"], "nothing.bif"),
        (["-o", "net.txt"], "unknown network format '.txt'"),
        (["-o", "no/such/folder/net.bif"], "folder of no/such/folder/net.bif does not exist"),
    ],
)
def test_wrong_input_is_one_line_and_code_2(cli, small, arguments, expected):
    data, net, out = small
    shown = cli("fit", data, net, "-o", out, *arguments)
    assert shown.code == 2
    assert expected in shown.err
    assert shown.err.count("\n") == 1
    assert not out.exists()


def test_columns_and_states_must_match(cli, small):
    data, net, out = small
    data.write_text("y,x\np,a\n")
    assert "'z'" in cli("fit", data, net, "-o", out).err
    data.write_text("y,x,z,more\np,a,low,1\n")
    assert "'more'" in cli("fit", data, net, "-o", out).err
    assert cli("fit", data, net, "-o", out, "--ignore-extra").code == 0
    data.write_text("y,x,z\np,a,middle\n")
    assert "'middle'" in cli("fit", data, net, "-o", out, "--force").err


def test_json_files_are_read_and_written(cli, small):
    data, net, out = small
    as_json = out.with_suffix(".json")
    assert cli("fit", data, net, "-o", as_json).code == 0
    assert cli("fit", data, as_json, "-o", out).code == 0
    assert Network.load(out) == Network.load(as_json)
    for command in ("fit", "learn"):
        told = " ".join(cli(command, "--help").out.split())
        assert ".bif, .json, .xmlbif, .net, .dsc, .xdsl or .uai" in told


@pytest.mark.parametrize("command", [("fit", CSV, NET), ("learn", CSV)])
def test_standard_output_is_no_network_file(cli, command):
    shown = cli(*command, "-o", "-")
    assert shown.code == 2
    assert "-o needs a file whose name says its format: .bif, .json, " in shown.err
    assert shown.err.count("\n") == 1
    assert shown.out == ""


@pytest.fixture
def holes(tmp_path):
    """A table with missing values for the network of `small`."""
    path = tmp_path / "holes.csv"
    path.write_text("y,x,z\np,a,\nq,,high\n,a,high\np,a,low\nr,b,low\n")
    return path


def test_em_keeps_missing_cells_and_says_how_it_went(cli, small, holes):
    _, net, out = small
    done = cli("fit", holes, net, "--parameters", "em", "-o", out, "--json")
    said = json.loads(done.out)
    found = run_em(Network.load(net), holes)
    assert Network.load(out) == found.network
    assert said["log_likelihood"] == pytest.approx(found.log_likelihood)
    assert (said["iterations"], said["converged"]) == (found.iterations, True)
    assert said["starts"][0]["start"] == "available"


def test_em_takes_a_prior_a_start_and_a_variable_without_a_column(cli, small, tmp_path):
    _, net, out = small
    data = tmp_path / "two.csv"
    data.write_text("y,x\np,a\nq,b\nq,\n")
    cli("fit", data, net, "--parameters", "em", "--ess", "2", "--start", net, "-o", out)
    network = Network.load(net)
    assert Network.load(out) == run_em(network, data, EM(ess=2, start=network)).network
    said = cli("fit", data, net, "--parameters", "em", "-o", out, "--force").out
    assert "log-likelihood" in said
    assert "converged after" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--max-iterations", "0"], "EM: --max-iterations must be a whole number >= 1, got 0"),
        (["--tolerance", "-1"], "EM: --tolerance must be a finite number >= 0, got -1.0"),
        (["--missing", "error"], "missing"),
        (["--mode", "yes"], "EM: --mode needs a Dirichlet prior: --ess or --prior"),
    ],
)
def test_em_refuses_in_one_line(cli, small, holes, arguments, message):
    _, net, out = small
    done = cli("fit", holes, net, "--parameters", "em", "-o", out, *arguments)
    assert done.code == 2
    assert message in done.err
    assert not out.exists()
