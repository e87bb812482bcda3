"""The command itself: help, version, unknown commands, interruption."""

import signal
import subprocess
import sys
import time

import bestdag
from bestdag.cli.main import COMMANDS
from bestdag.examples import example


def test_help_lists_every_command(cli):
    shown = cli("--help")
    assert shown.code == 0
    assert all(name in shown.out for name in COMMANDS)


def test_every_command_has_help(cli):
    for name in COMMANDS:
        shown = cli(name, "--help")
        assert shown.code == 0
        assert "Usage: bestdag " + name in shown.out


def test_version(cli):
    assert cli("--version").out == f"bestdag {bestdag.__version__}\n"


def test_unknown_command_gets_a_suggestion(cli):
    shown = cli("scroe")
    assert shown.code == 2
    assert "did you mean 'score'?" in shown.err
    assert shown.err.count("\n") == 1


def test_interruption_exits_130_and_leaves_no_file(tmp_path):
    path = tmp_path / "rows.csv"
    command = [sys.executable, "-m", "bestdag", "sample", str(example("asia.bif"))]
    process = subprocess.Popen(
        [*command, "-n", "20000000", "-o", str(path)], stderr=subprocess.PIPE, text=True
    )
    time.sleep(1.5)  # long enough to start, far too short to finish
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == "bestdag: interrupted\n"
    assert list(tmp_path.iterdir()) == []


def test_no_command_shows_the_help(cli):
    assert cli() == cli("--help")
