"""What `learn` takes about a table, every command that reads one takes."""

import json
import shlex

import click
import numpy as np
import pytest

from bestdag import discretize, learn
from bestdag.cli.learning_table import table_options
from bestdag.cli.main import run
from bestdag.data.discretization.cuts import write_cut_points
from tests.contracts.test_every_message import click_commands

# What a command needs beside the table.
LEARNING = {
    "bootstrap": ["--replicates", "2"],
    "classify": ["--target", "ill", "--cv", "2"],
    "evaluate": ["--cv", "2", "--search", "hill_climb", "--score", "bic"],
    "info": [],
    "learn": [],
    "pc": [],
    "posterior": [],
    "score-table": ["-o", "out.jkl"],
    "tan": ["--target", "ill"],
    "tree": [],
}
NETWORK = {
    "fit": ["-o", "out.bif"],
    "impute": ["-o", "out.csv"],
    "predict": ["--target", "ill", "-o", "out.csv"],
    "score": [],
}
# They read tables in a way of their own, or none.
OTHERS = {
    *("compare", "convert", "discretize", "draw", "explain", "query", "random"),
    *("sample", "verify"),
}
TOLD = table_options()(click.command()(lambda: None)).params
EVERY = {flag for option in TOLD for flag in option.opts}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A table that needs most of the options, cut points for it, and its network."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(8)
    lines = ["name;dose;smoke;ill"]
    for k in range(120):
        ill = rng.random() < 0.5
        dose = "?" if k == 7 else f"{rng.normal(12 if ill else 8, 2):.2f}"
        smoke = "yes" if rng.random() < 0.3 + 0.4 * ill else "no"
        lines.append(f"p{k};{dose};{smoke};{'yes' if ill else 'no'}")
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    read_as = {"separator": ";", "drop": "name", "missing_values": ("", "?"), "missing": "keep"}
    data = discretize("t.csv", target="ill", **read_as)
    learn(data.select(rows=~data.missing("dose")), "bic").fit().save("net.json")
    write_cut_points(data, "cuts.json")
    return tmp_path


GIVEN = ["t.csv", "--separator", ";", "--drop", "name", "--missing-value", "?"]


def test_every_command_is_looked_at():
    assert {*LEARNING, *NETWORK, *OTHERS} == set(click_commands())


@pytest.mark.parametrize("name", [*LEARNING, *NETWORK])
def test_has_every_option_about_tables(name):
    flags = {flag for option in click_commands()[name].params for flag in option.opts}
    assert set() == EVERY - flags


@pytest.mark.filterwarnings("ignore::bestdag.DataWarning")
@pytest.mark.parametrize("name", LEARNING)
@pytest.mark.parametrize(
    "cutting", [["--discretize"], ["--bins", "3"], ["--cut-points", "cuts.json"]], ids=" ".join
)
def test_reads_and_cuts_the_table_as_learn_does(name, cutting, folder, capsys):
    given = [name, *GIVEN, "--missing", "drop", *cutting, *LEARNING[name]]
    assert run([*given, "--max-states", "4", "--rows-in", "auto"]) == 0
    shown = capsys.readouterr()
    assert "dose" in shown.out
    assert all(": warning: " in line for line in shown.err.splitlines())


@pytest.mark.filterwarnings("ignore::bestdag.DataWarning")
@pytest.mark.parametrize("name", ["learn", "pc", "posterior", "bootstrap", "evaluate", "tree"])
def test_says_what_was_cut(name, folder, capsys):
    assert run([name, *GIVEN, "--missing", "drop", "--bins", "3", *LEARNING[name]]) == 0
    shown = capsys.readouterr().out
    assert "numeric columns binned into up to 3 quantiles: dose" in shown
    assert run([name, *GIVEN, "--missing", "drop", "--bins", "3", "--json", *LEARNING[name]]) == 0
    shown = json.loads(capsys.readouterr().out)
    settings = shown.get("settings", {}) | shown
    assert settings["cut"] == ["dose"]
    assert settings["discretize"] == {"method": "quantile", "bins": 3}


@pytest.mark.parametrize("name", sorted(set(LEARNING) - {"info", "classify"}))
def test_a_refusal_ends_with_a_command_that_is_accepted(name, folder, capsys):
    given = [name, *GIVEN[:3], "--missing-value", "?", *LEARNING[name]]
    assert run(given) == 2
    (line,) = capsys.readouterr().err.splitlines()
    program, *words = shlex.split(line.partition(". Try: ")[2])
    assert [program, *words[: len(given)]] == ["bestdag", *given]
    assert run(words) == 0


@pytest.mark.filterwarnings("ignore::bestdag.DataWarning")
@pytest.mark.parametrize("name", NETWORK)
def test_the_network_says_what_the_states_are(name, folder, capsys):
    more = ["--missing", "drop"] if name in ("fit", "score") else []
    assert run([name, *GIVEN, "net.json", *more, *NETWORK[name]]) == 0
    capsys.readouterr()
    for option in (["--discretize"], ["--bins", "3"], ["--cut-points", "c"], ["--max-states", "9"]):
        assert run([name, "t.csv", "net.json", *option, *NETWORK[name]]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert "NETWORK has the states and the cut points of its columns" in line
        assert f"leave out {option[0]}" in line


@pytest.mark.parametrize("name", ["impute", "predict"])
@pytest.mark.parametrize(
    "option",
    [
        ["--missing", "drop"],
        ["--allow-few-rows"],
        ["--rows-in", "disk"],
        ["--cache", "x"],
        ["--collapse"],
    ],
    ids=" ".join,
)
def test_what_answers_every_row_says_so(name, option, folder, capsys):
    assert run([name, "t.csv", "net.json", *option, *NETWORK[name]]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "row" in line
    assert "leave out --" in line


def test_a_column_of_the_network_that_is_dropped_is_summed_over_or_refused(folder, capsys):
    given = ["t.csv", "net.json", "--separator", ";", "--drop", "name", "--missing-value", "?"]
    assert run(["predict", *given, "--drop", "smoke", "--target", "ill"]) == 0
    assert "no column, summed over: smoke" in capsys.readouterr().err
    for name in ("score", "fit"):
        assert run([name, *given, "--drop", "smoke", "--missing", "drop", *NETWORK[name]]) == 2
        (line,) = [x for x in capsys.readouterr().err.splitlines() if ": warning: " not in x]
        assert "smoke" in line
