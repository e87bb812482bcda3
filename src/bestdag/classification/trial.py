"""Trying classifiers: training rows here, test rows there, the same for every classifier."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from bestdag.classification.model import Recipe
from bestdag.classification.uncut import Part, UncutTable, are_unknown, notes_on
from bestdag.data.dataset import Dataset
from bestdag.data.schema import Variable
from bestdag.errors import DataError, InvalidParameterError
from bestdag.evaluation.classification import Evaluation, evaluate, folds
from bestdag.wording import by_reader
from bestdag.workers import resolve_workers, run_all

__all__ = ["Trial"]


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """Pairs of training rows and test rows of one table, or of two.

    The classes, and the states of columns that are not cut, are those of all rows of `train`:
    they are declared, so they count in training rows that lack some of them. The evaluation has a
    note that says how many of the predicted rows have such a class or value. A value that is none
    of these states, in `test`, is summed over as a missing one is.

    Parameters
    ----------
    train : UncutTable
        Rows with missing values are predicted, and learned from where the recipe does so.
    target : str
        The column with the classes.
    test : UncutTable, optional
        Rows to predict, read like those of `train`. Without them and without `n_held_out`, the
        rows of `train` are divided into `n_folds` parts, and each part is predicted by what was
        learned from the others.
    n_held_out : int, optional
        Predict so many rows of `train`, the last ones, or drawn at random with `shuffle`.
    n_folds : int, default 5
    stratified : bool, default True
        Each part has its share of every class, as far as that goes; else rows are dealt whatever
        their class is.
    shuffle : bool, default False
    seed : int, default 0
        Which rows are in which part.
    workers : int or Executor, optional
        The number of threads, one per processor unless given; or the `Executor` of
        concurrent.futures that learns and predicts.
    """

    train: UncutTable
    target: str
    test: UncutTable | None = None
    n_held_out: int | None = None
    shuffle: bool = False
    n_folds: int = 5
    seed: int = 0
    workers: int | Executor | None = None
    stratified: bool = True

    @property
    def classes(self) -> Variable:
        """The target with its classes."""
        return self.train.dataset.variable(self.target)

    def run(self, recipes: Mapping[str, Recipe]) -> Iterator[tuple[str, Evaluation]]:
        """Try every recipe on the same rows, on all threads; columns are coded once for all.

        Parameters
        ----------
        recipes : mapping of str to Recipe

        Yields
        ------
        name, evaluation : str, Evaluation
            Accuracy, log loss and more of the rows that were predicted, recipe by recipe.

        Raises
        ------
        DataError
            If a part leaves no row to learn from, or the rows cannot be divided like this.
        """
        parts = self._all_parts(recipes)
        notes = notes_on(parts)
        for name, truth, predicted in self._predictions(recipes, parts):
            yield name, evaluate(self.classes.states, truth, predicted, notes=notes)

    def hits(self, recipes: Mapping[str, Recipe]) -> dict[str, npt.NDArray[np.bool_]]:
        """Say for every recipe and row that was predicted whether the class was right.

        The rows are the same for all, part by part, so that two classifiers can be compared by a
        paired test such as McNemar's.
        """
        predictions = self._predictions(recipes, self._all_parts(recipes))
        return {name: predicted.argmax(axis=1) == truth for name, truth, predicted in predictions}

    def _all_parts(self, recipes: Mapping[str, Recipe]) -> list[Part]:
        return list(self.parts(next(iter(recipes.values()))))

    def _predictions(
        self, recipes: Mapping[str, Recipe], parts: list[Part]
    ) -> Iterator[tuple[str, npt.NDArray[np.int64], npt.NDArray[np.float64]]]:
        """Return for every recipe its name, the classes of the rows, and their probabilities."""
        truth = np.concatenate([part.classes for part in parts])

        runs = [(recipe, part) for recipe in recipes.values() for part in parts]
        who_works = resolve_workers("classify", self.workers)
        work = partial(_predicted, target=self.target)
        answers = run_all(
            work, runs, threads=who_works.threads, who="classify", executor=who_works.executor
        )
        remaining = iter(answers)
        for name in recipes:
            yield name, truth, np.concatenate([next(remaining) for _ in parts])

    def parts(self, recipe: Recipe) -> Iterator[Part]:
        """Divide the rows into those to learn from, cut for a recipe, and those to predict."""
        usable = np.ones_like(self.train.is_missing())
        if not recipe.keeps_missing:
            usable = ~self.train.is_missing()
        classes = self._classes(self.train)
        if self.test is not None:
            yield self._part(recipe, usable, self.test, self._classes(self.test))
            return
        for held_out in self._held_out(classes):
            is_training = usable & ~held_out
            yield self._part(recipe, is_training, self.train.rows(held_out), classes[held_out])

    def _part(
        self,
        recipe: Recipe,
        is_training: npt.NDArray[np.bool_],
        predicted: UncutTable,
        classes: npt.NDArray[np.int64],
    ) -> Part:
        train = self._cut(recipe, is_training)
        attributes = [v for v in train.variables if v.name != self.target]
        unknown = {n: int(are_unknown(u).sum()) for n, u in predicted.unknown.items()}
        return Part(train, self.target, predicted.cut(attributes), classes, unknown)

    def _held_out(self, classes: npt.NDArray[np.int64]) -> Iterator[npt.NDArray[np.bool_]]:
        n_rows = len(classes)
        if self.n_held_out is None:
            by = classes if self.stratified else np.zeros_like(classes)
            part = folds(by, self.n_folds, seed=self.seed)
            yield from (part == k for k in range(self.n_folds))
            return
        if not 0 < self.n_held_out < n_rows:
            raise InvalidParameterError(
                f"classify: between 1 and {n_rows - 1:,} of {n_rows:,} rows can be held out, got "
                f"{by_reader(f'{self.n_held_out:,}', f'--holdout {self.n_held_out}')}"
            )
        order = np.arange(n_rows)
        if self.shuffle:
            order = np.random.default_rng(self.seed).permutation(n_rows)
        held_out = np.zeros(n_rows, bool)
        held_out[order[-self.n_held_out :]] = True
        yield held_out

    def _cut(self, recipe: Recipe, is_training: npt.NDArray[np.bool_]) -> Dataset:
        if not is_training.any():
            empty = [n for n in self.train.names if self.train.is_missing_in(n).all()]
            why = f"; column {empty[0]!r} has no values, leave it out" if empty else ""
            raise DataError(f"classify: no complete row is left to learn from{why}")
        rows = self.train.rows(is_training)
        return recipe.coding.cut(rows, self.target, keep_missing=recipe.keeps_missing)

    def _classes(self, table: UncutTable) -> npt.NDArray[np.int64]:
        """Return the classes by their numbers in the training table."""
        codes = table.dataset.codes(self.target).astype(np.int64)
        rows = np.flatnonzero(codes == self.classes.arity)
        if len(rows):
            unknown = table.unknown.get(self.target)
            label = None if unknown is None else unknown[rows[0]]
            what = "is missing" if label is None else f"{label!r} is not in the training data"
            raise DataError(
                f"classify: the class in row {rows[0] + 1:,} {what}; leave out such rows"
            )
        return codes


def _predicted(one: tuple[Recipe, Part], threads: int, *, target: str) -> npt.NDArray[np.float64]:
    recipe, part = one
    model = replace(recipe, workers=threads).fit(part.train, target)
    return model.log_probabilities(part.test)
