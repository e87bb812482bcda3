"""What many trials do: learn exactly by some scores, fit, and predict unseen rows."""

from __future__ import annotations

from collections.abc import Mapping

from bestdag.data.dataset import Dataset
from bestdag.graph.dag import Dag
from bestdag.learning import learn
from bestdag.network.fitting import fitted_network
from bestdag.parameters import choose_estimator
from bestdag.scores.base import Score

__all__ = ["best_structures", "held_out_losses", "loss_of"]


def best_structures(data: Dataset, scores: Mapping[str, Score]) -> dict[str, Dag]:
    """Return the best structure by each score, proved."""
    found = {}
    for label, score in scores.items():
        result = learn(data, score, search="exact", threads=1)
        assert result.is_proved, f"{label}: {result.status}"
        found[label] = result.dag
    return found


def loss_of(dag: Dag, score: Score, train: Dataset, test: Dataset) -> float:
    """Return the mean of -ln P(row), with the parameters that belong to the score."""
    network, _ = fitted_network(dag, train, choose_estimator(score, None, {}), threads=1)
    return float(network.log_loss(test, threads=1))


def held_out_losses(train: Dataset, test: Dataset, scores: Mapping[str, Score]) -> dict[str, float]:
    """Learn by each score from the same rows, and predict the same others."""
    found = best_structures(train, scores)
    return {label: loss_of(dag, scores[label], train, test) for label, dag in found.items()}
