"""`bestdag score-table`: the file that exact search reads."""

import json

import pytest

from bestdag import read
from bestdag.examples import example
from bestdag.scores.bdeu import BDeu
from bestdag.scores.parent_sets.build import build_score_table
from bestdag.scores.scorer import Scorer
from bestdag.scores.table import ScoreTable

DATA = str(example("asia.csv"))


@pytest.mark.parametrize("name", ["t.jkl", "t.jkl.gz", "t.scores"])
def test_writes_what_the_library_scores(cli, tmp_path, name):
    path = tmp_path / name
    shown = cli(
        "score-table", DATA, "-o", path, "--score", "bdeu", "--ess", "10", "--max-parents", "3"
    )
    assert (shown.code, shown.err) == (0, "")
    table = build_score_table(Scorer(read(DATA), BDeu(ess=10.0), support=5), max_parents=3)
    assert ScoreTable.load(path) == table
    assert f"{table.n_sets:,} parent sets of 8 variables" in shown.out
    assert f"{table.n_scored:,} families scored by BDeu(ess=10.0) on 2,000 rows" in shown.out


def test_json_says_what_was_done(cli, tmp_path):
    path = tmp_path / "t.jkl"
    shown = cli("score-table", DATA, "-o", path, "--score", "MDL", "--json")
    told = json.loads(shown.out)
    table = ScoreTable.load(path)
    assert told["seconds"] > 0
    del told["seconds"]
    assert told == {
        "file": str(path),
        "score_name": "bic",
        "settings": {"max_parents": None, "support": 5.0},
        "rows": 2000,
        "base": "e",
        "variables": list(table.names),
        "parent_sets": table.n_sets,
        "scored": told["scored"],
        "largest": max(len(parents) for c in table.names for _, parents in table.sets(c)),
        "pruned": True,
        "complete": True,
    }
    assert table.n_sets <= told["scored"] < 8 * 2**7


def test_no_prune_lists_every_set(cli, tmp_path):
    path = tmp_path / "t.jkl"
    assert cli("score-table", DATA, "-o", path, "--no-prune", "--max-parents", "2").code == 0
    assert ScoreTable.load(path).n_sets == 8 * (1 + 7 + 21)


def test_standard_output(cli, tmp_path):
    shown = cli("score-table", DATA, "-o", "-", "--max-parents", "1")
    (tmp_path / "t.jkl").write_text(shown.out)
    table = build_score_table(Scorer(read(DATA), "qnml", "sparse", support=5), max_parents=1)
    assert ScoreTable.load(tmp_path / "t.jkl") == table


def test_an_incomplete_table_is_announced(cli, tmp_path):
    path = tmp_path / "t.jkl"
    shown = cli("score-table", DATA, "-o", path, "--time-limit", "1e-9", "--json")
    assert shown.code == 0
    assert "the table is incomplete" in shown.err
    assert json.loads(shown.out)["complete"] is False


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "t.jkl", "--score", "bdu"], "did you mean 'bdeu'"),
        (["-o", "t.jkl", "--score", "bic", "--ess", "1"], "--ess does not belong to the score bic"),
        (["-o", "-", "--json"], "both want standard output"),
        (["-o", "t.jkl", "--max-parents", "-1"], "--max-parents"),
        (["-o", "t.jkl", "--time-limit", "0"], "--time-limit must be a finite number > 0"),
        ([], "--output"),
    ],
)
def test_wrong_input(cli, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = cli("score-table", DATA, *arguments)
    assert shown.code == 2
    assert message in shown.err
    assert len(shown.err.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_keeps_an_existing_file_unless_forced(cli, tmp_path):
    path = tmp_path / "t.jkl"
    path.write_text("precious")
    assert cli("score-table", DATA, "-o", path).code == 2
    assert path.read_text() == "precious"
    assert cli("score-table", DATA, "-o", path, "--force", "--quiet").out == ""
    assert ScoreTable.load(path).n_variables == 8
