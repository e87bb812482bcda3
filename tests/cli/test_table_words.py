"""What commands say about a table: lost rows, cells that may be missing, separators."""

import json

import pytest

FEW = "a,b\n" + "x,u\ny,v\n" * 2 + "x,\ny,\n" * 6
COMMANDS = [["learn"], ["tree"], ["classify", "--target", "a"]]


@pytest.fixture
def table(tmp_path):
    def write(text, name="t.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


@pytest.mark.parametrize("command", COMMANDS)
def test_most_rows_are_dropped_only_when_told_to(cli, table, command):
    path = table(FEW)
    refused = cli(*command, path, "--missing", "drop")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "4 of 16 rows" in refused.err
    assert "--allow-few-rows" in refused.err
    assert "allow_few_rows" not in refused.err
    told = [*command, path, "--missing", "drop", "--allow-few-rows"]
    if command[0] == "classify":
        told += ["--cv", "2"]
    assert cli(*told).code == 0


MARKED = "a,b,c\nNA,x,1.5\ny,?,2.5\ny,x,2.5\nNA,x,1.5\n"


def test_info_counts_cells_that_may_be_missing(cli, table):
    path = table(MARKED)
    shown = cli("info", path).out
    assert "2 values 'NA', treated as states unless --missing-value NA is given: a" in shown
    assert "1 value '?', treated as states unless --missing-value '?' is given: b" in shown
    assert f"bestdag discretize {path} --method quantile" in shown
    found = json.loads(cli("info", path, "--json").out)["variables"]
    assert [one.get("maybe_missing") for one in found] == [{"NA": 2}, {"?": 1}, None]
    told = cli("info", path, "--missing-value", "NA", "--missing-value", "?").out
    assert "states unless --missing-value" not in told


def test_learn_offers_the_option_and_goes_on(cli, table):
    path = table(MARKED)
    shown = cli("learn", path)
    assert shown.code == 0
    first, second = shown.err.splitlines()
    assert "columns 'a' and 'b' have 2 'NA' and 1 '?' as states" in first
    assert first.endswith("pass --missing-value NA --missing-value '?'")
    assert "column 'c' has decimals" in second
    assert "--discretize bins them" in second
    assert second.endswith(
        f"--discretize bins them, or: bestdag discretize '{path}' --method quantile -o FILE"
    )


@pytest.mark.parametrize(
    ("text", "is_said"),
    [
        ("7.0,3.6,setosa\n7.0,3.5,setosa\n6.1,3.6,virginica\n", True),  # states of their columns
        ("12,7\n11,8\n13,9\n", True),  # numbers
        ("1,2\n1,0\n0,1\n", False),  # numbers that count columns
        ("a,b\na,x\ny,z\n", False),
    ],
)
def test_names_that_look_like_a_row_are_warned_of(cli, table, text, is_said):
    path = table(text)
    n = text.splitlines()[0].count(",") + 1
    command = f"put a line with names above them: (seq -s, -f x%g 1 {n}; cat '{path}') > named.csv"
    assert (command in cli("learn", path).err) == is_said


def test_what_is_no_table_is_named_with_what_was_meant(cli, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table("a,b\nx,u\ny,v\n", "asia.csv")
    table("network unknown {}", "asia.bif")
    said = {
        "asia.bif": "is a network, not a table; to draw rows from it: bestdag sample 'asia.bif' -n",
        "asai.csv": "there is no file 'asai.csv'; did you mean 'asia.csv'?",
        ".": "several kinds, .bif and .csv; the table in it is 'asia.csv'\n",
    }
    for file, expected in said.items():
        shown = cli("learn", file)
        assert (shown.code, expected in shown.err) == (2, True), shown.err
    (tmp_path / "asia.csv").unlink()
    assert "the folder '.' holds no table; its files end in .bif" in cli("learn", ".").err
    assert shown.err.count("\n") == 1


@pytest.mark.parametrize(("sign", "word"), [(";", ";"), ("\t", "tab"), ("\t", "\\t"), ("|", "|")])
def test_separators(cli, table, sign, word):
    path = table("a,b\nx,u\ny,v\nx,u\ny,v\n".replace(",", sign))
    refused = cli("learn", path)
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "pass --separator" in refused.err
    assert json.loads(cli("info", path, "--separator", word, "--json").out)["rows"] == 4
    for command in (["learn"], ["tree"], ["classify", "--target", "a", "--cv", "2"]):
        assert cli(*command, path, "--separator", word).code == 0


def test_an_unknown_separator_is_one_line(cli, table):
    shown = cli("info", table("a,b\nx,u\n"), "--separator", "::")
    assert (shown.code, shown.err.count("\n")) == (2, 1)


def test_names_may_be_in_upper_case(cli, table, tmp_path):
    path = table("a,b\nx,u\ny,v\nx,u\ny,v\n")
    out = tmp_path / "net.bif"
    commands = [
        ["learn", path, "--score", "BIC", "--search", "Hill-Climb"],
        ["learn", path, "--score", "MinBDeu", "--parameters", "MLE", "-o", out],
        ["fit", path, out, "--parameters", "FSNML", "-o", out, "--force"],
        ["score", path, out, "--score", "BIC", "--score", "Max-BDeu"],
        [
            "classify",
            path,
            "--target",
            "a",
            "--classifier",
            "TAN",
            "--parameters",
            "MLE",
            "--cv",
            2,
        ],
    ]
    for command in commands:
        assert cli(*command).code == 0, command
    found = json.loads(cli("learn", path, "--score", "BIC", "--json").out)
    assert found["score_name"] == "bic"
