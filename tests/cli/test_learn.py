"""`bestdag learn`: the best structure, the one JSON shape, exit codes."""

import json
import math
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from bestdag import (
    BIC,
    FNML,
    FSNML,
    MLE,
    BDeu,
    Dag,
    Dirichlet,
    Exact,
    MinBDeu,
    Network,
    Scorer,
    fit_network,
    learn,
    read,
)
from bestdag.errors import NotEnoughMemoryError
from bestdag.examples import example
from bestdag.search import SEARCHES, auto
from bestdag.search.hill_climb import HillClimb
from tests.search.test_order import chain_data
from tests.signals import GUARD, ctrl_c_in_native_work, hearing, wait_until

CSV = str(example("asia.csv"))
SCORES = "3\na 2\n-1 1 b\n-2 0\nb 2\n-1.5 1 a\n-4 0\nc 1\n-1 0\n"


@pytest.fixture
def scores(tmp_path):
    path = tmp_path / "s.jkl"
    path.write_text(SCORES)
    return path


def test_json_has_the_one_shape_of_structures(cli):
    result = json.loads(cli("learn", CSV, "--score", "bic", "--json").out)
    assert list(result) == [
        "search", "engine", "score_name", "status", "among", "limits", "advice", "score", "bound",
        "gap", "gap_per_row", "empty_score", "proved", "ladder",
    "seconds", "resumed_seconds", "rows_in", "passes", "peak_bytes",
        "workers", "variables", "arcs", "compelled", "score_lost", "notes", "data",
        "settings",
    ]  # fmt: skip
    expected = learn(CSV, "bic")
    assert result["status"] == "optimum proved"
    assert result["score"] == expected.score
    assert [tuple(arc) for arc in result["arcs"]] == list(expected.dag.arcs)
    assert result["gap"] == 0.0
    assert result["advice"] == []
    assert result["limits"] == {
        "max_parents": None,
        "support": 5.0,
        "statements": False,
        "skeleton": False,
        "exempt": [],
    }


def test_any_search_says_how_far_from_the_best_it_may_be(cli):
    ask = ("learn", CSV, "--score", "bic", "--search", "hill_climb")
    assert "; not proved best\n" in cli(*ask).out
    shown = cli(*ask, "--bound").out
    assert "\nby the bound the best of all networks with at least 5 rows per table cell" in shown
    assert "bound on the best score: all components solved to optimality" in shown
    result = json.loads(cli(*ask, "--bound", "--json").out)
    assert result["gap"] == max(0.0, result["bound"] - result["score"])
    assert result["gap_per_row"] == result["gap"] / 2000


def test_the_ladder_is_a_table_and_values(cli, tmp_path, monkeypatch):
    monkeypatch.setattr(auto, "forecast_whole", lambda problem: None)
    path = tmp_path / "chain.csv"
    chain_data(10, 200, 0).to_csv(path)
    ask = ("learn", path, "--score", "bic", "--time-limit", "60")
    lines = cli(*ask, "--ladder").out.splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("parents"))
    assert lines[head + 1].startswith("at most 1")
    assert "proved (edmonds)" in lines[head + 1]
    last = next(line for line in lines[head:] if line.startswith("any"))
    assert "the same" in last
    assert not any(line.startswith("parents") for line in cli(*ask).out.splitlines())
    result = json.loads(cli(*ask, "--json").out)
    assert result["proved"] == "all"
    assert [rung["max_parents"] for rung in result["ladder"]][:1] == [1]
    assert result["ladder"][-1]["max_parents"] is None
    assert result["ladder"][-1]["score"] == result["score"]
    empty = Scorer(read(path), "bic").total(Dag(result["variables"]))
    assert result["empty_score"] == pytest.approx(empty, rel=1e-12)


@pytest.mark.parametrize(
    ("search", "words"),
    [("auto", "the proof is about all at once"), ("tabu", "only the search auto has rungs")],
)
def test_an_answer_without_rungs_says_why(cli, search, words):
    shown = cli("learn", CSV, "--search", search, "--ladder").out
    assert sum(line.startswith("no ladder: ") for line in shown.splitlines()) == 1
    assert words in shown


def test_a_bound_for_a_file_of_scores_is_among_its_sets(cli, scores):
    ask = ("learn", "--from-scores", scores, "--search", "order")
    shown = cli(*ask, "--bound").out
    assert "\nby the bound the best of all networks of the listed parent sets, up to" in shown
    result = json.loads(cli(*ask, "--bound", "--json").out)
    assert (result["score"], result["gap_per_row"]) == (-4.5, None)
    assert abs(result["bound"] + 4.5) < 1e-6


def test_from_a_file_of_scores(cli, scores):
    for engine in ("dp", "bnc", "auto"):
        result = json.loads(cli("learn", "--from-scores", scores, "--engine", engine, "--json").out)
        assert (result["score"], result["score_name"]) == (-4.5, None)
        assert result["arcs"] == [["a", "b"]]


def test_knowledge_from_statements_and_files(cli, tmp_path):
    path = tmp_path / "k.toml"
    path.write_text('forbidden_arcs = [["bronc", "dysp"]]\n')
    arguments = ["--knowledge", path, "--know", "xray -> smoke", "--max-parents", "2"]
    arcs = json.loads(cli("learn", CSV, *arguments, "--json").out)["arcs"]
    assert ["xray", "smoke"] in arcs
    assert ["bronc", "dysp"] not in arcs


def test_table_for_people(cli):
    shown = cli("learn", CSV)
    best = "\nbest of all networks with at least 5 rows per table cell on average (proved; exact"
    assert best in shown.out
    assert "(qnml with sparse prior, 2,000 rows)" in shown.out


def test_require_optimal_exits_1_without_a_proof(cli):
    shown = cli("learn", CSV, "--time-limit", "0.000001", "--require-optimal", "--json")
    assert json.loads(shown.out)["status"] == "time limit"
    assert shown.code == 1
    assert cli("learn", CSV, "--require-optimal").code == 0


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "either DATA or --from-scores"),
        ([CSV, "--from-scores", CSV], "either DATA or --from-scores"),
        ([CSV, "--search", "exakt"], "did you mean 'exact'"),
        ([CSV, "--engine", "lp"], "'lp' is not one of 'auto', 'dp', 'gpu', 'bnc'"),
        ([CSV, "--know", "smoke -> nobody"], "nobody"),
        ([CSV, "--know", "smoke => lung"], "smoke => lung"),
        ([CSV, "--time-limit", "-1"], "--time-limit must be"),
        ([CSV, "--max-parents", "-1"], "--max-parents"),
        (["--from-scores", "no.jkl"], "no.jkl"),
        (["alarm.jkl.gz"], "'alarm.jkl.gz' holds local scores, not rows: give it by --from-scores"),
    ],
)
def test_wrong_input_is_one_line_and_code_2(cli, arguments, expected):
    shown = cli("learn", *arguments)
    assert shown.code == 2
    assert expected in shown.err
    assert shown.err.count("\n") == 1


# fsNML whatever the score; an explicit choice wins, and "score" is what belongs to the score.
@pytest.mark.parametrize(
    ("arguments", "score", "parameters"),
    [
        (["--score", "bdeu", "--ess", "4"], BDeu(ess=4.0), FSNML()),
        (
            ["--score", "bdeu", "--ess", "4", "--parameters", "score"],
            BDeu(ess=4.0),
            Dirichlet(ess=4.0),
        ),
        (["--score", "fnml"], FNML(), FSNML()),
        (["--score", "bic"], BIC(), FSNML()),
        (["--score", "bic", "--parameters", "mle"], BIC(), MLE()),
        (["--score", "bic", "--parameters", "dirichlet"], BIC(), Dirichlet()),
        (["--score", "min_bdeu", "--parameters", "score"], MinBDeu(), Dirichlet(prior=MinBDeu())),
    ],
)
def test_writes_the_fitted_network(cli, tmp_path, arguments, score, parameters):
    out = tmp_path / "net.bif"
    shown = cli("learn", CSV, *arguments, "-o", out, "--json")
    assert shown.code == 0
    assert json.loads(shown.out)["settings"]["parameters"] == parameters.name
    expected = learn(CSV, score)
    fitted = fit_network(expected.dag, expected.dataset, parameters)
    assert Network.load(out) == fitted.with_name("asia")


def test_says_what_it_wrote(cli, tmp_path):
    out = tmp_path / "net.bif.gz"
    shown = cli("learn", CSV, "-o", out)
    assert f"{out}: 17 parameters (fsNML estimate)\n" in shown.out
    assert cli("learn", CSV, "-o", out).code == 2  # it exists
    assert cli("learn", CSV, "-o", out, "--force", "--require-optimal").code == 0


def test_a_network_is_written_without_a_proof_too(cli, tmp_path):
    out = tmp_path / "net.bif"
    shown = cli("learn", CSV, "--time-limit", "0.000001", "--require-optimal", "-o", out)
    assert shown.code == 1
    assert len(Network.load(out).names) == 8


def test_an_interrupted_search_writes_its_best_so_far(cli, tmp_path, monkeypatch):
    def interrupted(self, problem):
        yield from HillClimb().steps(problem)
        raise KeyboardInterrupt

    monkeypatch.setattr(Exact, "steps", interrupted)
    out = tmp_path / "net.bif"
    assert cli("learn", CSV, "-o", out).code == 130
    assert len(Network.load(out).names) == 8


def test_the_structure_is_shown_when_its_tables_do_not_fit(cli, tmp_path, monkeypatch):
    def too_large(*_, **__):
        raise NotEnoughMemoryError("fit: too large")

    monkeypatch.setattr("bestdag.incomplete.base.fitted_network", too_large)
    shown = cli("learn", CSV, "-o", tmp_path / "net.bif", "--json")
    assert shown.code == 1
    assert "fit: too large" in shown.err
    assert json.loads(shown.out)["status"] == "optimum proved"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--from-scores", "s.jkl", "-o", "n.bif"], "a file of local scores has no rows to fit"),
        ([CSV, "--parameters", "mle"], "--parameters is for the network written by -o FILE"),
        ([CSV, "--force"], "--force is for the files written by -o FILE"),
        ([CSV, "-o", "n.txt"], "unknown network format '.txt'"),
        ([CSV, "-o", "no/folder/n.bif"], "the folder of no/folder/n.bif does not exist"),
        ([CSV, "-o", "n.bif", "--parameters", "mel"], "did you mean 'mle'"),
    ],
)
def test_wrong_output_is_refused_before_the_search(cli, monkeypatch, arguments, expected):
    monkeypatch.setattr(Exact, "steps", lambda *_: pytest.fail("searched"))
    shown = cli("learn", *arguments)
    assert shown.code == 2
    assert expected in shown.err
    assert shown.err.count("\n") == 1


def test_help_names_every_search(cli):
    shown = " ".join(cli("learn", "--help").out.split())
    listed = shown.partition("One of ")[2].partition(".")[0]
    assert listed.split(", ") == list(SEARCHES)


@pytest.mark.parametrize(
    "arguments",
    [["--score", "bic"], ["--ess", "7"], ["--missing", "drop"], ["--kappa", "0.5"]],
)
def test_a_score_file_takes_no_options_of_scores_or_data(cli, tmp_path, arguments):
    path = tmp_path / "two.jkl"
    path.write_text("2\na 1\n-1 0\nb 1\n-2 0\n")
    shown = cli("learn", "--from-scores", path, *arguments)
    assert shown.code == 2
    assert f"--from-scores already has its scores: leave out {arguments[0]}" in shown.err


def test_a_prior_network_says_what_the_states_are(cli, tmp_path):
    # The network has states yes, no; on its own the table would have no, yes.
    path = tmp_path / "net.bif"
    path.write_text(
        "network n { }\nvariable a { type discrete [ 2 ] { yes, no }; }\n"
        "probability ( a ) { table 0.25, 0.75; }\n"
    )
    table = tmp_path / "t.csv"
    table.write_text("a\nno\nyes\nno\nno\n")
    shown = cli("learn", table, "--score", "bde", "--prior", path, "--ess", "4", "--json")
    # Pseudo-counts 1 and 3: ln of (1 * 3 * 4 * 5) / (4 * 5 * 6 * 7) = ln(60 / 840).
    assert json.loads(shown.out)["score"] == pytest.approx(math.log(60 / 840))


def test_ctrl_c_is_heard_while_parent_sets_are_listed(cli, tmp_path):
    # 24 columns of noise without a limit on parents: listing takes far longer than the test.
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 3, (300, 24))
    path = tmp_path / "noise.csv"
    names = ",".join(f"v{i}" for i in range(24))
    np.savetxt(path, rows, fmt="%d", delimiter=",", header=names, comments="")
    with ctrl_c_in_native_work():
        shown = cli("score-table", path, "-o", "-", "--support", 0, "--score", "bdeu", "--ess", 50)
    assert shown.code == 130


@pytest.fixture
def noise(tmp_path):
    """A table on which a search for a proof takes far longer than a test."""
    rows = np.random.default_rng(0).integers(0, 3, (300, 40))
    path = tmp_path / "noise.csv"
    names = ",".join(f"v{i}" for i in range(40))
    np.savetxt(path, rows, fmt="%d", delimiter=",", header=names, comments="")
    return path


ENDLESS = ("--search", "tabu", "--patience", "1000000000")

# The command, which says in a file when the search has made a hundred steps.
SEARCHING = """
import pathlib, sys
from bestdag.cli.entry import main
from bestdag.search.climbing.walk import Walk

steps, make = [], Walk.make

def counted(self, moves):
    steps.append(1)
    if len(steps) == 100:
        pathlib.Path(ready).touch()
    return make(self, moves)

Walk.make, ready = counted, sys.argv.pop(1)
main()
"""


@pytest.fixture
def start_search():
    """Begins searches without an end; gives the process once it searches, and ends it at last."""
    runs = []

    def start(table, folder, *arguments, prepare=lambda: None, **settings):
        ready = folder / "ready"
        command = [sys.executable, "-c", SEARCHING, str(ready), "learn", str(table), *ENDLESS]
        settings["preexec_fn"] = lambda: (hearing()(), prepare())
        runs.append(subprocess.Popen([*command, *map(str, arguments)], **settings))
        wait_until(ready.exists, runs[-1])
        return runs[-1]

    yield start
    for run in runs:
        run.kill()
        run.wait()


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_gives_the_best_structure_so_far(name, code, noise, start_search, tmp_path):
    out = tmp_path / "net.bif"
    run = start_search(noise, tmp_path, "--json", "-o", out, stdout=subprocess.PIPE, text=True)
    run.send_signal(getattr(signal, name))
    shown, _ = run.communicate(timeout=GUARD)
    assert run.returncode == code
    assert json.loads(shown)["status"] == "interrupted"
    assert out.exists()
    assert not list(tmp_path.glob(".*"))


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no terminals here")
def test_a_terminal_that_is_closed_does_not_lose_the_network(noise, start_search, tmp_path):
    import fcntl
    import termios

    out = tmp_path / "net.bif"
    ours, theirs = os.openpty()

    def own_terminal():
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    streams = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
    run = start_search(noise, tmp_path, "--quiet", "-o", out, **streams, prepare=own_terminal)
    os.close(theirs)
    os.close(ours)
    assert run.wait(timeout=GUARD) == 129
    assert out.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("--max-parents", "9" * 20),
        ("--search", "tabu", "--length", "9" * 20),
        ("--score", "bd", "--pseudo-count", "1e308"),
        ("--ess", "1" + "0" * 400),
        ("--seed", "9" * 20, "--search", "order"),
    ],
)
def test_numbers_that_nothing_can_hold_are_one_line(cli, arguments):
    shown = cli("learn", example("asia.csv"), *arguments)
    assert shown.code == 2
    assert shown.err.count("\n") == 1
    assert shown.err.startswith("bestdag")


@pytest.mark.parametrize("search", ["auto", "exact", "hill_climb", "tabu", "k2", "order", "ges"])
def test_more_parents_than_there_are_variables_are_no_limit(search):
    free, limited = (
        learn(example("asia.csv"), search=search, max_parents=most) for most in (None, 2**31)
    )
    assert limited.score == pytest.approx(free.score, rel=1e-12)


@pytest.mark.parametrize("search", ["auto", "exact", "order"])
def test_a_score_file_with_numbers_that_overflow_is_refused(cli, tmp_path, search):
    path = tmp_path / "huge.jkl"
    path.write_text("2\nA 2\n1e308 0\n-1e308 1 B\nB 2\n1e308 0\n1e308 1 A\n")
    shown = cli("learn", "--from-scores", path, "--search", search)
    assert shown.code == 2
    assert "too large to compute with, got 1e+308 for 'A'" in shown.err
    assert shown.err.count("\n") == 1


def test_missing_cells_are_kept_where_families_are_scored_over_the_rows_that_show_them(
    cli, tmp_path
):
    rows = ["a,b,c", *["x,u,0", "y,v,1", ",v,1", "x,,0", "y,v,", "x,u,0"] * 10]
    table, network = tmp_path / "t.csv", tmp_path / "net.bif"
    table.write_text("\n".join(rows) + "\n")
    shown = cli("learn", table, "--missing", "available", "--score", "bic", "-o", network, "--json")
    answer = json.loads(shown.out)
    assert (answer["status"], answer["settings"]["missing"]) == ("optimum proved", "available")
    assert "assumes that values are missing completely at random" in answer["notes"][-1]
    assert "30 of 60 rows are complete" in answer["notes"][-1]
    want = learn(table, "bic", missing="available")
    assert answer["score"] == want.score
    assert Network.load(network).dag.arcs == want.dag.arcs
    for command in (["tree"], ["tan", "--target", "c"]):
        shown = cli(*command, table, "--missing", "available", "--score", "pnal", "--json")
        assert json.loads(shown.out)["settings"]["missing"] == "available"
    assert cli("learn", table, "--score", "bic").code == 2
    refused = cli("learn", table, "--search", "ges", "--missing", "available", "--score", "bic")
    assert refused.code == 2
    assert "ges: --missing available scores families over different rows" in refused.err
