"""A table and a network are told apart by what they are, whatever their order."""

import os
from pathlib import Path

import pytest

from bestdag import Network
from bestdag.examples import example
from bestdag.network.formats import is_network_file

COMMANDS = {
    "score": [],
    "fit": ["-o", "out.bif"],
    "predict": ["--target", "dysp", "-o", "out.csv"],
    "impute": ["-o", "out.csv"],
}


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A table, and a network whose name says nothing."""
    monkeypatch.chdir(tmp_path)
    os.symlink(example("asia.csv"), "rows.csv")
    Network.load(example("asia.bif")).save("net.bif")
    os.rename("net.bif", "net.txt")
    return "rows.csv", "net.txt"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_order_does_not_matter(cli, files, name):
    answers = []
    for given in (files, files[::-1]):
        shown = cli(name, *given, *COMMANDS[name])
        assert (shown.code, shown.err) == (0, ""), given
        written = sorted(Path.cwd().glob("out.*"))
        answers.append((shown.out, [path.read_text() for path in written]))
        for path in written:
            path.unlink()
    assert answers[0] == answers[1]


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("which", [0, 1], ids=["two tables", "two networks"])
def test_two_of_a_kind_are_refused_in_one_line(cli, files, name, which):
    shown = cli(name, files[which], files[which], *COMMANDS[name])
    assert (shown.code, shown.err.count("\n")) == (2, 1)


def test_what_is_no_network_is_none(files, tmp_path):
    (tmp_path / "broken.csv.gz").write_bytes(b"\x1f\x8b\x08 broken")
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "rows.jsonl").write_text('{"a": "x"}\n')
    for path in (
        "rows.jsonl",
        "rows.csv",
        "broken.csv.gz",
        "empty",
        ".",
        "-",
        "no such file.csv",
        "rows/*.csv",
    ):
        assert not is_network_file(path)


def test_info_shows_a_network_as_one_whatever_its_name(cli, files):
    assert "a network of 8 nodes" in cli("info", files[1]).out


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_is_not_looked_into(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert not is_network_file(tmp_path / "pipe")  # opening it would wait for a writer
