"""Durations: seconds, or parts with units, wherever a time is asked for."""

import json

import click
import pytest

from bestdag.cli.options import DURATION
from bestdag.examples import example
from tests.contracts.test_every_message import click_commands


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90.0),
        ("0.5", 0.5),
        ("1e-3", 1e-3),
        ("90s", 90.0),
        ("1m", 60.0),
        ("5min", 300.0),
        ("2h", 7200.0),
        ("1.5H", 5400.0),
        ("1m30s", 90.0),
        ("1h 30m", 5400.0),
        ("1d2h3m4s", 93784.0),
        ("250ms", 0.25),
    ],
)
def test_is_understood(text, seconds):
    assert DURATION.convert(text, None, None) == seconds


@pytest.mark.parametrize(
    "text", ["", "m", "1x", "5m 3", "30s1m", "1m1m", "-1m", "1mm", "1 2s", "s1", "1,5m"]
)
def test_is_refused_with_examples(text):
    with pytest.raises(click.BadParameter, match="give seconds, or such as 30s, 5m, 2h or 1h30m"):
        DURATION.convert(text, None, None)


def test_every_option_that_asks_for_a_time_takes_units():
    found = {
        (name, option.opts[-1])
        for name, command in click_commands().items()
        for option in command.params
        if option.opts[-1] in ("--time-limit", "--checkpoint-every", "--budget")
        or option.metavar == "SECONDS"
    }
    of_type = {
        (name, option.opts[-1])
        for name, command in click_commands().items()
        for option in command.params
        if option.type is DURATION
    }
    assert found == of_type
    assert ("learn", "--budget") in found


def test_a_limit_with_a_unit_is_in_seconds(cli):
    shown = cli("learn", example("asia.csv"), "--time-limit", "1m30s", "--json")
    assert json.loads(shown.out)["settings"]["time_limit"] == 90.0
    shown = cli("learn", example("asia.csv"), "--time-limit", "soon")
    assert (shown.code, shown.err.count("\n")) == (2, 1)
    assert "Invalid value for '--time-limit': 'soon' is not a duration" in shown.err
