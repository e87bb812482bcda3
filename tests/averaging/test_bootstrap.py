"""Bootstrap strengths: by hand, whatever the threads, thresholds, Ctrl-C."""

import numpy as np
import pytest

from bestdag import (
    BIC,
    DataError,
    Dataset,
    HillClimb,
    InvalidParameterError,
    bootstrap,
    learn,
    read,
)
from bestdag.averaging.threshold import inclusion_threshold
from bestdag.examples import example

ASIA = read(example("asia.csv")).select(rows=slice(0, 300))


def by_hand(data, n_replicates, seed):
    """Count arcs of classes one replicate after the other."""
    names = sorted(data.names)
    ordered = data.select(rows=np.lexsort([data.codes(name) for name in reversed(names)]))
    sums = np.zeros((len(names), len(names)))
    for i in range(n_replicates):
        random = np.random.default_rng([seed, i])
        random.integers(1 << 31)  # the seed of the search
        rows = random.integers(0, data.n_rows, data.n_rows)
        found = learn(ordered.select(rows=rows), "bic", search="hill_climb").dag.cpdag()
        for a, b in found.arcs:
            sums[names.index(a), names.index(b)] += 1
        for a, b in found.edges:
            sums[names.index(a), names.index(b)] += 0.5
            sums[names.index(b), names.index(a)] += 0.5
    return sums / n_replicates


def test_strengths_are_the_shares_of_classes_learned_from_drawn_rows():
    found = bootstrap(ASIA, "bic", replicates=8, seed=3)
    np.testing.assert_allclose(found.matrix, by_hand(ASIA, 8, 3), atol=1e-12)
    assert found.names == tuple(sorted(ASIA.names))
    assert found.dags.weights.sum() == pytest.approx(1.0)


def test_result_does_not_depend_on_threads_nor_on_the_order_of_rows_and_columns():
    one = bootstrap(ASIA, "bic", replicates=6, workers=1)
    shuffled = ASIA.select(
        list(reversed(ASIA.names)), rows=np.random.default_rng(1).permutation(ASIA.n_rows)
    )
    for data, threads in ((ASIA, 3), (shuffled, 2)):
        np.testing.assert_array_equal(
            bootstrap(data, "bic", replicates=6, workers=threads).matrix, one.matrix
        )


def test_more_replicates_begin_with_the_same_ones():
    few, many = (bootstrap(ASIA, "bic", replicates=n, seed=5) for n in (3, 6))
    later = 6 * many.matrix - 3 * few.matrix
    assert later.min() > -1e-9
    assert later.max() < 3 + 1e-9


def test_weights_count_as_repeated_rows():
    columns = [ASIA.codes(name) for name in ASIA.names]
    weighted = Dataset(ASIA.variables, columns, weights=np.full(ASIA.n_rows, 3))
    found = bootstrap(weighted, "bic", replicates=5)
    assert found.settings["rows"] == 900
    assert found.edge("either", "lung") == 1.0
    fractions = Dataset(ASIA.variables, columns, weights=np.full(ASIA.n_rows, 0.5))
    with pytest.raises(DataError, match="needs whole weights"):
        bootstrap(fractions, "bic", replicates=2)


def test_any_score_and_search_with_knowledge():
    found = bootstrap(
        ASIA.select(["bronc", "dysp", "smoke"]),
        BIC(),
        search="exact",
        replicates=4,
        knowledge=["smoke !- dysp"],
        max_parents=1,
    )
    assert found.edge("smoke", "dysp") == 0.0
    plain = bootstrap(ASIA, "bic", search=HillClimb(reinsert=False), replicates=3)
    assert plain.settings["search"] == "hill_climb"


def test_failures_of_a_replicate_are_raised_whatever_the_threads():
    class Refuses:
        name = "refuses"
        is_score_equivalent = True

        def family(self, counts):
            raise RuntimeError("no such score")

        def kernel(self):
            return None

    for threads in (1, 2):
        with pytest.raises(RuntimeError, match="no such score"):
            bootstrap(ASIA, Refuses(), replicates=4, workers=threads)


@pytest.mark.parametrize(
    ("strengths", "threshold"),
    [
        # Scutari and Nagarajan (2013), section 3.
        ([0.0460, 0.2242, 0.3921, 0.7689, 0.8935, 0.9439], 0.3921),
        ([0.0, 0.0, 1.0], 0.0),
        ([0.9, 0.95], 0.0),
        ([0.1, 0.2], 0.2),
        ([], 0.0),
    ],
)
def test_inclusion_threshold(strengths, threshold):
    assert inclusion_threshold(strengths) == threshold


def test_inclusion_threshold_is_the_nearest_share():
    random = np.random.default_rng(0)
    for _ in range(50):
        seen = np.sort(random.beta(0.5, 0.5, random.integers(2, 12)))
        xs = (np.arange(20_000) + 0.5) / 20_000
        cumulative = np.searchsorted(seen, xs, side="right") / len(seen)
        shares = np.arange(len(seen) + 1) / len(seen)
        distances = [np.abs(cumulative - share).mean() for share in shares]
        best = shares[int(np.argmin(distances))]
        expected = 0.0 if best == 0 else seen[round(best * len(seen)) - 1]
        assert inclusion_threshold(seen) == expected


@pytest.mark.parametrize("replicates", [0, -1, 1.5, True])
def test_refuses_replicates_that_are_no_count(replicates):
    with pytest.raises(InvalidParameterError, match="bootstrap: replicates must be a whole number"):
        bootstrap(ASIA, replicates=replicates)
