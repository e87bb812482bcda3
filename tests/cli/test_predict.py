"""`bestdag predict`: the library's predictions, for the rows of a table."""

import csv
import json

import numpy as np
import pytest

from bestdag import ChowLiu, Network, learn, read
from bestdag.examples import example

NET = str(example("asia.bif"))
CSV = str(example("asia.csv"))


def parsed(text):
    header, *rows = csv.reader(text.splitlines())
    return header, [row[0] for row in rows], np.array([row[1:] for row in rows], dtype=float)


def test_standard_output_has_what_the_library_predicts(cli):
    shown = cli("predict", NET, CSV, "--target", "lung")
    net = Network.load(NET)
    header, labels, shares = parsed(shown.out)
    assert (shown.code, shown.err) == (0, "")
    states = net.variable("lung").states
    assert header == ["lung", *(f"P(lung={state})" for state in states)]
    assert labels == net.predict("lung", read(CSV)).tolist()
    assert shares.tolist() == net.predict_proba("lung", read(CSV)).tolist()


@pytest.mark.parametrize(("ending", "sign"), [(".csv", ","), (".tsv", "\t")])
def test_a_file_has_the_same(cli, tmp_path, ending, sign):
    path = tmp_path / f"rows{ending}"
    shown = cli("predict", NET, CSV, "--target", "lung", "-o", path)
    assert (shown.code, "rows" in shown.out) == (0, True)
    piped = cli("predict", NET, CSV, "--target", "lung").out
    assert path.read_text() == piped.replace(",", sign)
    assert cli("predict", NET, CSV, "--target", "lung", "-o", path).code == 2
    assert cli("predict", NET, CSV, "--target", "lung", "-o", path, "--force").code == 0


def test_columns_that_are_not_given_are_summed_over(cli, tmp_path):
    data = tmp_path / "rows.csv"
    data.write_text("smoke,other\nyes,1\nno,2\n,3\nNA,4\n")
    shown = cli("predict", NET, data, "--target", "lung", "--missing-value", "NA", "--json")
    result = json.loads(shown.out)
    # Worked out by hand: P(lung=yes | smoke) is 0.1 and 0.01, and smoke is even.
    place = result["states"].index("yes")
    found = [row[place] for row in result["probabilities"]]
    assert found == pytest.approx([0.1, 0.01, 0.055, 0.055])
    assert result["predicted"] == ["no"] * 4
    assert set(result["summed_over"]) == {"asia", "tub", "either", "bronc", "xray", "dysp"}
    assert (result["rows"], result["file"], result["cut"]) == (4, None, [])


def test_says_what_it_sums_over_beside_the_table(cli, tmp_path):
    data = tmp_path / "rows.csv"
    data.write_text("smoke\nyes\n")
    shown = cli("predict", NET, data, "--target", "lung")
    assert "summed over: asia, tub" in shown.err
    assert len(shown.out.splitlines()) == 2
    assert cli("predict", NET, data, "--target", "lung", "--quiet").err == ""


def test_raw_numbers_are_cut_as_the_network_says(cli, tmp_path):
    raw, cut, net = tmp_path / "raw.csv", tmp_path / "cut.csv", tmp_path / "net.json"
    rows = [(f"{x / 10}", "low" if x < 30 else "high") for x in range(60)]
    raw.write_text("x,class\n" + "".join(f"{x},{c}\n" for x, c in rows))
    assert cli("discretize", raw, "--target", "class", "-o", cut).code == 0
    assert cli("tree", cut, "-o", net).code == 0
    shown = cli("predict", net, raw, "--target", "class")
    assert "numeric columns binned at the cut points" in shown.err
    assert parsed(shown.out)[1] == [c for _, c in rows]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([NET, CSV], "--target"),
        ([NET, CSV, "--target", "lungs"], "did you mean 'lung'"),
        ([NET, CSV, "--target", "lung", "-o", "x.xls"], "unknown table format '.xls'"),
        ([NET, CSV, "--target", "lung", "-o", CSV, "--force"], "same file"),
        ([CSV, CSV, "--target", "lung"], "format"),
    ],
)
def test_wrong_input_is_one_line_and_code_2(cli, arguments, expected):
    shown = cli("predict", *arguments)
    assert (shown.code, shown.err.count("\n")) == (2, 1)
    assert expected in shown.err


def test_an_impossible_row_is_refused_or_answered_as_if_nothing_was_known(cli, tmp_path):
    data = tmp_path / "rows.csv"
    data.write_text("tub,either\nyes,no\n")
    refused = cli("predict", NET, data, "--target", "lung")
    assert (refused.code, "row 0" in refused.err) == (2, True)
    shown = cli("predict", NET, data, "--target", "lung", "--impossible", "marginal")
    header, _, shares = parsed(shown.out)
    assert shares[0, header.index("P(lung=yes)") - 1] == pytest.approx(0.055)


@pytest.mark.parametrize("command", [["tree"], ["tan", "--target", "dysp"]])
def test_trees_are_written_with_their_parameters(cli, tmp_path, command):
    path = tmp_path / "net.bif"
    shown = cli(*command, CSV, "-o", path)
    assert (shown.code, "(fsNML estimate)" in shown.out) == (0, True)
    written = Network.load(path)
    if command == ["tree"]:
        expected = learn(CSV, search=ChowLiu()).dag
        assert written.dag == expected
    kinds = json.loads(cli(*command, CSV, "-o", path, "--force", "--json").out)
    assert kinds["settings"]["parameters"] == "fsnml"
    assert [list(arc) for arc in Network.load(path).dag.arcs] == kinds["arcs"]
    mle = cli(*command, CSV, "-o", path, "--force", "--parameters", "MLE")
    assert "(maximum likelihood estimate)" in mle.out


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--parameters", "mle"], "-o FILE"),
        (["-o", "net.txt"], "network format"),
        (["-o", "-"], "needs a file"),
        (["-o", "x.json", "--edge-weights", "x.json"], "same file"),
    ],
)
def test_a_tree_that_could_not_be_written_is_refused_before_the_work(cli, arguments, expected):
    shown = cli("tree", CSV, *arguments)
    assert (shown.code, shown.err.count("\n")) == (2, 1)
    assert expected in shown.err
