"""Trying classifiers: training rows here, test rows there, the same for every classifier."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.classification.columns import CodedTable, Target
from bestdag.classification.model import Recipe
from bestdag.classification.unseen import Part, notes_on
from bestdag.data.discretization.keeper import RawTable
from bestdag.data.schema import Variable
from bestdag.errors import DataError, InvalidParameterError
from bestdag.evaluation.classification import Evaluation, evaluate, folds

__all__ = ["Trial"]

Columns = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """Pairs of training rows and test rows of one table, or of two.

    The classes, and the states of columns that are not cut, are those of all rows of `train`:
    they are declared, so they count in training rows that lack some of them. The evaluation has a
    note that says how many of the predicted rows have such a class or value.

    Parameters
    ----------
    train : RawTable
        Rows with missing cells are not learned from; they are predicted.
    target : str
        The column with the classes.
    test : RawTable, optional
        Rows to predict. Without them and without `n_held_out`, the rows of `train` are divided
        into `n_folds` parts, and each part is predicted by what was learned from the others.
    n_held_out : int, optional
        Predict so many rows of `train`, the last ones, or drawn at random with `shuffle`.
    n_folds : int, default 5
    shuffle : bool, default False
    seed : int, default 0
        Which rows are in which part.
    ignore_unknown : bool, default False
        Treat values that were not seen in training as missing.
    """

    train: RawTable
    target: str
    test: RawTable | None = None
    n_held_out: int | None = None
    shuffle: bool = False
    n_folds: int = 5
    seed: int = 0
    ignore_unknown: bool = False

    @property
    def classes(self) -> Variable:
        """The target."""
        return self.train.dataset.variable(self.target)

    def run(self, recipes: Mapping[str, Recipe]) -> Iterator[tuple[str, Evaluation]]:
        """Try every recipe on the same rows; columns are coded once for all of them."""
        parts = list(self._parts(next(iter(recipes.values()))))
        notes: tuple[str, ...] | None = None
        for name, recipe in recipes.items():
            truth, found = [], []
            for part in parts:
                model = recipe.fit_coded(part.coded)
                truth.append(part.classes)
                found.append(
                    model.log_probabilities(part.columns, ignore_unknown=self.ignore_unknown)
                )
            if notes is None:  # after the model, which says what is wrong with rows it cannot take
                notes = notes_on(parts)
            compared = evaluate(
                self.classes.states, np.concatenate(truth), np.concatenate(found), notes=notes
            )
            yield name, compared

    def _parts(self, recipe: Recipe) -> Iterator[Part]:
        columns, classes = self._taken_apart(self.train)
        complete = ~self.train.is_missing()
        if self.test is not None:
            coded = self._coded(recipe, columns, classes, complete)
            yield Part(coded, *self._taken_apart(self.test))
            return
        for held_out in self._held_out(classes):
            coded = self._coded(recipe, columns, classes, complete & ~held_out)
            predicted = {n: raw[held_out] for n, raw in columns.items()}
            yield Part(coded, predicted, classes[held_out])

    def _held_out(self, classes: npt.NDArray[Any]) -> Iterator[npt.NDArray[np.bool_]]:
        n_rows = len(classes)
        if self.n_held_out is None:
            part = folds(classes, self.n_folds, seed=self.seed)
            yield from (part == k for k in range(self.n_folds))
            return
        if not 0 < self.n_held_out < n_rows:
            what = f"between 1 and {n_rows - 1:,} of {n_rows:,} rows can be held out"
            raise InvalidParameterError(f"classify: {what}, got {self.n_held_out:,}").with_option(
                f"--holdout {self.n_held_out}: {what}"
            )
        order = np.arange(n_rows)
        if self.shuffle:
            order = np.random.default_rng(self.seed).permutation(n_rows)
        held_out = np.zeros(n_rows, bool)
        held_out[order[-self.n_held_out :]] = True
        yield held_out

    def _coded(
        self,
        recipe: Recipe,
        columns: Columns,
        classes: npt.NDArray[Any],
        kept: npt.NDArray[np.bool_],
    ) -> CodedTable:
        if not kept.any():
            empty = [n for n in self.train.names if self.train.is_missing_in(n).all()]
            why = f"; column {empty[0]!r} has no values, leave it out" if empty else ""
            raise DataError(f"classify: no complete row is left to learn from{why}")
        dataset = self.train.dataset
        return recipe.coding.code(
            {name: raw[kept] for name, raw in columns.items()},
            Target(self.classes, classes[kept]),
            {n: dataset.variable(n).states for n in columns if n not in self.train.numbers},
        )

    def _taken_apart(self, table: RawTable) -> tuple[Columns, npt.NDArray[Any]]:
        """Return the attributes, and the classes by their numbers in the training table."""
        columns = table.columns()
        labels = columns.pop(self.target)
        places = {state: i for i, state in enumerate(self.classes.states)}
        for row, label in enumerate(labels.tolist()):
            if label not in places:
                what = "is missing" if label is None else f"{label!r} is not in the training data"
                raise DataError(
                    f"classify: the class in row {row + 1:,} {what}; leave out such rows"
                )
        return columns, np.array([places[label] for label in labels.tolist()], np.int64)
