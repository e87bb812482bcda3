"""What every way to treat missing values in learning promises."""

from contextlib import nullcontext

import numpy as np
import pytest

import bestdag as bd
from bestdag.errors import DataError, DataWarning
from bestdag.incomplete import TREATMENTS

LEARNING = [name for name in TREATMENTS if name != "error"]
every_treatment = pytest.mark.parametrize("treatment", LEARNING)


def columns_with_gaps(share=0.1, n_rows=120):
    """Three columns that depend on each other, with values missing at random."""
    rng = np.random.default_rng(11)
    a = rng.integers(0, 3, n_rows)
    b = np.where(rng.random(n_rows) < 0.8, a % 2, rng.integers(0, 2, n_rows))
    c = np.where(rng.random(n_rows) < 0.7, (a + b) % 3, rng.integers(0, 3, n_rows))
    gaps = rng.random((3, n_rows)) < share
    return {
        name: [None if gap else f"{name}{code}" for code, gap in zip(codes, holes, strict=True)]
        for name, codes, holes in zip("abc", (a, b, c), gaps, strict=True)
    }


def learned(columns, treatment, **settings):
    drops = treatment == "drop"
    with pytest.warns(DataWarning, match="dropped") if drops else nullcontext():
        return bd.learn(columns, "bic", missing=treatment, search="hill_climb", **settings)


@every_treatment
def test_a_complete_table_is_learned_as_if_nothing_was_said(treatment):
    columns = columns_with_gaps(share=0.0)
    plain = bd.learn(columns, "bic", search="hill_climb")
    result = bd.learn(columns, "bic", search="hill_climb", missing=treatment)
    score = plain.score / plain.n_rows if TREATMENTS[treatment].has_mean_scores else plain.score
    assert result.dag == plain.dag
    assert result.score == pytest.approx(score, rel=1e-12)
    assert result.fit() == plain.fit()


@every_treatment
def test_the_order_of_columns_and_rows_does_not_matter(treatment):
    columns = columns_with_gaps()
    turned = {name: columns[name][::-1] for name in "cab"}
    one, other = learned(columns, treatment), learned(turned, treatment)
    assert set(one.dag.arcs) == set(other.dag.arcs)
    assert one.score == pytest.approx(other.score, rel=1e-6)


@every_treatment
@pytest.mark.parametrize("threads", [2, 3])
def test_threads_do_not_matter(treatment, threads):
    columns = columns_with_gaps()
    one, other = (learned(columns, treatment, workers=n) for n in (1, threads))
    assert (one.dag, one.score) == (other.dag, other.score)


@every_treatment
def test_parameters_are_distributions_that_follow_the_data(treatment):
    result = learned(columns_with_gaps(), treatment)
    network = result.fit()
    assert network.dag == result.dag
    for variable in network.variables:
        values = network.table(variable.name).values
        np.testing.assert_allclose(values.sum(axis=-1), 1.0, rtol=1e-12)
    # About a third of the rows have each state of a.
    assert max(network.predict_proba("a", {"b": [None]})[0][:3]) < 0.5


@every_treatment
def test_the_scorer_of_a_result_scores_its_structure(treatment):
    result = learned(columns_with_gaps(), treatment)
    other = result.dag if not result.dag.arcs else bd.Dag(result.dag.nodes)
    scorer = result.scorer()
    assert np.isfinite(scorer.total(result.dag))
    assert scorer.total(result.dag) >= scorer.total(other)


def test_without_one_a_table_with_gaps_is_refused_and_the_others_are_named():
    with pytest.raises(DataError) as error:
        bd.learn(columns_with_gaps(), "bic")
    assert any(f"'{name}'" in str(error.value) for name in LEARNING)
