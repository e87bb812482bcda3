"""Bootstrap strengths of arcs: what is learned from resampled rows."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.averaging.arc_probabilities import ArcProbabilities
from bestdag.averaging.threshold import inclusion_threshold
from bestdag.averaging.weighted_dags import WeightedDags
from bestdag.checkpoint import Checkpoint, RunState, describe
from bestdag.data.dataset import Dataset
from bestdag.data.readers import as_dataset
from bestdag.errors import DataError, require_count
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge import Knowledge
from bestdag.learning import known_as
from bestdag.machine import memory_limit as limited_memory
from bestdag.machine import require_row_memory
from bestdag.progress import counting
from bestdag.scores import chosen_or_default
from bestdag.scores.base import Score
from bestdag.scores.prior import StructurePrior, make_prior
from bestdag.scores.scorer import Scorer
from bestdag.scores.support import DEFAULT_SUPPORT
from bestdag.search import search_for_fit
from bestdag.search.problem import Problem
from bestdag.search.steps import Search
from bestdag.validation.fits import learn_one_of_many
from bestdag.wording import count_of
from bestdag.workers import Workers, resolve_workers, run_all

__all__ = ["bootstrap"]

_WHO = "bootstrap"
# Of a row, beside its codes: its place in the order, and what is drawn, and in which order.
_BYTES_PER_ROW = 24


def bootstrap(
    data: Any,
    score: Score | str | None = None,
    *,
    search: Search | str = "hill_climb",
    replicates: int = 200,
    max_parents: int | None = None,
    support: float = DEFAULT_SUPPORT,
    knowledge: Knowledge | Sequence[str] | None = None,
    structure_prior: StructurePrior | str | None = None,
    time_limit: float | None = None,
    seed: int = 0,
    workers: int | Executor | None = None,
    checkpoint: Checkpoint | str | os.PathLike[str] | None = None,
) -> ArcProbabilities:
    r"""Estimate confidence in each arc: how often it is learned from bootstrap resamples.

    Of B structures learned, each from rows drawn with replacement, the strength of an arc is

    .. math::

        \hat p_{ij} = \frac{1}{B} \sum_{b=1}^{B} \left( \mathbf{1}[i \to j] +
        \tfrac12 \mathbf{1}[i - j] \right) \quad \text{in the class of } G_b.

    Parameters
    ----------
    data : Dataset, or anything `read` takes
    score : Score or str, optional
        As for `learn`: qNML with the structure prior "sparse" unless given.
    search : Search or str, default "hill_climb"
        By its name, "auto" has a second for each replicate.
    replicates : int, default 200
        Number of bootstrap resamples. Each has as many rows as the data, drawn with replacement.
    max_parents, support, knowledge, structure_prior
        As for `learn`.
    time_limit : float, optional
        Seconds for each search.
    seed : int, default 0
        Seed of the resampling. Replicate i has draws of its own, so that its rows are the same
        whatever the number of threads or replicates.
    workers : int or Executor, optional
        Replicates learned at the same time, in processes of this machine; one per processor unless
        given. Or the `Executor` of concurrent.futures that learns them, each by one thread; the
        rows reach each worker of this machine once, and travel with each replicate to others.
    checkpoint : Checkpoint or path, optional
        As for `learn`: replicates that are done are saved. A later call may raise `replicates`.

    Returns
    -------
    ArcProbabilities
        An arc counts where it is in the equivalence class of what was learned; an edge that may
        have either direction counts half each way. `threshold` is that of Scutari and
        Nagarajan; `averaged()` gives the averaged network, `dags` the structures learned.

    Raises
    ------
    InvalidParameterError
        If a setting is out of range.
    FileError, FormatError
        If the file of `checkpoint` is in the way, or of another run.

    Notes
    -----
    The strength of an edge is how often it comes up, not the probability that it is true: where
    there is little data, a rule that prefers small networks leaves out true edges in every
    replicate. Rows of weight w count as w rows.

    References
    ----------
    .. [1] Friedman, Goldszmidt and Wyner (1999). "Data analysis with Bayesian networks: a
       bootstrap approach." UAI, 196-205.
    .. [2] Scutari and Nagarajan (2013). "Identifying significant edges in graphical models of
       molecular networks." Artificial Intelligence in Medicine 57(3), 207-217.

    Examples
    --------
    >>> from bestdag.examples import example
    >>> found = bootstrap(example("asia.csv"), "bic", replicates=20)
    >>> found.edge("either", "lung"), found.edge("asia", "smoke") < 0.5
    (1.0, True)
    """
    begun = time.monotonic()
    n_replicates = require_count(_WHO, "replicates", replicates, minimum=1)
    require_count(_WHO, "seed", seed)
    who_works = resolve_workers(_WHO, workers)
    file = Checkpoint.of(_WHO, checkpoint)
    chosen, structure_prior = chosen_or_default(score, structure_prior)
    how = search_for_fit(search)
    with limited_memory(None):
        dataset = _in_order(as_dataset(data))
        prior = make_prior(structure_prior, len(dataset.names))
        replicate = _Replicate(
            _Draws(dataset, seed),
            chosen,
            {
                "search": how,
                "max_parents": max_parents,
                "support": support,
                "knowledge": knowledge,
                "structure_prior": prior,
                "time_limit": time_limit,
            },
        )
        state = RunState()
        if file is not None:
            description = describe(
                _WHO,
                dataset,
                how,
                score=chosen,
                max_parents=max_parents,
                support=support,
                knowledge=known_as(knowledge),
                structure_prior=prior,
                time_limit=time_limit,
                seed=seed,
            )
            state = file.open(_WHO, description)
        with state:
            dags = _learned(
                replicate,
                n_replicates,
                state,
                who_works,
                on_done=counting("learning replicates", n_replicates),
            )
        scorer = Scorer(dataset, chosen, support=support, threads=who_works.threads)
        limits = Problem(scorer, knowledge=known_as(knowledge)).limits
        exempt_notes = [limits.words_on(limits.exempt)] if limits.exempt else []
    names = tuple(sorted(dataset.names))
    matrix, drawn = _strengths(names, dags)
    edges = (matrix + matrix.T)[np.triu_indices(len(names), 1)]
    return ArcProbabilities(
        names=names,
        matrix=matrix,
        method="bootstrap",
        threshold=inclusion_threshold(edges),
        settings={
            "score": repr(chosen),
            **({} if prior is None else {"structure_prior": repr(prior)}),
            "search": how.name,
            "replicates": n_replicates,
            "max_parents": max_parents,
            "support": support,
            "time_limit": time_limit,
            "rows": dataset.total_weight,
            "seed": seed,
        },
        notes=(
            f"probabilities are shares of {count_of(n_replicates, 'bootstrap resample')}",
            *exempt_notes,
        ),
        seconds=time.monotonic() - begun + state.seconds_before,
        resumed_seconds=state.seconds_before,
        dags=WeightedDags.of_draws(names, drawn),
    )


@dataclass(frozen=True, slots=True)
class _Replicate:
    """Learns from the rows of one replicate."""

    draw: _Draws
    score: Score
    settings: Mapping[str, Any]

    def __call__(self, i: int, threads: int) -> Dag:
        rows, seed = self.draw(i)
        result = learn_one_of_many(rows, self.score, seed=seed, workers=threads, **self.settings)
        return result.dag


def _learned(
    replicate: _Replicate,
    n_replicates: int,
    state: RunState,
    who_works: Workers,
    *,
    on_done: Callable[[int], None] | None,
) -> list[Dag]:
    """Learn the replicates that are not in the file yet."""
    dags = {n: state.get(f"replicate {n}", Dag) for n in range(n_replicates)}
    left = [number for number, dag in dags.items() if dag is None]
    if on_done is not None:
        for number in sorted(dags.keys() - set(left)):
            on_done(number)

    def take(place: int, dag: Dag) -> None:
        dags[left[place]] = dag
        state.put(f"replicate {left[place]}", dag)
        state.keep()

    if left:
        run_all(
            replicate,
            left,
            threads=who_works.threads,
            who=_WHO,
            on_done=on_done,
            on_answer=take,
            executor=who_works.executor,
        )
        state.keep(now=True)
    return [dag for dag in dags.values() if dag is not None]


class _Draws:
    """The rows of each replicate, and a seed for its search."""

    def __init__(self, dataset: Dataset, seed: int) -> None:
        self._dataset = dataset
        self._seed = seed
        weights = dataset.weights
        self._shares = None
        if weights is not None:
            if not np.issubdtype(weights.dtype, np.integer):
                raise DataError(
                    "bootstrap: rows are drawn as often as they count, which needs whole weights; "
                    "got fractions"
                )
            self._shares = weights / weights.sum()

    def __call__(self, i: int) -> tuple[Dataset, int]:
        random = np.random.default_rng([self._seed, i])
        search_seed = int(random.integers(1 << 31))
        data = self._dataset
        if self._shares is None:
            return data.select(rows=np.sort(random.integers(0, len(data), len(data)))), search_seed
        counts = random.multinomial(int(data.total_weight), self._shares)
        positions = np.flatnonzero(counts)
        part = data.select(rows=positions)
        columns = [part.codes(name) for name in part.names]
        return Dataset(part.variables, columns, weights=counts[positions]), search_seed


def _in_order(dataset: Dataset) -> Dataset:
    """Sort the rows, so that the order they came in does not matter."""
    keys = [dataset.codes(name) for name in sorted(dataset.names, reverse=True)]
    each = _BYTES_PER_ROW + sum(codes.itemsize for codes in keys)
    require_row_memory(_WHO, "drawing among", dataset.n_rows, each)
    return dataset.select(rows=np.lexsort(keys))


def _strengths(
    names: tuple[str, ...], dags: Sequence[Dag]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return the shares of the arcs in the classes, and the arcs of the structures themselves."""
    number = {name: k for k, name in enumerate(names)}
    n = len(names)
    sums = np.zeros((n, n))
    drawn = np.zeros((len(dags), n, n), np.bool_)
    for k, dag in enumerate(dags):
        for parent, child in dag.arcs:
            drawn[k, number[parent], number[child]] = True
        cpdag = dag.cpdag()
        for parent, child in cpdag.arcs:
            sums[number[parent], number[child]] += 1.0
        for one, other in cpdag.edges:
            sums[number[one], number[other]] += 0.5
            sums[number[other], number[one]] += 0.5
    return sums / len(dags), drawn
