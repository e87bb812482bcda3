"""What commands say about a table: rows that would be lost, cells that may be missing, separators."""

import json

import pytest

FEW = "a,b\n" + "x,u\ny,v\n" * 2 + "x,\ny,\n" * 6
COMMANDS = [["learn"], ["tree"], ["classify", "--target", "a"]]


@pytest.fixture
def table(tmp_path):
    def write(text, name="t.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


@pytest.mark.parametrize("command", COMMANDS)
def test_most_rows_are_dropped_only_when_told_to(cli, table, command):
    path = table(FEW)
    refused = cli(*command, path, "--missing", "drop")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "4 of 16 rows" in refused.err
    assert "--allow-few-rows" in refused.err
    assert "allow_few_rows" not in refused.err
    told = [*command, path, "--missing", "drop", "--allow-few-rows"]
    if command[0] == "classify":
        told += ["--cv", "2"]
    assert cli(*told).code == 0
