"""Runs the command line in this process."""

from dataclasses import dataclass

import pytest

from bestdag.cli.main import run


@dataclass
class Shown:
    code: int
    out: str
    err: str


@pytest.fixture
def cli(capsys):
    def call(*arguments):
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Shown(code, captured.out, captured.err)

    return call
