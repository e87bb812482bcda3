"""What more rows would bring: the log loss of held-out rows over growing samples."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.data.dataset import Dataset
from bestdag.data.readers import as_dataset
from bestdag.errors import DataError, DataWarning, InvalidParameterError, bad_setting, require_count
from bestdag.graph.knowledge import Knowledge
from bestdag.machine import require_memory
from bestdag.parameters.base import Estimator
from bestdag.scores import DEFAULT_SCORE
from bestdag.scores.base import Score
from bestdag.scores.support import DEFAULT_SUPPORT
from bestdag.search.steps import Search
from bestdag.tabular import Table, Tabular
from bestdag.validation.cross_validation import Method, methods_of
from bestdag.validation.fits import learn_one_of_many
from bestdag.workers import resolve_workers, run_all

__all__ = ["LearningCurve", "learning_curve"]

_WHO = "learning_curve"
_LEAST_ROWS = 20


@dataclass(frozen=True, slots=True, eq=False)
class LearningCurve(Tabular):
    """How well each method predicts after so many rows.

    Attributes
    ----------
    sizes : tuple of int
        Numbers of rows learned from.
    log_losses : mapping of str to array, repeats x sizes
        For each method the mean of -ln P(row) over the rows held out, in nats.
    n_held_out : int
        Rows that are predicted in each repeat.
    """

    sizes: tuple[int, ...]
    log_losses: Mapping[str, npt.NDArray[np.float64]]
    n_held_out: int

    def _table(self) -> Table:
        means = [losses.mean(axis=0).tolist() for losses in self.log_losses.values()]
        return Table(
            names=("rows", *self.log_losses),
            rows=zip(self.sizes, *means, strict=True),
            n_rows=len(self.sizes),
            n_labels=1,
            title=f"log loss of {self.n_held_out:,} held-out rows, in nats",
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw a line for each method; see `bestdag.plots.learning_curve`."""
        from bestdag.plots import learning_curve

        return learning_curve(self, ax)

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold: None for what is infinite."""
        return {
            "sizes": list(self.sizes),
            "held_out": self.n_held_out,
            "log_losses": {
                label: [[x if np.isfinite(x) else None for x in row] for row in losses.tolist()]
                for label, losses in self.log_losses.items()
            },
        }

    def __str__(self) -> str:
        labels = list(self.log_losses)
        width = max(10, *map(len, labels))
        lines = ["      rows" + "".join(f"  {label:>{width}}" for label in labels)]
        for k, size in enumerate(self.sizes):
            means = (self.log_losses[label][:, k].mean() for label in labels)
            lines.append(f"{size:>10,}" + "".join(f"  {mean:>{width}.4f}" for mean in means))
        return "\n".join([*lines, f"log loss of {self.n_held_out:,} held-out rows, in nats"])


def learning_curve(
    data: Any,
    score: Score | str | Sequence[Score | str] = DEFAULT_SCORE,
    search: Search | str | Sequence[Search | str] = "auto",
    parameters: Estimator | str | Sequence[Estimator | str | None] | None = None,
    *,
    sizes: Sequence[int] | None = None,
    held_out: float = 0.25,
    repeats: int = 3,
    seed: int = 0,
    max_parents: int | None = None,
    support: float = DEFAULT_SUPPORT,
    knowledge: Knowledge | Sequence[str] | None = None,
    workers: int | Executor | None = None,
) -> LearningCurve:
    """Learn from more and more rows, and say how well the same other rows are predicted.

    Parameters
    ----------
    data : Dataset, or anything `read` takes
        Complete and without weights. All its states are declared in every sample.
    score, search, parameters : one or a list of each
        Every combination is a method, as in `cross_validate`.
    sizes : list of int, optional
        Numbers of rows to learn from; 20, 40, 80, ... and all that are not held out unless given.
    held_out : float, default 0.25
        The share of rows that is predicted, the same for all sizes and methods of a repeat.
    repeats : int, default 3
        How often rows are drawn anew.
    seed : int, default 0
        Which rows are held out, and in which order the others come; each sample is the beginning
        of the next.
    max_parents, support, knowledge
        As in `learn`.
    workers : int or Executor, optional
        Where networks are learned, as in `cross_validate`.

    Returns
    -------
    LearningCurve

    Raises
    ------
    DataError
        If a value is missing, or rows have weights.
    InvalidParameterError
        If a setting is out of range.

    Notes
    -----
    The same rows are predicted after every size, so that the losses of a repeat differ by what was
    learned alone. A curve that still falls at its end says that more rows would help; where curves
    of two scores cross, the better one depends on the number of rows.

    Examples
    --------
    >>> from bestdag.examples import example
    >>> found = learning_curve(example("asia.csv"), "bic", "exact", sizes=[50, 1500], repeats=2)
    >>> print(found)
          rows         bic
            50      2.2806
         1,500      2.1443
    log loss of 500 held-out rows, in nats
    """
    who_works = resolve_workers(_WHO, workers)
    dataset = as_dataset(data)
    if dataset.has_missing or dataset.weights is not None:
        raise DataError(f"{_WHO}: complete rows without weights are needed")
    if not (isinstance(held_out, int | float) and 0 < held_out < 1):
        raise bad_setting(_WHO, "held_out", "a number > 0 and < 1", held_out)
    require_count(_WHO, "repeats", repeats, minimum=1)
    require_count(_WHO, "seed", seed)
    n_test = max(1, round(held_out * dataset.n_rows))
    chosen = _checked(sizes, dataset.n_rows - n_test)
    methods = methods_of(score, search, parameters)
    require_memory(
        _WHO,
        f"{repeats} orders of {dataset.n_rows:,} rows",
        8.0 * (repeats + 1) * dataset.n_rows,
        "raise the memory limit, or choose fewer rows",
    )
    orders = [np.random.default_rng([seed, k]).permutation(dataset.n_rows) for k in range(repeats)]
    runs = [(m, order, size) for m in methods for order in orders for size in chosen]

    limits = {"max_parents": max_parents, "support": support, "knowledge": knowledge}
    fit = _Fit(dataset, n_test, {**limits, "seed": seed})
    losses = run_all(fit, runs, threads=who_works.threads, who=_WHO, executor=who_works.executor)
    each = np.reshape(losses, (len(methods), repeats, len(chosen)))
    by_label = {method.label: part for method, part in zip(methods, each, strict=True)}
    return LearningCurve(chosen, by_label, n_test)


@dataclass(frozen=True, slots=True)
class _Fit:
    """Learns from the first rows of an order, and predicts those before them."""

    dataset: Dataset
    n_test: int
    settings: Mapping[str, Any]

    def __call__(self, one: tuple[Method, npt.NDArray[np.int64], int], threads: int) -> float:
        method, order, size = one
        rows = self.dataset.select(rows=np.sort(order[self.n_test : self.n_test + size]))
        held_out = self.dataset.select(rows=np.sort(order[: self.n_test]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # small samples lack states: the point
            result = learn_one_of_many(
                rows, method.score, search=method.search, workers=threads, **self.settings
            )
            network = result.fit(method.parameters, threads=threads)
            return network.log_loss(held_out, threads=threads)


def _checked(sizes: Sequence[int] | None, n_rows: int) -> tuple[int, ...]:
    if sizes is None:
        doubled = [_LEAST_ROWS]
        while 2 * doubled[-1] < n_rows:
            doubled.append(2 * doubled[-1])
        sizes = [*(size for size in doubled if size < n_rows), n_rows]
    listed = sorted({require_count(_WHO, "a size", size, minimum=1) for size in sizes})
    if not listed or n_rows < listed[-1]:
        raise InvalidParameterError(
            f"{_WHO}: sizes of 1 to {n_rows:,} rows are needed, got {list(sizes)!r:.60}"
        )
    return tuple(listed)
