"""Answers for many rows: Ctrl-C, and memory asked for before it is taken."""

import numpy as np
import pytest

from bestdag.errors import NotEnoughMemoryError
from bestdag.inference.rows import log_marginal, log_probabilities, posteriors
from bestdag.inference.tables import LogTables, Rows
from tests.signals import ctrl_c_in_native_work


@pytest.fixture(scope="module")
def chain():
    """Sixty variables with twenty states in a chain, and two million rows over one array."""
    values = np.random.default_rng(1).dirichlet(np.ones(20), 20)
    tables = LogTables([values[0], *[values] * 59], [[], *([i] for i in range(59))])
    column = np.random.default_rng(2).integers(0, 20, 2_000_000).astype(np.uint8)
    return tables, Rows(len(column), (column,) * 60, (False,) * 60)


def test_two_million_rows(chain):
    tables, rows = chain
    # Every cell of a row is equal: ln P = first + 59 * (the diagonal).
    first, second = (tables.at_rows(family, {}, "row").values for family in (0, 1))
    diagonal = np.diagonal(second)
    expected = (first + 59 * diagonal)[rows.columns[0]]
    assert np.allclose(log_probabilities(tables, rows), expected, rtol=1e-13, atol=0)


@pytest.mark.parametrize("work", [log_probabilities, lambda t, r: posteriors(t, r, 30)])
def test_ctrl_c_is_answered(chain, work):
    tables, rows = chain

    def forever():
        while True:
            work(tables, rows)

    with pytest.raises(KeyboardInterrupt), ctrl_c_in_native_work():
        forever()
    assert len(log_probabilities(tables, rows.part(0, 10))) == 10


def test_memory_is_forecast(chain, monkeypatch):
    tables, rows = chain
    monkeypatch.setattr("bestdag.machine.available_memory", lambda: 10_000_000)
    with pytest.raises(NotEnoughMemoryError, match=r"for 2,000,000 rows needs 15\.3 MiB"):
        log_probabilities(tables, rows)
    with pytest.raises(NotEnoughMemoryError, match=r"rows and 20 states needs 305\.2 MiB"):
        posteriors(tables, rows, 3)
    with pytest.raises(NotEnoughMemoryError, match="the logarithms of its tables needs"):
        LogTables([np.full((1000, 2000), 1 / 2000)], [[]])


# P(x1) = sum over x0 of P(x0) P(x1 | x0).
def test_marginal_without_any_evidence():
    first, second = np.array([0.25, 0.75]), np.array([[0.9, 0.1], [0.2, 0.8]])
    tables = LogTables([first, second], [[], [0]])
    assert np.exp(log_marginal(tables, 0)) == pytest.approx(first, rel=1e-15)
    assert np.exp(log_marginal(tables, 1)) == pytest.approx([0.375, 0.625], rel=1e-15)
