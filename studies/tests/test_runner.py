"""Running a study: rows as they are done, the same on any number of processes, going on."""

import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from bestdag import BestdagError, FileError, FormatError, WriteError
from studies import runner
from studies.runner import reproduce
from studies.study import Trial
from studies.tests.toy import TOY, run

ROOT = Path(__file__).parents[2]
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
hears_ctrl_c = pytest.mark.skipif(
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN, reason="Ctrl-C is ignored here"
)


def lines(folder):
    return [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]


def rows(folder):
    return {json.dumps(one["trial"]): one["row"] for one in lines(folder)[1:]}


@pytest.fixture
def data(tmp_path):
    """A folder with a network that is not the one asked for."""
    (tmp_path / "data/networks").mkdir(parents=True)
    (tmp_path / "data/networks/asia.bif").write_text("network other {}\n")
    return tmp_path / "data"


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_rows_are_the_same_on_any_number_of_processes(tmp_path, threads):
    reproduce(TOY, tmp_path / "one", threads=1)
    reproduce(TOY, tmp_path / "many", threads=threads)
    assert len(rows(tmp_path / "one")) == 5
    assert rows(tmp_path / "one") == rows(tmp_path / "many")
    for name in ("summary.md", "summary.html", "curve.svg"):
        texts = [(tmp_path / run / name).read_text() for run in ("one", "many")]
        assert texts[0] == texts[1]


def test_another_seed_gives_other_rows(tmp_path):
    reproduce(TOY, tmp_path / "a", threads=1)
    reproduce(TOY, tmp_path / "b", threads=1, seed=1)
    assert not set(rows(tmp_path / "a")) & set(rows(tmp_path / "b"))
    values = [[row["value"] for row in rows(tmp_path / run).values()] for run in "ab"]
    assert values[0] != values[1]


@linux
def test_a_run_that_was_killed_goes_on_where_it_was(tmp_path):
    """Killed while a line is being written, it leaves part of one, which is no row."""
    reproduce(TOY, tmp_path / "whole", threads=1)
    command = [sys.executable, "-m", "studies.tests.toy", str(tmp_path / "killed")]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    worker = int((tmp_path / "killed/worker").read_text())
    while Path(f"/proc/{worker}").exists():  # it ends with the first process
        time.sleep(0.02)
    assert len(rows(tmp_path / "killed")) == 3
    with open(tmp_path / "killed/rows.jsonl", "a") as file:
        file.write('{"trial":{"k":3,')
    seen = []
    reproduce(TOY, tmp_path / "killed", threads=1, resume=True, on_progress=seen.append)
    assert [(one.n_done, one.n_trials) for one in seen] == [(1, 2), (2, 2)]
    assert rows(tmp_path / "killed") == rows(tmp_path / "whole")
    summary = (tmp_path / "killed/summary.md").read_text()
    assert summary == (tmp_path / "whole/summary.md").read_text()


@pytest.mark.slow
@linux
def test_a_hundred_kills(tmp_path):
    """At random moments after a row was written, as a loss of power does it."""
    command = [sys.executable, "-m", "studies", "jensen2007", "--quiet", "--threads", "2"]
    subprocess.run([*command, "-o", tmp_path / "whole"], cwd=ROOT, check=True)
    command += ["--resume", "-o", str(tmp_path / "killed")]
    file = tmp_path / "killed/rows.jsonl"
    draw = random.Random(0)
    n_killed = 0
    while n_killed < 100:
        before = file.stat().st_size if file.exists() else 0
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as process:
            while process.poll() is None and not (file.exists() and file.stat().st_size > before):
                time.sleep(0.002)
            with suppress(subprocess.TimeoutExpired):
                process.wait(draw.uniform(0.0, 0.1))
            process.kill()
        n_killed += process.returncode == -signal.SIGKILL
        if process.returncode == 0:
            assert rows(tmp_path / "killed") == rows(tmp_path / "whole")
            file.unlink()
    subprocess.run(command, cwd=ROOT, check=True)
    assert rows(tmp_path / "killed") == rows(tmp_path / "whole")


def test_a_full_run_takes_the_rows_of_a_quick_one(tmp_path):
    reproduce(TOY, tmp_path, threads=1)
    told = []
    reproduce(TOY, tmp_path, size="full", resume=True, threads=1, on_forecast=told.append)
    assert len(rows(tmp_path)) == 11
    # Every group was known already.
    assert [(one.n_trials, one.processors) for one in told] == [(6, 1)]


def test_a_forecast_runs_one_trial_of_each_group(tmp_path):
    told = []
    reproduce(TOY, tmp_path, size="full", threads=1, forecast_only=True, on_forecast=told.append)
    assert {one["trial"]["k"] for one in lines(tmp_path)[1:]} == {0, 1}
    assert (told[0].n_trials, told[0].n_known, told[0].n_groups) == (9, 2, 2)
    assert told[0].seconds > 0


def slow(trial, folder):
    """Trials of which the first few end at once, and the others never in the time of a test."""
    if trial.settings["k"] >= 3:
        time.sleep(600)
    return run(trial, folder)


@linux
@pytest.mark.parametrize("threads", [1, 2])
def test_at_the_time_limit_trials_are_dropped_and_the_rows_there_are_make_the_summary(
    tmp_path, threads
):
    summary = reproduce(replace(TOY, run=slow), tmp_path, threads=threads, time_limit=1)
    assert {json.loads(one)["k"] for one in rows(tmp_path)} <= {0, 1, 2}
    about = f"{len(rows(tmp_path))} of 6 trials. The others were not done when the time limit of"
    assert f"{about} 1.0 s was over." in (tmp_path / "summary.md").read_text()
    assert summary.time_limit == 1
    whole = reproduce(TOY, tmp_path, threads=1, resume=True, time_limit=60)
    assert (whole.n_done, whole.time_limit) == (5, None)


def answering(trial, folder, *, parent):
    """Answer Ctrl-C, as searches do with the best so far."""
    if trial.settings["k"] >= 3:
        with suppress(KeyboardInterrupt):
            os.kill(parent, signal.SIGINT)
            time.sleep(600)
    return run(trial, folder)


@linux
@hears_ctrl_c
@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_the_run_and_keeps_the_rows_before(tmp_path, threads):
    before = multiprocessing.active_children()
    with pytest.raises(KeyboardInterrupt):
        reproduce(
            replace(TOY, run=partial(answering, parent=os.getpid())), tmp_path, threads=threads
        )
    assert multiprocessing.active_children() == before
    assert {json.loads(one)["k"] for one in rows(tmp_path)} <= {0, 1, 2}
    assert not (tmp_path / "summary.md").exists()
    assert reproduce(TOY, tmp_path, threads=1, resume=True).n_done == 5


def killed(trial, folder):
    if trial.settings["k"] == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return run(trial, folder)


@linux
def test_a_process_that_is_killed_ends_the_run(tmp_path):
    with pytest.raises(BestdagError, match="perhaps because memory ran out; use fewer --threads"):
        reproduce(replace(TOY, run=killed), tmp_path, threads=1)
    assert reproduce(TOY, tmp_path, threads=1, resume=True).n_done == 5


def busy(trial, folder):
    end = time.process_time() + 0.2
    while time.process_time() < end:
        pass
    return run(trial, folder)


def test_a_forecast_of_a_part_of_the_groups_scales_what_the_study_expects(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "_TO_FORECAST", 0.1)

    def trials(size, seed):
        for k in range(12):
            settings = {"k": k, "seed": seed}
            yield Trial("short" if k % 2 else "long", settings, expected=1 if k % 2 else 5)

    told = []
    reproduce(
        replace(TOY, trials=trials, run=busy),
        tmp_path,
        size="full",
        threads=1,
        forecast_only=True,
        on_forecast=told.append,
    )
    assert [(one.n_trials, one.n_known, one.n_groups) for one in told] == [(11, 1, 2)]
    first = lines(tmp_path)[1]
    is_long = first["trial"]["k"] % 2 == 0
    others = 6 / 5 if is_long else 6 * 5
    assert told[0].seconds == pytest.approx((5 + others) * first["seconds"])


def test_groups_fill_alike(tmp_path):
    def two_groups(size, seed):
        return [Trial("a" if k < 8 else "b", {"k": k, "seed": seed}) for k in range(10)]

    reproduce(replace(TOY, trials=two_groups), tmp_path, threads=1)
    order = [one["trial"]["k"] for one in lines(tmp_path)[1:]]
    assert order == [0, 1, 8, 2, 3, 4, 5, 9, 6, 7]


def test_progress_counts_to_the_end(tmp_path):
    seen = []
    reproduce(TOY, tmp_path, threads=2, on_progress=seen.append)
    assert [(one.n_done, one.n_trials) for one in seen] == [(k, 5) for k in range(1, 6)]
    assert seen[-1].seconds_left == 0


def test_nothing_is_overwritten_unasked(tmp_path):
    reproduce(TOY, tmp_path, threads=1)
    before = (tmp_path / "rows.jsonl").read_text()
    with pytest.raises(FileError, match=r"rows.jsonl exists already; pass --resume .* --force"):
        reproduce(TOY, tmp_path, threads=1)
    with pytest.raises(FormatError, match=r"was made with seed 0, and 7 .*another folder"):
        reproduce(TOY, tmp_path, threads=1, seed=7, resume=True)
    assert (tmp_path / "rows.jsonl").read_text() == before
    reproduce(TOY, tmp_path, threads=1, seed=7, force=True)
    assert lines(tmp_path)[0]["seed"] == 7


def again(trial, folder, *, place):
    if trial.settings["k"] == 0:
        with pytest.raises(WriteError, match=r"^[^:]*rows.jsonl: another run writes there now"):
            reproduce(TOY, place, resume=True, threads=1)
    return run(trial, folder)


def test_two_runs_do_not_write_into_one_file(tmp_path):
    reproduce(replace(TOY, run=partial(again, place=tmp_path)), tmp_path, threads=1)


def test_trials_may_run_elsewhere(tmp_path):
    reproduce(TOY, tmp_path / "here", threads=1)
    with ThreadPoolExecutor(2) as elsewhere:
        reproduce(TOY, tmp_path / "there", executor=elsewhere)
    texts = [(tmp_path / folder / "summary.md").read_text() for folder in ("here", "there")]
    assert texts[0] == texts[1]


@pytest.mark.parametrize(("folder", "why"), [(None, "no folder was given"), (1, "other contents")])
def test_trials_without_their_files_are_left_out_and_named(tmp_path, data, folder, why):
    summary = reproduce(TOY, tmp_path / "out", data=folder and data, threads=1)
    assert (summary.n_done, summary.n_planned) == (5, 6)
    assert why in summary.missing["networks/asia.bif"]
    text = (tmp_path / "out/summary.md").read_text()
    assert "networks/asia.bif" in text
    assert "SHA-256 " in text


def test_a_folder_that_is_none_is_refused(tmp_path):
    with pytest.raises(FileError, match=r"a folder is needed, got .*nowhere"):
        reproduce(TOY, tmp_path / "out", data=tmp_path / "nowhere")


def failing(trial, folder):
    if trial.settings["k"] == 2:
        raise BestdagError("toy: no")
    return run(trial, folder)


def test_a_failing_trial_ends_the_run_and_keeps_the_rows_before(tmp_path):
    with pytest.raises(BestdagError, match="toy: no"):
        reproduce(replace(TOY, run=failing), tmp_path, threads=1)
    assert len(rows(tmp_path)) == 2


def test_the_summary_has_claims_tables_and_figures(tmp_path):
    reproduce(TOY, tmp_path, threads=1)
    text = (tmp_path / "summary.md").read_text()
    assert "| T1 | nowhere | The mean is positive. | cannot be told |" in text
    assert "### Values | all\n\nof < and >\n\n| k | value |\n|---|---|\n| 0 |" in text
    assert "![The curve](curve.svg)" in text
    assert "- Nothing is open." in text
    page = (tmp_path / "summary.html").read_text()
    assert "of &lt; and &gt;" in page
    assert "http" not in page  # it fetches nothing
    assert 'src="data:image/svg+xml;base64,' in page
    picture = ElementTree.parse(tmp_path / "curve.svg")
    assert "a & b" in [node.text for node in picture.iter()]
