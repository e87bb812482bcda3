"""Maximum likelihood: frequencies, and uniform where nothing was seen."""

import numpy as np
import pytest

from bestdag.counts.family import FamilyCounts
from bestdag.parameters.mle import MLE


def test_frequencies_worked_out_by_hand():
    rows = MLE().rows(FamilyCounts.of([[1, 2, 5], [0, 4, 0]]))
    assert rows.tolist() == [[1 / 8, 2 / 8, 5 / 8], [0.0, 1.0, 0.0]]


def test_nothing_seen_is_uniform():
    assert MLE().rows(FamilyCounts.of([[0, 0, 0], [1, 0, 0]])).tolist() == [[1 / 3] * 3, [1, 0, 0]]


def test_real_counts():
    assert MLE().rows(FamilyCounts.of([[0.25, 0.75]])).tolist() == [[0.25, 0.75]]


def test_counts_near_the_largest_number_there_is():
    assert MLE().rows(FamilyCounts.of([[1e308, 1e308, 0.5]]))[0] == pytest.approx([0.5, 0.5, 0])
    assert np.isfinite(MLE().rows(FamilyCounts.of([[5e-324, 0.0]]))).all()
