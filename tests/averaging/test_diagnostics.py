"""R-hat and effective sample sizes: known cases, and autoregressive series."""

import numpy as np
import pytest

from bestdag.averaging.diagnostics import diagnose, effective_sizes, split_r_hat


def autoregressive(rho, n, seed):
    random = np.random.default_rng(seed)
    noise = random.normal(size=(4, n))
    out = np.empty((4, n))
    out[:, 0] = noise[:, 0]
    for t in range(1, n):
        out[:, t] = rho * out[:, t - 1] + np.sqrt(1 - rho**2) * noise[:, t]
    return out


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_effective_size_of_an_autoregressive_series(rho):
    n = 20_000
    expected = 4 * n * (1 - rho) / (1 + rho)
    assert effective_sizes(autoregressive(rho, n, 1)) == pytest.approx(expected, rel=0.15)


def test_r_hat_tells_chains_that_agree_from_others():
    draws = autoregressive(0.5, 4_000, 2)
    assert split_r_hat(draws) == pytest.approx(1.0, abs=0.01)
    assert split_r_hat(draws + np.array([[0], [0], [0], [2]])) > 1.2
    assert split_r_hat(np.array([[0.0] * 6, [1.0] * 6])) == np.inf
    assert split_r_hat(np.zeros((2, 6))) == 1.0


def test_r_hat_by_hand():
    # Halves (0, 1), (1, 1), (0, 0), (0, 1): means 1/2, 1, 0, 1/2; variances 1/2, 0, 0, 1/2.
    draws = np.array([[0.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 1.0]])
    assert split_r_hat(draws) == pytest.approx(np.sqrt(1 / 2 + (1 / 6) / (1 / 4)))


def test_diagnostics_of_arcs():
    random = np.random.default_rng(0)
    draws = np.zeros((2, 400, 2, 2), bool)
    draws[:, :, 0, 1] = random.random((2, 400)) < 0.5
    draws[1, :, 1, 0] = True
    found = diagnose(draws, 400, 0.5)
    assert found.r_hat[0, 0] == 1.0
    assert found.r_hat[0, 1] < 1.05
    assert found.r_hat[1, 0] == np.inf
    assert not found.is_mixed
    assert found.n_unmixed == 1
    assert found.to_dict()["worst_r_hat"] is None
    assert "do not agree" in str(found)


def test_arcs_that_hardly_vary_are_not_judged():
    draws = np.zeros((2, 400, 2, 2), bool)
    draws[0, :4, 0, 1] = True  # half of a hundredth
    draws[1, :, 1, 0] = True
    draws[0, 7:, 1, 0] = True
    found = diagnose(draws, 400, 0.5)
    assert found.r_hat[0, 1] > 1.0
    assert found.is_judged.sum() == 0
    assert (found.worst_r_hat, found.n_unmixed, found.is_mixed) == (1.0, 0, True)


def test_one_draw_of_each_chain_tells_nothing():
    draws = np.zeros((4, 1, 2, 2), bool)
    draws[1, 0, 0, 1] = True
    found = diagnose(draws, 1, 0.0)
    assert not found.is_mixed
    assert found.least_effective_size == 4.0
