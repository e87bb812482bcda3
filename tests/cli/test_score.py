"""`bestdag score`: totals, families, JSON, and every wrong input in one line."""

import json
import math

import pytest

from bestdag import BIC, BDe, BDeu, Dag, Network, Scorer, read
from bestdag.examples import example
from bestdag.network.table import ConditionalTable
from bestdag.scores import SCORES, make_score

CSV, NET = str(example("asia.csv")), str(example("asia.bif"))


@pytest.fixture
def small(tmp_path):
    """A network x -> y and a table that fits it."""
    net = tmp_path / "net.bif"
    net.write_text(
        "network n {}\n"
        "variable x { type discrete [ 2 ] { a, b }; }\n"
        "variable y { type discrete [ 3 ] { p, q, r }; }\n"
        "probability ( x ) { table 0.5, 0.5; }\n"
        "probability ( y | x ) { (a) 0.2, 0.3, 0.5; (b) 0.1, 0.1, 0.8; }\n"
    )
    data = tmp_path / "data.csv"
    data.write_text("y,x\np,a\nq,b\nq,a\n")
    return data, net


def test_json_has_the_documented_shape_and_the_librarys_numbers(cli):
    shown = cli("score", CSV, NET, "--score", "bic", "--score", "bdeu", "--ess", "4", "--json")
    assert shown.code == 0
    result = json.loads(shown.out)
    net = Network.load(NET)
    data = read(CSV, states={v.name: v.states for v in net.variables})
    assert result["rows"] == 2000
    assert result["base"] == "e"
    assert result["scores"]["bdeu"]["settings"] == {"ess": 4.0}
    for name, score in (("bic", BIC()), ("bdeu", BDeu(ess=4.0))):
        part = result["scores"][name]
        assert part["total"] == Scorer(data, score).total(net.dag)
        assert part["families"]["dysp"]["parents"] == ["bronc", "either"]
        assert sum(f["score"] for f in part["families"].values()) == pytest.approx(part["total"])


SETTINGS = [
    ("bdeu", ["--ess", "10"], {"ess": 10.0}),
    ("min_bdeu", ["--ess", "2", "--epsilon", "0.25"], {"ess": 2.0, "epsilon": 0.25}),
    ("max-bdeu", ["--epsilon", "1"], {"ess": 1.0, "epsilon": 1.0}),
    ("mit", ["--confidence", "0.9"], {"confidence": 0.9}),
    ("bd", ["--pseudo-count", "2"], {"pseudo_count": 2.0}),
    ("bdq", ["--pseudo-count", "2"], {"pseudo_count": 2.0}),
    ("qnml", ["--regret", "szpankowski"], {"regret": "szpankowski"}),
    ("mdl", [], {}),
]


@pytest.mark.parametrize(("name", "arguments", "settings"), SETTINGS)
def test_settings_reach_the_score(cli, name, arguments, settings):
    shown = cli("score", CSV, NET, "--score", name, *arguments, "--json")
    ((key, result),) = json.loads(shown.out)["scores"].items()
    assert result["settings"] == settings
    net = Network.load(NET)
    data = read(CSV, states={v.name: v.states for v in net.variables})
    expected = Scorer(data, make_score(key, **settings)).total(net.dag)
    assert result["total"] == expected


def test_prior_network_of_bde(cli):
    shown = cli("score", CSV, NET, "--score", "bde", "--prior", NET, "--ess", "5", "--json")
    result = json.loads(shown.out)["scores"]["bde"]
    net = Network.load(NET)
    data = read(CSV, states={v.name: v.states for v in net.variables})
    assert result["settings"] == {"ess": 5.0, "prior": NET}
    assert result["total"] == Scorer(data, BDe(prior=net, ess=5.0)).total(net.dag)


def test_data_that_the_prior_calls_impossible_are_null(cli, small):
    data, net = small
    text = net.read_text().replace("table 0.5, 0.5", "table 1, 0")
    prior = net.with_name("prior.bif")
    prior.write_text(text)
    shown = cli("score", data, net, "--score", "bde", "--prior", prior, "--json")
    assert json.loads(shown.out)["scores"]["bde"]["total"] is None


# The structure is the prior's own but for the arc asia -> tub, which the prior lacks: ln kappa.
def test_structure_prior(cli, tmp_path):
    net = Network.load(NET)
    tables = [t for t in net.tables if t.child.name != "tub"]
    tub = net.variable("tub")
    prior = tmp_path / "prior.bif"
    Network([*tables, ConditionalTable(tub, (), [0.5, 0.5])]).save(prior)
    plain = json.loads(cli("score", CSV, NET, "--score", "bic", "--json").out)
    shown = cli(
        "score", CSV, NET, "--score", "bic", "--structure-prior", prior, "--kappa", "0.1", "--json"
    )
    difference = json.loads(shown.out)["scores"]["bic"]["total"] - plain["scores"]["bic"]["total"]
    assert difference == pytest.approx(math.log(0.1), rel=1e-9)


def test_all_scores(cli):
    shown = cli("score", CSV, NET, "--score", "all", "--json")
    assert set(json.loads(shown.out)["scores"]) == set(SCORES)


def test_table_for_people(cli):
    shown = cli("score", CSV, NET, "--families")
    assert shown.code == 0
    assert "natural logarithms" in shown.out
    assert "2,000 rows" in shown.out
    assert shown.out.splitlines()[-1].startswith("total")
    assert shown.err == ""


def test_states_come_from_the_network(cli, small):
    data, net = small
    shown = cli("score", data, net, "--json")
    # y has three declared states of which two occur: r = 3 in the penalty.
    expected = Scorer(read(data, states={"x": ["a", "b"], "y": ["p", "q", "r"]}), "bic").total(
        Dag(["x", "y"], [("x", "y")])
    )
    assert json.loads(shown.out)["scores"]["bic"]["total"] == expected


def test_weights(cli, small):
    data, net = small
    data.write_text("x,y,n\na,p,3\nb,q,4\n")
    shown = cli("score", data, net, "--weights", "n", "--json")
    assert json.loads(shown.out)["rows"] == 7


def test_standard_input(cli, small, monkeypatch):
    import io

    data, net = small
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data.read_bytes())))
    assert json.loads(cli("score", "-", net, "--json").out)["rows"] == 3


def test_extra_columns_are_refused_or_ignored_on_request(cli, small):
    data, net = small
    data.write_text("x,y,id\n" + "".join(f"a,p,{i}\n" for i in range(100)))
    shown = cli("score", data, net)
    assert shown.code == 2
    assert "'id'" in shown.err
    assert "not in the network; pass --ignore-extra" in shown.err
    assert cli("score", data, net, "--ignore-extra").code == 0


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("x\na\nb\n", "column 'y'"),
        ("x,y\na,p\nb,z\n", "'z'"),
        ("x,y\na,p\n,q\n", "missing"),
        ("x,y\na,p\nb\n", "line 3"),
        ("x,y\n", "no rows"),
        ("", "empty"),
        ("x,x\na,b\n", "'x'"),
    ],
)
def test_wrong_tables_are_one_line_and_code_2(cli, small, content, expected):
    data, net = small
    data.write_text(content)
    shown = cli("score", data, net)
    assert shown.code == 2
    assert shown.out == ""
    assert expected in shown.err
    assert shown.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--score", "bdu"], "did you mean 'bdeu'?"),
        (["--score", "bic", "--ess", "2"], "--ess does not belong to the score bic"),
        (["--ess", "-1"], "ess must be a finite number > 0, got -1.0"),
        (["--ess", "many"], "--ess"),
        (["--kappa", "0.5"], "sparse, uniform, or a network file together with --kappa"),
        (["--structure-prior", NET, "--kappa", "2"], "kappa must be"),
        (["--score", "min_bdeu", "--epsilon", "1"], "epsilon"),
        (["--score", "bde", "--prior", "no.bif"], "no.bif"),
        (["--skore", "bic"], "--score"),
        (["--threads", "0"], "--threads"),
    ],
)
def test_wrong_arguments_are_one_line_and_code_2(cli, arguments, expected):
    shown = cli("score", CSV, NET, *arguments)
    assert shown.code == 2
    assert shown.out == ""
    assert expected in shown.err
    assert shown.err.count("\n") == 1


@pytest.mark.parametrize(("data", "net"), [("no.csv", NET), (CSV, "no.bif"), (CSV, CSV)])
def test_files_that_cannot_be_read(cli, data, net):
    shown = cli("score", data, net)
    assert shown.code == 2
    assert shown.err.count("\n") == 1


def test_advice_on_missing_cells_can_be_followed(cli, small):
    # The states are those of the network, so missing values cannot become one.
    data, net = small
    data.write_text("x,y\na,p\n,p\nb,q\n")
    shown = cli("score", data, net)
    assert shown.code == 2
    assert shown.err.endswith("; pass --missing drop to leave out their rows\n")
    assert cli("score", data, net, "--missing", "drop").code == 0
