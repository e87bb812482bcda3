"""The options of runs that are kept."""

from __future__ import annotations

import json

import pytest

from bestdag.examples import example

ASIA = str(example("asia.csv"))


@pytest.mark.parametrize(
    "command",
    [
        ("learn", ASIA, "--search", "order", "--rounds", "3"),
        ("bootstrap", ASIA, "--replicates", "3"),
        ("posterior", ASIA, "--method", "chains", "--steps", "300"),
    ],
)
def test_a_run_is_kept_refused_resumed_and_begun_anew(cli, tmp_path, command):
    kept = ("--checkpoint", tmp_path / "run", "--checkpoint-every", "1", "--json", "--quiet")
    first = cli(*command, *kept)
    assert first.code == 0
    refused = cli(*command, *kept)
    assert refused.code == 2
    assert "exists already; pass --resume to continue, or --force to start over" in refused.err
    again = cli(*command, *kept, "--resume")
    assert again.code == 0
    found, expected = json.loads(again.out), json.loads(first.out)
    assert found["resumed_seconds"] > 0 == expected["resumed_seconds"]
    assert found["arcs"] == expected["arcs"]
    other = cli(*command, *kept, "--resume", "--seed", "8")
    assert other.code == 2
    assert "was made with seed 0, and 8 is asked for; name another file, or start over" in other.err
    assert "--force" in other.err
    anew = cli(*command, *kept, "--force")
    assert json.loads(anew.out)["resumed_seconds"] == 0


def test_options_that_contradict_each_other_are_refused(cli, tmp_path):
    learn = ("learn", ASIA, "--search", "hill_climb")
    kept = ("--checkpoint", tmp_path / "run")
    assert "--resume needs --checkpoint" in cli(*learn, "--resume").err
    assert "choose one" in cli(*learn, *kept, "--resume", "--force").err
    both = (*kept, "-o", tmp_path / "net.bif")
    assert cli(*learn, *both).code == 0
    assert cli(*learn, *both, "--resume", "--force").code == 0  # --force is for the network
    same = cli(*learn, "--checkpoint", ASIA)
    assert same.code == 2
    assert "--checkpoint" in same.err
