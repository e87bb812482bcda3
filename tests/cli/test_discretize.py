"""`bestdag discretize`: cut points printed and kept, a table written whole or not at all."""

import json

import pytest

from bestdag import discretize, read
from bestdag.cli.main import cli as group

ROWS = "dose,code,ill\n" + "".join(
    f"{i / 10},{i % 3},{'yes' if i > 6 else 'no'}\n" for i in range(1, 13)
)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(ROWS)
    return path


def test_writes_the_table_and_prints_the_cut_points(cli, table, tmp_path):
    out = tmp_path / "out.csv"
    shown = cli("discretize", table, "--target", "ill", "-o", out)
    assert shown.code == 0
    assert shown.err == ""
    lines = [line.split() for line in shown.out.splitlines()]
    assert shown.out.splitlines()[0] == f"{out}: 12 rows, 1 of 3 columns binned"
    assert lines[2:] == [
        ["dose", "2", "0.65"],
        ["code", "3", "not", "binned"],
        ["ill", "2", "not", "binned"],
    ]
    data = discretize(table, target="ill")
    assert read(out, states={v.name: v.states for v in data.variables}).codes("dose").tolist() == (
        data.codes("dose").tolist()
    )
    assert out.read_text().splitlines()[1] == "<=0.65,1,no"


def test_json(cli, table, tmp_path):
    out = tmp_path / "out.tsv"
    shown = cli("discretize", table, "--method", "uniform", "--bins", "2", "-o", out, "--json")
    assert json.loads(shown.out) == {
        "rows": 12,
        "method": "uniform",
        "target": None,
        "output": str(out),
        "cuts": {"dose": [0.65]},
        "empty_intervals": [],
        "states": {"dose": ["<=0.65", ">0.65"]},
        "one_interval": [],
        "not_cut": ["code", "ill"],
    }
    named = cli(
        *("discretize", table, "--method", "quantile", "--cut", "code", "-o", out),
        *("--json", "--force"),
    )
    assert json.loads(named.out)["cuts"] == {"code": [0.5, 1.5]}


def test_a_column_without_cut_points_does_not_count_as_cut(cli, tmp_path):
    path, out = tmp_path / "t.csv", tmp_path / "out.csv"
    path.write_text("x,same,c\n" + "".join(f"{i / 2},0.5,{'ab'[i > 6]}\n" for i in range(13)))
    call = ("discretize", path, "--target", "c", "-o", out, "--force")
    first = cli(*call).out.splitlines()[0]
    assert first == f"{out}: 13 rows, 1 of 3 columns binned; left as one bin: same"
    found = json.loads(cli(*call, "--json").out)
    assert found["cuts"] == {"x": [3.25], "same": []}
    assert (found["one_interval"], found["not_cut"]) == (["same"], ["c"])


def test_saved_cut_points_are_applied_to_new_rows(cli, table, tmp_path):
    cuts, out, new = tmp_path / "cuts.json", tmp_path / "out.csv", tmp_path / "new.csv"
    cli("discretize", table, "--target", "ill", "-o", out, "--save-cut-points", cuts)
    assert json.loads(cuts.read_text())["cuts"] == {"dose": [0.65]}
    new.write_text("dose,code,other\n-1,0,0.5\n0.65,1,1.5\n99,2,0.5\n")
    shown = cli("discretize", new, "--cut-points", cuts, "-o", out, "--force", "--json")
    assert shown.code == 0
    assert json.loads(shown.out)["cuts"] == {"dose": [0.65]}
    assert out.read_text() == "dose,code,other\n<=0.65,0,0.5\n<=0.65,1,1.5\n>0.65,2,0.5\n"
    wrong = cli(
        "discretize", new, "--cut-points", cuts, "--target", "code", "-o", tmp_path / "x.csv"
    )
    assert wrong.code == 2
    assert "--cut-points already sets the bins" in wrong.err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not a JSON file"),
        ("[" * 100_000, "not a JSON file"),
        ("[]", "not a file of cut points"),
        ('{"format": "bestdag cut points", "version": 2}', "version 1 of the format is needed"),
        ('{"format": "bestdag cut points", "version": 1}', "'cuts' must map columns"),
        (
            '{"format": "bestdag cut points", "version": 1, "cuts": {"dose": [2, 1]}}',
            "must be finite and ascending",
        ),
        (
            '{"format": "bestdag cut points", "version": 1, "cuts": {"dos": [1]}}',
            "unknown column 'dos'",
        ),
    ],
)
def test_refuses_a_file_that_holds_no_cut_points(cli, table, tmp_path, content, message):
    path = tmp_path / "cuts.json"
    path.write_text(content)
    shown = cli("discretize", table, "--cut-points", path, "-o", tmp_path / "out.csv")
    assert shown.code == 2
    assert message in shown.err
    assert shown.err.count("\n") == 1
    assert not (tmp_path / "out.csv").exists()


def test_keeps_existing_files_unless_forced(cli, table, tmp_path):
    out, cuts = tmp_path / "out.csv", tmp_path / "cuts.json"
    cuts.write_text("precious")
    call = ("discretize", table, "--target", "ill", "-o", out, "--save-cut-points", cuts)
    shown = cli(*call)
    assert shown.code == 2
    assert "--force" in shown.err
    assert cuts.read_text() == "precious"
    assert not out.exists()
    assert cli(*call, "--force").code == 0
    assert json.loads(cuts.read_text())["version"] == 1


@pytest.mark.parametrize("names", [("out.csv", "out.csv"), ("out.csv", "./a/../out.csv")])
def test_two_outputs_of_one_name_are_refused(cli, table, tmp_path, monkeypatch, names):
    monkeypatch.chdir(tmp_path)
    out, cuts = names
    shown = cli("discretize", table, "--target", "ill", "-o", out, "--save-cut-points", cuts)
    assert shown.code == 2
    assert f"-o and --save-cut-points are the same file, {cuts}" in shown.err
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("flag", ["-o", "--save-cut-points"])
def test_the_table_that_is_read_is_not_replaced(cli, table, tmp_path, flag):
    link = tmp_path / "link.csv"
    link.symlink_to(table)
    outputs = {"-o": tmp_path / "out.csv", "--save-cut-points": tmp_path / "cuts.json", flag: link}
    named = [part for pair in outputs.items() for part in pair]
    shown = cli("discretize", table, "--target", "ill", *named, "--force")
    assert shown.code == 2
    assert f"DATA and {flag} are the same file" in shown.err
    assert table.read_text() == ROWS


def test_cut_points_are_not_saved_to_a_file_called_dash(cli, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = cli("discretize", table, "--target", "ill", "-o", "o.csv", "--save-cut-points", "-")
    assert shown.code == 2
    assert "give --save-cut-points a file" in shown.err
    assert not (tmp_path / "-").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--method", "fayyad_irani"), "--method fayyad_irani needs --target; name the class"),
        (("--target", "il"), "did you mean 'ill'"),
        (("--method", "quantil"), "did you mean 'quantile'"),
        (("--target", "ill", "--bins", "3"), "--bins does not belong to the method fayyad_irani"),
        (("--method", "quantile", "--bins", "1"), "'--bins': 1 is not in the range x>=2"),
        (("--target", "ill", "--cut", "ill"), "cannot be binned"),
    ],
)
def test_wrong_input_is_one_line_and_no_file(cli, table, tmp_path, arguments, message):
    shown = cli("discretize", table, "-o", tmp_path / "out.csv", *arguments)
    assert shown.code == 2
    assert message in shown.err
    assert shown.err.count("\n") == 1
    assert not (tmp_path / "out.csv").exists()


def test_the_help_names_every_method(cli):
    from bestdag.data.discretization import METHODS

    shown = cli("discretize", "--help").out
    assert all(name in shown for name in METHODS)
    assert "discretize" in group.list_commands(None)


def test_raw_numbers_are_scored_by_a_network_with_cut_points(cli, table, tmp_path):
    net = tmp_path / "net.bif"
    net.write_text(
        "network n { }\\n"
        "variable dose { type discrete [ 2 ] { low, high }; property bestdag-cuts = 0.65; }\\n"
        "variable ill { type discrete [ 2 ] { no, yes }; }\\n"
        "probability ( dose ) { table 0.5, 0.5; }\\n"
        "probability ( ill | dose ) { (low) 1, 0; (high) 0, 1; }\\n".replace("\\n", "\n")
    )
    shown = cli("score", table, net, "--score", "ll", "--ignore-extra", "--json")
    # ill follows dose exactly, so only dose costs: 12 ln 2.
    assert json.loads(shown.out)["scores"]["ll"]["total"] == pytest.approx(-8.317766166719343)


def test_says_when_labels_do_not_tell_the_cut_points(cli, tmp_path):
    table, out = tmp_path / "gap.csv", tmp_path / "out.csv"
    table.write_text("x\n0.5\n1\n9\n9.5\n")
    shown = cli("discretize", table, "--method", "uniform", "--bins", 3, "-o", out)
    assert "no row falls into some interval of x: the labels alone do not tell the cut" in shown.out
    assert read(out).variable("x").cuts is None
    shown = cli("discretize", table, "--method", "quantile", "--bins", 2, "-o", out, "--force")
    assert "no row" not in shown.out
    assert read(out).variable("x").cuts == (5.0,)


def test_missing_cells_can_stay_empty(cli, table, tmp_path):
    table.write_text(ROWS + ",1,no\n")
    out = tmp_path / "out.csv"
    shown = cli("discretize", table, "--target", "ill", "-o", out, "--missing", "keep")
    assert shown.code == 0
    assert out.read_text().splitlines()[-1] == ",1,no"
    assert read(out, missing="keep").missing_counts == {"dose": 1}


def test_without_a_target_intervals_hold_equally_many_rows(cli, table, tmp_path):
    out = tmp_path / "out.csv"
    shown = json.loads(cli("discretize", table, "-o", out, "--json").out)
    assert (shown["method"], shown["target"]) == ("quantile", None)
    assert read(out).variable("dose").cuts == discretize(table).variable("dose").cuts
