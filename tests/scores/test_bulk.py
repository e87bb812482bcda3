"""Bulk scoring: every change of a family and every family up to k parents."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestdag import _core
from bestdag.errors import InvalidParameterError, NotEnoughMemoryError
from bestdag.scores import SCORES
from bestdag.scores.parent_sets.limits import n_parent_sets, parent_sets
from bestdag.scores.scorer import Scorer
from tests.conftest import examples, make_dataset
from tests.contracts.test_every_score import datasets, every_setting, score_for
from tests.scores.prior_networks import BOUND_SCORES, bde_for
from tests.scores.test_scorer import Emptiness

every_score = pytest.mark.parametrize("name", SCORES)


def wide_dataset(seed=0, n_rows=300):
    """Arities that take every road: bitmaps, histograms, sorting."""
    rng = np.random.default_rng(seed)
    arities = {"a": 2, "b": 3, "c": 30, "d": 40, "e": 300, "f": 2}
    columns = {name: rng.integers(0, r, n_rows).tolist() for name, r in arities.items()}
    return make_dataset(columns, arities)


@every_setting
@settings(max_examples=examples(25))
@given(datasets())
def test_changes_equal_the_changed_families_to_the_last_bit(name, dataset):
    scorer = make_scorer(dataset, name)
    child, *others = dataset.names
    for k in range(len(others) + 1):
        parents = set(others[:k])
        got = scorer.changes(child, parents)
        expected = [scorer.family(child, (parents ^ {v.name}) - {child}) for v in scorer.variables]
        assert got.tolist() == expected


@every_score
def test_changes_with_large_arities(name):
    scorer = Scorer(wide_dataset(), name)
    for child, parents in [("a", []), ("b", ["c", "d"]), ("e", ["c"]), ("c", ["a", "d", "e"])]:
        got = scorer.changes(child, parents)
        expected = [
            scorer.family(child, (set(parents) ^ {v.name}) - {child}) for v in scorer.variables
        ]
        assert got.tolist() == expected


@every_setting
@settings(max_examples=examples(25))
@given(datasets(), st.integers(0, 5))
def test_all_families_equal_the_families(name, dataset, max_parents):
    assert_all_families(make_scorer(dataset, name), max_parents)


@every_score
def test_all_families_with_large_arities(name):
    assert_all_families(Scorer(wide_dataset(), name), 3)


@every_score
@pytest.mark.parametrize("instructions", _core.instruction_sets())
def test_all_families_with_every_instruction_set(name, instructions):
    best = _core.instruction_sets()[-1]
    rng = np.random.default_rng(1)
    dataset = make_dataset({f"v{i}": rng.integers(0, 2 + i, 5_000).tolist() for i in range(5)})
    try:
        _core.use_instruction_set(instructions)
        assert_all_families(Scorer(dataset, name), 3)
    finally:
        _core.use_instruction_set(best)


@every_setting
def test_all_families_do_not_depend_on_threads(name):
    rng = np.random.default_rng(2)
    dataset = make_dataset({f"v{i}": rng.integers(0, 3, 4_000).tolist() for i in range(9)})
    score = score_for(name, dataset)
    one, many = (Scorer(dataset, score, threads=t).all_families(3) for t in (1, 5))
    assert all(one[child].tobytes() == many[child].tobytes() for child in one)


def test_bde_with_large_arities_is_worked_out_row_by_row():
    dataset = wide_dataset(n_rows=60)
    scorer = Scorer(dataset, bde_for(dataset, max_parents=1))
    assert_all_families(scorer, 3)
    for child, parents in [("b", ["c", "d"]), ("c", ["a", "d", "e"])]:
        expected = [
            scorer.family(child, (set(parents) ^ {v.name}) - {child}) for v in scorer.variables
        ]
        assert scorer.changes(child, parents).tolist() == expected


def test_own_scores_take_part():
    dataset = wide_dataset(n_rows=20)
    assert_all_families(Scorer(dataset, Emptiness()), 2)
    assert len(Scorer(dataset, Emptiness()).changes("a", ["b"])) == 6


def test_parent_sets_are_numbered_as_they_are_listed():
    sets = list(parent_sets("abcde", 3))
    assert len(sets) == len(set(sets)) == n_parent_sets(6, 3)
    assert set(sets) == {c for k in range(4) for c in itertools.combinations("abcde", k)}


def test_refuses_what_does_not_fit():
    dataset = make_dataset({f"v{i:03}": [0, 1] for i in range(200)})
    with pytest.raises(NotEnoughMemoryError, match="use fewer parents"):
        Scorer(dataset, "bic").all_families(8)
    with pytest.raises(InvalidParameterError, match="max_parents must be a whole number >= 0"):
        Scorer(dataset, "bic").all_families(-1)


def make_scorer(dataset, name):
    if name in BOUND_SCORES:
        return Scorer(dataset, BOUND_SCORES[name](dataset))
    real = dataset.weights is not None and dataset.weights.dtype == np.float64
    if real and getattr(SCORES[name], "needs_whole_counts", False):
        dataset = type(dataset)(dataset.variables, [dataset.codes(n) for n in dataset.names])
    return Scorer(dataset, name)


def assert_all_families(scorer, max_parents):
    names = [v.name for v in scorer.variables]
    tables = scorer.all_families(max_parents)
    assert list(tables) == names
    for child in names:
        sets = list(parent_sets([n for n in names if n != child], max_parents))
        expected = scorer.families([(child, parents) for parents in sets])
        # A set function leaves the rounding of sums as large as N ln N.
        scale = max(1.0, float(np.abs(expected).max()), scorer.dataset.total_weight * 10.0)
        assert tables[child] == pytest.approx(expected, abs=1e-12 * scale)
