"""`bestdag query` and `bestdag explain`: what they print, and what they refuse."""

import json

import pytest

from bestdag import ConditionalTable, Variable
from bestdag.examples import example
from bestdag.network.network import Network
from tests.network.test_questions import grid

ASIA = str(example("asia.bif"))


def printed(cli, *arguments):
    shown = cli(*arguments)
    assert (shown.code, shown.err) == (0, "")
    return shown.out


def test_one_target_as_json(cli):
    out = printed(cli, "query", ASIA, "lung", "--given", "smoke=yes", "--json")
    found = json.loads(out)
    assert list(found)[:4] == ["target", "given", "distribution", "probability_of_evidence"]
    assert found["target"] == "lung"
    assert found["given"] == {"smoke": "yes"}
    assert found["distribution"] == pytest.approx({"no": 0.9, "yes": 0.1})
    assert found["probability_of_evidence"] == pytest.approx(0.5)


def test_several_targets_as_json(cli):
    out = printed(cli, "query", ASIA, "lung", "bronc", "--given", "dysp=yes", "--json")
    found = json.loads(out)
    expected = Network.load(ASIA).query(["lung", "bronc"], {"dysp": "yes"})
    assert found["targets"] == ["lung", "bronc"]
    assert len(found["distribution"]) == 4
    for each in found["distribution"]:
        assert each["probability"] == pytest.approx(expected[each["states"]])


def test_every_marginal(cli):
    known = ["--given", "dysp=yes", "--likelihood", "xray=0.9,0.2", "--do", "smoke=yes"]
    found = json.loads(printed(cli, "query", ASIA, *known, "--json"))
    assert found["given"] == {"dysp": "yes"}
    assert found["likelihood"] == {"xray": [0.9, 0.2]}
    assert found["do"] == {"smoke": "yes"}
    after = Network.load(ASIA).do(smoke="yes")
    expected = after.marginals({"dysp": "yes"}, likelihood={"xray": [0.9, 0.2]})
    assert found["marginals"] == {n: pytest.approx(d.to_dict()) for n, d in expected.items()}
    text = printed(cli, "query", ASIA, *known)
    assert "smoke     no 0, yes 1" in text
    assert "probability of the evidence" in text


def test_text_for_people(cli):
    out = printed(cli, "query", ASIA, "lung", "--given", "smoke=yes")
    title = "P(lung | smoke = yes)\n"
    assert out.startswith(title + "  no   0.9  ##################\n  yes  0.1  ##\n")


def test_the_title_says_what_is_known_and_what_is_set(cli):
    known = ["--given", "dysp=yes", "--likelihood", "xray=0.9,0.2", "--do", "smoke=yes"]
    title = "P(lung, tub | do(smoke = yes), dysp = yes, likelihood of xray)\n"
    assert printed(cli, "query", ASIA, "lung", "tub", *known).startswith(title)
    every = printed(cli, "query", ASIA, "--given", "dysp=yes", "--do", "smoke=yes")
    assert "distribution given do(smoke = yes), dysp = yes\n" in every
    assert printed(cli, "query", ASIA, "lung").startswith("P(lung)\n")


def test_sampling(cli):
    arguments = ["query", ASIA, "lung", "--method", "sampling", "--samples", "3000", "--json"]
    one = json.loads(printed(cli, *arguments, "--seed", "3", "--threads", "1"))
    two = json.loads(printed(cli, *arguments, "--seed", "3", "--threads", "2"))
    assert one == two
    assert len(one["standard_errors"]) == 2
    assert one["effective_sample_size"] == pytest.approx(3000)
    assert one["probability_of_evidence"] is None


def test_explanations(cli):
    out = printed(cli, "explain", ASIA, "--given", "dysp=yes", "-n", "3", "--json")
    found = json.loads(out)
    expected = Network.load(ASIA).most_probable(given={"dysp": "yes"}, n=3)
    assert [each["states"] for each in found["explanations"]] == [e.states for e in expected]
    assert found["explanations"][0]["probability"] == pytest.approx(expected[0].probability)
    some = printed(cli, "explain", ASIA, "--variable", "lung", "--variable", "bronc")
    assert "lung" in some
    assert "xray" not in some


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["query", ASIA, "lun"], "unknown variable 'lun'"),
        (["query", ASIA, "lung", "--given", "smoke"], "--given needs NAME=STATE, got 'smoke'"),
        (["query", ASIA, "lung", "--given", "smok=yes"], "did you mean 'smoke'?"),
        (["query", ASIA, "lung", "--given", "smoke=ys"], "did you mean 'yes'?"),
        (
            ["query", ASIA, "lung", "--given", "smoke=yes", "--given", "smoke=no"],
            "--given names 'smoke' twice",
        ),
        (["query", ASIA, "--likelihood", "xray=a,b"], "needs numbers separated by commas"),
        (["query", ASIA, "--likelihood", "xray=1"], "must be 2 numbers, one per state (no, yes)"),
        (
            ["query", ASIA, "lung", "--given", "tub=yes", "--given", "either=no"],
            "tub=yes, either=no cannot be together",
        ),
        (
            ["query", ASIA, "lung", "--given", "smoke=yes", "--do", "smoke=no"],
            "--given smoke=yes and --do smoke=no contradict each other",
        ),
        (["explain", ASIA, "-n", "0"], "-n must be a whole number >= 1, got 0"),
    ],
)
def test_refusals(cli, arguments, said):
    shown = cli(*arguments)
    assert (shown.code, shown.out) == (2, "")
    assert said in shown.err
    assert shown.err.count("\n") == 1


def test_names_may_hold_equals_signs(cli, tmp_path):
    odd = Variable("a=b", ("x=y", "z"))
    path = tmp_path / "odd.json"
    Network([ConditionalTable(odd, (), [0.5, 0.5])]).save(path)
    found = json.loads(printed(cli, "query", str(path), "--given", "a=b=x=y", "--json"))
    assert found["given"] == {"a=b": "x=y"}


def test_what_is_too_large_is_refused_with_a_way_out(cli, tmp_path):
    path = tmp_path / "grid.json"
    grid(40).save(path)
    shown = cli("query", str(path), "x39_39")
    assert shown.code == 1
    assert "or pass --method sampling" in shown.err
    found = json.loads(printed(cli, "info", str(path), "--json"))
    assert found["junction_tree"]["treewidth"] >= 40
    assert found["junction_tree"]["bytes"] > 1e12
    assert found["variables"][-1]["table_cells"] == 8
