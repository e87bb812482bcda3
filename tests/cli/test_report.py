"""`bestdag learn --report`: the page is written after the answer, never over another file."""

import json

import pytest

from bestdag.examples import example
from bestdag.scores import SCORES
from bestdag.search.exact.search import Exact
from bestdag.search.steps import Proved

CSV = str(example("asia.csv"))


def test_writes_the_report_with_the_command_that_repeats_it(cli, tmp_path):
    path = tmp_path / "a report.html"
    shown = cli("learn", CSV, "--score", "bic", "--report", path)
    assert shown.code == 0
    assert f"{path}: the report; open it in a browser\n" in shown.out
    page = path.read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert f"<pre>bestdag learn {CSV} --score bic --report &#x27;{path}&#x27;</pre>" in page


def test_says_what_was_read_and_what_was_left_out(cli, tmp_path):
    path = tmp_path / "r.html"
    assert cli("learn", CSV, "--drop", "asia", "--drop", "tub", "--report", path).code == 0
    page = path.read_text()
    assert "<h1>asia.csv: 6 variables" in page
    assert "<p>asia.csv: 2,000 rows, 6 columns. Dropped columns: asia, tub. No missing" in page


@pytest.mark.parametrize("command", ["tree", "learn"])
def test_json_stays_one_object(cli, tmp_path, command):
    shown = cli(command, CSV, "--json", "--report", tmp_path / "r.html")
    assert json.loads(shown.out)["variables"]
    assert (tmp_path / "r.html").exists()


def test_of_local_scores(cli, tmp_path):
    scores = tmp_path / "asia.jkl"
    assert cli("score-table", CSV, "-o", scores).code == 0
    shown = cli("learn", "--from-scores", scores, "--report", tmp_path / "r.html")
    assert shown.code == 0
    assert (tmp_path / "r.html").exists()


@pytest.mark.parametrize(
    ("report", "said"),
    [
        ("nowhere/r.html", "does not exist"),
        ("there.html", "exists already; pass --force to replace it"),
        ("-", "--report needs a file"),
        ("", "an empty file name"),
        ("r.pdf", "writes HTML, got r.pdf; name it .html"),
    ],
)
def test_refused_before_the_data_are_read(cli, tmp_path, monkeypatch, report, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.html").write_text("mine")
    shown = cli("learn", "missing.csv", "--report", report)
    assert shown.code == 2
    assert said in shown.err
    assert shown.err.count("\n") == 1
    assert (tmp_path / "there.html").read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 1


def test_not_over_the_table_or_the_network(cli, tmp_path):
    both = str(tmp_path / "x.bif")
    shown = cli("learn", CSV, "-o", both, "--report", both)
    assert shown.code == 2
    assert "-o and --report are the same file" in shown.err


def test_force_replaces(cli, tmp_path):
    (tmp_path / "r.html").write_text("mine")
    assert cli("learn", CSV, "--report", tmp_path / "r.html", "--force").code == 0
    assert (tmp_path / "r.html").read_text() != "mine"


def test_after_ctrl_c_comes_at_once_without_what_takes_long(cli, tmp_path, monkeypatch):
    finished = Exact.steps

    def interrupted(self, problem):
        yield from (event for event in finished(self, problem) if not isinstance(event, Proved))
        raise KeyboardInterrupt

    monkeypatch.setattr(Exact, "steps", interrupted)
    path = tmp_path / "r.html"
    shown = cli("learn", CSV, "--report", path, "--bootstrap", 10**9)
    assert shown.code == 130
    assert (
        f"{path}: the report, without other scores and --bootstrap because of Ctrl-C;" in shown.out
    )
    page = path.read_text()
    assert "Networks selected by other scores" not in page
    assert "Written at once after Ctrl-C" in page
    assert page.count("no time for it") == len(SCORES) - 1


def test_how_sure_each_arc_is_by_bootstrap(cli, tmp_path):
    path = tmp_path / "r.html"
    assert cli("learn", CSV, "--report", path, "--bootstrap", 3).code == 0
    assert "wider: more probable" in path.read_text()
    for arguments, expected in (
        (["--bootstrap", 3], "--bootstrap needs --report FILE"),
        (["--bootstrap", 3, "--report", "s.html", "--missing", "em"], "--missing drop or state"),
    ):
        shown = cli("learn", CSV, *arguments)
        assert (shown.code, expected in shown.err) == (2, True)
