"""The options of runs that are kept."""

from __future__ import annotations

import json

import pytest

from bestdag.cli.entry import main
from bestdag.examples import example

ASIA = str(example("asia.csv"))


@pytest.fixture
def run(capsys):
    def call(*arguments):
        try:
            code = main([*map(str, arguments)])
        except SystemExit as end:
            code = end.code
        shown = capsys.readouterr()
        return code or 0, shown.out, shown.err

    return call


@pytest.mark.parametrize(
    "command",
    [
        ("learn", ASIA, "--search", "order", "--rounds", "3"),
        ("bootstrap", ASIA, "--replicates", "3"),
        ("posterior", ASIA, "--method", "chains", "--steps", "300"),
    ],
)
def test_a_run_is_kept_refused_resumed_and_begun_anew(run, tmp_path, command):
    kept = ("--checkpoint", tmp_path / "run", "--checkpoint-every", "1", "--json", "--quiet")
    code, first, _ = run(*command, *kept)
    assert code == 0
    code, _, error = run(*command, *kept)
    assert code == 2
    assert "exists already; pass --resume to go on, or --force to begin anew" in error
    code, again, _ = run(*command, *kept, "--resume")
    assert code == 0
    found, expected = json.loads(again), json.loads(first)
    assert found["resumed_seconds"] > 0 == expected["resumed_seconds"]
    assert found["arcs"] == expected["arcs"]
    code, _, error = run(*command, *kept, "--resume", "--seed", "8")
    assert code == 2
    assert "was made with seed 0, and 8 is asked for; name another file, or begin" in error
    assert "--force" in error
    code, anew, _ = run(*command, *kept, "--force")
    assert code == 0
    assert json.loads(anew)["resumed_seconds"] == 0


def test_options_that_contradict_each_other_are_refused(run, tmp_path):
    learn = ("learn", ASIA, "--search", "hill_climb")
    kept = ("--checkpoint", tmp_path / "run")
    assert "--resume is for a run that is kept" in run(*learn, "--resume")[2]
    assert "choose one" in run(*learn, *kept, "--resume", "--force")[2]
    both = ("-o", tmp_path / "net.bif")
    assert run(*learn, *kept, *both)[0] == 0
    assert run(*learn, *kept, *both, "--resume", "--force")[0] == 0  # --force is for the network
    assert "is given twice" in (said := run(*learn, "--checkpoint", ASIA)[2]) or "DATA" in said
