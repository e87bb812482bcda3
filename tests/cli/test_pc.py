"""`bestdag pc`, and `bestdag learn --skeleton pc`: JSON, tables, wrong input, pipes."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bestdag import Network, learn, pc, pc_skeleton, read
from bestdag.examples import example
from tests.signals import pressed_in

CSV = str(example("asia.csv"))
BIF = str(example("asia.bif"))


def test_json_of_data(cli):
    shown = cli("pc", CSV, "--alpha", "0.01", "--json")
    values = json.loads(shown.out)
    expected = pc(CSV, alpha=0.01)
    assert (shown.code, shown.err) == (0, "")
    assert list(values)[:5] == ["arcs", "edges", "tests", "conflicts", "sepsets"]
    assert [tuple(arc) for arc in values["arcs"]] == list(expected.pdag.arcs)
    assert [tuple(edge) for edge in values["edges"]] == list(expected.pdag.edges)
    assert values["tests"] == expected.n_tests
    assert values["conflicts"] == [conflict.to_dict() for conflict in expected.conflicts]
    sets = {tuple(s["pair"]): tuple(s["given"]) for s in values["sepsets"]}
    assert sets == expected.sepsets
    assert values["settings"]["alpha"] == 0.01
    assert "trace" not in values


def test_json_of_an_oracle(cli):
    values = json.loads(cli("pc", "--oracle", BIF, "--json", "--trace").out)
    cpdag = Network.load(BIF).dag.cpdag()
    assert [tuple(arc) for arc in values["arcs"]] == list(cpdag.arcs)
    assert [tuple(edge) for edge in values["edges"]] == list(cpdag.edges)
    assert values["conflicts"] == []
    assert values["trace"][0] == {"pair": ["asia", "bronc"], "given": [], "independent": True}
    assert values["steps"][0]["rule"] == "rule 1"


@pytest.mark.parametrize("test", ["g2", "x2", "permutation"])
def test_every_test_by_its_name(cli, test):
    values = json.loads(cli("pc", CSV, "--test", test.upper(), "--json").out)
    assert values["test"] == test
    assert {tuple(e) for e in [*values["arcs"], *values["edges"]]} <= {
        *pc(CSV, test=test).pdag.arcs,
        *pc(CSV, test=test).pdag.edges,
    }


def test_settings_reach_the_algorithm_and_the_test(cli):
    asked = ("--as-printed", "--v-structures", "standard", "--df", "declared", "--seed", "3")
    values = json.loads(cli("pc", CSV, *asked, "--max-conditioning", "1", "--json").out)
    chosen = values["settings"]
    assert (chosen["stable"], chosen["v_structures"], chosen["df"]) == (
        False,
        "standard",
        "declared",
    )
    assert (chosen["seed"], chosen["max_conditioning"]) == (3, 1)
    assert len(values["levels"]) == 2
    values = json.loads(cli("pc", CSV, "--test", "permutation", "--seed", "5", "--json").out)
    assert values["settings"]["seed"] == 5


def test_the_table_for_people(cli):
    shown = cli("pc", CSV, "--trace").out
    assert shown.startswith(f"pc (g2) on {CSV}: complete; ")
    assert "I(asia, bronc)" in shown
    assert "statistic" in shown
    assert "condition  questions  tests  removed" in shown
    assert "rule 1" in shown
    assert "I(asia, bronc)" not in cli("pc", CSV).out


def test_explains(cli):
    said = cli("pc", CSV, "--explain", "asia", "bronc").out
    assert said == pc(CSV).explain("asia", "bronc") + "\n"
    values = json.loads(cli("pc", CSV, "--explain", "asia", "bronc", "--json").out)
    assert values["linked"] is False
    assert values["test"]["p_value"] > 0.05


def test_knowledge(cli):
    values = json.loads(cli("pc", CSV, "--know", "smoke -> lung", "--json").out)
    assert ["smoke", "lung"] in values["arcs"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "give either DATA or --oracle NETWORK"),
        ([CSV, "--oracle", BIF], "give either DATA or --oracle NETWORK"),
        (["absent.csv"], "absent.csv"),
        (["--oracle", "absent.bif"], "absent.bif"),
        ([CSV, "--alpha", "2"], "--alpha must be a number between 0 and 1, both excluded, got 2.0"),
        ([CSV, "--alpha", "0"], "--alpha must be"),
        ([CSV, "--test", "g3"], "unknown test 'g3'; known: g2, x2, permutation"),
        ([CSV, "--n-permutations", "9"], "--n-permutations does not belong to the test g2"),
        (["--oracle", BIF, "--alpha", "0.1"], "leave out --alpha"),
        (["--oracle", BIF, "--test", "x2"], "leave out --test"),
        (["--oracle", BIF, "--missing", "drop"], "leave out --missing"),
        ([CSV, "--know", "smke -> lung"], "unknown node 'smke'"),
        ([CSV, "--order", "asia,lung"], "--order must name every variable once"),
        ([CSV, "--explain", "asia", "brnc"], "unknown node 'brnc'"),
        ([CSV, "--time-limit", "-1"], "--time-limit must be a finite number > 0"),
    ],
)
def test_wrong_input_is_one_line_and_code_2(cli, arguments, said):
    shown = cli("pc", *arguments)
    assert shown.code == 2
    assert shown.out == ""
    assert len(shown.err.splitlines()) == 1
    assert said in shown.err


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("A,B\n", 2, "row"),
        ("A,B\nx,y\n", 0, "2 columns are constant, and linked to nothing: 'A', 'B'"),
        ("A,B\nx,0\nx,1\nx,0\n", 0, "1 column is constant, and linked to nothing: 'A'"),
        ("A\nx\ny\n", 0, "0 arcs, 0 edges"),
    ],
)
def test_small_tables(cli, tmp_path, text, code, said):
    path = tmp_path / "t.csv"
    path.write_text(text)
    shown = cli("pc", path)
    assert shown.code == code
    assert said in shown.out + shown.err


def test_standard_input_and_a_reader_that_leaves():
    rows = Path(CSV).read_bytes()
    made = subprocess.run(
        f"{sys.executable} -m bestdag pc - --trace | head -n 1",
        shell=True, input=rows, capture_output=True, check=True,
    )  # fmt: skip
    assert made.stdout.startswith(b"pc (g2) on -: complete")
    assert made.stderr == b""


def test_ctrl_c_shows_the_links_so_far_and_exits_130(cli, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    common = rng.integers(0, 3, 4000)
    table = {
        f"v{i}": np.where(rng.random(4000) < 0.5, common, rng.integers(0, 3, 4000)).astype(str)
        for i in range(150)
    }
    read(table).to_csv(tmp_path / "wide.csv")
    monkeypatch.setattr("bestdag.constraint.pc.pc", pressed_in(pc, times=3))
    shown = cli("pc", tmp_path / "wide.csv", "--json")
    assert shown.code == 130
    values = json.loads(shown.out)
    assert values["status"] == "interrupted"
    assert values["dag"] is None
    assert values["arcs"] == []


def test_learning_within_the_skeleton(cli):
    shown = cli("learn", CSV, "--skeleton", "pc", "--alpha", "0.1")
    assert "within the skeleton with at least 5 rows per table cell on average (proved" in shown.out
    assert "arcs run along the 5 links of a skeleton" in shown.out
    values = json.loads(cli("learn", CSV, "--skeleton", "pc", "--json").out)
    assert values["limits"]["skeleton"] is True
    links = {frozenset(edge) for edge in pc(CSV).skeleton.edges}
    assert {frozenset(arc) for arc in values["arcs"]} <= links
    assert values["score"] == learn(CSV, knowledge=pc_skeleton(CSV)).score


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--skeleton", "fci"], "--skeleton must be one of 'pc', got 'fci'"),
        (["--alpha", "0.1"], "--alpha is for --skeleton pc"),
        (["--skeleton", "pc", "--alpha", "1"], "--alpha must be a number between 0 and 1"),
    ],
)
def test_wrong_skeletons(cli, arguments, said):
    shown = cli("learn", CSV, *arguments)
    assert (shown.code, len(shown.err.splitlines())) == (2, 1)
    assert said in shown.err
