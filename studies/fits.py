"""What many trials do: learn exactly by some scores, fit, and predict unseen rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

from bestdag import Dag, Dataset, DataWarning, Exact, Score, Scorer, fit_network
from bestdag.parameters import estimator_for
from bestdag.search.problem import Problem

__all__ = ["best_structures", "held_out_losses", "loss_of"]


def best_structures(data: Dataset, scores: Mapping[str, Score]) -> dict[str, Dag]:
    """Return the best structure by each score, proved; the rows are counted once for all."""
    first, *others = scores.values()
    scorer = Scorer(data, first, threads=1)
    scorers = [scorer, *(scorer.by(other) for other in others)]
    results = Exact().run_each([Problem(one, workers=1) for one in scorers])
    assert all(one.is_proved for one in results)
    return {label: one.dag for label, one in zip(scores, results, strict=True)}


def loss_of(dag: Dag, score: Score, train: Dataset, test: Dataset) -> float:
    """Return the mean of -ln P(row), with the parameters that belong to the score."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # of many parameters, which are the point
        network = fit_network(dag, train, estimator_for(score), threads=1)
    return float(network.log_loss(test, threads=1))


def held_out_losses(train: Dataset, test: Dataset, scores: Mapping[str, Score]) -> dict[str, float]:
    """Learn by each score from the same rows, and predict the same others."""
    dags = best_structures(train, scores)
    return {label: loss_of(dag, scores[label], train, test) for label, dag in dags.items()}
