"""`python -m studies`: a study by one command, nothing overwritten, files named that it lacks."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from studies import STUDIES, __main__
from studies.tests.toy import TOY, run

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def toy(monkeypatch, tmp_path):
    """Make a small study the only one."""
    monkeypatch.setitem(STUDIES, "toy", "a number")
    monkeypatch.setattr(__main__, "load_study", lambda name: TOY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BESTDAG_DATA", raising=False)


def called(*arguments):
    return CliRunner().invoke(__main__.command, ["toy", "--threads", "1", *arguments])


def test_a_study_says_which_claims_hold_and_where_the_summary_is(tmp_path):
    answer = called()
    assert (answer.exit_code, answer.stderr) == (0, "")
    assert "T1   cannot be told  " in answer.stdout
    assert "left out: networks/asia.bif no folder was given" in answer.stdout
    assert answer.stdout.endswith("5 of 6 trials; see toy-quick/summary.html\n")
    assert (
        "`python -m studies toy --quick --data DIR`"
        in (tmp_path / "toy-quick/summary.md").read_text()
    )


def test_json():
    answer = json.loads(called("--json", "-o", "out").stdout)
    assert (answer["study"], answer["trials"], answer["planned"]) == ("toy", 5, 6)
    assert answer["claims"][0]["verdict"] == "cannot be told"
    assert answer["folder"] == "out"


def test_the_forecast_comes_before_a_full_run():
    assert called("--full").stderr.startswith("9 trials to go, about 0.0 s on 1 processor")
    shown = called("--forecast", "-o", "other").stdout
    assert "3 trials to go" in shown
    assert "T1" not in shown


def test_rows_are_kept_unless_told_otherwise(tmp_path):
    assert called("-o", "out").exit_code == 0
    answer = called("-o", "out")
    assert answer.exit_code == 2
    assert answer.stderr == (
        "Error: out/rows.jsonl exists already; pass --resume to continue, or --force to start "
        "over\n"
    )
    before = (tmp_path / "out/rows.jsonl").read_text()
    assert called("-o", "out", "--resume").exit_code == 0
    assert (tmp_path / "out/rows.jsonl").read_text() == before
    assert called("-o", "out", "--force").exit_code == 0
    answer = called("-o", "out", "--force", "--resume")
    assert (answer.exit_code, "choose one" in answer.stderr) == (2, True)


def interrupted(trial, folder):
    if trial.settings["k"] == 3:
        raise KeyboardInterrupt
    return run(trial, folder)


def test_ctrl_c_says_where_the_rows_are_and_how_to_go_on(monkeypatch, tmp_path):
    monkeypatch.setattr(__main__, "load_study", lambda name: replace(TOY, run=interrupted))
    answer = called()
    kept = "finished trials are in toy-quick/rows.jsonl; continue with --resume\n"
    assert answer.stderr.startswith(kept)
    assert len((tmp_path / "toy-quick/rows.jsonl").read_text().splitlines()) == 1 + 3


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_ends_it_with_its_processes(tmp_path, name, code):
    command = [sys.executable, "-m", "studies", "jensen2007", "--full", "--threads", "2"]
    with subprocess.Popen(
        [*command, "-o", str(tmp_path / "out")], cwd=ROOT, stderr=subprocess.PIPE, text=True
    ) as process:
        rows = tmp_path / "out/rows.jsonl"
        while not rows.exists() or rows.read_bytes().count(b"\n") < 3:
            time.sleep(0.02)
        process.send_signal(getattr(signal, name))
        shown = process.communicate()[1]  # which waits for all that may write there
    assert (process.returncode, shown.endswith("interrupted\n")) == (code, True)
    assert "Traceback" not in shown


@pytest.mark.parametrize("wrong", [["--data", "nowhere"], ["--time-limit", "5 weeks"]])
def test_refusals_name_the_option(wrong):
    answer = called(*wrong)
    assert answer.exit_code == 2
    assert f"'{wrong[0]}'" in answer.stderr
    assert wrong[1] in answer.stderr


def test_an_unknown_study_is_refused_with_those_there_are():
    answer = CliRunner().invoke(__main__.command, ["carvalho"])
    assert (answer.exit_code, "known: carvalho2009, everything" in answer.stderr) == (2, True)
