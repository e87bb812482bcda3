"""How well classes are predicted: accuracy with its interval, log loss, confusion matrix."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.errors import DataError, InvalidParameterError, require_count
from bestdag.tabular import Table, Tabular
from bestdag.wording import arg, count_of

__all__ = ["Evaluation", "accuracy_interval", "evaluate", "folds"]

# Twice this many standard deviations contain 95 % of a normal distribution.
_Z = 1.959963984540054


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation(Tabular):
    """Predictions of classes compared with the truth.

    Attributes
    ----------
    classes : tuple of str
        The states of the class variable.
    confusion : array of int, classes x classes
        Row: the true class; column: the predicted one.
    log_loss : float
        Mean of -ln P(true class | row), in nats; infinite where that probability is zero.
    notes : tuple of str
        What a reader should know about the rows.
    """

    classes: tuple[str, ...]
    confusion: npt.NDArray[np.int64]
    log_loss: float
    notes: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """Number of rows predicted."""
        return int(self.confusion.sum())

    @property
    def n_right(self) -> int:
        """Number of rows whose class was predicted."""
        return int(np.trace(self.confusion))

    @property
    def accuracy(self) -> float:
        """Share of rows whose class was predicted."""
        return self.n_right / self.n_rows

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the accuracy, see `accuracy_interval`.

        It takes the rows for independent.
        """
        return accuracy_interval(self.n_right, self.n_rows)

    def _table(self) -> Table:
        low, high = self.interval
        return Table(
            names=("true class", *self.classes),
            rows=zip(self.classes, *self.confusion.T.tolist(), strict=True),
            n_rows=len(self.classes),
            n_labels=1,
            title="rows by true class and predicted class",
            notes=(
                f"accuracy {self.accuracy:.2%} (95 % interval {low:.2%} to {high:.2%}), log loss "
                f"{self.log_loss:.4f} nats",
                *self.notes,
            ),
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the confusion matrix; needs matplotlib."""
        from bestdag.plots import confusion_matrix

        return confusion_matrix(self, ax)


def evaluate(
    classes: Sequence[str],
    truth: npt.NDArray[Any],
    log_probabilities: npt.NDArray[np.float64],
    *,
    notes: tuple[str, ...] = (),
) -> Evaluation:
    """Compare predicted probabilities with the true classes.

    Parameters
    ----------
    classes : sequence of str
        The states of the class variable, in the order of the columns.
    truth : array of int
        The number of the true class of each row.
    log_probabilities : array of float, rows x classes
        Ties for the greatest go to the first class.
    notes : tuple of str, optional
        Notes for the reader of the result.

    Examples
    --------
    >>> result = evaluate(("no", "yes"), np.array([0, 1, 1]), np.log([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]]))
    >>> result.accuracy, result.confusion.tolist(), round(result.log_loss, 6)
    (0.6666666666666666, [[1, 0], [1, 1]], 0.34055)
    """  # noqa: E501
    n_classes = len(classes)
    if len(truth) == 0:
        raise DataError("evaluate: at least one row is needed, got none")
    guessed = np.argmax(log_probabilities, axis=1)
    confusion = np.zeros((n_classes, n_classes), np.int64)
    np.add.at(confusion, (truth, guessed), 1)
    losses = -log_probabilities[np.arange(len(truth)), truth]
    log_loss = max(0.0, math.fsum(losses.tolist()) / len(truth))
    return Evaluation(tuple(classes), confusion, log_loss, notes)


def accuracy_interval(n_right: int, n_rows: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share.

    The shares p with (p - share)^2 <= z^2 p (1 - p) / n. Unlike share ± 1.96 standard errors it
    never leaves [0, 1] and is not empty for shares of 0 and 1.

    References
    ----------
    .. [1] Wilson (1927). "Probable inference, the law of succession, and statistical inference."
       Journal of the American Statistical Association 22.

    Examples
    --------
    >>> [round(end, 6) for end in accuracy_interval(8, 10)]
    [0.490162, 0.943318]
    """
    share, z2 = n_right / n_rows, _Z * _Z
    middle = (share + z2 / (2 * n_rows)) / (1 + z2 / n_rows)
    half = _Z * math.sqrt(share * (1 - share) / n_rows + z2 / (4 * n_rows**2)) / (1 + z2 / n_rows)
    return max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half))


def folds(truth: npt.NDArray[Any], k: int, *, seed: int = 0) -> npt.NDArray[np.int64]:
    """Divide rows into k parts with the classes in equal shares, as far as that goes.

    Within each class the rows are put in random order and dealt to the parts in turn, each class
    beginning where the last one ended, so parts differ by one row at most.

    Returns
    -------
    array of int
        The part of each row, 0 to k - 1.

    Examples
    --------
    >>> folds(np.array([0, 0, 0, 1, 1, 1]), 3).tolist()
    [1, 2, 0, 0, 2, 1]
    """
    require_count("folds", "k", k, minimum=2, option="--cv")
    if k > len(truth):
        raise InvalidParameterError(
            f"folds: {arg('k', k, option='--cv')}: {count_of(len(truth), 'row')} cannot be divided "
            f"into {k} parts"
        )
    shuffled = np.random.default_rng(seed).permutation(len(truth))
    order = shuffled[np.argsort(truth[shuffled], kind="stable")]
    part = np.empty(len(truth), np.int64)
    part[order] = np.arange(len(truth)) % k
    return part
