"""The command itself: help, version, unknown commands, interruption."""

import json
import os
import signal
import subprocess
import sys

import pytest

import bestdag
from bestdag.cli.main import COMMANDS
from bestdag.examples import example
from tests.signals import GUARD, hearing, wait_until


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


SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_interruption_exits_with_its_code_and_leaves_no_file(number, code, tmp_path):
    path = tmp_path / "rows.csv"
    command = [sys.executable, "-m", "bestdag", "sample", str(example("asia.bif"))]
    process = subprocess.Popen(
        [*command, "-n", "6000000", "-o", str(path)],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hearing(),
    )
    wait_until(lambda: any(tmp_path.iterdir()), process)
    assert [name.name[:10] for name in tmp_path.iterdir()] == [".rows.csv."]
    process.send_signal(number)
    _, err = process.communicate(timeout=GUARD)
    assert process.returncode == code
    assert err == "bestdag: interrupted\n"
    assert list(tmp_path.iterdir()) == []


def test_a_command_in_the_background_of_a_script_does_not_hear_ctrl_c(tmp_path):
    # The shell lets it ignore SIGINT; Ctrl-C at the terminal is for what the script waits for.
    path = tmp_path / "rows.csv"
    command = [sys.executable, "-m", "bestdag", "sample", str(example("asia.bif"))]
    process = subprocess.Popen(
        ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *command, "-n", "400000", "-o", str(path)]
    )
    wait_until(lambda: any(tmp_path.iterdir()), process)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=GUARD) == 0
    assert path.exists()


def test_tests_that_press_ctrl_c_do_so_in_the_background_of_a_script_too(tmp_path):
    test = tmp_path / "test_it.py"
    test.write_text(
        "import signal, subprocess, sys\n"
        "from tests.conftest import *\n"
        "def test_it():\n"
        "    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler\n"
        "    code = 'import signal; print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)'\n"
        "    assert subprocess.check_output([sys.executable, '-c', code]) == b'False\\n'\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test)]
    done = subprocess.run(
        ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *command],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([os.getcwd(), *sys.path])},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path):
    path = tmp_path / "rows.csv"
    command = [sys.executable, "-m", "bestdag", "sample", str(example("asia.bif")), "-o", str(path)]
    process = subprocess.Popen([*command, "-n", "6000000"])
    wait_until(lambda: any(tmp_path.iterdir()), process)
    process.kill()
    process.wait(timeout=GUARD)
    assert len(list(tmp_path.iterdir())) == 1
    assert subprocess.run([*command, "-n", "5"], check=False).returncode == 0
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_text().count("\n") == 6


def test_no_command_shows_the_help(cli):
    assert cli() == cli("--help")


def run_command(*arguments, **settings):
    command = [sys.executable, "-m", "bestdag", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=False, timeout=GUARD, **settings)


# The command, in which Ctrl-C is pressed when a module begins to be imported.
PRESSED_AT = """
import os, signal, sys
from bestdag.cli.entry import main

def press(event, given):
    if event == "import" and given[0] == name:
        os.kill(os.getpid(), signal.SIGINT)

name = sys.argv.pop(1)
sys.addaudithook(press)
main()
"""


@pytest.mark.parametrize("module", ["bestdag.cli.main", "click", "numpy"])
def test_interruption_while_starting_is_one_line(module):
    command = [sys.executable, "-c", PRESSED_AT, module, "info", str(example("asia.csv"))]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, preexec_fn=hearing("SIGINT")
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "bestdag: interrupted\n")


def test_any_encoding_of_the_terminal_will_do(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("naïve 😀,x\nä,1\nß,2\n", encoding="utf-8")
    settings = {"env": {**os.environ, "PYTHONIOENCODING": "ascii"}}
    shown = run_command("info", path, **settings)
    assert shown.returncode == 0
    assert b"na\\xefve" in shown.stdout
    made = json.loads(run_command("info", path, "--json", **settings).stdout)
    assert made["variables"][0]["name"] == "naïve 😀"


def test_control_characters_do_not_reach_the_terminal(cli, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n\x1b[31mred,1\nplain,2\n")
    assert "\x1b" not in cli("info", path).out


def test_closed_output_is_an_error_of_one_line():
    done = subprocess.run(
        f"{sys.executable} -m bestdag --version >&-", shell=True, capture_output=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.count(b"\n") == 1


def test_what_cannot_be_written_exits_1(cli, tmp_path):
    shown = cli("sample", example("asia.bif"), "-n", "5", "-o", tmp_path / "no" / "x.csv")
    assert shown.code == 1
    assert "cannot be written" in shown.err
    assert shown.err.count("\n") == 1


def test_missing_texts_add_to_empty_cells(cli, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\nNA,1\n,2\na,1\nb,2\n")
    made = json.loads(cli("info", path, "--missing-value", "NA", "--json").out)
    assert made["variables"][0] == {"name": "x", "states": ["a", "b"], "missing": 2}
    made = json.loads(cli("info", path, "--drop", "x", "--json").out)
    assert [v["name"] for v in made["variables"]] == ["y"]
