"""Tests of conditional independence, each in its own file, and the one list that names them."""

from __future__ import annotations

from typing import Any

from bestdag.independence.base import IndependenceTest as IndependenceTest
from bestdag.registry import listed, make

# The list: one line for each test, in the order that help and docs show.
# isort: off
from bestdag.independence.g2 import G2Test as G2Test
from bestdag.independence.x2 import X2Test as X2Test
from bestdag.independence.permutation import PermutationTest as PermutationTest
# isort: on

TESTS: dict[str, Any] = listed(globals(), __name__)
ALIASES: dict[str, str] = {"mi": "g2", "cmi": "g2", "chi2": "x2", "pearson": "x2"}


def make_test(name: str, **settings: Any) -> IndependenceTest:
    """Make a test from its name and its settings.

    Examples
    --------
    >>> make_test("g2", df="declared")
    G2Test(df='declared', rows_per_df=0.0)
    """
    test: IndependenceTest = make("test", name, TESTS, ALIASES, settings)
    return test
