"""Small data sets for the tests, and how many tests the absent shared data left out."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest
from hypothesis import settings

from bestdag.data.dataset import Dataset
from bestdag.data.schema import Variable

_PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "steady")


def examples(n):
    """Return how many examples a property is tried on: so many to vary them, else a third."""
    return n if _PROFILE == "vary" else max(10, n // 3)


# The same examples on every run and no stopwatch; HYPOTHESIS_PROFILE=vary looks for new ones, and
# for three times as many.
settings.register_profile("steady", derandomize=True, deadline=None, max_examples=examples(100))
settings.register_profile("vary", deadline=None)
settings.load_profile(_PROFILE)

# A script that runs tests in the background lets them, and whatever they start, ignore Ctrl-C, and
# `nohup` the end of the terminal.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

os.environ.pop("COLUMNS", None)  # how wide lines are is not that of whoever runs the tests


def make_dataset(columns, arities=None, weights=None):
    """A data set from lists of codes; states are called "0", "1", ..."""
    variables, arrays = [], []
    for name, codes in columns.items():
        arity = (arities or {}).get(name, max(2, max(codes) + 1))
        variables.append(Variable(name, tuple(map(str, range(arity)))))
        arrays.append(np.array(codes, np.uint8 if arity <= 255 else np.uint16))
    return Dataset(variables, arrays, weights=weights)


@pytest.fixture
def code_columns():
    return lambda **columns: make_dataset(columns)


def pytest_terminal_summary(terminalreporter):
    absent = [
        report
        for report in terminalreporter.stats.get("skipped", [])
        if "shared data not found" in str(report.longrepr)
    ]
    if absent:
        terminalreporter.write_line(f"{len(absent)} tests skipped: shared data not found")
