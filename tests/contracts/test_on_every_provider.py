"""The suites of contracts, run again on rows that are held in other ways."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.providers import PROVIDERS

SUITES = ["every_score", "every_search", "every_estimator", "every_independence_test", "support"]
ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.parametrize("rows", [name for name in PROVIDERS if name != "memory"])
def test_contracts_hold_wherever_the_rows_are(rows, suite):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", f"tests/contracts/test_{suite}.py"],
        cwd=ROOT,
        env={**os.environ, "BESTDAG_ROWS": rows},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]
