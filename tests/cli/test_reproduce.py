"""`bestdag reproduce`: a study by one command, nothing overwritten, files named that it lacks."""

import json
from dataclasses import replace

import pytest

from bestdag import papers
from bestdag.cli.main import run
from tests.papers.toy import TOY


@pytest.fixture(autouse=True)
def toy(monkeypatch, tmp_path):
    """The only study is a small one."""
    monkeypatch.setattr(papers, "load_study", lambda name: TOY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BESTDAG_DATA", raising=False)


def test_a_study_says_which_claims_hold_and_where_the_summary_is(tmp_path, capsys):
    assert run(["reproduce", "toy", "--threads", "1"]) == 0
    shown, told = capsys.readouterr()
    assert told == ""
    assert "T1     cannot be told  " in shown
    assert "left out: networks/asia.bif no folder was given" in shown
    assert shown.endswith("5 of 6 trials; see toy-quick/summary.html\n")
    assert (tmp_path / "toy-quick/summary.md").exists()


def test_json(capsys):
    assert run(["reproduce", "toy", "--json", "-o", "out", "--threads", "1"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["study"], found["trials"], found["planned"]) == ("toy", 5, 6)
    assert found["claims"][0]["verdict"] == "cannot be told"
    assert found["folder"] == "out"


def test_the_forecast_comes_before_a_full_run(capsys):
    assert run(["reproduce", "toy", "--full", "--threads", "1"]) == 0
    assert capsys.readouterr().err.startswith("9 trials to go, about 0.0 s on 1 processor")
    assert run(["reproduce", "toy", "--forecast", "-o", "other", "--threads", "1"]) == 0
    shown = capsys.readouterr().out
    assert "3 trials to go" in shown
    assert "T1" not in shown


def test_rows_are_kept_unless_told_otherwise(tmp_path, capsys):
    arguments = ["reproduce", "toy", "-o", "out", "--threads", "1"]
    assert run(arguments) == 0
    capsys.readouterr()
    assert run(arguments) == 2
    told = capsys.readouterr().err
    assert told == (
        "bestdag: reproduce: out/rows.jsonl exists already; pass --resume to continue, "
        "or --force to start over\n"
    )
    before = (tmp_path / "out/rows.jsonl").read_text()
    assert run([*arguments, "--resume"]) == 0
    assert (tmp_path / "out/rows.jsonl").read_text() == before
    assert run([*arguments, "--force"]) == 0
    capsys.readouterr()
    assert run([*arguments, "--force", "--resume"]) == 2
    assert "choose one" in capsys.readouterr().err


def test_ctrl_c_says_where_the_rows_are_and_how_to_go_on(monkeypatch, tmp_path, capsys):
    def interrupted(trial, folder):
        if trial.settings["k"] == 3:
            raise KeyboardInterrupt
        return TOY.run(trial, folder)

    monkeypatch.setattr(papers, "load_study", lambda name: replace(TOY, run=interrupted))
    assert run(["reproduce", "toy", "--threads", "1"]) == 130
    kept = "bestdag: the trials that are done are in toy-quick/rows.jsonl; --resume runs the others"
    assert capsys.readouterr().err == f"{kept}\nbestdag: interrupted\n"
    assert len((tmp_path / "toy-quick/rows.jsonl").read_text().splitlines()) == 1 + 3


def test_refusals_name_the_option(capsys):
    assert run(["reproduce", "toy", "--data", "nowhere"]) == 2
    assert "--data: a folder is needed, got nowhere" in capsys.readouterr().err
